"""What subsets of the attributes rule out.

Leaving an attribute out is generalizing it fully. So a node over some of the attributes that is not viable rules
out every node over more of them that agrees with it: the subset property, for `viable` in place of a model. The
frequency sets of small subsets are small, and what they rule out need never be counted in full.
"""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from sfumato.core.arrays import BoolArray
from sfumato.recode.evaluate import Evaluator
from sfumato.recode.lattice import generalizations

Subset = tuple[int, ...]
Viable = dict[Subset, BoolArray]


def grow(evaluator: Evaluator, size: int, fewer: Viable) -> Iterator[tuple[Subset, BoolArray]]:
    """The viable nodes over each subset of `size` attributes, from those over one attribute less."""
    for subset in combinations(range(len(evaluator.lattice.heights)), size):
        part = evaluator.over(subset)
        yield subset, search(part, join(subset, fewer, part.lattice.shape))


def nothing() -> Viable:
    """The viable nodes over no attribute: the one there is."""
    return {(): np.ones((), dtype=np.bool_)}


def join(subset: Subset, viable: Viable, shape: tuple[int, ...]) -> BoolArray:
    """Nodes all of whose projections onto one attribute less are viable: join and prune in one."""
    candidates = np.ones(shape, dtype=np.bool_)
    for place in range(len(subset)):
        fewer = viable[subset[:place] + subset[place + 1 :]]
        candidates &= np.expand_dims(fewer, place)
    return candidates


def search(evaluator: Evaluator, candidates: BoolArray) -> BoolArray:
    """The viable nodes among the candidates, breadth first; generalizations of a viable one are not looked at."""
    viable = np.zeros_like(candidates)
    for node in evaluator.lattice.nodes(candidates):
        if not viable[node] and evaluator.viable(node):
            viable[generalizations(node)] = True
    return viable & candidates


def survivors(evaluator: Evaluator, largest: int) -> BoolArray:
    """Nodes over all attributes that no subset of up to `largest` rules out; stops where subsets rule out nothing."""
    left = np.ones(evaluator.lattice.shape, dtype=np.bool_)
    viable = nothing()
    for size in range(1, min(largest, left.ndim - 1) + 1):
        before = int(left.sum())
        viable = dict(grow(evaluator, size, viable))
        for subset, part in viable.items():
            left &= part.reshape([levels if i in subset else 1 for i, levels in enumerate(left.shape)])
        if size > 1 and left.sum() == before:
            break
    return left
