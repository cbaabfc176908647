"""Databases on a server: PostgreSQL by ADBC, which gives Arrow as it comes, and MySQL by PyMySQL.

DuckDB's own scanners would read both, but are packages of one version of DuckDB each, and of none of the newest. ADBC's
driver is libpq, so that PGPASSWORD, PGSERVICE, PGPASSFILE and the others mean what they mean to psql. A session is
opened to read alone. What a server answers may quote a cell, so its words are passed on only where they are about the
query.
"""

import os
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pyarrow as pa

from sfumato.core.memory import check_memory
from sfumato.errors import DataError, InputError, is_lack_of_memory, shorten
from sfumato.policy import DataSource, Policy
from sfumato.policy.database_url import DatabaseUrl
from sfumato.table.batch_source import BatchSource, Part, PartSize, choose_fields
from sfumato.table.database_files import CELL, FIRST_ROWS, CellRows, collect_rows, give_rows
from sfumato.table.optional_library import import_library
from sfumato.table.sql_text import quote_identifier, write_from, write_select

# PostgreSQL.

_AS_THEY_ARE = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_date, pa.types.is_timestamp)
"""Types that come as themselves; of all others (amounts, keys, words of a list) PostgreSQL writes the text."""
_MONEY = b"money"


def postgresql_schema(url: DatabaseUrl, source: DataSource) -> Any:
    """Find the names of the columns; what is not a number, a truth value or a date comes as text."""
    inner = write_from(source, url.name, None)
    with opened_postgresql(url) as connection, connection.cursor() as cursor:
        return _postgresql_schema(cursor, inner)


def read_postgresql(url: DatabaseUrl, policy: Policy, columns: list[str]) -> Any:
    """Read some columns of all rows."""
    return _read_postgresql(url, policy.source, columns)


def read_first_postgresql_rows(url: DatabaseUrl, policy: Policy, columns: list[str]) -> Any:
    """Read some columns of the first rows."""
    return _read_postgresql(url, policy.source, columns, first=FIRST_ROWS)


def _read_postgresql(url: DatabaseUrl, source: DataSource, columns: list[str], first: int | None = None) -> Any:
    with opened_postgresql(url) as connection, connection.cursor() as cursor:
        inner = write_from(source, url.name, None)
        schema = _postgresql_schema(cursor, inner)
        if first is None and source.query is None:  # to count what a query gives may take as long as to answer it
            cursor.execute(f"SELECT count(*) FROM {inner}")  # noqa: S608 - quoted
            (rows,) = cursor.fetchone()
            check_memory(rows * len(columns) * CELL, f"{url.name}, with {rows:,} rows,")
        limit = "" if first is None else f" LIMIT {first}"
        cursor.execute(_postgresql_select(inner, schema, columns) + limit)
        return cursor.fetch_arrow_table().rename_columns(columns)


def _postgresql_select(inner: str, schema: Any, columns: list[str]) -> str:
    cells = ", ".join(
        f"{quote_identifier(name)}::text" if pa.types.is_string(schema.field(name).type) else quote_identifier(name)
        for name in columns
    )
    return f"SELECT {cells} FROM {inner}"  # noqa: S608 - quoted above


class PostgresqlRows(BatchSource):
    """A table or query of a PostgreSQL server, which the driver copies from it piece by piece."""

    def __init__(self, url: DatabaseUrl, source: DataSource, size: PartSize) -> None:
        self._url, self._source, self._size = url, source, size
        self.schema = postgresql_schema(url, source)

    def choose(self, policy: Policy, columns: list[str]) -> Any:
        """Choose columns."""
        del policy
        self._chosen = choose_fields(self.schema, columns)
        return self._chosen

    def parts(self) -> Generator[Part]:
        """Copy rows, as many bytes at once as the size says."""
        with opened_postgresql(self._url) as connection, connection.cursor() as cursor:
            cursor.adbc_statement.set_options(**{"adbc.postgresql.batch_size_hint_bytes": str(self._size.bytes)})
            inner = write_from(self._source, self._url.name, None)
            cursor.execute(_postgresql_select(inner, self.schema, self._chosen.names))
            # the reader that a cursor keeps says a server's errors as the driver does; the one that it gives does not
            kept = getattr(getattr(cursor, "_results", None), "reader", None)
            with kept or cursor.fetch_record_batch() as reader:
                for batch in reader:
                    yield partial(give_rows, batch, self._chosen, self._url.name)


