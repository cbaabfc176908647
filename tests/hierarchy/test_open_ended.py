"""Ranges and sets: what binds to them, what is refused, and that their labels read back as they were meant."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sfumato.errors import HierarchyError
from sfumato.hierarchy import Hierarchy, Ranges, Sets
from sfumato.hierarchy.open_ended import read_set, sort_members, write_set

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
    assert read_set(label) == tuple(sort_members(values))


@given(st.lists(cells, unique=True, min_size=1, max_size=5), st.lists(cells, unique=True, min_size=1, max_size=5))
def test_different_sets_have_different_labels(one: list[str | None], other: list[str | None]) -> None:
    """Two sets have the same label only if they are the same."""
    assert (write_set(one) == write_set(other)) == (set(one) == set(other))


@pytest.mark.parametrize("label", ["{a,b}", "{a,}", "{\\}"])
def test_what_is_no_set(label: str) -> None:
    """A comma without a blank, and a backslash before nothing, are never written and not read."""
    with pytest.raises(ValueError, match="not a set"):
        read_set(label)


@pytest.mark.parametrize(
    ("given_", "whole"),
    [({}, False), ({"domain": (0, 9)}, True), ({"domain": (0, 9.5)}, False), ({"integers": True}, True)],
)
def test_whole_numbers_are_declared(given_: dict[str, Any], whole: bool) -> None:
    """Ranges are of whole numbers where that, or a domain of whole numbers, is declared; values do not matter."""
    assert Ranges(**given_).is_whole is whole
