"""Identifiers that repeat: counted without entering the table, and passed over where they cannot be."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from sfumato.policy import Policy, load
from sfumato.table import find_repeated_identifiers, from_frame, read_table

Rules = Callable[..., dict[str, Any]]

SSN = ["1", "1", "2", "3", None, None]
SEX = ["f", "f", "m", "m", "f", "m"]
VISITS = pa.table({"ssn": SSN, "sex": SEX})
HEAD = {"ssn": "ssn", "sex": "sex"}
FRAMES = ("arrow", "pandas", "polars", "duckdb")
FILES = ("csv", "parquet", "feather", "jsonl")


@pytest.fixture
def policy(rules: Rules) -> Policy:
    """One identifier and one quasi-identifier."""
    return load(rules({"ssn": "identifier", "sex": "quasi"}))


def frame(kind: str, table: Any) -> Any:
    """The table as a frame of a library."""
    if kind == "arrow":
        return table
    library = pytest.importorskip(kind)
    return table.to_pandas() if kind == "pandas" else library.from_arrow(table)


def file(path: Path, table: Any) -> Path:
    """The table in a file, in the format that its name says."""
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path)
    elif path.suffix == ".feather":
        pyarrow.feather.write_feather(table, path)
    elif path.suffix == ".csv":
        path.write_text("".join(f"{row['ssn'] or ''},{row['sex']}\n" for row in [HEAD, *table.to_pylist()]))
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    return path


@pytest.mark.parametrize("kind", FRAMES)
def test_frames(policy: Policy, kind: str) -> None:
    """Four rows of three persons; a missing value names nobody."""
    assert find_repeated_identifiers(from_frame(frame(kind, VISITS), policy), policy) == {"ssn": pytest.approx(4 / 3)}


@pytest.mark.parametrize("kind", FILES)
def test_files(policy: Policy, tmp_path: Path, kind: str) -> None:
    """Files of every format are read a second time for it, and the table has no identifier."""
    found = read_table(file(tmp_path / f"t.{kind}", VISITS), policy)
    assert found.arrow.column_names == ["sex"]
    assert find_repeated_identifiers(found, policy) == {"ssn": pytest.approx(4 / 3)}


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes three rows for many."""
    monkeypatch.setattr("sfumato.table.files.FIRST_ROWS", 3)
    monkeypatch.setattr("sfumato.table.files._FIRST_PARQUET_ROWS", 3)
    monkeypatch.setattr("sfumato.table.csv_reader._BEGINNING", len("ssn,sex\n1,f\n1,f\n2,m\n3"))
    monkeypatch.setattr("sfumato.table.json_lines._BEGINNING", len('{"ssn": "1", "sex": "f"}\n' * 3) + 1)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("kind", [*FRAMES, *FILES])
def test_first_rows_give_cause(policy: Policy, tmp_path: Path, kind: str) -> None:
    """Of a larger table all rows are counted where the first ones repeat somebody, and none where they do not."""

    def counted(table: Any) -> dict[str, float]:
        read_in = read_table(file(tmp_path / f"t.{kind}", table), policy) if kind in FILES else None
        return find_repeated_identifiers(read_in or from_frame(frame(kind, table), policy), policy)

    assert counted(VISITS) == {"ssn": pytest.approx(4 / 3)}
    assert counted(VISITS.take([1, 2, 3, 0, 4, 5])) == {}


def test_only_what_may_name_persons(rules: Rules) -> None:
    """A key of its own for every row repeats nothing, and a few values for many rows name nobody."""
    policy = load(rules({"key": "identifier", "land": "identifier", "person": "identifier", "sex": "quasi"}))
    rows = range(100)
    table = pa.table(
        {
            "key": [f"k{row}" for row in rows],
            "land": ["CH" if row % 3 else "AT" for row in rows],
            "person": [f"p{row % 50}" for row in rows],
            "sex": ["f"] * 100,
        }
    )
    assert find_repeated_identifiers(from_frame(table, policy), policy) == {"person": 2.0}


def test_not_where_persons_are_named(rules: Rules) -> None:
    """With an individual column the policy says who is who: other identifiers are not looked at."""
    policy = load(rules({"ssn": "identifier", "person": "individual", "sex": "quasi"}))
    table = pa.table({"ssn": SSN, "person": SSN, "sex": SEX})
    assert find_repeated_identifiers(from_frame(table, policy), policy) == {}


def test_what_cannot_be_counted_is_passed_over(rules: Rules) -> None:
    """Lists and objects are no reason to fail, and other identifiers are still counted."""
    pandas = pytest.importorskip("pandas")
    policy = load(rules({"odd": "identifier", "ssn": "identifier", "sex": "quasi"}))
    for odd in ([[1]] * 6, [1, "a", object(), None, 2, 3]):
        frame = pandas.DataFrame({"odd": odd, "ssn": SSN, "sex": SEX})
        assert find_repeated_identifiers(from_frame(frame, policy), policy) == {"ssn": pytest.approx(4 / 3)}


def test_too_many_cells_are_not_read(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond a number of cells nothing is counted: a warning is not worth the memory."""
    monkeypatch.setattr("sfumato.table.files.MOST_CELLS", 5)
    assert find_repeated_identifiers(from_frame(VISITS, policy), policy) == {}
