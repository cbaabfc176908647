"""What a local recoding looks like when it comes out: types, NULL and stars, dictionaries, frames and files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import csv
from pyarrow import parquet as pq

import sfumato as sf
from sfumato.policy.options import LOCAL
from sfumato.publish.manifest import MIXED

Rules = Callable[..., dict[str, Any]]
Saves = Callable[..., Path]

AGE = {"role": "quasi", "hierarchy": {"intervals": [10, 20]}}
ROLES = {"age": AGE, "sex": "quasi", "visits": "plain"}
AGES = [31, 31, 31, 34, 36, 52, 52, 52, 61, 78]


def people(**changes: Any) -> pa.Table:
    """Ten people: six share their age with others, four do not."""
    columns = {"age": AGES, "sex": ["f"] * 5 + ["m"] * 5, "visits": list(range(10))}
    return pa.table(columns | changes)


def policy(rules: Rules, algorithm: str = "top-down", columns: Any = None, **changes: Any) -> dict[str, Any]:
    """A policy for a local algorithm, without the improvement pass, so that it is plain what comes out."""
    return rules(columns or ROLES, algorithm={"name": algorithm, "improve": False}, **changes)


@pytest.mark.parametrize("algorithm", [name for name in LOCAL if name != "microaggregation"])
def test_a_column_with_one_generalized_cell_is_text(rules: Rules, algorithm: str) -> None:
    """Exact values and ranges stand side by side as text; a column that kept all its cells keeps its type."""
    release = sf.anonymize(people(), policy(rules, algorithm))
    assert release.levels is None
    assert release.table.schema.field("age").type == pa.string()
    ages = set(release.table["age"].to_pylist())
    assert "52" in ages
    assert any(not label.isdigit() for label in ages)
    assert release.table.schema.field("visits").type == pa.int64()


@pytest.mark.parametrize("algorithm", LOCAL)
@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 1, 2, 2]),
        pa.array([1.0, 1.0, None, None]),
        pa.array([1, 1, 2, 2], pa.date32()),
        pa.array(["x", "x", None, None]).dictionary_encode(),
        pa.array([True, True, False, False]),
    ],
    ids=lambda column: str(column.type),
)
def test_a_column_that_nothing_happened_to_keeps_its_type(rules: Rules, algorithm: str, column: Any) -> None:
    """Where every class is there already, every cell comes out as it came in, and in its type."""
    table = pa.table({"q": column, "r": ["a", "a", "b", "b"]})
    release = sf.anonymize(table, policy(rules, algorithm, {"q": "quasi", "r": "quasi"}))
    assert release.table.schema.types == table.schema.types
    assert sorted(release.table["q"].to_pylist(), key=str) == sorted(column.to_pylist(), key=str)
    assert release.utility.ncp == 0


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_null_and_star_are_two_labels(rules: Rules, saves: Saves, kind: str) -> None:
    """A class of NULLs is published as NULL, and a NULL that had to join others as a star, in both formats."""
    table = pa.table({"q": [None] * 4 + ["a", "b"], "r": ["x"] * 6})
    folder = saves(table, policy(rules, columns={"q": "quasi", "r": "quasi"}, publish={"format": kind}))
    path = folder / "public" / f"table.{kind}"
    options = csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False)
    found = pq.read_table(path) if kind == "parquet" else csv.read_csv(path, convert_options=options)
    assert sorted(map(str, found["q"].to_pylist())) == ["*", "*", "None", "None", "None", "None"]
    entry = json.loads((folder / "public" / "manifest.json").read_text())["columns"][0]
    assert sorted(map(str, entry["labels"])) == ["*", "None"]
    assert sf.verify(folder).satisfied


def test_frames_of_other_libraries(rules: Rules) -> None:
    """A pandas or polars frame comes out as one: a generalized column as text, an exact one in its own type."""
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns = {"age": AGE, "size": "quasi", "visits": "plain"}
    table = people(size=["S"] * 5 + ["M"] * 5).select(["age", "size", "visits"])
    frame = table.to_pandas()
    frame["size"] = pd.Categorical(frame["size"], categories=["S", "M", "L"], ordered=True)
    found = sf.anonymize(frame, policy(rules, columns=columns)).table
    assert found["size"].dtype == pd.CategoricalDtype(["S", "M"], ordered=True)
    assert {type(label) for label in found["age"]} == {str}
    assert found["visits"].dtype == frame["visits"].dtype
    sizes = pl.Series(["S"] * 5 + ["M"] * 5, dtype=pl.Enum(["S", "M", "L"]))
    given = pl.from_arrow(table).with_columns(size=sizes)
    got = sf.anonymize(given, policy(rules, columns=columns)).table
    assert got.schema == {"age": pl.String, "size": pl.Enum(["S", "M"]), "visits": pl.Int64}


def test_an_ordered_dictionary_that_was_recoded_is_text(rules: Rules) -> None:
    """Labels of several levels have no place in the order of the values."""
    kind = pa.dictionary(pa.int8(), pa.string(), ordered=True)
    cells = pa.array(list("SSSSMMMLLX")).dictionary_encode()
    table = pa.table(
        {"q": pa.DictionaryArray.from_arrays(cells.indices.cast(pa.int8()), cells.dictionary, ordered=True)}
    )
    assert table.schema.field("q").type == kind
    release = sf.anonymize(table, policy(rules, columns={"q": "quasi"}, k=3))
    assert release.table.schema.field("q").type == pa.string()
    assert set(release.table["q"].to_pylist()) == {"S", "M", "*"}


def test_accounts_of_a_local_release(rules: Rules, saves: Saves) -> None:
    """The manifest names the algorithm and the labels and no levels, and says that labels may overlap."""
    folder = saves(people(), policy(rules))
    manifest = json.loads((folder / "public" / "manifest.json").read_text())
    assert manifest["algorithm"] == "top-down"
    assert manifest["protects"].endswith(MIXED)
    assert not [column for column in manifest["columns"] if "level" in column]
    assert "52" in manifest["columns"][0]["labels"]
    assert "chosen_labels" not in manifest
    audit = json.loads((folder / "private" / "audit.json").read_text())
    assert "levels" not in audit
    assert audit["policy"]["algorithm"]["improve"] is False


def test_suppressed_rows_leave_no_label(rules: Rules, saves: Saves) -> None:
    """What only a suppressed row holds stands in no dictionary, and why rows are gone is told in the audit."""
    table = pa.table({"q": ["a", "a", "b", "b", "c"], "s": ["x", "y", "x", "y", "CANARY"]})
    limit = [{"model": "alpha-deassociation", "column": "s", "alpha": 0.1, "values": ["CANARY"]}]
    rule = policy(rules, columns={"q": "quasi", "s": "sensitive"}, privacy=limit)
    rule["algorithm"]["suppression"] = 0.2
    folder = saves(table, rule)
    assert b"CANARY" not in (folder / "public" / "table.csv").read_bytes()
    audit = json.loads((folder / "private" / "audit.json").read_text())
    assert audit["suppressed"] == {
        "rows": 1,
        "reason": "rows that kept the others from a requirement, or cost them more than they tell",
    }
