"""The sequential-release experiments: their tables, their points, their claims and their page."""

from collections.abc import Iterator
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.datasets import adult_folder
from sfumato.papers.rows import Rows
from sfumato.papers.sequential import points
from sfumato.papers.sequential.checks import claims
from sfumato.papers.sequential.figures import MEASURED, PARTS
from sfumato.papers.sequential.loss import distortion, groups, short_of_keys
from sfumato.papers.sequential.page import page, plots
from sfumato.papers.sequential.points import (
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
from sfumato.papers.sequential.runs import BASE, NO_JOIN, NO_Y, Experiment
from sfumato.papers.sequential.scale import POINTS, Scale, enlarged, varied
from sfumato.papers.sequential.sets import CATEGORICAL, CLASS, IMMIGRATION, SETS, SHARED, SPLIT, People
from sfumato.papers.sequential.tree import error
from sfumato.policy import load

ERRORS = {
    "A": {BASE: 17.5, NO_JOIN: 22.3, KA: 18.3, XY: 17.9, ROW: 17.8, LINK: 17.8},
    "B": {BASE: 14.7, NO_JOIN: 17.3, KA: 18.2, XY: 15.3, ROW: 15.3, LINK: 15.7},
}
GONE = {"A": (17.7, 21.0, 22.3, 23.4), "B": (15.9, 17.2, 17.4, 17.6)}
UNSCORED = {"BLE", "RJE", "KAD", "KAD − XYD, by TopN", *(f"KAD({up}) − XYD({up}), by TopN" for up in ("cat", "cont"))}
LOSS = {"A": {KA: (9.2, 0.0), XY: (5.0, 0.0)}, "B": {KA: (12.0, 3.0), XY: (6.0, 1.0)}}


def told(part: str, point: Point) -> dict[str, Any]:
    """Figures in which everything that the text states is so."""
    cat, cont = LOSS[point.data].get(point.method, (1.0, 0.0))
    figures = {"cat": cat, "cont": cont, "join": 3, "achieved": [{"k": point.k}]}
    figures["seconds"] = 2.0 if part == "links-B" else 1.0
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
def run(about: dict[str, Any]) -> dict[str, Any]:
    """A run with such figures everywhere, and time that grows linearly."""
    every = {part: points(Grid(), part) for part in MEASURED}
    cases = [[*removed(part), *(told(part, point) for point in members)] for part, members in every.items()]
    timed = {"code": 0, "cpu": 1.0, "megabytes": 900.0, "copy": 0.5, "classes": 9, "phases": {"search": 1.0}}
    sizes = (200_000, 1_000_000, 5_000_000)
    scale = [{"kind": kind, "rows": rows, **timed, "seconds": rows / 1e5} for kind in POINTS for rows in sizes]
    parts = {part: {"date": "today", "load": 0.5, "full": True} for part in PARTS}
    return about | {"repeat": 3, "scale": scale, "parts": parts, "cases": list(chain.from_iterable(cases))}


@pytest.fixture(scope="module")
def people() -> People:
    """The real people where they are at hand, else made-up ones."""
    return People.of(Rows(adult_folder(), 2000))


@pytest.fixture
def made_up() -> People:
    """A few made-up people."""
    return People.of(Rows(made_up=300))


def test_sets(people: People) -> None:
    """Both departments have their columns of the same people, and a taxonomy for each categorical one."""
    for data, width in (("A", 8), ("B", 14)):
        assert people.taxation(SETS[data]).num_columns == width
    assert set(people.immigration.column_names) & set(SETS["A"].attributes) == set(SHARED)
    assert people.immigration.num_rows == people.frame.num_rows
    for name in {*CATEGORICAL, *IMMIGRATION}:
        values = people.frame[name].unique().to_pylist()
        assert all(people.paths[name][value][-1] == "*" for value in values)


def test_taxonomies_that_are_not_there(tmp_path: Path) -> None:
    """Without a taxonomy of five levels the usual one is taken, without any the value is suppressed; both are told."""
    (tmp_path / "hierarchies").mkdir()
    for name in ("marital-status", "sex", "education", "occupation", "workclass", "native-country-5", "race"):
        (tmp_path / "hierarchies" / f"{name}.csv").write_text("a,*\n")
    header = ",".join(dict.fromkeys([*CATEGORICAL, *IMMIGRATION]))
    (tmp_path / "adult.csv").write_text(f"{header}\n" + ",".join(["a"] * 8) + "\n")
    found = People.of(Rows(tmp_path))
    assert found.lesser == ["relationship", "workclass"]
    assert found.hierarchies["relationship"] == "suppress"
    assert found.paths["relationship"] == {"a": ("a", "*"), "*": ("*",)}


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
    """Where everything is as the text states, every claim holds, by both scores; what cannot be told apart is not."""
    found = claims(run)
    left = [one for one in found if one.verdict == "not measured"]
    assert [one.figure for one in left] == ["5", "8"]
    assert {one.verdict for one in found if one not in left} == {"holds"}
    assert len(found) == (4 + 2 + 2) + (6 + 4 + 2 + 6 + 6 + 2) + (4 + 1) + 2 * 2 + 3
    other = [one.other for one in found if one.other]
    assert len(other) == 26
    assert all(one.startswith("conditional score: ") and one.endswith(", holds") for one in other)


def test_parts_that_were_not_run(run: dict[str, Any]) -> None:
    """Without a million rows, and with none of the releases for a figure, claims are not measured in a quick run."""
    cases = [one for one in run["cases"] if one["method"] != ROW]
    found = claims(run | {"full": False, "scale": run["scale"][:1], "cases": [*cases, *_rows_of(run)]})
    left = [one for one in found if one.verdict == "not measured in a quick run"]
    assert {one.outcome for one in left} == {"not measured"}
    assert [one.figure for one in left] == ["2", "5", "5", "5", "8", "8", "8", "8"]


def _rows_of(run: dict[str, Any]) -> list[dict[str, Any]]:
    """The releases with both keys, but for the one that the text has an example of."""
    return [one for one in run["cases"] if one["method"] == ROW and one["k"] != 200]


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
        ({"method": KA, "data": "A", "score": CLASSIFICATION}, {"error": 0.19}, "KAE − XYE is not very"),
        ({"method": NO_Y, "data": "B"}, {"error": 0.3}, "RSE − XYE is smaller"),
        ({"method": LINK, "data": "A", "k": 0.1}, {"seconds": 21}, "every release takes less"),
        ({"method": XY, "data": "B", "k": 40}, {"seconds": 29}, "the release that takes longest"),
    ],
)
def test_what_is_not_so_does_not_hold(
    run: dict[str, Any], where: dict[str, Any], change: dict[str, Any], statement: str
) -> None:
    """Each statement fails where the figures that it is about are changed against it."""
    for one in run["cases"]:
        if where.items() <= one.items():
            one.update(change)
    found = [one.verdict for one in claims(run) if one.says.startswith(statement)]
    assert "does not hold" in found


