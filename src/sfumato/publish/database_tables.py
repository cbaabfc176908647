"""A release as tables of a database: made in one transaction, read back and compared, and committed last of all.

What happens, in this order. The files have been written and verified by then. A transaction begins; a table of the
name is refused, or dropped within the transaction where it may be replaced; each table is made and filled; what the
database now holds is read back and has to be what is published, cell by cell, which the verifier passes once more.
Then the folder of the release appears, and then the transaction is committed. Whatever fails before that is rolled
back; where the commit itself fails, the folder is taken back. So other users of the database see the whole release or
nothing of it.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from sfumato.errors import OutputError, is_lack_of_memory, listing, quote
from sfumato.policy import Policy, Role
from sfumato.policy.options import DatabaseTarget
from sfumato.publish.published_table import PublishedTable, table_layout
from sfumato.table.database_servers import opened_postgresql
from sfumato.table.sql_text import quote_identifier, split_table_name

_BATCH = 10_000
_LONGEST_IDENTIFIER = 63
"""Bytes of a name in PostgreSQL, which cuts longer ones without a word."""


def target_names(target: DatabaseTarget, policy: Policy) -> list[str]:
    """List the tables that a release of a policy is put into."""
    published = [name for name, column in policy.columns.items() if column.role is not Role.IDENTIFIER]
    return [target.table_name(file) for file in table_layout(policy, published)]


def check_target_tables(policy: Policy, *, force: bool) -> None:
    """Refuse a database that cannot be reached or has a table of the name, before anybody waits for a search."""
    target = policy.publish.to
    if target is None or (target.url.file is not None and not target.url.file.exists()):
        return
    with _opened(target) as database:
        _refuse_existing(database, target, target_names(target, policy), force=force)


@contextmanager
def pending_tables(
    target: DatabaseTarget, tables: Mapping[str, PublishedTable], *, force: bool
) -> Iterator[Callable[[], None]]:
    """Make and fill the tables in a transaction, and compare what it holds; gives what commits it.

    It is rolled back unless that is called.

    Raises:
        OutputError: a table is there already, the database cannot be written, or does not hold what it was given.
    """
    arrow = {file: _plain_table(table.arrow) for file, table in tables.items()}
    if target.url.file is not None:
        _refuse_alike_names(target, arrow)
    is_new = target.url.file is not None and not target.url.file.exists()
    committed = False
    try:
        with _opened(target) as database:

            def commit() -> None:
                nonlocal committed
                with _explained(target, database.errors):
                    database.commit()
                committed = True

            with _explained(target, database.errors):
                database.begin()
            _refuse_existing(database, target, [target.table_name(file) for file in arrow], force=force)
            for file, table in arrow.items():
                name = split_table_name(target.table_name(file))
                with _explained(target, database.errors):
                    if database.has_table(name):
                        database.drop(name)
                    given, held = database.fill(name, table)
                if not _is_same(given, held):
                    raise OutputError(
                        f"{target.url.name} does not give back in table {quote(target.table_name(file))} what was "
                        "put into it, so that nothing was published; publish the files alone, and load them yourself"
                    )
            yield commit
    finally:
        if is_new and not committed and target.url.file is not None:
            for path in (target.url.file, *(Path(f"{target.url.file}{end}") for end in ("-journal", ".wal"))):
                with suppress(OSError):
                    path.unlink()


def _plain_table(table: Any) -> Any:
    """Give columns of codes their values: databases have no dictionaries."""
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(field.type.value_type))
    return table


def _is_same(given: Any, held: Any) -> bool:
    """Tell whether two tables of the same types have the same rows in the same order; NaN is itself."""
    if held.num_rows != given.num_rows or held.column_names != given.column_names:
        return False
    pairs = zip(held.columns, given.columns, strict=True)
    return all(a.equals(b) or a.cast(pa.string()).equals(b.cast(pa.string())) for a, b in pairs)


def _refuse_alike_names(target: DatabaseTarget, tables: Mapping[str, Any]) -> None:
    """Refuse columns that differ in their case alone, which are one to databases that are files."""
    for table in tables.values():
        names: dict[str, str] = {}
        for name in table.column_names:
            other = names.setdefault(name.casefold(), name)
            if other != name:
                raise OutputError(
                    f"columns {quote(other)} and {quote(name)} are one to {target.url.kind}, which is blind to case; "
                    "rename one, or publish files alone"
                )


def _store_as(table: Any, kind_of: Callable[[Any], Any]) -> Any:
    """Cast a table to the types that a database has for its types."""
    columns = [column.cast(kind_of(column.type)) for column in table.columns]
    return pa.table(columns, names=table.column_names)


# The databases


class Database(Protocol):
    """What is asked of a database: a transaction, whether a table is there, and to make, fill and read one."""

    errors: tuple[type[Exception], ...]

    def begin(self) -> None:
        """Begin a transaction."""

    def commit(self) -> None:
        """Commit it."""

    def has_table(self, name: list[str]) -> bool:
        """Tell whether there is a table or a view of the name, its schema before it."""

    def drop(self, name: list[str]) -> None:
        """Drop a table."""

    def fill(self, name: list[str], table: Any) -> tuple[Any, Any]:
        """Make a table of an Arrow table; returns what was put into it and what was read back, in the same types."""


@contextmanager
def _opened(target: DatabaseTarget) -> Iterator[Database]:
    url = target.url
    if url.file is None:
        with opened_postgresql(url, write=True) as connection:
            yield _Postgresql(connection)
        return
    if not url.file.parent.is_dir():
        raise OutputError(f"the folder of {url.name} does not exist; make it, or check [publish] to")
    opened = _opened_sqlite if url.kind == "sqlite" else _opened_duckdb
    with opened(target) as database:
        yield database


@contextmanager
def _opened_sqlite(target: DatabaseTarget) -> Iterator[Database]:
    with _explained(target, (sqlite3.Error,)):
        connection = sqlite3.connect(str(target.url.file), isolation_level=None)
    with closing(connection):
        yield _Sqlite(connection)


@contextmanager
def _opened_duckdb(target: DatabaseTarget) -> Iterator[Database]:
    import duckdb  # noqa: PLC0415 - only where a release goes into a DuckDB file

    with _explained(target, (duckdb.Error,)):
        connection = duckdb.connect(str(target.url.file), config={"autoinstall_known_extensions": "false"})
    with closing(connection):
        yield _Duckdb(connection, (duckdb.Error,))


@contextmanager
def _explained(target: DatabaseTarget, errors: tuple[type[Exception], ...]) -> Iterator[None]:
    """Turn what a database says into a sentence of ours, which quotes no cell."""
    try:
        yield
    except (*errors, pa.ArrowException, OverflowError, UnicodeError) as error:
        if is_lack_of_memory(error):
            raise MemoryError from None
        text = str(error).lower()
        reasons = {
            "what has the name is a view, and no table; choose another name": (
                "is not a table",
                "is of type view",
                "use drop view",
            ),
            "other things of the database, such as a view, rest on the table to be replaced; choose another name": (
                "depend on it",
                "dependency",
            ),
            "a name of a table or a column is not one to it": ("duplicate column", "already exists", "syntax error"),
            "you have no permission there": ("permission", "readonly", "read-only", "privilege", "unable to open"),
            "another program has it open": ("locked", "lock on file", "busy"),
            "there is no space left on its disk": ("disk is full", "no space", "disk full"),
            "its file is damaged, or no such database": ("not a database", "malformed", "not a valid duckdb"),
            "it has no such schema": ("schema",),
        }
        found = (reason for reason, signs in reasons.items() if any(sign in text for sign in signs))
        reason = next(found, f"{type(error).__name__}: a value that it cannot hold, or a lost connection")
        raise OutputError(f"{target.url.name} does not take the release ({reason}); nothing was published") from None


def _refuse_existing(database: Database, target: DatabaseTarget, names: list[str], *, force: bool) -> None:
    with _explained(target, database.errors):
        there = [name for name in names if database.has_table(split_table_name(name))]
    if there and not force:
        raise OutputError(
            f"{target.url.name} has a table {listing(there)} already; choose another name in [publish] to, "
            "or replace it with --force"
        )


def _join_name(name: list[str]) -> str:
    return ".".join(map(quote_identifier, name))


class _Sqlite:
    """SQLite: numbers as they are, truth values as 0 and 1, and all else as text; a schema it has none."""

    errors: tuple[type[Exception], ...] = (sqlite3.Error,)

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def begin(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        self._connection.execute("COMMIT")

    def has_table(self, name: list[str]) -> bool:
        found = "SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND lower(name) = lower(?)"
        return self._connection.execute(found, [".".join(name)]).fetchone() is not None

    def drop(self, name: list[str]) -> None:
        self._connection.execute(f"DROP TABLE {quote_identifier('.'.join(name))}")

    def fill(self, name: list[str], table: Any) -> tuple[Any, Any]:
        there, given = quote_identifier(".".join(name)), _store_as(table, self._stored_type)
        kinds = (_SQLITE_TYPES.get(column.type, "TEXT") for column in given.columns)
        columns = zip(table.column_names, kinds, strict=True)
        declared = ", ".join(f"{quote_identifier(column)} {kind}" for column, kind in columns)
        self._connection.execute(f"CREATE TABLE {there} ({declared})")
        marks = ", ".join("?" * given.num_columns)
        for start in range(0, given.num_rows, _BATCH):
            rows = zip(*(column.slice(start, _BATCH).to_pylist() for column in given.columns), strict=True)
            self._connection.executemany(f"INSERT INTO {there} VALUES ({marks})", rows)  # noqa: S608 - quoted
        cursor, batches = self._connection.execute(f"SELECT * FROM {there} ORDER BY rowid"), []  # noqa: S608 - quoted
        while found := cursor.fetchmany(_BATCH):
            cells = zip(zip(*found, strict=True), given.schema.types, strict=True)
            batches.append(pa.table([pa.array(values, kind) for values, kind in cells], names=table.column_names))
        return given, pa.concat_tables(batches)

    @staticmethod
    def _stored_type(kind: Any) -> Any:
        if pa.types.is_boolean(kind) or (pa.types.is_integer(kind) and not pa.types.is_uint64(kind)):
            return pa.int64()
        return pa.float64() if pa.types.is_float64(kind) else pa.string()


_SQLITE_TYPES = {pa.int64(): "INTEGER", pa.float64(): "REAL"}


class _Duckdb:
    """DuckDB takes Arrow's types as they are."""

    def __init__(self, connection: Any, errors: tuple[type[Exception], ...]) -> None:
        self._connection = connection
        self.errors = errors

    def begin(self) -> None:
        self._connection.execute("BEGIN")

    def commit(self) -> None:
        self._connection.execute("COMMIT")

    def has_table(self, name: list[str]) -> bool:
        schema, table = (["main", *name])[-2:]
        found = "SELECT 1 FROM information_schema.tables "
        found += "WHERE lower(table_schema) = lower(?) AND lower(table_name) = lower(?)"
        return bool(self._connection.execute(found, [schema, table]).fetchall())

    def drop(self, name: list[str]) -> None:
        self._connection.execute(f"DROP TABLE {_join_name(name)}")

    def fill(self, name: list[str], table: Any) -> tuple[Any, Any]:
        given, there = _store_as(table, self._stored_type), _join_name(name)
        self._connection.register("sfumato_published", given)
        self._connection.execute(f"CREATE TABLE {there} AS SELECT * FROM sfumato_published")  # noqa: S608 - quoted
        self._connection.unregister("sfumato_published")
        held = self._connection.sql(f"SELECT * FROM {there} ORDER BY rowid").to_arrow_table()  # noqa: S608 - quoted
        return given, held.cast(given.schema)

    @staticmethod
    def _stored_type(kind: Any) -> Any:
        if pa.types.is_null(kind) or pa.types.is_duration(kind):
            return pa.string()
        return pa.date32() if pa.types.is_date(kind) else kind


