"""Bottom-up: Algorithm 2 of the identity-reserved paper, for every model and with or without persons.

1. Rows with equal quasi-identifiers that pass as a group are marked. Then an attribute is generalized by one level for
   all rows that are not, and what passes now is marked, until all rows are or all attributes are at their top.
2. What is left are orphans: together, fully generalized, they fail. Groups that can spare rows lend them some, until
   these and the orphans pass as one more group.
3. Or each orphan is merged into the group that this makes dearer the least; those that fit into none are lent rows,
   or take whole groups in.

The paper lends wherever that is possible, and merges else. Here the cheapest way is taken, and merging between equals,
since it leaves all other groups as they are. Every group passes at the end where the models are monotone; `settled`
sees to the others.
"""

from dataclasses import replace

import numpy as np

from sfumato.recode.local.bottom_up.lend import lent
from sfumato.recode.local.bottom_up.mark import steps
from sfumato.recode.local.improve.exchange import Exchange
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.settle import settled
from sfumato.recode.recoding import Progress

_PAIRS = 100_000_000
"""Pairs of orphan and group that are priced at most, a fraction of a second."""

_MANY = 20_000
"""Where more tuples fit in nowhere, they take no groups in if they can be lent rows: that would take minutes."""

_SAME = 6
"""Costs that agree in so many places, in rows, are the same."""


def bottom_up(problem: Problem, progress: Progress | None = None) -> Parts:
    """Groups that pass, marked as early as they could be; rows that are suppressed at the start stay so.

    Progress is told in rows: those that have a group, and all.
    """
    marked, rows = [problem.start.only(problem.start.group < 0)], int(problem.start.sizes.sum())
    for step in steps(problem):
        marked.append(step.marked)
        orphans = step.rest.parts
        if progress:
            progress(rows - int(orphans.rows.sum()), rows)
    if not len(orphans):
        return Parts.stacked(marked)
    found = adopted(problem, Parts.stacked(marked), orphans)
    if progress:
        progress(rows, rows)
    return found


def adopted(problem: Problem, parts: Parts, orphans: Parts) -> Parts:
    """The groups with the orphans in them, by merging, by lending, or by lending to those that fit in nowhere."""
    merging = merged(problem, parts, orphans)
    fits = problem.holds(merging).take(merging.group) | (merging.group < 0)
    loans = [lent(problem, parts, orphans)]
    if not fits.all():
        loans.append(lent(problem, merging.only(fits).numbered(), merging.only(~fits)))
    ways = [loan for loan in loans if loan is not None]
    if not ways or (~fits).sum() <= _MANY:
        ways.insert(0, merging)
    return min((settled(problem, way) for way in ways), key=lambda way: round(problem.cost(way), _SAME))


def merged(problem: Problem, parts: Parts, orphans: Parts) -> Parts:
    """Each orphan in the group that it makes dearer the least, of those that pass with it, or else left by itself."""
    alone = Parts(orphans.of, orphans.rows, np.arange(len(orphans)), len(orphans))
    kept = replace(problem, requirement=replace(problem.requirement, limit=0))  # no orphan is suppressed
    return Exchange(kept, Parts.stacked([parts, alone]), _PAIRS).fill().result
