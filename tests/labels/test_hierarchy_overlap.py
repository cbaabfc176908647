"""Which labels cover which values: held against the labels of the hierarchy itself, level by level."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.encode import CodedColumn, QuasiIdentifier
from sfumato.errors import HierarchyError
from sfumato.hierarchy import Intervals, Mask, Ranges, Sets, Spec, Suppress
from sfumato.hierarchy.hierarchy import build
from sfumato.hierarchy.open_ended import write_set
from sfumato.labels.hierarchy_overlap import HierarchyOverlap


def attribute(spec: Spec, values: list[str | None]) -> QuasiIdentifier:
    """A column with each of these values once."""
    column = CodedColumn("c", np.arange(len(values)), tuple(values), None)
    return QuasiIdentifier(column, spec.bind(values, column="c"), 1.0, spec)


AGES = st.lists(st.integers(0, 99).map(str) | st.none(), min_size=1, max_size=15, unique=True)


@settings(max_examples=60, deadline=None)
@given(AGES, AGES, st.sampled_from([Intervals(intervals=[5, 10, 20]), Mask(mask="right"), Suppress()]))
def test_a_label_covers_the_values_that_lead_to_it(before: list[Any], values: list[Any], spec: Spec) -> None:
    """Labels of all levels of one table, beside the values of another: covered is who has the label on some level."""
    tree = spec.bind(before, column="c")
    labels = list(dict.fromkeys(label for level in tree.labels for label in level))
    one = attribute(spec, values)
    try:
        found = HierarchyOverlap(one, labels, None).overlaps(np.arange(len(values)))
    except HierarchyError:  # a short code that is masked reads like another
        return
    for place in range(len(values)):
        mine = {one.hierarchy.labels[level][code] for level, code in enumerate(one.hierarchy.matrix[place])}
        assert [label in mine for label in labels] == found[place].tolist()


@settings(max_examples=60, deadline=None)
@given(AGES, AGES)
def test_at_one_level_each_value_has_one_label_or_none(before: list[Any], values: list[Any]) -> None:
    """The single label of a value is the one of that level, where the other table had it."""
    spec = Intervals(intervals=[5, 10, 20])
    labels = list(spec.bind(before, column="c").labels[1])
    one = attribute(spec, values)
    single = HierarchyOverlap(one, labels, 1).single_overlap()
    assert single is not None
    for place, label in enumerate(single.tolist()):
        mine = one.hierarchy.labels[1][one.hierarchy.matrix[place, 1]]
        assert (labels[label] == mine) if label >= 0 else (mine not in labels)


@settings(max_examples=60, deadline=None)
@given(AGES, st.integers(0, 99), st.integers(0, 99))
def test_ranges_cover_the_numbers_between_their_ends(values: list[Any], low: int, high: int) -> None:
    """Ranges are read as they are written, open ends included; NULL is covered by NULL and by a star."""
    low, high = min(low, high), max(low, high)
    labels = [f"{low}-{high}", f"<{low}", f"{high}+", str(low), None, "*"]
    found = HierarchyOverlap(attribute(Ranges(integers=True), values), labels, None).overlaps(np.arange(len(values)))
    for value, line in zip(values, found.tolist(), strict=True):
        if value is None:
            assert line == [False] * 4 + [True, True]
        else:
            number = int(value)
            expected = [low <= number <= high, number < low, number >= high, number == low, False, True]
            assert line == expected


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.none() | st.text(max_size=4), min_size=1, max_size=8, unique=True),
    st.lists(st.lists(st.none() | st.text(max_size=4), min_size=1, max_size=4, unique=True), min_size=1, max_size=5),
)
def test_sets_cover_their_members(values: list[Any], sets: list[list[Any]]) -> None:
    """However members are written, a set covers those and no others; several sets have no single label."""
    labels = list(dict.fromkeys(write_set(members) for members in sets))
    members_of = {write_set(members): set(members) for members in sets}
    overlap = HierarchyOverlap(attribute(Sets(), values), labels, None)
    found = overlap.overlaps(np.arange(len(values)))
    for value, line in zip(values, found.tolist(), strict=True):
        assert line == [value in members_of[label] for label in labels]
    assert (overlap.single_overlap() is None) == bool((found.sum(axis=1) > 1).any())


def test_labels_that_could_mean_two_things_are_refused() -> None:
    """New values may make a label ambiguous that was none among the old ones."""

    class Twisted(Suppress):
        """A hierarchy in which a value is called like the parent of another."""

        def bind(self, values: Any, *, column: str, nulls: Any = ("",)) -> Any:
            del column, nulls
            return build([list(values), ["A" if value == "a" else "B" for value in values]])

    with pytest.raises(HierarchyError, match="labels that stand for different values on different levels"):
        HierarchyOverlap(attribute(Twisted(), ["a", "A"]), ["A"], None)
