"""Rows in, perturbed rows out: frames, files and pipes of any length, with every refusal."""

import csv
import io
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.cli import main
from sfumato.collect import Noise, perturb
from sfumato.errors import DataError
from sfumato.papers.process_measurement import SFUMATO, measure_process

COLUMNS: dict[str, Any] = {
    "age": {"kind": "gaussian", "sigma": 20.0, "domain": [0, 100]},
    "vote": {"kind": "response", "values": ["a", "b"], "keep": 0.6},
    "basket": {"kind": "flip", "items": ["bread", "milk"], "keep": 0.9},
    "town": {"kind": "unary", "values": ["Bern", "Thun"], "keep": 0.5, "add": 0.2},
    "arm": {"kind": "plain"},
}
NOISE = Noise.read({"format": "sfumato-noise/1", "columns": COLUMNS})
ROWS = "age,vote,basket,town,arm\n30,a,bread|milk,Bern,x\n,b,,,y\n40,,milk,Thun,=1+1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a noise and a table."""
    (tmp_path / "noise.json").write_text(json.dumps(NOISE.as_json()), encoding="utf-8")
    (tmp_path / "raw.csv").write_text(ROWS, encoding="utf-8")
    return tmp_path


def run(*words: object) -> int:
    """Run a command in this process; its exit code."""
    with pytest.raises(SystemExit) as ended:
        main(["collect", *map(str, words)])
    return int(str(ended.value.code))


def test_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every cell is of its kind, what was left out stays so, and a formula is guarded."""
    out = folder / "out.csv"
    assert run("perturb", folder / "raw.csv", "--noise", folder / "noise.json", "--out", out, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"rows": 3, "out": str(out)}
    rows = list(csv.DictReader(out.open(encoding="utf-8")))
    assert [row["arm"] for row in rows] == ["x", "y", "'=1+1"]
    assert rows[1]["age"] == ""
    assert rows[1]["town"] == ""
    assert rows[2]["vote"] == ""
    assert {row["vote"] for row in rows} <= {"a", "b", ""}
    assert all(set(row["basket"].split("|")) <= {"bread", "milk", ""} for row in rows)
    assert rows[0]["town"] != ""  # an empty set is written as |
    assert float(rows[0]["age"]) != 30


@pytest.mark.slow
def test_a_pipe(folder: Path) -> None:
    """Standard input and output: a row that was typed comes out before the next is typed."""
    command = [*SFUMATO, "collect", "perturb", "-", "--noise", folder / "noise.json", "--out", "-"]
    with subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        lines = ROWS.encode().splitlines(keepends=True)
        for line in lines:
            process.stdin.write(line)
            process.stdin.flush()
            came = process.stdout.readline()  # waits for this row, though the input is still open
            assert came.count(b",") == 4
        process.stdin.close()
        assert process.stdout.read() == b""
    assert process.returncode == 0


@pytest.mark.slow
def test_a_million_rows_take_little_memory(tmp_path: Path) -> None:
    """A filter of any length: the peak stays below 200 MB."""
    noise = {"format": "sfumato-noise/1", "columns": {"age": COLUMNS["age"], "vote": COLUMNS["vote"]}}
    (tmp_path / "noise.json").write_text(json.dumps(noise), encoding="utf-8")
    with (tmp_path / "raw.csv").open("w", encoding="utf-8") as file:
        file.write("age,vote\n")
        for block in range(100):
            file.write(f"{block},a\n" * 10_000)
    out = tmp_path / "out.csv"
    command: list[str | Path] = [
        *SFUMATO,
        "collect",
        "perturb",
        tmp_path / "raw.csv",
        "--noise",
        tmp_path / "noise.json",
        "--out",
        out,
    ]
    assert measure_process(command).megabytes < 200
    with out.open(encoding="utf-8") as file:
        assert sum(1 for _ in file) == 1_000_001


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("age,vote,basket,town,arm\n130,a,,Bern,x\n", "row 1 is not a number from 0 to 100"),
        ("age,vote,basket,town,arm\nold,a,,Bern,x\n", "row 1 is not a number"),
        ("age,vote,basket,town,arm\n1,z,,Bern,x\n", "row 1 is none of the values"),
        ("age,vote,basket,town,arm\n1,a,beer,Bern,x\n", "row 1 has something that is not among"),
        ("age,vote,basket,town,arm\n1,a,,Bern\n", "record 2 has 4 cells where the header has 5"),
        ("age,vote,basket,town,arm,name\n1,a,,Bern,x,Ann\n", "does not know the column 'name'"),
        ("age,vote,basket,town\n1,a,,Bern\n", "has no column 'arm'"),
        ("age,age,vote,basket,town,arm\n", "'age' twice"),
        ('age,vote,basket,town,arm\n1,"a,,Bern,x\n', "line 2 cannot be read as CSV"),
        ("age,vote,basket,town,arm\n", "no rows"),
        ("", "is empty"),
    ],
)
def test_bad_input(folder: Path, capsys: pytest.CaptureFixture[str], text: str, words: str) -> None:
    """One sentence, exit 2, nothing written; no cell is repeated."""
    (folder / "raw.csv").write_text(text, encoding="utf-8")
    before = sorted(folder.iterdir())
    assert run("perturb", folder / "raw.csv", "--noise", folder / "noise.json", "--out", folder / "out.csv") == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert words in said
    assert "beer" not in said
    assert "Ann" not in said
    assert sorted(folder.iterdir()) == before


def test_a_row_is_counted_from_the_beginning(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also where it is far down, in a later batch."""
    good = "30,a,,Bern,x\n"
    (folder / "raw.csv").write_text("age,vote,basket,town,arm\n" + good * 20_000 + "300,a,,Bern,x\n", encoding="utf-8")
    assert run("perturb", folder / "raw.csv", "--noise", folder / "noise.json", "--out", folder / "out.csv") == 2
    assert "row 20,001" in capsys.readouterr().err


