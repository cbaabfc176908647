"""Where a local algorithm begins: which rows take part, all of them in one group that passes."""

import math
from dataclasses import replace

import numpy as np

from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.encode import EncodedTable
from sfumato.recode.evaluation import Evaluator
from sfumato.recode.lattice import Node
from sfumato.recode.local.parts import SUPPRESSED, Parts
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.thin import thinned
from sfumato.recode.metrics import METRICS
from sfumato.recode.optimal import optimal

_SEARCHED = 30_000
"""Nodes of the largest lattice that is searched by the way."""


def begun(problem: Problem) -> Problem | None:
    """The problem with rows to begin with, or nothing where no choice of them meets the requirements.

    All rows, where the whole table as one class passes. Where it does not, and rows may be suppressed, all but some of
    the values that are too frequent. Where that takes too many, those that the best full-domain generalization
    publishes: its classes pass, and where models are monotone so does their union.
    """
    if problem.holds(problem.start).all():
        return problem
    if not problem.requirement.limit:
        return None
    start = thinned(problem)
    if start is not None:
        return replace(problem, start=start)
    kept = full_domain(problem) if searched(problem) else None
    if kept is None:
        return None
    whole = Parts(kept.of, kept.rows, np.minimum(kept.group, 0), 1)
    return replace(problem, start=whole if problem.holds(whole).all() else kept)


def searched(problem: Problem) -> bool:
    """Whether the lattice of full-domain generalizations is small enough to be searched by the way."""
    return math.prod(attribute.hierarchy.height + 1 for attribute in problem.encoded.quasi) <= _SEARCHED


def full_domain(problem: Problem) -> Parts | None:
    """The classes of the best full-domain generalization, its failing ones suppressed; nothing where none passes."""
    metric = METRICS[problem.price.metric](problem.source)
    found = optimal(Evaluator(problem.source, problem.requirement, metric))
    return None if found is None else at_node(problem, found.node)


def at_node(problem: Problem, node: Node) -> Parts:
    """The classes of a full-domain generalization, its failing ones suppressed."""
    parts = lifted(problem.encoded, node)
    passing = problem.holds(parts)
    group = np.where(passing[parts.group], parts.group, SUPPRESSED)
    return Parts(parts.of, parts.rows, group, parts.groups).numbered()


def lifted(encoded: EncodedTable, node: Node) -> Parts:
    """All tuples, grouped by their labels at a node."""
    codes, widths = [], []
    for attribute, column, level in zip(encoded.quasi, encoded.tuples.quasi, node, strict=True):
        codes.append(attribute.hierarchy.matrix[:, level].take(column))
        widths.append(len(attribute.hierarchy.labels[level]))
    group, groups = number_tuples(pack_tuples(codes, widths))
    return Parts.grouped(encoded.tuples.counts, group, groups)
