"""Count (X, Y)-anonymity over the join, without making it: Section 5.4 of Wang and Fung 2006, and the general case.

Where x has every column that records are matched by, a value on x stands for one group of the current table and one
line of the past (Case 1), and different values on y are counted by a product. For all else there is one way that is
exact. The paper's Case 2 would count a value twice where an earlier release is generalized, and so matches several
groups of one x: more people than there are.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.keys import count_keys, pack_tuples
from sfumato.previous.lines import Judged, Lines, own_group
from sfumato.previous.pairs import Pairs
from sfumato.previous.past import Past
from sfumato.previous.products import blocks, incidence, numbered

UNMATCHED = np.inf
"""The figure of a value on x that stands nowhere in the join: it is linked to nothing."""


@dataclass(frozen=True, eq=False, repr=False)
class Anonymity:
    """Judges values on x by the fewest different values on y that they are linked to.

    `complete` says that x has all columns that records are matched by; `keyed` that y has the current row key, and
    `valued` that it has columns of the current table.
    """

    past: Past
    least: int
    complete: bool
    keyed: bool
    valued: bool

    worst: Any = np.min
    unmatched: float = UNMATCHED

    @property
    def falls(self) -> bool:
        """Whether figures can only get worse by specializing, if all records match (Lemma 4.1).

        Values on y of the current table only get fewer. With values of the past it is not so, whatever the lemma says:
        a specialization may undo the match with the poorest of them.
        """
        return self.complete and self.past.ys == 1

    def judge(self, lines: Lines, pairs: Pairs) -> Judged:
        """The figure of each value on x, given what each group of the lines matches."""
        figure = self._complete(lines, pairs) if self.complete else self._general(lines, pairs)
        return Judged(figure >= self.least, figure)

    def lost(self, before: float, after: float) -> float:
        """By how much fewer different values x is linked to."""
        return max(0.0, before - after) if np.isfinite(before) else 0.0

    @cached_property
    def _floor(self) -> FloatArray:
        """For each combination, the fewest different values on y that one of its values on x has."""
        size = self.past.matches
        packed = pack_tuples([self.past.match, self.past.x], [size, self.past.xs])
        counted = count_keys(packed, self.past.weight)
        match, _ = packed.unpack(counted.keys)
        return _least(match, counted.counts.astype(np.float64), size)

    def _complete(self, lines: Lines, pairs: Pairs) -> FloatArray:
        """Own values times those of the past: every value on x has one group, and each match one line of x."""
        own = np.ones(lines.xs)
        if self.keyed or self.valued:
            own = np.bincount(lines.x, lines.rows if self.keyed else None, lines.xs).astype(np.float64)
        reach = _least(pairs.owner, self._floor[pairs.match], len(pairs))
        return own * reach[own_group(lines)]

    def _general(self, lines: Lines, pairs: Pairs) -> FloatArray:
        """Different pairs of an own value on y and one of the past, for each x: by products of who matches what."""
        past, figure = self.past, np.full(lines.xs, UNMATCHED)
        owner, weight, atoms = self._atoms(lines)
        reach = atoms @ incidence(pairs.owner, pairs.match, (lines.groups, past.matches))
        for found in blocks(reach, self._later, owner):
            value = owner[found.row] * past.xs + past.columns.x[found.column]
            known, at = numbered(value)
            sums = np.bincount(at, weight[found.row] * past.columns.weight[found.column], len(known))
            np.minimum.at(figure, known // past.xs, sums)
        return figure

    @cached_property
    def _later(self) -> Any:
        """Which combinations have which values on x and y."""
        columns = self.past.columns
        return incidence(self.past.match, columns.of, (self.past.matches, len(columns.x)))

    def _atoms(self, lines: Lines) -> tuple[IntArray, FloatArray, Any]:
        """What is counted of the current table, in the order of x: its x, how many it stands for, and its groups.

        Rows of a group are alike. So are values on y that stand in one group of an x alone; others stand for
        themselves, with all the groups they stand in.
        """
        if self.keyed:
            atom = lines.groups + lines.group
        else:
            pair, size = np.unique(lines.x * lines.ys + lines.y, return_inverse=True)[1], lines.groups
            alone = np.bincount(pair)[pair] == 1
            atom = np.where(alone & self.valued, size + lines.group, 2 * size + lines.y if self.valued else 0)
        packed = pack_tuples([lines.x, atom], [lines.xs, 2 * lines.groups + lines.ys])
        known, at, lone = np.unique(packed.keys, return_inverse=True, return_counts=True)
        owner, kind = packed.unpack(known)
        grouped = (kind >= lines.groups) & (kind < 2 * lines.groups)
        weight: FloatArray = np.where(grouped, lone, 1).astype(np.float64)
        if self.keyed:
            weight = np.bincount(at, lines.rows, len(known)).astype(np.float64)
        return owner, weight, incidence(at, lines.group, (len(known), lines.groups))


def _least(owner: IntArray, values: FloatArray, size: int) -> FloatArray:
    """The least value of each owner; none has infinitely many."""
    found = np.full(size, UNMATCHED)
    np.minimum.at(found, owner, values)
    return found
