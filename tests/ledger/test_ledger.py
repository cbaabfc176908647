"""What a ledger records of a release, what it refuses, and how it is asked."""

import json
import shutil
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import InputError, NotVerified, OutputError
from sfumato.ledger import Ledger, event_chain, stored_copies

Makes = Callable[..., Path]
Saves = Callable[..., Path]
Runs = Callable[..., Any]
Rules = Callable[..., dict[str, Any]]


def test_entry_has_what_was_published(ledger: Ledger, makes: Makes) -> None:
    """An entry names the release, its population, rows, promise, policy and files, and has copies of them."""
    release = makes("spring")
    entry = ledger.add(release, population="patients")
    manifest = json.loads((release / "public" / "manifest.json").read_text())
    audit = json.loads((release / "private" / "audit.json").read_text())
    assert (entry.number, entry.name, entry.population, entry.state) == (1, "spring", "patients", "published")
    assert (entry.rows, entry.promise, entry.policy) == (manifest["rows"], manifest["promise"], audit["policy"])
    assert list(entry.policy["columns"]) == list(audit["policy"]["columns"]) if entry.policy else False
    assert entry.tables == {"table.csv": manifest["files"]["table.csv"]["sha256"]}
    assert entry.paths[0].read_bytes() == (release / "public" / "table.csv").read_bytes()
    assert entry.manifest == manifest
    assert entry.recorded.endswith("+00:00")


def test_seed_is_not_kept(ledger: Ledger, makes: Makes) -> None:
    """Of the private account only the policy and what the verifier needs is kept: no seed, no measured figure."""
    entry = ledger.add(makes("spring"))
    kept = json.loads((entry.folder / "private" / "audit.json").read_text())
    assert "needs" in kept
    assert not {"seed", "randomness", "utility", "risk", "seconds"} & kept.keys()


def test_folder_is_its_owners(ledger: Ledger, makes: Makes) -> None:
    """Nobody but the owner may look into any part of a ledger."""
    ledger.add(makes("spring"))
    for path in (ledger.folder, *ledger.folder.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_entries_by_population(ledger: Ledger, makes: Makes) -> None:
    """Entries come in the order of their recording, of one population where one is named."""
    for name, population in [("a", "staff"), ("b", None), ("c", "staff")]:
        ledger.add(makes(name), population=population)
    assert [entry.name for entry in ledger.entries()] == ["a", "b", "c"]
    assert [entry.number for entry in ledger.entries("staff")] == [1, 3]
    assert [entry.name for entry in ledger.entries("default")] == ["b"]
    assert ledger.entries("others") == ()


def test_public_part_alone(ledger: Ledger, saves: Saves, runs: Runs, people: Any, rules: Rules) -> None:
    """A release without its private part is recorded with an unknown policy, and that is said."""
    release = saves(
        people.drop_columns(["name"]),
        rules({"sex": "quasi", "zip": "quasi", "illness": "plain", "visits": "plain"}),
        "plain",
    )
    shutil.rmtree(release / "private")
    done = runs("ledger", "add", ledger.folder, release / "public")
    assert done.code == 0
    assert "does not know the policy" in done.err
    (entry,) = ledger.entries()
    assert (entry.name, entry.policy) == ("plain", None)
    assert ledger.check().sound


def test_public_part_that_is_not_enough(ledger: Ledger, makes: Makes) -> None:
    """Where a promise cannot be checked without the private part, the release is not recorded without it."""
    release = makes("spring")
    shutil.rmtree(release / "private")
    with pytest.raises(InputError, match="complete release folder"):
        ledger.add(release)
    assert ledger.entries() == ()


def test_recorded_once(ledger: Ledger, makes: Makes) -> None:
    """The same release is not recorded again, under any name, and its copy neither."""
    release = makes("spring")
    entry = ledger.add(release)
    for again in (release, release / "public", entry.folder):
        with pytest.raises(InputError, match="recorded already: it is release 1, 'spring'"):
            ledger.add(again, name="other")
    assert len(ledger.entries()) == 1


def test_release_that_does_not_hold(ledger: Ledger, makes: Makes) -> None:
    """A release whose table was changed is refused, and nothing is kept of it."""
    release = makes("spring")
    with (release / "public" / "table.csv").open("a") as file:
        file.write("m,4350,flu,1\n")
    with pytest.raises(NotVerified, match="does not hold, so it was not recorded"):
        ledger.add(release)
    assert ledger.entries() == ()
    assert list((ledger.folder / "objects").iterdir()) == []


@pytest.mark.parametrize("name", ["", "a.b", "a b", "ä", "a/b", "x" * 101, "$row", "a=b"])
def test_names_that_are_none(ledger: Ledger, makes: Makes, name: str) -> None:
    """A name that a later policy could not write before a column is refused, before anything is kept."""
    with pytest.raises(InputError, match="cannot name a release: use letters, digits"):
        ledger.add(makes("spring"), name=name)
    with pytest.raises(InputError, match="cannot name a release"):
        ledger.check_name(name)
    assert list((ledger.folder / "objects").iterdir()) == []


def test_names_that_are_taken(ledger: Ledger, makes: Makes) -> None:
    """A name stands for one release, whatever its population."""
    ledger.add(makes("spring"))
    with pytest.raises(InputError, match="has a release 'spring' already; give another --name"):
        ledger.add(makes("autumn"), name="spring", population="staff")
    with pytest.raises(InputError, match="has a release 'spring' already"):
        ledger.check_name("spring")
    assert ledger.add(makes("winter")).number == 2


@pytest.mark.parametrize("population", ["", " ", "a\nb", "x" * 201])
def test_populations_that_are_none(ledger: Ledger, makes: Makes, population: str) -> None:
    """A population is a line of text."""
    with pytest.raises(InputError, match="cannot name a population"):
        ledger.add(makes("spring"), population=population)


def test_begins_where_nothing_is(tmp_path: Path) -> None:
    """A ledger begins in a new or empty folder, or in what a killed beginning left, and nowhere else."""
    left = tmp_path / "left"
    (left / "objects").mkdir(parents=True)
    (left / ".new-0123").write_text("half")
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("left", "empty", "a/b/new"):
        assert Ledger.create(tmp_path / name).check().sound
        assert sorted(path.name for path in (tmp_path / name).iterdir()) == ["ledger.sqlite", "objects"]
    for name in ("left", "file", "link", "a"):
        with pytest.raises(OutputError, match="exists already; a ledger begins in a new folder"):
            Ledger.create(tmp_path / name)


def test_not_a_ledger(tmp_path: Path, ledger: Ledger, original: Path) -> None:
    """Whatever is no ledger, or one of a later version, is told apart in a sentence."""
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "ledger.sqlite").write_text("This is a text, and not a short one, but not a database.\n" * 9)
    (tmp_path / "strange").mkdir()
    sqlite3.connect(tmp_path / "strange" / "ledger.sqlite").close()
    (tmp_path / "strange" / "ledger.sqlite").touch()
    for name, wrong in {"nowhere": "make one", "text": "not a database", "strange": "another program's"}.items():
        with pytest.raises(InputError, match=f"{name} is not a ledger.*{wrong}"):
            Ledger.open(tmp_path / name)
    _sql(ledger, "PRAGMA user_version = 2")
    questions: list[Callable[[], object]] = [
        lambda: Ledger.open(ledger.folder),
        ledger.entries,
        ledger.check,
        lambda: ledger.add(original),
    ]
    for question in questions:
        with pytest.raises(InputError, match="written by a later version of sfumato"):
            question()


