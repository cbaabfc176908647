"""Ranges and sets: what binds to them, what is refused, and that their labels read back as they were meant."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sfumato.errors import HierarchyError
from sfumato.hierarchy import Hierarchy, Ranges, Sets
from sfumato.hierarchy.range_labels import read_range, write_range
from sfumato.hierarchy.set_labels import in_order, parse_set, write_set

Lawful = Callable[[Hierarchy, Sequence[str | None]], None]

cells = st.none() | st.text('ab,{}\\ *"NUL\n\r', max_size=6) | st.sampled_from(["NULL", "*", "{a, b}", "\\NULL", ""])
decimals = st.decimals(-1000, 1000, places=3).map(str)


@given(st.lists(st.none() | decimals, unique=True, max_size=12))
def test_ranges_bind(lawful: Lawful, values: list[str | None]) -> None:
    """A column of ranges has two levels, and its values are ranked as numbers with NULL last."""
    tree = Ranges().bind(values, column="x")
    lawful(tree, values)
    assert tree.height == 1
    assert tree.ranks is not None
    ranked = [values[i] for i in tree.ranks.argsort()]
    numbers = [Fraction(value) for value in ranked if value is not None]
    assert numbers == sorted(numbers)
    assert None not in ranked[: len(numbers)]


@given(st.lists(cells, unique=True, max_size=9))
def test_sets_bind(lawful: Lawful, values: list[str | None]) -> None:
    """A column of sets takes any text and has two levels."""
    tree = Sets().bind(values, column="x")
    lawful(tree, values)
    assert tree.height == 1


@pytest.mark.parametrize(
    ("spec", "values", "fault"),
    [
        (Ranges(), ["1", "x", "NaN", "inf"], "not finite numbers: 'x', 'NaN', 'inf'; mend them, or declare"),
        (Ranges(domain=(0, 9)), ["-1", "5", "10", None], "outside of its domain: '-1', '10'; widen the domain"),
        (Ranges(domain=(0, 9)), ["1", "1.5"], "not integers: '1.5'; say integers = false"),
        (Ranges(integers=True), ["0.5"], "not integers: '0.5'; say integers = false"),
    ],
)
def test_ranges_refuse(spec: Ranges, values: list[str | None], fault: str) -> None:
    """Values that are no numbers of the domain are listed, all of them, with a way out."""
    with pytest.raises(HierarchyError) as caught:
        spec.bind(values, column="height")
    assert str(caught.value).startswith(f"column 'height': {fault}")


@given(st.lists(cells, unique=True, min_size=1, max_size=8))
def test_sets_read_back(values: list[str | None]) -> None:
    """Whatever its members are, a set reads back as these, in the order of their text."""
    assume(values != [None])
    label = write_set(values)
    assert label is not None
    assert parse_set(label) == tuple(in_order(values))


@given(st.lists(cells, unique=True, min_size=1, max_size=5), st.lists(cells, unique=True, min_size=1, max_size=5))
def test_different_sets_have_different_labels(one: list[str | None], other: list[str | None]) -> None:
    """Two sets have the same label only if they are the same."""
    assert (write_set(one) == write_set(other)) == (set(one) == set(other))


@pytest.mark.parametrize("label", ["{a,b}", "{a,}", "{\\}"])
def test_what_is_no_set(label: str) -> None:
    """A comma without a blank, and a backslash before nothing, are never written and not read."""
    with pytest.raises(ValueError, match="not a set"):
        parse_set(label)


bounds = st.integers(-(10**6), 10**6)


@given(bounds, bounds, st.sampled_from([1, 10, 1000]), st.booleans(), st.data())
def test_ranges_read_back(one: int, other: int, scale: int, closed: bool, data: st.DataObject) -> None:
    """A range reads back with exactly its bounds, however it is written, and no range begins with a minus."""
    low, high = min(one, other), max(one, other) + (not closed)
    whole = scale == 1 and not closed and data.draw(st.booleans())
    label = write_range(low, high, scale=scale, whole=whole, closed=closed)
    found = read_range(label)
    assert found.low == Fraction(low, scale)
    if whole and found.closed:
        assert found.high == high - 1
    else:
        assert (found.high, found.closed) == (Fraction(high, scale), closed)
    assert not label.startswith("-") or found.low == found.high
    assert found.covers(Fraction(low, scale))
    assert not found.covers(Fraction(low, scale) - Fraction(1, 7))


@given(bounds, st.sampled_from([1, 100]))
def test_open_ranges_read_back(end: int, scale: int) -> None:
    """A range that is open at one end reads back as one."""
    below, above = write_range(-math.inf, end, scale=scale), write_range(end, math.inf, scale=scale)
    assert read_range(below) == (-math.inf, Fraction(end, scale), False)
    assert read_range(above) == (Fraction(end, scale), math.inf, False)
    assert not below.startswith("-")
    assert not above.startswith("-")


@pytest.mark.parametrize("label", ["", "a", "1-", "[1, 2", "<", "+", "{1, 2}", "1e5", "[1 ,2)"])
def test_what_is_no_range(label: str) -> None:
    """Any other text is refused."""
    with pytest.raises(ValueError, match="not a range"):
        read_range(label)


@pytest.mark.parametrize(
    ("given_", "whole"),
    [({}, False), ({"domain": (0, 9)}, True), ({"domain": (0, 9.5)}, False), ({"integers": True}, True)],
)
def test_whole_numbers_are_declared(given_: dict[str, Any], whole: bool) -> None:
    """Ranges are of whole numbers where that, or a domain of whole numbers, is declared; values do not matter."""
    assert Ranges(**given_).whole is whole
