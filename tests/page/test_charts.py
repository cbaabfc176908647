"""Charts: well-formed, safe with any text, and true to the figures."""

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.page.charts import (
    ChartAxis,
    Series,
    grid,
    histogram,
    interval_bars,
    lines,
    paired_bars,
    scatter,
    standalone,
)
from sfumato.page.html import Markup, document

NASTY = "<script>alert('x')</script> & \"quotes\""
figures = st.floats(1e-12, 1e9) | st.just(0.0)


def root_of(svg: Markup) -> ET.Element:
    """The drawing as XML; raises where it is none."""
    return ET.fromstring(svg)  # noqa: S314 - our own text


@given(st.lists(figures, min_size=1, max_size=20), st.booleans(), st.booleans())
def test_an_axis_holds_all_figures_and_its_ticks(known: list[float], log: bool, whole: bool) -> None:
    """Every figure lies between the ends, ticks begin and rise within them, and there are few."""
    axis = ChartAxis("x", log=log, whole=whole)
    low, high = ends = axis.ends(known)
    shares = [axis.share(one, ends) for one in known]
    assert all(-1e-6 <= share <= 1 + 1e-6 for share in shares)
    ticks = axis.ticks(low, high)
    assert 1 <= len(ticks) <= 8
    assert ticks == sorted(set(ticks))
    assert all(low * (1 - 1e-6) - 1e-6 <= tick <= high * (1 + 1e-6) for tick in ticks)


def test_points_lie_where_their_figures_are() -> None:
    """Twice the figure is twice as far up and across: places are linear in the figures."""
    drawn = root_of(lines([Series("a", [(0, 0), (5, 1), (10, 2)])], ChartAxis("x"), ChartAxis("y"), title="t"))
    path = next(one.attrib["d"] for one in drawn.iter("path") if one.attrib.get("class") == "line")
    (x0, y0), (x1, y1), (x2, y2) = [tuple(map(float, pair.split())) for pair in path[1:].split("L")]
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2)
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.2)
    assert x2 > x1
    assert y2 < y1


def test_bars_are_as_long_as_their_shares() -> None:
    """A share that is three times another has a bar three times as long."""
    drawn = root_of(paired_bars(["a", "b"], [0.2, 0.6], [0.1, 0.3], title="t"))
    wide = [float(one.attrib["width"]) for one in drawn.iter("rect")][2:]
    assert wide == pytest.approx([wide[2] / 3, wide[2] / 6, wide[2], wide[2] / 2], abs=0.2)


@pytest.mark.parametrize(
    "drawn",
    [
        lines([Series(NASTY, [(1, 2)]), Series("b", [])], ChartAxis(NASTY), ChartAxis(NASTY, log=True), title=NASTY),
        scatter(
            [Series(NASTY, [(1, 2), (1, 2)], [NASTY, NASTY])],
            ChartAxis(NASTY),
            ChartAxis("y"),
            title=NASTY,
            marked=(1, 2),
        ),
        paired_bars([NASTY], [0.0], [0.0], title=NASTY),
        grid([NASTY], [[None]], title=NASTY),
    ],
)
def test_names_are_text_and_never_markup(drawn: Markup) -> None:
    """A column called <script> stays a name, in the page and in a file of its own."""
    assert not list(root_of(drawn).iter("script"))
    assert "<script" not in standalone(drawn)
    ET.fromstring(standalone(drawn))  # noqa: S314 - our own text
    assert "<script" not in document(NASTY, drawn)


def test_series_differ_without_colour() -> None:
    """Six lines have six different pairs of stroke and marker, so that grey is enough to tell them apart."""
    series = [Series(str(place), [(0, place), (1, place)]) for place in range(6)]
    drawn = root_of(lines(series, ChartAxis("x"), ChartAxis("y"), title="t"))
    groups = [one for one in drawn.iter("g") if len(one.findall("path")) == 3]
    looks = set()
    for one in groups:
        stroke, mark, _ = one.findall("path")
        looks.add((stroke.attrib["stroke-dasharray"], mark.attrib["d"].split("m", 1)[1], mark.attrib["class"]))
    assert len(groups) == len(looks) == 6


def test_names_beside_points_do_not_cover_each_other() -> None:
    """Of points in one place one name is written, not a heap of them."""
    drawn = root_of(scatter([Series("a", [(1, 1)] * 9, list("abcdefghi"))], ChartAxis("x"), ChartAxis("y"), title="t"))
    written = [one for one in drawn.iter("text") if one.attrib.get("class") == "named"]
    places = {(one.attrib["x"], one.attrib["y"]) for one in written}
    assert 1 <= len(written) == len(places) <= 4


shares = st.floats(0, 1).flatmap(lambda s: st.tuples(st.just(s), st.floats(0, s), st.floats(s, 1)))


@given(st.lists(shares, min_size=1, max_size=40), st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_bars_and_whiskers_of_a_histogram_are_to_scale(
    known: list[tuple[float, float, float]], low: float, width: float
) -> None:
    """Bars stand side by side within the drawing, whiskers from end to end of their intervals."""
    edges = [low + width * place / len(known) for place in range(len(known) + 1)]
    drawn = root_of(histogram(edges, known, ChartAxis(NASTY), title=NASTY))
    bars = [one for one in drawn.iter("rect") if one.attrib["class"] == "pale"]
    whiskers = [one for one in drawn.iter("path") if one.attrib["class"] == "whisker"]
    assert len(bars) == len(whiskers) == len(known)
    starts = [float(one.attrib["x"]) for one in bars]
    assert starts == sorted(starts)
    assert all(float(one.attrib["width"]) > 0 and float(one.attrib["height"]) >= 0 for one in bars)
    assert all(0 <= float(one.attrib["y"]) <= 250 for one in bars)


@given(st.lists(shares, min_size=1, max_size=12))
def test_a_bar_ends_within_its_whisker(known: list[tuple[float, float, float]]) -> None:
    """The end of each bar lies between the ends of its interval, and texts are escaped."""
    drawn = root_of(interval_bars([NASTY] * len(known), known, title=NASTY))
    for bar, whisker in zip(drawn.iter("rect"), drawn.iter("path"), strict=True):
        end = float(bar.attrib["x"]) + float(bar.attrib["width"])
        start, stop = (
            whisker.attrib["d"].removeprefix("M").split(" ")[0],
            whisker.attrib["d"].split("H")[1].split("m")[0],
        )
        assert float(start) - 0.2 <= end <= float(stop) + 0.2
