"""The sequential-release experiments: their claims and their page."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest

from sfumato.papers.sequential_paper import MEASURED, PARTS, claims, page, plots
from sfumato.papers.sequential_releases import (
    BASE,
    CONDITIONAL,
    EVERY_STEP,
    KA,
    LINK,
    LITERAL,
    NEXT_CUT,
    NO_JOIN,
    NO_Y,
    OUR_TREES,
    ROW,
    XY,
    SequentialGrid,
    SequentialPoint,
)
from sfumato.papers.sequential_scale import POINTS

pytestmark = pytest.mark.slow

ERRORS = {
    "A": {BASE: 17.5, NO_JOIN: 22.3, KA: 18.4, XY: 18.0, ROW: 18.0, LINK: 17.9},
    "B": {BASE: 14.7, NO_JOIN: 17.3, KA: 18.2, XY: 15.45, ROW: 15.45, LINK: 15.8},
}
GONE = {"A": (17.7, 21.0, 22.3, 23.4), "B": (15.9, 17.2, 17.4, 17.6)}
LOSS = {"A": {KA: (9.23, 0.0), XY: (5.0, 0.0)}, "B": {KA: (12.0, 3.0), XY: (6.0, 1.0)}}


def made_up_case(part: str, point: SequentialPoint) -> dict[str, Any]:
    """Figures in which everything that the text states is so."""
    cat, cont = LOSS[point.data].get(point.method, (1.0, 0.0))
    figures = {"cat": cat, "cont": cont, "join": 3, "achieved": [{"k": point.k}]}
    figures["seconds"] = 2.0 if part == "links-B" else 1.0
    keys = {"classes": 50, "short": 11 if point.method == ROW else 0, "x": 200}
    return {"part": part, **point.as_json(), "error": ERRORS[point.data][point.method] / 100, **figures, **keys}


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
    every = {part: SequentialGrid().points(part) for part in MEASURED}
    cases = [[*removed(part), *(made_up_case(part, point) for point in members)] for part, members in every.items()]
    timed = {"code": 0, "cpu": 1.0, "megabytes": 900.0, "copy": 0.5, "classes": 9, "phases": {"search": 1.0}}
    sizes = (200_000, 1_000_000, 5_000_000)
    scale = [{"kind": kind, "rows": rows, **timed, "seconds": rows / 1e5} for kind in POINTS for rows in sizes]
    parts = {part: {"date": "today", "load": 0.5, "full": True} for part in PARTS}
    return about | {"repeat": 3, "scale": scale, "parts": parts, "cases": list(chain.from_iterable(cases))}


def test_what_is_so_holds(run: dict[str, Any]) -> None:
    """Where everything is as the text states, every claim holds, by all readings, but what cannot be told or fail."""
    found = claims(run)
    left = [one for one in found if one.verdict == "not measured"]
    assert [one.figure for one in left] == ["5", "8"]
    idle = [one for one in found if one.verdict == "not counted"]
    assert len(idle) == 4 + 2 + 3 + 4
    assert all(one.ours and one.why for one in idle)
    assert {one.verdict for one in found if one not in [*left, *idle]} == {"holds"}
    assert len(found) == 4 + (4 + 5 + 6 + 4 + 7) + 1 + (4 + 1) + 2 * 2 + 3
    for reading, lines in ((CONDITIONAL, 24), (OUR_TREES, 24), (NEXT_CUT, 2 + 5)):
        parts = [part for one in found for part in one.other.split("; ") if part.startswith(f"{reading}: ")]
        assert len(parts) == lines
        assert all(part.endswith(", holds") for part in parts)
    assert [one.says for one in found if EVERY_STEP in one.other] == ["KAD", "KAD − XYD, by TopN"]
    assert sum("every case: " in one.other for one in found) == 2 + 1 + 1 + 1


def test_parts_that_were_not_run(run: dict[str, Any]) -> None:
    """Without a million rows, and with none of the releases for a figure, claims are not measured in a quick run."""
    cases = [one for one in run["cases"] if one["method"] != ROW]
    found = claims(run | {"full": False, "scale": run["scale"][:1], "cases": [*cases, *_rows_of(run)]})
    left = [one for one in found if one.verdict == "not measured in a quick run"]
    assert {one.outcome for one in left} == {"not measured"}
    assert [one.figure for one in left] == ["2", "5", "5", "8", "8"]


def _rows_of(run: dict[str, Any]) -> list[dict[str, Any]]:
    """The releases with both keys, but for the one that the text has an example of."""
    return [one for one in run["cases"] if one["method"] == ROW and one["k"] != 200]


@pytest.mark.parametrize(
    ("where", "change", "statement"),
    [
        ({"method": KA, "data": "B", "reading": LITERAL}, {"error": 0.1826}, "KAE"),
        ({"method": KA, "data": "B", "reading": LITERAL}, {"error": 0.1814}, "KAE"),
        ({"method": XY, "data": "A", "top": 5}, {"error": 0.1846}, "XYE − BLE"),
        ({"method": XY, "data": "A", "top": 5}, {"error": 0.1846}, "RJE − XYE"),
        ({"method": XY, "data": "A", "top": 5}, {"error": 0.173}, "RJE − XYE"),
        ({"method": KA, "data": "A", "reading": LITERAL}, {"cat": 9.236}, "KAD"),
        ({"method": XY, "data": "A", "top": 6}, {"cat": 8.8}, "KAD − XYD, by TopN"),
        ({"method": XY, "data": "A", "top": 3}, {"cat": 2.06}, "KAD − XYD, by TopN"),
        ({"method": ROW, "data": "A", "k": 200, "top": 6}, {"short": 0}, "Y = {K1, K2}, Top6"),
        ({"method": XY, "data": "B"}, {"error": 0.156}, "XYE − BLE, averaged"),
        ({"method": XY, "data": "B", "top": 4}, {"cat": 13.0}, "KAD(cat) − XYD(cat)"),
        ({"method": XY, "data": "B", "k": 40}, {"join": 2}, "all join attributes are fully"),
        ({"method": XY, "data": "A"}, {"error": 0.21}, "RJE − XYE is smaller"),
        ({"method": KA, "data": "A"}, {"error": 0.25}, "KAE − XYE is larger"),
        ({"method": LINK, "data": "A", "top": 2}, {"error": 0.183}, "XYE − BLE, by TopN"),
        ({"method": LINK, "data": "B", "top": 2}, {"error": 0.168}, "RJE − XYE, by TopN"),
        ({"method": LINK, "data": "B", "top": 2}, {"error": 0.146}, "RJE − XYE, by TopN"),
        ({"method": NO_Y, "data": "A", "top": 4}, {"error": 0.24}, "RSE − XYE, by TopN"),
        ({"method": NO_Y, "data": "A", "top": 4}, {"error": 0.2}, "RSE − XYE increases"),
        ({"method": LINK, "data": "B"}, {"error": 0.165}, "XYE, averaged"),
        ({"method": NO_Y, "data": "B", "top": 1}, {"error": 0.15}, "XYE is below RSE and RJE"),
        ({"method": KA, "data": "A", "reading": LITERAL}, {"error": 0.19}, "KAE − XYE is not very"),
        ({"method": NO_Y, "data": "B"}, {"error": 0.3}, "RSE − XYE is smaller"),
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
    found = [one for one in claims(run) if one.says.startswith(statement) and one.verdict == "does not hold"]
    assert found
    assert all(one.why for one in found)


@pytest.mark.parametrize("reading", [LITERAL, CONDITIONAL, OUR_TREES])
@pytest.mark.parametrize(
    ("data", "method", "change", "statement"),
    [
        ("A", XY, {"error": 0.2}, "XYE − BLE"),
        ("B", KA, {"error": 0.21}, "KAE"),
        ("B", XY, {"join": 0}, "all join attributes are fully"),
        ("B", LINK, {"error": 0.17}, "XYE, averaged"),
    ],
)
def test_readings_have_verdicts_of_their_own(
    run: dict[str, Any], data: str, method: str, change: dict[str, Any], statement: str, *, reading: str
) -> None:
    """What releases by one reading are like says nothing of another's."""
    for one in run["cases"]:
        if {"data": data, "method": method, "reading": reading}.items() <= one.items():
            one.update(change)
    said = [one for one in claims(run) if one.says.startswith(statement) and one.of.startswith(f"Set {data}")]
    verdicts = {LITERAL: {one.verdict for one in said}}
    for other in (CONDITIONAL, OUR_TREES):
        parts = [part for one in said for part in one.other.split("; ") if part.startswith(f"{other}: ")]
        verdicts[other] = {part.rpartition(", ")[2] for part in parts}
    assert "does not hold" in verdicts.pop(reading)
    assert set().union(*verdicts.values()) == {"holds"}


