"""Distances over numbers and categories are those of scaled indicator columns, which are never made."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.cluster.mixed_points import CategoryColumn, MixedPoints
from sfumato.core.arrays import FloatArray


def mixed_points(seed: int, rows: int) -> MixedPoints:
    """Some rows of two numbers, a plain category and one in a tree of three levels."""
    random = np.random.default_rng(seed)
    tree = np.array([[0, 0, 0], [1, 0, 0], [2, 1, 0], [3, 2, 1], [4, 2, 1]])
    return MixedPoints(
        random.normal(size=(rows, 2)).round(1),
        (
            CategoryColumn(random.integers(0, 3, rows), 3, weight=0.7),
            CategoryColumn(random.integers(0, 5, rows), 5, weight=2.0, levels=tree),
        ),
    )


def indicator_columns(points: MixedPoints) -> FloatArray:
    """The same points as numbers alone: a column for each value and level, scaled by √(weight/2)."""
    columns = [points.numbers]
    for category in points.categories:
        for label in category.labels:
            indicators = np.eye(category.width)[label[category.codes]]
            columns.append(indicators * np.sqrt(category.weight / len(category.labels) / 2))
    return np.hstack(columns)


@given(st.integers(0, 10_000), st.integers(1, 12))
def test_distances_are_those_of_indicator_columns(seed: int, rows: int) -> None:
    """To a row, to a centroid, and within groups."""
    points = mixed_points(seed, rows)
    wide = indicator_columns(points)
    np.testing.assert_allclose(points.distances_to_row(0), ((wide - wide[0]) ** 2).sum(axis=1), atol=1e-9)
    some = np.arange(0, rows, 2)
    centre = wide[some].mean(axis=0)
    np.testing.assert_allclose(
        points.distances_to(points.centroid(some)), ((wide - centre) ** 2).sum(axis=1), atol=1e-9
    )
    group = np.arange(rows) % 3
    lost = sum(float(((wide[group == one] - wide[group == one].mean(axis=0)) ** 2).sum()) for one in set(group))
    assert points.sum_of_squares(group) == pytest.approx(lost)


@given(st.integers(0, 10_000), st.integers(1, 30))
def test_orders_depend_on_contents_alone(seed: int, rows: int) -> None:
    """Both put the same contents at the same places, however the rows come."""
    points = mixed_points(seed, rows)
    shuffled = points.select(np.random.default_rng(seed + 1).permutation(rows))
    for order in ("content_order", "scattered_order"):
        first = indicator_columns(points.select(getattr(points, order)()))
        second = indicator_columns(shuffled.select(getattr(shuffled, order)()))
        np.testing.assert_array_equal(first, second)


def test_contents_are_in_order() -> None:
    """The first number counts first, then the others, then categories."""
    points = MixedPoints(np.array([[2.0, 1.0], [1.0, 9.0], [1.0, 9.0]]), (CategoryColumn(np.array([0, 1, 0]), 2),))
    assert points.content_order().tolist() == [2, 1, 0]


def test_a_hash_for_all_changes_nothing_but_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where different rows have one hash, rows are sorted by their contents."""
    points = mixed_points(1, 20)
    monkeypatch.setattr("sfumato.cluster.mixed_points._mix", lambda words: words * np.uint64(0))
    assert points.scattered_order().tolist() == points.content_order().tolist()


@pytest.mark.parametrize("number", [np.nan, np.inf, 1e200])
def test_numbers_are_finite(number: float) -> None:
    """Neither a missing number nor one without a square has a distance."""
    with pytest.raises(ValueError, match="finite"):
        MixedPoints(np.array([[1.0], [number]]))


def test_shapes_and_codes_are_checked() -> None:
    """Columns have as many rows as there are, codes a value each, values a line of the tree."""
    with pytest.raises(ValueError, match="n codes"):
        MixedPoints(np.zeros((2, 1)), (CategoryColumn(np.array([0]), 1),))
    with pytest.raises(ValueError, match="3 values"):
        CategoryColumn(np.array([0, 3]), 3)
    with pytest.raises(ValueError, match="levels of 1 values"):
        CategoryColumn(np.array([0, 1]), 2, levels=np.array([[0, 0]]))
    with pytest.raises(ValueError, match="weight"):
        CategoryColumn(np.array([0, 1]), 2, weight=-1.0)
