"""Cuts: where groups are divided along an order, all groups at once.

A cut is a place and a quota: what stands before the place goes to the one side, what stands behind it to the other,
and of what stands at the place so many rows go to the one side and the rest to the other. A strict cut sends all of
them one way.
"""

from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import BoolArray, Codes, IntArray
from sfumato.core.keys import count_keys, pack_tuples
from sfumato.core.segments import run_starts


@dataclass(frozen=True, eq=False)
class Cuts:
    """A cut for each group; `partial` where the rows at the place go both ways."""

    place: IntArray
    quota: IntArray
    partial: BoolArray

    def only(self, chosen: BoolArray) -> "Cuts":
        """The cuts of some groups."""
        return Cuts(self.place[chosen], self.quota[chosen], self.partial[chosen])


@dataclass(frozen=True, eq=False)
class Median:
    """Where the middle row of each group stands: its place, rows before, rows there, and rows in all.

    `last` is the place of the last row, `behind` how many rows stand there.
    """

    place: IntArray
    before: IntArray
    there: IntArray
    rows: IntArray
    last: IntArray
    behind: IntArray

    @classmethod
    def of(cls, owner: IntArray, place: Codes, rows: IntArray, *, span: int) -> "Median":
        """The medians of groups that are numbered without gaps; places are below `span`.

        >>> found = Median.of(np.array([0, 0, 0]), np.array([4, 7, 9]), np.array([1, 5, 2]), span=10)
        >>> found.place, found.before, found.there, found.rows
        (array([7]), array([1]), array([5]), array([8]))
        """
        groups = int(owner[-1]) + 1
        cells = count_keys(pack_tuples([owner, place], [groups, span]), rows)
        group = cells.keys // span
        first = run_starts(group)
        upto = np.cumsum(cells.counts)
        upto -= np.repeat(upto[first] - cells.counts[first], np.diff(first, append=len(group)))
        last = np.append(first[1:], len(group)) - 1
        total = upto[last]
        middle = first + np.add.reduceat(2 * upto < total.take(group), first)
        there = cells.counts[middle]
        behind = cells.counts[last]
        return cls(cells.keys[middle] % span, upto[middle] - there, there, total, cells.keys[last] % span, behind)

    def strict(self) -> tuple[Cuts, Cuts]:
        """The cuts right before and right behind the median place, the more even one first."""
        before = self.rows - 2 * self.before <= 2 * (self.before + self.there) - self.rows
        never = np.zeros(len(before), dtype=np.bool_)
        one, other = np.where(before, 0, self.there), np.where(before, self.there, 0)
        return Cuts(self.place, one, never), Cuts(self.place, other, never)

    def even(self) -> Cuts:
        """The cut that divides the rows of the median place so that halves are as even as can be."""
        quota = self.rows // 2 - self.before
        return Cuts(self.place, quota, (quota > 0) & (quota < self.there))

    def apart(self, null: IntArray) -> tuple[Cuts, BoolArray]:
        """The cut before the NULLs, and which groups have NULLs and others; `null` is their place, or -1."""
        mixed = (self.last == null) & (self.behind < self.rows)
        return Cuts(null, np.zeros_like(null), np.zeros(len(null), dtype=np.bool_)), mixed


def sides(
    cuts: Cuts, owner: IntArray, place: Codes, rows: IntArray, *, whole: bool
) -> tuple[IntArray, IntArray, IntArray]:
    """The side of each line, 0 or 1, its rows there, and the lines again that go both ways, which come at the end.

    Returns sides, rows and lines: the first ones are the lines as they were, each further one is the rest of a line.
    None is where lines stay whole: such a line goes where it comes nearer to the quota.
    """
    at, quota = cuts.place.take(owner), cuts.quota.take(owner)
    side = ((place > at) | ((place == at) & (quota == 0))).astype(np.int64)
    lines = np.arange(len(owner))
    if not cuts.partial.any():
        return side, rows, lines
    tied = np.flatnonzero((place == at) & cuts.partial.take(owner))
    here, quota = rows[tied], quota[tied]
    first = run_starts(owner[tied])
    upto = np.cumsum(here)
    upto -= np.repeat(upto[first] - here[first], np.diff(first, append=len(tied)))
    side[tied] = 2 * upto - here >= 2 * quota if whole else upto - here >= quota
    if whole:
        return side, rows, lines
    both = (upto > quota) & (upto - here < quota)
    over, rows = (upto - quota)[both], rows.copy()
    rows[tied[both]] -= over
    return (
        np.concatenate([side, np.ones(len(over), dtype=np.int64)]),
        np.concatenate([rows, over]),
        np.concatenate([lines, tied[both]]),
    )
