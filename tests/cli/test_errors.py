"""Every way a command says no: one sentence, the right exit code, and nothing left on disk."""

import errno
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from sfumato.verifier.duckdb_tables import TableView

Runs = Callable[..., Any]
Job = Callable[..., Path]

COLUMNS = {
    "ssn": '{ role = "identifier" }',
    "age": '{ role = "quasi", hierarchy = { intervals = [5, 10] } }',
    "job": '{ role = "quasi", hierarchy = "job.csv" }',
    "illness": '{ role = "sensitive" }',
}
TABLE = "ssn,age,job,illness\n" + "".join(
    f"CANARY{i},{30 + i % 4},{('nurse', 'driver')[i % 2]},{('flu', 'HIV', 'cold')[i % 3]}\n" for i in range(12)
)
K = '[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Writes a policy, its table and its hierarchy, with one thing changed, and gives the policy's path."""

    def write(*, privacy: str = K, table: str | bytes = TABLE, tree: str = "nurse,*\ndriver,*\n", **parts: str) -> Path:
        columns = COLUMNS | {name: text for name, text in parts.items() if name not in {"top", "end"}}
        lines = "\n".join(f"{name} = {text}" for name, text in columns.items() if text)
        (tmp_path / "job.csv").write_text(tree)
        (tmp_path / "table.csv").write_bytes(table if isinstance(table, bytes) else table.encode())
        policy = tmp_path / "policy.toml"
        source = f'[data]\nsource = "table.csv"\n{parts.get("top", "")}\n'
        policy.write_text(f"{source}[columns]\n{lines}\n{privacy}{parts.get('end', '')}")
        return policy

    return write


def _model(text: str) -> dict[str, Any]:
    return {"privacy": f"[[privacy]]\n{text}\n"}


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "unknown key": ({"top": 'sourc = "x"'}, "did you mean"),
    "unknown table": ({"end": "[algoritm]\nseed = 1\n"}, "algoritm"),
    "unknown model": (_model('model = "k-anonymty"\nk = 2'), "k-anonymity"),
    "unknown role": ({"ssn": '{ role = "identifer" }'}, "identifier"),
    "unknown algorithm": ({"end": '[algorithm]\nname = "simulated-annealing"\n'}, "algorithm.name"),
    "k of 0": (_model('model = "k-anonymity"\nk = 0'), "k: must be a whole number of at least 1"),
    "k not whole": (_model('model = "k-anonymity"\nk = 2.5'), "k: must be a whole number"),
    "k as text": (_model('model = "k-anonymity"\nk = "2"'), "k: must be a whole number"),
    "alpha of 0": (_model('model = "alpha-deassociation"\ncolumn = "illness"\nalpha = 0'), "alpha"),
    "alpha above 1": (_model('model = "alpha-deassociation"\ncolumn = "illness"\nalpha = 1.1'), "alpha"),
    "model on a missing column": (_model('model = "distinct-l-diversity"\ncolumn = "ilness"\nl = 2'), "ilness"),
    "missing column": ({"ages": '{ role = "plain" }'}, "not in the table: 'ages'; did you mean age?"),
    "unlisted column": ({"illness": ""}, "columns without a role: 'illness'"),
    "duplicate names": ({"table": TABLE.replace("job", "age", 1), "job": ""}, "stand twice in the table: 'age'"),
    "value missing in a hierarchy": ({"tree": "nurse,*\n"}, "driver"),
    "leaf with two parents": ({"tree": "nurse,a,*\nnurse,b,*\ndriver,a,*\n"}, "nurse"),
    "missing hierarchy": ({"job": '{ role = "quasi", hierarchy = "jobs.csv" }'}, "jobs.csv"),
    "empty table": ({"table": TABLE.splitlines()[0] + "\n"}, "the table has no rows"),
    "empty file": ({"table": ""}, "table.csv is empty"),
    "binary file": ({"table": bytes(range(256)) * 9}, "binary file"),
    "not UTF-8": ({"table": TABLE.replace("flu", "grippé").encode("latin-1")}, "byte 0xe9 at offset"),
    "ragged": ({"table": TABLE + "CANARY,1\n"}, "record 13 has 2 cells where the header has 4"),
    "unclosed quote": ({"table": TABLE + '"CANARY,31,nurse,flu\n'}, "line 14 is not closed"),
    "no quasi-identifier": (
        {"age": '{ role = "plain" }', "job": '{ role = "plain" }'},
        "no quasi-identifier",
    ),
    "text among numbers": ({"table": TABLE + "CANARY,old,nurse,flu\n"}, "age"),
    "broken TOML": ({"end": "[[privacy\n"}, "is not valid TOML"),
    "no policy in it": ({"privacy": ""}, "privacy"),
}
IMPOSSIBLE = {
    "k above the table": (_model('model = "k-anonymity"\nk = 13'), ["k-anonymity (k = 13)", "12"]),
    "alpha below the share": (
        _model('model = "alpha-deassociation"\ncolumn = "illness"\nalpha = 0.2\nvalues = ["HIV"]'),
        ["alpha-deassociation", "alpha = 0.2", "0.33"],
    ),
    "l above the values": (
        _model('model = "distinct-l-diversity"\ncolumn = "illness"\nl = 4'),
        ["distinct-l-diversity", "l = 4", "3"],
    ),
}


def _files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("case", BAD)
def test_bad_input(runs: Runs, job: Job, tmp_path: Path, case: str) -> None:
    """What is wrong with the policy, the table or a hierarchy: exit 2, and the sentence names it."""
    changes, words = BAD[case]
    outcome = runs("anonymize", job(**changes), "--json")
    assert outcome.code == 2
    assert words in outcome.sentence
    assert "CANARY" not in outcome.sentence
    assert _files(tmp_path) == ["job.csv", "policy.toml", "table.csv"]


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_requirements_that_cannot_be_met(runs: Runs, job: Job, tmp_path: Path, case: str) -> None:
    """A requirement that no release can meet: exit 1, naming the requirement and the nearest value that can be."""
    changes, words = IMPOSSIBLE[case]
    outcome = runs("anonymize", job(**changes))
    assert outcome.code == 1
    assert [word for word in words if word not in outcome.sentence] == []
    assert _files(tmp_path) == ["job.csv", "policy.toml", "table.csv"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--data", "nothing.csv"], "nothing.csv does not exist"),
        (["--data", "."], "is a folder"),
        (["--data", "policy.toml"], "'.toml' files are not read"),
        (["--engine", "duckdb"], "there is no engine 'duckdb'; it is one of auto, memory, stream, spark"),
        (["--memory", "much"], "--memory is 'much'"),
        (["--master", "local[2]"], "--master is for --engine spark"),
        (["--algorithm", "magic"], "algorithm.name"),
        (["--seed", "x"], "--seed"),
        (["--seed", "-1"], "seed"),
        (["--out", "policy.toml"], "policy.toml exists already"),
        (["--out", "policy.toml", "--force"], "policy.toml is not a release"),
        (["--out", "policy.toml/release"], "a part of its path is a file"),
        (["--out", "x" * 300], "its name is too long"),
        (["--nonsense"], "No such option"),
        (["more"], "unexpected extra argument"),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, list) else "",
)
def test_bad_arguments(runs: Runs, job: Job, tmp_path: Path, arguments: list[str], words: str) -> None:
    """Arguments that make no sense: exit 2, one sentence, nothing written."""
    outcome = runs("anonymize", job(), *arguments)
    assert outcome.code == 2
    assert words in outcome.sentence
    assert _files(tmp_path) == ["job.csv", "policy.toml", "table.csv"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["anonymize"], 2, "Missing argument"),
        (["anonymise"], 2, "No such command"),
        (["--nonsense"], 2, "No such option"),
        (["anonymize", "nothing.toml"], 2, "there is no policy file nothing.toml"),
        (["anonymize", "."], 2, "is a folder"),
        (["verify", "nothing"], 2, "nothing is not a release folder"),
        (["verify", "."], 1, "manifest.json is missing"),
        (["risk", "nothing.csv"], 2, "give either --policy or --quasi"),
        (["risk", "nothing.csv", "--quasi", "a"], 2, "nothing.csv does not exist"),
        (["demo", "--out"], 2, "requires an argument"),
        (["schema", "x"], 2, "unexpected extra argument"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_commands_that_cannot_start(runs: Runs, tmp_path: Path, arguments: list[str], code: int, words: str) -> None:
    """Every command says no in the same way."""
    outcome = runs(*arguments)
    assert outcome.code == code
    assert words in outcome.sentence
    assert _files(tmp_path) == []


REFUSED = {errno.ENOSPC: "no space left on its disk", errno.EACCES: "you have no permission there"}


@pytest.mark.parametrize("code", REFUSED)
def test_disks_that_refuse(runs: Runs, job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """No space left and no permission: exit 2, one sentence, nothing left."""
    original = Path.open

    def refuse(self: Path, *arguments: Any, **options: Any) -> Any:
        if self.name == "table.csv" and "sfumato-" in str(self):
            raise OSError(code, os.strerror(code))
        return original(self, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse)
    outcome = runs("anonymize", job(), "--out", "a/release")
    assert outcome.code == 2
    assert REFUSED[code] in outcome.sentence
    assert _files(tmp_path) == ["job.csv", "policy.toml", "table.csv"]


def test_an_output_folder_that_exists(runs: Runs, job: Job) -> None:
    """A release is kept unless --force says otherwise."""
    assert runs("anonymize", job()).code == 0
    outcome = runs("anonymize", job())
    assert outcome.code == 2
    assert "release exists already; choose another --out, or replace it with --force" in outcome.sentence
    assert runs("anonymize", job(), "--force").code == 0


def test_a_bug_shows_its_place_and_no_data(runs: Runs, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that is ours is one sentence too, without the text of the exception, which may quote a cell."""

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("CANARY")

    monkeypatch.setattr("sfumato.release.prepare", fail)
    outcome = runs("anonymize", job())
    assert outcome.code == 2
    assert outcome.err.startswith("error: this is a bug of sfumato (ZeroDivisionError at test_errors.py:")
    assert outcome.err.count("\n") == 1
    assert "CANARY" not in outcome.err


