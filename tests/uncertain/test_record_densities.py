"""Expected anonymity and the smallest spreads: against simulation, the definition, and on any points."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core.randomness import Randomness
from sfumato.uncertain.record_densities import (
    DENSITIES,
    GRID,
    STEPS,
    Density,
    count_expected,
    ladder,
    smallest_spreads,
)
from sfumato.verifier.uncertain_rows import expected_fits

BOTH = pytest.mark.parametrize("density", list(DENSITIES.values()), ids=list(DENSITIES))


def _simulated(points: np.ndarray, row: int, spread: float, density: Density, draws: int) -> float:
    """Draw centres, and count the records whose density there is at least that of the own."""
    deviations = density.draw(draws, points.shape[1], Randomness(5))
    centers = points[row] + spread * deviations
    off = (points[None, :, :] - centers[:, None, :]) / spread
    fit = -(off**2).sum(axis=2) if density.name == "gaussian" else (np.abs(off) <= 1).all(axis=2).astype(float)
    return float((fit >= fit[:, [row]]).sum(axis=1).mean())


@BOTH
def test_the_formula_is_what_draws_come_to(density: Density) -> None:
    """Over ten thousand draws as many records fit as well as the formula says, up to chance and rounding."""
    points = np.random.default_rng(1).normal(size=(40, 3))
    points[7] = points[3]
    for row, spread in ((0, 0.4), (3, 0.7), (11, 2.0)):
        formula = expected_fits(points, np.full(40, spread), density.name, np.inf)[row]
        assert _simulated(points, row, spread, density, 10_000) == pytest.approx(formula, rel=0.03)
        counted = count_expected(points, np.full(40, spread), density)[row]
        assert counted <= formula * (1 + 1e-9)  # what is counted when spreads are sought is a lower bound
        assert counted == pytest.approx(formula, rel=0.01)


@BOTH
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_spreads_are_enough_and_no_smaller_would_be(density: Density, data: st.DataObject) -> None:
    """On any points every record reaches k, by other code too, and at two steps below none does."""
    columns = data.draw(st.integers(1, 3))
    cell = st.integers(-20, 20).map(lambda number: number / 4)
    rows = data.draw(st.lists(st.lists(cell, min_size=columns, max_size=columns), min_size=2, max_size=30))
    k = data.draw(st.integers(2, 6))
    points = np.array(rows)
    found = smallest_spreads(points, k, density)
    counts = np.array([(points == point).all(axis=1).sum() for point in points])
    most = density.most(len(points), counts)
    if found is None:
        assert ((counts < k) & (most <= k)).any()
        return
    assert ((found == 0) == (counts >= k)).all()
    assert (expected_fits(points, found, density.name, np.inf) >= k * (1 - 1e-12)).all()
    steps = [round(STEPS * np.log10(spread)) if spread else 0 for spread in found]
    lower = np.array([ladder(step - 2) if spread else 0.0 for step, spread in zip(steps, found, strict=True)])
    below = expected_fits(points, lower, density.name, np.inf)
    assert (below[found > 0] < k * 1.02).all()


@BOTH
def test_many_points_in_many_leaves(density: Density) -> None:
    """The same where points are in many leaves, with an outlier that all others are far from."""
    rng = np.random.default_rng(2)
    points = np.concatenate([rng.normal(size=(400, 4)), rng.normal(size=(200, 4)) / 50, np.full((1, 4), 30.0)])
    found = smallest_spreads(points, 8, density)
    assert found is not None
    reached = expected_fits(points, found, density.name, np.inf)
    assert reached.min() >= 8
    assert np.median(reached) < 8 * 1.3  # a step of the ladder is worth so much in four columns
    assert found[-1] == found.max()


def test_what_cannot_be_reached() -> None:
    """Normal densities reach less than half of the others, boxes less than all; equal records are reached at once."""
    points = np.arange(9.0)[:, None]
    gaussian, uniform = DENSITIES["gaussian"], DENSITIES["uniform"]
    assert smallest_spreads(points, 5, gaussian) is None
    assert smallest_spreads(points, 4, gaussian) is not None
    assert smallest_spreads(points, 9, uniform) is None
    assert smallest_spreads(points, 8, uniform) is not None
    assert smallest_spreads(np.zeros((9, 1)), 9, gaussian) is not None


@BOTH
def test_draws_are_of_the_density(density: Density) -> None:
    """Deviations have the mean and the variance that they should have, and boxes have ends."""
    drawn = density.draw(20_000, 2, Randomness())
    assert abs(drawn.mean()) < 0.03
    assert drawn.var() == pytest.approx(1.0 if density.name == "gaussian" else 1 / 3, rel=0.05)
    if density.name == "uniform":
        assert np.abs(drawn).max() <= 1 - GRID


def test_the_ladder_is_a_ladder() -> None:
    """Steps go up by about a twentieth, and have three digits."""
    steps = np.array([ladder(step) for step in range(-100, 100)])
    ratios = steps[1:] / steps[:-1]
    assert ratios.min() > 1.03
    assert ratios.max() < 1.07


@BOTH
def test_a_difference_too_small_to_square_is_a_difference(density: Density) -> None:
    """Two records whose distance is 1e-170 are not equal, by neither implementation, and k of them are not told."""
    points = np.concatenate([[0.0, 1e-170], np.linspace(1, 9, 40)])[:, None]
    if density.name == "gaussian":
        assert count_expected(points, np.full(42, 1e-9), density)[0] < 1.5
        assert expected_fits(points, np.full(42, 1e-9), density.name, np.inf)[0] == pytest.approx(1.5)
    found = smallest_spreads(points, 2, density)
    assert found is not None
    assert found.min() > 0
    assert expected_fits(points, found, density.name, np.inf).min() >= 2


@BOTH
def test_a_tree_and_parts_leave_out_next_to_nothing(density: Density, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where records are many, and pairs come in parts, spreads are enough and at most a step above the smallest."""
    rng = np.random.default_rng(8)
    points = np.concatenate([rng.normal(size=(390, 3)), rng.normal(size=(9, 3)) * 30, np.zeros((12, 3))])
    whole = smallest_spreads(points, 6, density)
    monkeypatch.setattr("sfumato.uncertain.record_densities._PAIRS", 5000)
    parts = smallest_spreads(points, 6, density)
    assert whole is not None
    assert parts is not None
    assert parts.tolist() == whole.tolist()
    assert (parts[-12:] == 0).all()
    assert count_expected(points, parts, density).min() >= 6
    below = parts * 10 ** (-2.1 / STEPS)
    assert (count_expected(points, below, density)[:-12] < 6).all()
    monkeypatch.setattr("sfumato.verifier.uncertain_rows._PAIRS_AT_ONCE", 3000)
    assert expected_fits(points, parts, density.name, 6.0).min() >= 6
    assert (expected_fits(points, parts, density.name, np.inf) >= count_expected(points, parts, density) - 1e-6).all()
