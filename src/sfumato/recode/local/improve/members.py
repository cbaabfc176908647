"""Members: the lines of each class, and what a class covers without one of them."""

from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.recode.local.axes import Axis
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.problem import Hulls, Problem

WIDE = 32
"""Classes of more lines than this keep their labels when one line leaves, or so it is taken."""


@dataclass(frozen=True, eq=False)
class Members:
    """Lines in the order of their classes: where each class begins, and how many lines it has."""

    lines: Parts
    order: IntArray
    first: IntArray
    length: IntArray

    @classmethod
    def of(cls, lines: Parts) -> "Members":
        """The members of all classes."""
        order = np.argsort(lines.group, kind="stable")
        first = np.searchsorted(lines.group[order], np.arange(lines.groups))
        return cls(lines, order, first, np.diff(first, append=len(order)))

    def listed(self, classes: IntArray) -> IntArray:
        """The lines of some classes, one class after the other."""
        length = self.length[classes]
        members: IntArray = self.order[
            np.repeat(self.first[classes] - before(length), length) + np.arange(length.sum())
        ]
        return members

    def without(self, problem: Problem, lines: IntArray) -> Hulls:
        """For each of some lines, the hulls of its class without it; classes are not wide."""
        classes, place = np.unique(self.lines.group[lines], return_inverse=True)
        columns = np.arange(int(self.length[classes].max(initial=1)))
        spots = np.minimum(self.first[classes][:, None] + columns, len(self.order) - 1)
        inside = (columns < self.length[classes][:, None])[..., None]
        members = self.order[spots]
        column = np.argmax(members[place] == lines[:, None], axis=1)
        tuples = self.lines.of[members]
        return [
            _others(axis, np.where(inside, axis.single[codes[tuples]], axis.nothing))[place, column]
            for axis, codes in zip(problem.axes, problem.encoded.tuples.quasi, strict=True)
        ]


def before(lengths: IntArray) -> IntArray:
    """Where runs of these lengths begin."""
    return np.cumsum(lengths) - lengths


def _others(axis: Axis, hulls: IntArray) -> IntArray:
    """In each line of hulls, the join of all but one, for each one: what stands before it and what stands behind."""
    none = np.full((len(hulls), 1, hulls.shape[2]), axis.nothing)
    left = np.concatenate([none, axis.join.accumulate(hulls, axis=1)[:, :-1]], axis=1)
    right = np.concatenate([axis.join.accumulate(hulls[:, ::-1], axis=1)[:, -2::-1], none], axis=1)
    others: IntArray = axis.join(left, right)
    return others
