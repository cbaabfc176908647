"""The published table in DuckDB: how it is read, and small pieces of SQL."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from sfumato.errors import NotVerified


def name(column: str) -> str:
    """A column name as an SQL identifier, whatever it holds.

    >>> print(name('a"b'))
    "a""b"
    """
    return '"' + column.replace('"', '""') + '"'


def names(columns: Sequence[str]) -> str:
    """Identifiers in a row."""
    return ", ".join(name(column) for column in columns)


def text(value: str) -> str:
    """A string literal, whatever it holds."""
    return "'" + value.replace("'", "''") + "'"


def connect() -> Any:
    """A database in memory that touches no other file and loads nothing."""
    return duckdb.connect(
        ":memory:", config={"autoload_known_extensions": "false", "preserve_insertion_order": "false"}
    )


def open_file(path: Path, *, null: str = "") -> tuple[Any, list[str]]:
    """A connection with the written file as view ``published``; its columns are those of the file."""
    connection = connect()
    try:
        source = _parquet(path) if path.suffix == ".parquet" else _csv(connection, path, null)
        connection.execute(f"CREATE VIEW published AS SELECT * FROM {source}")
        described = connection.execute("DESCRIBE published").fetchall()
    except duckdb.Error as error:
        raise NotVerified(f"{path.name} cannot be read: {str(error).splitlines()[0]}") from None
    return connection, [row[0] for row in described]


def open_arrow(table: Any) -> tuple[Any, list[str]]:
    """The same over a table in memory."""
    connection = connect()
    connection.register("published", table)
    return connection, list(table.column_names)


def _parquet(path: Path) -> str:
    return f"read_parquet({text(str(path))})"


def _csv(connection: Any, path: Path, null: str) -> str:
    header = connection.execute(
        f"SELECT * FROM read_csv({text(str(path))}, {_options(null)}, header = false, all_varchar = true) LIMIT 1"
    ).fetchone()
    columns = ", ".join(f"{text(unguarded(str(column)))}: 'VARCHAR'" for column in header)
    return f"read_csv({text(str(path))}, {_options(null)}, header = true, columns = {{{columns}}}, auto_detect = false)"


def unguarded(cell: str) -> str:
    """A text as it was before the formula rule: one apostrophe less where the rule added one."""
    rest = cell.lstrip("'")
    return cell[1:] if rest != cell and rest[:1] in {"=", "+", "-", "@", "\t", "\r", "\0"} and rest else cell


def unguarded_sql(column: str) -> str:
    """The same in SQL."""
    return f"CASE WHEN regexp_matches({column}, '^''+[=+\\-@\\t\\r\\x00]') THEN substr({column}, 2) ELSE {column} END"


def _options(null: str) -> str:
    return (
        f"delim = ',', quote = '\"', escape = '\"', nullstr = {text(null)}, allow_quoted_nulls = false, "
        "strict_mode = true, null_padding = false, max_line_size = 100000000"
    )
