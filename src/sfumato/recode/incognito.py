"""Incognito: all minimal nodes, over attribute subsets of growing size.

Candidates over i attributes are joined from the viable nodes over i - 1 and searched breadth first, with roll-up
of frequency sets; generalizations of a viable node are marked, not checked. With α-deassociation among the models
this is the (α, k) paper's extended Incognito.
"""

import numpy as np

from sfumato.core.arrays import BoolArray
from sfumato.recode.evaluate import Evaluation, Evaluator, Progress
from sfumato.recode.lattice import minimal
from sfumato.recode.subsets import Viable, grow, join, nothing, search


def incognito(evaluator: Evaluator, progress: Progress | None = None) -> list[Evaluation]:
    """All passing nodes that have no passing specialization; nothing where no node passes."""
    attributes = len(evaluator.lattice.heights)
    viable, done = nothing(), 1
    for size in range(1, attributes):
        grown: Viable = {}
        for subset, nodes in grow(evaluator, size, viable):
            grown[subset] = nodes
            done += 1
            if progress:
                progress(done, 2**attributes)
        viable = grown
    everything = tuple(range(attributes))
    return _minimal_nodes(evaluator, search(evaluator, join(everything, viable, evaluator.lattice.shape)))


def _minimal_nodes(evaluator: Evaluator, viable: BoolArray) -> list[Evaluation]:
    """Minimal passing nodes among the viable ones.

    Where viable and passing are the same, only the minimal viable nodes need a look; else all viable ones do.
    """
    chosen = minimal(viable) if evaluator.requirement.exact else viable
    found = {node: evaluator.evaluate(node) for node in evaluator.lattice.nodes(chosen)}
    passing = np.zeros_like(viable)
    for node, evaluation in found.items():
        passing[node] = evaluation.passes
    return [found[node] for node in evaluator.lattice.nodes(minimal(passing))]
