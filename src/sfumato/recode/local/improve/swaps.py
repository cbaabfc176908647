"""Swaps: two lines change places, where neither of their classes could do with fewer rows."""

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.recode.local.improve.members import WIDE, Members, before
from sfumato.recode.local.improve.neighbours import Targets
from sfumato.recode.local.improve.proposals import WORTH, Proposals
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.problem import Hulls, Problem
from sfumato.recode.local.standing import Standing

_PAIRS = 400_000
"""Pairs of lines that are tried at most: those of the dearest classes."""


def swaps(problem: Problem, standing: Standing, lines: Parts, targets: Targets) -> Proposals:
    """For each line the member of its target class with which changing places saves most, where it saves anything."""
    members = Members.of(lines)
    asked = _asked(standing, members, targets, max(axis.single.shape[1] for axis in problem.axes))
    length = members.length[targets.group[asked]]
    mine, theirs = np.repeat(asked, length), members.listed(targets.group[asked])
    gain = _gains(problem, standing, members, mine, theirs)
    first = before(length)
    best = np.maximum.reduceat(gain, first) if len(asked) else gain
    good = best > WORTH
    chosen = np.flatnonzero(gain == np.repeat(np.where(good, best, np.inf), length))
    chosen = chosen[np.unique(mine[chosen], return_index=True)[1]]
    pair = np.column_stack([mine[chosen], theirs[chosen]])
    return Proposals(
        gain[chosen],
        lines.group[mine[chosen]],
        2 * np.arange(len(chosen)),
        pair.ravel(),
        lines.group[pair[:, ::-1]].ravel(),
    )


def _asked(standing: Standing, members: Members, targets: Targets, words: int) -> IntArray:
    """Lines that have a target, in classes of few lines; those that cost most, as many as there is time for."""
    group, narrow = members.lines.group, members.length <= WIDE
    known = np.isfinite(targets.added) & standing.open[targets.group]
    asked = np.flatnonzero(known & narrow[group] & narrow[targets.group] & (targets.group != group))
    row = (standing.costs / np.maximum(standing.sizes, 1))[group[asked]]
    asked = asked[np.argsort(-row, kind="stable")]
    within = np.cumsum(members.length[targets.group[asked]]) <= _PAIRS // words
    return np.sort(asked[within])


def _gains(problem: Problem, standing: Standing, members: Members, mine: IntArray, theirs: IntArray) -> FloatArray:
    """What each pair saves by changing places; minus infinity where a class would be too small."""
    lines, least = members.lines, problem.requirement.least
    here, there = lines.group[mine], lines.group[theirs]
    more = lines.rows[theirs] - lines.rows[mine]
    sizes = standing.sizes[here] + more, standing.sizes[there] - more
    needed, place = np.unique(np.concatenate([mine, theirs]), return_inverse=True)
    rest, single = members.without(problem, needed), _singles(problem, lines, needed)
    first, second = place[: len(mine)], place[len(mine) :]
    after = problem.costs(_joined(problem, rest, first, single, second), sizes[0])
    after += problem.costs(_joined(problem, rest, second, single, first), sizes[1])
    gain = standing.costs[here] + standing.costs[there] - after
    return np.where((sizes[0] >= least) & (sizes[1] >= least), gain, -np.inf)


def _singles(problem: Problem, lines: Parts, some: IntArray) -> Hulls:
    quasi = problem.encoded.tuples.quasi
    return [axis.single[codes[lines.of[some]]] for axis, codes in zip(problem.axes, quasi, strict=True)]


def _joined(problem: Problem, rest: Hulls, first: IntArray, single: Hulls, second: IntArray) -> Hulls:
    return problem.joined([hull[first] for hull in rest], [hull[second] for hull in single])
