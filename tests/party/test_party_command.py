"""The command `sfumato party`: what it prints and refuses, and rehearsals on one machine."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.cli.party import _print_result
from sfumato.party.party_run import PartyResult
from sfumato.party.task_kinds import TASKS, task_class

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "parties.md"

Runs = Callable[..., Any]


def _write(folder: Path, task: str = 'kind = "sum"') -> None:
    (folder / "c.toml").write_text(f'[consortium]\nparties = [{{ name = "a" }}, {{ name = "b" }}]\n[task]\n{task}\n')
    (folder / "a.csv").write_text("ward,beds\nnorth,3\nsouth,4\n")
    (folder / "b.csv").write_text("ward,beds\nnorth,10\nsouth,20\n")


BOTH = ("--data", "a=a.csv", "--data", "b=b.csv")


@pytest.mark.parametrize("kind", TASKS)
def test_the_guide_names_every_task_with_its_keys(kind: str) -> None:
    """A task has a row in the guide, and each of its keys is named there or among those that several have."""
    text = GUIDE.read_text()
    row = next(line for line in text.splitlines() if line.startswith((f"| `{kind}` |", f"| [`{kind}`](")))
    common = next(line for line in text.splitlines() if line.startswith("Several have keys in common."))
    for key in task_class(kind).keys:
        assert f"`{key}`" in row or f"`{key}`" in common or f"`{key} =" in common, key


def test_keys_are_printed_with_their_fingerprint(runs: Runs, tmp_path: Path) -> None:
    """The command says what to keep, what to give away, and what to compare; --json the same for programs."""
    told = runs("party", "keys", "--name", "a", "--out", "keys")
    assert told.code == 0
    assert re.search(r"fingerprint  ([0-9A-F]{2}:){31}[0-9A-F]{2}\n", told.out)
    found = json.loads(runs("party", "keys", "--name", "b", "--out", "keys", "--days", "30", "--json").out)
    assert set(found) == {"key", "certificate", "fingerprint", "valid_until", "encrypted"}
    again = runs("party", "keys", "--name", "b", "--out", "keys")
    assert (again.code, again.sentence.startswith("keys/b.key exists already")) == (2, True)


@pytest.mark.slow
def test_a_rehearsal_gives_each_party_its_result(runs: Runs, tmp_path: Path) -> None:
    """All parties run as processes, results are files of their own, and --json has what each was told."""
    _write(tmp_path, 'kind = "sum"\nkey = "ward"\nresult_to = ["b"]')
    told = runs("party", "simulate", "c.toml", *BOTH, "--out", "results", "--json")
    assert told.code == 0, told.err
    found = json.loads(told.out)
    total = [{"ward": "north", "beds": 13}, {"ward": "south", "beds": 24}]
    assert found["result"] == found["parties"]["b"]["result"] == total
    assert found["parties"]["a"]["result"] is None
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["b.json"]
    assert told.err.startswith("Adversary: semi-honest")
    keys = {"task", "party", "result", "seconds", "bytes_sent", "rounds", "adversary", "learned"}
    assert set(found["parties"]["b"]) == keys


@pytest.mark.slow
def test_a_rehearsal_ends_where_one_party_fails(runs: Runs, tmp_path: Path) -> None:
    """A table that does not fit ends all processes at once with the sentence of its party, and leaves nothing."""
    _write(tmp_path)
    (tmp_path / "b.csv").write_text("ward,beds\nnorth,ten\n")
    told = runs("party", "simulate", "c.toml", *BOTH, "--out", "results")
    assert told.code == 2
    assert "error: party 'b': b.csv has no column of numbers to add up" in told.err
    assert not (tmp_path / "results").exists()
    (tmp_path / "b.csv").write_text("ward,cost\nnorth,1\n")
    told = runs("party", "simulate", "c.toml", *BOTH, "--out", "results")
    assert told.code == 1
    assert "has other numeric columns than this one" in told.err
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("simulate", "c.toml", "--data", "a=a.csv"), "--data: party 'b' has none; write --data b=FILE"),
        (("simulate", "c.toml", *BOTH, "--data", "z=a.csv"), "--data: the consortium has no party 'z'"),
        (("simulate", "c.toml", "--data", "a.csv"), "--data must be NAME=FILE such as a=a.csv, not 'a.csv'"),
        (("simulate", "c.toml", *BOTH, "--data", "a=b.csv"), "--data has two tables of party 'a'"),
        (("simulate", "z.toml", *BOTH), "the consortium file z.toml does not exist"),
        (("simulate", "c.toml", *BOTH, "--out", "a.csv"), "a.csv is not a folder; choose another --out"),
        (("run", "c.toml", "--as", "a", "--data", "a.csv", "--key", "a.key"), "parties[0].address: is missing"),
    ],
)
def test_what_cannot_be_meant_is_refused(runs: Runs, tmp_path: Path, arguments: Any, message: str) -> None:
    """A slip of the pen is one sentence and exit code 2, before anything starts."""
    _write(tmp_path)
    told = runs("party", *arguments)
    assert told.code == 2
    assert message in told.sentence


def test_a_run_checks_its_options_first(runs: Runs, tmp_path: Path) -> None:
    """Names, files and places that cannot be right are found out before anybody is waited for."""
    for name in "ab":
        assert runs("party", "keys", "--name", name, "--out", ".").code == 0
    _write(tmp_path)
    parties = ", ".join(
        f'{{ name = "{name}", address = "192.0.2.{place}:7001", certificate = "{name}.pem" }}'
        for place, name in enumerate("ab", 1)
    )
    (tmp_path / "c.toml").write_text(f'[consortium]\nparties = [{parties}]\n[task]\nkind = "sum"\n')
    (tmp_path / "there.json").write_text("mine")
    usual = {"--as": "a", "--data": "a.csv", "--key": "a.key"}
    for changed, message in (
        ({"--as": "z"}, "--as: the consortium has no party 'z'; choose a or b"),
        ({"--out": "there.json"}, "there.json exists already"),
        ({"--data": "z.csv"}, "z.csv does not exist"),
        ({"--key": "z.key"}, "the key z.key does not exist"),
        ({"--listen": "7001"}, "--listen: must be host:port such as a.example:7001, not '7001'"),
    ):
        told = runs("party", "run", "c.toml", *(part for pair in (usual | changed).items() for part in pair))
        assert told.code == 2, told
        assert message in told.err
    assert not list(tmp_path.glob("*.runs"))
    told = runs("party", "run", "c.toml", *(part for pair in usual.items() for part in pair))
    assert (told.code, "cannot listen at 192.0.2.1:7001" in told.err) == (2, True)


@pytest.mark.parametrize(
    "result", [[{"\x1b[2Jtown": "Zürich\x1b[31m", "count": 3}], {"sizes": {"Zürich\x1b[31m": 3}}, ["Zürich\x9b31m"]]
)
def test_values_of_others_move_no_cursor(result: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """What another party's file holds is printed as signs alone, umlauts among them."""
    _print_result(PartyResult("contingency", "a", result, 0.1, 9, 1, "", ""), None)
    said = capsys.readouterr().out
    assert "Zürich�" in said
    assert not any(sign in said for sign in "\x1b\x9b")


