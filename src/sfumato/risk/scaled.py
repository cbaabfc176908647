"""From a class in the table to the class in the population, where only the sampling fraction is known.

Pitman's model, fitted to the table, says how the people that were not drawn would fall: some begin classes of their
own, some join those of the table. A class of f rows then has f + X people in the population, with X spread as a
negative binomial variable of f - alpha and p = (theta + n) / (theta + N), of n rows of the table and N people. With
alpha and theta 0 this is the individual risk of mu-Argus (Benedetti and Franconi 1998), which takes rows that are alone
for less exposed than they are, where many are.
"""

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.risk.population.estimate import Sample, sample_of
from sfumato.risk.population.pitman import pitman

_LARGE, _TERMS = 50, 80
"""Classes of so many rows are summed term by term, which needs no more terms than these for every digit there is."""


def inverse_population(sizes: IntArray, fraction: float) -> FloatArray:
    """The expected chance, 1 / population size, of classes of these sizes in a table that is a share of the population.

    >>> inverse_population(np.array([1] * 50 + [2] * 10 + [5] * 6 + [20] * 2), 0.1)[[0, 50, 60, 66]].round(4)
    array([0.6285, 0.1362, 0.0292, 0.0056])
    >>> inverse_population(np.array([1, 4]), 1.0)
    array([1.  , 0.25])
    """
    sample = sample_of(sizes, fraction)
    alpha, share = growth_of(sample)
    return expected_inverse(sample.sizes, alpha, share)[np.searchsorted(sample.sizes, sizes)]


def growth_of(sample: Sample) -> tuple[float, float]:
    """Alpha and p of the sample. Where no model can be fitted, the table is taken for the population, to be safe."""
    if sample.classes == 1 and sample.rows > 1:
        return 0.0, sample.fraction
    fitted = pitman(sample).parameters
    if sample.fraction >= 1 or not fitted:
        return 0.0, 1.0
    theta = fitted["theta"]
    return fitted["alpha"], (theta + sample.rows) / (theta + sample.people)


def expected_inverse(sizes: IntArray, alpha: float, share: float) -> FloatArray:
    """E(1 / (f + X)) for sizes f: (p / f) 2F1(1, 1 + alpha; f + 1; 1 - p).

    >>> expected_inverse(np.array([1, 100]), 0.0, 0.1).round(4)
    array([0.2558, 0.001 ])
    """
    from scipy.special import hyp2f1  # noqa: PLC0415 - slow to import, and most never come here

    small = hyp2f1(1.0, 1.0 + alpha, np.minimum(sizes, _LARGE) + 1.0, 1.0 - share)
    large = _series(alpha, np.maximum(sizes, _LARGE) + 1.0, 1.0 - share)
    chance: FloatArray = share / sizes * np.where(sizes <= _LARGE, small, large)
    return chance


def _series(alpha: float, c: FloatArray, z: float) -> FloatArray:
    """2F1(1, 1 + alpha; c; z) for large c, where the library's has no digits left."""
    term = total = np.ones_like(c)
    for n in range(_TERMS):
        term = term * (z * (1 + alpha + n) / (c + n))
        total = total + term
    return total
