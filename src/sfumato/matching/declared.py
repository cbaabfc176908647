"""What the labels of a column cover, as a policy declares it: entries of the data dictionary.

Whoever answers a query from a release, or looks somebody up in it, has to know which values ``white-collar`` or ``*``
may stand for. All that is said here is declared in the policy; nothing depends on the rows, except that labels which
are not published are left out.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from sfumato.hierarchy import Dates, File, Intervals, Mask, Ranges, Sets
from sfumato.hierarchy.base import ROOT, Label
from sfumato.policy import Column, Policy
from sfumato.queries.entry import Entry

_LISTED = 10_000
"""A hierarchy file whose labels cover more leaves than this, all in all, is described by the number of its leaves."""

_ALL = 1 << 40


def covers(
    column: Column,
    labels: Iterable[Label],
    *,
    level: int | None = None,
    nulls: Sequence[str] = ("",),
    most: int | None = None,
) -> dict[str, Any]:
    """What goes into the column's entry, so that its published labels can be understood.

    `level` is that of all labels, where there is one; `nulls` are the texts that the policy reads as NULL; `most` is
    how many leaves are listed at most: all of them with the policy at hand, and for the public none that is told more
    exactly than the policy's `least` allows.

    >>> from sfumato.policy import Role
    >>> covers(Column("age", Role.QUASI, Intervals([5, 10], domain=[0, 119])), ["35-39"])
    {'integers': True, 'domain': [0, 119]}
    >>> covers(Column("zip", Role.QUASI, Mask("right")), ["435*"])
    {'mask': {'side': 'right'}}
    """
    match column.hierarchy:
        case File() as file:
            leaf = column.least if most is None else 0
            under = _under(file, level, nulls, least=column.least, leaf=leaf)
            return _file(under, labels, _LISTED if most is None else most)
        case Intervals() | Ranges() as numbers:
            return {"integers": numbers.whole} | ({"domain": list(numbers.domain)} if numbers.domain else {})
        case Dates() as dates:
            return {"dates": list(dates.dates)} | ({"date_format": dates.format} if dates.format else {})
        case Mask() as mask:
            return {"mask": {"side": mask.mask} | ({"length": mask.length} if mask.length else {})}
    return {}


def declared(policy: Policy, name: str, labels: Iterable[Label], *, level: int | None = None) -> Entry:
    """The entry of a quasi-identifier for somebody who has the policy itself, so that every label is explained.

    >>> k = {"model": "k-anonymity", "k": 2}
    >>> policy = Policy.read({"columns": {"town": {"role": "quasi", "hierarchy": "sets"}}, "privacy": [k]})
    >>> declared(policy, "town", ["{Bern, Thun}"])
    {'form': 'sets'}
    """
    column = policy.columns[name]
    form = {"form": "sets"} if isinstance(column.hierarchy, Sets) else {}
    return form | covers(column, labels, level=level, nulls=policy.source.null, most=_ALL)


def _file(under: dict[str, list[Label]], labels: Iterable[Label], most: int) -> dict[str, Any]:
    """The leaves under each label that is not one itself."""
    found = {
        label: leaves for label in labels if label is not None and (leaves := under.get(label, [label])) != [label]
    }
    if sum(map(len, found.values())) > most:
        return {"different_leaves": len(under[ROOT])}
    return {"covers": found} if found else {}


def _under(file: File, level: int | None, nulls: Sequence[str], *, least: int, leaf: int) -> dict[str, list[Label]]:
    """The leaves under each label; one that stands on several levels means what it does on the lowest, unless told.

    Labels are of the level `least` or higher, and the labels at `leaf` are the leaves.
    """
    found: dict[str, list[Label]] = {}
    levels = range(least, len(file.lines[0])) if level is None else (level, len(file.lines[0]) - 1)
    for height in levels:
        here: dict[str, list[Label]] = {}
        for cells in file.lines:
            null = all(cell in nulls for cell in cells[: leaf + 1])
            here.setdefault(cells[height], []).append(None if null else cells[leaf])
        found = {label: list(dict.fromkeys(leaves)) for label, leaves in here.items()} | found
    return found
