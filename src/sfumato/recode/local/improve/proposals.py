"""Proposals: what could change in a grouping, what each change promises to save, and which go together."""

from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.segments import run_starts
from sfumato.recode.local.improve.members import WIDE, Members, before
from sfumato.recode.local.improve.neighbours import Targets
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.standing import Standing

WORTH = 1e-6
"""What a change has to promise, in rows."""


@dataclass(frozen=True, eq=False)
class Proposals:
    """Changes to choose from: what each promises to save, its class, and its lines, each with a target.

    Lines and targets stand run by run; a run begins at `start`.
    """

    gain: FloatArray
    source: IntArray
    start: IntArray
    lines: IntArray
    target: IntArray

    @property
    def owner(self) -> IntArray:
        """The proposal of each line."""
        return np.repeat(np.arange(len(self.gain)), np.diff(self.start, append=len(self.lines)))

    def only(self, some: IntArray) -> "Proposals":
        """Some of them."""
        length = np.diff(self.start, append=len(self.lines))[some]
        lines = np.repeat(self.start[some] - before(length), length) + np.arange(length.sum())
        return Proposals(self.gain[some], self.source[some], before(length), self.lines[lines], self.target[lines])


def proposed(problem: Problem, standing: Standing, lines: Parts, targets: Targets) -> Proposals:
    """All moves of one line, and all classes that could be given up, that promise to save something."""
    target, added = targets.group, targets.added
    members = Members.of(lines)
    moves = _moves(problem, standing, members, added)
    single = np.flatnonzero(moves > WORTH)
    saved = standing.penalized - _spent(problem, standing, lines, targets)
    whole = np.flatnonzero((saved > WORTH) & (members.length > 0))
    runs = np.concatenate([np.ones(len(single), dtype=np.int64), members.length[whole]])
    every = np.concatenate([single, members.listed(whole)])
    return Proposals(
        np.concatenate([moves[single], saved[whole]]),
        np.concatenate([lines.group[single], whole]),
        before(runs),
        every,
        target[every],
    )


def _spent(problem: Problem, standing: Standing, lines: Parts, targets: Targets) -> FloatArray:
    """What giving up each class adds to others: lines of a class that go to the same target go there together."""
    target, added = targets.group, targets.added
    spent = np.bincount(lines.group, weights=added, minlength=lines.groups).astype(np.float64)
    open_ = np.flatnonzero(np.isfinite(added) & standing.open[target])
    pair = lines.group[open_] * lines.groups + target[open_]
    order = np.argsort(pair, kind="stable")
    first = run_starts(pair[order])
    shared = np.diff(first, append=len(order)) > 1
    if not shared.any():
        return spent
    lengths = np.diff(first, append=len(order))
    members = open_[order[np.repeat(shared, lengths)]]
    runs = before(lengths[shared])
    source, into = lines.group[members[runs]], target[members[runs]]
    hulls = [
        axis.join(axis.reduce(axis.single[codes[lines.of[members]]], runs), hull[into])
        for axis, codes, hull in zip(problem.axes, problem.encoded.tuples.quasi, standing.hulls, strict=True)
    ]
    together = (
        problem.costs(hulls, standing.sizes[into] + np.add.reduceat(lines.rows[members], runs)) - standing.costs[into]
    )
    apart = np.add.reduceat(added[members], runs)
    spent += np.bincount(source, weights=together - apart, minlength=lines.groups)
    return spent


def chosen(found: Proposals, void: int, rows: IntArray, spare: int) -> Proposals:
    """The best proposals of which no two touch the same class, and that suppress no more rows than may be."""
    ends = np.append(found.start[1:], len(found.lines))
    dropped = np.where(found.target == void, rows[found.lines], 0)
    gone = np.bincount(found.owner, weights=dropped, minlength=len(found.gain)).tolist()
    touched, picked = bytearray(void + 1), []
    starts, stops = found.start.tolist(), ends.tolist()
    source, target = found.source.tolist(), found.target.tolist()
    for i in np.argsort(-found.gain, kind="stable").tolist():
        classes = {source[i], *target[starts[i] : stops[i]]} - {void}
        if gone[i] <= spare and not any(touched[each] for each in classes):
            picked.append(i)
            spare -= gone[i]
            for each in classes:
                touched[each] = 1
    return found.only(np.array(picked, dtype=np.int64))


def _moves(problem: Problem, standing: Standing, members: Members, added: FloatArray) -> FloatArray:
    """What moving each line to its target saves; minus infinity where it cannot leave its class."""
    lines, sizes = members.lines, standing.sizes
    left, length = sizes[lines.group] - lines.rows, members.length[lines.group]
    movable = (left >= problem.requirement.least) & (length > 1)
    row = np.divide(standing.costs, np.maximum(sizes, 1))
    gain = np.where(movable, row[lines.group] * lines.rows - added, -np.inf)  # if labels stay as they are
    exact = np.flatnonzero(movable & (length <= WIDE) & np.isfinite(added))
    if len(exact):
        rest = problem.costs(members.without(problem, exact), left[exact])
        gain[exact] = standing.costs[lines.group[exact]] - rest - added[exact]
    return gain
