"""Queries on a large release are timed; what they take is reported and nowhere asserted."""

import json
import signal
from functools import partial
from pathlib import Path

import pytest

from benchmarks import queries
from benchmarks.queries import Large, page
from sfumato.papers.lossy_join_paper import ALPHA_LOSSY

pytestmark = pytest.mark.slow

ABOUT = {"date": "today", "sfumato": "0", "python": "3", "duckdb": "1", "cpus": 2, "memory": 8, "load": 0.5}


def test_tiny_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands are run on a table that is made once, and what they took and found is told and kept."""
    monkeypatch.setenv("SFUMATO_ADULT", str(tmp_path))
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # the process is not its own here
    monkeypatch.setattr(queries, "Large", partial(Large, methods=(ALPHA_LOSSY,)))
    queries.main(["--rows", "800", "--queries", "20", "--data", str(tmp_path / "data"), "--out", str(tmp_path)])
    kept = json.loads((tmp_path / "results-queries.json").read_text())
    (found,) = kept["cases"]
    assert (found["form"], found["rows"], found["queries"], found["source"]) == ("lossy-join", 800, 20, "synthetic")
    assert min(found[key] for key in ("anonymize", "plain", "seconds", "copy", "megabytes")) > 0
    assert not kept["full"]
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["synthetic-like-800.csv"]
    assert "# 20 queries, 800 rows (made up)" in (tmp_path / "RESULTS-queries.md").read_text()


def test_page() -> None:
    """What takes longer than wanted is missed."""
    case = {"method": "Alpha(Lossy)", "rows": 9, "classes": 3, "queries": 5, "source": "enlarged"}
    seconds = dict.fromkeys(("anonymize", "plain", "cpu", "copy", "megabytes", "error"), 1.0)
    slow = page(ABOUT | {"cases": [case | seconds | {"seconds": 61.0}]})
    assert "61.00" in slow
    assert "| ≤ 60 s | missed  |" in slow
