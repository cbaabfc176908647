"""Zayatz's estimator (1991): the chance that a row which is alone in the sample is alone in the population.

The shares of class sizes in the population are taken from the sample, and a class of the population shows one row in
the sample as often as drawing without replacement says. Bayes' rule then turns the chance around.
"""

import numpy as np

from sfumato.core.arrays import FloatArray
from sfumato.risk.population.estimate import Estimate, Sample, estimated


def zayatz(sample: Sample) -> Estimate:
    """Estimate how many are alone in the population; `stays` is the chance that a sample unique is a population unique.

    >>> from sfumato.risk.population import sample_of
    >>> zayatz(sample_of(np.array([1, 1, 2]), 0.5)).parameters["stays"].__round__(4)
    0.6364
    """
    shows = showing_one(sample)
    weighed = float(sample.counts @ shows)
    alone = sample.of_size(1)
    stays = alone * shows[0] / weighed if alone else 0.0
    return estimated(sample, alone * stays * sample.people / sample.rows, stays=float(stays))


def showing_one(sample: Sample) -> FloatArray:
    """For each size, the chance that a class of so many people has one row in the sample (hypergeometric)."""
    from scipy.special import gammaln  # noqa: PLC0415 - slow to import, and most never come here

    size, people, rows = sample.sizes.astype(np.float64), sample.people, sample.rows
    possible = size - 1 <= people - rows
    left = np.where(possible, people - rows - size + 1, 0.0)
    log = np.log(size) + gammaln(people - size + 1) - gammaln(rows) - gammaln(left + 1)
    whole = gammaln(people + 1) - gammaln(rows + 1) - gammaln(people - rows + 1)
    return np.where(possible, np.exp(log - whole), 0.0)