NO_MEMORY = ("the table does not fit into memory; ", "table.csv takes more memory than there is: it is too large")


def _fill_memory() -> None:
    np.empty(1 << 60, dtype=np.int8)


LACKING: dict[str, Callable[[], object]] = {
    "Python": lambda: bytearray(1 << 62),
    "numpy": _fill_memory,
    "Arrow": lambda: pa.allocate_buffer(1 << 60),
    "DuckDB": lambda: duckdb.connect(config={"memory_limit": "1MB", "temp_directory": ""}).execute(
        "CREATE TABLE t AS SELECT repeat('x', 100) || i AS s FROM range(1000000) r(i)"
    ),
}
"""Ways to run out of memory for real."""
SAID = [
    duckdb.Error("INTERNAL Error: std::bad_alloc"),
    RuntimeError("can't start new thread"),
    RuntimeError("Thread constructor failed: Resource temporarily unavailable"),
    OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)),
    pa.ArrowException("malloc of size 64 failed"),
]
"""Errors of libraries that mean the same."""


def _raise_for_real(library: str) -> Exception:
    try:
        LACKING[library]()
    except Exception as error:  # noqa: BLE001 - whatever it is
        return error
    pytest.fail("there was memory enough")


@pytest.mark.slow
@pytest.mark.parametrize("place", ["sfumato.release.prepare", "sfumato.table.files.cast_text_views", "verifier"])
@pytest.mark.parametrize("library", [*LACKING, *range(len(SAID))])
def test_memory_that_does_not_suffice(
    runs: Runs, job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str | int, place: str
) -> None:
    """Whichever library runs out of memory, and where, the sentence is about memory, and calls no file just damaged."""
    error = _raise_for_real(library) if isinstance(library, str) else SAID[library]

    def fail(*_: object, **__: object) -> None:
        raise error

    if place == "verifier":

        class Full:
            execute = fail

        verifying = sys.modules["sfumato.verifier.verify"]
        monkeypatch.setattr(verifying, "count_release", lambda *_: TableView(Full(), (), {}).read(""))
    else:
        monkeypatch.setattr(place, fail)
    outcome = runs("anonymize", job())
    assert outcome.code == 2
    assert outcome.sentence.startswith(NO_MEMORY)
    assert _files(tmp_path) == ["job.csv", "policy.toml", "table.csv"]


