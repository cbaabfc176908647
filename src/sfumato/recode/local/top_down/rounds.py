"""Top-down: Algorithm 2 of Wong, Li, Fu and Wang 2006 and its extension to many attributes, all groups at once.

All rows begin fully generalized in one group. In each round every active group is specialized one level down in the
attribute that specializes the most of its rows. Branches that pass are active in the next round, and so is what stays
in the parent, which another attribute may specialize; a group that no attribute can specialize is done. (With one
attribute what stays cannot be specialized again: there it is the paper's Algorithm 2, line by line.)
"""

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.recode.local.parts import SUPPRESSED, Parts
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.top_down.groups import Groups
from sfumato.recode.local.top_down.specialize import Judge, offered
from sfumato.recode.local.top_down.trees import Trees
from sfumato.recode.local.top_down.turn import in_order
from sfumato.recode.local.top_down.unspecialize import specialized
from sfumato.recode.recoding import Progress


def top_down(problem: Problem, progress: Progress | None = None) -> Parts:
    """Groups that pass, each as special as its search got; rows that are suppressed stay so.

    Progress is told in rows: those of groups that are done, and all.
    """
    judge, done = Judge(problem), Done(int(problem.start.rows[problem.start.group >= 0].sum()), progress)
    groups = done.active(judge, whole(problem))
    while len(groups):
        groups = done.active(judge, one_round(judge, groups, done))
    return done.parts(problem.start.only(problem.start.group < 0))


class Done:
    """Groups that are done, as they come in."""

    def __init__(self, rows: int, progress: Progress | None = None) -> None:
        self.rows, self.progress = rows, progress
        self.lines: list[tuple[IntArray, FloatArray, IntArray]] = []
        self.groups, self.settled = 0, 0.0

    def add(self, groups: Groups, rows: FloatArray) -> None:
        """Some rows of the lines of each group, maybe none, as groups that are done."""
        lines = np.flatnonzero(rows > 0)
        number = np.cumsum(groups.sums(rows) > 0) - 1
        self.lines.append((groups.of.take(lines), rows.take(lines), groups.spread(number).take(lines) + self.groups))
        self.groups += int(number[-1]) + 1 if len(number) else 0
        self.settled += float(rows.sum())

    def active(self, judge: Judge, groups: Groups) -> Groups:
        """The groups that may be specialized further; the others are done.

        All rows of a group have one label on no lower level, so two groups come of it at least, and each has to pass.
        """
        able: BoolArray = (groups.sizes >= 2 * judge.least) & (groups.level > 0).any(axis=0)
        rest = groups.only(np.flatnonzero(~able))
        self.add(rest, rest.rows)
        if self.progress:
            self.progress(int(self.settled), self.rows)
        return groups.only(np.flatnonzero(able))

    def parts(self, gone: Parts) -> Parts:
        """All of them, and what is suppressed."""
        of, rows, group = (np.concatenate(columns) for columns in zip(*self.lines, strict=True))
        return Parts(
            np.concatenate([of, gone.of]),
            np.concatenate([rows.astype(np.int64), gone.rows]),
            np.concatenate([group, np.full(len(gone), SUPPRESSED)]),
            self.groups,
        )


def whole(problem: Problem) -> Groups:
    """All rows that take part, in one group."""
    trees = Trees.of([attribute.hierarchy for attribute in problem.encoded.quasi])
    start = problem.start.only(problem.start.group >= 0)
    places = trees.placed([codes.take(start.of) for codes in problem.encoded.tuples.quasi])
    ends = [0, len(start)] if len(start) else [0]
    return Groups.run(trees, (start.of, start.rows.astype(np.float64), places), np.array(ends))


def one_round(judge: Judge, groups: Groups, done: Done) -> Groups:
    """The branches of all active groups in their best attribute, and what stays; or the group is done."""
    attribute, back = chosen(judge, groups)
    final = np.where(groups.spread(groups.sums(back) == groups.sizes), back, 0.0)
    done.add(groups, final)
    return branched(groups, attribute, groups.rows - back, back - final)


def chosen(judge: Judge, groups: Groups) -> tuple[IntArray, FloatArray]:
    """The best attribute of each group, and the rows of each line that go back to the parent.

    Offers are the most that an attribute can do. The best is tried; if it comes to less than another offers, that is
    tried next. All rows go back where no attribute specializes any.
    """
    offers = offered(judge, groups)
    wide = float(groups.trees.width.max()) + 1  # more than the branches of a group
    score = offers.rows * wide - offers.branches
    group, tried = np.arange(len(groups)), np.full(len(groups), -1)
    back = groups.rows.copy()
    while True:
        best = score.argmax(axis=0)
        todo = np.flatnonzero((best != tried) & (score[best, group] > 0))
        if not len(todo):
            break
        found, at = specialized(judge, groups.only(todo), best[todo]), (best[todo], todo)
        score[at] = found.rows * wide - found.branches
        back[groups.lines(todo)] = found.back
        tried[todo] = best[todo]
    np.copyto(back, groups.rows, where=groups.spread(score[best, group] <= 0))
    return best, back


def branched(groups: Groups, attribute: IntArray, rows: FloatArray, rest: FloatArray) -> Groups:
    """The branches as groups, with `rows` of the lines, and the parents, with the `rest`; without the empty ones."""
    branches = groups.below(attribute)
    down, up = np.flatnonzero(rows > 0), np.flatnonzero(rest > 0)
    owner = np.concatenate([branches.of.take(down), groups.number.take(up) + len(branches)])
    order = in_order(owner)
    lines, amounts = np.concatenate([down, up]), np.concatenate([rows.take(down), rest.take(up)])
    return groups.regrouped(lines.take(order), owner.take(order), amounts.take(order))