def test_a_file_that_is_there_stays(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Unless --force replaces it."""
    out = folder / "out.csv"
    out.write_text("mine", encoding="utf-8")
    words = ("perturb", folder / "raw.csv", "--noise", folder / "noise.json", "--out", out)
    assert run(*words) == 2
    assert "exists already" in capsys.readouterr().err
    assert out.read_text(encoding="utf-8") == "mine"
    assert run(*words, "--force") == 0
    assert out.read_text(encoding="utf-8").startswith("age,")


def test_other_files(folder: Path) -> None:
    """Parquet goes the same way."""
    pq.write_table(
        pa.table({"age": [30.0], "vote": ["a"], "basket": ["milk"], "town": ["Bern"], "arm": ["x"]}),
        folder / "raw.parquet",
    )
    assert run("perturb", folder / "raw.parquet", "--noise", folder / "noise.json", "--out", folder / "out.csv") == 0
    assert len((folder / "out.csv").read_text(encoding="utf-8").splitlines()) == 2


@pytest.mark.parametrize("kind", [pa.table, pd.DataFrame, pl.DataFrame])
def test_frames_come_out_as_they_came_in(kind: Any) -> None:
    """A frame of the same kind, with fresh noise each time."""
    columns = {
        "age": [30.0] * 50,
        "vote": ["a"] * 50,
        "basket": ["milk"] * 50,
        "town": ["Bern"] * 50,
        "arm": ["x"] * 50,
    }
    frame = kind(columns)
    first, second = perturb(frame, NOISE), NOISE.perturb(frame)
    assert type(first) is type(frame)
    assert list(np.asarray(first["age"])) != list(np.asarray(second["age"]))


def test_a_line_end_in_a_cell(tmp_path: Path) -> None:
    """A quoted cell may hold one, and a byte order mark and CRLF are no part of any cell."""
    noise = Noise.read({"format": "sfumato-noise/1", "columns": {"note": {"kind": "plain"}, "age": COLUMNS["age"]}})
    file = tmp_path / "raw.csv"
    file.write_bytes('\ufeffnote;age\r\n"two\nlines";30\r\n'.encode())
    from sfumato.collect.perturbation import perturb_stream

    assert perturb_stream(file, noise, tmp_path / "out.csv") == 1
    rows = list(csv.reader(io.StringIO((tmp_path / "out.csv").read_text(encoding="utf-8"), newline="")))
    assert rows[0] == ["note", "age"]
    assert rows[1][0] == "two\nlines"


def test_wrong_encoding(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are refused."""
    file = tmp_path / "raw.csv"
    file.write_bytes(b"age\n\xff\xfe\n")
    from sfumato.collect.perturbation import perturb_stream

    with pytest.raises(DataError, match="is not UTF-8"):
        perturb_stream(
            file, Noise.read({"format": "sfumato-noise/1", "columns": {"age": COLUMNS["age"]}}), tmp_path / "o"
        )
    assert list(tmp_path.iterdir()) == [file]
