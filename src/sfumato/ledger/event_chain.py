"""The event chain: a SQLite database of events, each hashed together with the hash of the event before it.

An event says that a release was ``recorded``, ``reserved``, ``published`` or ``withdrawn``. Events are only appended. A
change of one of them, by whatever means, changes the hash of that event and of all after it, so that it is noticed when
the chain is read. The database itself refuses updates and deletions, and every failure of it is raised as a sentence.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sfumato.errors import InputError, OutputError

DATABASE = "ledger.sqlite"
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


@dataclass(frozen=True)
class Event:
    """Something that happened to a release; `number` counts events from 1, and `chain` is the hash of this one."""

    number: int
    body: Mapping[str, Any]
    chain: str


@dataclass(frozen=True)
class EventChain:
    """All events in order, up to the first that is not as it was written, and what is wrong with that one.

    `head` is the hash of the last event.
    """

    events: tuple[Event, ...]
    problems: tuple[str, ...]
    head: str


def read_chain(connection: sqlite3.Connection) -> EventChain:
    """Read the events and check the hash of each."""
    about = connection.execute("SELECT id, created FROM about").fetchall()
    # The first event is chained to the identity of the ledger, which no two ledgers share.
    head = chain_hash("", event_text({"about": [list(map(str, row)) for row in about]}))
    events: list[Event] = []
    for number, text, chain in connection.execute("SELECT number, body, chain FROM events ORDER BY number"):
        place = len(events) + 1
        if number != place:
            return EventChain(tuple(events), (f"line {place} of the ledger is missing; restore it from a copy",), head)
        try:
            body = json.loads(text)
        except (ValueError, TypeError, RecursionError):
            body = None
        if not isinstance(body, dict) or chain != chain_hash(head, text):
            wrong = f"line {place} of the ledger was changed after it was written; restore the ledger from a copy"
            return EventChain(tuple(events), (wrong,), head)
        events.append(Event(place, body, head := chain))
    return EventChain(tuple(events), (), head)


def append_event(connection: sqlite3.Connection, chain: EventChain, body: Mapping[str, Any]) -> None:
    """Append an event to the chain."""
    text = event_text(body)
    connection.execute(
        "INSERT INTO events VALUES (?, ?, ?)", (len(chain.events) + 1, text, chain_hash(chain.head, text))
    )


def event_text(body: Mapping[str, Any]) -> str:
    """Write an event as it is stored and hashed: one line of ASCII.

    >>> event_text({"event": "published", "number": 1})
    '{"event":"published","number":1}'
    """
    return json.dumps(body, separators=(",", ":"))


def chain_hash(before: str, text: str) -> str:
    """Hash the text of an event together with the hash of the event before it."""
    return hashlib.sha256(f"{before}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()


def timestamp() -> str:
    """Write the current second, in UTC, as events have it."""
    return datetime.now(tz=UTC).isoformat(timespec="seconds")


# The database.


def create_database(path: Path, identity: str, created: str) -> None:
    """Make a new database without events; the caller renames `path` when it is complete."""
    with _errors_as_sentences(path.parent), closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        for statement in _SCHEMA:
            connection.execute(statement)
        connection.execute("INSERT INTO about VALUES (?, ?)", (identity, created))
        connection.execute("COMMIT")


@contextmanager
def read_database(folder: Path) -> Iterator[sqlite3.Connection]:
    """Open the database of a ledger as it is at one moment."""
    with _errors_as_sentences(folder), closing(_connect(folder)) as connection:
        connection.execute("BEGIN")
        yield connection


@contextmanager
def write_database(folder: Path) -> Iterator[sqlite3.Connection]:
    """Open the database for one writer alone; when the block has ended, all of it is on the disk, or nothing."""
    with _errors_as_sentences(folder), closing(_connect(folder)) as connection:
        connection.execute("PRAGMA synchronous = EXTRA")  # FULL, and the end of the journal as well
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            with suppress(sqlite3.Error):  # it may be rolled back already
                connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


def _connect(folder: Path) -> sqlite3.Connection:
    """Connect to a ledger that this version can read; never make one by connecting."""
    path = folder / DATABASE
    if not path.is_file():
        raise InputError(f"{folder} is not a ledger; make one with sfumato ledger init")
    address = f"{path.resolve().as_uri()}?mode=rw"
    connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=PATIENCE)
    try:
        _check_version(connection, folder)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_version(connection: sqlite3.Connection, folder: Path) -> None:
    application, version = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("application_id", "user_version")
    )
    if application != _APPLICATION:
        raise InputError(f"{folder} is not a ledger: its {DATABASE} is another program's; name another folder")
    if version > _VERSION:
        raise InputError(f"the ledger {folder} was written by a later version of sfumato; use that version or a later")


@contextmanager
def _errors_as_sentences(folder: Path) -> Iterator[None]:
    """Raise an error of SQLite as a sentence, which never quotes what the database holds."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        raise _database_error(folder, code, type(error).__name__) from None


def _database_error(folder: Path, code: int, kind: str) -> InputError:
    if code == sqlite3.SQLITE_NOTADB:
        return InputError(f"{folder} is not a ledger: its {DATABASE} is not a database; restore it from a copy")
    if code == sqlite3.SQLITE_CORRUPT:
        return InputError(f"the database of the ledger {folder} is damaged; restore {DATABASE} from a copy")
    reasons = {
        sqlite3.SQLITE_BUSY: f"others have kept it busy for {PATIENCE:.0f} seconds; run it again",
        sqlite3.SQLITE_READONLY: "you may not write there; ask for permission, or copy it to where you may",
        sqlite3.SQLITE_PERM: "you have no permission there; ask for it",
        sqlite3.SQLITE_CANTOPEN: "it cannot be opened; see whether you may read and write there",
        sqlite3.SQLITE_FULL: "there is no space left on its disk; free some and run it again",
        sqlite3.SQLITE_IOERR: "its disk does not read or write as it should; see to the disk and run it again",
    }
    return OutputError(f"cannot use the ledger {folder}: {reasons.get(code, f'its database fails ({kind})')}")
