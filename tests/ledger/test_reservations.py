"""A release takes its place in the ledger before it appears, and says so afterwards."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sfumato.errors import InputError
from sfumato.ledger import Ledger

Makes = Callable[..., Path]


def test_reserved_and_finished(ledger: Ledger, makes: Makes) -> None:
    """A reserved release counts from then on, and is published once it is said that it appeared."""
    first = ledger.add(makes("a"), population="p")
    seen = ledger.snapshot("p")
    assert [entry.number for entry in seen.entries] == [first.number]
    reserved = ledger.reserve(makes("stage"), seen, name="b")
    assert (reserved.number, reserved.population, reserved.state) == (2, "p", "publishing")
    assert [entry.number for entry in ledger.snapshot("p").entries] == [1, 2]
    assert ledger.finish(2).state == "published"
    assert ledger.finish(2).state == "published"
    assert ledger.check().sound


def test_reservation_refused(ledger: Ledger, makes: Makes) -> None:
    """What came in meanwhile about the same population refuses a reservation, and leaves no copy; others do not."""
    seen = ledger.snapshot("p")
    ledger.add(makes("other"), population="q")
    ledger.reserve(makes("first"), seen, name="first")
    copies = set((ledger.folder / "objects").iterdir())
    with pytest.raises(InputError, match=r"'p' was recorded meanwhile \(release 2, 'first'\).*run it again"):
        ledger.reserve(stage := makes("second"), seen, name="second")
    assert set((ledger.folder / "objects").iterdir()) == copies
    assert ledger.reserve(stage, ledger.snapshot("p"), name="second").number == 3


def test_withdrawn(ledger: Ledger, makes: Makes) -> None:
    """A reservation can be taken back, its name and content are free again, and its number is not."""
    stage = makes("stage")
    entry = ledger.reserve(stage, ledger.snapshot(), name="a")
    ledger.withdraw(entry.number)
    assert ledger.entries() == ()
    again = ledger.add(stage, name="a")
    assert (again.number, again.state) == (2, "published")
    assert ledger.check().sound
    for number, wrong in {1: "no release 1", 2: "was published, which cannot be taken back", 9: "no release 9"}.items():
        with pytest.raises(InputError, match=wrong):
            ledger.withdraw(number)


def test_crash_before_it_was_finished(ledger: Ledger, makes: Makes) -> None:
    """A reservation that nobody finished counts as published; recording the release again finishes it."""
    ledger.reserve(stage := makes("stage"), ledger.snapshot(), name="a")
    (problem,) = ledger.check().problems
    assert problem.startswith("release 1, 'a': its run ended before")
    assert "counts as published" in problem
    with pytest.raises(InputError, match="recorded already"):
        ledger.add(stage, name="b")
    with pytest.raises(InputError, match="recorded already"):
        ledger.add(stage, population="q")
    assert ledger.add(stage).state == "published"
    assert ledger.check().sound


def test_crash_before_anything_appeared(ledger: Ledger, makes: Makes) -> None:
    """Where no folder appeared, the copy that the check names finishes the entry."""
    ledger.reserve(stage := makes("stage"), ledger.snapshot(), name="a")
    shutil.rmtree(stage)
    (problem,) = ledger.check().problems
    named = next(word for word in problem.split() if word.startswith("objects"))
    assert ledger.add(ledger.folder / named).state == "published"
    assert ledger.check().sound


def test_finished_only_if_it_holds(ledger: Ledger, makes: Makes) -> None:
    """A release that was changed is another release, and does not finish the entry of the one it was."""
    ledger.reserve(stage := makes("stage"), ledger.snapshot(), name="a")
    table = stage / "public" / "table.csv"
    table.write_bytes(table.read_bytes() + b"\n")
    with pytest.raises(Exception, match="does not hold"):
        ledger.add(stage)
    assert ledger.entries()[0].state == "publishing"


def test_stage_that_changes_while_it_is_copied(ledger: Ledger, makes: Makes) -> None:
    """A table that is not the one of its manifest is not reserved, and no copy stays."""
    stage: Path = makes("stage")
    (stage / "public" / "table.csv").write_text("changed")
    with pytest.raises(InputError, match=r"table\.csv was changed while it was being recorded"):
        ledger.reserve(stage, ledger.snapshot(), name="a")
    assert list((ledger.folder / "objects").iterdir()) == []
