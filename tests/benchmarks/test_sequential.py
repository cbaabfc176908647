"""The sequential-release experiments run; what they find is reported and nowhere asserted."""

import doctest
import importlib
import json
import signal
from collections.abc import Iterator
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benchmarks import sequential
from benchmarks.sequential import _with_earlier
from benchmarks.sequential_checks import ADDED_VERDICT, checks
from benchmarks.sequential_figures import PARTS
from benchmarks.sequential_growth import verdicts
from benchmarks.sequential_loss import distortion, groups, short_of_keys
from benchmarks.sequential_page import page, plots
from benchmarks.sequential_points import (
    CLASSIFICATION,
    CONDITIONAL,
    DISTORTION,
    KA,
    LINK,
    QUICK,
    ROW,
    XY,
    Grid,
    Point,
    anonymity,
    linkability,
)
from benchmarks.sequential_runs import BASE, NO_JOIN, NO_Y, Experiment
from benchmarks.sequential_scale import POINTS, Scale, enlarged, varied
from benchmarks.sequential_sets import CATEGORICAL, CLASS, IMMIGRATION, SETS, SHARED, SPLIT, People
from benchmarks.sequential_tree import error
from sfumato.policy import load

ABOUT = {"date": "today", "load": 0.5, "sfumato": "0", "python": "3", "duckdb": "1", "cpus": 2, "memory": 8}
ERRORS = {
    "A": {BASE: 17.5, NO_JOIN: 22.3, KA: 18.4, XY: 17.9, ROW: 17.8, LINK: 17.8},
    "B": {BASE: 14.7, NO_JOIN: 17.3, KA: 18.2, XY: 15.3, ROW: 15.3, LINK: 15.7},
}
GONE = {"A": (17.7, 21.0, 22.3, 23.4), "B": (15.9, 17.2, 17.4, 17.6)}
UNSCORED = {"BLE", "RJE", "KAD", "KAD − XYD, by TopN", *(f"KAD({up}) − XYD({up}), by TopN" for up in ("cat", "cont"))}
LOSS = {"A": {KA: (9.2, 0.0), XY: (5.0, 0.0)}, "B": {KA: (12.0, 3.0), XY: (6.0, 1.0)}}


def told(part: str, point: Point) -> dict[str, Any]:
    """Figures in which everything that the text states is so."""
    cat, cont = LOSS[point.data].get(point.method, (1.0, 0.0))
    figures = {"cat": cat, "cont": cont, "join": 3, "achieved": [{"k": point.k}], "seconds": 1.0}
    keys = {"classes": 50, "short": 5 if point.method == ROW else 0, "x": 100}
    return {"part": part, **point.said, "error": ERRORS[point.data][point.method] / 100, **figures, **keys}


def removed(part: str) -> Iterator[dict[str, Any]]:
    """Errors of unmodified data and of what is left."""
    data = part[-1]
    for method in (BASE, NO_JOIN):
        yield {"part": part, "data": data, "method": method, "top": 0, "error": ERRORS[data][method] / 100}
    for top, one in enumerate(GONE[data], 1):
        yield {"part": part, "data": data, "method": NO_Y, "top": top, "error": one / 100}


@pytest.fixture
def run() -> dict[str, Any]:
    """A run with such figures everywhere; anonymity grows linearly in time, linkability does not."""
    points = {data: anonymity(Grid(), data) for data in "AB"}
    points |= {f"links-{data}": linkability(Grid(), data) for data in "AB"}
    cases = [[*removed(part), *(told(part, point) for point in members)] for part, members in points.items()]
    timed = {"code": 0, "cpu": 1.0, "megabytes": 900.0, "copy": 0.5, "classes": 9, "phases": {"search": 1.0}}
    sizes = (200_000, 1_000_000, 5_000_000)
    scale = [{"kind": "anonymity", "rows": rows, **timed, "seconds": rows / 1e5} for rows in sizes]
    scale += [{"kind": "linkability", "rows": rows, **timed, "seconds": (rows / 1e5) ** 2} for rows in sizes]
    parts = {part: {"date": "today", "load": 0.5, "full": True} for part in PARTS}
    rest = {"source": "real", "repeat": 3, "scale": scale, "parts": parts}
    return {**ABOUT, **rest, "cases": list(chain.from_iterable(cases))}


