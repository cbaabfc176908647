"""The array types that annotations name.

Counts, codes and class numbers are 64-bit integers unless a module says otherwise; `Codes` are as narrow as the number
of different values allows, because a column of codes is read far more often than it is written.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Codes = NDArray[Any]
"""Codes of one column: unsigned integers, as narrow as its number of values allows."""


_BLOCK = 1 << 16


def count_codes(codes: Codes, width: int) -> IntArray:
    """Count how often each of `width` codes occurs.

    A block of rows at a time: the wide copy of narrow codes that a bincount needs stays in the processor's cache.

    >>> count_codes(np.array([0, 2, 2], dtype=np.uint8), 4)
    array([1, 0, 2, 0])
    """
    counts: IntArray = np.zeros(width, dtype=np.int64)
    if width > _BLOCK:  # then a table of counts for every block costs more
        return np.bincount(codes, minlength=width)
    for start in range(0, len(codes), _BLOCK):
        counts += np.bincount(codes[start : start + _BLOCK], minlength=width)
    return counts


def replace_codes(codes: Codes, new: NDArray[Any]) -> NDArray[Any]:
    """Replace each code by its entry of `new`.

    A block of rows at a time, as in `count_codes`: narrow codes are no indexes for numpy, which makes a wide copy.

    >>> replace_codes(np.array([0, 2, 2], dtype=np.uint8), np.array([7, 8, 9], dtype=np.int16))
    array([7, 9, 9], dtype=int16)
    """
    replaced = np.empty(len(codes), dtype=new.dtype)
    for start in range(0, len(codes), _BLOCK):
        replaced[start : start + _BLOCK] = new.take(codes[start : start + _BLOCK])
    return replaced


def narrow_codes(codes: NDArray[Any], width: int) -> Codes:
    """Convert codes to the smallest unsigned type that holds `width` different ones.

    >>> narrow_codes(np.array([0, 3]), 4).dtype
    dtype('uint8')
    """
    return codes.astype(np.min_scalar_type(max(width - 1, 0)), copy=False)
