"""Table files: CSV, Parquet, Feather and JSON Lines, read whole or refused with one sentence that quotes no cell.

A file's format is known by its first bytes where they tell, else by its name. Identifiers are not read with the table;
`find_repeated_identifiers` reads them by themselves, counts their values and forgets them.
"""

import hashlib
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import DataError, is_lack_of_memory, quote
from sfumato.policy import DataSource, Policy, Role
from sfumato.table.csv_reader import csv_schema, read_csv, read_first_csv_records
from sfumato.table.frames import first_frame_rows, frame_to_arrow
from sfumato.table.json_lines import json_lines_schema, read_first_json_objects, read_json_lines
from sfumato.table.least_memory import check_feather_memory, check_parquet_memory
from sfumato.table.table import (
    Table,
    arrow_file,
    cast_text_views,
    check_columns,
    check_rows,
    check_types,
    columns_to_read,
    open_table_file,
)

_DAMAGED = (pa.ArrowException, OSError, UnicodeDecodeError, MemoryError)


def read_table(path: Path, policy: Policy) -> Table:
    """Read the table in a file, with the columns that a policy publishes or looks at."""
    kind = file_format(path)
    schema, names = _read_schema(path, kind, policy.source)
    check_columns(names, policy)
    columns = columns_to_read(policy, names)
    check_types(schema, columns)
    try:
        arrow = cast_text_views(kind.read(path, policy, columns).replace_schema_metadata())
        arrow.validate(full=True)  # a damaged file may hold text that is none
    except _DAMAGED as error:
        raise _unreadable(path, kind, error) from None
    check_rows(arrow)
    return Table(arrow, path=path, schema=schema)


def column_names(path: Path, source: DataSource) -> list[str]:
    """Read the names of a file's columns, for those who have no policy for it yet."""
    return _read_schema(path, file_format(path), source)[1]


def file_digest(path: Path) -> str:
    """Compute the SHA-256 of a file, in hexadecimal."""
    with open_table_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_schema(path: Path, kind: "FileFormat", source: DataSource) -> tuple[Any, list[str]]:
    """Read the types of a file's columns, and their names."""
    try:
        schema = kind.schema(path, source)
        return schema, list(schema.names)  # names may be no text, in a damaged file
    except _DAMAGED as error:
        raise _unreadable(path, kind, error) from None


def _unreadable(path: Path, kind: "FileFormat", error: Exception) -> DataError:
    """Say that a file cannot be read, with the kind of Arrow's error but without the data that Arrow may quote.

    A file for which there is too little memory may be sound; a damaged one may ask for more than any machine has.
    """
    if is_lack_of_memory(error):
        return DataError(
            f"{path.name} takes more memory than there is: it is too large for this machine, or damaged; "
            "take fewer columns or rows, or use a larger machine"
        )
    return DataError(
        f"{path.name} cannot be read as {kind.name} ({type(error).__name__}): it is damaged, or of another "
        "format than its name says"
    )


# The formats: how each says its columns and their types, and how it is read.

_FIRST_PARQUET_ROWS = 100_000
_TEXT_SUFFIXES = {".csv", ".tsv", ".txt", ".tab", ""}


@dataclass(frozen=True)
class FileFormat:
    """A file format: what it is called, how to read the types of its columns, and how to read some of them.

    `read_first` reads the first rows of some columns, where that is quicker than to read all.
    """

    name: str
    schema: Callable[[Path, DataSource], Any]
    read: Callable[[Path, Policy, list[str]], Any]
    read_first: Callable[[Path, Policy, list[str]], Any] | None = None


def file_format(path: Path) -> FileFormat:
    """Tell the format of a file by its first bytes where they tell, else by its name."""
    with open_table_file(path) as file:
        head = file.read(8)
    if not head:
        raise DataError(f"{path.name} is empty; a table needs a header and rows")
    suffix = path.suffix.lower()
    if head.startswith(b"PAR1") or suffix in {".parquet", ".pq"}:
        return FileFormat("Parquet", _parquet_schema, _read_parquet, _read_first_parquet_rows)
    if head.startswith(b"FEA1"):  # Arrow's reader of these trusts them, and a damaged one ends the process
        raise DataError(f"{path.name} is a Feather file of version 1; save it as version 2 (Arrow), or as Parquet")
    if head.startswith(b"ARROW1") or suffix in {".feather", ".arrow"}:
        return FileFormat("Feather", _feather_schema, _read_feather)
    if suffix in {".jsonl", ".ndjson", ".json"}:
        return FileFormat("JSON Lines", json_lines_schema, read_json_lines, read_first_json_objects)
    if suffix in _TEXT_SUFFIXES:
        return FileFormat("CSV", csv_schema, read_csv, read_first_csv_records)
    raise DataError(
        f"{path.name}: {quote(suffix)} files are not read by this version; "
        "save the table as CSV, Parquet, Feather or JSON Lines"
    )


def _parquet_schema(path: Path, _: DataSource) -> Any:
    import pyarrow.parquet as pq  # noqa: PLC0415 - only where a Parquet file is read

    with open_table_file(path) as file:
        return pq.read_schema(file)


def _read_parquet(path: Path, policy: Policy, columns: list[str]) -> Any:
    import pyarrow.parquet as pq  # noqa: PLC0415 - only where a Parquet file is read

    with open_table_file(path) as file:
        schema = pq.read_schema(file)
        check_parquet_memory(path, pq.read_metadata(file), schema, columns)
        text = [name for name in columns if pa.types.is_string(schema.field(name).type)]
        coded = [name for name in text if policy.columns[name].role is not Role.PLAIN]
        return pq.read_table(arrow_file(file), columns=columns, read_dictionary=coded, partitioning=None)


