"""A published file in DuckDB, as it is: its columns from its own header or schema, its rows in the table ``raw``."""

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from sfumato.errors import DataError
from sfumato.queries.database import pattern, quoted
from sfumato.table.formula_guard import unguard_formula

_LINE, _LONG_LINE = 2_000_000, 200_000_000
_OPTIONS = (
    "delim = ',', quote = '\"', escape = '\"', allow_quoted_nulls = false, strict_mode = true, null_padding = false, "
    "header = true, new_line = '\\n', auto_detect = false, compression = 'none', hive_partitioning = false"
)


@dataclass(frozen=True, eq=False)
class Raw:
    """A file in the table ``raw``: the `names` of its columns, the `types` of those that were read, and its `rows`.

    `guarded` says that texts carry the apostrophe of the formula rule, as those of CSV files do.
    """

    connection: Any
    names: tuple[str, ...]
    types: Mapping[str, str]
    rows: int
    guarded: bool

    def cell(self, name: str) -> str:
        """A column of ``raw`` in SQL."""
        return f"r{self.names.index(name)}"

    def type_of(self, name: str) -> str:
        """The type of a column in DuckDB."""
        return self.types[name]

    def has(self, name: str) -> bool:
        """Whether a column was read."""
        return name in self.types


def open_raw(connection: Any, path: Path, wanted: Callable[[str], bool], *, null: str) -> Raw:
    """Read the columns that are wanted of a CSV or Parquet file into ``raw``, as ``r`` and their places."""
    guarded = path.suffix == ".csv"
    names = _header(path) if guarded else _schema(path)
    read = {name: f"r{place}" for place, name in enumerate(names) if wanted(name)}
    cells = ", ".join(f"r{place}" for place in range(len(names)))

    def statement(line: int) -> str:
        source = f"{_source(path, len(names), null, line)} AS f({cells})"
        return f"CREATE TABLE raw AS SELECT {', '.join(read.values()) or 'NULL AS nothing'} FROM {source}"

    try:
        connection.execute(statement(_LINE))
    except duckdb.Error as error:
        if "maximum line size" not in str(error).lower():
            raise
        connection.execute(statement(_LONG_LINE))
    found = connection.execute("DESCRIBE raw").fetchall()  # a cursor's description has no exact types in DuckDB 1.2
    (rows,) = connection.execute("SELECT count(*) FROM raw").fetchone()
    return Raw(connection, names, {name: str(one[1]) for name, one in zip(read, found, strict=False)}, rows, guarded)


def _source(path: Path, width: int, null: str, line: int) -> str:
    file = quoted(pattern(path))
    if path.suffix == ".parquet":
        return f"read_parquet({file}, hive_partitioning = false)"
    columns = ", ".join(f"r{place}: 'VARCHAR'" for place in range(width))
    return f"read_csv({file}, {_OPTIONS}, nullstr = {quoted(null)}, columns = {{{columns}}}, max_line_size = {line})"


def _header(path: Path) -> tuple[str, ...]:
    """The first record, by Python's own reader: it may hold line breaks."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            first = next(csv.reader(file, strict=True), None)
    except csv.Error as error:
        raise DataError(f"{path.name} cannot be read: {error}") from None
    if not first:
        raise DataError(f"{path.name} is empty; it was changed after publication")
    return tuple(unguard_formula(cell) for cell in first)


def _schema(path: Path) -> tuple[str, ...]:
    import pyarrow.parquet as pq  # noqa: PLC0415 - only where a Parquet file is read

    return tuple(pq.read_schema(path).names)
