"""The (α, k) experiment runs; what it finds is reported and nowhere asserted."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.alpha_k_page import claims, figures, page
from benchmarks.alpha_k_runs import IMPROVED, INCOGNITO, PAPER, Adult, Point, measured, points
from sfumato.datasets import synthetic_adult, synthetic_adult_policy

ABOUT = {"date": "today", "sfumato": "0", "python": "3", "duckdb": "1", "cpus": 2, "memory": 8, "load": 0.5}


def made_up(label: str, *, seconds: float, distortion: float) -> list[dict[str, Any]]:
    """Figures of an algorithm that takes and loses the same at every point."""
    rest = {"algorithm": label, "rows": 10, "seconds": seconds, "distortion": distortion}
    return [vars(point) | rest for point in points()]


@pytest.fixture
def run() -> dict[str, Any]:
    """A run in which local recoding loses three tenths of extended Incognito, in as much of its time."""
    cases = made_up(INCOGNITO.label, seconds=1.0, distortion=0.8)
    for one in PAPER:
        cases += made_up(one.label, seconds=0.3, distortion=0.24)
    return {**ABOUT, "cases": cases, "source": "real", "repeat": 5}


def test_tiny_run_on_made_up_rows(root: Path, tmp_path: Path) -> None:
    """Without the real rows it runs on made-up ones and says so; page, figures and plots are kept where told."""
    options = ("--quick", "--paper", "--rows", "300", "--out", str(tmp_path))
    command = [sys.executable, "-m", "benchmarks.alpha_k", *options]
    environment = os.environ | {"SFUMATO_ADULT": str(tmp_path)}
    subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True)
    kept = json.loads((tmp_path / "results-alpha-k.json").read_text())
    assert kept["source"] == "synthetic"
    assert {one["algorithm"] for one in kept["cases"]} == {INCOGNITO.label, *(one.label for one in PAPER)}
    assert len(kept["cases"]) == 2 * 5 * 3
    assert all(0 < one["distortion"] <= 1 and one["seconds"] > 0 and one["rows"] == 300 for one in kept["cases"])
    assert [one["claim"][:5] for one in kept["claims"]] == ["loses"] * 3 + ["takes"] * 3
    written = (tmp_path / "RESULTS-alpha-k.md").read_text()
    assert "300 made-up rows" in written
    for name in ("alpha-k-2.svg", "alpha-k-10.svg"):
        assert f"figures/{name}" in written
        assert 1_000 < (tmp_path / "figures" / name).stat().st_size < 100_000
    assert str(tmp_path) not in written


def test_improvement_never_loses_more() -> None:
    """With the improvement pass after it, an algorithm loses no more than by itself."""
    adult = Adult(synthetic_adult_policy(sensitive="salary-class"), synthetic_adult(120))
    point = Point(2, 0.5, 3)
    alone, better = (measured(adult, point, one, repeat=1) for one in (PAPER[1], IMPROVED[1]))
    assert better["distortion"] <= alone["distortion"]
    assert (better["algorithm"], better["size"], better["rows"]) == ("Top-Down, improved", 3, 120)


def test_points() -> None:
    """Each k has seven values of α at eight attributes and six smaller sizes at the middle α, none twice."""
    found = list(points())
    assert len(set(found)) == len(found) == 2 * 13
    assert sum(point.size == 8 for point in found) == 2 * 7


def test_policy_of_a_run() -> None:
    """The first attributes of the paper's table are quasi-identifiers, the others are left out."""
    adult = Adult(synthetic_adult_policy(sensitive="salary-class"), frame="rows")
    document = adult.document(Point(2, 0.5, 3), PAPER[0])
    roles = {name: column["role"] for name, column in document["columns"].items()}
    assert {name for name, role in roles.items() if role == "quasi"} == {"age", "workclass", "education"}
    assert (roles["salary-class"], roles["race"]) == ("sensitive", "identifier")
    assert document["algorithm"]["improve"] is False
    assert (adult.source, Adult({}).source) == ("synthetic", "real")


def test_claims(run: dict[str, Any]) -> None:
    """A claim holds or does not, by the averages: three tenths are less than a third and more than a quarter."""
    found = {(one["claim"][:5], one["of"]): one for one in claims(run)}
    assert len(found) == 2 * 3
    assert found["loses", "Top-Down"]["figure"] == pytest.approx(0.3)
    assert found["loses", "Progressive and Top-Down"]["holds"]
    assert not found["takes", "Progressive and Top-Down"]["holds"]


def test_page(run: dict[str, Any]) -> None:
    """Every figure of the paper has its table, with a line per value and a column per algorithm."""
    written = page(run)
    titles = [one.title for k in (2, 10) for one in figures(k)]
    assert all(f"### {title}\n" in written for title in titles)
    assert "| 0.3 | 1.000              | 0.300       | 0.300    |" in written
    assert "does not hold" in written
    assert "made-up" not in written
