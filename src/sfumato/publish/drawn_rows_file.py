"""A file of rows that were drawn from a stream: CSV or Parquet, whole or not at all.

A stream has no release folder: what is drawn from it is a file by itself, written beside and renamed. CSV follows the
formula rule of every published file.
"""

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.core.arrow import arrow_text, arrow_texts
from sfumato.errors import OutputError
from sfumato.publish.csv_writer import csv_cells

_BATCH = 1 << 16


def check_rows_target(path: Path, *, force: bool, option: str) -> None:
    """Refuse a file that is there already, unless `force` replaces it, and a place where there can be none."""
    if str(path) == "-":
        return
    if path.is_dir():
        raise OutputError(f"{path} is a folder; name a file for {option}")
    if path.exists() and not force:
        raise OutputError(f"{path} exists already; choose another name for {option}, or replace it with --force")
    if not path.parent.is_dir():
        raise OutputError(f"there is no folder {path.parent}; make it, or choose another name for {option}")


def is_parquet(path: Path) -> bool:
    """Whether rows are written as Parquet, by the name of the file; else as CSV.

    >>> is_parquet(Path("rows.parquet")), is_parquet(Path("rows.csv"))
    (True, False)
    """
    return path.suffix.lower() in {".parquet", ".pq"}


def write_drawn_rows(table: Any, path: Path) -> None:
    """Write an Arrow table, as CSV or as the name of the file says; ``-`` is standard output."""
    if str(path) == "-":
        for part in _csv_lines(table):
            sys.stdout.buffer.write(part)
        sys.stdout.buffer.flush()
        return
    stage = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        try:
            with stage.open("wb") as file:
                if is_parquet(path):
                    pq.write_table(table, file, store_schema=False)
                else:
                    file.writelines(_csv_lines(table))
                file.flush()
                os.fsync(file.fileno())
            stage.replace(path)
        finally:
            with suppress(FileNotFoundError):
                stage.unlink()
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or type(error).__name__}; choose another") from None


def _csv_lines(table: Any) -> Iterator[bytes]:
    """Render a header and lines, a piece at a time."""
    yield (",".join(csv_cells(arrow_texts(table.column_names)).to_pylist()) + "\n").encode()
    for start in range(0, table.num_rows, _BATCH):
        cells = [csv_cells(column.combine_chunks()) for column in table.slice(start, _BATCH).columns]
        lines = pc.binary_join_element_wise(*cells, arrow_text(",")) if len(cells) > 1 else cells[0]
        yield ("\n".join(lines.cast(pa.string()).to_pylist()) + "\n").encode()
