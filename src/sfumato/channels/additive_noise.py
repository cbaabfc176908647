"""Noise that is added to numbers: Gaussian, uniform and Laplace.

A person's number x of a stated domain becomes z = x + y, with y drawn from a published distribution that does not
depend on x. From many z the distribution of x can be recovered, and from one z not x itself (section 20.2 of the
chapter). Laplace noise has a local ε: whatever the answer is, it makes any report at most e^ε times likelier than
another answer would. Gaussian and uniform noise have none.

Reports lie on a grid that is fixed by the noise alone: both x and y are rounded to it before they are added. The last
digits of a floating-point sum would tell x from others (Mironov 2012); a sum of whole numbers has no such digits.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from sfumato.core.randomness import Randomness
from sfumato.errors import DataError, InputError, quote

Floats = NDArray[np.float64]

_FINENESS = 4
"""Decimal places of the grid below the leading digit of the noise or the domain, whichever is smaller."""
_LARGEST = 1e300


@dataclass(frozen=True)
class AdditiveNoise:
    """What the three kinds share: a spread, a domain of true values, and reports on a grid.

    `spread` is the parameter of the kind: the standard deviation, the half width or the scale. The functions of the
    noise (`density`, `cumulative` and so on) take deviations y in the unit of the column, of any shape.
    """

    spread: float
    domain: tuple[float, float]

    kind: ClassVar[str]
    parameter: ClassVar[str]
    reach_of_spread: ClassVar[float]
    """Hardly a report is farther from its value than this many spreads: less than one in a million."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.spread) and 0 < self.spread <= _LARGEST):
            raise InputError(f"{self.parameter} must be a number above 0, not {quote(self.spread)}")
        low, high = self.domain
        if not (math.isfinite(low) and math.isfinite(high) and low < high and max(-low, high) <= _LARGEST):
            raise InputError(f"domain must be two numbers, the lower one first, not {quote([low, high])}")
        if not 1e-9 <= self.spread / self.width <= 1e9:
            raise InputError(f"{self.parameter} and the width of the domain must not be so different in size")

    @property
    def width(self) -> float:
        """The width of the domain."""
        return self.domain[1] - self.domain[0]

    @property
    def decimals(self) -> int:
        """Decimal places of a report; below zero where reports are multiples of ten and more."""
        return _FINENESS - math.floor(math.log10(min(self.spread, self.width)))

    @property
    def step(self) -> float:
        """The distance between neighbours on the grid."""
        return float(f"1e{-self.decimals}")

    @property
    def reach(self) -> float:
        """How far reports lie from their values, but for less than one in a million."""
        return self.reach_of_spread * self.spread

    @property
    def epsilon(self) -> float:
        """The local ε of one answer; infinite where there is none."""
        return math.inf

    def as_json(self) -> dict[str, object]:
        """Give the entry of ``noise.json``."""
        return {"kind": self.kind, self.parameter: self.spread, "domain": list(self.domain)}

    def check_values(self, values: Floats, column: str) -> None:
        """Refuse true values that are no numbers of the domain; the sentence says where, and not what."""
        low, high = self.domain
        wrong = np.flatnonzero(~((values >= low) & (values <= high)))  # NaN compares as false
        if len(wrong):
            raise DataError(
                f"column {quote(column)}: the value in row {wrong[0] + 1:,} is not a number from {low:g} to {high:g}, "
                "the domain in the noise; correct it, or widen the domain for everybody"
            )

    def perturb(self, values: Floats, randomness: Randomness) -> Floats:
        """Add noise to n values of the domain: n reports on the grid.

        >>> noise = LaplaceNoise(3.0, (0.0, 60.0))
        >>> noise.perturb(np.array([10.0, 20.0]), Randomness(seed=1)).shape
        (2,)
        """
        return self.add(values, self.draw(len(values), randomness))

    def add(self, values: Floats, deviations: Floats) -> Floats:
        """Add noise that was drawn already: both are rounded to the grid before."""
        return self.from_steps(np.rint(values / self.step) + np.rint(deviations / self.step))

    def from_steps(self, steps: Floats) -> Floats:
        """Turn whole numbers of steps into the numbers that print with the decimal places of the grid."""
        return steps / 10.0**self.decimals if self.decimals >= 0 else steps * 10.0**-self.decimals

    def admits(self, reports: Floats) -> NDArray[np.bool_]:
        """Tell which of n numbers the noise can produce: on the grid, and not too far from the domain."""
        steps = np.rint(reports / self.step)
        with np.errstate(invalid="ignore"):
            near = np.abs(reports - self.from_steps(steps)) <= 1e-6 * self.step + 1e-15 * np.abs(reports)
            low, high = self.domain
            margin = self.farthest + self.step
            return near & (reports >= low - margin) & (reports <= high + margin)

    @property
    def farthest(self) -> float:
        """How far a report can possibly lie from its value: what the least of the chances that are drawn gives."""
        return -float(self.quantile(np.array([2.0**-53]))[0])

    def draw(self, count: int, randomness: Randomness) -> Floats:
        """Draw `count` deviations by the inverse of the cumulative distribution.

        Chances are odd multiples of 2^-53, from 52 random bits each: all of them exact in a float, none 0 or 1, and
        with each u also 1 - u.
        """
        uniform = ((randomness.words(count) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
        return self.quantile(uniform)

    def interval_mass(self, edges: Floats, reports: Floats) -> Floats:
        """Give the chance of a report between neighbouring `reports`, for a value that is uniform between two `edges`.

        edges:   float[k + 1], bounds of the bins of true values
        reports: float[m + 1], bounds of the bins of reports; the first and last are taken as infinite
        returns: float[m, k], each column adds up to 1

        With G the integral of the cumulative distribution F of the noise, a value that is uniform on [l, u] gives a
        report of at most t with chance (G(t - l) - G(t - u)) / (u - l): no midpoint rule, whatever the noise's size.
        """
        integral = self.cumulative_integral(reports[:, None] - edges[None, :])
        below = (integral[:, :-1] - integral[:, 1:]) / np.diff(edges)
        below[0], below[-1] = 0.0, 1.0
        return np.maximum(np.diff(below, axis=0), 0.0)

    def density(self, deviations: Floats) -> Floats:
        """Give the density of the noise."""
        raise NotImplementedError

    def cumulative(self, deviations: Floats) -> Floats:
        """Give the chance of noise of at most so much."""
        raise NotImplementedError

    def cumulative_integral(self, deviations: Floats) -> Floats:
        """Integrate the cumulative distribution from minus infinity."""
        raise NotImplementedError

    def quantile(self, chances: Floats) -> Floats:
        """Give the deviation that noise stays below with a chance."""
        raise NotImplementedError

    def characteristic(self, frequencies: Floats) -> Floats:
        """Give the characteristic function, which is real, since the noise is symmetric."""
        raise NotImplementedError

    @property
    def variance(self) -> float:
        """The variance of the noise."""
        raise NotImplementedError


@dataclass(frozen=True)
class GaussianNoise(AdditiveNoise):
    """Normal noise of standard deviation `spread`. No answer is ever ruled out, and none has a bound e^ε.

    >>> noise = GaussianNoise(20.0, (0.0, 100.0))
    >>> noise.as_json()
    {'kind': 'gaussian', 'sigma': 20.0, 'domain': [0.0, 100.0]}
    >>> noise.epsilon, noise.step
    (inf, 0.001)
    """

    kind: ClassVar[str] = "gaussian"
    parameter: ClassVar[str] = "sigma"
    reach_of_spread: ClassVar[float] = 5.0

    def density(self, deviations: Floats) -> Floats:  # noqa: D102 - of the base
        return np.exp(-0.5 * (deviations / self.spread) ** 2) / (self.spread * math.sqrt(2 * math.pi))

    def cumulative(self, deviations: Floats) -> Floats:  # noqa: D102 - of the base
        return np.asarray(ndtr(deviations / self.spread))

    def cumulative_integral(self, deviations: Floats) -> Floats:  # noqa: D102 - of the base
        return deviations * self.cumulative(deviations) + self.spread**2 * self.density(deviations)

    def quantile(self, chances: Floats) -> Floats:  # noqa: D102 - of the base
        return np.asarray(self.spread * ndtri(chances))

    def characteristic(self, frequencies: Floats) -> Floats:  # noqa: D102 - of the base
        return np.exp(-0.5 * (self.spread * frequencies) ** 2)

    @property
    def variance(self) -> float:  # noqa: D102 - of the base
        return self.spread**2


@dataclass(frozen=True)
class UniformNoise(AdditiveNoise):
    """Noise that is uniform from -`spread` to `spread`. A report rules out all values farther from it than that.

    So a report beyond the domain says more than one within, and the outermost one gives its value away: it has no ε.

    >>> UniformNoise(50.0, (0.0, 200.0)).as_json()
    {'kind': 'uniform', 'half_width': 50.0, 'domain': [0.0, 200.0]}
    """

    kind: ClassVar[str] = "uniform"
    parameter: ClassVar[str] = "half_width"
    reach_of_spread: ClassVar[float] = 1.0

    def density(self, deviations: Floats) -> Floats:  # noqa: D102 - of the base
        return np.where(np.abs(deviations) <= self.spread, 0.5 / self.spread, 0.0)

    def cumulative(self, deviations: Floats) -> Floats:  # noqa: D102 - of the base
        return np.clip(0.5 + 0.5 * deviations / self.spread, 0.0, 1.0)

    def cumulative_integral(self, deviations: Floats) -> Floats:  # noqa: D102 - of the base
        inside = (np.clip(deviations, -self.spread, self.spread) + self.spread) ** 2 / (4 * self.spread)
        return inside + np.maximum(deviations - self.spread, 0.0)

    def quantile(self, chances: Floats) -> Floats:  # noqa: D102 - of the base
        return (2 * chances - 1) * self.spread

    def characteristic(self, frequencies: Floats) -> Floats:  # noqa: D102 - of the base
        return np.sinc(self.spread * frequencies / math.pi)

    @property
    def variance(self) -> float:  # noqa: D102 - of the base
        return self.spread**2 / 3


@dataclass(frozen=True)
class LaplaceNoise(AdditiveNoise):
    """Noise of density exp(-|y| / `spread`) / (2 `spread`): ε is the width of the domain over the scale.

    >>> LaplaceNoise(20.0, (0.0, 60.0)).epsilon
    3.0
    """

    kind: ClassVar[str] = "laplace"
    parameter: ClassVar[str] = "scale"
    reach_of_spread: ClassVar[float] = 13.0

    @property
    def epsilon(self) -> float:  # noqa: D102 - of the base
        return self.width / self.spread

    def density(self, deviations: Floats) -> Floats:  # noqa: D102 - of the base
        return np.exp(-np.abs(deviations) / self.spread) / (2 * self.spread)

    def cumulative(self, deviations: Floats) -> Floats:  # noqa: D102 - of the base
        tail = 0.5 * np.exp(-np.abs(deviations) / self.spread)
        return np.where(deviations < 0, tail, 1 - tail)

    def cumulative_integral(self, deviations: Floats) -> Floats:  # noqa: D102 - of the base
        tail = 0.5 * self.spread * np.exp(-np.abs(deviations) / self.spread)
        return tail + np.maximum(deviations, 0.0)

    def quantile(self, chances: Floats) -> Floats:  # noqa: D102 - of the base
        centred = chances - 0.5
        return np.asarray(-self.spread * np.sign(centred) * np.log1p(-2 * np.abs(centred)))

    def characteristic(self, frequencies: Floats) -> Floats:  # noqa: D102 - of the base
        return 1 / (1 + (self.spread * frequencies) ** 2)

    @property
    def variance(self) -> float:  # noqa: D102 - of the base
        return 2 * self.spread**2