def _postgresql_schema(cursor: Any, inner: str) -> Any:
    cursor.execute(write_select(inner, first=0))
    found = cursor.fetch_arrow_table().schema

    def settle(field: Any) -> Any:
        is_money = _MONEY in (field.metadata or {}).values()  # the driver gives cents, as if they were the amount
        return field.type if any(test(field.type) for test in _AS_THEY_ARE) and not is_money else pa.string()

    return pa.schema([(field.name, settle(field)) for field in found])


@contextmanager
def opened_postgresql(url: DatabaseUrl, *, write: bool = False) -> Iterator[Any]:
    """Open a connection in a transaction, one that can only read unless it is to `write`; it is not committed here."""
    dbapi = import_library(
        "adbc_driver_postgresql.dbapi", "adbc-driver-postgresql", "databases", f"{url.name} is a PostgreSQL server"
    )
    try:
        with closing(dbapi.connect(url.text)) as connection:
            if not write:
                with connection.cursor() as cursor:
                    cursor.execute("SET TRANSACTION READ ONLY")
            yield connection
    except dbapi.Error as error:
        asked = "[publish] to" if write else _ASKED
        raise _server_error(url, getattr(error, "sqlstate", None), str(error), error, asked) from None


# MySQL and MariaDB.


def mysql_schema(url: DatabaseUrl, source: DataSource) -> Any:
    """Find the names of the columns; their types show when they are read."""
    inner = write_from(source, url.name, None, mark="`")
    with _opened_mysql(url) as cursor:
        cursor.execute(write_select(inner, first=0, mark="`"))
        return _mysql_names(cursor)


def _mysql_names(cursor: Any) -> Any:
    return pa.schema([(column[0], pa.null()) for column in cursor.description])


def read_mysql(url: DatabaseUrl, policy: Policy, columns: list[str]) -> Any:
    """Read some columns of all rows."""
    return _read_mysql(url, policy.source, columns)


def read_first_mysql_rows(url: DatabaseUrl, policy: Policy, columns: list[str]) -> Any:
    """Read some columns of the first rows."""
    return _read_mysql(url, policy.source, columns, first=FIRST_ROWS)


def _read_mysql(url: DatabaseUrl, source: DataSource, columns: list[str], first: int | None = None) -> Any:
    with _opened_mysql(url) as cursor:
        inner = write_from(source, url.name, None, mark="`")
        cursor.execute(write_select(inner, columns, first=first, mark="`"))
        return collect_rows(cursor, columns, url.name)


class MysqlRows(CellRows):
    """A table or query of a MySQL server, in a transaction that sees the same rows twice."""

    def __init__(self, url: DatabaseUrl, source: DataSource, size: PartSize) -> None:
        del size
        self._url, self._name, self._stack = url, url.name, ExitStack()
        try:
            self._cursor = self._stack.enter_context(_opened_mysql(url))
            with _said_by_mysql(url):
                self._cursor.execute(write_select(write_from(source, url.name, None, mark="`"), first=0, mark="`"))
                self.schema = _mysql_names(self._cursor)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def _asked(self, source: DataSource, columns: list[str]) -> Iterator[Any]:
        with _said_by_mysql(self._url):
            inner = write_from(source, self._url.name, None, mark="`")
            self._cursor.execute(write_select(inner, columns, mark="`"))
            yield self._cursor

    def close(self) -> None:
        """Close the connection."""
        self._stack.close()


