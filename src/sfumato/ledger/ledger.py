"""Ledger: record releases, look them up, and reserve a place for the next one while it appears."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.errors import InputError
from sfumato.ledger import database
from sfumato.ledger.asked import DEFAULT, Asked, Earlier, check_same, name_of
from sfumato.ledger.begin import begin
from sfumato.ledger.candidate import Candidate, read_candidate
from sfumato.ledger.chain import Chain, append, read_chain
from sfumato.ledger.check import Checked, check
from sfumato.ledger.clock import now
from sfumato.ledger.earlier import stored_tables
from sfumato.ledger.entry import Entry, check_population, read_entries
from sfumato.ledger.lock import FOLDER, locked
from sfumato.ledger.objects import store


@dataclass(frozen=True)
class Ledger:
    """A folder in which an organization records what it publishes; any number of processes may use it at once."""

    folder: Path

    @classmethod
    def create(cls, folder: str | Path) -> "Ledger":
        """Begin a ledger where there is nothing, for its owner alone."""
        begin(Path(folder))
        return cls(Path(folder))

    @classmethod
    def open(cls, folder: str | Path) -> "Ledger":
        """A ledger that is there; raises `InputError` where there is none that this version can read."""
        with database.reading(Path(folder)):
            return cls(Path(folder))

    def entries(self, population: str | None = None) -> tuple[Entry, ...]:
        """The releases of a population, or all, in the order in which they were recorded."""
        found = self._read()[1].values()
        return tuple(entry for entry in found if population in {None, entry.population})

    def check(self, population: str | None = None) -> Checked:
        """Look at the chain, at every copy and at every promise; says all that is wrong."""
        return check(self.folder, population)

    def add(
        self,
        release: str | Path,
        *,
        name: str | None = None,
        population: str | None = None,
        previous: Mapping[str, Path] | None = None,
    ) -> Entry:
        """Record a release that was published; `previous` are tables of earlier releases in its promise, by name.

        It is verified first: raises `NotVerified` where it does not hold. Where the same release is ``publishing``,
        it becomes ``published``.
        """
        entries = self.entries()
        candidate = read_candidate(Path(release), stored_tables(entries), previous)
        for entry in entries:
            if entry.manifest_sha256 == candidate.sha256:
                check_same(entry, name, population)
                candidate.check()
                return self.finish(entry.number)
        asked = Asked(name_of(candidate.public) if name is None else name, _population(population))
        asked.check(entries, candidate)
        candidate.check()
        return self._open("recorded", candidate, asked)

    def earlier(self, population: str | None = None) -> Earlier:
        """What was published about a population until now: all that the next release has to reckon with."""
        about = check_population(_population(population))
        entries = self.entries(about)
        return Earlier(about, entries, max((entry.number for entry in entries), default=0))

    def check_name(self, name: str) -> None:
        """Raise where a new release cannot have this name; worth asking before a long search."""
        Asked(name).check(self.entries())

    def reserve(self, stage: str | Path, seen: Earlier, *, name: str) -> Entry:
        """Record a complete and verified release that is about to appear, as ``publishing``.

        Refused where a release of the population came in since it was `seen`. From here on it counts as published:
        call `finish` when its folder has appeared, or `withdraw` if it certainly has not and will not.
        """
        candidate = read_candidate(Path(stage), stored_tables(self.entries()))
        return self._open("reserved", candidate, Asked(name, seen.population, seen.version))

    def finish(self, number: int) -> Entry:
        """Say that the folder of a reserved release has appeared."""
        with self._writing() as (connection, chain, entries):
            if _entry(entries, number).unfinished:
                append(connection, chain, _event("published", number))
        return _entry(self._read()[1], number)

    def withdraw(self, number: int) -> None:
        """Take back a reservation whose folder did not appear; what was published is never taken back."""
        with self._writing() as (connection, chain, entries):
            entry = _entry(entries, number)
            if not entry.unfinished:
                raise InputError(f"{entry.called} was published, which cannot be taken back")
            append(connection, chain, _event("withdrawn", number))

    def _open(self, event: str, candidate: Candidate, asked: Asked) -> Entry:
        """Keep the files, and then say in one transaction that they are kept."""
        objects = self.folder / FOLDER
        with locked(objects):
            asked.check(entries := self.entries(), candidate)
            copies, previous = candidate.earlier(stored_tables(entries), objects)
            store(objects, candidate.sha256, candidate.files | copies)
            said = {"name": asked.name, "population": asked.population, **candidate.body(previous, objects)}
            with self._writing() as (connection, chain, found):
                asked.check(found.values(), candidate)  # once more, where locks of files do not work
                number = 1 + sum("name" in one.body for one in chain.events)
                append(connection, chain, _event(event, number) | said)
        return _entry(self._read()[1], number)

    def _read(self) -> tuple[Chain, dict[int, Entry]]:
        with database.reading(self.folder) as connection:
            return self._sound(read_chain(connection))

    @contextmanager
    def _writing(self) -> Iterator[tuple[sqlite3.Connection, Chain, dict[int, Entry]]]:
        with database.writing(self.folder) as connection:
            chain, entries = self._sound(read_chain(connection))
            yield connection, chain, entries

    def _sound(self, chain: Chain) -> tuple[Chain, dict[int, Entry]]:
        """Nothing is built on a ledger that was changed by others."""
        if chain.problems:
            raise InputError(f"the ledger {self.folder} cannot be relied on: {'; '.join(chain.problems)}")
        return chain, read_entries(chain.events, self.folder / FOLDER)


def _population(given: str | None) -> str:
    return DEFAULT if given is None else given


def _event(kind: str, number: int) -> dict[str, Any]:
    return {"event": kind, "number": number, "time": now()}


def _entry(entries: Mapping[int, Entry], number: int) -> Entry:
    if number not in entries:
        raise InputError(f"the ledger has no release {number}; see sfumato ledger list")
    return entries[number]
