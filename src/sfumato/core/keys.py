"""Tuples of small integers as one integer each: packing, counting and taking apart.

Searches count millions of tuples, again and again. A tuple packed into one machine word is counted by a bincount where
the words are few, by a sort where they are many. Where the widths of the columns exceed a word, what is packed so far
is numbered densely and packing goes on from there.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import BoolArray, Codes, FloatArray, IntArray, map_pieces, sum_amounts
from sfumato.core.segments import run_starts

LARGEST_SPAN = 1 << 62
"""Keys stay below this, so that they are positive 64-bit integers with a bit to spare."""
_DENSE = 1 << 24
"""Spans up to this are counted in a table with an entry per possible key."""
_BLOCK = 1 << 16
_LARGE = 1 << 20
"""More weights than this are added up a block at a time, where they would have to be converted."""


@dataclass(frozen=True, eq=False)
class PackedTuples:
    """One key per tuple, and what is needed to take keys apart again.

    `keys` are below `span`. `stages` are in the order of packing: the keys that were known when what was packed so far
    had to be numbered densely (``None`` in the first stage), and the widths of the columns packed in the stage.

    >>> packed = pack_tuples([np.array([0, 1, 1]), np.array([2, 0, 0])], [2, 3])
    >>> counted = count_keys(packed)
    >>> counted.keys, counted.counts
    (array([2, 3]), array([1, 2]))
    >>> [column.tolist() for column in packed.unpack(counted.keys)]
    [[0, 1], [2, 0]]
    """

    keys: IntArray
    span: int
    stages: tuple[tuple[IntArray | None, tuple[int, ...]], ...]

    def unpack(self, keys: IntArray) -> list[IntArray]:
        """Take the given keys apart: one array of codes per column."""
        columns: list[IntArray] = []
        for known, widths in reversed(self.stages):
            for width in reversed(widths):
                rest = keys // width
                columns.append(keys - rest * width)
                keys = rest
            if known is not None:
                keys = known[keys]
        return columns[::-1]

    def unpack_codes(self, keys: IntArray) -> tuple[Codes, ...]:
        """Take the given keys apart: one array of codes per column, each as narrow as its width allows."""
        widths = [width for _, stage in self.stages for width in stage]
        columns = tuple(np.empty(len(keys), dtype=np.min_scalar_type(max(width - 1, 0))) for width in widths)
        for start in range(0, len(keys), _BLOCK):  # a block of keys at a time, which stays in the processor's cache
            block = slice(start, start + _BLOCK)
            for column, codes in zip(columns, self.unpack(keys[block]), strict=True):
                column[block] = codes
        return columns

    @property
    def is_dense(self) -> bool:
        """Whether a table with an entry per possible key is cheaper than a sort."""
        return self.span <= min(_DENSE, max(8 * len(self.keys), 1 << 12))


def pack_tuples(columns: Sequence[Codes], widths: Sequence[int]) -> PackedTuples:
    """Pack columns of codes, each code below its column's width, into one key per row."""
    rows = len(columns[0]) if columns else 0
    if math.prod(widths) <= LARGEST_SPAN:
        keys = np.empty(rows, dtype=np.int64)
        # A block of rows at a time, which stays in the processor's cache.
        for start in range(0, rows, _BLOCK):
            block = keys[start : start + _BLOCK]
            block[:] = columns[0][start : start + _BLOCK]
            for codes, width in zip(columns[1:], widths[1:], strict=True):
                block *= width
                block += codes[start : start + _BLOCK]
        return PackedTuples(keys, math.prod(widths), ((None, tuple(widths)),))
    keys = np.zeros(rows, dtype=np.int64)
    span = 1
    known: IntArray | None = None
    stage: list[int] = []
    stages: list[tuple[IntArray | None, tuple[int, ...]]] = []
    for codes, width in zip(columns, widths, strict=True):
        if span * width > LARGEST_SPAN:
            stages.append((known, tuple(stage)))
            keys, known = _number_sorted(keys) if rows > _LARGE else np.unique(keys, return_inverse=True)[::-1]
            span, stage = len(known), []
        keys *= width
        keys += codes
        span *= width
        stage.append(width)
    stages.append((known, tuple(stage)))
    return PackedTuples(keys, span, tuple(stages))


def add_lookups(columns: Sequence[Codes], tables: Sequence[IntArray]) -> IntArray:
    """Look the codes of each column up in its table, and add up what is found, row by row: int[rows].

    >>> add_lookups([np.array([0, 1, 1]), np.array([2, 0, 1])], [np.array([0, 10]), np.array([5, 6, 7])])
    array([ 7, 15, 16])
    """
    sums = np.empty(len(columns[0]), dtype=np.int64)

    def add(piece: slice) -> None:
        for start in range(piece.start, piece.stop, _BLOCK):  # a block of rows at a time, which stays in the cache
            rows = slice(start, min(start + _BLOCK, piece.stop))
            block = sums[rows]
            block[:] = tables[0].take(columns[0][rows])
            for codes, table in zip(columns[1:], tables[1:], strict=True):
                block += table.take(codes[rows])

    map_pieces(len(sums), add)
    return sums


