"""Spare: which lines groups can do without, all groups at once."""

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.problem import Problem

_REFUSED = 4
"""A group that cannot do without so many lines in turn is not asked for more."""

_ROUNDS = 40
"""Rounds at most; lines are asked for in ever larger numbers, so that few groups need as many."""


def spared(problem: Problem, lines: Parts, queue: IntArray) -> BoolArray:
    """Lines that their groups can do without, all of them together; each group is asked in the order of the queue."""
    asking = _Asking(problem, lines, queue)
    for _ in range(_ROUNDS):
        if not asking.active.any():
            break
        asking.ask()
    return asking.given


def passing(problem: Problem, lines: Parts, groups: BoolArray) -> BoolArray:
    """Which of the chosen groups pass with the lines that they have; one without lines does not."""
    found = lines.only(groups.take(lines.group))
    good = np.zeros(lines.groups, dtype=np.bool_)
    good[np.unique(found.group)] = problem.holds(found.numbered())
    return good


class _Asking:
    """Groups that are asked for their lines, in a given order, and what they have given.

    A group that can do without a line is asked for the next two, then for four. One that cannot is asked for half as
    many, and at last for the line after it.
    """

    def __init__(self, problem: Problem, lines: Parts, queue: IntArray) -> None:
        self.problem, self.lines = problem, lines
        order = queue[np.argsort(lines.group[queue], kind="stable")]
        self.place = np.empty(len(lines), dtype=np.int64)
        self.place[order] = np.arange(len(lines))
        cuts = np.searchsorted(lines.group[order], np.arange(lines.groups + 1))
        self.at, self.end = cuts[:-1].copy(), cuts[1:]
        self.step, self.refused = np.ones_like(self.at), np.zeros_like(self.at)
        self.given = np.zeros(len(lines), dtype=np.bool_)
        self.large: BoolArray = lines.sizes > problem.requirement.least

    @property
    def active(self) -> BoolArray:
        """Groups to go on with."""
        active: BoolArray = self.large & (self.at < self.end) & (self.refused < _REFUSED)
        return active

    def ask(self) -> None:
        """Ask every active group for its next lines."""
        active, group = self.active, self.lines.group
        wanted = active.take(group) & (self.place >= self.at.take(group)) & (self.place < (self.at + self.step)[group])
        good = passing(self.problem, self.lines.only(~(self.given | wanted)), active)
        self.given |= wanted & good.take(group)
        single = active & ~good & (self.step == 1)
        self.at += np.where(good | single, self.step, 0)
        self.refused = np.where(good, 0, self.refused + single)
        self.step = np.where(good, self.step * 2, np.maximum(self.step // 2, 1))
