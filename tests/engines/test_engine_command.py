"""The command with rows on disk: what it writes, what it says, and that nothing is left behind."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.engines import choice, row_spool
from sfumato.errors import InputError
from sfumato.policy import load

Runs = Callable[..., Any]

POLICY = """
[data]
source = "{source}"
[columns]
name = {{ role = "identifier" }}
age = {{ role = "quasi", hierarchy = {{ intervals = [5, 10, 20], domain = [0, 99] }} }}
zip = {{ role = "quasi", hierarchy = {{ mask = "right" }} }}
illness = {{ role = "sensitive" }}
note = {{ role = "plain" }}
[[privacy]]
model = "k-anonymity"
k = 5
{more}
"""


def _people(rows: int = 3000) -> Any:
    return pa.table(
        {
            "name": [f"CANARY {row}" for row in range(rows)],
            "age": [f"{20 + row * 7 % 60}" for row in range(rows)],
            "zip": [f"{4000 + row * 13 % 300}" for row in range(rows)],
            "illness": [f"ill{row * row % 11}" for row in range(rows)],
            "note": [f"note {row}" for row in range(rows)],
        }
    )


@pytest.fixture
def job(tmp_path: Path) -> Callable[..., Path]:
    """Writes the table in a format, and a policy for it."""

    def write(kind: str = "csv", more: str = "", source: str | None = None) -> Path:
        people = _people()
        if kind == "parquet":
            pq.write_table(people, tmp_path / "table.parquet")
        elif kind == "folder":
            (tmp_path / "parts").mkdir()
            for number in range(3):
                pq.write_table(people.slice(number * 1000, 1000), tmp_path / "parts" / f"{number}.parquet")
        else:
            arrow_csv.write_csv(people, tmp_path / "table.csv")
        path = tmp_path / "policy.toml"
        names = {"folder": "parts"}
        path.write_text(POLICY.format(source=source or names.get(kind, f"table.{kind}"), more=more))
        return path

    return write


def _left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


@pytest.mark.parametrize("kind", ["csv", "parquet", "folder"])
def test_streams_what_does_not_fit(runs: Runs, job: Any, tmp_path: Path, kind: str) -> None:
    """With little memory allowed, `auto` has the rows on disk; the release verifies, and nothing else is left."""
    outcome = runs("anonymize", job(kind), "--memory", "100KB", "--json")
    assert outcome.code == 0, outcome.err
    summary = json.loads(outcome.out)
    assert summary["rows"] == 3000 - summary["suppressed"]
    assert runs("verify", "release").code == 0
    assert _left(tmp_path) == []
    written = b"".join(path.read_bytes() for path in (tmp_path / "release").rglob("*") if path.is_file())
    assert b"CANARY" not in written


def test_auto_chooses_by_size(job: Any, tmp_path: Path) -> None:
    """A small table is held in memory, and a large one is where the file says so."""
    policy = load(job())
    small, none = choice.EngineOptions(memory=10**9), choice.EngineOptions(memory=1000)
    assert choice.choose_engine(small, tmp_path / "table.csv", policy) == "memory"
    assert choice.choose_engine(none, tmp_path / "table.csv", policy) == "stream"
    assert choice.choose_engine(none, None, policy) == "memory"
    assert choice.choose_engine(none, tmp_path / "nothing.csv", policy) == "memory"  # reading says that it is not there


def test_reckoning_is_near(job: Any, tmp_path: Path) -> None:
    """CSV and Parquet of the same rows are reckoned alike, within a factor of two."""
    sizes = [choice.reckon_memory(tmp_path / f"table.{kind}", load(job(kind))) for kind in ("csv", "parquet")]
    assert max(sizes) < 2 * min(sizes)
    assert 3000 * 100 < min(sizes) < 3000 * 400


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('[algorithm]\nname = "condensation"\n[publish]\nform = "synthetic"', "synthetic"),
        ('[publish]\nto = { url = "sqlite:///out.db", table = "t" }', "database"),
    ],
)
def test_what_needs_rows_is_refused_by_name(runs: Runs, job: Any, tmp_path: Path, more: str, words: str) -> None:
    """A form that is made of rows says so where streaming is asked for; nothing is left."""
    outcome = runs("anonymize", job(more=more), "--engine", "stream")
    assert outcome.code == 2
    assert "--engine stream cannot serve this policy" in outcome.sentence
    assert words in outcome.sentence
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ("name,age,zip,illness,note\na,b,c\n", "record 1 has 3 cells where the header has 5"),
        ("name,age,zip,illness,note\nx,200,4000,ill,n\n", "column 'age'"),
        ("name,age,zip,illness\n", "columns of the policy are not in the table"),
        ("name,age,zip,illness,note\n", "no rows"),
    ],
)
def test_bad_input_is_one_sentence(runs: Runs, job: Any, tmp_path: Path, cells: str, words: str) -> None:
    """What is wrong with a table is said as for rows in memory, and nothing is left."""
    policy = job()
    (tmp_path / "table.csv").write_text(cells)
    outcome = runs("anonymize", policy, "--engine", "stream", "--out", "made/release")
    assert outcome.code == 2
    assert words in outcome.sentence
    assert _left(tmp_path) == []
    assert not (tmp_path / "made").exists()


def test_infeasible_leaves_nothing(runs: Runs, job: Any, tmp_path: Path) -> None:
    """A requirement that cannot be met: exit 1 and a sentence."""
    outcome = runs("anonymize", job(more='[[privacy]]\nmodel = "k-anonymity"\nk = 5000'), "--engine", "stream")
    assert outcome.code == 1
    assert "5000" in outcome.sentence
    assert _left(tmp_path) == []


def test_full_disk_is_one_sentence(runs: Runs, job: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where rows do not fit onto the disk, the sentence says so and the disk is as it was."""

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, os.strerror(28))

    policy = job()
    monkeypatch.setattr(row_spool, "_write_segment", full)
    outcome = runs("anonymize", policy, "--engine", "stream")
    assert outcome.code == 2
    assert "no space left" in outcome.sentence
    assert _left(tmp_path) == []


def test_several_files_and_two_tables(runs: Runs, job: Any, tmp_path: Path) -> None:
    """Files of so many rows, and the forms of two tables, are written from disk as well."""
    assert runs("anonymize", job(more="[publish]\nrows_per_file = 1000"), "--engine", "stream").code == 0
    assert len(list((tmp_path / "release" / "public" / "table").iterdir())) == 3
    assert runs("verify", "release").code == 0
    for form in ("anatomy", "lossy-join"):
        asked = f'[[privacy]]\nmodel = "distinct-l-diversity"\ncolumn = "illness"\nl = 3\n[publish]\nform = "{form}"'
        policy = job(more=asked)
        assert runs("anonymize", policy, "--engine", "stream", "--out", form).code == 0
        assert runs("verify", form).code == 0


def test_python(job: Any, tmp_path: Path) -> None:
    """In Python the rows are in no frame; saved, the release is verified."""
    release = sf.anonymize(None, job("parquet"), engine="stream", memory="1GB")
    with pytest.raises(InputError, match="save it"):
        _ = release.table
    release.save(tmp_path / "release")
    assert release.verdict.satisfied
    assert sf.verify(tmp_path / "release").satisfied
    with pytest.raises(InputError, match="there is no engine 'disk'"):
        sf.anonymize(None, job("parquet"), engine="disk")