@dataclass(frozen=True, eq=False)
class KeyCounts:
    """The different keys in ascending order, and the weight of each."""

    keys: IntArray
    counts: IntArray


def count_keys(
    packed: PackedTuples, weights: IntArray | FloatArray | None = None, *, consume: bool = False
) -> KeyCounts:
    """Count how often each key occurs, or add up the weights of its rows.

    Weights are whole numbers; those who count by the same ones often hand them over as floats, which a bincount needs.
    Who needs the keys no more lets them be consumed: they are sorted in place.
    """
    if packed.is_dense:
        whole = weights is not None and weights.dtype.kind == "i" and len(weights) > _LARGE
        table = (
            np.bincount(packed.keys, weights=weights)
            if weights is None or not whole
            else sum_amounts(packed.keys, weights, packed.span)
        )
        keys = np.flatnonzero(table)
        return KeyCounts(keys, table[keys].astype(np.int64))
    if weights is None:
        narrow = packed.span <= 1 << 32
        ordered = packed.keys if consume and not narrow else packed.keys.astype(np.uint32 if narrow else np.int64)
        ordered.sort()
        first = run_starts(ordered)
        return KeyCounts(ordered[first].astype(np.int64), np.diff(first, append=len(ordered)))
    weights = weights.astype(np.int64, copy=False)
    bits = int(weights.max(initial=0)).bit_length()
    if not is_ascending(packed.keys):
        if packed.span << bits < LARGEST_SPAN:  # key and weight fit into one word, and words sort faster than pairs
            words = np.left_shift(packed.keys, bits, out=packed.keys if consume else None)
            words |= weights
            words.sort()
            return _sum_runs(words, bits)
        order = np.argsort(packed.keys)
        packed, weights = replace(packed, keys=packed.keys[order]), weights[order]
    first = run_starts(packed.keys)
    return KeyCounts(packed.keys[first], np.add.reduceat(weights, first))


def _sum_runs(words: IntArray, bits: int) -> KeyCounts:
    """Add up the weights of equal keys; words are sorted, and have a key above so many bits of its weight.

    Twice over the words, a block at a time, so that nothing but the result is as long as they are.
    """
    blocks = [slice(start, start + _BLOCK) for start in range(0, len(words), _BLOCK)]
    last, different = -1, 0
    for block in blocks:
        keys = words[block] >> bits
        different += int(np.count_nonzero(keys[1:] != keys[:-1])) + int(keys[0] != last)
        last = int(keys[-1])
    counted = KeyCounts(np.empty(different, dtype=np.int64), np.zeros(different, dtype=np.int64))
    last, used = -1, 0
    for block in blocks:
        keys = words[block] >> bits
        first = run_starts(keys)
        sums = np.add.reduceat(words[block] & ((1 << bits) - 1), first)
        used -= int(keys[0] == last)  # the run goes on from the block before
        counted.keys[used : used + len(first)] = keys[first]
        counted.counts[used : used + len(first)] += sums
        used, last = used + len(first), int(keys[-1])
    return counted


def is_ascending(keys: NDArray[Any], *, strictly: bool = False) -> bool:
    """Tell whether keys are in ascending order; a block at a time, so that most that are not are known soon.

    >>> is_ascending(np.array([1, 1, 2])), is_ascending(np.array([1, 1, 2]), strictly=True)
    (True, False)
    """
    compare = np.greater if strictly else np.greater_equal
    for start in range(0, len(keys) - 1, _BLOCK):
        block = keys[start : start + _BLOCK + 1]
        if not compare(block[1:], block[:-1]).all():
            return False
    return True


def collapse_tuples(
    columns: Sequence[Codes], widths: Sequence[int], weights: IntArray
) -> tuple[tuple[Codes, ...], IntArray]:
    """Make one line of equal tuples, adding up their weights; tuples without any weight are left out.

    >>> codes, weights = collapse_tuples([np.array([1, 0, 1])], [2], np.array([2, 0, 3]))
    >>> [column.tolist() for column in codes], weights.tolist()
    ([[1]], [5])
    """
    packed = pack_tuples(columns, widths)
    counted = count_keys(packed, weights, consume=True)
    some = counted.counts > 0
    return packed.unpack_codes(counted.keys[some]), counted.counts[some]


