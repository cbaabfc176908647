"""The least memory that a table takes, told from what its file declares, before any row is read.

A few megabytes of Parquet or Feather can hold hundreds of millions of rows, since equal values are stored once. Read,
each of them takes its place: four bytes for a text, a number its width. What is counted here is what is held in any
case, by Arrow and by whoever numbers the values, so that nothing is refused that would have fit.
"""

import mmap
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from sfumato.core.memory import check_memory, find_memory_allowed
from sfumato.table.table import TableFile, open_table_file

_CODE = 4
"""Bytes of a text at least: a code, or where it begins."""
_KEY = 8
"""Bytes of what stands for the cells of a row together."""


def check_csv_memory(path: TableFile, columns: Sequence[str]) -> None:
    """Refuse a CSV file whose cells, a code each, cannot fit into memory; a cell takes a byte of the file at least."""
    with open_table_file(path) as file:
        size = file.seek(0, 2)
        if size * (_CODE + 1 + _KEY) <= find_memory_allowed():
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            rows = max(_count_lines(content) - 1, 0)
    _check_rows(path, rows, [_CODE * rows] * len(columns))


def check_parquet_memory(path: TableFile, metadata: Any, schema: Any, columns: Sequence[str]) -> None:
    """Refuse a Parquet file whose rows, as many as its metadata says, cannot fit into memory."""
    rows = metadata.num_rows
    _check_rows(path, rows, [_least_bytes(schema.field(name).type, rows) for name in columns])


def check_feather_memory(path: TableFile, columns: Sequence[str]) -> None:
    """Refuse a Feather file whose rows cannot fit into memory; they are counted without being decompressed."""
    from pyarrow import dataset  # noqa: PLC0415 - only where a Feather file is read

    with open_table_file(path) as file:
        fragment = dataset.IpcFileFormat().make_fragment(file)
        rows, schema = fragment.count_rows(), fragment.physical_schema
    _check_rows(path, rows, [_least_bytes(schema.field(name).type, rows) for name in columns])


def _check_rows(path: TableFile, rows: int, columns: Sequence[int]) -> None:
    """Add what values are numbered in, a byte of each column and a key for each row, and refuse what is too much."""
    needed = sum(columns) + rows * (len(columns) + _KEY)
    check_memory(needed, f"{path.name}, with {rows:,} rows,")


def _least_bytes(kind: Any, rows: int) -> int:
    """Count the bytes that a column of a type takes at least.

    >>> _least_bytes(pa.int64(), 10), _least_bytes(pa.string(), 10), _least_bytes(pa.bool_(), 10)
    (80, 40, 1)
    >>> _least_bytes(pa.dictionary(pa.int8(), pa.string()), 10), _least_bytes(pa.null(), 10)
    (10, 0)
    """
    if pa.types.is_null(kind):
        return 0
    if pa.types.is_dictionary(kind):
        return _least_bytes(kind.index_type, rows)
    try:
        return int(kind.bit_width) * rows // 8
    except ValueError:  # of no fixed width
        return _CODE * rows


def _count_lines(content: mmap.mmap) -> int:
    """Count line ends, a piece of the file at a time."""
    piece = 1 << 24
    return sum(content[start : start + piece].count(b"\n") for start in range(0, len(content), piece))
