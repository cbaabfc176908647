"""Cross-tables are timed; what they take is reported and nowhere asserted."""

import json
import signal
from pathlib import Path

import pytest

from benchmarks import cross_tables
from benchmarks.cross_tables import page

ABOUT = {"date": "today", "sfumato": "0", "python": "3", "duckdb": "1", "cpus": 2, "memory": 8, "load": 0.5}


@pytest.mark.slow
def test_tiny_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command is run on made-up firms, and what it took and found is told and kept."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # the process is not its own here
    monkeypatch.setattr(cross_tables.cases, "__defaults__", (cross_tables.CASES[:1],))
    cross_tables.main(["--size", "4", "--out", str(tmp_path)])
    (found,) = json.loads((tmp_path / "results-cross-tables.json").read_text())["cases"]
    assert found["cells"] == 25
    assert found["suppressed"] == found["primary"] + found["secondary"]
    assert "4 × 4 cells" in (tmp_path / "RESULTS-cross-tables.md").read_text()


def test_page() -> None:
    """What takes longer than wanted is missed."""
    case = {"name": "sums", "size": 40, "cells": 9, "primary": 1, "secondary": 3, "suppressed": 4, "optimal": True}
    case |= {"cost": 2.0, "bound": 2.0, "seconds": 11.0, "cpu": 10.5, "copy": 1.0, "megabytes": 200}
    assert "| missed  |" in page(ABOUT | {"cases": [case]})
