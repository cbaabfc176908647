"""``sfumato condense``: what people see, what programs read, and how it refuses."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

Runs = Callable[..., Any]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Three hundred rows of two columns of numbers, one of them whole."""
    draw = np.random.default_rng(1)
    lines = [f"{age},{pay:.2f}" for age, pay in zip(draw.integers(18, 90, 300), draw.lognormal(3, 1, 300), strict=True)]
    path = tmp_path / "rows.csv"
    path.write_text("age,=pay\n" + "\n".join(lines) + "\n")
    return path


def test_for_programs(rows: Path, tmp_path: Path, runs: Runs) -> None:
    """One JSON object and nothing else, of a stream, of a state and of what is drawn."""
    done = runs("condense", rows, "--k", "10", "--state", tmp_path / "state", "--json")
    assert (done.code, done.err) == (0, "")
    figures = json.loads(done.out)
    assert set(figures) == {"rows", "groups", "smallest", "largest", "held"}
    assert (figures["rows"], figures["held"], figures["smallest"] >= 10, figures["largest"] < 20) == (
        300,
        0,
        True,
        True,
    )
    assert json.loads(runs("condense", "--state", tmp_path / "state", "--json").out) == figures
    done = runs("condense", "--state", tmp_path / "state", "--emit", tmp_path / "out.csv", "--json")
    assert json.loads(done.out) == figures | {"drawn": 300, "out": str(tmp_path / "out.csv")}


def test_drawn_rows_are_a_file_of_the_same_shape(rows: Path, tmp_path: Path, runs: Runs) -> None:
    """CSV with whole ages, two decimals and a header no spreadsheet runs; Parquet with numbers; two draws differ."""
    done = runs("condense", rows, "--k", "10", "--state", tmp_path / "state", "--out", tmp_path / "one.csv")
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith(f"300 rows drawn into {tmp_path / 'one.csv'}\n")
    assert runs("condense", "--state", tmp_path / "state", "--emit", tmp_path / "two.csv").code == 0
    one, two = ((tmp_path / name).read_text().splitlines() for name in ("one.csv", "two.csv"))
    assert (one[0], len(one), one[1:] != two[1:]) == ("age,'=pay", 301, True)
    age, pay = one[1].split(",")
    assert age.isdigit()
    assert len(pay.split(".")[1]) == 2
    refused = runs("condense", "--state", tmp_path / "state", "--emit", tmp_path / "one.csv")
    assert (refused.code, "exists already" in refused.err) == (2, True)
    assert runs("condense", "--state", tmp_path / "state", "--emit", tmp_path / "one.csv", "--force").code == 0
    many = tmp_path / "many.parquet"
    assert (
        runs("condense", "--state", tmp_path / "state", "--emit", many, "--multiple", "2", "--noise", "0.1").code == 0
    )
    table = pq.read_table(many)
    assert (table.num_rows, table.column_names, str(table.schema.types[0])) == (600, ["age", "=pay"], "int64")


def test_too_few_rows_are_held_and_forgotten(rows: Path, tmp_path: Path, runs: Runs) -> None:
    """It says so, keeps nothing, and draws nothing."""
    done = runs("condense", rows, "--k", "301", "--state", tmp_path / "state", "--json")
    assert (done.code, json.loads(done.out)["held"]) == (0, 300)
    assert done.err.startswith("warning: 300 rows came, and the first group has k = 301")
    assert not (tmp_path / "state").exists()
    done = runs("condense", rows, "--k", "301", "--state", tmp_path / "state", "--out", tmp_path / "out.csv")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: 300 rows came")
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["ROWS", "--k", "5"], "say where the statistics are kept"),
        (["ROWS", "--state", "STATE"], "say how many rows a group has at least"),
        (["--state", "STATE"], "there is no state in"),
        (["--state", "STATE", "--emit", "OUT"], "there is no state in"),
        (["ROWS", "--k", "5", "--state", "STATE", "--emit", "OUT"], "--emit draws from a state without a stream"),
        (["--state", "STATE", "--out", "OUT"], "--out is for the end of a stream"),
        (["--state", "STATE", "--resume"], "--resume is about a stream, and there is none"),
        (["ROWS", "--k", "5", "--state", "STATE", "--resume", "--again"], "give one of them"),
        (["ROWS", "--k", "5", "--state", "STATE", "--at-rest", "--resume"], "--at-rest begins a new state"),
        (["-", "--k", "5", "--state", "STATE", "--at-rest"], "--at-rest takes all rows at once"),
        (["ROWS", "--k", "5", "--state", "STATE", "--at-rest", "--clustering", "x"], "--clustering is one of"),
        (["ROWS", "--k", "5", "--state", "STATE", "--batch", "0"], "a batch has at least 1 row"),
        (["ROWS", "--k", "5", "--state", "STATE", "--out", "-", "--json"], "cannot hold both rows and JSON"),
        (["nowhere.csv", "--k", "5", "--state", "STATE"], "nowhere.csv does not exist"),
        (["ROWS", "--k", "5", "--state", "STATE", "--out", "nowhere/out.csv"], "there is no folder nowhere"),
    ],
)
def test_options_that_say_nothing(
    arguments: list[str], sentence: str, rows: Path, tmp_path: Path, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence, exit code 2, and nothing on the disk."""
    monkeypatch.chdir(tmp_path)
    places = {"ROWS": "rows.csv", "STATE": "state", "OUT": "out.csv"}
    done = runs("condense", *(places.get(one, one) for one in arguments))
    assert (done.code, done.out, sentence in done.err, done.err.count("\n")) == (2, "", True, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_pipe_is_acknowledged_while_it_is_open(tmp_path: Path) -> None:
    """A program that waits for a batch to be kept before it sends the next one gets its line."""
    options = [
        "condense",
        "-",
        "--k",
        "3",
        "--batch",
        "2",
        "--acknowledge",
        "--state",
        str(tmp_path / "state"),
        "--json",
    ]
    command = [sys.executable, "-c", "from sfumato.cli import main; main()", *options]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, bufsize=1, **pipes) as process:  # type: ignore[call-overload]
        process.stdin.write("x\n1\n2\n3\n4\n")
        process.stdin.flush()
        assert process.stderr.readline() == "kept 4\n"
        assert (tmp_path / "state" / "groups.state").exists()
        process.stdin.write("5\n6\n7\n")
        process.stdin.flush()
        assert process.stderr.readline() == "kept 6\n"
        out, err = process.communicate()
    assert err == "kept 7\n"
    assert json.loads(out)["rows"] == 7
    assert process.returncode == 0
