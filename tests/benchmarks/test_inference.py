"""The benchmark of inference runs, and keeps its page."""

import json
from pathlib import Path

import pytest

from benchmarks import inference
from sfumato.datasets.adult import adult_folder

pytestmark = [pytest.mark.slow, pytest.mark.skipif(adult_folder() is None, reason="needs the Adult rows: make adult")]


def test_a_short_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each way of drawing has a risk for each column, strangers' rows and means alone beside it, printed and kept."""
    inference.main(["--rows", "600", "--draws", "1", "--partings", "2", "--out", str(tmp_path)])
    page = (tmp_path / "RESULTS-inference.md").read_text()
    assert page.rstrip() in capsys.readouterr().out
    found = json.loads((tmp_path / "results-inference.json").read_text())
    names = [one["rows"] for one in found["cases"]]
    assert names[:2] == ["rows of strangers", "k = 5, means alone"]
    assert sum("neighbours" in name for name in names) == 2
    assert {len(one["risks"]) for one in found["cases"] + found["parted"]} == {6}
    assert all(risk <= 1 for one in found["cases"] for risk, _ in one["risks"].values())