@pytest.fixture(scope="module")
def people() -> People:
    """The real people where they are at hand, else made-up ones."""
    return People.found(2000)


@pytest.fixture
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> People:
    """A few made-up people."""
    monkeypatch.setenv("SFUMATO_ADULT", str(tmp_path))
    return People.found(300)


@pytest.mark.parametrize("name", ["sets", "loss", "tree", "points", "figures", "reading", "scale"])
def test_examples(name: str) -> None:
    """What the docstrings show is so."""
    found = doctest.testmod(importlib.import_module(f"benchmarks.sequential_{name}"))
    assert found.attempted > 0
    assert found.failed == 0


def test_tiny_run_on_made_up_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the real rows it runs on made-up ones and says so; page, figures and plots are kept where told."""
    monkeypatch.setenv("SFUMATO_ADULT", str(tmp_path))
    monkeypatch.setattr(sequential, "QUICK", Grid((3,), (3,), (40,), (1, 4), (0.1,)))
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # the process is not its own here
    sequential.main(["--quick", "--rows", "400", "--only", "A", "--only", "links-B", "--out", str(tmp_path)])
    kept = json.loads((tmp_path / "results-sequential.json").read_text())
    assert (kept["source"], kept["full"], list(kept["parts"])) == ("synthetic", False, ["A", "links-B"])
    made = [one for one in kept["cases"] if "seconds" in one]
    none = [one for one in kept["cases"] if "infeasible" in one]
    assert len(made) + len(none) == 5 + 3 + 4
    assert {one["method"] for one in none} <= {LINK}
    assert all(0 < one["error"] < 0.5 and one["cat"] >= 0 for one in made)
    assert all(one["short"] == 0 and one["achieved"][0]["k"] >= one["k"] for one in made if one["method"] == XY)
    assert all(one["achieved"][0]["k"] <= one["k"] for one in made if one["method"] == LINK)
    written = (tmp_path / "RESULTS-sequential.md").read_text()
    assert "made-up rows" in written
    for name in (1, 2, 7):
        assert f"figures/sequential-{name}.svg" in written
        assert 1_000 < (tmp_path / "figures" / f"sequential-{name}.svg").stat().st_size < 100_000
    assert str(tmp_path) not in written


def test_sets(people: People) -> None:
    """Both departments have their columns of the same people, and a taxonomy for each categorical one."""
    for data, width in (("A", 8), ("B", 14)):
        assert people.taxation(SETS[data]).num_columns == width
    assert set(people.immigration.column_names) & set(SETS["A"].attributes) == set(SHARED)
    assert people.immigration.num_rows == people.frame.num_rows
    for name in {*CATEGORICAL, *IMMIGRATION}:
        values = people.frame[name].unique().to_pylist()
        assert all(people.paths[name][value][-1] == "*" for value in values)


def test_points_have_x_as_the_text_says() -> None:
    """Shared columns stand in X from both tables, for linkability unless they are in Y; then T2 has no other."""
    top = Point("A", XY, 4, 40)
    assert top.quasi == (*SHARED, "education")
    assert set(top.x) == {*top.quasi, *(f"immigration.{name}" for name in IMMIGRATION)}
    assert set(Point("B", XY, 3, 40).quasi) == {*SHARED, "capital-gain", "age"}
    link = Point("A", LINK, 2, 0.1)
    assert link.y == ("marital-status", "relationship")
    assert link.x == ["sex", "education", "occupation", "workclass", "immigration.sex"]
    assert set(Point("B", KA, 0, 40).quasi) == set(SETS["B"].attributes)
    every = [point for data in "AB" for point in (*anonymity(Grid(), data), *linkability(Grid(), data))]
    assert len(set(every)) == len(every) == (20 + 25) * 5 + 2 * 15 + 2 * 40
    assert len([*anonymity(QUICK, "A"), *linkability(QUICK, "A")]) == 20 + 6 + 8


def test_policies_are_accepted(made_up: People) -> None:
    """Every policy of the experiment is one that sfumato reads."""
    with Experiment.of(made_up) as experiment:
        for data in "AB":
            for point in (*anonymity(QUICK, data), *linkability(QUICK, data)):
                policy = load(experiment.document(point))
                assert {column.name for column in policy.quasi} == set(point.quasi)


def test_distortion_by_hand(made_up: People) -> None:
    """Levels climbed are counted for categories, shares of the full range for numbers, both per record."""
    paths = {
        "sex": {"f": ("f", "*"), "*": ("*",)},
        "job": {"cook": ("cook", "service", "*"), "service": ("service", "*")},
    }
    table = pa.table(
        {"sex": ["f", "*", "*", "*"], "job": ["cook", "service", "service", "cook"], "age": ["17-53", "*", "30", "31"]}
    )
    assert distortion(table, ["sex", "job", "age"], paths) == {"cat": (3 + 2) / 4, "cont": (0.5 + 1) / 4}
    whole = made_up.taxation(SETS["B"])
    assert distortion(whole, SETS["B"].attributes, made_up.paths) == {"cat": 0, "cont": 0}


def test_short_of_keys_is_what_a_loop_over_the_join_finds(made_up: People) -> None:
    """X values with fewer than k rows of T1 are those that a join of all pairs of rows has."""
    draw = np.random.default_rng(2)
    columns = {name: made_up.frame[name].to_pylist() for name in IMMIGRATION}
    ours = {name: [made_up.paths[name][one][draw.integers(2)] for one in columns[name]] for name in SHARED}
    mine = list(zip(*(ours[name] for name in SHARED), strict=True))
    theirs = list(zip(*(columns[name] for name in IMMIGRATION), strict=True))
    linked: dict[Any, set[int]] = {}
    for (row, one), other in product(enumerate(mine), theirs):
        if all(label in made_up.paths[name][value] for name, label, value in zip(SHARED, one, other, strict=False)):
            linked.setdefault((one, other), set()).add(row)
    short = sum(len(rows) < 10 for rows in linked.values())
    assert 0 < short < len(linked)
    both = groups(pa.table(ours), SHARED), groups(made_up.immigration, IMMIGRATION)
    assert short_of_keys(*both, made_up.paths, k=10) == (short, len(linked))


def test_error_of_a_tree() -> None:
    """A column that decides the class leaves no error; without it the rarer class is what is wrong."""
    sex = ["f", "f", "m"] * 200
    table = pa.table(
        {
            "sex": sex,
            "job": ["*"] * 600,
            CLASS: [{"f": "a", "m": "b"}[one] for one in sex],
            SPLIT: ["train"] * 300 + ["test"] * 300,
        }
    )
    assert error(table, ["sex", "job"]) == 0
    assert error(table, ["job"]) == pytest.approx(1 / 3)


def test_variations(made_up: People) -> None:
    """The original rows come first; a variation differs from its original in two columns of X at most, never in Y."""
    for point in POINTS.values():
        for table in enlarged(made_up, point, 1000):
            base = made_up.frame.select(table.column_names)
            assert table.slice(0, 300).equals(base)
            changed = {
                name: np.array(table[name].to_pylist()) != np.resize(base[name].to_pylist(), 1000)
                for name in table.column_names
            }
            counts = sum(one.astype(int) for one in changed.values())
            assert 0 < counts.max() <= 2
            assert not changed.get(CLASS, np.zeros(1)).any()
            assert not any(changed[name].any() for name in point.y)
    assert varied(made_up.immigration, SHARED, 20, seed=1).num_rows == 20


def test_commands(made_up: People) -> None:
    """The command runs on the enlarged tables, and what it took is told; what fails says so."""
    found = list(Scale(made_up, (400,), 1).cases())
    assert [one["kind"] for one in found] == list(POINTS)
    assert all(one["code"] == 0 and min(one["seconds"], one["copy"], one["megabytes"]) > 0 for one in found)


def test_what_is_so_holds(run: dict[str, Any]) -> None:
    """Where everything is as the text states, every check says that it holds."""
    found = checks(run)
    assert {one["verdict"] for one in found} == {"holds"}
    assert len(found) == 9 + 10 + 6 + 6
    assert sum(one[ADDED_VERDICT] == "holds" for one in found) == 5 + 6 + 6 + 6
    assert {one["statement"] for one in found if not one[ADDED_VERDICT]} == UNSCORED
    assert checks(run | {"cases": []}) == []


@pytest.mark.parametrize(
    ("where", "change", "statement"),
    [
        ({"method": BASE, "data": "A"}, {"error": 0.19}, "BLE"),
        ({"method": KA, "data": "B", "score": CLASSIFICATION}, {"error": 0.19}, "KAE"),
        ({"method": XY, "data": "A", "k": 80, "top": 5}, {"error": 0.185}, "XYE − BLE"),
        ({"method": XY, "data": "A", "top": 5}, {"error": 0.181}, "XYE − XYE(row), by TopN"),
        ({"method": XY, "data": "A", "k": 80, "top": 5}, {"error": 0.19}, "RJE − XYE"),
        ({"method": KA, "data": "A", "score": DISTORTION}, {"cat": 11.0}, "KAD"),
        ({"method": XY, "data": "A", "top": 6}, {"cat": 8.5}, "KAD − XYD, by TopN"),
        ({"method": ROW, "data": "A", "k": 200, "top": 6}, {"short": 0}, "Y = {K1, K2}, Top6"),
        ({"method": XY, "data": "B"}, {"error": 0.156}, "XYE − BLE, averaged"),
        ({"method": XY, "data": "B", "top": 4}, {"cat": 13.0}, "KAD(cat) − XYD(cat)"),
        ({"method": XY, "data": "B", "k": 40}, {"join": 2}, "all join attributes are fully"),
        ({"method": XY, "data": "A"}, {"error": 0.21}, "RJE − XYE is smaller"),
        ({"method": KA, "data": "A"}, {"error": 0.25}, "KAE − XYE is larger"),
        ({"method": LINK, "data": "A", "k": 0.1, "top": 2}, {"error": 0.19}, "XYE − BLE, every case"),
        ({"method": LINK, "data": "A", "top": 2}, {"error": 0.183}, "XYE − BLE, by TopN"),
        ({"method": LINK, "data": "B", "k": 0.1, "top": 2}, {"error": 0.168}, "RJE − XYE, every case"),
        ({"method": LINK, "data": "B", "top": 2}, {"error": 0.168}, "RJE − XYE, by TopN"),
        ({"method": NO_Y, "data": "A", "top": 4}, {"error": 0.2}, "RSE − XYE increases"),
        ({"method": LINK, "data": "B"}, {"error": 0.165}, "XYE, averaged"),
        ({"method": NO_Y, "data": "B", "top": 1}, {"error": 0.15}, "XYE is below RSE and RJE"),
    ],
)
def test_what_is_not_so_does_not_hold(
    run: dict[str, Any], where: dict[str, Any], change: dict[str, Any], statement: str
) -> None:
    """Each statement fails where the figures that it is about are changed against it."""
    for one in run["cases"]:
        if where.items() <= one.items():
            one.update(change)
    found = [one["verdict"] for one in checks(run) if one["statement"].startswith(statement)]
    assert "does not hold" in found


@pytest.mark.parametrize(("score", "worse"), [(CLASSIFICATION, "verdict"), (CONDITIONAL, ADDED_VERDICT)])
@pytest.mark.parametrize(
    ("data", "method", "change", "statement"),
    [
        ("A", XY, {"error": 0.2}, "XYE − BLE"),
        ("A", ROW, {"short": 0}, "Y = {K1, K2}, Top6"),
        ("B", KA, {"error": 0.21}, "KAE"),
        ("B", XY, {"join": 0}, "all join attributes are fully"),
        ("B", LINK, {"error": 0.17}, "XYE, averaged"),
    ],
)
def test_scores_have_verdicts_of_their_own(  # noqa: PLR0913, PLR0917 - a line of the table has as many cells
    run: dict[str, Any], data: str, method: str, change: dict[str, Any], statement: str, score: str, worse: str
) -> None:
    """What releases by one score are like says nothing of the other's."""
    for one in run["cases"]:
        if {"data": data, "method": method, "score": score}.items() <= one.items():
            one.update(change)
    said = [one for one in checks(run) if one["statement"].startswith(statement) and one["set"][0] == data]
    other = {"verdict": ADDED_VERDICT, ADDED_VERDICT: "verdict"}[worse]
    assert "does not hold" in {one[worse] for one in said}
    assert {one[other] for one in said} == {"holds"}