@pytest.mark.parametrize(
    ("kind", "result", "shown"),
    [
        ("intersection", ["anna", "bo"], ["┃ intersection ┃", "│ bo           │"]),
        ("intersection", [], ["none"]),
        ("union-size", {"size": 7}, ["size: 7"]),
        ("compare", {"first": "a", "second": "b", "comparisons": ["less"]}, ["│ 1   │ a     │ less       │ b      │"]),
        (
            "k-means",
            {"centres": [{"age": 30.510344827586206}], "sizes": [3], "cost": 2.0},
            ["centres: 1", "cost: 2.0", "│ 1       │ 3    │ 30.510345     │"],
        ),
        (
            "rules",
            {"transactions": 4, "itemsets": [{}] * 3, "rules": [{"if": ["x", "y"], "then": ["z"], "support": 2}]},
            ["transactions: 4", "itemsets: 3", "rules: 1", "│ x, y │ z    │ 2       │"],
        ),
        (
            "anonymize",
            {
                "levels": {"age": 1},
                "privacy": [{"model": "k-anonymity", "required": {"k": 5}, "achieved": {"k": 8}, "satisfied": True}],
            },
            ["  age: 1", "│ k-anonymity │ k = 5    │ k = 8 │ ✓ │"],
        ),
    ],
)
def test_results_are_shown_as_tables(
    kind: str, result: Any, shown: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Lists are lines of a table with short numbers, single values stand by their names, and nothing is JSON."""
    _print_result(PartyResult(kind, "a", result, 0.1, 9, 1, "", ""), None)
    said = capsys.readouterr().out
    assert all(line in said for line in shown), said
    assert "{" not in said
