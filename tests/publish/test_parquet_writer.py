"""Written Parquet: types as they came in, NULL apart from text, and no trace of rows that are gone."""

import hashlib
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

Rules = Callable[..., dict[str, Any]]
Saves = Callable[..., Path]

PARQUET = {"publish": {"format": "parquet"}}
TYPED = {
    "int": pa.array([1, 1, 2, 2]),
    "byte": pa.array([1, 1, None, None], pa.uint8()),
    "float": pa.array([1.0, 1.0, 2.5, 2.5]),
    "date": pa.array([1, 1, 2, 2], pa.date32()),
    "time": pa.array([1, 1, 2, 2], pa.time64("us")),
    "stamp": pa.array([1, 1, 2, 2], pa.timestamp("us")),
    "zoned": pa.array([1, 1, 2, 2], pa.timestamp("us", "Europe/Zurich")),
    "span": pa.array([1, 1, 2, 2], pa.duration("us")),
    "bool": pa.array([True, True, None, None]),
    "text": pa.array(["x", "x", None, None]),
    "large": pa.array(["x", "x", None, None], pa.large_string()),
    "category": pa.array(["x", "x", None, None]).dictionary_encode(),
    "decimal": pa.array([Decimal("-1.10")] * 4),
    "nothing": pa.nulls(4),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize("role", ["quasi", "sensitive", "plain"])
@pytest.mark.parametrize("way", ["table", "file"])
def test_types_and_values_survive(rules: Rules, saves: Saves, tmp_path: Path, name: str, role: str, way: str) -> None:
    """A column that is not generalized is read back by Arrow with its type and its values."""
    table = pa.table({"q": ["a"] * 4, "x": TYPED[name]})
    pq.write_table(table, tmp_path / "t.parquet")
    given = table if way == "table" else tmp_path / "t.parquet"
    found = pq.read_table(saves(given, rules({"q": "quasi", "x": role}, **PARQUET)) / "public" / "table.parquet")
    assert found.column("x").type == TYPED[name].type
    assert found.column_names == ["q", "x"]
    assert sorted(found.column("x").to_pylist(), key=str) == sorted(TYPED[name].to_pylist(), key=str)


def test_generalized_columns_are_text(rules: Rules, saves: Saves) -> None:
    """Numbers that became intervals are text, in their place."""
    ages = {"role": "quasi", "hierarchy": {"intervals": [10]}}
    folder = saves(pa.table({"age": [31, 32, 33], "p": [1, 2, 3]}), rules({"age": ages, "p": "plain"}, **PARQUET))
    found = pq.read_table(folder / "public" / "table.parquet")
    assert found.schema.types == [pa.string(), pa.int64()]
    assert set(found["age"].to_pylist()) == {"30-39"}


def test_text_of_a_csv_is_text(rules: Rules, saves: Saves, tmp_path: Path) -> None:
    """What came as CSV leaves as columns of text, not of categories."""
    (tmp_path / "t.csv").write_text("q,s\n007,\n007,NaN\n")
    folder = saves(tmp_path / "t.csv", rules({"q": "quasi", "s": "sensitive"}, **PARQUET))
    found = pq.read_table(folder / "public" / "table.parquet")
    assert found.schema.types == [pa.string(), pa.string()]
    assert sorted(found["s"].to_pylist(), key=str) == ["NaN", None]


def test_null_empty_and_suppressed_are_three_things(rules: Rules, saves: Saves) -> None:
    """NULL, the empty text and a star survive, beside a column that is all stars."""
    values = [None, "", "*"] * 2
    table = pa.table({"q": values, "r": ["1", "2", "3", "4", "5", "6"], "s": values, "p": values})
    folder = saves(table, rules({"q": "quasi", "r": "quasi", "s": "sensitive", "p": "plain"}, **PARQUET))
    found = pq.read_table(folder / "public" / "table.parquet").to_pydict()
    assert set(found["r"]) == {"*"}
    assert found["q"] == found["s"] == found["p"]
    assert sorted(found["q"], key=str) == sorted(values, key=str)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("way", ["arrow", "pandas", "polars"])
def test_values_of_suppressed_rows_are_in_no_byte(rules: Rules, saves: Saves, kind: str, way: str) -> None:
    """A value that only a suppressed row held, or a pandas index, is nowhere in what is published."""
    held = pa.array(["x"] * 9 + ["CANARY"]).dictionary_encode()
    table = pa.table({"q": ["a"] * 9 + ["CANARY2"], "s": held, "p": held})
    given = {
        "arrow": lambda: table,
        "pandas": lambda: table.to_pandas().set_axis([f"CANARY{i}" for i in range(10)]),
        "polars": lambda: pytest.importorskip("polars").from_arrow(table),
    }[way]()
    search = {"name": "optimal", "suppression": 0.2}
    roles = {"q": "quasi", "s": "sensitive", "p": "plain"}
    folder = saves(given, rules(roles, algorithm=search, publish={"format": kind}))
    published = [path for path in (folder / "public").rglob("*") if path.is_file()]
    assert len(published) == 3
    assert not [path.name for path in published if b"CANARY" in path.read_bytes()]
    assert not [path.name for path in published if b"pandas" in path.read_bytes()]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_manifest_knows_the_file(rules: Rules, saves: Saves, people: Any, roles: dict[str, Any], kind: str) -> None:
    """Hash and size of the published file are those of the file, and its columns those of the table, no index."""
    public = saves(people, rules(roles, publish={"format": kind})) / "public"
    manifest = json.loads((public / "manifest.json").read_text())
    content = (public / f"table.{kind}").read_bytes()
    assert manifest["files"] == {
        f"table.{kind}": {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    }
    assert [column["name"] for column in manifest["columns"]] == people.column_names[1:]
