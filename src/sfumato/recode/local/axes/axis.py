"""Axes: how the values of one quasi-identifier are covered by one label, for all groups at once.

A hull says what a group covers of an attribute: a line of whole numbers that joins with another by one numpy
operation. A span has its two ends, as ``(-first, last)``, so that the larger of each is the join; a set has its
members as bits, so that "or" is. The tightest hull of a group is its rows' hulls joined, whatever the kind.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.encode import QuasiIdentifier


@dataclass(frozen=True, eq=False)
class Shown:
    """Labels of an axis: for each group the number of its label, and of each label its text and its losses.

    `loss` is the NCP of a label, `climbed` the levels that it stands above the leaves.
    """

    codes: IntArray
    texts: tuple[str | None, ...]
    loss: FloatArray
    climbed: FloatArray


class Members(NamedTuple):
    """Who stands in groups, line by line: the leaf, how many rows have it, and the group."""

    leaf: IntArray
    rows: IntArray
    group: IntArray


class Axis(ABC):
    """One quasi-identifier in local recoding."""

    join: ClassVar[np.ufunc]

    def __init__(self, attribute: QuasiIdentifier) -> None:
        self.attribute = attribute

    @property
    def nothing(self) -> int:
        """Fills the hull that covers no value: joined with another it gives the other."""
        return 0 if self.join is np.bitwise_or else -(1 << 62)

    @property
    def name(self) -> str:
        """The column's name."""
        return self.attribute.name

    single: IntArray
    """The hull of each leaf alone, a line per leaf."""

    place: IntArray
    """The place of each leaf in an order in which values that belong together stand together."""

    @abstractmethod
    def cells(self, hulls: IntArray) -> FloatArray:
        """What one cell under each hull costs, by the metric; weighted, so that attributes add up to a row's cost."""

    @abstractmethod
    def widths(self, hulls: IntArray) -> FloatArray:
        """The share of the domain that each hull spans, unweighted: 0 for one value, above 0 for more."""

    @abstractmethod
    def show(self, hulls: IntArray) -> Shown:
        """The label of each hull."""

    def describe(self, hulls: IntArray, members: Members) -> Shown:
        """The label of each group; only where it is more than the hull (a mean) do the members count."""
        del members
        return self.show(hulls)

    def steps(self) -> list[IntArray]:
        """Ever coarser partitions of the leaves to look for company in: a number per leaf, from leaves to all in one.

        Where there are no levels, neighbours are put together two, four, eight at a time.
        """
        found, place = [self.place], self.place
        while place.max(initial=0) > 0:
            place = place >> 1
            found.append(place)
        return found

    def floors(self) -> list[float]:
        """For each step, what a cell costs there at least, or about."""
        return [float(self._step_cost(step).mean()) for step in self.steps()]

    def step_costs(self) -> list[FloatArray] | None:
        """For each step, what a cell of each leaf costs there; nothing where that depends on who else is there."""
        return None

    def _step_cost(self, step: IntArray) -> FloatArray:
        order = np.argsort(step, kind="stable")
        first = np.flatnonzero(np.diff(step[order], prepend=-1))
        return self.cells(self.reduce(self.single[order], first))

    def reduce(self, hulls: IntArray, starts: IntArray) -> IntArray:
        """The join of each run of lines."""
        joined: IntArray = self.join.reduceat(hulls, starts, axis=0)
        return joined