def test_requirements_that_cannot_be_met(run: dict[str, Any]) -> None:
    """They are listed with what was said of them, and averages are of the others."""
    asked = SequentialPoint("A", LINK, 2, 0.1).as_json()
    place = next(at for at, one in enumerate(run["cases"]) if asked.items() <= one.items())
    assert "## Requirements for which" not in page(run)
    run["cases"][place] = {
        "part": "links-A",
        **SequentialPoint("A", LINK, 2, 0.1).as_json(),
        "infeasible": "it cannot be",
    }
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
    assert "| Top3 | 17.50 | 18.00 | 18.40 | 22.30 | 18.00    | 18.00                  | 18.40" in written
    assert "What was said here of the paper's score was wrong" in written
    assert "Of 24 lines that it says anything of, 24 hold by *conditional score*, 24 by the paper's." in written
    assert "Parts:" not in written
    run["parts"]["B"] = {"date": "later", "load": 0.1, "full": True}
    assert "B later (load 0.1)" in page(run)
    assert "for: sex. The one" in page(run | {"taxonomies": ["sex"]})


def test_times_of_enlarged_tables(run: dict[str, Any]) -> None:
    """A time is held against the paper's at a million rows, growth from the smallest table to the largest."""
    slow = [one | {"seconds": (one["rows"] / 1e5) ** 2} for one in run["scale"]]
    found = {(one.figure, one.says[:15]): one for one in claims(run | {"scale": slow})}
    assert (found["8", "seconds of a mi"].ours, found["8", "seconds of a mi"].verdict) == ("100.00 s", "not counted")
    assert found["5", "highly scalable"].ours == "a row takes × 25.00, 200,000 → 5,000,000 rows"
    assert found["5", "highly scalable"].verdict == "does not hold"
    failed = {"kind": "anonymity", "rows": 200_000, "code": 1, "errors": "no"}
    assert "| failed" in page(run | {"scale": [failed]})
    assert list(plots(run | {"scale": [failed]}))[-1] == "sequential-7"
