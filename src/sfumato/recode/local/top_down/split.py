"""Split: groups about to be specialized, each in an attribute of its own."""

from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.recode.local.top_down.groups import Branches, Groups
from sfumato.recode.local.top_down.specialize import Judge


@dataclass(frozen=True, eq=False)
class Split:
    """Groups and their branches one level down in an attribute, the size of each branch and whether it passes."""

    groups: Groups
    attribute: IntArray
    branches: Branches
    sizes: FloatArray
    passing: BoolArray

    @classmethod
    def of(cls, judge: Judge, groups: Groups, attribute: IntArray) -> "Split":
        """The branches of each group in its attribute."""
        branches = groups.below(attribute)
        sizes = branches.sums(groups.rows)
        return cls(groups, attribute, branches, sizes, judge.passing(groups.of, groups.rows, branches.of, sizes))

    @property
    def failing(self) -> FloatArray:
        """The rows of each line that stand in a branch that fails."""
        return np.where(self.passing.take(self.branches.of), 0.0, self.groups.rows)

    def only(self, chosen: IntArray) -> "Split":
        """The same of some groups."""
        if len(chosen) == len(self.groups):
            return self
        begins, widths = self.branches.base[chosen], np.diff(self.branches.base)[chosen]
        base = np.concatenate([[0], np.cumsum(widths)])
        kept = np.arange(base[-1]) + np.repeat(begins - base[:-1], widths)
        groups, lines = self.groups.only(chosen), self.groups.lines(chosen)
        of = self.branches.of.take(lines) - groups.spread(begins - base[:-1])
        return Split(groups, self.attribute[chosen], Branches(of, base), self.sizes[kept], self.passing[kept])
