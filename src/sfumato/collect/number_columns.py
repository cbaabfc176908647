"""Columns of numbers from any table, for what is measured on whole rows: filters and rotations."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.errors import DataError, quote
from sfumato.reading.outside_table import check_column_names, outside_column_names, read_outside_table

Floats = NDArray[np.float64]


def read_number_columns(data: Any, columns: Sequence[str], *, least: int) -> Floats:
    """Read the rows of a file, a frame or a mapping of arrays that have a number in all of d columns: float[n, d].

    A cell that is no number is refused by its row; it is not quoted. So are fewer than `least` rows.

    >>> read_number_columns({"a": [1, 2, None], "b": [0.5, 1.5, 2.5]}, ["a", "b"], least=2).tolist()
    [[1.0, 0.5], [2.0, 1.5]]
    """
    frame = pa.table({name: pa.array(cells) for name, cells in data.items()}) if isinstance(data, Mapping) else data
    where = Path(data).name if isinstance(data, str | Path) else "the table"
    check_column_names(columns, outside_column_names(frame, {}), where)
    arrow = read_outside_table(frame, columns, {}).arrow
    rows = np.column_stack([_numbers(arrow.column(name), name) for name in columns])
    whole = rows[~np.isnan(rows).any(axis=1)]
    if len(whole) < least:
        raise DataError(
            f"{where} has {len(whole):,} rows with numbers in all of {len(columns)} columns, and at least {least:,} "
            "are needed; take more rows or fewer columns"
        )
    return whole


def _numbers(cells: Any, name: str) -> Floats:
    """Turn cells into floats, with NaN for a missing one."""
    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
        cells = pc.utf8_trim_whitespace(cells)
        cells = pc.if_else(pc.equal(cells, ""), None, cells)
    try:
        numbers = np.asarray(pc.fill_null(cells.cast(pa.float64()), float("nan")), np.float64)
    except (pa.ArrowException, ValueError, TypeError):
        raise DataError(
            f"column {quote(name)} has a cell in row {_first_wrong(cells):,} that is no number; leave the column out, "
            "or correct it"
        ) from None
    if np.isinf(numbers).any():
        raise DataError(f"column {quote(name)} has no finite number in row {int(np.argmax(np.isinf(numbers))) + 1:,}")
    return numbers


def _first_wrong(cells: Any) -> int:
    for number, cell in enumerate(cells.to_pylist(), start=1):
        try:
            float(cell if cell is not None else 0)
        except (TypeError, ValueError):
            return number
    return 1
