"""Pools: lines of groups that are still being cut, group after group."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.segments import run_starts


@dataclass(frozen=True, eq=False)
class Pool:
    """Line by line, `rows` rows of the tuple `of` in group `owner`; groups are numbered in order, without gaps."""

    of: IntArray
    rows: IntArray
    owner: IntArray

    def __len__(self) -> int:
        return len(self.of)

    @cached_property
    def starts(self) -> IntArray:
        """Where each group begins."""
        return run_starts(self.owner) if len(self) else self.owner

    @cached_property
    def sizes(self) -> IntArray:
        """Rows of each group."""
        sizes: IntArray = np.add.reduceat(self.rows, self.starts) if len(self) else self.rows
        return sizes

    @property
    def groups(self) -> int:
        """How many there are."""
        return len(self.starts)

    def only(self, chosen: BoolArray) -> "Pool":
        """Some of the groups, renumbered.

        >>> Pool(np.array([7, 8]), np.array([1, 1]), np.array([0, 1])).only(np.array([False, True])).of
        array([8])
        """
        if chosen.all():
            return self
        lines = np.flatnonzero(chosen.take(self.owner))
        number = np.cumsum(chosen) - 1
        return Pool(self.of.take(lines), self.rows.take(lines), number.take(self.owner.take(lines)))

    def ordered(self, rank: IntArray) -> "Pool":
        """The same with the lines of each group in the order of a rank."""
        lines = np.lexsort([rank, self.owner])
        return Pool(self.of.take(lines), self.rows.take(lines), self.owner)


def gathered(pools: Sequence[Pool]) -> Pool:
    """One pool of many, whose lines may stand in any order; none may be empty.

    >>> gathered([Pool(np.array([7, 8, 9]), np.array([1, 1, 1]), np.array([1, 0, 1]))]).of
    array([8, 7, 9])
    """
    if not pools:
        return Pool(*(np.zeros(0, dtype=np.int64) for _ in range(3)))
    shift = np.cumsum([0, *(int(pool.owner.max()) + 1 for pool in pools)])
    owner = np.concatenate([pool.owner + before for pool, before in zip(pools, shift, strict=False)])
    lines = np.argsort(owner, kind="stable")  # quick, since lines of a group stand nearly together
    of, rows = (np.concatenate(column) for column in zip(*((pool.of, pool.rows) for pool in pools), strict=True))
    return Pool(of.take(lines), rows.take(lines), owner.take(lines))
