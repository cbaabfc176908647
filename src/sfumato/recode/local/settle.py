"""Settle: groups become classes. What has the same labels is one class, and a class that fails is united with others.

Classes are what a reader can tell apart, so groups with equal labels count together, whatever the algorithm thought.
For monotone models that changes nothing; under the refined α bound a union of good groups may fail. Then failing
classes are united with their cheapest neighbours until all pass. Each step leaves fewer classes and the table as
one class passes (that is checked before any algorithm starts), so it ends with every requirement met.
"""

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.problem import Hulls, Problem
from sfumato.recode.local.standing import Standing

_TRIED = 8
"""So many of the cheapest neighbours are tried for one with which the union passes."""

_PATIENCE = 60
"""So many steps unite failing classes with one neighbour each; then it is several at a time, to come to an end."""

_PAIRS = 1 << 22
"""So many pairs are priced at a time."""

_NEAR = 512
"""Neighbours that are looked at where there are too many to look at all."""


def settled(problem: Problem, parts: Parts) -> Parts:
    """The classes that a grouping makes, all of them passing; those of the start where no others pass."""
    parts, patience = united(problem, parts.numbered()), _PATIENCE
    while not (passing := problem.holds(parts)).all():
        if parts.groups == 1:
            return problem.start
        patience -= 1
        parts = combined(problem, parts, passing, patient=patience > 0)
    return parts


def combined(problem: Problem, parts: Parts, passing: BoolArray, *, patient: bool = True) -> Parts:
    """The classes after those that do not pass have each been united with a neighbour; without patience, with more."""
    return united(problem, parts.merged(_partners(problem, parts, passing, patient=patient)))


def united(problem: Problem, parts: Parts) -> Parts:
    """The same with groups of equal labels as one."""
    shown = problem.shown(parts)
    numbers, groups = number_tuples(
        pack_tuples([labels.codes for labels in shown], [len(labels.texts) for labels in shown])
    )
    return parts if groups == parts.groups else parts.merged(numbers)


def _partners(problem: Problem, parts: Parts, passing: BoolArray, *, patient: bool) -> IntArray:
    """For each group the one it becomes part of: failing ones join their cheapest neighbour."""
    standing = Standing.of(problem, parts)
    into, failing = np.arange(parts.groups), np.flatnonzero(~passing)
    among = _near(standing.hulls, parts.groups, failing)
    for block in np.array_split(np.arange(len(failing)), max(len(failing) * among.shape[1] // _PAIRS, 1)):
        added = _added(problem, standing, failing[block], among[block])
        tried = np.take_along_axis(among[block], np.argsort(added, axis=1, kind="stable")[:, :_TRIED], 1)
        good = _first_good(problem, parts, failing[block], tried)
        into[failing[block]] = np.where(good < 0, tried[:, 0], good)
        if not patient:
            _gather(into, failing[block][good < 0], tried[good < 0])
    return _components(into)


def _gather(into: IntArray, failing: IntArray, tried: IntArray) -> None:
    """Where no single neighbour helps, all that were tried join in, unless they have other plans."""
    free = into[tried] == tried
    into[tried[free]] = np.broadcast_to(failing[:, None], tried.shape)[free]


def _near(hulls: Hulls, groups: int, failing: IntArray) -> IntArray:
    """Groups to look at for each failing one: all, or those that stand near it when all are sorted by their hulls."""
    if groups <= 2 * _NEAR:
        return np.broadcast_to(np.arange(groups), (len(failing), groups))
    order = np.lexsort([hull[:, word] for hull in hulls for word in range(hull.shape[1])])
    place = np.empty(groups, dtype=np.int64)
    place[order] = np.arange(groups)
    start = np.clip(place[failing] - _NEAR // 2, 0, groups - _NEAR)
    near: IntArray = order[start[:, None] + np.arange(_NEAR)]
    return near


def _added(problem: Problem, standing: Standing, failing: IntArray, among: IntArray) -> FloatArray:
    """What uniting each failing group with each of its neighbours adds to the cost."""
    mine, theirs = [hull[failing][:, None] for hull in standing.hulls], [hull[among] for hull in standing.hulls]
    joined = problem.joined(mine, theirs)
    row = problem.row_cost([hull.reshape(-1, hull.shape[-1]) for hull in joined]).reshape(among.shape)
    sizes, costs = standing.sizes, standing.costs
    added = problem.price.of(row, sizes[failing][:, None] + sizes[among]) - costs[failing][:, None] - costs[among]
    return np.where(among == failing[:, None], np.inf, added)


def _first_good(problem: Problem, parts: Parts, failing: IntArray, tried: IntArray) -> IntArray:
    """Of the neighbours tried, cheapest first, the first with which the union passes; -1 where there is none."""
    chosen = np.full(len(failing), -1)
    for step in range(tried.shape[1]):
        pairs = np.flatnonzero((chosen < 0) & (tried[:, step] != failing))
        if len(pairs):
            good = pairs[problem.holds(_unions(parts, failing[pairs], tried[pairs, step]))]
            chosen[good] = tried[good, step]
    return chosen


def _unions(parts: Parts, first: IntArray, second: IntArray) -> Parts:
    """One group for each pair of groups; a group may stand in many pairs."""
    order = np.argsort(parts.group, kind="stable")
    starts = np.searchsorted(parts.group[order], np.arange(parts.groups + 1))
    groups = np.concatenate([first, second])
    lengths = starts[groups + 1] - starts[groups]
    ends = np.cumsum(lengths)
    lines = order[np.arange(ends[-1]) - np.repeat(ends - lengths - starts[groups], lengths)]
    owner = np.repeat(np.tile(np.arange(len(first)), 2), lengths)
    return Parts(parts.of[lines], parts.rows[lines], owner, len(first))


def _components(into: IntArray) -> IntArray:
    """Groups that hang together by what they become part of, each under one number.

    Whoever follows the links ends in a circle, after at most as many steps as there are groups; steps double each time.
    """
    ahead, least = into, np.minimum(np.arange(len(into)), into)
    for _ in range(len(into).bit_length()):
        least = np.minimum(least, least[ahead])
        ahead = ahead[ahead]
    numbers: IntArray = least[ahead]
    return numbers