def test_requirements_that_cannot_be_met(run: dict[str, Any]) -> None:
    """They are listed with what was said of them, and averages are of the others."""
    asked = Point("A", LINK, 2, 0.1).said
    place = next(at for at, one in enumerate(run["cases"]) if asked.items() <= one.items())
    assert "## Requirements that" not in page(run)
    run["cases"][place] = {"part": "links-A", **Point("A", LINK, 2, 0.1).said, "infeasible": "it cannot be"}
    assert "| A   | link   | Top2 | 0.1 | it cannot be      |" in page(run)
    assert {one["verdict"] for one in checks(run)} == {"holds"}


def test_page(run: dict[str, Any], tmp_path: Path) -> None:
    """Every figure of the paper has its table, every time its verdict; parts that were not run are not there."""
    pictures = plots(run, tmp_path)
    assert set(pictures) == {*(f"Figure {place}" for place in (1, 2, 3, 4, 6, 7)), "scale"}
    written = page(run, pictures)
    assert [written.count(f"\n## Figure {place}:") for place in (1, 2, 3, 4, 6, 7)] == [1] * 6
    assert "## Scale (Figures 5 and 8)" in written
    assert "made-up" not in written
    assert "| Top3 | 17.50 | 17.90 | 17.80    | 18.40 | 22.30 | 17.90            | 17.80" in written
    assert "was chosen after the paper's had missed" in written
    assert "Of 23 lines on errors 23 hold by the paper's score, 23 by the conditional one." in written
    few = page(run | {"scale": [], "cases": [one for one in run["cases"] if one["part"] == "A"]})
    assert "Figure 2" in few
    assert "Figure 4" not in few
    assert "## Scale" not in few


