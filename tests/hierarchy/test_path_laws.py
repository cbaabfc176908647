"""What a label's path promises of every kind: it is what is bound, from the label up."""

import csv
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import HierarchyError
from sfumato.hierarchy import Dates, File, Intervals, Mask, Spec, Suppress

Line = tuple[str | None, ...]

whole = st.integers(-(10**20), 10**20).map(str) | st.integers(-30, 30).map(str)
decimals = st.decimals(-1000, 1000, places=3).map(str)
codes = st.text("ab01.", max_size=6)
dates = st.dates().map(str) | st.datetimes().map(str)


def columns(cells: st.SearchStrategy[str]) -> st.SearchStrategy[list[str | None]]:
    """Distinct values of a column, with or without NULL."""
    return st.lists(st.none() | cells, unique=True, max_size=12)


def widths() -> st.SearchStrategy[list[int]]:
    """One to three widths of which each is a multiple of the one before, and may be the same."""
    steps = st.tuples(st.integers(1, 30), st.integers(1, 5), st.integers(1, 5), st.integers(1, 3))
    return steps.map(lambda step: [step[0], step[0] * step[1], step[0] * step[1] * step[2]][: step[3]])


def bound(spec: Spec, values: Sequence[str | None]) -> list[Line]:
    """The labels of each value, from itself to the root."""
    tree = spec.bind(values, column="x")
    return [tuple(tree.labels[level][code] for level, code in enumerate(row)) for row in tree.matrix.tolist()]


def once(line: Line) -> Line:
    """A line in which no label is told twice in a row."""
    return tuple(label for i, label in enumerate(line) if not i or line[i - 1] != label)


def is_value(spec: Spec, label: str | None) -> bool:
    """Whether a label could be a value of the column as well."""
    try:
        spec.bind([label], column="x")
    except HierarchyError:
        return False
    return True


def law(spec: Spec, values: Sequence[str | None], *, exact: bool = True) -> None:
    """The path of a label is that of each value that has it, from the lowest level of the label on.

    Only a value that is written as the label is may stand one level lower, and repeats it: 1980-05-17 is the day of
    1980-05-17 10:30, and a date. Without `exact` labels may be repeated more or less often.
    """
    for line in bound(spec, values):
        assert spec.paths([line[0]], column="x") == [line] or not exact or line[0] == "*"
        for label in line[:-1]:
            path = spec.paths([label], column="x")[0]
            right = ("*",) if label == "*" else line[line.index(label) :]
            assert path is not None
            assert once(path) == once(right)
            assert path == right or not exact or is_value(spec, label)


@given(columns(whole | decimals), widths(), st.integers(-50, 50), st.data())
def test_intervals(values: list[str | None], bins: list[int], origin: int, data: st.DataObject) -> None:
    """Bins are found again from their labels for any widths and origin, cut at any bottom and top."""
    bottom, top = data.draw(st.none() | st.integers(-90, 0)), data.draw(st.none() | st.integers(0, 90))
    law(Intervals(bins, origin=origin, bottom=bottom, top=top, integers=False), values)


@given(columns(whole), widths(), st.integers(-50, 50), st.data())
def test_intervals_of_integers(values: list[str | None], bins: list[int], origin: int, data: st.DataObject) -> None:
    """So are bins of whole numbers, whose labels may be numbers themselves."""
    bottom, top = data.draw(st.none() | st.integers(-90, 0)), data.draw(st.none() | st.integers(0, 90))
    law(Intervals(bins, origin=origin, bottom=bottom, top=top), values)


@given(columns(st.decimals(-4, 4, places=2).map(str)), st.integers(-99, 99), st.booleans())
def test_intervals_of_decimals(values: list[str | None], origin: int, top: bool) -> None:
    """So are bins of decimal widths in a domain."""
    law(Intervals([0.3, 0.6, 3], origin=origin / 100, domain=[-4, 4], top=0.25 if top else None), values)


@given(columns(codes), st.sampled_from(["left", "right"]), st.sampled_from([None, 6, 9]))
def test_mask(values: list[str | None], side: str, length: int | None) -> None:
    """Masks are found again from either side; without a length the longest value adds nothing but repetition."""
    law(Mask(side, length=length), values, exact=length is not None)


@given(
    columns(dates),
    st.sampled_from([["day", "week"], ["week"], ["day", "month", "quarter", "year"], ["month", "decade", "century"]]),
)
def test_dates(values: list[str | None], units: list[str]) -> None:
    """Units of the calendar are found again from the year 1 to 9999."""
    law(Dates(units), values)


@given(columns(st.text(max_size=3)))
def test_suppress(values: list[str | None]) -> None:
    """Any text is a value."""
    law(Suppress(), values, exact="*" not in values)


@st.composite
def trees(draw: st.DrawFn) -> list[tuple[str, ...]]:
    """Lines of a nested file whose few texts stand on several levels, in one branch or in two."""
    texts = st.sampled_from("abcdefg")
    parents = draw(st.lists(st.dictionaries(texts, texts, min_size=7), max_size=3))
    lines: list[tuple[str, ...]] = [(leaf,) for leaf in draw(st.lists(texts, unique=True, min_size=1))]
    for parent in parents:
        lines = [(*line, parent[line[-1]]) for line in lines]
    return [(*line, "*") for line in lines]


@pytest.mark.slow
@given(trees())
def test_file(lines: list[tuple[str, ...]]) -> None:
    """A text of a file has the path of its lowest place, or is refused if it has another that is not above it."""
    with tempfile.TemporaryDirectory() as folder:
        with Path(folder, "x.csv").open("w", newline="") as file:
            csv.writer(file).writerows(lines)
        spec = File(Path(folder, "x.csv"))
    for text in "abcdefghi":
        places = {line[level:] for line in lines for level in range(len(line)) if line[level] == text}
        lowest = max(places, key=len, default=None)
        if all(lowest is None or place == lowest[-len(place) :] for place in places):
            assert spec.paths([text, text], column="x") == [lowest] * 2
        else:
            with pytest.raises(HierarchyError, match="stands in two branches"):
                spec.paths(["*", text], column="x")
