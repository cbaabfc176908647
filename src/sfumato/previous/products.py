"""Products of incidence matrices, in blocks: who of the current table meets whom of the past, through what matches."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray

_BLOCK = 1 << 23
"""About so many entries of a product are looked at at a time."""
_CLOSE = 1 << 20


class Found(NamedTuple):
    """The entries of a product that are not 0: line, column and value."""

    row: IntArray
    column: IntArray
    value: FloatArray


def incidence(row: IntArray, column: IntArray, shape: tuple[int, int], weight: Any = None) -> Any:
    """A sparse matrix with an entry for each pair, 1 or its weight; those of equal pairs are added up."""
    from scipy import sparse  # noqa: PLC0415 - not needed where x has every column that is matched

    values = np.ones(len(row)) if weight is None else np.asarray(weight, dtype=np.float64)
    return sparse.csr_matrix((values, (row, column)), shape=shape)


def blocks(left: Any, right: Any, owner: IntArray) -> Iterator[Found]:
    """The product of two matrices, the lines of some owners at a time; `owner` ascends, and none is cut in two."""
    entries = np.diff(right.indptr)
    cost = np.add.reduceat(np.append(entries[left.indices], 0), np.minimum(left.indptr[:-1], len(left.indices)))
    cost[np.diff(left.indptr) == 0] = 0
    first = np.flatnonzero(np.concatenate(([True], owner[1:] != owner[:-1])))
    work = np.add.reduceat(cost, first).cumsum() if len(owner) else np.zeros(0)
    begin = 0
    while begin < len(first):
        done = work[begin - 1] if begin else 0
        end = max(int(np.searchsorted(work, done + _BLOCK, side="right")), begin + 1)
        start, stop = first[begin], first[end] if end < len(first) else len(owner)
        found = (left[start:stop] @ right).tocoo()
        yield Found(found.row.astype(np.int64) + start, found.col.astype(np.int64), found.data)
        begin = end


def numbered(values: IntArray) -> tuple[IntArray, IntArray]:
    """The different values in order, and the place of each among them; by counting where they lie close together."""
    low = int(values.min()) if len(values) else 0
    span = int(values.max()) - low + 1 if len(values) else 0
    if span > 4 * len(values) + _CLOSE:
        return np.unique(values, return_inverse=True)
    present = np.zeros(span, dtype=np.int64)
    present[values - low] = 1
    return np.flatnonzero(present) + low, (np.cumsum(present) - 1)[values - low]
