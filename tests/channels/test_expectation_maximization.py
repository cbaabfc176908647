"""Shares of true cells: the likelihood never falls, the gap is a proof, and acceleration is worth its name."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from sfumato.channels.additive_noise import GaussianNoise, LaplaceNoise, UniformNoise
from sfumato.channels.channel import BinnedChannel
from sfumato.channels.expectation_maximization import (
    MixtureLikelihood,
    chi_square_below,
    iterate_plainly,
    iterations_by_held_out,
    maximize_likelihood,
    mean_change_below,
    polish,
)
from sfumato.core.randomness import Randomness

DOMAIN = (0.0, 100.0)


def mixture(rows: int, seed: int = 1) -> np.ndarray:
    """Two bumps within the domain."""
    draw = np.random.default_rng(seed)
    values = np.where(draw.random(rows) < 0.5, draw.normal(30, 8, rows), draw.normal(70, 8, rows))
    return np.clip(values, *DOMAIN)


def problem_of(noise: GaussianNoise | UniformNoise | LaplaceNoise, rows: int, bins: int) -> MixtureLikelihood:
    """Counts of perturbed reports of the two bumps."""
    channel = BinnedChannel.of(noise, bins)
    places = channel.observe(noise.perturb(mixture(rows), Randomness(7)))
    return MixtureLikelihood(
        channel.matrix, np.bincount(places, minlength=len(channel.matrix)).astype(float)[None, None]
    )


def random_problem(draw: np.random.Generator, problems: int, *, by: bool) -> MixtureLikelihood:
    """A channel and counts of any kind, with classes that are perturbed or without."""
    cells, reports = draw.integers(2, 6), draw.integers(2, 8)
    column = draw.dirichlet(np.full(reports, 0.5), cells).T
    classes = draw.dirichlet(np.ones(3), 2).T if by else None
    counts = draw.integers(0, 50, (problems, 3 if by else 1, reports)).astype(float)
    counts[:, 0, 0] += 1
    return MixtureLikelihood(column + 1e-3, counts, classes)


@given(seed=st.integers(0, 10_000), by=st.booleans())
@settings(max_examples=30, deadline=None)
def test_the_likelihood_never_falls(seed: int, by: bool) -> None:
    """Not at any length of either iteration, nor by the Newton steps after it."""
    draw = np.random.default_rng(seed)
    problem = random_problem(draw, 3, by=by)
    for reached in (
        [iterate_plainly(problem, steps).log_likelihood for steps in range(1, 12)],
        [maximize_likelihood(problem, evaluations=most, tolerance=0).log_likelihood for most in range(4, 40, 3)],
    ):
        for before, after in pairwise(reached):
            assert (after >= before - 1e-9 * np.abs(before)).all()
    fitted = maximize_likelihood(problem, evaluations=10)
    assert (
        polish(problem, fitted).log_likelihood >= fitted.log_likelihood - 1e-9 * np.abs(fitted.log_likelihood)
    ).all()


@pytest.mark.slow
@given(seed=st.integers(0, 10_000), by=st.booleans())
@settings(max_examples=20, deadline=None)
def test_the_gap_bounds_what_is_left(seed: int, by: bool) -> None:
    """Another optimizer finds no shares that are likelier by more than the gap, and none above the polished ones."""
    problem = random_problem(np.random.default_rng(seed), 1, by=by)
    early = iterate_plainly(problem, 5)
    best = polish(problem, maximize_likelihood(problem), tolerance=1e-7)
    shape = early.shares.shape

    def loss(logits: np.ndarray) -> float:
        shares = np.exp(logits - logits.max())
        return -float(problem.step((shares / shares.sum()).reshape(shape))[1][0])

    found = -minimize(loss, np.zeros(early.shares.size), method="L-BFGS-B").fun
    assert found <= early.log_likelihood[0] + early.gap[0] + 1e-6
    assert best.log_likelihood[0] >= found - 1e-4
    assert best.gap[0] <= 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(
    "noise", [GaussianNoise(20.0, DOMAIN), UniformNoise(50.0, DOMAIN), LaplaceNoise(10.0, DOMAIN)], ids=lambda n: n.kind
)
def test_five_hundred_evaluations_reach_what_twenty_thousand_do(noise: GaussianNoise) -> None:
    """SQUAREM and the Newton steps behind it are as likely as 20,000 plain steps, and proved to be the best."""
    problem = problem_of(noise, 20_000, 60)
    plain = iterate_plainly(problem, 20_000)
    quick = maximize_likelihood(problem, evaluations=500)
    assert quick.log_likelihood[0] >= plain.log_likelihood[0] - 1e-4 * abs(plain.log_likelihood[0])
    done = polish(problem, quick)
    assert done.iterations <= 520
    assert done.stopped == "converged"
    assert done.gap[0] <= 0.02
    assert done.log_likelihood[0] >= plain.log_likelihood[0] - 0.02


def test_problems_do_not_mix() -> None:
    """Several problems at once give what each gives alone."""
    draw = np.random.default_rng(5)
    together = random_problem(draw, 4, by=False)
    alone = [iterate_plainly(MixtureLikelihood(together.column, one[None]), 50).shares[0] for one in together.counts]
    assert iterate_plainly(together, 50).shares == pytest.approx(np.array(alone))


def test_the_rules_of_the_chapter_stop_early() -> None:
    """At one per cent of mean change a mixture is at least at twice the error that it comes to."""
    noise, rows = GaussianNoise(20.0, DOMAIN), 100_000
    problem = problem_of(noise, rows, 60)
    true = np.histogram(mixture(rows), np.linspace(0, 100, 61))[0] / rows

    def error(shares: np.ndarray) -> float:
        return float(np.abs(shares[0, 0] - true).sum())

    early = iterate_plainly(problem, 10_000, ends=mean_change_below(0.01), rule="mean-change")
    square = iterate_plainly(problem, 10_000, ends=chi_square_below(0.01, problem.totals), rule="chi-square")
    chosen = iterate_plainly(problem, iterations_by_held_out(problem))
    assert early.stopped == "mean-change"
    assert square.stopped == "chi-square"
    assert error(early.shares) > 2 * error(chosen.shares)
    assert early.iterations < chosen.iterations
    assert early.gap[0] > chosen.gap[0]
