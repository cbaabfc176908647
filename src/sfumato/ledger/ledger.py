"""Ledger: record releases, look them up, and reserve a place for the next one while its folder appears."""

import os
import secrets
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.errors import InputError, OutputError, SfumatoError
from sfumato.ledger.candidate_release import CandidateRelease, read_candidate
from sfumato.ledger.entries import (
    DEFAULT_POPULATION,
    Entry,
    EntryRequest,
    PopulationSnapshot,
    already_recorded,
    check_population,
    read_entries,
    stored_tables,
)
from sfumato.ledger.event_chain import (
    DATABASE,
    EventChain,
    append_event,
    create_database,
    read_chain,
    read_database,
    timestamp,
    write_database,
)
from sfumato.ledger.ledger_check import LedgerCheck, check_ledger
from sfumato.ledger.stored_copies import COPIES, HIDDEN, cannot_write, file_sha256, store_copy, writer_lock
from sfumato.reading.release_reader import MANIFEST
from sfumato.release.folder import flush_to_disk


@dataclass(frozen=True)
class Ledger:
    """A folder in which an organization records what it publishes; any number of processes may use it at once."""

    folder: Path

    @classmethod
    def create(cls, folder: str | Path) -> "Ledger":
        """Make a ledger, for its owner alone, where there is nothing, an empty folder, or what a killed run left."""
        _create_files(Path(folder))
        return cls(Path(folder))

    @classmethod
    def open(cls, folder: str | Path) -> "Ledger":
        """Open a ledger that is there; raise `InputError` where there is none that this version can read."""
        with read_database(Path(folder)):
            return cls(Path(folder))

    def entries(self, population: str | None = None) -> tuple[Entry, ...]:
        """List the releases of a population, or all, in the order in which they were recorded."""
        return tuple(entry for entry in self._read().values() if population in {None, entry.population})

    def snapshot(self, population: str | None = None) -> PopulationSnapshot:
        """List what was published about a population until now: all that the next release has to allow for."""
        population = check_population(DEFAULT_POPULATION if population is None else population)
        entries = self.entries(population)
        return PopulationSnapshot(population, entries, max((entry.number for entry in entries), default=0))

    def check(self, population: str | None = None) -> LedgerCheck:
        """Check the chain, every copy and every promise, and say all that is wrong."""
        return check_ledger(self.folder, population)

    def check_name(self, name: str) -> None:
        """Raise where a new release cannot have this name; worth asking before a long search."""
        EntryRequest(name).check(self.entries())

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
        it becomes ``published``. A release without a name gets that of its folder.
        """
        entries = self.entries()
        candidate = read_candidate(Path(release), stored_tables(entries), previous)
        for entry in entries:
            if entry.manifest_sha256 == candidate.sha256:
                same = name in {None, entry.name} and population in {None, entry.population}
                if not entry.unfinished or not same:
                    raise already_recorded(entry)
                candidate.check()
                return self.finish(entry.number)
        if name is None:
            folder = candidate.public.resolve()
            name = folder.parent.name if folder.name == "public" else folder.name
        request = EntryRequest(name, DEFAULT_POPULATION if population is None else population)
        request.check(entries, candidate.sha256)
        candidate.check()
        return self._record("recorded", candidate, request)

    def reserve(self, stage: str | Path, snapshot: PopulationSnapshot, *, name: str) -> Entry:
        """Record a complete and verified release that is about to appear, as ``publishing``.

        Refused where a release of the population came in since the `snapshot`. From here on it counts as published:
        call `finish` when its folder has appeared, or `withdraw` if it certainly has not and will not.
        """
        before = self.entries()
        candidate = read_candidate(Path(stage), stored_tables(before))
        try:
            return self._record("reserved", candidate, EntryRequest(name, snapshot.population, snapshot.version))
        except OutputError:
            self._withdraw_unsure(candidate.sha256, {entry.number for entry in before})
            raise

    def find_same_files(self, stage: str | Path, population: str) -> Entry | None:
        """Find the entry of a population whose manifest, and so whose table, is that of a release byte for byte.

        A table of few rows, or of rows that are all alike, can come out in the order that it had before.
        """
        sha256 = file_sha256(Path(stage) / "public" / MANIFEST)
        alike = (entry for entry in self.entries(population) if entry.manifest_sha256 == sha256)
        return next(alike, None)

    def finish(self, number: int) -> Entry:
        """Note that the folder of a reserved release has appeared."""
        with self._write() as (connection, chain, entries):
            if _entry(entries, number).unfinished:
                append_event(connection, chain, _event("published", number))
        return _entry(self._read(), number)

    def withdraw(self, number: int) -> None:
        """Take back a reservation whose folder did not appear; what was published is never taken back."""
        with self._write() as (connection, chain, entries):
            entry = _entry(entries, number)
            if not entry.unfinished:
                raise InputError(f"{entry.title} was published, which cannot be taken back")
            append_event(connection, chain, _event("withdrawn", number))

    def _withdraw_unsure(self, manifest_sha256: str, known: Collection[int]) -> None:
        """Take back a reservation that failed and may be there all the same, as a commit may that the disk disowned."""
        with suppress(SfumatoError):
            for entry in self.entries():
                if entry.manifest_sha256 == manifest_sha256 and entry.unfinished and entry.number not in known:
                    self.withdraw(entry.number)

    def _record(self, kind: str, candidate: CandidateRelease, request: EntryRequest) -> Entry:
        """Store the files, and then append in one transaction the event that says so."""
        copies = self.folder / COPIES
        with writer_lock(copies):
            entries = self.entries()
            request.check(entries, candidate.sha256)
            files, previous = candidate.earlier_tables(stored_tables(entries), copies)
            store_copy(copies, candidate.sha256, candidate.files | files)
            body = {"name": request.name, "population": request.population, **candidate.entry_body(previous, copies)}
            with self._write() as (connection, chain, now):
                request.check(now.values(), candidate.sha256)  # once more, where locks of folders do not work
                number = 1 + sum("name" in event.body for event in chain.events)
                append_event(connection, chain, _event(kind, number) | body)
        return _entry(self._read(), number)

    def _read(self) -> dict[int, Entry]:
        with read_database(self.folder) as connection:
            return self._sound_entries(read_chain(connection))

    @contextmanager
    def _write(self) -> Iterator[tuple[sqlite3.Connection, EventChain, dict[int, Entry]]]:
        with write_database(self.folder) as connection:
            chain = read_chain(connection)
            yield connection, chain, self._sound_entries(chain)

    def _sound_entries(self, chain: EventChain) -> dict[int, Entry]:
        """Read the entries of a chain; raise where it was changed by others, since nothing is built on that."""
        if chain.problems:
            raise InputError(f"the ledger {self.folder} cannot be relied on: {'; '.join(chain.problems)}")
        return read_entries(chain.events, self.folder / COPIES)


def _event(kind: str, number: int) -> dict[str, Any]:
    return {"event": kind, "number": number, "time": timestamp()}


def _entry(entries: Mapping[int, Entry], number: int) -> Entry:
    if number not in entries:
        raise InputError(f"the ledger has no release {number}; see sfumato ledger list")
    return entries[number]


def _create_files(folder: Path) -> None:
    """Make the folders of a ledger, and its database under another name, which is renamed when it is complete."""
    copies = folder / COPIES
    try:
        if folder.is_symlink() or (folder.exists() and not _is_free(folder)):
            raise _taken(folder)
        copies.mkdir(parents=True, exist_ok=True)
        for part in (folder, copies):
            part.chmod(0o700)
        with writer_lock(copies):
            if not _is_free(folder):  # somebody else was quicker
                raise _taken(folder)
            for incomplete in folder.glob(f"{HIDDEN}*"):
                incomplete.unlink()
            new = folder / f"{HIDDEN}{secrets.token_hex(8)}"
            try:
                create_database(new, secrets.token_hex(16), timestamp())
                new.chmod(0o600)
                new.rename(folder / DATABASE)
            finally:
                new.unlink(missing_ok=True)
            flush_to_disk(folder)
    except OSError as error:
        raise cannot_write(folder, error) from None


def _is_free(folder: Path) -> bool:
    """Tell whether a folder is there and holds at most what a killed run left."""
    if not folder.is_dir():
        return False
    names = {path.name for path in folder.iterdir() if not path.name.startswith(HIDDEN)}
    return names <= {COPIES} and not any(os.scandir(folder / COPIES) if names else ())


def _taken(folder: Path) -> OutputError:
    return OutputError(f"{folder} exists already; a ledger begins in a new folder, so name another")