def test_place_that_cannot_be_written(ledger: Ledger, makes: Makes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is full or read-only is a sentence, leaves nothing, and reading goes on."""
    release = makes("spring")

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(30, "Read-only file system")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", refuse)
        with pytest.raises(OutputError, match=r"cannot write to the ledger .*: its disk is read-only"):
            ledger.add(release)
    assert list((ledger.folder / "objects").iterdir()) == []
    assert ledger.entries() == ()
    (ledger.folder / "objects").rmdir()
    with pytest.raises(OutputError, match="it has no folder objects"):
        ledger.add(release)


def test_waits_for_others_and_not_for_ever(ledger: Ledger, makes: Makes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever finds another writer waits, and says so if that takes too long."""
    monkeypatch.setattr(stored_copies, "PATIENCE", 0.05)
    release = makes("spring")
    with (
        stored_copies.writer_lock(ledger.folder / "objects"),
        pytest.raises(OutputError, match="others have kept it busy"),
    ):
        ledger.add(release)
    assert ledger.add(release).number == 1


def _sql(ledger: Ledger, *statements: str) -> None:
    connection = sqlite3.connect(ledger.folder / "ledger.sqlite", isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (sqlite3.SQLITE_READONLY, "you may not write there"),
        (sqlite3.SQLITE_READONLY_DIRECTORY, "you may not write there"),
        (sqlite3.SQLITE_CANTOPEN, "it cannot be opened"),
        (sqlite3.SQLITE_FULL, "no space left on its disk"),
        (sqlite3.SQLITE_BUSY, "others have kept it busy"),
        (sqlite3.SQLITE_CORRUPT, "is damaged; restore"),
        (sqlite3.SQLITE_MISUSE, r"its database fails \(OperationalError\)"),
    ],
)
def test_errors_of_the_database(ledger: Ledger, code: int, words: str) -> None:
    """Whatever the database refuses is a sentence that names the ledger and quotes nothing of it."""
    error = sqlite3.OperationalError("Person 7 in /a/file")
    error.sqlite_errorcode = code
    with pytest.raises(InputError, match=words) as raised, event_chain.write_database(ledger.folder):
        raise error
    assert str(ledger.folder) in str(raised.value)
    assert "Person" not in str(raised.value)
    assert ledger.check().sound
