"""Names, cells, types and places that a database would trip over."""

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato import anonymize
from sfumato.errors import NotVerified
from sfumato.verifier import InputDistribution, Promise, RequestedPromise, verify, verify_table
from sfumato.verifier.checks import reach_verdict
from sfumato.verifier.counts import OneTableCounts
from sfumato.verifier.duckdb_tables import open_file

KINDS = pytest.mark.parametrize("kind", ["csv", "parquet"])
NAMES = ["age", "Age", "id", "n", "v", "r", "persons", "c0", "c1", "select", 'a"b', "it's", "a\nb", "=cmd", "'=x", " "]


CELLS = ["=1+1", "'=1", "-5", "-5 degrees", "+", "@x", "\tx", "\rx", "\0x", "'", "''", "", "*", "a\nb"]


def roles(names: list[str], sensitive: str) -> dict[str, Any]:
    """All columns quasi-identifiers but one."""
    quasi = {"role": "quasi", "hierarchy": "suppress"}
    return {name: {"role": "sensitive"} if name == sensitive else quasi for name in names}


def rules(columns: dict[str, Any], kind: str, *privacy: dict[str, Any]) -> dict[str, Any]:
    """A policy that takes the table as it is, if it may."""
    return {"columns": columns, "privacy": list(privacy), "publish": {"format": kind}, "algorithm": {"name": "optimal"}}


@KINDS
def test_names_that_differ_in_case_or_look_like_sql(kind: str, tmp_path: Path) -> None:
    """Columns are known by their place, so no name can be mistaken for another or for a piece of SQL."""
    names = [*NAMES, "value"]
    table = pa.table({name: [f"{i % 2}"] * 4 + [f"{(i + 1) % 2}"] * 4 for i, name in enumerate(names)})
    table = table.set_column(len(NAMES), "value", [["x", "y", "=z", None] * 2])
    diverse = {"model": "distinct-l-diversity", "column": "value", "l": 4}
    policy = rules(roles(names, "value"), kind, {"model": "k-anonymity", "k": 4}, diverse)
    folder = anonymize(table, policy).save(tmp_path / "release")
    verdict = verify(folder)
    assert verdict.complaints == ()
    assert (verdict.rows, verdict.classes) == (8, 2)
    assert not verify(folder, asked=RequestedPromise([{"model": "k-anonymity", "k": 5}])).satisfied


@pytest.mark.slow
@KINDS
@pytest.mark.parametrize(
    "cell", ["=1+1", "'=1", "-5", "-5 degrees", "+", "@x", "\tx", "\rx", "\0x", "'", "''", "", "*"]
)
def test_guarded_cells_are_compared_as_they_were(kind: str, cell: str, tmp_path: Path) -> None:
    """The apostrophe of the formula rule is taken away before a value is looked up or protected."""
    table = pa.table({"sex": ["f"] * 4, "illness": [cell, cell, "NULL", None]})
    alpha = {"model": "alpha-deassociation", "column": "illness", "alpha": 0.5}
    close = {"model": "t-closeness", "column": "illness", "t": 0, "distance": "kl"}
    folder = anonymize(table, rules(roles(["sex", "illness"], "illness"), kind, alpha, close)).save(tmp_path / "r")
    assert verify(folder).complaints == ()
    [finding] = verify(folder, asked=RequestedPromise([{**alpha, "alpha": 0.4, "values": [cell]}])).privacy
    assert (finding.satisfied, finding.achieved) == (False, {"alpha": 0.5})


@pytest.mark.slow
@KINDS
@pytest.mark.parametrize("null", ["", "?"])
def test_null_is_a_label_and_a_value_of_its_own(made: Any, kind: str, null: str) -> None:
    """NULL, empty text, the word NULL and an asterisk are four labels, and the class of one row is found."""
    labels = [None, "NULL", "*", "-"] if null == "" else [None, "NULL", "*", ""]
    table = pa.table({"sex": labels * 3 + [None], "illness": ["flu", "cold", None] * 4 + [None]})
    columns = roles(["sex", "illness"], "illness")
    release = made(table, kind=kind, columns=columns, privacy=[{"model": "k-anonymity", "k": 3}], data={"null": [null]})
    verdict = verify(release.folder)
    assert (verdict.complaints, verdict.classes) == ((), 4)
    failing = verify(release.folder, asked=RequestedPromise([{"model": "k-anonymity", "k": 4}])).complaints
    assert len(failing) == 3
    assert verify(
        release.folder, asked=RequestedPromise([{"model": "distinct-l-diversity", "column": "illness", "l": 3}])
    ).satisfied


