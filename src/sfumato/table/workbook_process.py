"""Reads one sheet of a workbook in a process of its own, and prints it: run by `spreadsheets`, imported by nobody.

The library keeps a cell for each place between the first and the last one of a sheet. Two cells far apart, or one that
is damaged, make it ask for all memory there is, and end the process where it does not get it. So this process is bound,
and has nothing to lose. It prints JSON, a line each: the names of the sheets; the first and the last row of each merged
range; and each row, without the empty cells at its end. Its arguments are the number of the open file, the sheet (the
first where it is empty or not there), and the bytes of memory that it may take.
"""

import json
import os
import resource
import sys
from datetime import date, datetime, time, timedelta
from typing import Any

PROTECTED, DAMAGED = 3, 4


def main(descriptor: int, chosen: str, most: int) -> int:
    """Print a sheet, and return how it went."""
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    import python_calamine  # noqa: PLC0415 - within the bound

    try:
        with os.fdopen(descriptor, "rb") as file:
            book = python_calamine.CalamineWorkbook.from_filelike(file)
            print(json.dumps(book.sheet_names))  # noqa: T201 - this is its output
            if book.sheet_names:
                name = chosen if chosen in book.sheet_names else book.sheet_names[0]
                print_sheet(book.get_sheet_by_name(name))
    except python_calamine.PasswordError:
        return PROTECTED
    except BaseException:  # noqa: BLE001 - Rust's own way of giving up is no Exception
        return DAMAGED
    return 0


def print_sheet(sheet: Any) -> None:
    """Print merged ranges and rows."""
    merged = getattr(sheet, "merged_cell_ranges", None) or ()
    print(json.dumps([[first[0], last[0]] for first, last in merged]))  # noqa: T201 - this is its output
    for row in sheet.to_python(skip_empty_area=False):
        cells = [write(cell) for cell in row]
        while cells and cells[-1] is None:
            cells.pop()
        print(json.dumps(cells))  # noqa: T201 - this is its output


def write(cell: object) -> object:
    """Write a cell as JSON can: empty ones as null, dates and times with their kind."""
    match cell:
        case datetime():
            return {"datetime": cell.isoformat()}
        case date() | time():
            return {type(cell).__name__: cell.isoformat()}
        case timedelta():
            return {"timedelta": cell.total_seconds()}
    return None if cell == "" else cell


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
