"""Give: rows that passing branches spare for their parent, as few as make it pass."""

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray
from sfumato.recode.local.top_down.specialize import Judge
from sfumato.recode.local.top_down.split import Split
from sfumato.recode.local.top_down.turn import Queue, ahead, in_order, queued, span

_TRIES = 24
"""So often branches are asked for other rows."""

_NEAR = 0.125
"""Few enough, where this share of it more could be too little."""

_NEVER = 2.0**53
"""More rows than there are."""


def given(judge: Judge, split: Split, back: FloatArray) -> tuple[FloatArray, BoolArray]:
    """The rows of each line that go back, as few as are found to make parents pass; and for which groups that is.

    A branch that fails for what it gave is asked for half as much; where all gave but the parent still fails, more
    is asked for: by one row, then by two, by four. Between what was too little and what was enough, it is halved.
    """
    groups, begin = split.groups, split.branches.base[:-1]
    room = np.where(split.passing, split.sizes - judge.least, 0.0)
    need = np.maximum(judge.least - groups.sums(back), 1.0)
    little, enough, pending = need - 1, np.full(len(need), _NEVER), np.ones(len(need), dtype=np.bool_)
    queue, found = queued(judge, split, back, room), back.copy()
    for attempt in range(_TRIES):
        taken = _taken(split, queue, np.where(pending, need, 0.0), room, whole=judge.problem.whole)
        pending &= groups.sums(taken) >= need
        fits, failing = _tested(judge, split, back, taken, pending)
        spoilt = np.logical_or.reduceat(failing, begin)
        good = pending & fits & ~spoilt
        np.copyto(found, back + taken, where=groups.spread(good))
        enough = np.where(good, need, enough)
        little = np.where(good | (spoilt & (enough == _NEVER)), little, need)
        pending &= enough - little > np.maximum(enough * _NEAR, 1.0)
        if not pending.any():
            break
        room = np.where(failing, split.branches.sums(taken) // 2, room)
        need = np.where(enough < _NEVER, (little + enough) // 2, need + np.where(spoilt, 0, 2**attempt))
    return found, enough < _NEVER


def _tested(
    judge: Judge, split: Split, back: FloatArray, taken: FloatArray, pending: BoolArray
) -> tuple[BoolArray, BoolArray]:
    """Which parents pass, and which branches fail for what they gave."""
    groups, branches = split.groups, split.branches
    gave = branches.sums(taken) > 0
    if judge.sized:
        return pending, np.zeros_like(gave)
    parents, rest = back + taken, groups.rows - taken
    owner = np.concatenate([groups.number, branches.of + len(groups)])
    sizes = np.concatenate([np.where(pending, groups.sums(parents), 0.0), np.where(gave, branches.sums(rest), 0.0)])
    passing = judge.passing(np.tile(groups.of, 2), np.concatenate([parents, rest]), owner, sizes)
    return passing[: len(groups)], gave & ~passing[len(groups) :]


def _taken(split: Split, queue: Queue, need: FloatArray, room: FloatArray, *, whole: bool) -> FloatArray:
    """The rows taken from each line: in turn, as many as a group needs, none above what a branch has room for.

    Of tuples that stay whole, all rows or none: some more than are needed then, but no more than there is room for.
    """
    lines, groups = queue.lines, split.groups.number
    branch, rows = split.branches.of.take(lines), split.groups.rows.take(lines)
    space, wanted = room.take(branch), need.take(groups.take(lines))
    can, taken = np.zeros(len(groups)), np.zeros(len(groups))
    if whole:
        fits = np.where(rows <= space, rows, 0.0)
        before = ahead(fits, branch)
        can[lines] = np.where((before + fits <= space) & (before < wanted), fits, 0.0)
    else:
        can[lines] = np.clip(np.minimum(space, wanted) - ahead(rows, branch), 0.0, rows)
    some = np.flatnonzero(can > 0)
    some = some[in_order(groups.take(some) * span(queue.turn) + queue.turn.take(some))]
    rows, owner = can.take(some), groups.take(some)
    left = need.take(owner) - ahead(rows, owner)
    taken[some] = np.where(left > 0, rows, 0.0) if whole else np.clip(left, 0.0, rows)
    return taken
