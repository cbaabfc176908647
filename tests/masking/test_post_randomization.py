"""Post-randomization: draws against the matrix, the matrix against its definitions."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from sfumato.core.randomness import Randomness
from sfumato.masking.post_randomization import TransitionChances

COUNTS = np.array([5000, 3000, 1500, 500])


@pytest.mark.parametrize("invariant", [False, True])
def test_draws_follow_the_matrix(*, invariant: bool) -> None:
    """For each true value the published ones are as frequent as its row of the matrix says (chi-square, a seed)."""
    chances = TransitionChances.of(0.6, COUNTS, invariant=invariant)
    for value, row in enumerate(chances.matrix()):
        drawn = chances.draw(np.full(20_000, value), Randomness(7, str(value)))
        assert chisquare(np.bincount(drawn, minlength=4), row * 20_000).pvalue > 0.001


@settings(deadline=None)
@given(st.lists(st.integers(1, 1000), min_size=1, max_size=8), st.floats(0, 0.99))
def test_an_invariant_matrix_leaves_frequencies(counts: list[int], keep: float) -> None:
    """Frequencies times the matrix are the frequencies."""
    shares = np.array(counts) / sum(counts)
    matrix = TransitionChances.of(keep, np.array(counts), invariant=True).matrix()
    assert np.allclose(matrix.sum(axis=1), 1)
    assert np.allclose(shares @ matrix, shares)


def test_invariant_draws_leave_counts_on_average() -> None:
    """Over many draws the mean count of each value is what it was, within four standard errors."""
    codes = np.repeat(np.arange(4), COUNTS // 10)
    chances = TransitionChances.of(0.5, COUNTS // 10, invariant=True)
    counts = np.array([np.bincount(chances.draw(codes, Randomness(seed)), minlength=4) for seed in range(200)])
    error = counts.std(axis=0) / math.sqrt(200)
    assert (np.abs(counts.mean(axis=0) - COUNTS // 10) < 4 * error).all()


@settings(deadline=None)
@given(st.lists(st.integers(1, 50), min_size=2, max_size=6), st.floats(0.01, 0.95), st.booleans())
def test_epsilon_bounds_every_ratio_of_the_matrix(counts: list[int], keep: float, invariant: bool) -> None:
    """By brute force over pairs of true values and published ones; and some pair reaches it."""
    chances = TransitionChances.of(keep, np.array(counts), invariant=invariant)
    matrix = chances.matrix()
    ratios = [
        math.log(matrix[i, z] / matrix[j, z]) for i, j, z in itertools.product(range(len(counts)), repeat=3) if i != j
    ]
    assert max(ratios) == pytest.approx(chances.epsilon)


def test_counts_can_be_worked_out_again() -> None:
    """The correction that a query states is unbiased: (count - rows (1 - p) / m) / p."""
    codes = np.repeat(np.arange(4), COUNTS)
    drawn = TransitionChances.of(0.8, COUNTS, invariant=False).draw(codes, Randomness(3))
    counted = np.bincount(drawn, minlength=4)
    again = (counted - len(codes) * 0.2 / 4) / 0.8
    assert np.abs(again - COUNTS).max() < 5 * np.sqrt(len(codes) * 0.25) / 0.8


def test_one_value_tells_nothing() -> None:
    """A column of one value is drawn again as it is, with an ε of 0."""
    chances = TransitionChances.of(0.3, np.array([9]), invariant=False)
    assert chances.draw(np.zeros(9, dtype=np.int64), Randomness(1)).tolist() == [0] * 9
    assert chances.epsilon == 0
