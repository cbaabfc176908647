"""Databases that are a file: SQLite and DuckDB, opened to be read and for nothing else.

A policy says by `query` or `table` what is read; where a file has one table alone, nothing has to be said. Only the
columns that are needed leave the database.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote as quote_url

import pyarrow as pa

from sfumato.core.memory import check_memory, find_memory_allowed
from sfumato.errors import DataError, is_lack_of_memory, shorten
from sfumato.policy import DataSource, Policy
from sfumato.table.cell_columns import join_pieces, make_column
from sfumato.table.sql_text import write_from, write_select
from sfumato.table.table import TableFile, cast_text_views, open_table_file

SQLITE_MARK = b"SQLite format 3\0"
DUCKDB_MARK = b"DUCK"
"""What a DuckDB file has after its first eight bytes."""

FIRST_ROWS = 100_000
_PIECE = 50_000
CELL = 4
"""Bytes of a cell at least."""


# SQLite: a column may hold cells of any kind, so each row is looked at.


def sqlite_schema(path: TableFile, source: DataSource) -> Any:
    """Find the names of the columns; their types show when they are read."""
    with _opened_sqlite(path) as connection:
        return _sqlite_names(connection, _sqlite_from(connection, path, source))


def read_sqlite(path: TableFile, policy: Policy, columns: list[str]) -> Any:
    """Read some columns of all rows."""
    return _read_sqlite(path, policy.source, columns)


def read_first_sqlite_rows(path: TableFile, policy: Policy, columns: list[str]) -> Any:
    """Read some columns of the first rows."""
    return _read_sqlite(path, policy.source, columns, first=FIRST_ROWS)


def _read_sqlite(path: TableFile, source: DataSource, columns: list[str], first: int | None = None) -> Any:
    with _opened_sqlite(path) as connection:
        inner = _sqlite_from(connection, path, source)
        cursor = connection.execute(write_select(inner, columns, first=first))
        return collect_rows(cursor, columns, path.name)


def collect_rows(cursor: Any, columns: Sequence[str], name: str) -> Any:
    """Make an Arrow table of the rows that a cursor of a database gives, a piece at a time, as far as memory goes."""
    pieces: list[list[Any]] = [[] for _ in columns]
    bound = RowBound(name, len(columns))
    while rows := cursor.fetchmany(_PIECE):
        bound.add(len(rows))
        for place, cells in enumerate(zip(*rows, strict=True)):
            pieces[place].append(make_column(cells))
    if not pieces[0]:
        return pa.table({name: pa.nulls(0) for name in columns})
    return pa.table({name: join_pieces(pieces[place]) for place, name in enumerate(columns)})


class RowBound:
    """Counts the rows that come from a database, which does not say beforehand how many, and refuses too many."""

    def __init__(self, name: str, columns: int) -> None:
        self._name, self._columns, self._rows = name, columns, 0
        self._most = find_memory_allowed()

    def add(self, rows: int) -> None:
        """Count rows; what they take at least has to fit into what was free at the beginning."""
        self._rows += rows
        needed = self._rows * self._columns * CELL
        if needed > self._most:
            check_memory(needed, f"{self._name}, with {self._rows:,} rows or more,")


def _sqlite_from(connection: sqlite3.Connection, path: TableFile, source: DataSource) -> str:
    listed = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    tables = [name for (name,) in connection.execute(f"{listed} ORDER BY name")]
    return write_from(source, path.name, tables)


def _sqlite_names(connection: sqlite3.Connection, inner: str) -> Any:
    found = connection.execute(write_select(inner, first=0)).description
    return pa.schema([(column[0], pa.null()) for column in found])


@contextmanager
def _opened_sqlite(path: TableFile) -> Iterator[sqlite3.Connection]:
    """Open a file to be read; a query that would change something fails."""
    with open_table_file(path) as file:
        # by its own path where there is one: what was written last may lie in a file beside it
        place = path.absolute() if isinstance(path, Path) else f"/proc/self/fd/{file.fileno()}"
        mode = "mode=ro" if isinstance(path, Path) else "mode=ro&immutable=1"
        try:
            with closing(sqlite3.connect(f"file:{quote_url(str(place))}?{mode}", uri=True)) as connection:
                connection.execute("PRAGMA query_only = ON")
                connection.execute("PRAGMA trusted_schema = OFF")
                yield connection
        except sqlite3.Error as error:
            raise _sqlite_error(path.name, error) from None
        except (sqlite3.Warning, UnicodeError):
            raise DataError(
                f"{path.name}: [data] query has several statements, or is no text; say one SELECT"
            ) from None


def _sqlite_error(name: str, error: sqlite3.Error) -> DataError:
    """Say what went wrong: of the query in SQLite's words, which quote no cell; of anything else in ours."""
    if is_lack_of_memory(error):
        raise MemoryError from None
    text = str(error)
    if isinstance(error, sqlite3.ProgrammingError) or "one statement at a time" in text:
        return DataError(f"{name}: [data] query has several statements; say one SELECT")
    if isinstance(error, sqlite3.OperationalError) and text.startswith(("no such", "near", "ambiguous", "incomplete")):
        return DataError(f"{name} does not answer [data] query or table: {shorten(text)}; mend it")
    if "readonly" in text or "read-only" in text:
        return DataError(f"{name}: [data] query would change the database; say a SELECT")
    if "locked" in text or "busy" in text:
        return DataError(f"{name} is locked by another program; try again when that has finished")
    return DataError(f"{name} cannot be read as SQLite: it is damaged, or the query cannot be answered")


