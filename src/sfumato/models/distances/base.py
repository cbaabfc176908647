"""What t-closeness asks of a distance between a class and the whole table."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import Histogram, SensitiveDomain
from sfumato.models.counts import TOLERANCE


@dataclass(frozen=True, eq=False)
class Distance(ABC):
    """A distance from the distribution of a sensitive column in the whole table, convex in the class.

    All but `of` have a default; a distance that is dear to compute answers the others by bounds.
    """

    domain: SensitiveDomain

    @abstractmethod
    def of(self, lines: Histogram, sizes: IntArray) -> FloatArray:
        """The distance of each class."""

    def within(self, lines: Histogram, sizes: IntArray, limit: float) -> BoolArray:
        """Whether each class is within the limit; 1e-9 more passes, for rounding."""
        passing: BoolArray = self.of(lines, sizes) <= limit + TOLERANCE
        return passing

    def at_least(self, lines: Histogram, sizes: IntArray) -> FloatArray:
        """A lower bound of the distance of each class."""
        return self.of(lines, sizes)

    def largest(self, lines: Histogram, sizes: IntArray) -> float:
        """The distance of the farthest class."""
        return float(self.of(lines, sizes).max(initial=0.0))

    def points(self) -> FloatArray:
        """The distance of a class that holds one value only, for each value.

        By convexity no class is farther than the farthest of its values, nor than their average.
        """
        each = np.arange(len(self.domain.values))
        ones = np.ones_like(each)
        return self.of(Histogram(each, each, ones, self.domain), ones)


def shares(lines: Histogram, sizes: IntArray) -> FloatArray:
    """The share that each line's value has in its class."""
    part: FloatArray = lines.count / sizes[lines.class_of]
    return part


def in_order(lines: Histogram, rank: IntArray) -> Histogram:
    """The lines sorted by class and then by the rank of their value."""
    if (np.diff(rank) >= 0).all():  # the order they are in already
        return lines
    order = np.argsort(lines.class_of * (int(rank.max()) + 1) + rank[lines.value], kind="stable")
    return Histogram(lines.class_of[order], lines.value[order], lines.count[order], lines.domain)
