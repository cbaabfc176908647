"""What holds of every task: nothing is unpickled, nothing is predictable, wrong messages end it, results are tables."""

import ast
import csv
import itertools
import os
import pickle
import random
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

import sfumato.party
from sfumato.errors import RunAborted
from sfumato.party.local_parties import local_sessions, run_parties
from sfumato.party.party_run import PartyResult, write_party_result
from sfumato.party.party_task import PartyTable
from sfumato.party.task_kinds import TASKS
from tests.party.every_task import EVERY_TASK, QUICK_TASKS, SETTINGS, TABLES, read_task
from tests.party.watched_parties import Part, change_payloads

Change = Callable[[str, int, bytes], bytes]
"""What becomes of a message: the party that sends it, its number among those of that party, and its payload."""

_SOURCES = sorted(Path(sfumato.party.__file__).parent.glob("*.py"))
_OBJECTS = {"pickle", "_pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "mpyc", "code"}
"""Modules that make objects of bytes, and a library that unpickles what peers send."""
_RUNS_TEXT = {"eval", "exec", "compile", "__import__", "getattr_static"}
_PREDICTABLE = {"random", "numpy.random"}


def _named(path: Path) -> tuple[set[str], set[str]]:
    """List what a module imports, and what it calls by a plain or dotted name."""
    imported, called = set(), set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Call):
            called.add(ast.unparse(node.func))
    return imported, called


@pytest.mark.parametrize("path", _SOURCES, ids=lambda path: path.stem)
def test_no_module_makes_objects_of_bytes(path: Path) -> None:
    """No module of parties imports what unpickles, runs text, or loads an array that may be one of objects."""
    imported, called = _named(path)
    assert not {name.partition(".")[0] for name in imported} & _OBJECTS
    assert not called & _RUNS_TEXT
    assert not any(name.endswith((".load", ".loads")) and not name.startswith(("json.", "tomllib.")) for name in called)


@pytest.mark.parametrize("path", _SOURCES, ids=lambda path: path.stem)
def test_no_module_draws_predictable_numbers(path: Path) -> None:
    """No module of parties imports `random`, or calls numpy's generators."""
    imported, called = _named(path)
    assert not imported & _PREDICTABLE
    assert not any(name.startswith(("np.random", "numpy.random", "random.")) for name in called)


_watching = False
_unpickled: list[str] = []


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if _watching and event == "pickle.find_class":
        _unpickled.append(str(arguments))


sys.addaudithook(_watch)  # which cannot be taken away again


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Lists whatever is unpickled; and drawing a number that can be predicted is an error meanwhile."""

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("a number that can be predicted")

    for name in ("random", "getrandbits", "randrange", "randint", "choice", "shuffle", "sample", "randbytes"):
        monkeypatch.setattr(random, name, refuse)
    for name in ("default_rng", "rand", "randint", "random", "bytes", "permutation", "shuffle"):
        monkeypatch.setattr(np.random, name, refuse)
    _unpickled.clear()
    monkeypatch.setattr(sys.modules[__name__], "_watching", True)
    return _unpickled


def _run(name: str, change: Change = lambda _sender, _number, payload: payload) -> tuple[dict[str, Any], int]:
    """Run a task with every message changed on its way; give the results, and how many messages a sent."""
    task = read_task(name)
    sessions = local_sessions("a", "b")
    sent = {"a": 0, "b": 0}

    def tap(sender: str) -> Callable[[bytes], bytes]:
        def changed(payload: bytes) -> bytes:
            sent[sender] += 1
            return change(sender, sent[sender] - 1, payload)

        return changed

    for sender, peer in (("a", "b"), ("b", "a")):
        change_payloads(sessions[sender], peer, tap(sender))

    def part(who: str) -> Part:
        prepared = task.prepare(who, PartyTable(TABLES[who], f"{who}.csv"))
        return lambda session: task.run(session, prepared)

    return run_parties({who: part(who) for who in "ab"}, sessions), sent["a"]


def test_every_kind_of_task_is_tried() -> None:
    """No kind is left out of what this page tries, but for `anonymize`, which has tables of its own."""
    assert {name.split(maxsplit=1)[0] for name in SETTINGS} == set(TASKS) - {"anonymize"}


@EVERY_TASK
def test_a_run_unpickles_nothing_and_draws_from_the_system_alone(name: str, watched: list[str]) -> None:
    """A whole run of a task, its libraries included, unpickles nothing and draws no predictable number."""
    results, _ = _run(name)
    assert results["a"] is not None
    assert not watched


class _Trap:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


@pytest.mark.slow
@QUICK_TASKS
def test_whatever_a_peer_sends_ends_in_a_sentence(name: str, watched: list[str], tmp_path: Path) -> None:
    """Messages that are pickles, noise, zeros, cut or turned round end the run, or change the result; nothing breaks.

    A peer that follows no protocol may make a result wrong; it makes no other error than the end of the run, and
    nothing that it sends is run.
    """
    trap = pickle.dumps(_Trap(tmp_path / "trapped"))
    deeds: list[Callable[[bytes], bytes]] = [
        lambda payload: trap.ljust(len(payload), b"."),
        lambda payload: trap.ljust(len(payload), b".")[: len(payload)],
        lambda payload: os.urandom(len(payload)),
        lambda payload: bytes(len(payload)),
        lambda payload: b"\xff" * len(payload),
        lambda payload: payload[:-1],
        lambda payload: payload[::-1],
        lambda _: b'{"a": [1e999, null]}',
    ]
    _, messages = _run(name)
    places = sorted({0, 1, messages // 2, messages - 1} & set(range(messages)))
    for number, deed in zip(itertools.cycle(places), deeds, strict=False):

        def change(sender: str, place: int, payload: bytes, number: int = number, deed: Any = deed) -> bytes:
            return deed(payload) if (sender, place) == ("a", number) else payload

        with suppress(RunAborted):  # and nothing else
            _run(name, change)
    assert not watched
    assert not (tmp_path / "trapped").exists()


@EVERY_TASK
def test_a_result_is_a_table(name: str, tmp_path: Path) -> None:
    """As a CSV file every result has named columns and plain cells, but for the items of rules, which are lists."""
    results, _ = _run(name)
    kind = name.split(maxsplit=1)[0]
    for who in "ab":
        path = tmp_path / f"{who}.csv"
        write_party_result(path, PartyResult(kind, who, results[who], 0.1, 9, 1, "", ""))
        lines = list(csv.DictReader(path.read_text().splitlines()))
        assert lines
        cells = [cell for line in lines for column, cell in line.items() if column not in {"if", "then"}]
        assert not any(cell is None or cell.startswith(("{", "[")) for cell in cells)
