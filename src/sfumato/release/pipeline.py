"""The one way through the house: read, mask, encode, recode, publish; then write, verify, appear.

`publish` goes from a table and a policy to a publication, which nobody has verified yet. `anonymize` lets the verifier
look at it in memory. `Release.save` goes on to the folder (`write_release`), and lets the verifier look at the files.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from sfumato.core.memory import memory_goal, read_size
from sfumato.core.randomness import Randomness
from sfumato.encode import EncodedTable, encode, encode_column
from sfumato.engines.choice import EngineOptions, choose_engine, open_engine
from sfumato.engines.counted_table import CodedValues, CountedTable, PublishedRows
from sfumato.engines.engine import TooManyLines
from sfumato.errors import DataError, PolicyError
from sfumato.masking import MaskedTable, mask_table
from sfumato.policy import Policy, load
from sfumato.policy.database_url import TablePlace, find_place
from sfumato.publish.numeric_columns import add_numeric_columns
from sfumato.publish.pseudonyms import check_person_names, read_key
from sfumato.publish.publication import Publication
from sfumato.publish.published_table import RandomDraws, publish_tables, table_layout
from sfumato.recode import Recoding, recode
from sfumato.release.assessed_release import AssessedRelease
from sfumato.release.drawn_release import draw_release
from sfumato.release.release import Release
from sfumato.release.timing import timed
from sfumato.release.uncertain_release import blur_records
from sfumato.release.verification import verify_publication
from sfumato.settled_policy import settle_columns, settle_functions
from sfumato.split import anatomy, lossy_join
from sfumato.table import Table, find_repeated_identifiers, table_from
from sfumato.table.files import file_digest

if TYPE_CHECKING:
    from sfumato.previous import LinkedReleases

Progress = Callable[[int, int], None]


def anonymize(  # noqa: PLR0913 - what is published, by whom, and how long it may take
    data: Any,
    policy: "str | Path | Mapping[str, Any] | Policy",
    *,
    progress: Progress | None = None,
    time_limit: float | None = None,
    engine: str = "memory",
    memory: str | int | None = None,
    master: str | None = None,
) -> Release:
    """Make a release of a table under a policy.

    `data` is a pandas or polars frame, an Arrow table, a DuckDB relation, a path, the URL of a database, or ``None``
    for the policy's own source. Raises `Infeasible` where no release can meet the policy, an `InputError` where
    something is wrong with the table, the policy or a hierarchy; returns nothing that the verifier has not passed.
    Where the policy's form is one of drawn rows, it is a `DrawnRelease`; of densities, an `UncertainRelease`.

    The search ends after `time_limit` seconds, in place of the policy's, with the best that it has found; it raises
    `OutOfTime` where it has found nothing. Without one, the same table and policy give the same transformation.

    `engine` is who has the rows: ``memory``, ``stream`` (the disk, for a path), ``spark``, or ``auto``, which streams
    what does not fit into the `memory` allowed, in bytes or as in ``"4GB"``, half of what is free by itself. The rows
    of a release that was streamed are in no frame: `Release.save` writes them, and lets the verifier look at the files.
    With ``spark``, `data` may be a Spark DataFrame, `Release.table` is one, and `master` is the URL of a cluster.
    """
    rules = load(policy)
    if time_limit is not None:
        rules = rules.replace(time_limit=time_limit)
    options = EngineOptions(engine, read_size(memory) if isinstance(memory, str) else memory, master=master)
    if choose_engine(options, _data_place(data, rules), rules) != "memory":
        return prepare(data, rules, progress=progress, engine=options)
    if rules.publish.drawn:
        release = _draw(data, rules, progress)
        release.verify()
        return cast("Release", release)
    publication = publish(data, rules, progress=progress)
    return Release(publication, verify_publication(publication))


def prepare(  # noqa: PLR0913 - what is published, and how far somebody came with it already
    data: Any,
    policy: "str | Path | Mapping[str, Any] | Policy",
    *,
    progress: Progress | None = None,
    encoded: EncodedTable | None = None,
    masked: MaskedTable | None = None,
    engine: EngineOptions | None = None,
    note: Callable[[int], object] | None = None,
) -> Release:
    """Make a release that has yet to be verified: `Release.save` does it on the files, `Release.table` in memory.

    `engine` says who may have the rows; without it they are in memory. `note` is called with
    the number of rows so far while an engine reads them.
    """
    rules = load(policy)
    if engine is not None and (name := choose_engine(engine, _data_place(data, rules), rules)) != "memory":
        return Release(publish_counted(data, rules, engine, name, progress=progress, note=note or _say_nothing))
    if rules.publish.drawn:
        return cast("Release", _draw(data, rules, progress))
    return Release(publish(data, policy, progress=progress, encoded=encoded, masked=masked))


def publish(
    data: Any,
    policy: "str | Path | Mapping[str, Any] | Policy",
    *,
    progress: Progress | None = None,
    encoded: EncodedTable | None = None,
    masked: MaskedTable | None = None,
) -> Publication:
    """Read, mask, encode and recode a table, and work out what is published of it.

    `data` may be a `Table`, too, `masked` the same masked under this policy, and `encoded` that encoded: for those who
    make many releases.
    """
    rules = load(policy)
    place = _data_place(data, rules)
    path = place if isinstance(place, Path) else None
    rules = settle_columns(rules, data if place is None else place)
    key = read_key(rules, path)  # first of all, so that a bad one costs nobody a search
    seconds: dict[str, float] = {}
    # identifiers are counted, rows are shuffled and the input is hashed by the way: they need no lock of Python's
    with ThreadPoolExecutor(2) as pool:
        with timed(seconds, "read"):
            table = _read(data, place, rules)
            digest = pool.submit(file_digest, table.path) if table.path else None
            # from here on, whatever looks at values looks at masked ones
            masked = mask_table(table, rules) if masked is None else masked
            rules = settle_functions(rules, partial(encode_column, masked.table))
            repeated = pool.submit(find_repeated_identifiers, table, rules)
            encoded = encode(masked.table, rules) if encoded is None else encoded
            check_person_names(rules, encoded.individual)
        with timed(seconds, "search"):
            number = len(table_layout(rules, table.arrow.column_names))
            draws = pool.submit(RandomDraws.for_tables, encoded, Randomness(rules.search.seed), number, key)
            linked = _link(encoded, rules) if rules.linkage else None
            recoding = _recode(encoded, rules, linked, progress)
            encoded = encoded.divide(recoding.divided)
            linked = linked and linked.divide(recoding.divided)
    with timed(seconds, "recode"):
        tables = publish_tables(masked.table, encoded, recoding, rules, draws.result())
        tables = {name: add_numeric_columns(one, rules) for name, one in tables.items()}
    return Publication(
        rules,
        table,
        encoded,
        recoding,
        tables,
        digest.result() if digest else None,
        seconds,
        repeated.result(),
        linked,
        masked=masked,
    )


def publish_counted(
    data: Any,
    policy: Policy,
    options: EngineOptions,
    name: str,
    *,
    progress: Progress | None = None,
    note: Callable[[int], object],
) -> Publication:
    """Recode the table that the engine of this name has, and work out what is published of its counted lines.

    The rows stay where the engine has them; it labels and writes them when the release is saved.
    """
    place = _data_place(data, policy)
    path = place if isinstance(place, Path) else None
    rules = settle_columns(policy, data if place is None else place)
    key = read_key(rules, path)  # first of all, so that a bad one costs nobody a search
    seconds: dict[str, float] = {}
    with timed(seconds, "read"):
        engine = open_engine(options, name, data if place is None else place, rules, note)
        values = CodedValues.of(engine)
        rules = settle_functions(rules, values.columns.__getitem__)
        try:
            counted, stored = CountedTable.count(engine, values, rules), None
            check_person_names(rules, counted.encoded.individual)
        except TooManyLines as lines:
            from sfumato.engines.spark_nodes import StoredSearch, why_not_in_tasks  # noqa: PLC0415 - hardly ever

            if (why := why_not_in_tasks(rules)) is not None:
                lines.stored.remove()
                raise DataError(f"{lines}; {why}") from None
            stored = StoredSearch(engine, values, lines.stored, rules)
        source = Table(
            pa.Table.from_batches([], engine.schema), place=place, schema=engine.schema, warnings=engine.warnings
        )
    with timed(seconds, "search"), memory_goal(options.allowed):
        if stored is not None:
            linked, recoding = None, recode(stored.skeleton, rules, progress, search=stored)
            counted = stored.result
        else:
            linked = _link(counted.encoded, rules) if rules.linkage else None
            recoding = _recode(counted.encoded, rules, linked, progress)
        encoded = counted.encoded.divide(recoding.divided)
        linked = linked and linked.divide(recoding.divided)
    with timed(seconds, "recode"):
        draws = RandomDraws.for_tables(encoded, Randomness(rules.search.seed), 0, key)
        tables = publish_tables(source, encoded, recoding, rules, draws)
        tables = {table: add_numeric_columns(one, rules) for table, one in tables.items()}
    return Publication(
        rules,
        source,
        encoded,
        recoding,
        tables,
        engine.digest,
        seconds,
        engine.repeated_identifiers,
        linked,
        rows_elsewhere=PublishedRows(counted, encoded, recoding, tables, rules, options.allowed),
    )


def _draw(data: Any, policy: Policy, progress: Progress | None) -> AssessedRelease:
    """Read a table, and draw what is published of it: rows, or the centres of densities."""
    place, seconds = _data_place(data, policy), dict[str, float]()
    rules = settle_columns(policy, data if place is None else place)
    with timed(seconds, "read"):
        table = _read(data, place, rules)
        masked = mask_table(table, rules)
        rules = settle_functions(rules, partial(encode_column, masked.table))
    make = draw_release if rules.publish.form == "synthetic" else blur_records
    return make(masked, rules, seconds, progress)


def _say_nothing(_: int) -> None:
    """Nobody wants to know how many rows are read."""


def _data_place(data: Any, policy: Policy) -> TablePlace | None:
    """The file or the database that the rows come from; none where the caller hands them in."""
    if data is None:
        return policy.source.place
    return find_place(data) if isinstance(data, str | Path) else None


def _read(data: Any, place: TablePlace | None, policy: Policy) -> Table:
    if data is None and place is None:
        raise PolicyError("is missing; say where the table is, here or with --data", key="data.source")
    return table_from(data if place is None else place, policy)


def _link(encoded: EncodedTable, policy: Policy) -> "LinkedReleases":
    """The earlier releases, joined with the table."""
    from sfumato.previous import link_releases  # noqa: PLC0415 - only where a requirement is about a join

    return link_releases(encoded, policy)


def _recode(
    encoded: EncodedTable, policy: Policy, linked: "LinkedReleases | None", progress: Progress | None
) -> Recoding:
    """The recoding that the policy's form is made of."""
    if policy.publish.form == "anatomy":
        return anatomy(encoded, policy)
    recoding = recode(encoded, policy, progress, releases=linked)
    return lossy_join(encoded, recoding) if policy.publish.form == "lossy-join" else recoding
