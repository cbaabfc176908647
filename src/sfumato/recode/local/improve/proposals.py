"""Proposals: what could change in a grouping, what each change promises to save, and which go together."""

from dataclasses import dataclass

import numpy as np

from sfumato.classes import BoolArray, FloatArray, IntArray
from sfumato.keys import starts
from sfumato.recode.local.improve.neighbours import Targets
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.standing import Standing

_WORTH = 1e-6
"""What a change has to promise, in rows."""

_WIDE = 32
"""Classes of more lines than this keep their labels when one line leaves, or so it is taken."""


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
        lines = np.repeat(self.start[some] - _before(length), length) + np.arange(length.sum())
        return Proposals(self.gain[some], self.source[some], _before(length), self.lines[lines], self.target[lines])


def proposed(problem: Problem, standing: Standing, lines: Parts, targets: Targets) -> Proposals:
    """All moves of one line, and all classes that could be given up, that promise to save something."""
    target, added = targets.group, targets.added
    order = np.argsort(lines.group, kind="stable")
    first = np.searchsorted(lines.group[order], np.arange(lines.groups))
    length = np.diff(first, append=len(order))
    moves = _moves(problem, standing, lines, added, (order, first, length))
    single = np.flatnonzero(moves > _WORTH)
    saved = standing.penalized - _spent(problem, standing, lines, targets)
    whole = np.flatnonzero((saved > _WORTH) & (length > 0))
    members = order[np.repeat(first[whole] - _before(length[whole]), length[whole]) + np.arange(length[whole].sum())]
    runs = np.concatenate([np.ones(len(single), dtype=np.int64), length[whole]])
    every = np.concatenate([single, members])
    return Proposals(
        np.concatenate([moves[single], saved[whole]]),
        np.concatenate([lines.group[single], whole]),
        _before(runs),
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
    first = starts(pair[order])
    shared = np.diff(first, append=len(order)) > 1
    if not shared.any():
        return spent
    lengths = np.diff(first, append=len(order))
    members = open_[order[np.repeat(shared, lengths)]]
    runs = _before(lengths[shared])
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


def _before(lengths: IntArray) -> IntArray:
    """Where runs of these lengths begin."""
    return np.cumsum(lengths) - lengths


def _moves(
    problem: Problem, standing: Standing, lines: Parts, added: FloatArray, runs: tuple[IntArray, IntArray, IntArray]
) -> FloatArray:
    """What moving each line to its target saves; minus infinity where it cannot leave its class."""
    gain = np.full(len(lines), -np.inf)
    movable = _movable(problem, standing, lines, runs[2])
    left = standing.sizes[lines.group] - lines.rows
    row = np.divide(standing.costs, np.maximum(standing.sizes, 1))
    gain[movable] = (row[lines.group] * lines.rows - added)[movable]  # if labels stay as they are
    narrow = movable & (runs[2] <= _WIDE)[lines.group] & np.isfinite(added)
    exact = np.flatnonzero(narrow)
    if len(exact):
        rest = problem.costs(_without(problem, lines, exact, runs), left[exact])
        gain[exact] = standing.costs[lines.group[exact]] - rest - added[exact]
    return gain


def _movable(problem: Problem, standing: Standing, lines: Parts, length: IntArray) -> BoolArray:
    """Lines that leave enough rows behind."""
    enough = standing.sizes[lines.group] - lines.rows >= problem.requirement.least
    found: BoolArray = enough & (length[lines.group] > 1)
    return found


def _without(
    problem: Problem, lines: Parts, exact: IntArray, runs: tuple[IntArray, IntArray, IntArray]
) -> list[IntArray]:
    """The hulls of classes without one of their lines, for each line asked."""
    order, first, length = runs
    classes, place = np.unique(lines.group[exact], return_inverse=True)
    width = int(length[classes].max())
    spots = np.minimum(first[classes][:, None] + np.arange(width), len(order) - 1)
    inside = np.arange(width) < length[classes][:, None]
    members = order[spots]
    column = np.argmax(members[place] == exact[:, None], axis=1)
    found = []
    for axis, codes in zip(problem.axes, problem.encoded.tuples.quasi, strict=True):
        hulls = np.where(inside[..., None], axis.single[codes[lines.of[members]]], axis.nothing)
        left = axis.join.accumulate(hulls, axis=1)
        right = axis.join.accumulate(hulls[:, ::-1], axis=1)[:, ::-1]
        empty = np.full((len(classes), 1, hulls.shape[2]), axis.nothing)
        before = np.concatenate([empty, left[:, :-1]], axis=1)
        after = np.concatenate([right[:, 1:], empty], axis=1)
        found.append(axis.join(before, after)[place, column])
    return found
