"""Every hierarchy, of whatever kind, is total, functional and nested over whatever it accepts."""

import csv
import io
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import HierarchyError
from sfumato.hierarchy import Dates, File, Hierarchy, Intervals, Mask, Spec, Suppress, write

Lawful = Callable[[Hierarchy, Sequence[str | None]], None]

integers = st.integers(-(10**20), 10**20).map(str)
decimals = st.decimals(-1000, 1000, places=3).map(str)
codes = st.text("ab01.", max_size=6)
dates = st.dates().map(str) | st.datetimes().map(str)


def columns(cells: st.SearchStrategy[str]) -> st.SearchStrategy[list[str | None]]:
    """Distinct values of a column, with or without NULL."""
    return st.lists(st.none() | cells, unique=True, max_size=12)


def widths() -> st.SearchStrategy[list[int]]:
    """Widths of which each is a multiple of the one before."""
    steps = st.tuples(st.integers(1, 30), st.lists(st.integers(1, 5), max_size=3))
    return steps.map(lambda step: [step[0], *(step[0] * _product(step[1][: i + 1]) for i in range(len(step[1])))])


def _product(factors: Sequence[int]) -> int:
    return factors[0] * _product(factors[1:]) if factors else 1


@given(columns(integers | decimals), widths(), st.integers(-50, 50), st.data())
def test_intervals(lawful: Lawful, values: list[str | None], bins: list[int], origin: int, data: st.DataObject) -> None:
    """Intervals nest for any widths and origin, cut at any bottom and top."""
    bottom, top = data.draw(st.none() | st.integers(-90, 0)), data.draw(st.none() | st.integers(0, 90))
    spec = Intervals(bins, origin=origin, bottom=bottom, top=top, integers=False)
    lawful(spec.bind(values, column="x"), values)


@given(columns(st.integers(-40, 40).map(str) | st.decimals(-40, 40, places=2).map(str)), widths())
def test_intervals_in_a_domain(lawful: Lawful, values: list[str | None], bins: list[int]) -> None:
    """Losses over a declared domain grow from level to level and end at 1."""
    tree = Intervals(bins, domain=[-40, 40], integers=False).bind(values, column="x")
    lawful(tree, values)
    assert tree.loss[-1].tolist() == [1.0]


@given(columns(codes), st.sampled_from(["left", "right"]), st.sampled_from([None, 6, 9]))
def test_mask(lawful: Lawful, values: list[str | None], side: str, length: int | None) -> None:
    """Masks nest from either side, with and without a length."""
    lawful(Mask(side, length=length).bind(values, column="x"), values)


@given(columns(dates), st.sampled_from([["day", "week"], ["week"], ["day", "month", "quarter", "year"]]))
def test_dates(lawful: Lawful, values: list[str | None], units: list[str]) -> None:
    """Units of the calendar nest from the year 1 to 9999."""
    lawful(Dates(units).bind(values, column="x"), values)
    lawful(Dates(["month", "decade", "century"]).bind(values, column="x"), values)


@given(columns(st.text(max_size=3)))
def test_suppress(lawful: Lawful, values: list[str | None]) -> None:
    """Suppression takes any text."""
    lawful(Suppress().bind(values, column="x"), values)


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[list[str]], list[str | None]]:
    """Lines of a nested, ragged hierarchy file and values to bind it to."""
    names = st.text('abc;,\t"\r\n *é', min_size=1, max_size=4).filter(lambda text: text != "*")
    leaves = draw(st.lists(names, unique=True, min_size=1, max_size=9))
    lines, groups = [[leaf] for leaf in leaves], list(range(len(leaves)))
    for level in range(draw(st.integers(0, 3))):
        merge = [draw(st.integers(0, group)) for group in range(len(leaves))]
        groups = [merge[group] for group in groups]
        for line, group in zip(lines, groups, strict=True):
            line.append(f"{level}/{group}")
    ragged = draw(st.booleans()) and len(lines[0]) > 1
    rows = [[*line, "*"] for line in lines] + ([["lone", "*"]] if ragged else [])
    return rows, draw(st.lists(st.none() | st.sampled_from([row[0] for row in rows]), unique=True))


@pytest.mark.slow
@given(trees(), st.sampled_from(",;\t"), st.booleans())
def test_file(lawful: Lawful, tree: tuple[list[list[str]], list[str | None]], separator: str, bom: bool) -> None:
    """A nested file is read as it was meant under any separator, quotes, raggedness and a BOM."""
    rows, values = tree
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=separator).writerows(rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.csv")
        path.write_bytes(out.getvalue().encode("utf-8-sig" if bom else "utf-8"))
        bound = File(path).bind(values, column="x")
    lawful(bound, values)
    assert bound.height == max(len(row) for row in rows) - 1


@given(columns(integers) | columns(codes.filter(bool)), st.data())
def test_written_is_applied(values: list[str | None], data: st.DataObject) -> None:
    """What is written reads again as the same hierarchy, losses and all."""
    numeric = all(value is None or value.lstrip("-").isdigit() for value in values)
    spec: Spec = Intervals([5, 50]) if numeric else data.draw(st.sampled_from([Mask("right"), Mask("left", 7)]))
    tree = spec.bind(values, column="x")
    if not values:
        return
    with tempfile.TemporaryDirectory() as folder:
        if any("*" in level for level in tree.labels[:-1]):  # a short code is the root below the root, as no file says
            with pytest.raises(HierarchyError, match="a file has '\\*' as its root alone"):
                write(tree, Path(folder, "x.csv"))
            return
        write(tree, Path(folder, "x.csv"))
        again = File(Path(folder, "x.csv")).bind(values, column="x")
    assert again.labels == tree.labels
    assert np.array_equal(again.matrix, tree.matrix)
    assert [level.tolist() for level in again.loss] == [level.tolist() for level in tree.loss]
    assert again.ranks is not None
    assert tree.ranks is None or again.ranks.tolist() == tree.ranks.tolist()
