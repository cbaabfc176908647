"""The slide negative binomial model (Chen and McNulty 1998): a class of the population has 1 + NB(alpha, beta) persons.

The number K of classes of the population is estimated first, by Shlosser's estimator as Haas and Stokes (1998) mend it.
Alpha and beta are then such that as many classes of one row and of two rows are expected in the sample as there are. A
class is alone with chance beta^alpha.
"""

from typing import Any

import numpy as np

from sfumato.risk.population.estimate import Estimate, Sample, estimated, failed

_STEPS = 4000
"""Places of beta where a change of sign is looked for."""


def snb(sample: Sample) -> Estimate:
    """Estimate how many are alone in the population, by K beta^alpha.

    >>> from sfumato.risk.population import sample_of
    >>> found = snb(sample_of(np.array([1] * 50 + [2] * 20 + [5] * 6 + [20] * 2), 0.3))
    >>> round(found.parameters["classes"]), round(found.uniques)
    (159, 58)
    """
    one, two = sample.of_size(1), sample.of_size(2)
    if not one or not two:
        return failed(f"the sample has no class of {'two rows' if one else 'one row'}, which the model is fitted to")
    classes = classes_of_population(sample)
    roots = _roots(sample, classes)
    if not roots:
        return failed("no parameters lead to as many classes of one and of two rows as the sample has")
    alpha, beta = min(roots, key=lambda root: abs(np.log(_people(classes, *root) / sample.people)))
    return estimated(sample, classes * beta**alpha, alpha=alpha, beta=beta, classes=classes)


def classes_of_population(sample: Sample) -> float:
    """The number of classes of the population, by the third of Haas and Stokes' estimators in the manner of Shlosser.

    Where all of the population is in the sample, there are none besides the sample's.

    >>> from sfumato.risk.population import sample_of
    >>> classes_of_population(sample_of(np.array([1, 2, 2]), 1.0))
    3.0
    """
    q, i, count = sample.fraction, sample.sizes.astype(np.float64), sample.counts.astype(np.float64)
    drawn = count @ (i * q**2 * (1 - q**2) ** (i - 1))
    shown = count @ ((1 - q**2) ** i - (1 - q) ** i)
    unseen, single = count @ (1 - q) ** i, count @ (i * q * (1 - q) ** (i - 1))
    if sample.fraction == 1:
        return float(sample.classes)
    return float(sample.classes + sample.of_size(1) * drawn / shown * (unseen / single) ** 2)


def expected(sample: Sample, classes: float, alpha: Any, beta: Any) -> tuple[Any, Any]:
    """How many classes of one and of two rows the model expects in the sample; of numbers or of arrays."""
    q, away = sample.fraction, (1 - sample.fraction) * (1 - beta)
    left = 1 - away
    whole = classes * (beta / left) ** alpha
    one = whole * q * (1 + alpha * away / left)
    two = whole * q**2 * alpha * (1 - beta) * (2 - (1 - alpha) * away) / (2 * left**2)
    return one, two


def _roots(sample: Sample, classes: float) -> list[tuple[float, float]]:
    """All alpha and beta that meet both numbers: one alpha for each beta by their ratio, and then signs along beta."""
    from scipy.optimize import brentq  # noqa: PLC0415 - slow to import, and most never come here

    def over(beta: Any) -> Any:
        return expected(sample, classes, _alpha(sample, beta), beta)[0] - sample.of_size(1)

    betas = 1 / (1 + np.exp(-np.linspace(-30, 30, _STEPS)))
    with np.errstate(all="ignore"):
        signs = np.sign(over(betas))
        turns = np.flatnonzero(signs[1:] * signs[:-1] < 0)
        found = [float(brentq(over, betas[i], betas[i + 1], xtol=1e-300, rtol=1e-13)) for i in turns]
    return [(float(_alpha(sample, beta)), beta) for beta in found]


def _alpha(sample: Sample, beta: Any) -> Any:
    """The alpha by which ones and twos stand in the sample's ratio: the one positive root of a quadratic equation."""
    q, ratio = sample.fraction, sample.of_size(2) / sample.of_size(1)
    away = (1 - q) * (1 - beta)
    left = 1 - away
    square, free = q * (1 - beta) * away, 2 * ratio * left**2
    linear = q * (1 - beta) * (2 - away) - 2 * ratio * left * away
    root = np.sqrt(linear**2 + 4 * square * free)
    return np.where(linear > 0, 2 * free / (linear + root), (root - linear) / (2 * square))


def _people(classes: float, alpha: float, beta: float) -> float:
    """The size of the population that the model implies."""
    return classes * (1 + alpha * (1 - beta) / beta)
