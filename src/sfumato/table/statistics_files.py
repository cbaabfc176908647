"""Files of SPSS (.sav, .zsav), Stata (.dta) and SAS (.sas7bdat, .xpt), by the package pyreadstat.

Value labels become the values: where 1 is labelled ``Male``, the cell is ``Male``. A value without a label, in a column
where others have one, is the text of its number. Missing values are NULL, those that a user declared (in SPSS ranges of
codes such as 97 to 99, in Stata and SAS .a to .z) as well, and labels of them are not looked at. SAS keeps its labels
in a catalog, which is read where it lies beside the file, under the same name or as formats.sas7bcat.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.core.memory import check_memory
from sfumato.errors import DataError, is_lack_of_memory
from sfumato.policy import DataSource, Policy
from sfumato.table.cell_columns import make_column, write_cell
from sfumato.table.optional_library import import_library
from sfumato.table.table import TableFile, no_rows_error, open_table_file

STATISTICS_SUFFIXES = {
    ".sav": ("SPSS", "read_sav"),
    ".zsav": ("SPSS", "read_sav"),
    ".dta": ("Stata", "read_dta"),
    ".sas7bdat": ("SAS", "read_sas7bdat"),
    ".xpt": ("SAS transport", "read_xport"),
}
"""The name of each format, and what pyreadstat calls its reader."""

_CATALOG = ".sas7bcat"
_READERS = STATISTICS_SUFFIXES | {_CATALOG: ("a SAS catalog", "read_sas7bcat")}
_CELL = 8
"""Bytes of a cell at least, while it is read."""


def statistics_schema(path: TableFile, _: DataSource) -> Any:
    """Read the names of the columns; their types show when they are read."""
    return pa.schema([(name, pa.null()) for name in _read(path, metadataonly=True)[1].column_names])


def read_statistics(path: TableFile, policy: Policy, columns: list[str]) -> Any:
    """Read some columns, with labels in place of codes."""
    rows = _read(path, metadataonly=True)[1].number_rows or 0
    check_memory(rows * len(columns) * _CELL, f"{path.name}, with {rows:,} rows,")
    cells, account = _read(path, usecols=columns)
    if not cells or not len(cells[columns[0]]):
        raise no_rows_error()
    labels, null = _find_labels(path, account), ("", *policy.source.null)
    return pa.table({name: make_column(label_cells(cells[name], labels.get(name, {})), null) for name in columns})


def label_cells(cells: Iterable[Any], labels: Mapping[Any, str]) -> list[Any]:
    """Put the labels in place of the values that have one, where any has; the others are text then.

    >>> label_cells([1.0, 2.0, None, 3.0], {1: "Male", 2: "Female"})
    ['Male', 'Female', None, '3']
    >>> label_cells([34.0, 41.0], {99: "refused"})
    [34.0, 41.0]
    """
    values = list(cells)
    if not any(value in labels for value in set(values)):
        return values
    return [None if value is None else labels[value] if value in labels else write_cell(value) for value in values]


def _find_labels(path: TableFile, account: Any) -> Mapping[str, Mapping[Any, str]]:
    """Find the labels of each column: in the file, or in the catalog beside one of SAS."""
    if path.suffix.lower() != ".sas7bdat" or not isinstance(path, Path):
        found: Mapping[str, Mapping[Any, str]] = account.variable_value_labels
        return found
    catalogs = [path.with_suffix(_CATALOG), path.with_name(f"formats{_CATALOG}")]
    beside = next((catalog for catalog in catalogs if catalog.exists()), None)
    if beside is None:
        return {}
    formats = _read(beside)[1].value_labels
    return {column: formats[form] for column, form in account.variable_to_label.items() if form in formats}


def _read(path: TableFile, **options: Any) -> tuple[Mapping[str, Any], Any]:
    """Run the reader of a format on the descriptor that was checked, opened anew by its number."""
    name, reader = _READERS[path.suffix.lower()]
    library = import_library("pyreadstat", "pyreadstat", "stats", f"{path.name} is a file of {name}")
    with open_table_file(path) as file:
        again = f"/proc/self/fd/{file.fileno()}"
        try:
            cells, account = getattr(library, reader)(again, output_format="dict", **options)
        except Exception as error:  # noqa: BLE001 - of its own kind, and some of Python's for dates beyond the calendar
            if is_lack_of_memory(error):
                raise MemoryError from None
            raise DataError(
                f"{path.name} cannot be read as {name}: it is damaged, or of another format than its name says; "
                "save it once more, or as CSV"
            ) from None
    return cells, account
