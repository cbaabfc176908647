"""Parts: which rows of which tuples stand together in a group.

Local recoding works on distinct tuples, as everything here does, but rows of one tuple may go different ways: three
of seven equal rows into one class, four into another. So a grouping is a list of parts, each some rows of a tuple.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray

SUPPRESSED = -1
"""The group of rows that are not published."""


@dataclass(frozen=True, eq=False)
class Parts:
    """Line by line: `rows` rows of the tuple `of` stand in `group`, one of ``0 .. groups - 1``, or are suppressed.

    >>> parts = Parts.together(np.array([2, 3]))
    >>> parts.sizes
    array([5])
    """

    of: IntArray
    rows: IntArray
    group: IntArray
    groups: int

    def __len__(self) -> int:
        return len(self.of)

    @classmethod
    def together(cls, counts: IntArray) -> "Parts":
        """All tuples, with all of their rows, in one group."""
        return cls.grouped(counts, np.zeros(len(counts), dtype=np.int64), 1)

    @classmethod
    def grouped(cls, counts: IntArray, group: IntArray, groups: int) -> "Parts":
        """Every tuple whole, in the group that is given for it."""
        return cls(np.arange(len(counts)), counts, group, groups)

    @classmethod
    def stacked(cls, many: Sequence["Parts"]) -> "Parts":
        """The groups of all, numbered one after the other, without empty ones.

        >>> Parts.stacked([Parts.together(np.array([2])), Parts.together(np.array([3]))]).group
        array([0, 1])
        """
        before = np.cumsum([0, *(parts.groups for parts in many)])
        pairs = zip(many, before[:-1], strict=True)
        group = [np.where(parts.group < 0, SUPPRESSED, parts.group + start) for parts, start in pairs]
        of, rows = (np.concatenate([getattr(parts, name) for parts in many]) for name in ("of", "rows"))
        return cls(of, rows, np.concatenate(group), int(before[-1])).numbered()

    @property
    def sizes(self) -> IntArray:
        """Rows in each group."""
        if (self.group < 0).any():
            return self.only(self.group >= 0).sizes
        return np.bincount(self.group, weights=self.rows, minlength=self.groups).astype(np.int64)

    def merged(self, into: IntArray) -> "Parts":
        """After group i has become part of group ``into[i]``; groups are numbered anew, without gaps.

        >>> Parts(np.arange(3), np.ones(3, int), np.array([0, 1, 2]), 3).merged(np.array([5, 1, 5])).group
        array([1, 0, 1])
        """
        known, target = np.unique(into, return_inverse=True)
        group = np.where(self.group < 0, SUPPRESSED, target[self.group])
        return Parts(self.of, self.rows, group, len(known)).joined()

    def numbered(self) -> "Parts":
        """Without empty groups."""
        used = np.zeros(self.groups, dtype=np.bool_)
        used[self.group[self.group >= 0]] = True
        place = np.cumsum(used) - 1
        return Parts(self.of, self.rows, np.where(self.group < 0, SUPPRESSED, place[self.group]), int(used.sum()))

    def joined(self) -> "Parts":
        """With one line for each pair of tuple and group, in the order of the tuples."""
        if (self.of[1:] > self.of[:-1]).all():
            return self
        key = self.of * (self.groups + 1) + (self.group + 1)
        known, place = np.unique(key, return_inverse=True)
        if len(known) == len(key):
            order = np.argsort(key)
            return Parts(self.of[order], self.rows[order], self.group[order], self.groups)
        rows = np.bincount(place, weights=self.rows, minlength=len(known)).astype(np.int64)
        return Parts(known // (self.groups + 1), rows, known % (self.groups + 1) - 1, self.groups)

    def only(self, lines: BoolArray | IntArray) -> "Parts":
        """Some of the lines, groups numbered as they are."""
        return Parts(self.of[lines], self.rows[lines], self.group[lines], self.groups)
