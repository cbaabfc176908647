"""Entries: the releases that the events of a ledger amount to, and the rules for a new one."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sfumato.core.regular_file import LARGEST_MANIFEST, read_regular_file
from sfumato.errors import InputError, UnreadableFile, quote
from sfumato.ledger.event_chain import Event
from sfumato.reading.release_reader import AUDIT, MANIFEST

DEFAULT_POPULATION = "default"
"""The population of releases that name none."""

_PUBLISHED, _PUBLISHING = "published", "publishing"
_HASH = re.compile("[0-9a-f]{64}")
_NAME = re.compile("[A-Za-z0-9_-]{1,100}")
_LONGEST_POPULATION = 200


@dataclass(frozen=True)
class Entry:
    """A recorded release: whom it is about, what it promised, and where its copy is.

    `state` is ``publishing`` from the moment it was reserved until its folder had appeared; such a release counts as
    published. `previous` are the stored tables of the earlier releases that its promise speaks of. `account_sha256` is
    the hash of what is stored of its audit. `chain` is the hash of the event that made the entry. `signed_files` are,
    by SHA-256, the signature of a signed release and the page that it covers: with them the copy can be held against a
    public key.
    """

    number: int
    name: str
    population: str
    recorded: str
    manifest_sha256: str
    tables: Mapping[str, str]
    account_sha256: str | None
    rows: int
    promise: Sequence[Mapping[str, Any]]
    policy: Mapping[str, Any] | None
    previous: Mapping[str, Path]
    state: str
    chain: str
    folder: Path
    signed_files: Mapping[str, str] = field(default_factory=dict)

    @property
    def paths(self) -> tuple[Path, ...]:
        """Its tables, with the manifest beside them."""
        return tuple(self.folder / "public" / name for name in self.tables)

    @property
    def manifest(self) -> dict[str, Any]:
        """Its manifest, from the stored copy."""
        try:
            manifest: dict[str, Any] = json.loads(
                read_regular_file(self.folder / "public" / MANIFEST, most=LARGEST_MANIFEST, what="a manifest")
            )
        except (UnreadableFile, ValueError, RecursionError):
            raise InputError(
                f"the ledger's copy of release {quote(self.name)} is damaged; see sfumato ledger check"
            ) from None
        return manifest

    @property
    def unfinished(self) -> bool:
        """Whether it is reserved, and nobody has said yet that its folder appeared."""
        return self.state == _PUBLISHING

    @property
    def one_table(self) -> bool:
        """Whether it is one generalized table, and not two tables."""
        return bool(self.manifest.get("form", "generalized") == "generalized")

    @property
    def holds_alone(self) -> bool:
        """Whether its table keeps the promise by itself, and not only with those that it adds rows to."""
        extends = self.manifest.get("extends", {})
        return not isinstance(extends, dict) or extends.get("promise") != "together"

    @property
    def family(self) -> str:
        """The hash of the manifest of the first release that is out under its labels: its own, or what it extends."""
        extends = self.manifest.get("extends")
        try:
            return str(extends["releases"][0]["manifest_sha256"]) if extends else self.manifest_sha256
        except (KeyError, IndexError, TypeError):
            return self.manifest_sha256

    @property
    def input_sha256(self) -> str | None:
        """The hash of the file that it was made of, as far as its stored account says so."""
        path = self.folder / "private" / AUDIT
        try:
            account = json.loads(read_regular_file(path, most=LARGEST_MANIFEST, what="an audit"))
            digest = account["input"]["sha256"]
        except (UnreadableFile, ValueError, RecursionError, KeyError, TypeError):
            return None
        return digest if isinstance(digest, str) else None

    @property
    def title(self) -> str:
        """Its number and name, as sentences have them."""
        return f"release {self.number}, {quote(self.name)}"

    def as_json(self) -> dict[str, Any]:
        """As ``sfumato ledger list --json`` prints it."""
        keys = ("number", "name", "population", "recorded", "state", "rows", "promise", "policy", "tables")
        content = {key: getattr(self, key) for key in (*keys, "manifest_sha256", "chain")}
        return content | {"previous": list(self.previous), "folder": str(self.folder)}


@dataclass(frozen=True)
class PopulationSnapshot:
    """What was published about a population at one moment; `version` is the number of its last entry."""

    population: str
    entries: tuple[Entry, ...]
    version: int


@dataclass(frozen=True)
class EntryRequest:
    """The name and population that a new entry is to have, and the version of the population that it allows for.

    `version` is the number of the last entry of the population that the release was made with in view; ``None`` where
    that does not matter.
    """

    name: str
    population: str = DEFAULT_POPULATION
    version: int | None = None

    def check(self, entries: Iterable[Entry], manifest_sha256: str | None = None) -> None:
        """Raise where a ledger with these entries cannot have the new one; the hash is that of its manifest.

        Columns of later policies are written with the name, as ``name.column``, so that it has no dot.

        >>> EntryRequest("spring.2026").check([])
        Traceback (most recent call last):
        sfumato.errors.InputError: 'spring.2026' cannot name a release: use letters, digits, _ and -; give another ...
        """
        if not _NAME.fullmatch(self.name):
            raise InputError(
                f"{quote(self.name)} cannot name a release: use letters, digits, _ and -; give another --name"
            )
        check_population(self.population)
        for entry in entries:
            if entry.manifest_sha256 == manifest_sha256:
                raise already_recorded(entry)
            if entry.name == self.name:
                raise InputError(f"the ledger has a release {quote(self.name)} already; give another --name")
            if self.version is not None and entry.population == self.population and entry.number > self.version:
                raise InputError(
                    f"another release of the population {quote(self.population)} was recorded meanwhile "
                    f"({entry.title}), which this one does not take into account; run it again"
                )


def check_population(population: str) -> str:
    """Raise where a text cannot name a population.

    >>> check_population("   ")
    Traceback (most recent call last):
    sfumato.errors.InputError: '   ' cannot name a population: use a line of text; give another --population
    """
    if not population.strip() or len(population) > _LONGEST_POPULATION or not population.isprintable():
        raise InputError(f"{quote(population)} cannot name a population: use a line of text; give another --population")
    return population


def already_recorded(entry: Entry) -> InputError:
    """Say that a release is not recorded twice."""
    return InputError(
        f"this release is recorded already: it is {entry.title}, of the population {quote(entry.population)}; "
        "there is nothing to add"
    )


def stored_tables(entries: Iterable[Entry]) -> dict[str, Path]:
    """Find the tables that a ledger has, by SHA-256."""
    return {sha256: path for entry in entries for path, sha256 in zip(entry.paths, entry.tables.values(), strict=True)}


def read_entries(events: Iterable[Event], copies: Path) -> dict[int, Entry]:
    """Read the entries that events amount to, by number; withdrawn ones are left out."""
    entries: dict[int, Entry] = {}
    last = 0
    for event in events:
        kind, number = event.body.get("event"), event.body.get("number")
        entry = entries.get(number) if isinstance(number, int) else None
        if kind in {"recorded", "reserved"} and number == last + 1:
            entries[last := number] = _new_entry(event, copies)
        elif kind == "published" and entry is not None:
            entries[entry.number] = replace(entry, state=_PUBLISHED)
        elif kind == "withdrawn" and entry is not None and entry.unfinished:
            del entries[entry.number]
        else:
            raise _unknown_event(event)
    return entries


def _new_entry(event: Event, copies: Path) -> Entry:
    """Make the entry that an event begins; its files are within the ledger, whoever wrote the event."""
    body = event.body
    try:
        signed_files = body.get("signed_files", {})  # ledgers of earlier versions have none
        parts = [*body["tables"], *signed_files, *(part for place in body["previous"].values() for part in place)]
        if not _HASH.fullmatch(body["manifest_sha256"]) or not all(map(is_file_name, parts)):
            raise _unknown_event(event)
        return Entry(
            number=body["number"],
            name=body["name"],
            population=body["population"],
            recorded=body["time"],
            manifest_sha256=body["manifest_sha256"],
            tables=body["tables"],
            account_sha256=body["account_sha256"],
            rows=body["rows"],
            promise=body["promise"],
            policy=body["policy"],
            previous={name: copies.joinpath(*place) for name, place in body["previous"].items()},
            state=_PUBLISHED if body["event"] == "recorded" else _PUBLISHING,
            chain=event.chain,
            folder=copies / body["manifest_sha256"],
            signed_files=dict(signed_files.items()),
        )
    except (KeyError, TypeError, AttributeError):
        raise _unknown_event(event) from None


def is_file_name(name: Any) -> bool:
    """Tell whether a text names a file in a folder itself, and nothing elsewhere."""
    return isinstance(name, str) and name not in {"", ".", ".."} and not any(sign in name for sign in "/\\\0")


def _unknown_event(event: Event) -> InputError:
    return InputError(f"line {event.number} of the ledger says nothing that this version knows; restore it from a copy")
