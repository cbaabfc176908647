"""Check a ledger: its database, its chain of events, and each release from the stored copy."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sfumato.errors import SfumatoError
from sfumato.ledger.candidate_release import verify_release
from sfumato.ledger.entries import Entry, read_entries
from sfumato.ledger.event_chain import read_chain, read_database
from sfumato.ledger.stored_copies import COPIES, file_sha256
from sfumato.reading.release_reader import MANIFEST
from sfumato.table.several_files import find_parts

_REMEDY = "restore it from a copy of the ledger or of the release"


@dataclass(frozen=True)
class LedgerCheck:
    """How many entries were checked, and what is wrong, a sentence each.

    `head` is the hash of the last event. Whoever notes it elsewhere can tell later that no event at the end was
    removed.
    """

    entries: int
    problems: tuple[str, ...]
    head: str

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def as_json(self) -> dict[str, Any]:
        """As ``sfumato ledger check --json`` prints it."""
        return {"sound": self.sound, **asdict(self), "problems": list(self.problems)}


def check_ledger(folder: Path, population: str | None) -> LedgerCheck:
    """Check the database and the chain, and every entry of a population, or of all."""
    with read_database(folder) as connection:
        damaged = any(line != "ok" for (line,) in connection.execute("PRAGMA quick_check(1)"))
        chain = read_chain(connection)
    problems = [f"the database of the ledger {folder} is damaged; restore it from a copy"] if damaged else []
    problems += chain.problems
    try:
        entries = read_entries(chain.events, folder / COPIES).values()
    except SfumatoError as error:
        return LedgerCheck(0, (*problems, str(error)), chain.head)
    chosen = [entry for entry in entries if population in {None, entry.population}]
    with ThreadPoolExecutor(2) as pool:  # the verifier counts outside Python's lock
        for entry, found in zip(
            chosen, pool.map(lambda entry: list(_entry_problems(entry, folder)), chosen), strict=True
        ):
            problems += [f"{entry.title}: {problem}" for problem in found]
    return LedgerCheck(len(chosen), tuple(problems), chain.head)


def _entry_problems(entry: Entry, folder: Path) -> Iterator[str]:
    """Say what is wrong with an entry; the verifier is asked where the files are as they were recorded."""
    if entry.unfinished:
        yield (
            "its run ended before it could say that the folder had appeared, so it counts as published; record the "
            f"release with sfumato ledger add to finish it, or its copy {entry.folder.relative_to(folder)} if there is "
            "no other"
        )
    if problems := list(_file_problems(entry, folder)):
        yield from problems
        return
    try:
        # The verifier checks the SHA-256 of earlier tables itself.
        yield from verify_release(entry.folder, entry.previous, _stored_bases(entry)).complaints
    except SfumatoError as error:
        yield str(error)


def _stored_bases(entry: Entry) -> list[Path]:
    """Find the stored copies of the releases that an entry adds rows to; others are where its account says."""
    stated = entry.manifest.get("extends")
    releases = stated.get("releases", []) if isinstance(stated, dict) else []
    folders = (entry.folder.parent / str(release.get("manifest_sha256")) for release in releases)
    return [folder for folder in folders if (folder / "public" / MANIFEST).is_file()]


def _file_problems(entry: Entry, folder: Path) -> Iterator[str]:
    """Name the files of a copy that are missing, changed or added; earlier tables beside it are not looked at."""
    public = entry.folder / "public"
    files = {public / MANIFEST: entry.manifest_sha256}
    files |= {public / name: sha256 for name, sha256 in {**entry.tables, **entry.signed_files}.items()}
    if entry.account_sha256 is not None:
        files[entry.folder / "private" / "audit.json"] = entry.account_sha256
    for path, sha256 in files.items():
        actual = file_sha256(path)
        if actual is None:
            yield f"{path.relative_to(folder)} is missing; {_REMEDY}"
        elif actual != sha256:
            yield f"{path.relative_to(folder)} was changed after it was recorded; {_REMEDY}"
    parts = [part for path in entry.paths for part in find_parts(path)]  # their list is what was hashed
    previous = entry.folder / "previous"
    there = {path for path in entry.folder.rglob("*") if not path.is_dir() and not path.is_relative_to(previous)}
    for path in sorted(there - {*files, *parts}):
        yield f"{path.relative_to(folder)} does not belong there; remove it"
