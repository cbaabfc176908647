"""Drawing from the statistics of groups: means, covariances, frequencies, bounds and grids."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.condense.pseudo_rows import (
    apportion,
    deal_categories,
    draw_along,
    find_spokes,
    settle_numbers,
    uniform_units,
)
from sfumato.core.randomness import Randomness
from sfumato.core.segments import Segments


def draw_clouds(points: np.ndarray, rows: int) -> np.ndarray:
    """Draw points for groups, float[g, n, d], by their own means and axes."""
    return draw_along(points.mean(axis=1, keepdims=True), find_spokes(points), rows, Randomness(1))


def test_units_have_variance_one_and_a_bound() -> None:
    """Uniform units have mean 0 and variance 1, and never leave ±√3."""
    units = uniform_units(Randomness(3), (200_000,))
    assert abs(units.mean()) < 0.01
    assert abs(units.var() - 1) < 0.01
    assert np.abs(units).max() <= np.sqrt(3)


@pytest.mark.parametrize("size", [4, 30])
def test_means_are_exact_and_covariances_expected(size: int) -> None:
    """Drawn points have the mean of their group exactly and its covariances on average, by either decomposition."""
    rng = np.random.default_rng(1)
    group = rng.normal(size=(size, 6)) @ rng.normal(size=(6, 6)) + 5
    drawn = draw_clouds(np.repeat(group[None], 400, axis=0), 50)
    assert np.allclose(drawn.mean(axis=1), group.mean(axis=0))
    centred = drawn - drawn.mean(axis=1, keepdims=True)
    found = np.einsum("gni,gnj->ij", centred, centred) / (400 * 50)
    expected = np.cov(group.T, bias=True)
    assert np.abs(found - expected).max() < 0.08 * np.abs(expected).max()


def test_points_stay_in_the_span_of_their_group() -> None:
    """A direction in which a group does not vary has no drawn variation: a constant column stays constant."""
    group = np.array([[1.0, 2.0, 7.0], [2.0, 4.0, 7.0], [4.0, 8.0, 7.0]])
    drawn = draw_clouds(group[None], 20)[0]
    assert np.allclose(drawn[:, 1], 2 * drawn[:, 0])
    assert np.allclose(drawn[:, 2], 7)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_categories_are_dealt_as_often_as_they_are_held(data: st.DataObject) -> None:
    """Every group gives each category to exactly as many pseudo-rows as it has, and each pseudo-row one category."""
    groups, width = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 6))
    rows = data.draw(st.integers(1, 9))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    held = rng.integers(0, width, (groups, rows))
    counts = np.stack([np.bincount(line, minlength=width) for line in held])
    dealt = deal_categories(rng.normal(size=(groups, rows, width)), counts)
    assert np.array_equal(np.stack([np.bincount(line, minlength=width) for line in dealt]), counts)


def test_categories_go_where_they_fit() -> None:
    """Of two categories the higher coordinate decides, as far as counts allow."""
    coordinates = np.array([[[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.1, 0.9]]])
    assert deal_categories(coordinates, np.array([[2, 2]])).tolist() == [[0, 0, 1, 1]]


@given(st.integers(0, 500))
@settings(max_examples=60, deadline=None)
def test_apportioned_counts_add_up(seed: int) -> None:
    """Counts are filled up to the total, none gets less than it had, and a group without any gets usual ones."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, (5, 3))
    totals = counts.sum(axis=1) + rng.integers(0, 6, 5)
    usual = np.array([5, 3, 0])
    found = apportion(counts, totals, usual)
    assert np.array_equal(found.sum(axis=1), totals)
    assert (found >= counts).all()
    assert not found[counts.sum(axis=1) == 0][:, 2].any()


@given(st.integers(0, 2000), st.sampled_from([0.0, 1.0, 0.25]))
@settings(max_examples=120, deadline=None)
def test_settled_numbers_keep_mean_bounds_and_grid(seed: int, step: float) -> None:
    """Whatever was drawn, numbers end within bounds and on the grid, with the mean that was asked for."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 9, 4)
    runs = Segments.from_lengths(lengths)
    numbers = rng.normal(5, rng.choice([0.5, 20]), lengths.sum())
    means = rng.uniform(0, 10, 4)
    settled = settle_numbers(numbers, runs, means, 0.0, 10.0, step)
    assert settled.min() >= 0
    assert settled.max() <= 10
    found = np.add.reduceat(settled, runs.starts) / lengths
    assert np.abs(found - means).max() <= (step / 2 / lengths).max() + 1e-6
    if step:
        assert np.allclose(settled / step, np.rint(settled / step))


def test_settling_huge_numbers_overflows_nowhere() -> None:
    """Numbers near the largest float are settled without a warning or an infinity."""
    runs = Segments.from_lengths(np.array([3]))
    settled = settle_numbers(np.array([1e308, -1e308, 1.5e308]), runs, np.array([5e307]), -1.7e308, 1.7e308, 0.0)
    assert np.isfinite(settled).all()
