"""The ledger's database: made, opened, read and written, with every failure as a sentence."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from sfumato.errors import InputError, OutputError

FILE = "ledger.sqlite"
PATIENCE = 120.0
"""Seconds to wait for others who write."""

_APPLICATION = 0x53464C47  # SFLG, by which the file is known
_VERSION = 1
_SCHEMA = (
    "CREATE TABLE about (id TEXT NOT NULL, created TEXT NOT NULL)",
    "CREATE TABLE events (number INTEGER PRIMARY KEY, body TEXT NOT NULL, chain TEXT NOT NULL)",
    "CREATE TRIGGER kept BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'a ledger is never changed'); END",
    "CREATE TRIGGER stays BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'a ledger is never changed'); END",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_VERSION}",
)


def create(path: Path, identity: str, created: str) -> None:
    """A new database; `path` becomes the ledger's when it is complete."""
    with _sentences(path.parent), closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        for statement in _SCHEMA:
            connection.execute(statement)
        connection.execute("INSERT INTO about VALUES (?, ?)", (identity, created))
        connection.execute("COMMIT")


@contextmanager
def reading(folder: Path) -> Iterator[sqlite3.Connection]:
    """The database as it is at one moment."""
    with _sentences(folder), closing(_connected(folder)) as connection:
        connection.execute("BEGIN")
        yield connection


@contextmanager
def writing(folder: Path) -> Iterator[sqlite3.Connection]:
    """The database for one writer alone: what is done is on the disk when the block has ended, all of it or nothing."""
    with _sentences(folder), closing(_connected(folder)) as connection:
        connection.execute("PRAGMA synchronous = EXTRA")  # FULL, and the end of the journal as well
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            with suppress(sqlite3.Error):  # it may be rolled back already
                connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


def _connected(folder: Path) -> sqlite3.Connection:
    """A connection to a ledger that this version can read."""
    path = folder / FILE
    if not path.is_file():
        raise InputError(f"{folder} is not a ledger; make one with sfumato ledger init")
    address = f"{path.resolve().as_uri()}?mode=rw"  # never one that is made by opening it
    connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=PATIENCE)
    try:
        _check(folder, _pragma(connection, "application_id"), _pragma(connection, "user_version"))
    except BaseException:
        connection.close()
        raise
    return connection


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _check(folder: Path, application: int, version: int) -> None:
    if application != _APPLICATION:
        raise InputError(f"{folder} is not a ledger: its {FILE} is another program's; name another folder")
    if version > _VERSION:
        raise InputError(f"the ledger {folder} was written by a later version of sfumato; use that version or a later")


@contextmanager
def _sentences(folder: Path) -> Iterator[None]:
    """An error of the database in words; it never quotes what stands there."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        raise _sentence(folder, code, type(error).__name__) from None


def _sentence(folder: Path, code: int, kind: str) -> InputError:
    if code == sqlite3.SQLITE_NOTADB:
        return InputError(f"{folder} is not a ledger: its {FILE} is not a database; restore it from a copy")
    if code == sqlite3.SQLITE_CORRUPT:
        return InputError(f"the database of the ledger {folder} is damaged; restore {FILE} from a copy")
    reasons = {
        sqlite3.SQLITE_BUSY: f"others have kept it busy for {PATIENCE:.0f} seconds; run it again",
        sqlite3.SQLITE_READONLY: "you may not write there; ask for permission, or copy it to where you may",
        sqlite3.SQLITE_PERM: "you have no permission there; ask for it",
        sqlite3.SQLITE_CANTOPEN: "it cannot be opened; see whether you may read and write there",
        sqlite3.SQLITE_FULL: "there is no space left on its disk; free some and run it again",
        sqlite3.SQLITE_IOERR: "its disk does not read or write as it should; see to the disk and run it again",
    }
    return OutputError(f"cannot use the ledger {folder}: {reasons.get(code, f'its database fails ({kind})')}")
