"""TRUST.md 17, composition: earlier releases are taken into account, or the report says that they were not."""

from pathlib import Path
from typing import Any

import pytest
from pyarrow import csv

import sfumato as sf
from sfumato.attack.intersect import intersect
from sfumato.datasets import hospital, hospital_policy
from sfumato.errors import Infeasible
from sfumato.ledger import Ledger, make_recorded_release
from sfumato.policy import Policy, load

pytestmark = pytest.mark.slow


def policy(**tables: Any) -> Policy:
    """The hospital's policy with other tables."""
    return Policy.read({**load(hospital_policy()).document, **tables}, folder=hospital_policy().parent)


def diverse(tmp_path: Path, **search: Any) -> Policy:
    """The same with diverse classes, for a file."""
    values = {"model": "distinct-l-diversity", "column": "illness", "l": 2}
    privacy = [{"model": "k-anonymity", "k": 3}, values]
    return policy(algorithm=search, data={"source": str(tmp_path / "visits.csv")}, privacy=privacy)


def test_trust_17_a_report_says_what_was_looked_at(tmp_path: Path) -> None:
    """Without earlier releases the report says that none was taken into account; with one it names it."""
    first = sf.anonymize(hospital(400), hospital_policy()).save(tmp_path / "first")
    assert "releases about the same people were not taken into account" in (first / "private/report.html").read_text()
    quasi = [column.name for column in policy().quasi]
    rule = {"model": "xy-anonymity", "x": [*quasi, *(f"first.{name}" for name in quasi)], "y": ["$row"], "k": 3}
    previous = [{"name": "first", "table": str(first / "public" / "table.csv")}]
    joined = policy(previous=previous, privacy=[rule], algorithm={})
    second = sf.anonymize(hospital(400), joined).save(tmp_path / "second")
    report = (second / "private/report.html").read_text()
    assert "Taken into account, as far as the (X, Y)-requirements go: first." in report


def test_trust_17_a_ledger_keeps_people_from_being_exposed(tmp_path: Path) -> None:
    """Two releases that expose people together are not both published under a ledger, and are without one."""
    rows = hospital(800)
    csv.write_csv(rows, tmp_path / "visits.csv")
    ways = [diverse(tmp_path, name=name, improve=False) for name in ("mondrian", "progressive")]
    folders = [sf.anonymize(rows, way).save(tmp_path / f"free{i}") for i, way in enumerate(ways)]
    assert intersect(folders, rows, column="illness").columns["illness"].added > 0
    ledger = Ledger.create(tmp_path / "ledger")
    make_recorded_release(ledger, ways[0], population=None, name="first").save(tmp_path / "first")
    with pytest.raises(Infeasible, match="joined with release 1, 'first', the release breaks what was promised then"):
        make_recorded_release(ledger, ways[1], population=None, name="second")
    make_recorded_release(ledger, diverse(tmp_path), population=None, name="third").save(tmp_path / "third")
    both = intersect([tmp_path / "first", tmp_path / "third"], rows, column="illness")
    assert both.columns["illness"].exposed == 0
