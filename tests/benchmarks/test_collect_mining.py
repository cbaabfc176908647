"""Learning from perturbed rows is measured in small; what comes out is reported and nowhere asserted."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import collect_mining
from benchmarks.collect_mining import WAYS, MiningCase, noise_of_privacy, page, summarize

pytestmark = pytest.mark.slow

ABOUT = {"date": "today", "sfumato": "0", "python": "3", "duckdb": "1", "cpus": 2, "memory": 8, "load": 0.5}


def test_tiny_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run keeps page, figures and plot, and one that goes on measures nothing twice."""
    monkeypatch.setattr(collect_mining, "PRIVACY", (100,))
    monkeypatch.setattr(collect_mining, "ADULT_SHAPE", (500, (2, 2)))
    monkeypatch.setattr(collect_mining, "_TEST_ROWS", 500)
    collect_mining.main(["--rows", "300", "--seeds", "1", "--out", str(tmp_path)])
    kept = json.loads((tmp_path / "results-collect-mining.json").read_text())
    assert (kept["full"], len(kept["cases"]), kept["naive_bayes"]["columns"]) == (False, 14, 4)
    assert all(0 < case[way] <= 100 for case in kept["cases"] for way in WAYS)
    assert (tmp_path / "figures" / "collect-mining.svg").is_file()
    assert "## Targets" in (tmp_path / "RESULTS-collect-mining.md").read_text()
    monkeypatch.setattr(MiningCase, "measure", lambda _: pytest.fail("it is measured already"))
    collect_mining.main(["--rows", "300", "--seeds", "1", "--out", str(tmp_path)])
    assert json.loads((tmp_path / "results-collect-mining.json").read_text())["cases"] == kept["cases"]


def test_verdicts() -> None:
    """What is recovered is the part of what noise cost; a tree that is worse than the reports is a miss."""
    cases = [
        case.key | {"true": 100.0, "perturbed": 60.0, "by-class": 70.0, "fitted": 90.0 if case.function != 3 else 58.0}
        for case in collect_mining.all_cases(100, 2)
    ]
    assert summarize(cases, collect_mining.PAPERS["2000"], "uniform", 25)["fitted recovers"] == pytest.approx(0.75)
    timed = {"rows": 10, "columns": 2, "ours": 0.02, "GaussianNB": 0.01, "CategoricalNB": 0.001}
    written = page(ABOUT | {"cases": cases, "naive_bayes": timed})
    assert "-2.0 (1993/3" in written
    assert "missed" in written
    assert "| 2.0   | ≤ 5" in written


def test_noise_of_a_privacy() -> None:
    """At 100 % the 95 % interval of the noise is as wide as the range, for both kinds."""
    for kind in collect_mining.KINDS:
        age = noise_of_privacy(kind, 1.0)["age"]
        reach = float(age.quantile(np.array([0.975]))[0])
        assert 2 * reach == pytest.approx(60, rel=1e-3)
