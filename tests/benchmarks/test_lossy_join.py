"""The lossy-join experiment runs; what it finds is reported and nowhere asserted."""

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from benchmarks.lossy_join_checks import TRENDS, Trend, orders, trends
from benchmarks.lossy_join_large import Large
from benchmarks.lossy_join_page import page
from benchmarks.lossy_join_points import (
    ALPHA_LOSSY,
    ANATOMIES,
    GENERALIZED,
    IMPROVED,
    METHODS,
    QUASI,
    Method,
    Point,
    points,
    sweeps,
)
from benchmarks.lossy_join_runs import Adult

ABOUT = {"date": "today", "sfumato": "0", "python": "3", "duckdb": "1", "cpus": 2, "memory": 8, "load": 0.5}
ERRORS = {ALPHA_LOSSY: 0.04, ANATOMIES[0]: 0.06, ANATOMIES[1]: 0.07, GENERALIZED: 0.8}


def made_up(method: Method, point: Point, error: float) -> dict[str, Any]:
    """Figures of a method whose expected value is better by ten than the paper's estimate."""
    told = dict.fromkeys(("average", "median", "ninth_decile"), error)
    ten = {key: 10 * value for key, value in told.items()}
    rest = {"method": method.label, "classes": 5, "answered": 100, "zero": 3, "expected": told, "paper": ten}
    return asdict(point) | rest


@pytest.fixture
def run() -> dict[str, Any]:
    """A run in which the methods stand in the order of the text, but for one point, and errors change nowhere."""
    every, default = sweeps(40_000), Point(40_000)
    cases = [made_up(method, point, error) for point in points(every) for method, error in ERRORS.items()]
    cases += [made_up(method, default, 0.03) for method in IMPROVED]
    strange = next(one for one in cases if one["selectivity"] == 0.3 and one["method"] == ALPHA_LOSSY.label)
    strange["expected"] = strange["expected"] | {"average": 0.065}
    values = {name: [getattr(point, name) for point in members] for name, members in every.items()}
    about = {"source": "real", "queries": 100, "default": asdict(default), "sweeps": values, "large": []}
    return {**ABOUT, **about, "cases": cases}


def test_tiny_run_on_made_up_rows(root: Path, tmp_path: Path) -> None:
    """Without the real rows it runs on made-up ones and says so; page, figures and plots are kept where told."""
    few = ("--quick", "--paper", "--queries", "20", "--rows", "600")
    command = [sys.executable, "-m", "benchmarks.lossy_join", *few, "--data", str(tmp_path), "--out", str(tmp_path)]
    environment = os.environ | {"SFUMATO_ADULT": str(tmp_path)}
    subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True)
    kept = json.loads((tmp_path / "results-lossy-join.json").read_text())
    assert (kept["source"], kept["queries"]) == ("synthetic", 20)
    assert {one["method"] for one in kept["cases"]} == {one.label for one in METHODS}
    assert all(one["answered"] <= 20 and one["classes"] > 1 for one in kept["cases"])
    assert len(kept["orders"]) == 2 * 2 * 2
    assert len(kept["trends"]) == 4 * 2 * 4
    assert kept["large"] == []
    written = (tmp_path / "RESULTS-lossy-join.md").read_text()
    assert "600 made-up rows" in written
    for name in ("expected", "paper", "paper-median"):
        assert f"figures/lossy-join-{name}.svg" in written
        assert 1_000 < (tmp_path / "figures" / f"lossy-join-{name}.svg").stat().st_size < 100_000
    assert str(tmp_path) not in written


def test_large_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands are run on a table that is made once, and what they took and found is told."""
    monkeypatch.setenv("SFUMATO_ADULT", str(tmp_path))
    (found,) = Large(800, 20, tmp_path, methods=(ALPHA_LOSSY,)).cases()
    assert (found["form"], found["rows"], found["queries"], found["source"]) == ("lossy-join", 800, 20, "synthetic")
    assert min(found[key] for key in ("anonymize", "plain", "seconds", "copy", "megabytes")) > 0
    assert [path.name for path in tmp_path.iterdir()] == ["synthetic-like-800.csv"]


def test_points() -> None:
    """Each sweep varies one thing and passes through the default point; no point is run twice."""
    every = sweeps(45_222)
    assert {name: len(members) for name, members in every.items()} == {
        "attributes": 5,
        "dimensions": 8,
        "selectivity": 6,
        "rows": 6,
    }
    assert all(Point(45_222) in members for members in every.values())
    assert len(points(every)) == 5 + 8 + 6 + 6 - 3
    assert all(point.dimensions <= point.attributes for point in points(every))


def test_classes_are_the_same() -> None:
    """Alpha and Alpha(Lossy) have the same classes, and attributes beyond the point's number are left out of both."""
    adult, point = Adult.found(500), Point(400, attributes=5)
    lossy, labels = (adult.release(method, point) for method in (ALPHA_LOSSY, GENERALIZED))
    assert lossy.recoding.classes.sizes.tolist() == labels.recoding.classes.sizes.tolist()
    assert {column.name for column in lossy.policy.quasi} == set(QUASI[:5])
    assert (lossy.rows, labels.rows) == (400, 400)
    bucket = adult.release(ANATOMIES[0], point).recoding.classes.sizes
    assert set(bucket.tolist()) <= {3, 4, 5}


def test_orders(run: dict[str, Any]) -> None:
    """An order holds where it is there at every point, and one point is enough to break it."""
    found = {(one["statement"], one["estimate"], one["of"]): one for one in orders(run)}
    broken = found["Alpha(Lossy) < Anatomy, ℓ = 3 < Alpha", "expected value", "average"]
    assert (broken["ours"], broken["verdict"]) == ("20 of 21 points", "does not hold")
    whole = found["Alpha(Lossy) < Anatomy, ℓ = 4 < Alpha", "expected value", "average"]
    assert (whole["ours"], whole["verdict"]) == ("21 of 21 points", "holds")


def test_trends(run: dict[str, Any]) -> None:
    """Errors that change nowhere are unchanged, and do not decrease."""
    found = {(one["statement"], one["of"]): one for one in trends(run) if one["estimate"] == "the paper's"}
    assert len(found) == len(TRENDS) * len(METHODS)
    assert found[TRENDS[0].says, "Alpha"]["verdict"] == "holds"
    assert found[TRENDS[2].says, "Alpha"]["verdict"] == "does not hold"
    assert Trend("rows", "falls").verdict([0.05, 0.02]) == ("0.050 → 0.020", "holds")


def test_page(run: dict[str, Any]) -> None:
    """Every figure of the paper has its table for each estimate; timings are there where a large table was run."""
    written = page(run)
    assert written.count("### Figure ") == 3 * 4
    assert "| 0.05            | 0.040        | 0.060          | 0.070          | 0.800 |" in written
    assert "made-up" not in written
    assert "peak MB" not in written
    timed = {
        "method": "Alpha(Lossy)",
        "form": "lossy-join",
        "rows": 9,
        "classes": 3,
        "queries": 5,
        "source": "enlarged",
    }
    seconds = dict.fromkeys(("anonymize", "plain", "cpu", "copy", "megabytes", "error"), 1.0)
    slow = page(run | {"large": [timed | seconds | {"seconds": 61.0}]})
    assert "61.00" in slow
    assert "| ≤ 60 s | missed  |" in slow
