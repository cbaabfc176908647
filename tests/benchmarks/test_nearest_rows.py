"""The benchmark of attacks by nearest rows runs, and keeps its page."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import nearest_rows
from sfumato.datasets.adult import adult_folder

pytestmark = [pytest.mark.slow, pytest.mark.skipif(adult_folder() is None, reason="needs the Adult rows: make adult")]


def test_a_short_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each way of drawing has a risk of being linked and one for each column, printed and kept."""
    nearest_rows.main(["--rows", "600", "--partings", "2", "--out", str(tmp_path)])
    page = (tmp_path / "RESULTS-nearest-rows.md").read_text()
    assert page.rstrip() in capsys.readouterr().out
    found = json.loads((tmp_path / "results-nearest-rows.json").read_text())
    assert found["cases"][0]["rows"] == "rows of strangers"
    assert {len(one["risks"]) for one in found["cases"]} == {7}


def test_copies_link_those_they_are_of() -> None:
    """Rows that are people's own link most of these people, and nobody else more than chance does."""
    rng = np.random.default_rng(1)
    people = [pd.DataFrame(rng.normal(size=(300, 6)), columns=list(nearest_rows._ATTACKS[1:])) for _ in range(2)]
    assert nearest_rows._link_risk(people[0], people[0], people[1])[0] > 0.99
    strangers = pd.DataFrame(rng.normal(size=(300, 6)), columns=people[0].columns)
    risk, error = nearest_rows._link_risk(strangers, *people)
    assert abs(risk) < 4 * error
