"""Sets of columns: how well each tells rows apart, and the minimal sets that single somebody out.

Distinction is the number of different tuples by the number of rows, separation the share of pairs of rows that differ
(Motwani and Xu 2007). A set finds a row that is alone in the set's classes; it is the first to find it where no
smaller part of the set does. Those are the minimal sample uniques that SUDA counts (Elliot, Manning and Ford 2002).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from sfumato.core.arrays import BoolArray
from sfumato.risk.measured_table import DistinctRows

LARGEST = 3
"""Columns of the largest sets where nobody names another number."""

_WORK = 100_000_000
"""Lines that are looked at in all; where sets would take more, they are of fewer columns."""

_LEAST = 500
"""A set takes as long as so many lines, if there are fewer."""

_Measured = tuple["ColumnSet", BoolArray]
"""A set, and which lines it finds."""


@dataclass(frozen=True)
class ColumnSet:
    """Some columns: their distinction and separation, and how many rows, or persons, they are the first to find."""

    columns: tuple[str, ...]
    distinction: float
    separation: float
    finds: int
    first: int


@dataclass(frozen=True)
class ColumnSets:
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
        first = [each for each in self.sets if each.first]
        return tuple(sorted(first, key=lambda each: (-each.first, len(each.columns), each.columns)))

    def as_json(self) -> dict[str, Any]:
        """Return the figures for ``--json``."""
        return {
            "largest": self.largest,
            "among": list(self.among),
            "found": self.found,
            "counts": self.counts,
            "sets": [asdict(each) for each in self.sets],
            "minimal": [
                {"columns": list(each.columns), "first": each.first, "finds": each.finds} for each in self.minimal
            ],
        }


def sets_of(lines: DistinctRows, names: Sequence[str], largest: int = LARGEST, *, work: int = _WORK) -> ColumnSets:
    """Measure every set of up to `largest` columns.

    >>> from sfumato.risk import DistinctRows
    >>> columns = (np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    >>> rows = DistinctRows(columns, (2, 2), counts=np.array([1, 1, 1, 1]), person=np.arange(4), named=False)
    >>> [(each.columns, each.first) for each in sets_of(rows, ["sex", "town"], 2).minimal]
    [(('sex', 'town'), 4)]
    """
    measured: dict[tuple[int, ...], _Measured] = {}
    among = list(range(len(names)))
    if largest >= 1:
        measured = {(i,): _measure_set(lines, (i,), names, {}) for i in among}
        # Where there are too many sets of all columns, larger ones are of the columns that separate most.
        order = sorted(measured, key=lambda chosen: (-measured[chosen][0].separation, chosen))
        left, most = len(order), work // max(len(lines), _LEAST)
        while left > min(largest, LARGEST) and sum(comb(left, size) for size in range(2, largest + 1)) > most:
            left -= 1
        among = sorted(i for (i,) in order[:left])
    for size in range(2, largest + 1):
        for chosen in combinations(among, size):
            measured[chosen] = _measure_set(lines, chosen, names, measured)
    alone = np.zeros(len(lines), dtype=np.bool_)
    for _, finds in measured.values():
        alone |= finds
    every = [each for each, _ in measured.values()]
    return ColumnSets(
        largest=min(largest, len(names)),
        among=tuple(names[i] for i in among),
        found=lines.count(alone),
        counts=lines.unit,
        sets=tuple(sorted(every, key=lambda each: (-each.separation, len(each.columns), each.columns))),
    )


def _measure_set(
    lines: DistinctRows, chosen: tuple[int, ...], names: Sequence[str], smaller: Mapping[tuple[int, ...], _Measured]
) -> _Measured:
    """Measure a set, and find the lines (bool[lines]) that it singles out; its parts were measured before."""
    class_of, classes = lines.number_lines(chosen)
    sizes = np.bincount(class_of, weights=lines.counts, minlength=classes)
    rows = sizes.sum()
    separation = 1 - float((sizes * (sizes - 1)).sum() / (rows * (rows - 1))) if rows > 1 else 0.0
    # A class has one person if all of its lines are of the person of any one of them.
    any_person = np.empty(classes, dtype=np.int64)
    any_person[class_of] = lines.person
    single = np.ones(classes, dtype=np.bool_)
    single[class_of[any_person[class_of] != lines.person]] = False
    alone: BoolArray = single[class_of] & (lines.named | (lines.counts == 1))
    before = np.zeros(len(lines), dtype=np.bool_)
    for part in combinations(chosen, len(chosen) - 1):
        if part:
            before |= smaller[part][1]
    columns = tuple(names[i] for i in chosen)
    finds, first = lines.count(alone), lines.count(alone & ~before)
    return ColumnSet(columns, float(classes / rows), separation, finds, first), alone
