"""Cuts near medians: along the column that varies most, with room for groups of k, and only where persons allow it."""

import numpy as np

from sfumato.cluster.median_cuts import median_cuts
from sfumato.cluster.mixed_points import CategoryColumn, MixedPoints


def test_groups_of_a_line_are_runs() -> None:
    """Cuts at medians part numbers without an overlap, whatever their order."""
    numbers = np.random.default_rng(1).permutation(160).astype(np.float64)
    group = median_cuts(MixedPoints(numbers[:, None]), 10)
    assert sorted(sorted(numbers[group == one]) for one in range(16)) == [
        [float(i) for i in range(10 * one, 10 * one + 10)] for one in range(16)
    ]


def test_cuts_leave_room_for_groups_of_k() -> None:
    """Of 50 rows come five groups of ten, not four of twelve or thirteen."""
    points = MixedPoints(np.arange(50.0)[:, None])
    assert np.bincount(median_cuts(points, 10)).tolist() == [10] * 5


def test_the_column_that_varies_most_is_cut() -> None:
    """Twice as wide numbers are cut twice as often: 4 x 2 cells."""
    wide, narrow = np.meshgrid(np.arange(8.0), np.arange(4.0))
    points = MixedPoints(np.column_stack([wide.ravel(), narrow.ravel()]))
    group = median_cuts(points, 4)
    cells = {one: (set(points.numbers[group == one, 0]), set(points.numbers[group == one, 1])) for one in range(8)}
    assert sorted((len(first), len(second)) for first, second in cells.values()) == [(2, 2)] * 8


def test_categories_are_cut_where_they_weigh_more() -> None:
    """A category of weight 10 separates its two values before a number is cut; one of weight 0 never does."""
    numbers = np.tile(np.arange(4.0), 2)[:, None] / 4
    codes = np.repeat([0, 1], 4)
    for weight, pure in ((10.0, True), (0.0, False)):
        group = median_cuts(MixedPoints(numbers, (CategoryColumn(codes, 2, weight),)), 4)
        assert all(len(set(codes[group == one])) == 1 for one in range(2)) is pure


def test_a_tree_is_cut_depth_first() -> None:
    """Values under one parent stay together, though their codes are mixed."""
    codes = np.repeat(np.arange(4), 5)
    tree = np.array([[0, 0], [1, 1], [2, 0], [3, 1]])
    group = median_cuts(MixedPoints(np.zeros((20, 0)), (CategoryColumn(codes, 4, levels=tree),)), 10)
    assert {frozenset(codes[group == one].tolist()) for one in range(2)} == {frozenset({0, 2}), frozenset({1, 3})}


def test_a_cut_that_parts_persons_badly_is_made_along_another_column() -> None:
    """Below the median of the wide column everybody is one person; the narrow column parts all alike."""
    persons = np.array([1, 1, 1, 1, 2, 3, 4, 5])
    points = MixedPoints(np.column_stack([np.arange(8.0), np.tile([0.0, 1.0], 4)]))
    group = median_cuts(points, 3, persons)
    assert sorted(sorted(points.numbers[group == one, 1]) for one in range(2)) == [[0.0] * 4, [1.0] * 4]


def test_larger_groups_may_be_asked_for() -> None:
    """Blocks for another algorithm: no group of fewer than twice the size is cut."""
    points = MixedPoints(np.random.default_rng(1).normal(size=(1000, 2)))
    sizes = np.bincount(median_cuts(points, 3, size=100))
    assert (sizes.min() >= 100, sizes.max() < 200) == (True, True)