# DuckDB: columns have types.


def duckdb_schema(path: TableFile, source: DataSource) -> Any:
    """Find the names and types of the columns."""
    with _opened_duckdb(path) as connection:
        return _duckdb_table(connection, write_select(_duckdb_from(connection, path, source), first=0)).schema


def read_duckdb(path: TableFile, policy: Policy, columns: list[str]) -> Any:
    """Read some columns of all rows."""
    with _opened_duckdb(path) as connection:
        inner = _duckdb_from(connection, path, policy.source)
        if policy.source.query is None:  # to count what a query gives may take as long as to answer it
            ((rows,),) = connection.execute(f"SELECT count(*) FROM {inner}").fetchall()  # noqa: S608 - quoted
            check_memory(rows * len(columns) * CELL, f"{path.name}, with {rows:,} rows,")
        return _duckdb_table(connection, write_select(inner, columns))


def read_first_duckdb_rows(path: TableFile, policy: Policy, columns: list[str]) -> Any:
    """Read some columns of the first rows."""
    with _opened_duckdb(path) as connection:
        inner = _duckdb_from(connection, path, policy.source)
        return _duckdb_table(connection, write_select(inner, columns, first=FIRST_ROWS))


def _duckdb_table(connection: Any, statement: str) -> Any:
    return cast_text_views(connection.sql(statement).to_arrow_table())


def _duckdb_from(connection: Any, path: TableFile, source: DataSource) -> str:
    listed = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'main' ORDER BY 1"
    tables = [name for (name,) in connection.execute(listed).fetchall()]
    return write_from(source, path.name, tables)


@contextmanager
def _opened_duckdb(path: TableFile) -> Iterator[Any]:
    """Open a file to be read; a query sees what is in it, and no other file and no network."""
    import duckdb  # noqa: PLC0415 - only where a DuckDB file is read

    if not isinstance(path, Path):
        raise DataError(f"{path.name} holds a DuckDB file; unpack it, and name that")
    with open_table_file(path):
        pass
    try:
        with closing(duckdb.connect(str(path.absolute()), read_only=True, config=dict(_CLOSED))) as connection:
            yield connection
    except duckdb.Error as error:
        if is_lack_of_memory(error):
            raise MemoryError from None
        if isinstance(error, duckdb.CatalogException | duckdb.ParserException | duckdb.BinderException):
            words = shorten(str(error).splitlines()[0])
            raise DataError(f"{path.name} does not answer [data] query or table: {words}; mend it") from None
        if isinstance(error, duckdb.PermissionException) or "read-only" in str(error):
            why = "[data] query would change it, or reads other files than this one"
            raise DataError(f"{path.name}: {why}; say a SELECT on its own tables") from None
        if isinstance(error, duckdb.IOException) and "lock on file" in str(error):
            raise DataError(f"{path.name} is open in another program; try again when that has finished") from None
        raise DataError(
            f"{path.name} cannot be read as DuckDB ({type(error).__name__}): it is damaged, of a version that this "
            "one of DuckDB does not read, or the query cannot be answered"
        ) from None


_CLOSED = {
    "enable_external_access": "false",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
}
