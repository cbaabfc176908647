"""Incognito: all minimal nodes, found over subsets of the attributes of growing size (LeFevre et al. 2005).

Leaving an attribute out is generalizing it fully. So a node over some of the attributes that is not viable rules out
every node over more of them that agrees with it: the paper's subset property, for *viable* in place of k-anonymous.
Candidates over i attributes are joined from the viable nodes over i - 1 and searched breadth first, with roll-up of
frequency sets; generalizations of a viable node are marked, not checked. With α-deassociation among the models this is
the extended Incognito of the (α, k) paper.
"""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from sfumato.core.arrays import BoolArray
from sfumato.core.deadline import is_over
from sfumato.recode.evaluation import Evaluation, Evaluator
from sfumato.recode.lattice import Node, generalizations, minimal
from sfumato.recode.recoding import Progress

Subset = tuple[int, ...]
"""Numbers of attributes, ascending."""
ViableNodes = dict[Subset, BoolArray]
"""For each subset a flag per node of its lattice: whether the node is viable."""


def incognito(evaluator: Evaluator, progress: Progress | None = None) -> list[Evaluation]:
    """Find all passing nodes that have no passing specialization; none where no node passes.

    When its time is over, those that were found by then, which may be none, and may have specializations that pass.
    """
    attributes = len(evaluator.lattice.heights)
    viable, done = viable_without_attributes(), 1
    for size in range(1, attributes):
        larger: ViableNodes = {}
        for subset, nodes in search_subsets(evaluator, size, viable, progress):
            larger[subset] = nodes
            done += 1
            if progress:
                progress(done, 2**attributes)
        if is_over(progress):
            return []
        viable = larger
    candidates = join_candidates(tuple(range(attributes)), viable, evaluator.lattice.shape)
    nodes = search_viable(evaluator, candidates, progress)
    # Where a viable node always passes, only the minimal ones need a look; else all of them do.
    chosen = minimal(nodes) if evaluator.requirement.exact else nodes
    evaluations, passing = dict[Node, Evaluation](), np.zeros_like(nodes)
    for node in evaluator.lattice.nodes(chosen):
        if is_over(progress) and (passing.any() or not evaluator.requirement.exact):
            break
        evaluations[node] = evaluator.evaluate(node)
        passing[node] = evaluations[node].passes
    return [evaluations[node] for node in evaluator.lattice.nodes(minimal(passing))]


def viable_without_attributes() -> ViableNodes:
    """Give the viable nodes over no attribute: the one there is."""
    return {(): np.ones((), dtype=np.bool_)}


def search_subsets(
    evaluator: Evaluator, size: int, smaller: ViableNodes, progress: Progress | None = None
) -> Iterator[tuple[Subset, BoolArray]]:
    """Find the viable nodes over each subset of `size` attributes, from those over one attribute less.

    Ends when the time is over, after a subset that is known in full.
    """
    for subset in combinations(range(len(evaluator.lattice.heights)), size):
        if is_over(progress):
            return
        projected = evaluator.project(subset)
        yield subset, search_viable(projected, join_candidates(subset, smaller, projected.lattice.shape))


def join_candidates(subset: Subset, smaller: ViableNodes, shape: tuple[int, ...]) -> BoolArray:
    """Mark the nodes all of whose projections onto one attribute less are viable: the paper's join and prune in one.

    The result has the `shape` of the subset's lattice.
    """
    candidates = np.ones(shape, dtype=np.bool_)
    for place in range(len(subset)):
        viable = smaller[subset[:place] + subset[place + 1 :]]
        candidates &= np.expand_dims(viable, place)
    return candidates


def search_viable(evaluator: Evaluator, candidates: BoolArray, progress: Progress | None = None) -> BoolArray:
    """Mark the viable nodes among the candidates, breadth first; generalizations of a viable one are not checked.

    When the time is over, those that were found by then.
    """
    viable = np.zeros_like(candidates)
    for node in evaluator.lattice.nodes(candidates):
        if is_over(progress):
            break
        if not viable[node] and evaluator.viable(node):
            viable[generalizations(node)] = True
    return viable & candidates
