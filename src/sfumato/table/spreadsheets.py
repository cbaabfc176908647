"""Workbooks of Excel (.xlsx, .xlsm, .xlsb, .xls) and of LibreOffice (.ods), by the package python-calamine.

The first row that is not empty names the columns, and rows without any cell are left out. Nothing is guessed at: merged
cells of a header, or a title above it, are refused with a sentence. Of formulas the result counts that was saved. The
library keeps a cell for each place between the first and the last, so it runs in a process that is bound in memory.
"""

import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from sfumato.core.memory import check_memory, find_memory_allowed
from sfumato.errors import DataError, did_you_mean, listing, quote
from sfumato.policy import DataSource, Policy
from sfumato.table.cell_columns import make_column, write_cell
from sfumato.table.column_header import header_schema
from sfumato.table.optional_library import import_library
from sfumato.table.table import TableFile, no_rows_error, open_table_file

WORKBOOK_SUFFIXES = frozenset({".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"})


def sheet_schema(path: TableFile, source: DataSource) -> Any:
    """Read the names of the columns of a sheet; their types show when they are read."""
    return _read_sheet(path, source).schema


def read_sheet(path: TableFile, policy: Policy, columns: list[str]) -> Any:
    """Read some columns of a sheet."""
    sheet = _read_sheet(path, policy.source)
    places = {name: place for place, name in enumerate(sheet.schema.names)}
    if not sheet.rows:
        raise no_rows_error()
    return pa.table(
        {name: make_column((row[places[name]] for row in sheet.rows), ("", *policy.source.null)) for name in columns}
    )


@dataclass(frozen=True, eq=False)
class _Sheet:
    """A sheet: its schema, without types, and its rows, each with as many cells as there are columns."""

    schema: Any
    rows: list[list[object]]


def _read_sheet(path: TableFile, source: DataSource) -> _Sheet:
    name, merged, rows = _read_workbook(path, source.sheet)
    where = f"sheet {quote(name)} of {path.name}"
    width = max(map(len, rows), default=0)
    rows = [row + [None] * (width - len(row)) for row in rows]
    top = next((place for place, row in enumerate(rows) if _is_filled(row)), None)
    if top is None:
        raise DataError(
            f"{where} is empty; name another with sheet in [data] (--sheet of init), or write a header and rows into it"
        )
    # the cells that a merged one covers are empty, and nobody could tell them from forgotten ones
    if any(first <= top <= last for first, last in merged):
        raise DataError(f"the header of {where} has merged cells; give each column a name in one row, and no more")
    header, body = rows[top], [row for row in rows[top + 1 :] if _is_filled(row)]
    used = [place for place in range(width) if any(_is_filled([row[place]]) for row in (header, *body))]
    if len(used) > 1 and sum(_is_filled([header[place]]) for place in used) == 1:
        raise DataError(
            f"the first row of {where} has one cell, as a title has, and the rows below have {len(used)}; "
            "remove it, so that the first row names the columns"
        )
    cells = [write_cell(header[place]) if _is_filled([header[place]]) else "" for place in used]
    return _Sheet(header_schema(cells, pa.null()), [[row[place] for place in used] for row in body])


def _is_filled(cells: list[object]) -> bool:
    return any(cell is not None and cell != "" for cell in cells)


def _choose_sheet(names: list[str], chosen: str | None, file: str) -> str:
    """Find the sheet that the policy names, or the first."""
    if not names:
        raise DataError(f"{file} has no sheet; save it once more")
    if chosen is None or chosen in names:
        return names[0] if chosen is None else chosen
    hint = did_you_mean(chosen, names) or f"; it has {listing(names)}"
    raise DataError(f"{file} has no sheet {quote(chosen)}{hint}")


_READER = Path(__file__).with_name("workbook_process.py")
_PROTECTED = 3
"""What it ends with where a workbook has a password."""
_ROOM = 256 << 20
"""Bytes that such a process takes besides the sheet."""
_KINDS: dict[str, Callable[[Any], object]] = {
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "timedelta": lambda seconds: timedelta(seconds=seconds),
}


def _read_workbook(path: TableFile, chosen: str | None) -> tuple[str, list[list[int]], list[list[object]]]:
    """Read a sheet: its name, the first and last row of each merged range, and its rows without empty cells behind."""
    import_library("python_calamine", "python-calamine", "excel", f"{path.name} is a workbook")
    with open_table_file(path) as file:
        _check_unpacked_size(file, path.name)
        number, most = file.fileno(), min(find_memory_allowed() + _ROOM, 1 << 62)
        command = [sys.executable, "-P", str(_READER), str(number), chosen or "", str(most)]
        done = subprocess.run(command, pass_fds=[number], capture_output=True, check=False)  # noqa: S603 - our own file
    if done.returncode == _PROTECTED:
        raise DataError(f"{path.name} is protected by a password; save it without one")
    if done.returncode:
        raise DataError(
            f"{path.name} cannot be read as a workbook: it is damaged, of another format than its name says, or takes "
            "more memory than may be used; save it once more, or as CSV"
        )
    lines = done.stdout.splitlines()
    names = json.loads(lines[0])
    name = _choose_sheet(names, chosen, path.name)
    return name, json.loads(lines[1]), [[_read_cell(cell) for cell in json.loads(line)] for line in lines[2:]]


def _read_cell(cell: Any) -> object:
    if not isinstance(cell, dict):
        return cast("object", cell)
    ((kind, text),) = cell.items()
    return _KINDS[kind](text)


def _check_unpacked_size(file: Any, name: str) -> None:
    """Refuse a workbook, a zip archive, that says itself that it holds more than fits into memory."""
    try:
        with zipfile.ZipFile(file) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):  # an old one, or a damaged one
        size = 0
    file.seek(0)
    check_memory(size, f"{name}, unpacked,")