@pytest.mark.parametrize("score", [CLASSIFICATION, CONDITIONAL])
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
def test_scores_have_verdicts_of_their_own(
    run: dict[str, Any], data: str, method: str, change: dict[str, Any], statement: str, *, score: str
) -> None:
    """What releases by one score are like says nothing of the other's."""
    for one in run["cases"]:
        if {"data": data, "method": method, "score": score}.items() <= one.items():
            one.update(change)
    said = [one for one in claims(run) if one.says.startswith(statement) and one.of.startswith(f"Set {data}")]
    both = [{one.verdict for one in said}, {one.other.rpartition(", ")[2] for one in said}]
    worse, other = both if score == CLASSIFICATION else reversed(both)
    assert "does not hold" in worse
    assert other == {"holds"}


def test_requirements_that_cannot_be_met(run: dict[str, Any]) -> None:
    """They are listed with what was said of them, and averages are of the others."""
    asked = Point("A", LINK, 2, 0.1).said
    place = next(at for at, one in enumerate(run["cases"]) if asked.items() <= one.items())
    assert "## Requirements for which" not in page(run)
    run["cases"][place] = {"part": "links-A", **Point("A", LINK, 2, 0.1).said, "infeasible": "it cannot be"}
    assert "| A   | link   | Top2 | 0.1 | it cannot be      |" in page(run)
    assert "does not hold" not in {one.verdict for one in claims(run)}


def test_page(run: dict[str, Any]) -> None:
    """Every figure of the paper has its plot and its table, every time stands beside the paper's."""
    names = [f"sequential-{place}" for place in (1, 2, 3, 4, 6, 7, "scale")]
    assert list(plots(run)) == names
    written = page(run)
    assert all(written.count(f"](figures/{name}.svg)") == 1 for name in names)
    assert [written.count(f"\n## Figure {place}:") for place in (1, 2, 3, 4, 6, 7)] == [1] * 6
    assert "## Scale (Figures 5 and 8)" in written
    assert "made-up" not in written
    assert "| Top3 | 17.50 | 17.90 | 17.80    | 18.30 | 22.30 | 17.90            | 17.80" in written
    assert "was chosen after the paper's had missed" in written
    assert "Of 26 lines on errors 26 hold by the paper's score, 26 by the conditional one." in written
    assert "Parts:" not in written
    run["parts"]["B"] = {"date": "later", "load": 0.1, "full": True}
    assert "B later (load 0.1)" in page(run)
    assert "for: sex. The one" in page(run | {"taxonomies": ["sex"]})


def test_times_of_enlarged_tables(run: dict[str, Any]) -> None:
    """A time is held against the paper's at a million rows, growth from the smallest table to the largest."""
    slow = [one | {"seconds": (one["rows"] / 1e5) ** 2} for one in run["scale"]]
    found = {(one.figure, one.says[:15]): one for one in claims(run | {"scale": slow})}
    assert (found["8", "seconds of a mi"].ours, found["8", "seconds of a mi"].verdict) == ("100.00 s", "does not hold")
    assert found["5", "seconds of a mi"].verdict == "holds"
    assert found["5", "highly scalable"].ours == "a row takes × 25.00, 200,000 → 5,000,000 rows"
    assert found["5", "highly scalable"].verdict == "does not hold"
    failed = {"kind": "anonymity", "rows": 200_000, "code": 1, "errors": "no"}
    assert "| failed" in page(run | {"scale": [failed]})
    assert list(plots(run | {"scale": [failed]}))[-1] == "sequential-7"
