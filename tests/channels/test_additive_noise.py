"""Noise for numbers: its functions against numerical integration, its grid, and what it refuses."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import kstest

from sfumato.channels.additive_noise import AdditiveNoise, GaussianNoise, LaplaceNoise, UniformNoise
from sfumato.core.randomness import Randomness
from sfumato.errors import DataError, InputError

DOMAIN = (0.0, 100.0)
KINDS = [GaussianNoise(20.0, DOMAIN), UniformNoise(50.0, DOMAIN), LaplaceNoise(7.0, DOMAIN)]


@pytest.mark.parametrize("noise", KINDS, ids=lambda noise: noise.kind)
def test_functions_agree_with_the_density(noise: AdditiveNoise) -> None:
    """Cumulative, its integral, quantiles, variance and characteristic function follow from the density."""

    def density(y: float) -> float:
        return float(noise.density(np.array([y]))[0])

    ends, edges = (-8 * noise.reach, 8 * noise.reach), [-noise.spread, 0.0, noise.spread]
    for y in (-30.0, -3.0, 0.0, 11.0, 45.0):
        below = quad(density, ends[0], y, points=[e for e in edges if e < y] or None, limit=500)[0]
        assert noise.cumulative(np.array([y]))[0] == pytest.approx(below, abs=1e-6)
        area = quad(lambda t: float(noise.cumulative(np.array([t]))[0]), ends[0], y, limit=500)[0]
        assert noise.cumulative_integral(np.array([y]))[0] == pytest.approx(area, abs=1e-4)
        if 0 < below < 1:
            assert noise.quantile(np.array([below]))[0] == pytest.approx(y, abs=1e-3)
    assert quad(lambda y: y * y * density(y), *ends, points=edges, limit=500)[0] == pytest.approx(
        noise.variance, rel=1e-4
    )
    for t in (0.01, 0.1, 0.3):
        wave = quad(lambda y, t=t: math.cos(t * y) * density(y), *ends, points=edges, limit=2000)[0]
        assert noise.characteristic(np.array([t]))[0] == pytest.approx(wave, abs=1e-4)


@pytest.mark.parametrize("noise", KINDS, ids=lambda noise: noise.kind)
def test_draws_follow_the_distribution(noise: AdditiveNoise) -> None:
    """Twenty thousand deviations pass a test of Kolmogorov and Smirnov."""
    drawn = noise.draw(20_000, Randomness(5))
    assert kstest(noise.cumulative(drawn), "uniform").pvalue > 1e-3


@pytest.mark.parametrize("noise", KINDS, ids=lambda noise: noise.kind)
def test_chances_of_intervals(noise: AdditiveNoise) -> None:
    """The chance of a cell of reports for a bin of values is what a simulation finds, and columns add up to 1."""
    edges, reports = np.linspace(0, 100, 5), np.linspace(-100, 200, 31)
    mass = noise.interval_mass(edges, reports)
    assert mass.sum(axis=0) == pytest.approx(np.ones(4))
    draw = np.random.default_rng(3)
    values = draw.uniform(25, 50, 400_000) + noise.draw(400_000, Randomness(9))
    seen = np.histogram(np.clip(values, -99.9, 199.9), reports)[0] / 400_000
    assert seen == pytest.approx(mass[:, 1], abs=4e-3)


@given(value=st.floats(0, 100), spread=st.floats(1e-3, 1e6), seed=st.integers(0, 2**32))
def test_reports_lie_on_a_grid_that_the_noise_alone_fixes(value: float, spread: float, seed: int) -> None:
    """A report is a whole number of steps, so its last digits say nothing of the value; and the noise admits it."""
    for kind in (GaussianNoise, UniformNoise, LaplaceNoise):
        noise = kind(spread, DOMAIN)
        report = noise.perturb(np.array([value]), Randomness(seed))
        steps = report / noise.step
        assert abs(steps - np.rint(steps))[0] <= 1e-6 * max(1.0, abs(steps[0]) * 1e-6)
        assert noise.admits(report).all()
        assert not noise.admits(report + noise.step / 2).any()


def test_what_a_noise_cannot_produce() -> None:
    """Off the grid, beyond its reach, and NaN are not admitted."""
    noise = UniformNoise(10.0, DOMAIN)
    assert noise.admits(np.array([-10.0, 110.0, 55.5])).all()
    assert not noise.admits(np.array([-10.1, 110.1, 55.12345678, np.nan, np.inf])).any()


def test_epsilon() -> None:
    """Laplace noise bounds the ratio of densities over the domain by e^ε; the other two have no bound."""
    noise = LaplaceNoise(25.0, DOMAIN)
    z = np.linspace(-300, 400, 5001)
    ratio = np.log(noise.density(z - 0.0) / noise.density(z - 100.0))
    assert np.abs(ratio).max() == pytest.approx(noise.epsilon)
    assert math.isinf(GaussianNoise(25.0, DOMAIN).epsilon)
    assert math.isinf(UniformNoise(25.0, DOMAIN).epsilon)


@pytest.mark.parametrize("spread", [0.0, -1.0, math.nan, math.inf])
def test_a_spread_that_is_none(spread: float) -> None:
    """No noise at all is no noise."""
    with pytest.raises(InputError, match="sigma must be a number above 0"):
        GaussianNoise(spread, DOMAIN)


@pytest.mark.parametrize("domain", [(1.0, 1.0), (2.0, 1.0), (math.nan, 1.0), (0.0, math.inf)])
def test_a_domain_that_is_none(domain: tuple[float, float]) -> None:
    """A domain has a lower and a higher end."""
    with pytest.raises(InputError, match="domain must be two numbers"):
        GaussianNoise(1.0, domain)


def test_values_outside_the_domain_are_refused_without_being_told() -> None:
    """The sentence has the row, the column and the domain, and not the value."""
    with pytest.raises(DataError, match=r"column 'age': the value in row 2 is not a number from 0 to 100") as caught:
        KINDS[0].check_values(np.array([4.0, 123.0]), "age")
    assert "123" not in str(caught.value)
