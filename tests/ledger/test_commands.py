"""``sfumato ledger``: what its four commands print, and how they end."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.ledger import Ledger

Makes = Callable[..., Path]
Runs = Callable[..., Any]


def test_four_commands(runs: Runs, makes: Makes) -> None:
    """A ledger is begun, releases are recorded, listed and checked, each with a line or a table for people."""
    makes("spring")
    makes("autumn")
    assert runs("ledger", "init", "books").out.startswith("books is a ledger now")
    assert runs("ledger", "list", "books").out == "no release is recorded\n"
    added = runs("ledger", "add", "books", "spring", "--population", "patients of 2026")
    assert (added.code, added.err) == (0, "")
    assert added.out == "release 1, 'spring', of the population 'patients of 2026', is recorded: 40 rows\n"
    assert runs("ledger", "add", "books", "autumn/public", "--name", "second").code == 0
    listed = runs("ledger", "list", "books").out
    for told in ("spring", "second", "patients", "default", "40", "k = 5", "t = 0.9", "published"):
        assert told in listed
    checked = runs("ledger", "check", "books")
    assert (checked.code, checked.err) == (0, "")
    assert checked.out.startswith("releases checked: 2; the ledger is sound; its last hash is ")


def test_json(runs: Runs, makes: Makes) -> None:
    """With --json each command prints one object and nothing else."""
    makes("spring")
    assert json.loads(runs("ledger", "init", "books", "--json").out) == {"ledger": "books"}
    added = json.loads(runs("ledger", "add", "books", "spring", "--json").out)
    listed = json.loads(runs("ledger", "list", "books", "--json").out)
    assert listed == {"ledger": "books", "entries": [{key: added[key] for key in added if key != "ledger"}]}
    assert json.loads(runs("ledger", "list", "books", "--population", "none", "--json").out)["entries"] == []
    checked = json.loads(runs("ledger", "check", "books", "--json").out)
    assert checked == {"sound": True, "entries": 1, "problems": [], "head": added["chain"]}


def test_what_is_wrong_is_said(runs: Runs, ledger: Ledger, makes: Makes) -> None:
    """A check that finds something ends with 1 and says what, for people and for programs."""
    folder = ledger.add(makes("spring")).folder
    ledger.reserve(makes("stage"), ledger.snapshot(), name="next")
    shutil.rmtree(folder / "private")
    told = runs("ledger", "check", ledger.folder)
    assert told.code == 1
    assert "private/audit.json is missing; restore it from a copy" in told.out
    assert "release 2, 'next': its run ended before" in told.out
    assert "the ledger is not sound" in told.out
    found = runs("ledger", "check", ledger.folder, "--json")
    assert found.code == 1
    assert len(json.loads(found.out)["problems"]) == 2
    assert "publishing: counts as published" in runs("ledger", "list", ledger.folder).out


def test_release_that_does_not_hold(runs: Runs, ledger: Ledger, makes: Makes) -> None:
    """A release that does not hold ends with 1, in one sentence."""
    table = makes("spring") / "public" / "table.csv"
    table.write_bytes(table.read_bytes().replace(b"flu", b"flv", 1))
    done = runs("ledger", "add", ledger.folder, "spring")
    assert done.code == 1
    assert "spring does not hold, so it was not recorded: table.csv is not the file that was published" in done.sentence


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["init", "spring"], "spring exists already; a ledger begins in a new folder, so name another"),
        (["list", "spring"], "spring is not a ledger; make one with sfumato ledger init"),
        (["check", "nowhere"], "nowhere is not a ledger; make one with sfumato ledger init"),
        (["add", "nowhere", "spring"], "nowhere is not a ledger; make one with sfumato ledger init"),
        (["add", "ledger", "nowhere"], "nowhere is not a release folder; name the folder that anonymize wrote"),
        (["add", "ledger", "spring", "--name", "a.b"], "'a.b' cannot name a release: use letters, digits, _ and -"),
        (["add", "ledger", "spring", "--population", ""], "'' cannot name a population: use a line of text"),
        (["add", "ledger", "spring", "--previous", "x"], "write --previous NAME=FILE"),
        (["add", "ledger", "spring", "--previous", "a=b"], "has no earlier release 'a'; leave out --previous a"),
        (["burn", "ledger"], "No such command 'burn'"),
    ],
)
def test_bad_input(runs: Runs, ledger: Ledger, makes: Makes, arguments: list[str], words: str) -> None:
    """What cannot be done is one sentence that says the way out, and ends with 2."""
    makes("spring")
    done = runs("ledger", *arguments)
    assert done.code == 2
    assert words in done.sentence
    assert ledger.check().entries == 0


def test_nothing_of_identifiers(runs: Runs, ledger: Ledger, makes: Makes) -> None:
    """No name of a person is in any byte of a ledger, nor in what the commands print."""
    makes("spring")
    printed = [runs("ledger", "add", ledger.folder, "spring"), runs("ledger", "list", ledger.folder, "--json")]
    assert all("Person " not in done.out + done.err for done in printed)
    for path in ledger.folder.rglob("*"):
        assert path.is_dir() or b"Person " not in path.read_bytes()