@contextmanager
def _opened_mysql(url: DatabaseUrl) -> Iterator[Any]:
    """Open a cursor that fetches rows as they are asked for, in a session that only reads."""
    mysql = import_library("pymysql", "PyMySQL", "databases", f"{url.name} is a MySQL server")
    parts, options = urlsplit(url.text), Path("~/.my.cnf").expanduser()
    given = {
        "host": unquote(parts.hostname or ""),
        "port": parts.port,
        "user": unquote(parts.username or ""),
        "database": unquote(parts.path.removeprefix("/")),
        "password": os.environ.get("MYSQL_PWD", ""),
        "unix_socket": dict(parse_qsl(parts.query)).get("unix_socket"),
    }
    with (
        _said_by_mysql(url),
        closing(
            mysql.connect(
                **{name: value for name, value in given.items() if value},
                **({"read_default_file": str(options)} if options.is_file() else {}),
                charset="utf8mb4",
                cursorclass=mysql.cursors.SSCursor,
            )
        ) as connection,
    ):
        with connection.cursor(mysql.cursors.Cursor) as cursor:
            cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        with connection.cursor() as cursor:
            yield cursor


@contextmanager
def _said_by_mysql(url: DatabaseUrl) -> Iterator[None]:
    """Put what the driver raises into a sentence."""
    mysql = import_library("pymysql", "PyMySQL", "databases", f"{url.name} is a MySQL server")
    try:
        yield
    except mysql.MySQLError as error:
        code = error.args[0] if error.args and isinstance(error.args[0], int) else None
        words = str(error.args[1]) if len(error.args) > 1 else ""
        raise _server_error(url, _MYSQL_STATES.get(code or 0), words, error) from None
    except (RuntimeError, OSError) as error:  # of what it cannot do, such as a login it lacks a library for
        raise _server_error(url, "08", "", error) from None


_MYSQL_STATES = {
    **dict.fromkeys((1044, 1045, 1698, 2059, 2061), "28"),
    **dict.fromkeys((1049, 1051, 1054, 1060, 1064, 1109, 1142, 1143, 1146, 1305, 1052), "42"),
    **dict.fromkeys((2002, 2003, 2005, 2006, 2013), "08"),
    1792: "25",
}
"""The class of SQL's states that each of MySQL's errors is of, as far as we speak of them."""


# What went wrong, in a sentence that quotes no cell.

_LOGIN = {
    "postgresql": "PGPASSWORD, PGPASSFILE or PGSERVICE, and the user into PGUSER or the URL",
    "mysql": "MYSQL_PWD or ~/.my.cnf, and the user into the URL",
}


_ASKED = "[data] query or table"


def _server_error(url: DatabaseUrl, state: str | None, words: str, error: Exception, asked: str = _ASKED) -> InputError:
    """Say what a server refused: by the class of its state, in its words where these can be of the query alone."""
    if is_lack_of_memory(error):
        raise MemoryError from None
    kind = (state or "")[:2]
    first = next((line for line in words.splitlines() if "ERROR:" in line), words.splitlines()[0] if words else "")
    said = shorten(first.rpartition("ERROR:")[2].strip())
    lowered = words.lower()
    if kind == "28" or "authentication failed" in lowered or "no password supplied" in lowered:
        return DataError(f"{url.name} refuses the login; put the password into {_LOGIN[url.kind]}")
    if kind in {"08", "57"} or any(
        sign in lowered for sign in ("could not connect", "connection to server", "translate host")
    ):
        return DataError(f"{url.name} cannot be reached; check host, port and database, and that the server runs")
    if kind == "3D":
        return DataError(f"{url.name} has no database of that name; check the URL")
    if kind == "25":
        return DataError(f"{url.name}: [data] query would change the database; say a SELECT")
    if kind in {"42", "0A"}:
        return DataError(f"{url.name} does not answer {asked}: {said}; mend it")
    reason = f"state {state}" if state else type(error).__name__
    return DataError(f"{url.name} cannot answer {asked} ({reason}); try it in the database's own client")
