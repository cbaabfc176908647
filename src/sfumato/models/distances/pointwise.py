"""Distances that look at each value by itself (Equations 20.13 and 20.14 of the chapter)."""

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.classes import Histogram
from sfumato.core.segments import sum_by_group
from sfumato.models.distances.base import Distance, shares


class Variational(Distance):
    """Half the sum of absolute differences; also the earth mover's distance where all moves cost 1.

    Both distributions sum to 1, so what one has too much the other has too little, and the surplus alone
    is half the sum: only values that occur in the class count.

    >>> from sfumato.core.classes import EquivalenceClasses
    >>> classes = EquivalenceClasses.of([0, 0, 1, 1], illness=["HIV", "flu", "flu", "flu"])
    >>> lines = classes.sensitive["illness"]
    >>> Variational(lines.domain).of(lines, classes.sizes)
    array([0.25, 0.25])
    """

    def of(self, lines: Histogram, sizes: IntArray) -> FloatArray:
        """The surplus of each class."""
        surplus = shares(lines, sizes) - self.domain.shares[lines.value]
        return sum_by_group(lines.class_of, np.maximum(surplus, 0.0), len(sizes))


class KullbackLeibler(Distance):
    """The relative entropy of the class, in natural units.

    >>> from sfumato.core.classes import EquivalenceClasses
    >>> classes = EquivalenceClasses.of([0, 1], illness=["HIV", "flu"])
    >>> lines = classes.sensitive["illness"]
    >>> KullbackLeibler(lines.domain).of(lines, classes.sizes).round(4)
    array([0.6931, 0.6931])
    """

    def of(self, lines: Histogram, sizes: IntArray) -> FloatArray:
        """The sum of p log(p / q) over the values of each class."""
        part, whole = shares(lines, sizes), self.domain.shares[lines.value]
        # A value that the table lacks is infinitely far; only a foreign domain can say so.
        with np.errstate(divide="ignore"):
            terms = part * np.log(part / whole)
        return np.maximum(sum_by_group(lines.class_of, terms, len(sizes)), 0.0)