def test_verdicts_on_scale(run: dict[str, Any]) -> None:
    """Targets are of a million rows; growth is from the smallest table to the largest; a failed run says so."""
    found = {(one["of"], one["wanted"]): one["verdict"] for one in verdicts(run)}
    assert found["anonymity, a million rows", "≤ 20 s"] == "met"
    assert found["linkability, a million rows", "≤ 10 s"] == "missed"
    assert found["anonymity, from 200,000 to 5,000,000 rows", "linear (≤ × 1.25)"] == "met"
    assert found["linkability, from 200,000 to 5,000,000 rows", "linear (≤ × 1.25)"] == "missed"
    failed = {"kind": "anonymity", "rows": 200_000, "code": 1, "errors": "no"}
    assert "| failed" in page(run | {"scale": [failed]})


def test_parts_that_are_run_by_themselves(run: dict[str, Any], tmp_path: Path) -> None:
    """The other parts come from what is kept, with their dates; of other people nothing is taken over."""
    (tmp_path / "results-sequential.json").write_text(json.dumps(run))
    mine = [one | {"error": 0.5} for one in run["cases"] if one["part"] == "B"]
    part = run | {"cases": mine, "scale": [], "parts": {"B": {"date": "later", "load": 0.1, "full": True}}}
    both = _with_earlier(part, tmp_path)
    assert (len(both["cases"]), len(both["scale"])) == (len(run["cases"]), len(run["scale"]))
    assert {one["error"] for one in both["cases"] if one["part"] == "B"} == {0.5}
    assert list(both["parts"]) == list(PARTS)
    assert "B later (load 0.1)" in page(both)
    assert _with_earlier(part | {"source": "synthetic"}, tmp_path)["scale"] == []
