"""Sets of columns: how far each tells rows apart, and which of them, none of whose columns is needless, find somebody.

Distinction is the number of different tuples by the number of rows, separation the share of pairs of rows that differ
(Motwani and Xu 2007). A set finds a row that is alone in the set's classes; it finds the row first where no
smaller part of it does. Those are the minimal sample uniques that SUDA counts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.risk.subject import Lines

LARGEST = 3
"""Columns of the largest sets where nobody names another number."""

_WORK = 100_000_000
"""Lines that are looked at in all; where sets would take more, they are of fewer columns."""

_LEAST = 500
"""A set takes as long as so many lines, if there are fewer."""


@dataclass(frozen=True)
class ColumnSet:
    """Some columns: their distinction and separation, and how many rows, or persons, they are the first to find."""

    columns: tuple[str, ...]
    distinction: float
    separation: float
    finds: int
    first: int


@dataclass(frozen=True)
class Sets:
    """All sets of up to `largest` columns, those that separate most first; `found` counts who is found by any of them.

    `among` are the columns that sets of several are made of: all of them, or as many as could be looked at.
    """

    largest: int
    among: tuple[str, ...]
    found: int
    counts: str
    sets: tuple[ColumnSet, ...]

    @property
    def minimal(self) -> tuple[ColumnSet, ...]:
        """The sets that are the first to find somebody, those that find most first."""
        finders = [one for one in self.sets if one.first]
        return tuple(sorted(finders, key=lambda one: (-one.first, len(one.columns), one.columns)))

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        minimal = [{"columns": list(one.columns), "first": one.first, "finds": one.finds} for one in self.minimal]
        told = {"largest": self.largest, "among": list(self.among), "found": self.found, "counts": self.counts}
        return told | {"sets": [asdict(one) for one in self.sets], "minimal": minimal}


def sets_of(lines: Lines, names: Sequence[str], largest: int = LARGEST, *, work: int = _WORK) -> Sets:
    """Every set of up to `largest` columns.

    >>> from sfumato.risk.subject import Lines
    >>> columns = (np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    >>> found = sets_of(Lines(columns, (2, 2), np.array([1, 1, 1, 1]), np.arange(4), False), ["sex", "town"], 2)
    >>> [(one.columns, one.first) for one in found.minimal]
    [(('sex', 'town'), 4)]
    """
    seen: dict[tuple[int, ...], tuple[ColumnSet, BoolArray]] = {}
    among = list(range(len(names)))
    if largest >= 1:
        seen = {(i,): _measured(lines, (i,), names, {}) for i in among}
        among = _best(seen, largest, work // max(len(lines), _LEAST))
    for chosen in _larger(among, largest):
        seen[chosen] = _measured(lines, chosen, names, seen)
    alone = np.zeros(len(lines), dtype=np.bool_)
    for _, found in seen.values():
        alone |= found
    ordered = sorted(
        (one for one, _ in seen.values()), key=lambda one: (-one.separation, len(one.columns), one.columns)
    )
    named, counts = tuple(names[i] for i in among), "persons" if lines.named else "rows"
    return Sets(min(largest, len(names)), named, _who(lines, alone), counts, tuple(ordered))


def _best(seen: dict[tuple[int, ...], tuple[ColumnSet, BoolArray]], largest: int, most: int) -> list[int]:
    """The columns of which larger sets are made: those that separate most, if there are too many sets of all."""
    order = sorted(seen, key=lambda chosen: (-seen[chosen][0].separation, chosen))
    left = len(order)
    while left > min(largest, LARGEST) and sum(comb(left, size) for size in range(2, largest + 1)) > most:
        left -= 1
    return sorted(i for (i,) in order[:left])


def _larger(among: Sequence[int], largest: int) -> Iterator[tuple[int, ...]]:
    for size in range(2, largest + 1):
        yield from combinations(among, size)


def _measured(
    lines: Lines,
    chosen: tuple[int, ...],
    names: Sequence[str],
    seen: dict[tuple[int, ...], tuple[ColumnSet, BoolArray]],
) -> tuple[ColumnSet, BoolArray]:
    """A set's figures, and which lines it finds; smaller sets were looked at before."""
    classes, many = lines.numbered(chosen)
    sizes = np.bincount(classes, weights=lines.counts, minlength=many)
    rows = sizes.sum()
    separation = 1 - float((sizes * (sizes - 1)).sum() / (rows * (rows - 1))) if rows > 1 else 0.0
    alone = _alone(lines, classes, many)
    before = np.zeros(len(lines), dtype=np.bool_)
    for part in combinations(chosen, len(chosen) - 1):
        if part:
            before |= seen[part][1]
    columns = tuple(names[i] for i in chosen)
    found = ColumnSet(columns, float(many / rows), separation, _who(lines, alone), _who(lines, alone & ~before))
    return found, alone


def _alone(lines: Lines, classes: IntArray, many: int) -> BoolArray:
    """Which lines are in classes of one person, or of one row where rows name nobody."""
    some = np.empty(many, dtype=np.int64)
    some[classes] = lines.person  # whoever comes last
    single = np.ones(many, dtype=np.bool_)
    single[classes[some[classes] != lines.person]] = False
    alone: BoolArray = single[classes] & (lines.named | (lines.counts == 1))
    return alone


def _who(lines: Lines, chosen: BoolArray) -> int:
    """How many persons, or rows, these lines are of."""
    return len(np.unique(lines.person[chosen])) if lines.named else int(lines.counts[chosen].sum())
