"""Turn: the order in which branches are asked for rows, those first that could be specialized least.

How far a row could be specialized is seen from its branch: the levels, over all attributes, at which rows enough
of the branch share its label. Where a requirement looks at values, rows of values that need no protection are
asked for first; of the others those that the parent has the smallest share of, so that its values come to be mixed as
in the whole group, which passes.
"""

from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray, narrow_codes
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.core.segments import run_starts
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.top_down.groups import Groups
from sfumato.recode.local.top_down.specialize import Judge
from sfumato.recode.local.top_down.split import Split

_STEPS = 1 << 10
"""Shares are compared in so many steps; within a step, what could be specialized least goes first."""


@dataclass(frozen=True, eq=False)
class Queue:
    """Lines that may be asked for rows, by branch and then in their turn; `turn` is per line of the groups."""

    lines: IntArray
    turn: IntArray


def queued(judge: Judge, split: Split, back: FloatArray, room: FloatArray) -> Queue:
    """The lines of branches that have room, in the order in which they are asked."""
    branches = split.branches
    lines = np.flatnonzero(room.take(branches.of) > 0)
    lines = lines[in_order(branches.of.take(lines))]
    turn = np.zeros(len(back), dtype=np.int64)
    rows = split.groups.rows.take(lines)
    turn[lines] = reach(judge, split.groups.regrouped(lines, branches.of.take(lines), rows))
    if not judge.sized:
        turn += span(turn) * _shares(judge.problem, split, back, turn)
    return Queue(lines[in_order(branches.of.take(lines) * span(turn) + turn.take(lines))], turn)


def reach(judge: Judge, groups: Groups) -> IntArray:
    """How often each line could be specialized: levels, over all attributes, at which rows enough share its label."""
    found = np.zeros(len(groups.of), dtype=np.int64)
    for attribute, level in enumerate(groups.level):
        for lower in (level - down for down in range(1, int(level.max(initial=0)) + 1)):
            branches = groups.at(attribute, np.maximum(lower, 0))
            enough = branches.sums(groups.rows) >= judge.least
            found += enough.take(branches.of) & groups.spread(lower >= 0)
    return found


def _shares(problem: Problem, split: Split, back: FloatArray, turn: IntArray) -> IntArray:
    """For each line the share that the parent has of its value in the group, lines before it in turn counted too.

    In steps from 1 on, the largest over all columns that are looked at; 0 for values that need no protection.
    """
    found = np.zeros(len(back), dtype=np.int64)
    for name, domain in problem.encoded.domains.items():
        value = problem.main(name).take(split.groups.of).astype(np.int64)
        pair, pairs = number_tuples(pack_tuples([split.groups.number, value], [len(split.groups), len(domain.values)]))
        had, all_ = (np.bincount(pair, rows, pairs).take(pair) for rows in (back, split.groups.rows))
        share = (had + _before(np.where(back > 0, 0.0, split.groups.rows), pair, turn)) / all_
        found = np.maximum(found, (share * _STEPS + 1).astype(np.int64) * protected(problem, name).take(value))
    return found


def _before(rows: FloatArray, owner: IntArray, turn: IntArray) -> FloatArray:
    """The rows of each line's owner that come before it in turn."""
    order, found = in_order(owner * span(turn) + turn), np.empty(len(rows))
    found[order] = ahead(rows.take(order), owner.take(order))
    return found


def protected(problem: Problem, column: str) -> BoolArray:
    """Which values of a column may not be too frequent: all, unless each model that looks at it names some."""
    values = problem.encoded.domains[column].values
    looking = [model for model in problem.requirement.models if column in model.looks_at]
    named = [getattr(model, "values", None) for model in looking] or [None]
    return np.array([any(some is None or value in some for some in named) for value in values], dtype=np.bool_)


def in_order(keys: IntArray) -> IntArray:
    """What sorts the keys, equal ones as they stand; small keys by radix, the others by the runs they already have.

    >>> in_order(np.array([3, 1, 3, 0]))
    array([3, 1, 0, 2])
    """
    return np.argsort(narrow_codes(keys, int(keys.max(initial=0)) + 1), kind="stable")


def ahead(amounts: FloatArray, owner: IntArray) -> FloatArray:
    """The sum of the amounts before each line within the run of its owner.

    >>> ahead(np.array([2.0, 1.0, 4.0, 1.0]), np.array([0, 0, 0, 7]))
    array([0., 2., 3., 0.])
    """
    if not len(owner):
        return amounts
    total, first = np.cumsum(amounts) - amounts, run_starts(owner)
    return total - np.repeat(total[first], np.diff(first, append=len(owner)))


def span(turn: IntArray) -> int:
    """More than any turn."""
    return int(turn.max(initial=0)) + 1
