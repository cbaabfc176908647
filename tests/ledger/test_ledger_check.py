"""Whatever was changed in a ledger is found."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import InputError
from sfumato.ledger import Ledger
from sfumato.ledger.event_chain import chain_hash

Makes = Callable[..., Path]

FREE = ("DROP TRIGGER kept", "DROP TRIGGER stays")


@pytest.fixture
def filled(ledger: Ledger, makes: Makes) -> Ledger:
    """A ledger of three entries, sound as it is."""
    for name in "abc":
        ledger.add(makes(name), population="p" if name == "b" else None)
    assert ledger.check().as_json() == {"sound": True, "entries": 3, "problems": [], "head": ledger.entries()[-1].chain}
    return ledger


def _change(ledger: Ledger, *statements: str) -> None:
    connection = sqlite3.connect(ledger.folder / "ledger.sqlite", isolation_level=None)
    for statement in (*FREE, *statements):
        connection.execute(statement)
    connection.close()


def _table(folder: Path) -> None:
    path = folder / "public" / "table.csv"
    path.write_bytes(path.read_bytes().replace(b"flu", b"flv", 1))


def _swap(folder: Path) -> None:
    """Table and manifest of another recorded release in place of these."""
    other = next(path for path in sorted(folder.parent.iterdir()) if path != folder)
    for path in (folder / "public").iterdir():
        shutil.copyfile(other / "public" / path.name, path)


def _account(folder: Path) -> None:
    path = folder / "private" / "audit.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"needs": {}}))


def _link(folder: Path) -> None:
    path = folder / "public" / "table.csv"
    path.rename(folder.parent.parent.parent / "elsewhere.csv")
    path.symlink_to(folder.parent.parent.parent / "elsewhere.csv")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (_table, "public/table.csv was changed after it was recorded"),
        (_swap, "public/manifest.json was changed after it was recorded"),
        (_account, "private/audit.json was changed after it was recorded"),
        (_link, "public/table.csv is missing"),
        (lambda folder: (folder / "public" / "manifest.json").unlink(), "public/manifest.json is missing"),
        (lambda folder: (folder / "private" / "more.json").write_text("{}"), "private/more.json does not belong there"),
        (shutil.rmtree, "public/table.csv is missing"),
    ],
)
def test_changed_copy(filled: Ledger, change: Callable[[Path], Any], wrong: str) -> None:
    """A copy that is lacking, changed or added to is named, with its release, and no other."""
    change(filled.entries("p")[0].folder)
    found = filled.check()
    assert not found.sound
    assert any(wrong in problem for problem in found.problems)
    assert all(problem.startswith("release 2, 'b': ") for problem in found.problems)
    assert filled.check("default").sound
    assert not filled.check("p").sound


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statement", "wrong"),
    [
        (
            "UPDATE events SET body = replace(body, '\"p\"', '\"q\"') WHERE number = 2",
            "line 2 of the ledger was changed",
        ),
        ("UPDATE events SET chain = upper(chain) WHERE number = 1", "line 1 of the ledger was changed"),
        ("UPDATE events SET body = 'x' WHERE number = 3", "line 3 of the ledger was changed"),
        ("UPDATE events SET body = X'00FF' WHERE number = 3", "line 3 of the ledger was changed"),
        ("UPDATE events SET number = 9 WHERE number = 3", "line 3 of the ledger is missing"),
        ("DELETE FROM events WHERE number = 1", "line 1 of the ledger is missing"),
        ("UPDATE about SET id = 'another'", "line 1 of the ledger was changed"),
        ("DELETE FROM about", "line 1 of the ledger was changed"),
    ],
)
def test_changed_line(filled: Ledger, makes: Makes, statement: str, wrong: str) -> None:
    """A line that was changed, moved or removed is found, and nothing is built on such a ledger."""
    _change(filled, statement)
    assert any(wrong in problem for problem in filled.check().problems)
    for question in (filled.entries, filled.snapshot, lambda: filled.add(makes("d")), lambda: filled.finish(1)):
        with pytest.raises(InputError, match=f"cannot be relied on: {wrong}"):
            question()


def test_lines_cannot_be_changed_by_mistake(filled: Ledger) -> None:
    """The database itself refuses to change or to remove a line."""
    connection = sqlite3.connect(filled.folder / "ledger.sqlite")
    for statement in ("UPDATE events SET body = ''", "DELETE FROM events"):
        with pytest.raises(sqlite3.IntegrityError, match="never changed"):
            connection.execute(statement)
    connection.close()


@pytest.mark.slow
def test_removed_last_line(filled: Ledger) -> None:
    """The last line can be removed with its hash; whoever noted the last hash can tell."""
    noted = filled.check().head
    _change(filled, "DELETE FROM events WHERE number = 3")
    assert filled.check().head != noted


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        {"event": "recorded"},
        {"event": "burnt", "number": 1},
        {"event": "published", "number": 7},
        {"event": "withdrawn", "number": []},
        {"event": "recorded", "number": 4, "manifest_sha256": "..", "tables": {"x": ""}, "previous": {}},
        {"event": "recorded", "number": 4, "manifest_sha256": "0" * 64, "tables": {"../x": ""}, "previous": {}},
    ],
)
def test_strange_line(filled: Ledger, body: dict[str, Any]) -> None:
    """A line that is chained properly and says nothing proper is a sentence, and reads no file elsewhere."""
    text, head = json.dumps(body), filled.check().head
    connection = sqlite3.connect(filled.folder / "ledger.sqlite", isolation_level=None)
    connection.execute("INSERT INTO events VALUES (4, ?, ?)", (text, chain_hash(head, text)))
    connection.close()
    assert filled.check().problems == (
        "line 4 of the ledger says nothing that this version knows; restore it from a copy",
    )


def test_damaged_database(filled: Ledger) -> None:
    """A database with damaged pages is a sentence, or a problem of the check."""
    path = filled.folder / "ledger.sqlite"
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    for question in (filled.entries, filled.check):
        with pytest.raises(InputError, match=r"database of the ledger .* is damaged; restore"):
            question()


def test_promise_that_no_longer_holds(filled: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each stored release is verified again, and what the verifier says is passed on."""
    from sfumato.ledger import ledger_check
    from sfumato.verifier import Verdict

    looked: list[Path] = []
    second = filled.entries()[1]

    def verify_release(folder: Path, previous: Any, bases: Any) -> Verdict:
        looked.append(folder)
        return Verdict(1, 1, (), ("the table is not what it was",) if folder == second.folder else ())

    monkeypatch.setattr(ledger_check, "verify_release", verify_release)
    assert filled.check().problems == ("release 2, 'b': the table is not what it was",)
    assert sorted(looked) == sorted(entry.folder for entry in filled.entries())