@KINDS
def test_a_single_column_with_null_loses_no_row(made: Any, kind: str) -> None:
    """A NULL alone on its line of a CSV is an empty line, and a row."""
    table = pa.table({"sex": ["f", None, "f", None, None]})
    release = made(table, kind=kind, columns=roles(["sex"], ""), privacy=[{"model": "k-anonymity", "k": 2}])
    verdict = verify(release.folder)
    assert (verdict.complaints, verdict.rows, verdict.classes) == ((), 5, 2)


@pytest.mark.slow
@KINDS
@pytest.mark.parametrize(
    "values",
    [
        pa.array([1.0, -0.0, 0.0, 1e20, 0.1, None]),
        pa.array([0.1, 2.0, 3.0, 4.5, 5.0, None], pa.float32()),
        pa.array([1, 2, 3, 4, -5, None], pa.int8()),
        pa.array([True, False, True, False, None, None]),
        pa.array([dt.date(2020, 1, day) for day in range(1, 7)]),
        pa.array([dt.datetime(2020, 1, day) for day in range(1, 7)], pa.timestamp("s")),  # noqa: DTZ001 - naive
        pa.array([dt.datetime(2020, 1, day) for day in range(1, 7)], pa.timestamp("ns")),  # noqa: DTZ001 - naive
        pa.array([0, 1, 2, 3, 4, None], pa.timestamp("ms", "Europe/Zurich")),
        pa.array([dt.time(1, minute) for minute in range(6)]),
        pa.array([1, 2, 3, 4, 5, None], pa.time32("s")),
        pa.array([Decimal("1.10"), Decimal("2.00"), None, None, None, None]),
        pa.array(["a", "b", None, None, "c", "d"]).dictionary_encode(),
        pa.array(["a", "b", None, None, "c", "d"], pa.large_string()),
    ],
    ids=lambda values: str(values.type),
)
def test_typed_columns_are_compared_as_the_library_prints_them(values: Any, kind: str, made: Any) -> None:
    """A value of the audit is found again in the file, whatever its type, as label and as sensitive value."""
    table = pa.table({"q": pa.concat_arrays([values] * 2), "s": pa.concat_arrays([values] * 2)})
    privacy = [
        {"model": "k-anonymity", "k": 2},
        {"model": "t-closeness", "column": "s", "t": 9, "distance": "kl"},
    ]
    release = made(table, kind=kind, columns=roles(["q", "s"], "s"), privacy=privacy)
    verdict = verify(release.folder)
    assert verdict.complaints == ()
    assert verdict.classes == len(values.unique())


@pytest.mark.slow
@KINDS
@pytest.mark.parametrize("folder", ["k=5/release", "[1]*/re?ease", "a'b/it's"])
def test_folders_whose_names_mean_something_to_the_database(made: Any, kind: str, folder: str, tmp_path: Path) -> None:
    """A path is a path: no pattern that matches another file, no column from the name of a folder."""
    (tmp_path / "1zz" / "rexease" / "public").mkdir(parents=True)
    release = made(kind=kind, folder=folder)
    (tmp_path / "1zz" / "rexease" / "public" / release.table.name).write_bytes(b"not a table")
    assert verify(release.folder).complaints == ()


@pytest.mark.slow
def test_ten_thousand_columns(tmp_path: Path) -> None:
    """A wide table is read by the columns that matter."""
    names = [f"column {i}" for i in range(10_000)]
    quasi, sensitive = names[5000], names[-1]
    for kind in ("csv", "parquet"):
        path = tmp_path / f"table.{kind}"
        table = pa.table({name: ["x", "y", "x", "y"] for name in names})
        if kind == "parquet":
            pq.write_table(table, path)
        else:
            lines = [",".join(names), *(",".join([cell] * 10_000) for cell in ("x", "y", "x", "y"))]
            path.write_text("\n".join(lines) + "\n")
        rule = {"model": "alpha-k-anonymity", "k": 2, "alpha": 1.0, "column": sensitive}
        verdict = reach_verdict(OneTableCounts(open_file(path), Promise((quasi,), (sensitive,), None, (rule,))))
        assert (verdict.rows, verdict.classes, verdict.satisfied) == (4, 2, True)