@pytest.mark.slow
@pytest.mark.parametrize("megabytes", [300, 500, 700, 900, 1100, 1400])
def test_little_memory_for_real(job: Job, tmp_path: Path, command_folder: Path, megabytes: int) -> None:
    """Under any limit a command ends well or in one sentence; what a crash leaves, the next run clears."""
    rows = "".join(f"CANARY{i},{i * 7 % 90},{('nurse', 'driver')[i % 2]},ill{i * i % 31}\n" for i in range(60_000))
    policy = job(table=f"ssn,age,job,illness\n{rows}")
    command = [sys.executable, "-c", "from sfumato.cli import main; main()", "anonymize", str(policy), "--json"]
    limit = f"ulimit -v {megabytes << 10}; exec {shlex.join(command)}"
    done = subprocess.run(["bash", "-c", limit], capture_output=True, text=True, check=False, cwd=tmp_path)
    last_words = ("OpenBLAS error", "cannot allocate memory for thread-local data")  # of libraries that end the process
    ended_by_library = done.returncode in {-signal.SIGSEGV, -signal.SIGABRT} or any(
        words in done.stderr for words in last_words
    )
    assert done.returncode in {0, 2} or ended_by_library
    assert "Traceback" not in done.stderr
    assert "CANARY" not in done.stderr
    if done.returncode == 2:
        *noise, sentence = done.stderr.splitlines()  # C libraries may say something of their own before
        assert sentence.removeprefix("error: ").startswith(NO_MEMORY)
        assert not any(line.startswith("error") for line in noise)
        assert _files(tmp_path) == ["job.csv", "policy.toml", "table.csv"]
    again = [str(command_folder / "sfumato"), "anonymize", str(policy), "--json", "--force"]
    subprocess.run(again, capture_output=True, check=True, cwd=tmp_path)
    assert _files(tmp_path) == ["job.csv", "policy.toml", "release", "table.csv"]


@pytest.mark.slow
@pytest.mark.parametrize("case", ["unknown key", "binary file", "k above the table"])
def test_the_real_command(job: Job, tmp_path: Path, case: str) -> None:
    """In a process of its own the command says the same, without a traceback."""
    changes, _ = (BAD | IMPOSSIBLE)[case]
    command = [sys.executable, "-c", "from sfumato.cli import main; main()", "anonymize", str(job(**changes))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == (1 if case in IMPOSSIBLE else 2)
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert _files(tmp_path) == ["job.csv", "policy.toml", "table.csv"]