def _read_first_parquet_rows(path: Path, _: Policy, columns: list[str]) -> Any:
    import pyarrow.parquet as pq  # noqa: PLC0415 - only where a Parquet file is read

    with open_table_file(path) as content, pq.ParquetFile(content) as file:
        return pa.Table.from_batches([next(file.iter_batches(_FIRST_PARQUET_ROWS, columns=columns))])


def _feather_schema(path: Path, _: DataSource) -> Any:
    from pyarrow import ipc  # noqa: PLC0415 - only where a Feather file is read

    with open_table_file(path) as file:
        return ipc.open_file(file).schema


def _read_feather(path: Path, _: Policy, columns: list[str]) -> Any:
    from pyarrow import feather  # noqa: PLC0415 - only where a Feather file is read

    check_feather_memory(path, columns)
    with open_table_file(path) as file:
        return feather.read_table(arrow_file(file), columns=columns)


# Identifiers that repeat: rows that seem to be one person's, in a table whose policy takes each for another's.

_FIRST_ROWS = 100_000
"""Identifiers of larger tables are counted only where these first rows give cause: most tables repeat none."""

_LOOKED_AT = 1000
"""So many different values tell whether a column is of dates or of decimal numbers."""

_MOST_CELLS = 10_000_000
"""More cells than this are not counted: all of them at once would take memory that the search needs."""


def find_repeated_identifiers(table: Table, policy: Policy) -> dict[str, float]:
    """Find the identifiers that look as if they named persons in several rows, with the rows for each of their values.

    NULL names nobody. A column with fewer different values than rows for each is left out for another reason than that
    it names somebody, as one of sexes or of countries. Dates, such as those of birth, and decimal numbers repeat by
    chance, among strangers. Nothing is looked at where a column of individuals says who is who.

    >>> from sfumato.policy import load
    >>> from sfumato.table import from_frame
    >>> policy = load({
    ...     "columns": {"ssn": {"role": "identifier"}, "sex": {"role": "quasi", "hierarchy": "suppress"}},
    ...     "privacy": [{"model": "k-anonymity", "k": 2}],
    ... })
    >>> visits = pa.table({"ssn": ["1", "1", "2", None], "sex": ["f", "f", "m", "m"]})
    >>> find_repeated_identifiers(from_frame(visits, policy), policy)
    {'ssn': 1.5}
    """
    names = [] if policy.individual else [column.name for column in policy.identifiers]
    if table.rows > _FIRST_ROWS:
        names = list(_rows_per_value(table, policy, names, _read_first_rows))
    if len(names) * table.rows > _MOST_CELLS:
        return {}
    return _rows_per_value(table, policy, names, _read_rows)


def _rows_per_value(
    table: Table, policy: Policy, names: list[str], read: Callable[[Table, Policy, list[str]], Any]
) -> dict[str, float]:
    """Count rows for each value of the columns that repeat values, and have at least as many as rows for each.

    A file is read once for all columns, a frame converted column by column, so that one that fails spoils no other.
    """
    ratios: dict[str, float] = {}
    for chosen in [names] if names and table.path else [[name] for name in names]:
        with suppress(Exception):  # nobody has to be able to read a column that is not published
            columns = cast_text_views(read(table, policy, chosen))
            columns.validate(full=True)  # a damaged file may hold text that is none
            for name, cells in zip(chosen, columns.columns, strict=True):
                with suppress(pa.ArrowException):  # values that cannot be compared, such as lists
                    different = cells.drop_null().unique()
                    rows, values = len(cells) - cells.null_count, len(different)
                    if rows > values and values**2 >= rows and not _repeat_by_chance(different):
                        ratios[name] = rows / values
    return ratios


_DATE_OR_DECIMAL = re.compile(r"\d{1,4}([-./])\d{1,2}\1\d{1,4}([ T]\d.*)?|[-+]?\d+[.,]\d+", re.ASCII)
_ONE_OF_THEM = re.compile(rf"{_DATE_OR_DECIMAL.pattern}|[-+]?\d+", re.ASCII)
"""Decimal numbers may stand beside whole ones; a column of whole numbers alone may name persons."""


def _repeat_by_chance(different: Any) -> bool:
    """Whether values are dates, times or decimal numbers, going by the first of them; strangers have them in common."""
    kind, some = different.type, different.slice(0, _LOOKED_AT).to_pylist()
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):  # whole ones are numbers of people that pandas widened
        return any(value % 1 != 0 for value in some)
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return bool(pa.types.is_temporal(kind))
    return all(map(_ONE_OF_THEM.fullmatch, some)) and any(map(_DATE_OR_DECIMAL.fullmatch, some))


def _read_rows(table: Table, policy: Policy, names: list[str]) -> Any:
    """Read columns that are not in the table, from its source."""
    if table.path is not None:
        return file_format(table.path).read(table.path, policy, names)
    return frame_to_arrow(table.native, table.kind, names)


def _read_first_rows(table: Table, policy: Policy, names: list[str]) -> Any:
    """Read the first rows, or a few more, of columns that are not in the table."""
    if table.path is None:
        return frame_to_arrow(first_frame_rows(table.native, table.kind, _FIRST_ROWS), table.kind, names)
    kind = file_format(table.path)
    if kind.read_first is not None:
        return kind.read_first(table.path, policy, names)
    return _read_rows(table, policy, names).slice(0, _FIRST_ROWS)