def test_five_hundred_quasi_identifiers() -> None:
    """The labels of a class are shortened in a sentence."""
    names = [f"q{i}" for i in range(500)]
    table = pa.table({**{name: ["x", "x", "y"] for name in names}, "s": ["1", "2", "3"]})
    rule = {"model": "alpha-k-anonymity", "k": 2, "alpha": 0.5, "column": "s"}
    verdict = verify_table(table, Promise(tuple(names), ("s",), None, (rule,)))
    assert verdict.classes == 2
    assert "488 more labels has 1 rows" in verdict.complaints[-1]


def test_a_very_long_cell_is_read(tmp_path: Path) -> None:
    """A line beyond the reader's usual room gets more room."""
    path = tmp_path / "table.csv"
    path.write_text(f"q,plain\nx,{'y' * 5_000_000}\n")
    verdict = reach_verdict(
        OneTableCounts(open_file(path), Promise(("q",), (), None, ({"model": "k-anonymity", "k": 1},)))
    )
    assert verdict.satisfied


def test_line_breaks_within_cells_are_not_rows(tmp_path: Path) -> None:
    """Many quoted line breaks, read by several threads at once."""
    path = tmp_path / "table.csv"
    path.write_text('"q\nr",s\n' + '"x\n\ny","a,""b""\n"\n' * 300_000)
    verdict = reach_verdict(
        OneTableCounts(open_file(path), Promise(("q\nr",), (), None, ({"model": "k-anonymity", "k": 300_000},)))
    )
    assert (verdict.complaints, verdict.rows) == ((), 300_000)


def test_persons_are_counted_and_a_missing_name_is_one() -> None:
    """Rows of one pseudonym are one person, NULL among them."""
    table = pa.table({"q": ["x"] * 5, "s": ["1", "2", "3", "4", "5"], "who": ["a", "a", "a", None, None]})
    privacy = ({"model": "k-anonymity", "k": 2}, {"model": "distinct-l-diversity", "column": "s", "l": 3})
    verdict = verify_table(table, Promise(("q",), ("s",), "who", privacy))
    assert [finding.achieved for finding in verdict.privacy] == [{"k": 2}, {"l": 2}]
    assert verdict.complaints == (
        "distinct-l-diversity: the class q = x has 2 different sensitive values, fewer than 3",
    )


def test_only_the_published_file_can_be_read(tmp_path: Path) -> None:
    """The database touches no other file and nothing can make it."""
    import duckdb

    (tmp_path / "table.csv").write_text("q\nx\n")
    (tmp_path / "other.csv").write_text("q\nx\n")
    published = open_file(tmp_path / "table.csv")
    for statement in (
        f"SELECT * FROM read_csv('{tmp_path}/other.csv')",
        f"COPY published TO '{tmp_path}/out.csv'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        f"ATTACH '{tmp_path}/base.db'",
    ):
        with pytest.raises(duckdb.Error):
            published.connection.execute(statement)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.csv", "table.csv"]


def test_a_value_the_input_did_not_have_fails_its_class_alone() -> None:
    """The other classes keep their distances, and the figure of the table is left out."""
    table = pa.table({"q": ["x", "x", "y", "y"], "s": ["a", "b", "a", "plague"]})
    rule = {"model": "t-closeness", "column": "s", "t": 0.1, "distance": "emd-ordered"}
    needs = {"s": InputDistribution(("a", "b"), (2, 2), (0, 1), 2)}
    verdict = verify_table(table, Promise(("q",), ("s",), None, (rule,), needs))
    assert verdict.complaints == ("t-closeness: the class q = y holds a sensitive value that the input did not have",)
    assert verdict.privacy[0].achieved == {}


def test_a_file_of_another_kind_is_refused(made: Any) -> None:
    """Only the formats that are written are read."""
    release = made()
    release.table.rename(release.public / "table.xlsx")
    release.rewrite(table="table.xlsx", files={"table.xlsx": {"sha256": ""}})
    with pytest.raises(NotVerified, match="it reads CSV, packed or not, and Parquet"):
        verify(release.folder)
