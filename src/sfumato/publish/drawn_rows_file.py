"""A file of rows that were drawn from a stream: CSV or Parquet, whole or not at all.

A stream has no release folder: what is drawn from it is a file by itself, written beside, checked as it stands there,
and renamed. CSV follows the formula rule of every published file.
"""

import fcntl
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.core.arrow import arrow_text, arrow_texts
from sfumato.errors import OutputError
from sfumato.publish.csv_writer import csv_cells

_BATCH = 1 << 16
_OTHER_FORMATS = frozenset(
    {
        *(".gz", ".zst", ".zip", ".bz2", ".xz", ".tsv", ".xlsx", ".xls", ".ods", ".json", ".jsonl", ".feather"),
        *(".arrow", ".sav", ".dta", ".sas7bdat", ".db", ".sqlite", ".duckdb"),
    }
)
"""Endings that CSV must not have: whoever opens the file would take it for something else."""


def check_rows_target(path: Path, *, force: bool, option: str) -> None:
    """Refuse a file that is there already, unless `force` replaces it, and a place where there can be none."""
    if str(path) == "-":
        return
    if path.is_dir():
        raise OutputError(f"{path} is a folder; name a file for {option}")
    if path.suffix.lower() in _OTHER_FORMATS:
        raise OutputError(
            f"rows are drawn as CSV or Parquet, and not as {path.suffix}; let {option} end in one of them"
        )
    if os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode):  # a link, a pipe, or /dev/null
        raise OutputError(f"{path} is no plain file, and nothing is put in its place; choose another name for {option}")
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


def write_drawn_rows(table: Any, path: Path, check: Callable[[Path], None], *, waiting: Path) -> None:
    """Write an Arrow table, as CSV or as the name of the file says, once a `check` of the written file has passed.

    It is written into a hidden file beside, which gets the name when `check`, called with its path, has raised nothing.
    ``-`` is standard output; such rows wait beside `waiting` until they are checked. Hidden files that a killed process
    left of the same target are cleared away.
    """
    target = waiting if str(path) == "-" else path
    try:
        _clear_leftovers(target)
        with _hidden_file(target) as (stage, file):
            if is_parquet(path):
                pq.write_table(table, file, store_schema=False)
            else:
                file.writelines(_csv_lines(table))
            file.flush()
            os.fsync(file.fileno())
            check(stage)
            if target == path:
                stage.replace(path)
            else:
                with stage.open("rb") as written:
                    shutil.copyfileobj(written, sys.stdout.buffer)
                sys.stdout.buffer.flush()
    except BrokenPipeError:  # nobody reads on
        raise
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or type(error).__name__}; choose another") from None


def _clear_leftovers(target: Path) -> None:
    """Remove hidden files of a target whose writers were killed: those that live have theirs locked."""
    ours = re.compile(re.escape(f".{target.name}.sfumato-") + "[0-9a-f]{16}")
    for path in target.parent.iterdir():
        if not ours.fullmatch(path.name):
            continue
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
            finally:
                os.close(descriptor)


@contextmanager
def _hidden_file(target: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """A new hidden file beside the target, locked; it is removed in the end, unless it got another name."""
    stage = target.with_name(f".{target.name}.sfumato-{secrets.token_hex(8)}")
    try:
        while True:
            with stage.open("wb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                if not stage.exists():  # another process took it for a leftover before it was locked
                    continue
                yield stage, file
                return
    finally:
        with suppress(FileNotFoundError):
            stage.unlink()


def _csv_lines(table: Any) -> Iterator[bytes]:
    """Render a header and lines, a piece at a time."""
    yield (",".join(csv_cells(arrow_texts(table.column_names)).to_pylist()) + "\n").encode()
    for start in range(0, table.num_rows, _BATCH):
        cells = [csv_cells(column.combine_chunks()) for column in table.slice(start, _BATCH).columns]
        lines = pc.binary_join_element_wise(*cells, arrow_text(",")) if len(cells) > 1 else cells[0]
        yield ("\n".join(lines.cast(pa.string()).to_pylist()) + "\n").encode()
