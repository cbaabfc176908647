"""A release made again from its original: whose rows stand in which class, which its files do not say.

The same table, policy and version give the same classes, so that what comes out is held against the files, class by
class. Buckets of Anatomy are drawn anew each time; of these the files say all that the attack needs.
"""

from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

from sfumato.attack.minimality.found import Looked, Minimality
from sfumato.attack.minimality.shares import by_shares
from sfumato.attack.sensitive_columns import select_sensitive_columns
from sfumato.encode import EncodedTable, encode
from sfumato.errors import DataError, InputError, PolicyError, did_you_mean, listing
from sfumato.matching import Released, memory_shown, read_released
from sfumato.policy import Policy
from sfumato.recode import Recoding, recode
from sfumato.recode.recoding import Progress
from sfumato.split import lossy_join
from sfumato.split.two_tables import check_row_count
from sfumato.table import Table

_OTHER = (
    "made again from this table, the release has other classes; name the table and the policy that it was made from "
    "and by, with this version of sfumato"
)


def made_again(
    release: Path, original: Table, policy: Policy, *, progress: Progress | None = None
) -> tuple[EncodedTable, Recoding]:
    """The original as it was encoded and recoded, where that gives the release; else a `DataError`."""
    released = read_released(release)
    check_row_count(released.rows, original.rows)
    encoded = encode(original, policy)
    recoding = _recoded(encoded, policy, progress)
    shown = memory_shown(encoded, recoding, policy)
    if _classes(released) != _classes(shown.released(shown.with_role("quasi"), shown.with_role("sensitive"))):
        raise DataError(_OTHER)
    return encoded, recoding


def strict(policy: Policy) -> Policy:
    """The policy as the search saw it: with requirements on a join where they go with its algorithm."""
    if not policy.linkage:
        return policy
    try:
        return replace(policy, lenient=False)
    except PolicyError:
        return policy


def drawn(release: Path, policy: Policy, *, seed: int, column: str | None = None) -> Minimality:
    """Of buckets: what their shares say, and no more, because quasi-identifiers did not decide who is in which."""
    released = read_released(release)
    told = select_sensitive_columns(released, None, column)
    looked = Looked(released.rows, released.rows, len(released.sizes))
    return Minimality("anatomy", "drawn", looked, seed, by_shares(told, policy, told))


def check_column(policy: Policy, column: str | None) -> None:
    """Refuse a column that is not sensitive."""
    known = [one.name for one in policy.sensitive]
    if not known:
        raise InputError("the policy names no sensitive column, so that there is nothing to betray")
    if column is not None and column not in known:
        hint = did_you_mean(column, known) or f"; it has {listing(known)}"
        raise InputError(f"'{column}' is no sensitive column of the policy{hint}")


def _recoded(encoded: EncodedTable, policy: Policy, progress: Progress | None) -> Recoding:
    star = None
    if policy.linkage:
        from sfumato.previous import link_releases  # noqa: PLC0415 - only where a requirement is about a join

        star = link_releases(encoded, policy)
    recoding = recode(encoded, policy, progress, releases=star)
    return lossy_join(encoded, recoding) if policy.publish.form == "lossy-join" else recoding


def _classes(released: Released) -> Counter[tuple[object, ...]]:
    """The classes by what they show: their lines, each as often as it is there, and their bags."""
    found: defaultdict[int, list[tuple[object, ...]]] = defaultdict(list)
    names = sorted(released.quasi)
    rows = Counter(released.lines.tolist())
    columns = [[released.quasi[name].texts[code] for code in released.quasi[name].codes.tolist()] for name in names]
    for line, (owner, *labels) in enumerate(zip(released.class_of.tolist(), *columns, strict=True)):
        found[owner].append((*labels, rows[line]))
    for name, bag in released.bags.items():
        for owner, value, count in zip(bag.class_of.tolist(), bag.value.tolist(), bag.count.tolist(), strict=True):
            found[owner].append((name, bag.domain.values[value], count))
    return Counter(tuple(sorted(lines, key=repr)) for lines in found.values())
