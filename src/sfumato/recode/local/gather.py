"""Gather: a person's rows come together where the classes that they stand in are shared by too few.

The pseudonym ties a person's rows together, so what hides them is who else stands in exactly the same classes. Where
these are too few, all rows of the person go to one of their classes, the one that it makes dearer the least: there
everybody whose rows stand in that class alone is like them. A class that has too few of those is united with its
neighbour. A person who has been gathered stays so, and each union leaves fewer classes, so it ends; at the latest with
one class, which everybody shares.
"""

from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.linked_persons import LinkedPersons, linked_persons
from sfumato.core.segments import run_starts
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.settle import combined, settled
from sfumato.recode.local.standing import Standing


def gathered(problem: Problem, parts: Parts) -> Parts | None:
    """Classes that pass, each person's set of them shared by as many persons as it has to be; nothing if none are."""
    least = problem.requirement.linked
    while least > 1:
        found = linked_persons(problem.count(parts))
        if found.fewest >= least:
            break
        if parts.groups == 1:
            return None
        parts = _step(problem, parts, _rare(problem, found, least))
    return parts


def _rare(problem: Problem, found: LinkedPersons, least: int) -> BoolArray:
    """By their code, the persons whose classes too few persons share."""
    rare = np.zeros(int(problem.persons.max()) + 1, dtype=np.bool_)
    rare[found.persons[found.sharing < least]] = True
    return rare


@dataclass(frozen=True, eq=False)
class _Rows:
    """Lines of persons, person by person: where each person begins, and the number of each line's person."""

    lines: IntArray
    first: IntArray
    number: IntArray

    @classmethod
    def of(cls, lines: IntArray, person: IntArray) -> "_Rows":
        """Some lines, given the code of the person of each."""
        order = np.argsort(person, kind="stable")
        first = run_starts(person[order]) if len(lines) else lines
        return cls(lines[order], first, np.repeat(np.arange(len(first)), np.diff(first, append=len(lines))))


def _step(problem: Problem, parts: Parts, rare: BoolArray) -> Parts:
    """All of them gathered who have rows in several classes; where nobody has, their classes united with others."""
    person = problem.persons.take(parts.of)
    lines = np.flatnonzero((parts.group >= 0) & rare.take(person))
    rows = _Rows.of(lines, person[lines])
    several = _several(rows, parts.group)
    if several.any():
        lines = rows.lines[several[rows.number]]
        return settled(problem, _moved(problem, parts, _Rows.of(lines, person[lines])))
    poor = np.zeros(parts.groups, dtype=np.bool_)
    poor[parts.group[lines]] = True
    return settled(problem, combined(problem, parts, ~poor))


def _several(rows: _Rows, group: IntArray) -> BoolArray:
    """Which persons have rows in several classes."""
    if not len(rows.first):
        return np.zeros(0, dtype=np.bool_)
    low, high = (reduce.reduceat(group[rows.lines], rows.first) for reduce in (np.minimum, np.maximum))
    several: BoolArray = low < high
    return several


def _moved(problem: Problem, parts: Parts, rows: _Rows) -> Parts:
    """The lines of each person in the one of their classes that takes them in most cheaply."""
    pairs = np.unique(rows.number * parts.groups + parts.group[rows.lines])
    who, where = pairs // parts.groups, pairs % parts.groups
    added = _added(problem, parts, rows, pairs)
    order = np.lexsort([where, added, who])
    target = where[order[np.searchsorted(who[order], np.arange(len(rows.first)))]]
    group = parts.group.copy()
    group[rows.lines] = target[rows.number]
    return Parts(parts.of, parts.rows, group, parts.groups).numbered().joined()


def _added(problem: Problem, parts: Parts, rows: _Rows, pairs: IntArray) -> FloatArray:
    """What it adds to the cost of a class to take in all lines of a person, for pairs of person and class in one."""
    standing, lines = Standing.of(problem, parts), parts.of[rows.lines]
    who, where = pairs // parts.groups, pairs % parts.groups
    own = [
        axis.reduce(axis.single.take(codes.take(lines), axis=0), rows.first)
        for axis, codes in zip(problem.axes, problem.encoded.tuples.quasi, strict=True)
    ]
    joined = problem.joined([hull[who] for hull in own], [hull[where] for hull in standing.hulls])
    amount = parts.rows[rows.lines]
    there = np.searchsorted(pairs, rows.number * parts.groups + parts.group[rows.lines])
    coming = np.add.reduceat(amount, rows.first)[who] - np.bincount(there, amount, len(pairs)).astype(np.int64)
    return problem.costs(joined, standing.sizes[where] + coming) - standing.costs[where]
