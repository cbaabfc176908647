"""Standing: groups as they stand, and what that costs."""

from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.problem import Hulls, Problem

_PENALTY = 1e3
"""What a row in a failing class costs besides: more than any label."""


@dataclass(frozen=True, eq=False)
class Standing:
    """Classes as they stand: hulls, rows, what each costs, and which are open to others: those that pass."""

    hulls: Hulls
    sizes: IntArray
    costs: FloatArray
    open: BoolArray

    @classmethod
    def empty(cls, problem: Problem, groups: int) -> "Standing":
        """Classes without rows."""
        hulls = [np.zeros((groups, axis.single.shape[1]), dtype=np.int64) for axis in problem.axes]
        return cls(hulls, np.zeros(groups, dtype=np.int64), np.zeros(groups), np.zeros(groups, dtype=np.bool_))

    @classmethod
    def of(cls, problem: Problem, parts: Parts) -> "Standing":
        """The classes of a grouping without empty ones."""
        hulls, sizes = problem.hulls(parts), parts.sizes
        return cls(hulls, sizes, problem.costs(hulls, sizes), problem.holds(parts))

    @property
    def penalized(self) -> FloatArray:
        """Costs with so much added for classes that fail that getting rid of them always pays."""
        penalized: FloatArray = self.costs + np.where(self.open, 0.0, _PENALTY * self.sizes)
        return penalized

    def only(self, groups: IntArray) -> "Standing":
        """Some of the classes."""
        return Standing(
            [hull[groups] for hull in self.hulls], self.sizes[groups], self.costs[groups], self.open[groups]
        )

    def put(self, groups: IntArray, other: "Standing", chosen: BoolArray) -> None:
        """Take over the chosen of other classes, in the places given."""
        groups, other = groups[chosen], other.only(np.flatnonzero(chosen))
        for hull, new in zip(self.hulls, other.hulls, strict=True):
            hull[groups] = new
        self.sizes[groups], self.costs[groups], self.open[groups] = other.sizes, other.costs, other.open
