"""The array types that annotations name.

Counts, codes and class numbers are 64-bit integers unless a module says otherwise; `Codes` are as narrow as the number
of different values allows, because a column of codes is read far more often than it is written.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Codes = NDArray[Any]
"""Codes of one column: unsigned integers, as narrow as its number of values allows."""


Made = TypeVar("Made")

_BLOCK = 1 << 16
_ENTRIES_PER_THREAD = 1 << 19
"""Fewer entries than this are no work for a thread of their own: to start it and wait for it would take as long."""
_MOST_THREADS = 8


def map_pieces(entries: int, work: Callable[[slice], Made], least: int = 0) -> list[Made]:
    """Cut so many entries into neighbouring pieces, one for each processor, and work on each in a thread.

    What is worked on are numpy's loops over long arrays, which need no lock of Python's. Pieces have `least` entries
    at least, and so many that a thread pays: few entries are one piece, which is worked on here.

    >>> map_pieces(5, lambda piece: (piece.start, piece.stop))
    [(0, 5)]
    >>> [made.stop - made.start for made in map_pieces(1 << 20, lambda piece: piece, least=1 << 20)]
    [1048576]
    """
    affinity = getattr(os, "sched_getaffinity", None)
    processors = min(len(affinity(0)) if affinity else os.cpu_count() or 1, _MOST_THREADS)
    number = min(processors, entries // max(_ENTRIES_PER_THREAD, least))
    if number <= 1:
        return [work(slice(0, entries))]
    ends = [entries * place // number for place in range(number + 1)]
    with ThreadPoolExecutor(number - 1) as pool:
        others = [pool.submit(work, slice(*ends[place : place + 2])) for place in range(1, number)]
        return [work(slice(*ends[:2])), *(one.result() for one in others)]


def count_codes(codes: Codes, width: int, amounts: IntArray | FloatArray | None = None) -> IntArray:
    """Count how often each of `width` codes occurs, or add up the whole amounts of the entries that have it.

    A block of entries at a time: the wide copy of narrow codes that a bincount needs stays in the processor's cache.

    >>> count_codes(np.array([0, 2, 2], dtype=np.uint8), 4)
    array([1, 0, 2, 0])
    >>> count_codes(np.array([0, 2, 2], dtype=np.uint8), 4, np.array([5, 6, 7]))
    array([ 5,  0, 13,  0])
    """
    size = max(_BLOCK, width)  # where there are many codes, a table of counts for each small block would cost more
    if amounts is None:
        counts: IntArray = np.zeros(width, dtype=np.int64)
        for start in range(0, len(codes), size):
            counts += np.bincount(codes[start : start + size], minlength=width)
        return counts
    return sum_amounts(codes, amounts, width).astype(np.int64)


def sum_amounts(codes: Codes, amounts: NDArray[Any], width: int) -> FloatArray:
    """Add up an amount per entry for each of `width` codes, a block of entries at a time.

    Whole amounts are added up in several threads where there are many: in whatever order, their sum is the same.

    >>> sum_amounts(np.array([0, 2, 2], dtype=np.uint8), np.array([0.5, 1.0, 1.5]), 3)
    array([0.5, 0. , 2.5])
    """
    size = max(_BLOCK, width)

    def add(piece: slice) -> FloatArray:
        starts = range(piece.start, max(piece.stop, piece.start + 1), size)
        blocks = [slice(start, min(start + size, piece.stop)) for start in starts]
        first = np.bincount(codes[blocks[0]], weights=amounts[blocks[0]], minlength=width)
        sums: FloatArray = np.asarray(first, dtype=np.float64)
        for block in blocks[1:]:
            sums += np.bincount(codes[block], weights=amounts[block], minlength=width)
        return sums

    if amounts.dtype.kind not in "iu":
        return add(slice(0, len(codes)))
    first, *others = map_pieces(len(codes), add, least=width)  # a table of sums for each thread
    for sums in others:
        first += sums
    return first


def draw_rows(lines: IntArray, size: int, rng: Any, counts: IntArray | None = None) -> IntArray:
    """Draw so many rows at random, in their order, all where there are not more: the line of each.

    A line is a row, or stands for as many as `counts` says of it. `rng` is a generator of numpy's, since what is drawn
    protects nobody.

    >>> draw_rows(np.array([0, 2]), 5, np.random.default_rng(1), np.array([1, 9, 2])).tolist()
    [0, 2, 2]
    """
    if counts is None:
        return lines if len(lines) <= size else np.sort(rng.choice(lines, size, replace=False))
    blocks = [lines[start : start + _BLOCK] for start in range(0, len(lines), _BLOCK)]
    totals = [int(counts.take(block).sum()) for block in blocks]
    if sum(totals) <= size:
        return np.repeat(lines, counts.take(lines))
    drawn = np.sort(rng.choice(sum(totals), size, replace=False))
    found, before = [], 0
    for block, total in zip(blocks, totals, strict=True):  # no sums of all lines are held at once
        here = drawn[np.searchsorted(drawn, before) : np.searchsorted(drawn, before + total)] - before
        found.append(block.take(np.searchsorted(np.cumsum(counts.take(block)), here, side="right")))
        before += total
    return np.concatenate(found)


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
