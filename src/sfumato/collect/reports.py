"""Perturbed reports as they are counted: the cells of a column, read by its noise.

A file holds texts, a frame may hold numbers. What the noise cannot have produced is refused, with the row and without
the cell. An empty cell is an answer that was left out; it counts for nothing.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.channels.additive_noise import AdditiveNoise
from sfumato.channels.category_noise import UnaryNoise
from sfumato.collect.basket_noise import FlipNoise
from sfumato.errors import DataError, listing, quote

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Bits = NDArray[np.bool_]

PART = "|"
"""Parts the items of a basket in one cell."""


def read_numbers(cells: Any, column: str) -> Floats:
    """Read n cells as numbers, NaN where a cell is empty; a text that is no number is refused."""
    array = _flatten(cells)
    if pa.types.is_string(array.type):
        array = pc.if_else(pc.equal(pc.utf8_trim_whitespace(array), ""), None, pc.utf8_trim_whitespace(array))
    try:
        numbers = pc.cast(array, pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        row = next(place for place in range(len(array)) if not _is_number(array[place]))
        raise DataError(
            f"column {quote(column)}: the cell in row {row + 1:,} is not a number; correct it or leave it empty"
        ) from None
    values: Floats = numbers.to_numpy(zero_copy_only=False)
    if not np.isfinite(values.sum()) and (~np.isfinite(values)).sum() > numbers.null_count:
        wrong = np.flatnonzero(~np.isfinite(values) & pc.is_valid(numbers).to_numpy(zero_copy_only=False))
        raise DataError(
            f"column {quote(column)}: the cell in row {wrong[0] + 1:,} is not a number; correct it or leave it empty"
        )
    return values


def read_codes(cells: Any, values: tuple[str, ...], column: str) -> Codes:
    """Find each of n cells among the values of the noise; -1 where a cell is empty."""
    array = _as_text(cells)
    codes = pc.fill_null(pc.index_in(array, value_set=pa.array(values, pa.string())), -1)
    found: Codes = codes.to_numpy(zero_copy_only=False).astype(np.int64)
    unknown = np.flatnonzero((found < 0) & ~_empty(array))
    if len(unknown):
        raise DataError(
            f"column {quote(column)}: the cell in row {unknown[0] + 1:,} is none of the values in the noise "
            f"({listing(values, most=5)}); correct it or leave it empty"
        )
    return found


def read_sets(cells: Any, names: tuple[str, ...], column: str) -> Bits:
    """Read n cells, each a list of names parted by ``|``, as bool[n, names]; an empty cell is the empty set."""
    array = pc.fill_null(_as_text(cells), "")
    lists = pc.split_pattern(array, PART)
    items, owner = pc.list_flatten(lists), pc.list_parent_indices(lists).to_numpy(zero_copy_only=False)
    codes = pc.fill_null(pc.index_in(items, value_set=pa.array(names, pa.string())), -1)
    places = codes.to_numpy(zero_copy_only=False).astype(np.int64)
    unknown = np.flatnonzero((places < 0) & pc.not_equal(items, "").to_numpy(zero_copy_only=False))
    if len(unknown):
        raise DataError(
            f"column {quote(column)}: the cell in row {owner[unknown[0]] + 1:,} has something that is not among "
            f"{listing(names, most=5)}, which the noise knows; items are parted by |"
        )
    bits = np.zeros((len(array), len(names)), np.bool_)
    known = places >= 0
    bits[owner[known], places[known]] = True
    return bits


def write_sets(bits: Bits, names: tuple[str, ...], *, empty: str = "") -> list[str]:
    """Write bool[n, names] as n cells of names parted by ``|``; `empty` is how the empty set is written.

    >>> write_sets(np.array([[True, True], [False, False]]), ("bread", "milk"))
    ['bread|milk', '']
    """
    chosen = np.array(names, dtype=object)
    return [PART.join(chosen[row]) or empty for row in bits]


def check_reports(noise: AdditiveNoise, reports: Floats, column: str) -> None:
    """Refuse reports that lie farther from the domain than the noise goes: another noise made them."""
    low, high = noise.domain
    margin = noise.farthest + noise.step
    lowest, highest = np.fmin.reduce(reports, initial=low), np.fmax.reduce(reports, initial=high)  # passing over NaN
    if lowest >= low - margin and highest <= high + margin:
        return
    row = np.flatnonzero((reports < low - margin) | (reports > high + margin))[0] + 1
    raise DataError(
        f"column {quote(column)}: the report in row {row:,} is one that this noise cannot produce; "
        "check that the noise is the one the answers were perturbed with"
    )


def set_names(noise: FlipNoise | UnaryNoise) -> tuple[str, ...]:
    """Give the names that a report of sets may have."""
    return noise.items if isinstance(noise, FlipNoise) else noise.values


def set_channel(noise: FlipNoise | UnaryNoise) -> Floats:
    """Give the channel of one name of a set, float[reported or not, there or not]: columns add up to 1."""
    add, keep = (1 - noise.keep, noise.keep) if isinstance(noise, FlipNoise) else (noise.add, noise.keep)
    return np.array([[1 - add, 1 - keep], [add, keep]])


def _flatten(cells: Any) -> Any:
    array = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    if isinstance(array, pa.ChunkedArray):  # no chunk at all
        array = pa.array([], array.type)
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _as_text(cells: Any) -> Any:
    array = _flatten(cells)
    return array if pa.types.is_string(array.type) else pc.cast(array, pa.string())


def _empty(array: Any) -> NDArray[np.bool_]:
    missing: NDArray[np.bool_] = pc.fill_null(pc.equal(array, ""), fill_value=True).to_numpy(zero_copy_only=False)
    return missing


def _is_number(cell: Any) -> bool:
    try:
        pc.cast(cell, pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    return True
