"""Numbers beside labels: ends and middles in frames and files, worked out from labels and checked by the verifier."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.hierarchy.intervals import write_range
from sfumato.publish.numeric_columns import number_labels
from sfumato.verifier.numeric_bounds import read_ends
from tests.conftest import Runs

pytestmark = pytest.mark.slow

ROWS = pd.DataFrame(
    {
        "age": pd.array([20, 23, 24, 95, 31, 33, None, None] * 2, dtype="Int64"),
        "weight": [50.5, 61.2, 70.0, 71.5, 80.2, 90.1, 55.5, 66.6] * 2,
        "illness": list("abcdefgh") * 2,
    }
)


def _policy(*, age: Any = None, **publish: Any) -> sf.Policy:
    return sf.Policy(
        columns={
            "age": age or sf.quasi(intervals=[5, 10], top=90, least=1),
            "weight": sf.quasi(ranges=True, domain=[0, 200], integers=False),
            "illness": sf.sensitive(),
        },
        privacy=[sf.KAnonymity(4)],
        algorithm="mondrian",
        publish=publish,
    )


@pytest.mark.parametrize("format_", ["csv", "parquet"])
@pytest.mark.parametrize("numeric", ["bounds", "midpoint"])
def test_a_release_with_numbers_verifies_and_is_used_as_any(
    numeric: str, format_: str, tmp_path: Path, runs: Runs
) -> None:
    """Classes, risk, loss, queries and attacks are those of the release without numbers; the folder verifies."""
    release = sf.anonymize(ROWS, _policy(numeric=numeric, format=format_))
    plain = sf.anonymize(ROWS, _policy(format=format_))
    folder = release.save(tmp_path / "release")
    assert sf.verify(folder).satisfied
    assert sf.verify(folder).classes == plain.verdict.classes
    assert sf.risk(folder).as_json() == sf.risk(plain).as_json()
    assert sf.utility(folder, ROWS, queries=20).as_json() == sf.utility(plain, queries=20).as_json()
    text = "select count(*), avg(age) where age >= 30"
    assert sf.query(folder, text).answers == sf.query(plain, text).answers
    assert sf.attack.known(folder, ROWS).series == sf.attack.known(plain).series
    assert sf.attack.link(folder, ROWS, ["age", "weight"]).matched_people == 16
    assert sf.attack.homogeneity(folder).as_json() == sf.attack.homogeneity(plain.save(tmp_path / "plain")).as_json()
    assert sf.attack.minimality(folder, ROWS).as_json() == sf.attack.minimality(plain).as_json()
    assert sf.attack.intersect([folder, plain], ROWS).persons == 16
    outcome = runs("verify", folder)
    assert (outcome.code, outcome.err) == (0, "")


def test_bounds_are_the_ends_of_labels() -> None:
    """Each row has the ends of its own labels as numbers; where a label has none, there is none."""
    table = sf.anonymize(ROWS, _policy(numeric="bounds")).table
    assert list(table.columns) == ["age", "age_low", "age_high", "weight", "weight_low", "weight_high", "illness"]
    for _, row in table.iterrows():
        label = sf.parse_label(row["age"])
        low, high = (None if pd.isna(row[name]) else row[name] for name in ("age_low", "age_high"))
        assert (low, high) == (label.low, label.high)
        weight = sf.parse_label(row["weight"])
        assert (row["weight_low"], row["weight_high"]) == (weight.low, weight.high)
    assert {"20-24", "30-34", "*"} <= set(table["age"].dropna())
    assert table["weight_low"].dtype == "float64"


@pytest.mark.parametrize(
    "frame", [ROWS, pl.from_pandas(ROWS), pl.from_pandas(ROWS).to_arrow()], ids=["pandas", "polars", "arrow"]
)
def test_middles_in_every_frame(frame: Any) -> None:
    """The middle of whole numbers is that of both ends, and a frame of any library has it as a number."""
    table = sf.anonymize(frame, _policy(numeric="midpoint")).table
    rows = (
        table.to_dict("records")
        if isinstance(table, pd.DataFrame)
        else list(table.to_pylist() if hasattr(table, "to_pylist") else table.to_dicts())
    )
    middles = {row["age"]: row["age_mid"] for row in rows if isinstance(row["age"], str)}
    assert middles["20-24"] == 22.0
    assert middles["30-34"] == 32.0
    assert middles["*"] is None or pd.isna(middles["*"])


def test_names_that_are_taken_get_an_underscore() -> None:
    """A table that has an age_low of its own keeps it, and the end has another name."""
    rows = ROWS[["age"]].assign(age_low="x", age_low_="y")
    columns = {"age": sf.quasi(intervals=[5]), "age_low": sf.plain(), "age_low_": sf.identifier()}
    release = sf.anonymize(rows, sf.Policy(columns=columns, privacy=[sf.KAnonymity(2)], publish={"numeric": "bounds"}))
    assert list(release.table.columns) == ["age", "age_low__", "age_high", "age_low"]


def test_the_data_dictionary_says_what_numbers_are(tmp_path: Path) -> None:
    """The entry of each names its column, its end and its type; the summary for readers says it in words."""
    folder = sf.anonymize(ROWS, _policy(numeric="bounds")).save(tmp_path / "release")
    entries = {entry["name"]: entry for entry in json.loads((folder / "public/manifest.json").read_text())["columns"]}
    assert entries["age_low"] == {
        "name": "age_low",
        "role": "bound",
        "type": "int64",
        "of": "age",
        "bound": "low",
        "integers": True,
    }
    assert entries["weight_high"]["type"] == "double"
    assert entries["weight_high"]["integers"] is False
    page = (folder / "public" / "summary.html").read_text()
    assert "highest number of" in page


def test_a_query_about_an_end_says_what_to_ask() -> None:
    """Ends are no values of anybody, and the sentence names the column to ask of."""
    release = sf.anonymize(ROWS, _policy(numeric="bounds"))
    with pytest.raises(
        sf.InputError, match="'age_low' has the ends of the ranges of 'age', not what people have; ask of 'age'"
    ):
        sf.query(release, "select avg(age_low)")


@pytest.mark.parametrize(
    ("columns", "publish", "sentence"),
    [
        (
            {"age": sf.quasi("suppress")},
            {"numeric": "bounds"},
            "publish.numeric: no column is published as ranges of numbers",
        ),
        (
            {"age": sf.quasi(ranges=True)},
            {"numeric": "midpoint", "ranges": "means"},
            "publish.numeric: means are numbers",
        ),
        (
            {"age": sf.quasi(intervals=[5]), "illness": sf.sensitive()},
            {"numeric": "bounds", "form": "lossy-join"},
            "publish.numeric: lossy-join publishes numbers as they are",
        ),
        ({"age": sf.quasi(intervals=[5])}, {"numeric": "both"}, "publish.numeric: must be label, bounds or midpoint"),
    ],
)
def test_numbers_that_would_change_nothing_are_refused(columns: Any, publish: Any, sentence: str) -> None:
    """A key that could not do what it says is an error that names it."""
    with pytest.raises(sf.PolicyError, match=sentence):
        sf.Policy(columns=columns, privacy=[sf.KAnonymity(2)], publish=publish)


def test_means_are_numbers(tmp_path: Path) -> None:
    """Columns published as means come out as floats, in a frame and in Parquet; beside ``*`` they stay text."""
    release = sf.anonymize(ROWS, _policy(ranges="means", format="parquet"))
    assert release.table["weight"].dtype == "float64"
    folder = release.save(tmp_path / "release")
    assert pd.read_parquet(folder / "public" / "table.parquet")["weight"].dtype == "float64"
    assert sf.verify(folder).satisfied
    mixed = pd.DataFrame({"weight": [50.5, None, 60.0, 61.0]})
    columns = {"weight": sf.quasi(ranges=True, domain=[0, 200], integers=False)}
    policy = sf.Policy(columns=columns, privacy=[sf.KAnonymity(2)], algorithm="mondrian", publish={"ranges": "means"})
    labels = sf.anonymize(mixed, policy).table["weight"]
    assert "*" in set(labels)
    assert sf.anonymize(mixed.dropna(), policy).table["weight"].dtype == "float64"


def test_intervals_of_pandas() -> None:
    """`Release.intervals` has an Interval for each row of the table, infinite where it is open."""
    release = sf.anonymize(ROWS, _policy(age=sf.quasi(intervals=[5, 10], top=90, bottom=22, least=1)))
    intervals = release.intervals("age")
    assert len(intervals) == len(release.table)
    for label, interval in zip(release.table["age"], intervals, strict=True):
        read = sf.parse_label(label)
        if read.kind == "missing":
            assert pd.isna(interval)
        else:
            assert interval.left == (read.low if read.low is not None else float("-inf"))
            assert interval.right in {read.high, float("inf"), 21}
    assert {interval.closed for interval in release.intervals("weight")} <= {"left", "both"}
    with pytest.raises(sf.InputError, match="no ranges of numbers of 'illness'; it has them of 'age', 'weight'"):
        release.intervals("illness")


numbers = st.integers(-500, 500)


@settings(max_examples=300)
@given(
    numbers,
    st.integers(1, 300),
    st.sampled_from([1, 10]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["", "low", "high"]),
)
def test_writer_and_verifier_read_labels_alike(
    low: int, width: int, scale: int, whole: bool, closed: bool, opened: str
) -> None:
    """Two readers that share no code find the same ends in every label that can be written."""
    start: float = float("-inf") if opened == "low" else low * (scale if whole else 1)
    end: float = float("inf") if opened == "high" else (low + width) * (scale if whole else 1)
    label = write_range(start, end, scale=scale, whole=whole, closed=closed and not whole and not opened)
    ends = read_ends(label, whole=whole)
    assert ends == (number_labels([label], "low", whole=whole)[0], number_labels([label], "high", whole=whole)[0])
    if whole and not opened:
        assert ends == (Fraction(low), Fraction(low + width - 1))
