"""Operations on runs of lines that belong to the same group.

A *segment* is a run of neighbouring lines with the same group number. As long as lines are sorted by group, a sum or
a maximum per group is one `reduceat` over the first lines of the runs, for all groups at once; nothing here loops over
groups.
"""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import FloatArray, IntArray

Number = TypeVar("Number", np.int64, np.float64)


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
