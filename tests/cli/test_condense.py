"""``sfumato condense``: what people see, what programs read, and how it refuses."""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from sfumato.cli import main
from sfumato.condense import stream_drawing
from sfumato.publish import drawn_rows_file
from sfumato.verifier import emitted_rows

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
        (["--state", "STATE", "--k", "5"], "--k is about a stream, and there is none"),
        (["--state", "STATE", "--policy", "p.toml", "--emit", "OUT"], "--policy is about a stream"),
        (["--state", "STATE", "--batch", "5"], "--batch is about a stream"),
        (
            ["--state", "STATE", "--multiple", "2"],
            "--multiple is about drawn rows, and none are drawn; say where with --e",
        ),
        (
            ["ROWS", "--k", "5", "--state", "STATE", "--noise", "0"],
            "--noise is about drawn rows, and none are drawn; say",
        ),
        (["ROWS", "--k", "5", "--state", "STATE", "--force"], "say where with --out"),
        (["ROWS", "--k", "5", "--state", "STATE", "--clustering", "mdav"], "--clustering is about a table at rest"),
        (["ROWS", "--k", "5", "--state", "STATE", "--at-rest", "--batch", "9"], "--batch is about rows as they come"),
        (
            ["ROWS", "--k", "5", "--state", "STATE", "--out", "out.csv.gz"],
            "rows are drawn as CSV or Parquet, and not as .gz",
        ),
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


# ---------------------------------------------------------------------------------------------------------------------
# Drawn rows are checked from the file, and it gets its name afterwards


def _files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("target", ["out.csv", "out.parquet", "-"])
def test_what_the_verifier_does_not_pass_is_not_written(
    target: str, rows: Path, tmp_path: Path, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that were drawn wrong: one sentence, exit code 1, nothing on the disk and nothing on standard output."""
    monkeypatch.chdir(tmp_path)
    assert runs("condense", rows, "--k", "10", "--state", "state").code == 0
    draw = stream_drawing._settle
    monkeypatch.setattr(stream_drawing, "_settle", lambda *given, **options: draw(*given, **options) + 2)
    done = runs("condense", "--state", "state", "--emit", target)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert done.err == (
        "error: the verifier does not pass the drawn rows, so nothing was written: column 'age' does not have the mean "
        "that the groups give it; column '=pay' does not have the mean that the groups give it\n"
    )
    assert _files(tmp_path) == {"rows.csv", "state"}
    assert _files(tmp_path / "state") == {"groups.state", "emitted.json"}


def test_a_file_that_fails_replaces_none(
    rows: Path, tmp_path: Path, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --force and --out: the file that was there stays, and so do the rows of the stream in the state."""
    monkeypatch.chdir(tmp_path)
    Path("out.csv").write_text("mine\n")
    with monkeypatch.context() as patched:
        write = drawn_rows_file._csv_lines
        patched.setattr(drawn_rows_file, "_csv_lines", lambda table: write(table.slice(1)))
        done = runs("condense", rows, "--k", "10", "--state", "state", "--out", "out.csv", "--force")
    assert (done.code, "has 299 rows where 300 were to be drawn" in done.err) == (1, True)
    assert Path("out.csv").read_text() == "mine\n"
    assert _files(tmp_path) == {"rows.csv", "state", "out.csv"}
    assert json.loads(runs("condense", "--state", "state", "--json").out)["rows"] == 300


def test_standard_output_gets_rows_that_were_checked(rows: Path, tmp_path: Path, runs: Runs) -> None:
    """They wait in the state, and are gone from there afterwards."""
    state = tmp_path / "state"
    done = runs("condense", rows, "--k", "10", "--state", state, "--out", "-")
    assert (done.code, done.err, done.out.count("\n"), done.out.splitlines()[0]) == (0, "", 301, "age,'=pay")
    assert _files(state) == {"groups.state", "emitted.json"}


class Killed(BaseException):
    """What no cleaning up but that of the operating system follows."""


@pytest.mark.parametrize("target", ["out.csv", "-"])
def test_what_a_killed_process_left_is_cleared_by_the_next(
    target: str, rows: Path, tmp_path: Path, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its hidden file goes; that of a process that lives, one of another name, and what is nobody's stay."""
    monkeypatch.chdir(tmp_path)
    assert runs("condense", rows, "--k", "10", "--state", "state").code == 0
    place, name = (Path("state"), "rows") if target == "-" else (Path(), "out.csv")
    before = _files(place) | {"emitted.json"} if target == "-" else _files(place)

    def die(*_: Any, **__: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(emitted_rows, "verify_emitted_rows", die)
        patched.setattr(Path, "unlink", lambda *_, **__: None)
        with pytest.raises(Killed):
            main(["condense", "--state", "state", "--emit", target])
    (left,) = _files(place) - before
    assert left.startswith(f".{name}.sfumato-")
    assert runs("condense", "--state", "state", "--json").code == 0  # whatever waits there, it is a state
    lives, other = place / f".{name}.sfumato-{'0' * 16}", tmp_path / f".{name}.sfumato-notes"
    lives.write_text("")
    other.write_text("")
    with lives.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert runs("condense", "--state", "state", "--emit", target).code == 0
        assert not (place / left).exists()
        assert lives.exists()
    assert runs("condense", "--state", "state", "--emit", target, "--force").code == 0
    assert not lives.exists()
    assert other.exists()


def test_force_replaces_plain_files_alone(rows: Path, tmp_path: Path, runs: Runs) -> None:
    """A pipe, as a device would be, and a link stay what they are."""
    assert runs("condense", rows, "--k", "10", "--state", tmp_path / "state").code == 0
    pipe, link, dangling = tmp_path / "pipe.csv", tmp_path / "link.csv", tmp_path / "dangling.csv"
    os.mkfifo(pipe)
    link.symlink_to(rows)
    dangling.symlink_to(tmp_path / "nowhere")
    for target in (pipe, link, dangling):
        done = runs("condense", "--state", tmp_path / "state", "--emit", target, "--force")
        assert (done.code, "is no plain file" in done.err) == (2, True)
    assert pipe.is_fifo()
    assert (link.is_symlink(), rows.read_text()[:3], dangling.is_symlink()) == (True, "age", True)


def test_no_rows_are_drawn_into_the_state(rows: Path, tmp_path: Path, runs: Runs) -> None:
    """It holds nothing but itself: with rows in it, it would be refused ever after."""
    state = tmp_path / "state"
    assert runs("condense", rows, "--k", "10", "--state", state).code == 0
    done = runs("condense", "--state", state, "--emit", state / "out.csv")
    assert (done.code, done.err.startswith("error: a state holds nothing but itself")) == (2, True)
    assert runs("condense", "--state", state).code == 0


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
