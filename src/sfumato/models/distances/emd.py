"""The general earth mover's distance: the cheapest way to compute it that its costs allow."""

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import SensitiveDomain
from sfumato.models.distances.base import Distance
from sfumato.models.distances.costs import Costs
from sfumato.models.distances.line import Line
from sfumato.models.distances.transport import Transport
from sfumato.models.distances.tree import Tree


def general(domain: SensitiveDomain, costs: Costs) -> Distance:
    """A line or a tree (uniform costs among them) where the costs are one; else linear programs.

    >>> domain = SensitiveDomain(("a", "b", "c"), np.array([1, 1, 1]))
    >>> type(general(domain, Costs({("a", "b"): 1, ("b", "c"): 2, ("a", "c"): 3}))).__name__
    'Line'
    """
    table = costs.closed(domain.values)
    return as_line(domain, table) or as_tree(domain, table) or Transport(domain, table)


def as_line(domain: SensitiveDomain, table: FloatArray) -> Line | None:
    """The line whose lengths are the costs, if there is one: seen from an end, a place is a distance."""
    end = table[int(table[0].argmax())]
    fits = np.allclose(np.abs(end[:, None] - end), table, rtol=0, atol=1e-12 * table.max())
    return Line(domain, positions=end) if fits else None


def as_tree(domain: SensitiveDomain, table: FloatArray) -> Tree | None:
    """The tree whose heights are the costs, if there is one.

    There is one if "no farther than h" is an equivalence for every height h; its classes are the nodes
    of that height. A tree over n leaves has n heights at most, the leaves' own 0 among them.
    """
    heights = np.unique(table)
    if len(heights) > len(table):
        return None
    levels = [_nodes(table <= height) for height in heights[:-1]]
    if any(level is None for level in levels):
        return None
    nodes = np.array(levels, dtype=np.int64).reshape(len(levels), len(table)).T
    return Tree(domain, nodes=nodes, heights=np.diff(heights))


def _nodes(near: BoolArray) -> IntArray | None:
    """The first value near each value, if nearness is an equivalence."""
    first = near.argmax(axis=1)
    return first if np.array_equal(first[:, None] == first, near) else None
