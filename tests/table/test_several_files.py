"""Several files as one table: patterns and folders, the same columns required."""

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from sfumato.errors import DataError
from sfumato.policy import load
from sfumato.table import read_table
from sfumato.table.files import file_digest

Rules = Callable[..., dict[str, Any]]
Runs = Callable[..., Any]


@pytest.fixture
def policy(rules: Rules) -> Any:
    """A quasi-identifier and a plain column."""
    return load(rules({"age": "quasi", "town": "plain"}))


def _write(folder: Path, **texts: str) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text)


def test_a_pattern_of_csv_files(tmp_path: Path, policy: Any) -> None:
    """Rows come in the order of the files' names; columns may stand in any order in each."""
    _write(tmp_path / "data", b="town,age\nThun,2\n", a="age,town\n1,Bern\n", c="age,town\n3,\n")
    table = read_table(tmp_path / "data/*.csv", policy)
    assert table.arrow.to_pydict() == {"age": ["1", "2", "3"], "town": ["Bern", "Thun", None]}


def test_compressed_parts_and_depths(tmp_path: Path, policy: Any) -> None:
    """A pattern may reach into folders, and parts may be packed."""
    (tmp_path / "2020").mkdir()
    (tmp_path / "2020/x.csv.gz").write_bytes(gzip.compress(b"age,town\n1,Bern\n"))
    (tmp_path / "y.csv.gz").write_bytes(gzip.compress(b"age,town\n2,Thun\n"))
    assert read_table(tmp_path / "**/*.csv.gz", policy).arrow.column("age").to_pylist() == ["1", "2"]


def test_a_folder_of_parquet_files(tmp_path: Path, policy: Any) -> None:
    """A folder of Parquet files is one table, whatever other programs left beside them."""
    for number in range(3):
        part = pa.table({"age": [number, number], "town": ["Bern", None]})
        pq.write_table(part, tmp_path / f"part-{number}.parquet")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".part.crc").touch()
    table = read_table(tmp_path, policy)
    assert table.arrow.to_pydict() == {"age": [0, 0, 1, 1, 2, 2], "town": ["Bern", None] * 3}
    assert table.type_of("age") == pa.int64()


def test_types_that_have_one_in_common(tmp_path: Path, policy: Any) -> None:
    """Whole numbers in one file and others in the next are numbers; numbers beside text are text."""
    pq.write_table(pa.table({"age": [1], "town": pa.nulls(1)}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"age": [2.5], "town": ["Bern"]}), tmp_path / "b.parquet")
    assert read_table(tmp_path, policy).arrow.to_pydict() == {"age": [1.0, 2.5], "town": [None, "Bern"]}


def test_a_name_with_signs_is_itself(tmp_path: Path, policy: Any) -> None:
    """A file that is there is read, though its name looks like a pattern."""
    _write(tmp_path, **{"data[1]": "age,town\n1,Bern\n", "data1": "age,town\n9,Thun\n"})
    assert read_table(tmp_path / "data[1].csv", policy).arrow.column("age").to_pylist() == ["1"]


def test_files_of_other_columns(tmp_path: Path, policy: Any) -> None:
    """A file with other columns is named, with what it lacks and what it has besides."""
    _write(tmp_path, a="age,town\n1,Bern\n", b="age,place\n1,Bern\n")
    with pytest.raises(DataError, match=r"b.csv has not the columns of a.csv: it lacks 'town' and has 'place' besides"):
        read_table(tmp_path / "*.csv", policy)


@pytest.mark.parametrize(
    ("make", "place", "words"),
    [
        (lambda folder: None, "*.csv", "no file matches"),
        (lambda folder: None, ".", "is a folder without Parquet files"),
        (lambda folder: (folder / "public").mkdir(), ".", "is the folder of a release; name the table in it"),
        (lambda folder: _write(folder, a="age,town\n1,2\n", b=""), "*.csv", "b.csv is empty"),
        (lambda folder: _write(folder, a="age,town\n1,2\n", b='age,town\n"1,2\n'), "*.csv", "b.csv: a quote"),
    ],
)
def test_what_is_refused(tmp_path: Path, policy: Any, make: Callable[[Path], Any], place: str, words: str) -> None:
    """What is no table is one sentence, with the name of the part that is wrong."""
    make(tmp_path)
    with pytest.raises(DataError, match=words):
        read_table(tmp_path / place, policy)


def test_folders_beside_files(tmp_path: Path, policy: Any) -> None:
    """Folders within a folder of Parquet files may hold more rows, so nothing is read without a word."""
    pq.write_table(pa.table({"age": [1], "town": ["x"]}), tmp_path / "a.parquet")
    (tmp_path / "older").mkdir()
    with pytest.raises(DataError, match=r"has folders beside its files \('older'\)"):
        read_table(tmp_path, policy)
    (tmp_path / "a.parquet").rename(tmp_path / "older/a.parquet")
    with pytest.raises(DataError, match=r"has folders alone \('older'\); name the files .*/\*\*/\*\.parquet"):
        read_table(tmp_path, policy)
    assert read_table(tmp_path / "**/*.parquet", policy).rows == 1


def test_folders_that_hold_a_column(tmp_path: Path, policy: Any) -> None:
    """A column that stands in the names of folders alone is not lost without a word."""
    (tmp_path / "year=2020").mkdir()
    pq.write_table(pa.table({"age": [1], "town": ["x"]}), tmp_path / "year=2020/a.parquet")
    with pytest.raises(DataError, match=r"names hold a column \('year=2020'\), which its files do not have"):
        read_table(tmp_path, policy)


def test_from_init_to_a_release(tmp_path: Path, runs: Runs) -> None:
    """A pattern goes through init and anonymize; the audit has a hash over all files, which sha256sum can make."""
    _write(
        tmp_path, **{f"part{n}": "age,town\n" + "".join(f"{20 + i % 3},Bern\n" for i in range(20)) for n in range(3)}
    )
    assert runs("init", "part*.csv", "--out", "policies/p.toml").code == 0
    assert 'source = "../part*.csv"' in (tmp_path / "policies/p.toml").read_text()
    made = runs("anonymize", "policies/p.toml", "--json")
    assert json.loads(made.out)["rows"] == 60
    lines = "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(tmp_path.glob("part*.csv"))
    )
    digest = hashlib.sha256(lines.encode()).hexdigest()
    assert json.loads((tmp_path / "release/private/audit.json").read_text())["input"]["sha256"] == digest
    assert file_digest(tmp_path / "part*.csv") == digest


def test_a_folder_by_the_commands(tmp_path: Path, runs: Runs) -> None:
    """A folder of Parquet files is a table to risk and init."""
    (tmp_path / "data").mkdir()
    pq.write_table(pa.table({"age": [1, 1, 2, 2], "town": ["Bern"] * 4}), tmp_path / "data/a.parquet")
    assert runs("risk", "data", "--quasi", "age,town", "--json").code == 0
    assert runs("init", "data").code == 0
