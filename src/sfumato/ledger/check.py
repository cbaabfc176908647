"""Check a ledger: its database, its chain, and each release from the stored copies."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sfumato.errors import SfumatoError
from sfumato.ledger.chain import read_chain
from sfumato.ledger.database import reading
from sfumato.ledger.entry import Entry, read_entries
from sfumato.ledger.lock import FOLDER
from sfumato.ledger.objects import digest
from sfumato.ledger.verdict import verdict_on

_BACK = "restore it from a copy of the ledger or of the release"


@dataclass(frozen=True)
class Checked:
    """How many entries were looked at, and what is wrong, a sentence each.

    `head` is the hash of the last line. Whoever notes it elsewhere can tell later that no line at the end was removed.
    """

    entries: int
    problems: tuple[str, ...]
    head: str

    @property
    def sound(self) -> bool:
        """Nothing is wrong."""
        return not self.problems

    def as_json(self) -> dict[str, Any]:
        """As ``sfumato ledger check --json`` prints it."""
        return {"sound": self.sound, **asdict(self), "problems": list(self.problems)}


def check(folder: Path, population: str | None) -> Checked:
    """Look at the chain, and at every entry of a population, or at all."""
    with reading(folder) as connection:
        damaged = [str(line) for (line,) in connection.execute("PRAGMA quick_check(1)") if line != "ok"]
        chain = read_chain(connection)
    problems = [f"the database of the ledger {folder} is damaged; restore it from a copy"] if damaged else []
    problems += chain.problems
    try:
        entries = list(read_entries(chain.events, folder / FOLDER).values())
    except SfumatoError as error:
        return Checked(0, (*problems, str(error)), chain.head)
    chosen = [entry for entry in entries if population in {None, entry.population}]
    problems += [f"{entry.called}: {problem}" for entry in chosen for problem in _problems(entry, folder)]
    return Checked(len(chosen), tuple(problems), chain.head)


def _problems(entry: Entry, folder: Path) -> Iterator[str]:
    if entry.unfinished:
        yield (
            "its run ended before it could say that the folder had appeared, so it counts as published; record the "
            f"release with sfumato ledger add to finish it, or its copy {_within(entry.folder, folder)} if there is "
            "no other"
        )
    wrong = list(_file_problems(entry, folder))
    yield from wrong or _verified(entry)


def _file_problems(entry: Entry, folder: Path) -> Iterator[str]:
    """Files that are lacking, changed or added."""
    for path, sha256 in _files(entry).items():
        found = digest(path)
        if found is None:
            yield f"{_within(path, folder)} is missing; {_BACK}"
        elif found != sha256:
            yield f"{_within(path, folder)} was changed after it was recorded; {_BACK}"
    for path in sorted(_there(entry.folder) - _files(entry).keys()):
        yield f"{_within(path, folder)} does not belong there; remove it"


def _files(entry: Entry) -> dict[Path, str]:
    """The SHA-256 of everything that is kept of a release."""
    public = entry.folder / "public"
    found = {public / "manifest.json": entry.manifest_sha256}
    found |= {public / name: sha256 for name, sha256 in entry.tables.items()}
    if entry.account_sha256 is not None:
        found[entry.folder / "private" / "audit.json"] = entry.account_sha256
    return found


def _there(folder: Path) -> set[Path]:
    """The files of a release that are there; earlier tables beside it are the verifier's matter."""
    beside = folder / "previous"
    return {path for path in folder.rglob("*") if not path.is_dir() and not path.is_relative_to(beside)}


def _verified(entry: Entry) -> Sequence[str]:
    """What the verifier has to say of the stored copy; it looks at the SHA-256 of earlier tables itself."""
    try:
        return verdict_on(entry.folder, entry.previous).complaints
    except SfumatoError as error:
        return [str(error)]


def _within(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder))
