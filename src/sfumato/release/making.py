"""`anonymize`: the way through the house, from a table and a policy to a release."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.core.randomness import Randomness
from sfumato.encode import EncodedTable, encode
from sfumato.errors import PolicyError
from sfumato.policy import Policy, load
from sfumato.recode import Recoding, recode
from sfumato.release.key_file import check_names, key_of
from sfumato.release.published import Drawn, Publisher
from sfumato.release.release import Release
from sfumato.release.tables import layout, publish
from sfumato.release.timing import timed
from sfumato.split import anatomy, lossy_join
from sfumato.table import Table, find_repeated_identifiers, from_frame, read_table
from sfumato.table.files import file_digest

if TYPE_CHECKING:
    from sfumato.previous import LinkedReleases

Progress = Callable[[int, int], None]


def anonymize(
    data: Any, policy: "str | Path | Mapping[str, Any] | Policy", *, progress: Progress | None = None
) -> Release:
    """Make a release of a table under a policy.

    `data` is a pandas or polars frame, an Arrow table, a DuckDB relation, a path, or ``None`` for the policy's
    own source. Raises `Infeasible` where no release can meet the policy, an `InputError` where something is wrong
    with the table, the policy or a hierarchy; returns nothing that the verifier has not passed.
    """
    release = prepare(data, policy, progress=progress)
    release.verdict  # noqa: B018 - raises where the verifier does not pass it
    return release


def prepare(
    data: Any,
    policy: "str | Path | Mapping[str, Any] | Policy",
    *,
    progress: Progress | None = None,
    encoded: EncodedTable | None = None,
) -> Release:
    """A release that has yet to be verified: `Release.save` does it on the files, `Release.table` in memory.

    `data` may be a `Table`, too, and `encoded` the same encoded under this policy: for those who make many releases.
    """
    rules = load(policy)
    key = key_of(rules, _path(data, rules))  # first of all, so that a bad one costs nobody a search
    seconds: dict[str, float] = {}
    # identifiers are counted, rows are shuffled and the input is hashed by the way: they need no lock of Python's
    with ThreadPoolExecutor(2) as pool:
        with timed(seconds, "read"):
            table = _table(data, rules)
            repeated = pool.submit(find_repeated_identifiers, table, rules)
            encoded = encode(table, rules) if encoded is None else encoded
            check_names(rules, encoded.individual)
        with timed(seconds, "search"):
            number = len(layout(rules, table.arrow.column_names))
            drawn = pool.submit(Drawn.for_tables, encoded, Randomness(rules.search.seed), number, key)
            hashed = pool.submit(file_digest, table.path) if table.path else None
            star = _star(encoded, rules) if rules.linkage else None
            recoding = _recoded(encoded, rules, star, progress)
    with timed(seconds, "recode"):
        tables = publish(Publisher(table, encoded, recoding, rules, drawn.result()))
    input_digest = hashed.result() if hashed else None
    return Release(rules, table, encoded, recoding, tables, input_digest, seconds, repeated.result(), star)


def _star(encoded: EncodedTable, policy: Policy) -> "LinkedReleases":
    """The earlier releases, tied to the table."""
    from sfumato.previous import link_releases  # noqa: PLC0415 - only where a requirement is about a join

    return link_releases(encoded, policy)


def _recoded(
    encoded: EncodedTable, policy: Policy, star: "LinkedReleases | None", progress: Progress | None
) -> Recoding:
    """The recoding that the policy's form is made of."""
    if policy.publish.form == "anatomy":
        return anatomy(encoded, policy)
    recoding = recode(encoded, policy, progress, releases=star)
    return lossy_join(encoded, recoding) if policy.publish.form == "lossy-join" else recoding


def _table(data: Any, policy: Policy) -> Table:
    if isinstance(data, Table):
        return data
    path = _path(data, policy)
    if path is None and data is not None:
        return from_frame(data, policy)
    if path is None:
        raise PolicyError("is missing; say where the table is, here or with --data", key="data.source")
    return read_table(path, policy)


def _path(data: Any, policy: Policy) -> Path | None:
    """The file that the rows come from; none where the caller hands them in."""
    if data is None:
        return policy.source.path
    return Path(data) if isinstance(data, str | Path) else None
