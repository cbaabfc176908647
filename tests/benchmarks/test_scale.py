"""Growth with the size of the table is measured; what it is, is reported and nowhere asserted."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.cases import M
from benchmarks.scale import SIZES, cases, page, verdicts

pytestmark = pytest.mark.slow

ABOUT = {
    "date": "today",
    "sfumato": "0",
    "python": "3",
    "duckdb": "1",
    "cpus": 2,
    "memory": 8,
    "load": 0.5,
    "repeat": 1,
}


def figures(name: str, rows: int, seconds: float) -> dict[str, Any]:
    """What a run of this many rows might be."""
    quality = {"megabytes": 300.0, "loss": 0.1, "classes": 7, "phases": {"search": seconds / 2}}
    about = {"case": f"{name}-{rows}", "algorithm": name, "rows": rows, "code": 0, "copy": 0.5}
    return about | quality | {"seconds": seconds}


def test_tiny_run_on_made_up_rows(root: Path, tmp_path: Path) -> None:
    """Two sizes of made-up rows are run, and page, figures and plot are kept where told."""
    sizes = ["--rows", "400", "--rows", "800", "--only", "mondrian"]
    command = [sys.executable, "-m", "benchmarks.scale", "--quick", *sizes, "--data", str(tmp_path)]
    environment = os.environ | {"SFUMATO_ADULT": str(tmp_path)}
    subprocess.run([*command, "--out", str(tmp_path)], cwd=root, env=environment, check=True, capture_output=True)
    kept = json.loads((tmp_path / "results-scale.json").read_text())
    assert [(one["rows"], one["code"], one["source"]) for one in kept["cases"]] == [
        (400, 0, "synthetic"),
        (800, 0, "synthetic"),
    ]
    assert len(kept["verdicts"]) == 2
    written = (tmp_path / "RESULTS-scale.md").read_text()
    assert "made-up rows" in written
    assert "| mondrian  | 800  |" in written
    assert 1_000 < (tmp_path / "figures" / "scale.svg").stat().st_size < 100_000
    assert str(tmp_path) not in written


def test_growth() -> None:
    """Seconds that grow with the rows hold, those that grow with their square do not."""
    grown = [figures("top-down", n, s) for n, s in ((10_000, 1.0), (100_000, 10.0), (M, 1_000.0))]
    chosen = cases(SIZES, ["top-down"])
    words = [one["verdict"] for one in verdicts({"cases": grown}, chosen)]
    assert words == ["missed: 2e+03 > 10 × copy", *["holds", "does not hold"] * 2]
    assert "| top-down  | search  | 100,000 | 1,000,000 | 100.0 ×" in page({**ABOUT, "cases": grown}, chosen)


def test_a_run_that_failed() -> None:
    """A run that was stopped has a line that says so, and no part in the growth."""
    ended = [figures("auto", 10_000, 1.0), {"case": "auto-100000", "algorithm": "auto", "rows": 100_000, "code": None}]
    chosen = cases(SIZES, ["auto"])
    assert "stopped" in page({**ABOUT, "cases": ended}, chosen)
    assert verdicts({"cases": ended}, chosen) == []