class _Postgresql:
    """PostgreSQL: numbers, truth values, dates and times as such, and all else as text."""

    def __init__(self, connection: Any) -> None:
        import adbc_driver_manager  # noqa: PLC0415 - whoever has a connection has it

        self._connection = connection
        self.errors: tuple[type[Exception], ...] = (adbc_driver_manager.Error,)

    def begin(self) -> None:
        """A transaction begins with its first statement."""
        self._run("SET LOCAL synchronize_seqscans = off")  # rows come back in the order in which they went in

    def commit(self) -> None:
        self._connection.commit()

    def has_table(self, name: list[str]) -> bool:
        with self._connection.cursor() as cursor:
            cursor.execute("SELECT to_regclass($1) IS NOT NULL", [_join_name(name)])
            return bool(cursor.fetchone()[0])

    def drop(self, name: list[str]) -> None:
        self._run(f"DROP TABLE {_join_name(name)}")

    def fill(self, name: list[str], table: Any) -> tuple[Any, Any]:
        long = [part for part in (*name, *table.column_names) if len(part.encode()) > _LONGEST_IDENTIFIER]
        if long:
            raise OutputError(
                f"PostgreSQL cuts names of more than {_LONGEST_IDENTIFIER} bytes, such as {listing(long, most=1)}; "
                "rename it, or publish files alone"
            )
        given = _store_as(table, self._stored_type)
        kinds = (_POSTGRESQL_TYPES.get(column.type, "text") for column in given.columns)
        columns = zip(table.column_names, kinds, strict=True)
        declared = ", ".join(f"{quote_identifier(column)} {kind}" for column, kind in columns)
        self._run(f"CREATE TABLE {_join_name(name)} ({declared})")
        schema = {"db_schema_name": name[0]} if len(name) > 1 else {}
        with self._connection.cursor() as cursor:
            cursor.adbc_ingest(name[-1], given, mode="append", **schema)
        with self._connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {_join_name(name)}")  # noqa: S608 - quoted
            held = cursor.fetch_arrow_table()
        return given, held.cast(given.schema)

    def _run(self, statement: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(statement)

    @staticmethod
    def _stored_type(kind: Any) -> Any:
        types = pa.types
        if types.is_integer(kind) and not types.is_uint64(kind):
            return pa.int64()
        if types.is_boolean(kind) or types.is_date(kind):
            return pa.bool_() if types.is_boolean(kind) else pa.date32()
        if types.is_timestamp(kind) and kind.unit != "ns":
            return pa.timestamp("us") if kind.tz is None else pa.timestamp("us", "UTC")
        return pa.float64() if types.is_floating(kind) else pa.string()


_POSTGRESQL_TYPES = {
    pa.bool_(): "boolean",
    pa.int64(): "bigint",
    pa.float64(): "double precision",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp",
    pa.timestamp("us", "UTC"): "timestamptz",
}
