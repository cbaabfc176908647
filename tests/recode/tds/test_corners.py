"""What random cases found in corners of the join and of the cuts, by hand."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import sfumato as sf

Columns = Mapping[str, Sequence[str | None]]


def published(
    folder: Path, columns: Columns, previous: Mapping[str, Columns], rule: Mapping[str, Any], **how: Any
) -> Any:
    """A release of columns that are quasi-identifiers unless `how` says what else they are, after earlier releases."""
    said = {name: how.get(name, {"role": "quasi", "hierarchy": "suppress"}) for name in columns}
    suffix = how.get("suffix", "csv")
    for name, cells in previous.items():
        (csv.write_csv if suffix == "csv" else parquet.write_table)(pa.table(dict(cells)), folder / f"{name}.{suffix}")
    document = {"columns": said, "privacy": [dict(rule)], "algorithm": {"name": "tds"}}
    if previous:
        document["previous"] = [{"name": name, "table": str(folder / f"{name}.{suffix}")} for name in previous]
    return sf.anonymize(pa.table(dict(columns)), document)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_earlier_releases_are_read_in_both_formats(tmp_path: Path, suffix: str) -> None:
    """The same earlier release, as CSV or as Parquet, makes the same release."""
    old = {"sex": ["m", "m", "f"], "race": ["r", "r", "r"]}
    rule = {"model": "xy-anonymity", "x": ["sex", "old.sex"], "y": ["old.$row"], "k": 1}
    made = published(tmp_path, {"sex": ["m", "f"]}, {"old": old}, rule, suffix=suffix)
    assert sorted(row["sex"] for row in made.table.to_pylist()) == ["f", "m"]
    assert made.privacy[0]["achieved"] == {"k": 1}


def test_earlier_releases_that_match_in_no_way_link_nothing(tmp_path: Path) -> None:
    """Where two earlier releases rule each other out, the join is empty and the table is published as it is."""
    earlier = {"old": {"race": ["r1"], "test": ["t"]}, "older": {"race": ["r2"], "test": ["t"]}}
    rule = {"model": "xy-anonymity", "x": ["sex", "old.race", "older.race"], "y": ["$row"], "k": 5}
    made = published(tmp_path, {"sex": ["m", "f"]}, earlier, rule)
    assert sorted(row["sex"] for row in made.table.to_pylist()) == ["f", "m"]
    assert made.privacy[0]["achieved"] == {"k": 0}


@pytest.mark.parametrize("y", [["old.test", "older.race"], ["older.race", "old.test"]])
def test_values_on_y_follow_the_order_of_y(tmp_path: Path, y: list[str]) -> None:
    """A protected pair of values of two earlier releases is the same pair in whichever order y names their columns.

    Men are linked to it with a share of one, and so the sexes are not told apart; all together, it is half of them.
    """
    earlier = {
        "old": {"sex": ["m", "f"], "test": ["HIV", "flu"]},
        "older": {"sex": ["m", "f"], "race": ["r1", "r2"]},
    }
    pair = ["HIV", "r1"] if y[0] == "old.test" else ["r1", "HIV"]
    rule = {"model": "xy-linkability", "x": ["job"], "y": y, "values": [pair], "k": 0.5}
    columns = {"job": ["cook", "cook", "nurse", "nurse"], "sex": ["m", "m", "f", "f"]}
    made = published(tmp_path, columns, earlier, rule, sex={"role": "plain"})
    assert {row["job"] for row in made.table.to_pylist()} == {"*"}
    assert made.privacy[0]["achieved"] == {"k": 0.5}


def test_codes_of_different_lengths_are_a_cut(tmp_path: Path) -> None:
    """A short code is not published as ``*`` beside others that are masked less: that would tell that it is short."""
    columns = {"zip": ["4", "5", "512", "513"]}
    rule = {"model": "xy-anonymity", "x": ["zip"], "y": ["$row"], "k": 2}
    made = published(tmp_path, columns, {}, rule, zip={"role": "quasi", "hierarchy": {"mask": "right"}})
    assert {row["zip"] for row in made.table.to_pylist()} == {"*"}
