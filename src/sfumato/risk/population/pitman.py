"""Pitman's model (Hoshino 2001): classes grow as the Pitman sampling formula says, fitted by maximum likelihood.

Of i rows so far in u classes, the next is a new class with chance (theta + u alpha) / (theta + i), and joins a class of
j rows with chance (j - alpha) / (theta + i), with 0 <= alpha < 1 and theta > -alpha.
"""

import math

from sfumato.risk.population.estimate import Estimate, Sample, estimated, failed

_LEAST, _MOST = 1e-4, 1 - 1e-9
"""Between these alpha is looked for; one that is smaller makes no difference and is taken as 0."""


def pitman(sample: Sample) -> Estimate:
    """Estimate how many are alone in the population, by the expected number of classes of one.

    >>> import numpy as np
    >>> from sfumato.risk.population import sample_of
    >>> found = pitman(sample_of(np.array([1] * 50 + [2] * 10 + [5] * 6 + [20] * 2), 0.1))
    >>> round(found.parameters["alpha"], 2), round(found.uniques)
    (0.69, 249)
    """
    if sample.classes == sample.rows:
        return failed("every row of the sample is alone, so that no size of the classes fits better than a larger one")
    if sample.classes == 1:
        return failed("the sample has one class, which says nothing about how classes come about")
    try:
        theta, alpha = fitted(sample)
    except (ArithmeticError, ValueError, RuntimeError):
        return failed("the likelihood has no maximum that could be found")
    reason = "alpha is 0, the smallest that the model allows" if alpha == 0 else ""
    return estimated(sample, singles(theta, alpha, sample.people), reason, theta=theta, alpha=alpha)


def singles(theta: float, alpha: float, people: int) -> float:
    """The expected number of classes of one among so many people.

    A person is alone where none of the others joins, N times the product of (theta + alpha + i - 1) / (theta + i). For
    a large population this is Hoshino's Gamma(theta + 1) / Gamma(theta + alpha) N^alpha.

    >>> singles(2.0, 0.5, 1)
    1.0
    """
    log = math.lgamma(theta + alpha + people - 1) - math.lgamma(theta + people)
    return people * math.exp(log + math.lgamma(theta + 1) - math.lgamma(theta + alpha))


def fitted(sample: Sample) -> tuple[float, float]:
    """Theta and alpha of the highest likelihood: the best theta for each alpha, and where the slope along it is 0."""
    from scipy.optimize import brentq  # noqa: PLC0415 - slow to import, and most never come here

    def slope(alpha: float) -> float:
        return gradient(sample, _theta(sample, alpha), alpha)[1]

    if slope(0.0) <= 0 or slope(_LEAST) <= 0:
        return _theta(sample, 0.0), 0.0
    alpha = float(brentq(slope, _LEAST, _MOST, xtol=1e-12, rtol=1e-12))
    return _theta(sample, alpha), alpha


def _theta(sample: Sample, alpha: float) -> float:
    """The best theta for an alpha: the slope falls from infinity, near -alpha, to below 0."""
    from scipy.optimize import brentq  # noqa: PLC0415 - slow to import, and most never come here

    low, high = -alpha + 1e-12, 1.0
    while gradient(sample, high, alpha)[0] > 0:
        high *= 4
    return float(brentq(lambda theta: gradient(sample, theta, alpha)[0], low, high, xtol=1e-12, rtol=1e-12))


def gradient(sample: Sample, theta: float, alpha: float) -> tuple[float, float]:
    """The slopes of the log-likelihood along theta and alpha.

    It is the sum of log(theta + i alpha) over i below the number of classes, minus that of log(theta + i) over i below
    the number of rows, plus for each class that of log(i - alpha) over i below its size.
    """
    from scipy.special import digamma  # noqa: PLC0415 - slow to import, and most never come here

    more, rows = sample.classes - 1, float(digamma(theta + sample.rows) - digamma(theta + 1))
    joined = float(sample.counts @ (digamma(sample.sizes - alpha) - digamma(1 - alpha)))
    if alpha == 0:
        return more / theta - rows, more * (more + 1) / 2 / theta - joined
    begun = _run(theta / alpha + 1, more) / alpha
    return begun - rows, (more - theta * begun) / alpha - joined


def _run(start: float, length: int) -> float:
    """1 / start + 1 / (start + 1) + ..., so many of them, also where they are too alike for a difference of digammas.

    >>> round(_run(4.0, 3), 12) == round(1 / 4 + 1 / 5 + 1 / 6, 12)
    True
    """
    from scipy.special import digamma  # noqa: PLC0415 - slow to import, and most never come here

    end = start + length
    if start < 1000:
        return float(digamma(end) - digamma(start))
    far, near = 1 / end, 1 / start
    return math.log1p(length / start) - (far - near) / 2 - (far**2 - near**2) / 12 + (far**4 - near**4) / 120
