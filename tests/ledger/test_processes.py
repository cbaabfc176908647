"""Many processes at once, and processes that are killed, lose nothing of a ledger."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato import anonymize
from sfumato.ledger import Ledger

pytestmark = pytest.mark.slow

KILLED = -9


@pytest.fixture
def folder(people: Any, roles: dict[str, Any], rules: Callable[..., Any], tmp_path: Path) -> Path:
    """A folder with a release that others are copies of, and that is quickly verified."""
    anonymize(people, rules(roles, k=5)).save(tmp_path / "original")
    return tmp_path


def _ran(how: str, folder: Path, number: int) -> dict[str, Any]:
    command = [sys.executable, str(Path(__file__).with_name("runner.py")), how, str(folder), str(number)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_many_writers_at_once(folder: Path) -> None:
    """Sixteen commands at once: each release is there, one that all have is there once, and the chain holds."""
    found = _ran("many", folder, 8)
    assert set(found["own"].values()) == {0}
    assert sorted(found["shared"]) == [0] + [2] * 7
    ledger = Ledger.open(folder / "ledger")
    assert sorted(entry.name for entry in ledger.entries()) == sorted([*found["own"], "shared"])
    assert [entry.number for entry in ledger.entries()] == list(range(1, 10))
    assert ledger.check().problems == ()


def test_many_writers_without_locks_of_folders(folder: Path) -> None:
    """Where folders cannot be locked, the database alone keeps writers apart: nothing is lost, and the chain holds."""
    found = _ran("unlocked", folder, 6)
    assert set(found["codes"]) == {0}
    ledger = Ledger.open(folder / "ledger")
    assert sorted(entry.name for entry in ledger.entries()) == sorted(found["names"])
    assert {entry.state for entry in ledger.entries()} == {"published"}
    assert ledger.check().problems == ()


def test_many_reservations_at_once(folder: Path) -> None:
    """Of eight that saw the same ledger one is let in, and the others are told that they came too late."""
    found = _ran("race", folder, 8)
    assert sorted(found["codes"]) == [0] + [2] * 7
    (entry,) = Ledger.open(folder / "ledger").entries("p")
    assert entry.unfinished
    assert len(list((folder / "ledger" / "objects").iterdir())) == 1


@pytest.mark.parametrize(("how", "number"), [("kill", 24), ("steps", 200)])
def test_killed_writers(folder: Path, how: str, number: int) -> None:
    """Killed at any moment, a command leaves a ledger with all that was done, and the next one clears the rest."""
    found = _ran(how, folder, number)
    done = list[str]()
    for (name, code), after in zip(list(found["done"].items())[-len(found["tries"]) :], found["tries"], strict=True):
        done += [name] if code == 0 else []
        assert set(done) <= set(after["names"])
        assert after["whole"]
    codes = list(found["done"].values())
    assert codes.count(KILLED) > 9
    assert set(codes) <= {0, KILLED}
    assert any(after["hidden"] for after in found["tries"]), "no kill came while a copy was being written"
    assert found["last"]["code"] == 0
    assert sorted(found["last"]["names"]) == sorted(found["done"])
    assert found["last"]["hidden"] == 0
    if how == "steps":
        assert codes[-1] == 0
    assert Ledger.open(folder / "ledger").check().problems == ()
