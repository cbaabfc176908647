"""The earth mover's distance in a tree (Li, Li and Venkatasubramanian 2007, Section 5.2)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.classes import Histogram, SensitiveDomain
from sfumato.core.segments import run_starts, sum_by_group
from sfumato.errors import PolicyError
from sfumato.models.distances.base import Distance, in_order


@dataclass(frozen=True, eq=False)
class Tree(Distance):
    """Values are leaves; a move costs the height of the lowest node above both.

    `nodes` has a line per value and a column per level below the root, finest first; `heights` are the
    heights that the levels add. The distance is the sum over levels of added height times variational
    distance between the distributions over that level's nodes. For the cost of a move from v to w is the
    sum of added heights of the levels at which v and w stand under different nodes. At one level, no
    plan moves less across nodes than the variational distance there, so the sum is a lower bound. It is
    reached: match what can be matched within the finest nodes, then what is left within the next, and so
    on; what is left in a node is then its surplus or its lack alone, and what crosses nodes at a level
    is the variational distance of that level, at all levels at once.

    >>> domain = SensitiveDomain(("a", "b", "c"), np.array([1, 1, 2]))
    >>> tree = Tree(domain, nodes=np.array([[0, 0], [1, 0], [2, 1]]), heights=np.array([0.5, 0.5]))
    >>> tree.of(Histogram(np.array([0]), np.array([0]), np.array([2]), domain), np.array([2]))
    array([0.625])
    """

    nodes: IntArray
    heights: FloatArray

    @cached_property
    def _rank(self) -> IntArray:
        """Places of the values such that every node is a run."""
        order = np.lexsort(self.nodes.T) if self.nodes.size else np.arange(len(self.nodes))
        return np.argsort(order)

    def of(self, lines: Histogram, sizes: IntArray) -> FloatArray:
        """The distance of each class."""
        lines = in_order(lines, self._rank)
        total = np.zeros(len(sizes))
        for level, height in enumerate(self.heights):
            total += height * self._surplus(lines, sizes, self.nodes[:, level])
        return total

    def _surplus(self, lines: Histogram, sizes: IntArray, nodes: IntArray) -> FloatArray:
        """The variational distance of each class over the nodes of one level."""
        code = np.unique(nodes, return_inverse=True)[1]
        node = code[lines.value]
        first = run_starts(lines.class_of * (int(code.max()) + 1) + node)
        if not len(first):
            return np.zeros(len(sizes))
        owner = lines.class_of[first]
        share = np.add.reduceat(lines.count, first) / sizes[owner]
        surplus = share - np.bincount(code, self.domain.shares)[node[first]]
        return sum_by_group(owner, np.maximum(surplus, 0.0), len(sizes))


def hierarchical(domain: SensitiveDomain) -> Tree:
    """The tree of the column's hierarchy, all levels equally high and the root at height 1."""
    if domain.ancestors is None:
        raise PolicyError("distance emd-hierarchical needs a hierarchy of the column", key="distance")
    nodes = domain.ancestors[:, :-1]
    return Tree(domain, nodes=nodes, heights=np.full(nodes.shape[1], 1 / max(nodes.shape[1], 1)))
