"""Operations on runs of lines that belong to the same group.

A *segment* is a run of neighbouring lines with the same group number. As long as lines are sorted by group, a sum or
a maximum per group is one `reduceat` over the first lines of the runs, for all groups at once; nothing here loops over
groups.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import FloatArray, IntArray, narrow_codes

Number = TypeVar("Number", np.int64, np.float64)
Entry = TypeVar("Entry", np.int64, np.float64, np.bool_)


@dataclass(frozen=True, eq=False)
class Segments:
    """Runs of lines, one behind the other: where each begins, and how many lines it has.

    With n lines in g runs: `starts` and `lengths` are int[g], and ``starts[i] + lengths[i] == starts[i + 1]``. A run
    may be empty, except where something is reduced.

    >>> runs = Segments.from_sorted(np.array([3, 3, 5]))
    >>> runs.starts.tolist(), runs.lengths.tolist(), runs.group.tolist()
    ([0, 2], [2, 1], [0, 0, 1])
    >>> runs.sum(np.array([10, 20, 30])).tolist(), runs.spread(np.array([7, 8])).tolist()
    ([30, 30], [7, 7, 8])
    """

    starts: IntArray
    lengths: IntArray

    @classmethod
    def from_lengths(cls, lengths: IntArray) -> "Segments":
        """Make runs of these lengths."""
        return cls(np.cumsum(lengths) - lengths, lengths)

    @classmethod
    def from_sorted(cls, keys: NDArray[Any]) -> "Segments":
        """Find the runs of equal keys in an array that is in order; none is empty."""
        starts = run_starts(keys)
        return cls(starts, np.diff(starts, append=len(keys)))

    @classmethod
    def from_groups(cls, group: IntArray, groups: int) -> "Segments":
        """Find the run of each of so many groups, given the ascending group numbers of the lines; runs may be empty."""
        starts = np.searchsorted(group, np.arange(groups))
        return cls(starts, np.diff(starts, append=len(group)))

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def group(self) -> IntArray:
        """The run of each line: int[n]."""
        return self.spread(np.arange(len(self)))

    def spread(self, values: NDArray[Entry]) -> NDArray[Entry]:
        """Repeat a value per run for each of its lines."""
        return np.repeat(values, self.lengths)

    def sum(self, amounts: NDArray[Number]) -> NDArray[Number]:
        """Add up an amount per line in each run; no run is empty."""
        sums: NDArray[Number] = np.add.reduceat(amounts, self.starts)
        return sums

    def sum_before(self, amounts: NDArray[Number]) -> NDArray[Number]:
        """Add up, for each line, the amounts of the lines before it in its run; no run is empty.

        >>> Segments.from_lengths(np.array([3, 1])).sum_before(np.array([2, 1, 4, 1])).tolist()
        [0, 2, 3, 0]
        """
        sums = np.cumsum(amounts) - amounts
        before: NDArray[Number] = sums - np.repeat(sums.take(self.starts), self.lengths)
        return before

    def places(self, chosen: IntArray) -> IntArray:
        """List the places of the lines of chosen runs, run by run; a run may be chosen more than once.

        >>> Segments.from_lengths(np.array([2, 1, 2])).places(np.array([2, 0])).tolist()
        [3, 4, 0, 1]
        """
        lengths = self.lengths.take(chosen)
        places = np.repeat(self.starts.take(chosen) - (np.cumsum(lengths) - lengths), lengths)
        places += np.arange(len(places))
        return places

    def select(self, chosen: IntArray) -> "Segments":
        """Describe the lines that `places` lists as runs of their own."""
        return Segments.from_lengths(self.lengths.take(chosen))


def sort_by_group(group: IntArray, groups: int) -> tuple[IntArray, Segments]:
    """Put lines in the order of their groups, none of them negative; lines of a group stay in the order they have.

    Returns the number of the line at each place, int[n], and the run of each of so many groups, which may be empty.

    >>> order, runs = sort_by_group(np.array([2, 0, 2]), 3)
    >>> order.tolist(), runs.starts.tolist(), runs.lengths.tolist()
    ([1, 0, 2], [0, 1, 1], [1, 0, 2])
    """
    order = np.argsort(narrow_codes(group, groups), kind="stable")
    return order, Segments.from_groups(group.take(order), groups)


def stable_order(keys: IntArray) -> IntArray:
    """Find what sorts keys that are not negative, equal ones as they come.

    Narrow integers are sorted by radix, in linear time; wider ones by the runs that are in order already.

    >>> stable_order(np.array([3, 1, 3, 0])).tolist()
    [3, 1, 0, 2]
    """
    return np.argsort(narrow_codes(keys, int(keys.max(initial=0)) + 1), kind="stable")


def run_starts(ordered: NDArray[Any]) -> IntArray:
    """Find where each run of equal values begins, in an array that is in order.

    >>> run_starts(np.array([3, 3, 5])).tolist(), run_starts(np.array([], dtype=int)).tolist()
    ([0, 2], [])
    """
    if not len(ordered):
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))


def expand_ranges(first: IntArray, last: IntArray) -> tuple[IntArray, IntArray]:
    """List all places of many half-open ranges ``first[i]:last[i]``.

    Returns two arrays of equal length: the number i of the range, and the place in it.

    >>> [part.tolist() for part in expand_ranges(np.array([3, 0]), np.array([5, 1]))]
    [[0, 0, 1], [3, 4, 0]]
    """
    length = last - first
    range_number = np.repeat(np.arange(len(first)), length)
    begin = np.cumsum(length) - length
    return range_number, np.arange(len(range_number)) + (first - begin)[range_number]


def sum_by_group(group: IntArray, amounts: NDArray[Number], groups: int) -> FloatArray:
    """Add up an amount per line for each of `groups` groups; lines may be in any order.

    Exact for counts, which stay below 2**53.
    """
    return np.asarray(np.bincount(group, weights=amounts, minlength=groups), dtype=np.float64)


def max_by_group(group: IntArray, amounts: NDArray[Number], groups: int) -> NDArray[Number]:
    """Find the largest amount in each of `groups` groups, 0 where a group has no line; lines are sorted by group.

    >>> max_by_group(np.array([0, 0, 2]), np.array([3, 5, 4]), 3)
    array([5, 0, 4])
    """
    largest = np.zeros(groups, dtype=amounts.dtype)
    first = run_starts(group)
    if len(first):
        largest[group[first]] = np.maximum.reduceat(amounts, first)
    return largest