def number_tuples(packed: PackedTuples, chosen: BoolArray | None = None) -> tuple[IntArray, int]:
    """Number the tuples: equal ones alike, without gaps, ascending with the keys; also returns how many there are.

    Where some are chosen (bool[rows]), only they are numbered, and all others are -1.

    >>> packed = pack_tuples([np.array([1, 0, 2, 1])], [3])
    >>> number_tuples(packed)[0].tolist(), number_tuples(packed, np.array([True, False, True, True]))[0].tolist()
    ([1, 0, 2, 1], [0, -1, 1, 0])
    """
    numbers = np.empty(len(packed.keys), dtype=np.int64)
    if not packed.is_dense and len(numbers) > _LARGE:
        numbers, known = _number_sorted(packed.keys, chosen)
        return numbers, len(known)
    if not packed.is_dense:
        known, inverse = np.unique(packed.keys if chosen is None else packed.keys[chosen], return_inverse=True)
        numbers[...] = -1
        numbers[... if chosen is None else chosen] = inverse
        return numbers, len(known)
    # A block of rows at a time: what is wide and only needed for a moment stays in the processor's cache.
    blocks = [slice(start, start + _BLOCK) for start in range(0, len(numbers), _BLOCK)]
    present = np.zeros(packed.span, dtype=np.bool_)
    for block in blocks:
        present[packed.keys[block] if chosen is None else packed.keys[block][chosen[block]]] = True
    places = np.cumsum(present, dtype=np.int32)  # a table half as large is in the cache twice as often
    places -= 1
    for block in blocks:
        numbers[block] = places.take(packed.keys[block])
        if chosen is not None:
            numbers[block][~chosen[block]] = -1
    return numbers, int(places[-1]) + 1 if len(places) else 0


def _number_sorted(keys: IntArray, chosen: BoolArray | None = None) -> tuple[IntArray, IntArray]:
    """Number keys by sorting them, those that are not chosen -1; also returns the different ones, in order.

    As `numpy.unique` does, with three arrays of their length in place of six: keys are walked along in their order, a
    block at a time.
    """
    order, numbers = np.argsort(keys), np.full(len(keys), -1)
    known: list[IntArray] = []
    used, last = 0, None
    for start in range(0, len(order), _BLOCK):
        block = order[start : start + _BLOCK]
        block = block if chosen is None else block[chosen.take(block)]
        if not len(block):
            continue
        values = keys.take(block)
        new = np.empty(len(values), dtype=np.bool_)
        new[0] = last is None or values[0] != last
        np.not_equal(values[1:], values[:-1], out=new[1:])
        numbers[block] = np.cumsum(new) + (used - 1)
        known.append(values[new])
        used, last = used + len(known[-1]), values[-1]
    return numbers, np.concatenate(known) if known else keys[:0]


def find_first(numbers: NDArray[Any], width: int) -> IntArray:
    """Find the first row with each of the numbers below `width`: int[width], -1 where there is none.

    >>> find_first(np.array([2, 0, 2]), 4).tolist()
    [1, -1, 0, -1]
    """
    first = np.full(width, -1, dtype=np.int64)
    for start in reversed(range(0, len(numbers), _BLOCK)):  # from the end, since of several assignments the last holds
        block = numbers[start : start + _BLOCK]
        first[block[::-1]] = np.arange(start, start + len(block))[::-1]
    return first


def match_tuples(columns: Sequence[Codes], chosen: Sequence[Codes], widths: Sequence[int]) -> BoolArray:
    """Tell which rows of the columns equal one of the chosen tuples; columns and tuples have the same widths.

    >>> match_tuples([np.array([0, 1, 1]), np.array([2, 0, 2])], [np.array([1]), np.array([2])], [2, 3])
    array([False, False,  True])
    """
    rows, tuples = len(columns[0]), len(chosen[0])
    span = math.prod(widths)
    if span > LARGEST_SPAN:  # keys of several stages can be compared only where they are packed together
        both = [np.concatenate([few.astype(many.dtype), many]) for few, many in zip(chosen, columns, strict=True)]
        keys = pack_tuples(both, widths).keys
        return np.isin(keys[tuples:], keys[:tuples])
    keys = np.sort(pack_tuples(chosen, widths).keys)
    table = np.zeros(span if span <= _DENSE else 0, dtype=np.bool_)
    table[keys if len(table) else []] = True
    found = np.zeros(rows, dtype=np.bool_)
    for start in range(0, rows if tuples else 0, _BLOCK):  # keys of a block of rows stay in the processor's cache
        block = slice(start, start + _BLOCK)
        packed = pack_tuples([column[block] for column in columns], widths).keys
        found[block] = table.take(packed) if len(table) else np.isin(packed, keys)
    return found


def mix_bits(numbers: NDArray[Any], salt: int) -> NDArray[np.uint64]:
    """Spread numbers over all 64-bit words by multiplying and folding; no secret, and no cryptography."""
    with np.errstate(over="ignore"):
        words = (numbers.astype(np.uint64) + np.uint64(salt)) * np.uint64(0x9E3779B97F4A7C15)
        words = (words ^ (words >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
        words = (words ^ (words >> np.uint64(29))) * np.uint64(0xA24BAED4963EE407)
        return words ^ (words >> np.uint64(32))
