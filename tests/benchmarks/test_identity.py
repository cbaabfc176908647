"""The identity-reserved experiments run; what they find is reported and nowhere asserted."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.identity_checks import checks, falls, grows_slowly
from benchmarks.identity_page import page
from benchmarks.identity_points import (
    COMMON,
    DIVERSITY,
    GLOBAL,
    IMPROVED,
    LOCAL,
    QUICK,
    RESERVED,
    SHARES,
    SUPPRESSING,
    Grid,
    Point,
    points,
)
from benchmarks.identity_runs import Experiment, groups_of
from benchmarks.identity_times import OURS, YARDSTICK, Timing
from benchmarks.lossy_join_runs import Adult
from sfumato.datasets import synthetic_adult, synthetic_adult_policy

ABOUT = {"date": "today", "sfumato": "0", "python": "3", "duckdb": "1", "cpus": 2, "memory": 8, "load": 0.5}


def told(point: Point) -> dict[str, Any]:
    """Figures in which everything that the text states is so."""
    keys = dict(point.keys)
    k = keys.get("k", 10)
    loss = {GLOBAL: 0.70, LOCAL: 0.10, IMPROVED: 0.09}.get(point.method, 0.67) + 0.005 * k
    loss -= 0.01 * (point.model == COMMON)
    loss += 0.002 * keys["l"] if point.model == DIVERSITY and point.method == LOCAL else 0.0
    loss += 0.001 * (keys["beta"] ** -3 + keys["alpha"] ** -1) if point.model == SHARES else 0.0
    groups = {"vulnerable": round(1000 * point.rpi / k), "single": round(600 * point.rpi / k) if k <= 3 else 0}
    sizes = {"rows": 100_000, "suppressed": 0, "classes": 10_000}
    return {**point.said, **sizes, **groups, "distortion": loss, "published": loss, "ncp": loss}


@pytest.fixture
def run() -> dict[str, Any]:
    """A run with such figures at every point, and bottom-up six times as slow as top-down in one of two."""
    about = {"source": "real", "people": 40_000, "rpis": list(Grid().rpis)}
    asked = {"what": "search", "requirement": "identity-k-anonymity, k = 2", "rows": 72_000}
    timed = [asked | {OURS: 1.0, YARDSTICK: 2.0}, asked | {"what": "command", OURS: 6.0, YARDSTICK: 1.0}]
    times = {"repeat": 5, "commands": 3, "cases": timed}
    return {**ABOUT, **about, "cases": [told(point) for point in points(Grid())], "times": times}


def verdicts(run: dict[str, Any]) -> dict[tuple[str, str, str], str]:
    """The verdict on each statement and what it is of."""
    return {(one["figure"], one["statement"], one["of"]): one["verdict"] for one in checks(run)}


def test_tiny_run_on_made_up_rows(root: Path, tmp_path: Path) -> None:
    """Without the real rows it runs on made-up ones and says so; page, figures and plots are kept where told."""
    few = ("--quick", "--people", "400", "--rows", "500", "--out", str(tmp_path))
    environment = os.environ | {"SFUMATO_ADULT": str(tmp_path)}
    command = [sys.executable, "-m", "benchmarks.identity", *few]
    subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True)
    kept = json.loads((tmp_path / "results-identity.json").read_text())
    assert (kept["source"], kept["people"], kept["full"]) == ("synthetic", 400, False)
    assert len(kept["cases"]) == len(points(QUICK))
    assert {one["rows"] for one in kept["cases"]} == {480, 560}
    assert all(0 < one["distortion"] <= 1 and one["classes"] > 1 for one in kept["cases"])
    assert all(one["vulnerable"] == 0 for one in kept["cases"] if one["model"] in {RESERVED, DIVERSITY})
    assert {one["figure"] for one in kept["checks"]} == {*"12345678", "7, 8"}
    assert [one["rows"] for one in kept["times"]["cases"]] == [720] * 4
    written = (tmp_path / "RESULTS-identity.md").read_text()
    assert "made-up rows" in written
    for name in ("groups", "common", "recoding", "shares"):
        assert f"figures/identity-{name}.svg" in written
        assert 1_000 < (tmp_path / "figures" / f"identity-{name}.svg").stat().st_size < 100_000
    assert str(tmp_path) not in written


def test_commands() -> None:
    """The command runs from a file to a release with each algorithm, and its seconds are told."""
    columns = synthetic_adult_policy(sensitive="occupation")["columns"]
    experiment = Experiment(Adult(synthetic_adult(200), columns, "synthetic"), 100)
    seconds = Timing(experiment, 1, 1)._commands({"model": RESERVED, "k": 2})
    assert set(seconds) == {OURS, YARDSTICK}
    assert all(len(found) == 1 and found[0] > 0 for found in seconds.values())


def test_points() -> None:
    """Every figure has its points, none twice, and the improvement pass is run at a few of them."""
    found = points(Grid())
    assert len(set(found)) == len(found)
    local = [point for point in found if point.method == LOCAL]
    assert sum(point.model == COMMON for point in local) == 4 * 9
    assert sum(point.model == RESERVED for point in local) == 2 * 9
    assert sum(point.model == SHARES for point in local) == 10 + 10 - 1
    assert all(dict(point.keys)["l"] <= dict(point.keys)["k"] for point in found if point.model == DIVERSITY)
    assert sum(point.method == IMPROVED for point in found) == 4 * 3 + 2 * 3
    assert not any(point.method == IMPROVED for point in points(QUICK))


def test_common_does_not_know_of_individuals() -> None:
    """Common k-anonymity drops the numbers of people, all other models have them as individuals."""
    experiment = Experiment(Adult(None, {"age": {"role": "quasi"}}, "synthetic"))
    roles = {
        model: experiment.document({"model": model}, {})["columns"]["id-number"]["role"] for model in (COMMON, SHARES)
    }
    assert roles == {COMMON: "identifier", SHARES: "individual"}


def test_groups() -> None:
    """Rows and people of classes are those that a loop over the classes counts; suppressed rows are in none."""
    draw = np.random.default_rng(3)
    owner, ids = draw.integers(-1, 12, 200), draw.integers(1, 40, 200)
    rows, people = groups_of(owner, ids)
    for place in range(12):
        mine = ids[owner == place]
        assert (rows[place], people[place]) == (len(mine), len(set(mine.tolist())))
    assert len(rows) == len(people) == 12


def test_vulnerable_groups_of_a_point() -> None:
    """Of common k-anonymity some groups have fewer than k people; of the identity-reserved one none has."""
    columns = synthetic_adult_policy(sensitive="occupation")["columns"]
    experiment = Experiment(Adult(synthetic_adult(400), columns, "synthetic"), 400)
    theirs, ours = (experiment.measured(Point.of(1.8, model, LOCAL, k=3)) for model in (COMMON, RESERVED))
    assert (theirs["rows"], ours["rows"]) == (720, 720)
    assert theirs["vulnerable"] > 0
    assert (ours["vulnerable"], ours["single"]) == (0, 0)
    assert ours["published"] == pytest.approx(ours["distortion"])


def test_suppressed_rows_count_as_lost() -> None:
    """The distortion of published rows alone is lower than with suppressed rows as lost ones."""
    columns = synthetic_adult_policy(sensitive="occupation")["columns"]
    experiment = Experiment(Adult(synthetic_adult(400), columns, "synthetic"), 400)
    found = experiment.measured(Point.of(1.4, RESERVED, SUPPRESSING[-1], k=2))
    rows, gone = found["rows"], found["suppressed"]
    assert 0 < gone <= 0.01 * rows
    assert found["published"] * (rows - gone) + gone == pytest.approx(found["distortion"] * rows)


def test_what_is_so_holds(run: dict[str, Any]) -> None:
    """Where everything is as the text states, every check says that it holds."""
    found = verdicts(run)
    assert set(found.values()) == {"holds"}
    assert len(found) == 2 * (4 * 2 + 1) + 2 * (4 + 1) + 1 + 4 + (4 + 1 + 4) + 2 + 5


@pytest.mark.parametrize(
    ("where", "change", "statement"),
    [
        (
            {"model": COMMON, "k": 10, "method": LOCAL.label, "rpi": 1.2},
            {"vulnerable": 900},
            "ratio of vulnerable groups",
        ),
        ({"model": COMMON, "k": 5, "method": LOCAL.label}, {"single": 1}, "single value groups exist only"),
        (
            {"model": COMMON, "k": 4, "method": LOCAL.label, "rpi": 1.4},
            {"distortion": 0.3},
            "common k-anonymity has less",
        ),
        ({"model": RESERVED, "k": 4, "method": LOCAL.label}, {"distortion": 0.3}, "but the difference is slight"),
        ({"model": RESERVED, "k": 7, "method": LOCAL.label}, {"distortion": 0.5}, "local: much lower"),
        ({"model": RESERVED, "k": 7, "method": GLOBAL.label}, {"distortion": 0.9}, "distortion increases slowly"),
        ({"model": RESERVED, "k": 7, "method": SUPPRESSING[0].label}, {"distortion": 0.8}, "a bit lower than global"),
        ({"model": RESERVED, "k": 7, "method": SUPPRESSING[0].label}, {"distortion": 0.5}, "a bit lower than global"),
        ({"model": DIVERSITY, "l": 9, "method": GLOBAL.label}, {"distortion": 0.9}, "steady as l increases"),
        ({"model": DIVERSITY, "l": 9, "method": LOCAL.label}, {"distortion": 0.4}, "increases slowly as l"),
        ({"model": SHARES, "alpha": 0.5, "beta": 0.9}, {"distortion": 0.9}, "decreases as β increases"),
        ({"model": SHARES, "alpha": 0.5, "beta": 0.5}, {"distortion": 0.4}, "decreases remarkably"),
        ({"model": SHARES, "alpha": 0.5, "beta": 0.5}, {"distortion": 0.4}, "steady once β matches"),
        ({"model": SHARES, "alpha": 0.9, "beta": 0.5}, {"distortion": 0.4}, "decreases as α increases"),
        ({"model": SHARES, "alpha": 0.15, "beta": 0.5}, {"distortion": 0.9}, "Figure 7 decreases steeper"),
    ],
)
def test_what_is_not_so_does_not_hold(
    run: dict[str, Any], where: dict[str, Any], change: dict[str, Any], statement: str
) -> None:
    """Each statement fails where the figures that it is about are changed against it."""
    for one in run["cases"]:
        if where.items() <= one.items():
            one.update(change)
    found = [verdict for (_, words, _), verdict in verdicts(run).items() if words.startswith(statement)]
    assert set(found) - {"holds"}


def test_verdicts_on_lines() -> None:
    """Equal values do not fall unless there is nothing left; a step is judged by its length."""
    assert falls([0.2, 0.2, 0.1])[1] == "from end to end, not at every step"
    assert falls([3, 0, 0], "{:,.0f}") == ("3 → 0", "holds")
    assert grows_slowly(([2, 10], [0.1, 0.4]))[1] == "holds"
    assert grows_slowly(([2, 3], [0.1, 0.4]))[1] == "does not hold"
    assert grows_slowly(([2, 3], [0.4, 0.1]))[1] == "does not hold"


def test_page(run: dict[str, Any]) -> None:
    """Every figure of the paper has its table, times their ratios, and the improvement pass its own table."""
    written = page(run)
    assert [written.count(f"### Figure {place}:") for place in range(1, 9)] == [2, 2, 1, 1, 1, 1, 1, 1]
    assert "## Figure 1 and Figure 2\n" in written
    assert "| 0.50  | ≤ 5    | met     |" in written
    assert "| 6.00  | ≤ 5    | missed  |" in written
    assert "## With the improvement pass" in written
    assert "made-up" not in written
    assert "1.0 to 5.0 × k rows (local)" in written
