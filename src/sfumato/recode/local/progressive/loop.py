"""Progressive local recoding: Algorithm 1 of Wong, Li, Fu and Wang (section 4.1; section 6 for many values).

All rows start as they are. In each loop the attribute whose labels have the highest entropy climbs one level, for
all rows that are left; then groups of equal labels leave as far as they may, and keep the labels that they have.

- Where one value is protected by an α bound, and only size is required besides, trunks leave first (`trunks.py`):
  the largest part of a group, passing or not, that holds the protected value as often as it may. The stub stays.
- Then groups that pass leave, whole or in part, within two limits (`removal.py`). With α bounds no more
  rows leave than Lemma 5 allows, the least over all protected values, columns and models. And whatever the models,
  what stays has to pass as one class. That is the idea behind the lemma, and for all other models it is the rule:
  k-anonymity (k rows stay, or none), diversity, closeness, persons, and any of them together.

So at the end of each loop what is left would pass as one class. Where all attributes are at their top it is one, and
leaves: there are no more loops than levels (Lemma 6, the removal before the first climb not counted), and every group
passes. Groups with equal labels are united later, which only the refined α bound may mind; `settled` sees to that.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.progressive.removal import Removal, as_one
from sfumato.recode.local.progressive.trunks import Trunks, bound
from sfumato.recode.local.rest import Rest
from sfumato.recode.recoding import Progress


def progressive(problem: Problem, progress: Progress | None = None) -> Parts:
    """Groups in the order in which they left; rows that are suppressed at the start stay so."""
    suppressed = problem.start.only(problem.start.group < 0)
    taken, rows = [suppressed], int(problem.start.sizes.sum())
    for loop in loops(problem):
        taken += loop.taken
        if progress:
            progress(rows - int(loop.rest.parts.rows.sum()), rows)
    return Parts.stacked(taken)


@dataclass(frozen=True, eq=False)
class Loop:
    """What left in a loop, and what is left."""

    taken: list[Parts]
    rest: Rest


def loops(problem: Problem) -> Iterator[Loop]:
    """The removal before anything is generalized, and then each loop: an attribute climbs, groups leave."""
    trunks = Trunks.of(problem)
    loop = _removed(Rest.of(problem), trunks)
    yield loop
    while len(loop.rest.parts):
        loop = _removed(loop.rest.climbed(int(loop.rest.entropies().argmax())), trunks)
        yield loop


def _removed(rest: Rest, trunks: Trunks | None) -> Loop:
    """Trunks leave, and then groups that pass; or all rows at once, where every group passes or there is but one."""
    passing = rest.problem.holds(rest.parts)
    if passing.all() or rest.parts.groups == 1:
        return Loop([rest.parts], rest.without(rest.parts.rows))
    taken = []
    if trunks is not None:
        offered = trunks.offered(rest.problem, rest.parts)
        trunk = Removal(rest.problem, rest.parts, offered).released(int(offered.sum()))
        taken.append(_some(rest.parts, trunk))
        rest = rest.without(trunk)
        passing = rest.problem.holds(rest.parts)
    further = _further(rest, passing)
    return Loop([*taken, _some(rest.parts, further)], rest.without(further))


def _further(rest: Rest, passing: BoolArray) -> IntArray:
    """Of each line the rows that leave besides trunks."""
    problem, parts = rest.problem, rest.parts
    limit = bound(problem.requirement.models, as_one(problem, parts.of, parts.rows))
    return Removal(problem, parts, np.where(passing.take(parts.group), parts.rows, 0)).released(limit)


def _some(parts: Parts, rows: IntArray) -> Parts:
    return replace(parts, rows=rows).only(rows > 0)
