"""The chain of events: each is hashed together with the hash before it, so that a change shows in all after it."""

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Event:
    """Something that happened to a release: it was recorded, reserved, published or withdrawn."""

    place: int
    body: Mapping[str, Any]
    chain: str


@dataclass(frozen=True)
class Chain:
    """All events in order, and what is wrong with them; `head` is the hash of the last."""

    events: tuple[Event, ...]
    problems: tuple[str, ...]
    head: str


def line(content: Mapping[str, Any]) -> str:
    """What is written and hashed of an event: one line of ASCII.

    >>> line({"event": "published", "number": 1})
    '{"event":"published","number":1}'
    """
    return json.dumps(content, separators=(",", ":"))


def chained(before: str, body: str) -> str:
    """The hash of an event after a hash."""
    return hashlib.sha256(f"{before}\n{body}".encode("utf-8", "surrogatepass")).hexdigest()


def read_chain(connection: sqlite3.Connection) -> Chain:
    """The events of a ledger, those before the first that is not as it was written."""
    head, events = _beginning(connection), list[Event]()
    for number, body, chain in connection.execute("SELECT number, body, chain FROM events ORDER BY number"):
        place = len(events) + 1
        if number != place:
            return Chain(tuple(events), (f"line {place} of the ledger is missing; restore it from a copy",), head)
        content = _content(body)
        if content is None or chain != chained(head, body):
            wrong = f"line {place} of the ledger was changed after it was written; restore the ledger from a copy"
            return Chain(tuple(events), (wrong,), head)
        events.append(Event(place, content, head := chain))
    return Chain(tuple(events), (), head)


def append(connection: sqlite3.Connection, chain: Chain, body: Mapping[str, Any]) -> Event:
    """One event more, chained to the last."""
    text = line(body)
    event = Event(len(chain.events) + 1, body, chained(chain.head, text))
    connection.execute("INSERT INTO events VALUES (?, ?, ?)", (event.place, text, event.chain))
    return event


def _beginning(connection: sqlite3.Connection) -> str:
    """The hash that the first event is chained to: no two ledgers have the same."""
    about = connection.execute("SELECT id, created FROM about").fetchall()
    return chained("", line({"about": [list(map(str, row)) for row in about]}))


def _content(body: Any) -> dict[str, Any] | None:
    try:
        content = json.loads(body)
    except (ValueError, TypeError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
