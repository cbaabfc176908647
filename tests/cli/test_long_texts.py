"""Texts as long as a file, wherever they may stand: an error stays a sentence that fits on a screen."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Runs = Callable[..., Any]

LONG = "CANARY" + "y" * 100_000
SCREEN = 2_000
"""Characters of an error at most: twenty values are listed, each cut."""
POLICY = """
[data]
source = "table.csv"
{data}

[columns]
age = {{ role = "quasi", hierarchy = {age} }}
job = {{ role = "quasi", hierarchy = {job} }}
illness = {{ role = "sensitive" }}
{columns}

[[privacy]]
model = {model}
{rule}

{end}
"""
PARTS = {
    "data": "",
    "age": "{ intervals = [5] }",
    "job": '"job.csv"',
    "columns": "",
    "model": '"k-anonymity"',
    "rule": "k = 2",
    "end": "",
}
TABLE = "age,job,illness\n" + "30,nurse,flu\n31,driver,cold\n" * 4
TREE = "nurse,health,*\ndriver,trade,*\n"
L = f'"{LONG}"'

WRONG: dict[str, dict[str, str]] = {
    "a key": {"end": f"[publish]\n{L} = 1"},
    "a table": {"end": f"[{L}]\nx = 1"},
    "a key of a column": {"columns": f'town = {{ role = "plain", {L} = 1 }}'},
    "a column that is not there": {"columns": f'{L} = {{ role = "plain" }}'},
    "a role": {"columns": f"town = {{ role = {L} }}"},
    "a model": {"model": L},
    "a key of a model": {"rule": f"k = 2\n{L} = 1"},
    "a value of a model": {"rule": f"k = {L}"},
    "a column of a model": {"model": '"distinct-l-diversity"', "rule": f"l = 2\ncolumn = {L}"},
    "a protected value": {
        "model": '"alpha-deassociation"',
        "rule": f'alpha = 0.5\ncolumn = "illness"\nvalues = ["f", {L}]\nrefined = {L}',
    },
    "an algorithm": {"end": f"[algorithm]\nname = {L}"},
    "a form": {"end": f"[publish]\nform = {L}"},
    "a suppression": {"end": f"[algorithm]\nsuppression = {L}"},
    "a separator": {"data": f"separator = {L}"},
    "an encoding": {"data": f"encoding = {L}"},
    "a file": {"job": L},
    "a kind": {"age": f"{{ {L} = 5 }}"},
    "a kind that is no table": {"age": f"[{L}]"},
    "widths": {"age": f"{{ intervals = [{L}] }}"},
    "many widths": {"age": f"{{ intervals = [{'5, ' * 3000}5] }}"},
    "a domain": {"age": f"{{ intervals = [5], domain = [{L}, 3] }}"},
    "a side": {"job": f"{{ mask = {L} }}"},
    "a long mask": {"job": "{ mask = 'right', length = 9999999 }"},
    "a unit": {"age": f"{{ dates = [{L}] }}"},
    "a format": {"age": f'{{ dates = ["year"], format = {L} }}'},
    "a truth": {"age": f"{{ ranges = true, integers = {L} }}"},
    "an earlier release": {"end": f'[[previous]]\nname = {L}\ntable = "table.csv"'},
    "a cell that is no number": {"table": TABLE + f"{LONG},nurse,flu\n"},
    "a cell that no file has": {"table": TABLE + f"30,{LONG},flu\n"},
    "a cell that is no date": {"table": TABLE + f"{LONG},nurse,flu\n", "age": '{ dates = ["year"] }'},
    "a cell that is no range": {"table": TABLE + f"{LONG},nurse,flu\n", "age": "{ ranges = true }"},
    "a cell that is too long for a mask": {"table": TABLE + f"30,{LONG},flu\n", "job": '{ mask = "right" }'},
    "a cell of stars": {"table": TABLE + f"30,{'*' * 99_999},flu\n", "job": '{ mask = "right" }'},
    "many cells": {"table": TABLE + "".join(f"{n}{LONG[:9999]},nurse,flu\n" for n in range(60))},
    "a column without a role": {"table": TABLE.replace("illness", f"illness,{LONG}", 1).replace("\n3", ",\n3")},
    "a column twice": {"table": TABLE.replace("age,job", f"{LONG},{LONG}", 1)},
    "a leaf": {"tree": TREE + f"{LONG},a,*\n{LONG},b,*\n"},
    "a parent": {"tree": TREE + f"x,{LONG},a,*\ny,{LONG},b,*\n"},
    "two parents": {"tree": TREE + f"x,{LONG},*\nx,{LONG}b,*\n"},
    "no root": {"tree": TREE + f"x,{LONG}\n"},
    "a leaf longer than csv takes": {"tree": TREE + f"{LONG}{LONG},*\n"},
}


@pytest.mark.parametrize("what", WRONG)
def test_errors_of_a_policy_its_table_and_its_files(what: str, runs: Runs, tmp_path: Path) -> None:
    """Whatever is long is cut, with its length, and the exit code is that of bad input."""
    parts = PARTS | WRONG[what]
    (tmp_path / "table.csv").write_text(parts.pop("table", TABLE))
    (tmp_path / "job.csv").write_text(parts.pop("tree", TREE))
    (tmp_path / "policy.toml").write_text(POLICY.format(**parts))
    ended = runs("anonymize", tmp_path / "policy.toml", "--out", tmp_path / "release")
    assert ended.code == 2, ended.err[:500]
    assert len(ended.sentence) < SCREEN, ended.err[:300]
    assert not (tmp_path / "release").exists()


@pytest.fixture
def release(runs: Runs, tmp_path: Path) -> Path:
    """A release of the small table."""
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "job.csv").write_text(TREE)
    (tmp_path / "policy.toml").write_text(POLICY.format(**PARTS))
    assert runs("anonymize", tmp_path / "policy.toml", "--out", tmp_path / "release").code == 0
    return tmp_path / "release"


def test_errors_of_other_commands(runs: Runs, release: Path) -> None:
    """Queries, options and columns that are named on the command line are cut, too."""
    table, policy = release.parent / "table.csv", release.parent / "policy.toml"
    for arguments in (
        ("query", release, f"select count(*) where {LONG} = 3"),
        ("query", release, f"select count(*) where job > {LONG}"),
        ("query", release, f"select sum('{LONG}')"),
        ("query", release, f"select {LONG}(age)"),
        ("query", release, f'select count(*) as x, count(*) as "{LONG}", count(*) as "{LONG}"'),
        ("query", release, LONG),
        ("risk", table, "--quasi", f"age,{LONG}"),
        ("compare", policy, "--algorithms", LONG),
        ("compare", policy, "--set", LONG),
        ("compare", policy, "--set", f"{LONG}=1,2"),
        ("anonymize", policy, "--algorithm", LONG),
        ("anonymize", policy, "--seed", LONG),
        ("init", table, "--preset", LONG),
        ("attack", "link", release, "--known", table, "--on", f"age,{LONG}"),
        ("attack", "homogeneity", release, "--column", LONG),
        ("reproduce", LONG),
        ("verify", release, "--previous", f"{LONG}=x"),
        (LONG,),
        ("anonymize", policy, f"--{LONG}"),
    ):
        ended = runs(*arguments)
        assert ended.code == 2, (arguments[:1], ended.err[:300])
        assert len(ended.sentence) < SCREEN, (arguments[:1], ended.err[:300])


@pytest.mark.parametrize("key", ["form", "nss", "columns", "requirements"])
def test_errors_of_a_manifest_that_was_changed(key: str, runs: Runs, release: Path) -> None:
    """What somebody wrote into a manifest is cut, too."""
    path = release / "public" / "manifest.json"
    manifest = json.loads(path.read_text())
    for value in (LONG, [LONG], {LONG: LONG}, [{"name": LONG, "role": LONG, "model": LONG, LONG: 1}]):
        path.write_text(json.dumps(manifest | {key: value}))
        ended = runs("verify", release)
        assert ended.code in {0, 1, 2}
        assert len(ended.out) + len(ended.err) < 2 * SCREEN, (ended.out[:300], ended.err[:300])
