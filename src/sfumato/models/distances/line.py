"""The earth mover's distance on a line (Li, Li and Venkatasubramanian 2007, Section 5.1)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.classes import Histogram, SensitiveDomain
from sfumato.core.segments import run_starts, sum_by_group
from sfumato.errors import PolicyError
from sfumato.models.distances.base import Distance, in_order


@dataclass(frozen=True, eq=False)
class Line(Distance):
    """Values stand on a line and a move costs its length.

    What must cross a gap is the difference of what lies before it, so the distance is the sum over gaps
    of length times absolute difference of the cumulative shares. The class's cumulative share is a step
    function with a step per occurring value. Between two steps it is constant, the table's cumulative
    share grows, so the terms change sign once: two look-ups in running sums per step do, and nothing
    dense is ever made, however many classes and values there are.

    >>> domain = SensitiveDomain(("a", "b", "c"), np.array([1, 1, 1]))
    >>> line = Line(domain, positions=np.array([0.0, 0.5, 1.0]))
    >>> line.of(Histogram(np.array([0]), np.array([0]), np.array([2]), domain), np.array([2]))
    array([0.5])
    """

    positions: FloatArray

    @cached_property
    def _place(self) -> IntArray:
        return np.unique(self.positions, return_inverse=True)[1]

    @cached_property
    def _stops(self) -> FloatArray:
        return np.unique(self.positions)

    @cached_property
    def _before(self) -> FloatArray:
        """The table's share up to each stop."""
        return np.cumsum(np.bincount(self._place, self.domain.shares))

    @cached_property
    def _running(self) -> FloatArray:
        """The table's share up to each gap times its length, summed over the gaps before each stop."""
        return np.concatenate([[0.0], np.cumsum(self._before[:-1] * np.diff(self._stops))])

    def of(self, lines: Histogram, sizes: IntArray) -> FloatArray:
        """The distance of each class."""
        lines = in_order(lines, self._place)
        here, first = self._place[lines.value], run_starts(lines.class_of)
        level = _cumulative(lines, first) / sizes[lines.class_of]
        there = np.roll(here, -1)
        there[np.roll(first, -1) - 1] = len(self._stops) - 1  # the last value of a class lasts to the end
        work = self._between(here, there, level)
        work[first] += self._running[here[first]]  # before its first value the class has nothing
        return sum_by_group(lines.class_of, work, len(sizes))

    def _between(self, here: IntArray, there: IntArray, level: FloatArray) -> FloatArray:
        """The work in the gaps between two stops, where the class's cumulative share is `level`."""
        turn = np.clip(np.searchsorted(self._before, level), here, there)
        stops, running = self._stops, self._running
        rising = level * (stops[turn] - stops[here]) - (running[turn] - running[here])
        falling = (running[there] - running[turn]) - level * (stops[there] - stops[turn])
        return np.maximum(rising, 0.0) + np.maximum(falling, 0.0)


def _cumulative(lines: Histogram, first: IntArray) -> IntArray:
    """Rows of each line's class up to and with the line."""
    total = np.cumsum(lines.count)
    lengths = np.diff(first, append=len(total))
    return total - np.repeat(total[first] - lines.count[first], lengths)


def ordered(domain: SensitiveDomain) -> Line:
    """The line on which neighbouring values are equally far apart, and the ends at distance 1."""
    if domain.ranks is None:
        raise PolicyError(
            "distance emd-ordered needs numbers, or a hierarchy whose leaves stand in order", key="distance"
        )
    return Line(domain, positions=domain.ranks / max(domain.places - 1, 1))
