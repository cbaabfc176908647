"""Databases that are a file: SQLite and DuckDB, opened to be read and for nothing else.

A policy says by `query` or `table` what is read; where a file has one table alone, nothing has to be said. Only the
columns that are needed leave the database.
"""

import sqlite3
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote as quote_url

import pyarrow as pa

from sfumato.core.memory import check_memory, find_memory_allowed
from sfumato.errors import DataError, is_lack_of_memory, shorten
from sfumato.policy import DataSource, Policy
from sfumato.table.batch_source import BatchSource, Part, PartSize, choose_fields
from sfumato.table.cell_columns import has_huge_number, join_pieces, joined_type, make_column
from sfumato.table.sql_text import write_from, write_select
from sfumato.table.table import TableFile, cast_text_views, open_table_file

SQLITE_MARK = b"SQLite format 3\0"
DUCKDB_MARK = b"DUCK"
"""What a DuckDB file has after its first eight bytes."""

FIRST_ROWS = 100_000
PIECE = 50_000
"""Rows that are fetched at once."""
CELL = 4
"""Bytes of a cell at least."""
TYPICAL_CELL = 16
"""Bytes of a cell, where nothing tells."""


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
    while rows := cursor.fetchmany(PIECE):
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


class CellRows(BatchSource):
    """Rows of a database whose cells have any type, a piece after the other, as `collect_rows` puts them together.

    The types show only when all rows have been seen. So they are asked for twice, in one transaction, in which they are
    the same: once for their types, and then to be read.
    """

    schema: Any
    _name: str
    _columns: list[str]
    _types: Any

    def choose(self, policy: Policy, columns: list[str]) -> Any:
        """Look through the rows for the types of some columns."""
        self._columns = columns
        kinds: list[dict[Any, None]] = [{} for _ in columns]
        huge = [False] * len(columns)
        with self._asked(policy.source, columns) as cursor:
            while rows := cursor.fetchmany(PIECE):
                for place, cells in enumerate(zip(*rows, strict=True)):
                    kind, has_huge = _piece_type(cells)
                    kinds[place][kind] = None
                    huge[place] |= has_huge
        types = [joined_type(list(found), huge=big) for found, big in zip(kinds, huge, strict=True)]
        self._source, self._types = policy.source, pa.schema(list(zip(columns, types, strict=True)))
        return self._types

    def parts(self) -> Generator[Part]:
        """Ask for the rows once more."""
        with self._asked(self._source, self._columns) as cursor:
            while rows := cursor.fetchmany(PIECE):
                yield partial(self._make, rows)

    def _make(self, rows: list[Any]) -> Any:
        columns = (make_column(cells) for cells in zip(*rows, strict=True))
        try:
            return pa.table(
                [cells.cast(kind) for cells, kind in zip(columns, self._types.types, strict=True)], self._types
            )
        except pa.ArrowException:
            raise unlike_rows_error(self._name) from None

    def _asked(self, source: DataSource, columns: list[str]) -> AbstractContextManager[Any]:
        """Ask for columns of all rows; gives a cursor."""
        raise NotImplementedError


def unlike_rows_error(name: str) -> DataError:
    """Say that a database did not give the same rows twice."""
    return DataError(
        f"{name} gave other rows when it was asked once more; let [data] query say the same rows each time, and try "
        "again when nothing writes to them"
    )


def _piece_type(cells: Sequence[object]) -> tuple[Any, bool]:
    """Tell the type of the column that `make_column` makes of cells, and whether it holds huge whole numbers."""
    kinds = set(map(type, cells)) - {type(None)}
    if kinds == {str}:  # most columns, and the others are made once more for it
        return pa.string(), False
    column = make_column(cells)
    return column.type, has_huge_number(column)


class SqliteRows(CellRows):
    """A table or query of an SQLite file."""

    def __init__(self, path: TableFile, source: DataSource, size: PartSize) -> None:
        del size
        self._path, self._name, self._stack = path, path.name, ExitStack()
        try:
            self._connection = self._stack.enter_context(_opened_sqlite(path))
            self._connection.execute("BEGIN")
            with _said_by_sqlite(path):
                self.schema = _sqlite_names(self._connection, _sqlite_from(self._connection, path, source))
        except BaseException:
            self.close()
            raise

    @contextmanager
    def _asked(self, source: DataSource, columns: list[str]) -> Iterator[Any]:
        with _said_by_sqlite(self._path):
            inner = _sqlite_from(self._connection, self._path, source)
            with closing(self._connection.execute(write_select(inner, columns))) as cursor:
                yield cursor

    def close(self) -> None:
        """Close the file."""
        self._stack.close()


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
        with (
            _said_by_sqlite(path),
            closing(
                # batches may be taken in another thread than the one that opened the table, one after the other
                sqlite3.connect(f"file:{quote_url(str(place))}?{mode}", uri=True, check_same_thread=False)
            ) as connection,
        ):
            connection.execute("PRAGMA query_only = ON")
            connection.execute("PRAGMA trusted_schema = OFF")
            yield connection


@contextmanager
def _said_by_sqlite(path: TableFile) -> Iterator[None]:
    """Put what SQLite raises into a sentence."""
    try:
        yield
    except sqlite3.Error as error:
        raise _sqlite_error(path.name, error) from None
    except (sqlite3.Warning, UnicodeError):
        raise DataError(f"{path.name}: [data] query has several statements, or is no text; say one SELECT") from None


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


class DuckdbRows(BatchSource):
    """A table or query of a DuckDB file, which gives rows as they are asked for."""

    def __init__(self, path: TableFile, source: DataSource, size: PartSize) -> None:
        self._path, self._source, self._size = path, source, size
        self.schema = duckdb_schema(path, source)

    def choose(self, policy: Policy, columns: list[str]) -> Any:
        """Choose columns."""
        del policy
        self._chosen = choose_fields(self.schema, columns)
        return self._chosen

    def parts(self) -> Generator[Part]:
        """Fetch rows."""
        with _opened_duckdb(self._path) as connection:
            inner = _duckdb_from(connection, self._path, self._source)
            relation = connection.sql(write_select(inner, self._chosen.names))
            # the older name is that of DuckDB before 1.4
            fetch = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
            with fetch(self._size.rows_of(len(self._chosen) * TYPICAL_CELL)) as reader:
                for batch in reader:
                    yield partial(give_rows, batch, self._chosen, self._path.name)


def give_rows(batch: Any, schema: Any, name: str) -> Any:
    """Make a table of a batch that a database gave, whose types were asked for before."""
    table = cast_text_views(pa.Table.from_batches([batch]).rename_columns(schema.names))
    if table.schema.types != schema.types:
        raise unlike_rows_error(name)
    return table


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
