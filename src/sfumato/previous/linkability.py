"""Count (X, Y)-linkability over the join, without making it: Section 5.3 of Wang and Fung 2006.

Records of the join are products of records. Where x has every column that records are matched by, the share of a value
on y is its share in the one group of the current table, or in the one line of the past, and the product where y has
columns of both. Otherwise the numbers of joined records are added up over all groups that match.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.numbers import floor_times
from sfumato.previous.lines import Judged, Lines, own_group
from sfumato.previous.pairs import Pairs
from sfumato.previous.past import Past
from sfumato.previous.products import blocks, incidence, numbered

UNMATCHED = 0.0
_EXACT = 9e9
_SAFE = 1 - 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Linkability:
    """Judges values on x by the largest share of a protected value on y among the joined records of x.

    `bounds` has a line for each value on y of the current table and a column for each of the past, NaN where the pair
    is not protected. `complete` says that x has all columns that records are matched by.
    """

    past: Past
    bounds: FloatArray
    complete: bool

    worst: Any = np.max
    unmatched: float = UNMATCHED

    @property
    def falls(self) -> bool:
        """Whether shares can only rise by specializing, if all records match (Lemma 4.2, for y of the current table).

        Where x lacks a column that records are matched by, a specialization may undo matches that weighed a protected
        value up, and the lemma does not hold.
        """
        return self.complete and self.past.ys == 1

    def judge(self, lines: Lines, pairs: Pairs) -> Judged:
        """The largest share for each value on x, and whether all keep to their bounds."""
        if self.complete and self.past.ys == 1:
            return self._own(lines, pairs)
        return self._general(lines, pairs)

    def lost(self, before: float, after: float) -> float:
        """By how much surer one can be."""
        return max(0.0, after - before)

    def _own(self, lines: Lines, pairs: Pairs) -> Judged:
        """By the shares in the current table, of all values on x that match anything."""
        rows = np.bincount(lines.x, lines.rows, lines.xs)[lines.x]
        matched = (pairs.lengths > 0)[own_group(lines)]
        kept = within(lines.rows, rows, self.bounds[lines.y, 0])
        share = np.where(np.isnan(self.bounds[lines.y, 0]), 0.0, lines.rows / rows)
        found = _judged(lines.x, kept, share, lines.xs)
        return Judged(found.passes | ~matched, np.where(matched, found.figure, UNMATCHED))

    def _general(self, lines: Lines, pairs: Pairs) -> Judged:
        """By the numbers of joined records of each x and y, over all groups that match."""
        past, columns = self.past, self.past.columns
        key, at = np.unique(lines.x * lines.ys + lines.y, return_inverse=True)
        owner, y = np.divmod(key, lines.ys)
        left = incidence(at, lines.group, (len(key), lines.groups), lines.rows)
        reach = left @ incidence(pairs.owner, pairs.match, (lines.groups, past.matches))
        passes, figure = np.ones(lines.xs, dtype=np.bool_), np.zeros(lines.xs)
        for found in blocks(reach, self._later, owner):
            value = owner[found.row] * past.xs + columns.x[found.column]
            whole = numbered(value)[1]
            total = np.bincount(whole, found.value)[whole]
            bound = self.bounds[y[found.row], columns.y[found.column]]
            kept = within(found.value, total, bound)
            share = np.where(np.isnan(bound), 0.0, found.value / total)
            one = _judged(owner[found.row], kept, share, lines.xs)
            passes, figure = passes & one.passes, np.maximum(figure, one.figure)
        return Judged(passes, figure)

    @cached_property
    def _later(self) -> Any:
        """How many records of which values on x and y each combination has."""
        columns = self.past.columns
        return incidence(self.past.match, columns.of, (self.past.matches, len(columns.x)), self.past.weight)


def within(part: Any, whole: Any, bound: FloatArray) -> BoolArray:
    """Whether each part of a whole keeps to its bound, by whole numbers; what is not bounded does.

    Numbers of joined records that a float does not hold exactly have to keep a little below their bound.
    """
    kept = np.isnan(bound)
    for value in np.unique(bound[~kept]).tolist():
        lines = np.flatnonzero(bound == value)
        if float(whole[lines].max()) < _EXACT:
            kept[lines] = part[lines] <= floor_times(value, whole[lines].astype(np.int64))
        else:
            kept[lines] = part[lines] <= value * _SAFE * whole[lines]
    return kept


def _judged(x: IntArray, kept: BoolArray, share: FloatArray, size: int) -> Judged:
    passes, figure = np.ones(size, dtype=np.bool_), np.zeros(size)
    passes[x[~kept]] = False
    np.maximum.at(figure, x, share)
    return Judged(passes, figure)
