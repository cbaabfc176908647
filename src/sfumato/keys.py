"""Tuples of small integers as one integer each: packing, counting and taking apart.

Searches count millions of tuples, again and again. A tuple packed into one machine word is counted by a
bincount where the words are few, by a sort where they are many. Where the widths of the columns exceed a
word, what is packed so far is numbered densely and packing goes on from there.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.classes import IntArray

Codes = NDArray[Any]
"""Codes of one column: unsigned integers, as narrow as its number of values allows."""

_WORD = 1 << 62
_DENSE = 1 << 24
_BLOCK = 1 << 16


def narrow(codes: NDArray[Any], width: int) -> Codes:
    """The codes in the smallest unsigned type that holds ``width`` different ones."""
    return codes.astype(np.min_scalar_type(max(width - 1, 0)), copy=False)


@dataclass(frozen=True, eq=False)
class Packed:
    """Packed tuples, and what is needed to take them apart again.

    >>> packed = pack([np.array([0, 1, 1]), np.array([2, 0, 0])], [2, 3])
    >>> found = count(packed)
    >>> found.keys, found.counts
    (array([2, 3]), array([1, 2]))
    >>> [column.tolist() for column in packed.unpack(found.keys)]
    [[0, 1], [2, 0]]
    """

    keys: IntArray
    span: int
    stages: tuple[tuple[IntArray | None, tuple[int, ...]], ...]

    def unpack(self, keys: IntArray) -> list[IntArray]:
        """One array of codes per column, for the given keys."""
        columns: list[IntArray] = []
        for known, widths in reversed(self.stages):
            for width in reversed(widths):
                rest = keys // width
                columns.append(keys - rest * width)
                keys = rest
            if known is not None:
                keys = known[keys]
        return columns[::-1]


@dataclass(frozen=True, eq=False)
class Counted:
    """The different keys in ascending order, and the weight of each."""

    keys: IntArray
    counts: IntArray


def pack(columns: Sequence[Codes], widths: Sequence[int]) -> Packed:
    """Pack columns of codes, each code below its column's width."""
    keys = np.zeros(len(columns[0]) if columns else 0, dtype=np.int64)
    if math.prod(widths) <= _WORD:
        return Packed(_packed(keys, columns, widths), math.prod(widths), ((None, tuple(widths)),))
    span = 1
    known: IntArray | None = None
    stage: list[int] = []
    stages: list[tuple[IntArray | None, tuple[int, ...]]] = []
    for codes, width in zip(columns, widths, strict=True):
        if span * width > _WORD:
            stages.append((known, tuple(stage)))
            known, keys = np.unique(keys, return_inverse=True)
            span, stage = len(known), []
        keys *= width
        keys += codes
        span *= width
        stage.append(width)
    stages.append((known, tuple(stage)))
    return Packed(keys, span, tuple(stages))


def _packed(keys: IntArray, columns: Sequence[Codes], widths: Sequence[int]) -> IntArray:
    """Pack into the given keys, a block of rows at a time: a block stays in the processor's cache."""
    for start in range(0, len(keys), _BLOCK):
        block = keys[start : start + _BLOCK]
        for codes, width in zip(columns, widths, strict=True):
            block *= width
            block += codes[start : start + _BLOCK]
    return keys


def count(packed: Packed, weights: IntArray | None = None) -> Counted:
    """How much of each key there is: rows, or the sum of their weights."""
    if _is_dense(packed):
        table = np.bincount(packed.keys, weights=weights)
        keys = np.flatnonzero(table)
        return Counted(keys, table[keys].astype(np.int64))
    if weights is None:
        ordered = np.sort(packed.keys.astype(np.uint32) if packed.span <= 1 << 32 else packed.keys)
        first = starts(ordered)
        return Counted(ordered[first].astype(np.int64), np.diff(first, append=len(ordered)))
    ordered, weights = _sorted_together(packed, weights)
    first = starts(ordered)
    return Counted(ordered[first], np.add.reduceat(weights, first))


def number(packed: Packed) -> tuple[IntArray, int]:
    """A number for each tuple, equal for equal tuples, ascending with the keys; and how many there are."""
    if _is_dense(packed):
        present = np.zeros(packed.span, dtype=np.int64)
        present[packed.keys] = 1
        places = np.cumsum(present)
        return places[packed.keys] - 1, int(places[-1])
    known, numbers = np.unique(packed.keys, return_inverse=True)
    return numbers, len(known)


def among(packed: Packed, chosen: IntArray) -> NDArray[np.bool_]:
    """Which tuples have one of the chosen keys."""
    if packed.span <= _DENSE:
        table = np.zeros(packed.span, dtype=np.bool_)
        table[chosen] = True
        return table.take(packed.keys)
    return np.isin(packed.keys, chosen)


def _is_dense(packed: Packed) -> bool:
    return packed.span <= min(_DENSE, max(8 * len(packed.keys), 1 << 12))


def _sorted_together(packed: Packed, weights: IntArray) -> tuple[IntArray, IntArray]:
    """Keys in order, and their weights: in one sort of single words where key and weight fit into one."""
    bits = int(weights.max()).bit_length()
    if packed.span << bits < _WORD:
        words = np.sort((packed.keys << bits) | weights)
        return words >> bits, words & ((1 << bits) - 1)
    order = np.argsort(packed.keys)
    return packed.keys[order], weights[order]


def starts(ordered: NDArray[Any]) -> IntArray:
    """Where each different key begins, in keys that are in order.

    >>> starts(np.array([3, 3, 5]))
    array([0, 2])
    """
    return np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))


def opened(first: IntArray, last: IntArray) -> tuple[IntArray, IntArray]:
    """Ranges of places, each up to its `last` without it, as pairs of the number of a range and a place in it.

    >>> [one.tolist() for one in opened(np.array([3, 0]), np.array([5, 1]))]
    [[0, 0, 1], [3, 4, 0]]
    """
    length = last - first
    number_of = np.repeat(np.arange(len(first)), length)
    begin = np.cumsum(length) - length
    return number_of, np.arange(len(number_of)) + (first - begin)[number_of]


def hashed(numbers: NDArray[Any], salt: int) -> NDArray[np.uint64]:
    """Numbers spread over all words, by multiplying and folding; no secret, and no cryptography."""
    with np.errstate(over="ignore"):
        words = (numbers.astype(np.uint64) + np.uint64(salt)) * np.uint64(0x9E3779B97F4A7C15)
        words = (words ^ (words >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
        words = (words ^ (words >> np.uint64(29))) * np.uint64(0xA24BAED4963EE407)
        return words ^ (words >> np.uint64(32))
