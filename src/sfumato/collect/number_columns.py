"""Columns of numbers from any table, for what is measured on whole rows: filters and rotations."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.collect.reports import read_numbers
from sfumato.errors import DataError
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
    rows = np.column_stack([read_numbers(arrow.column(name), name) for name in columns])
    whole = rows[~np.isnan(rows).any(axis=1)]
    if len(whole) < least:
        raise DataError(
            f"{where} has {len(whole):,} rows with numbers in all of {len(columns)} columns, and at least {least:,} "
            "are needed; take more rows or fewer columns"
        )
    return whole
