"""The lattice of full-domain generalizations: one node per choice of a level for every attribute."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import InputError

Node = tuple[int, ...]

LARGEST = 20_000_000
"""Nodes of the largest lattice that is searched."""


@dataclass(frozen=True)
class Lattice:
    """All nodes between no generalization and full generalization.

    Per-node figures are kept in arrays of shape `shape`, so that "every generalization of a node" and
    "every specialization of a node" are slices, and marking them all is one assignment.

    >>> lattice = Lattice((1, 2))
    >>> lattice.size, lattice.bottom, lattice.top
    (6, (0, 0), (1, 2))
    >>> list(lattice.parents((0, 1)))
    [(1, 1), (0, 2)]
    """

    heights: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of levels per attribute."""
        return tuple(height + 1 for height in self.heights)

    @property
    def size(self) -> int:
        """Number of nodes (exact, however large)."""
        size = 1
        for levels in self.shape:
            size *= levels
        return size

    @property
    def bottom(self) -> Node:
        """The node that generalizes nothing."""
        return (0,) * len(self.heights)

    @property
    def top(self) -> Node:
        """The node that generalizes everything."""
        return self.heights

    @cached_property
    def height(self) -> NDArray[np.int64]:
        """The height of each node: the sum of its levels."""
        return outer_sum([np.arange(levels) for levels in self.shape]).astype(np.int64)

    def parents(self, node: Node) -> Iterator[Node]:
        """List the nodes one level more general in one attribute."""
        for i, level in enumerate(node):
            if level < self.heights[i]:
                yield (*node[:i], level + 1, *node[i + 1 :])

    def nodes(self, mask: NDArray[np.bool_]) -> list[Node]:
        """List the nodes that a mask marks, lowest first, then in order of their levels."""
        marked = [tuple(map(int, node)) for node in np.argwhere(mask)]
        return sorted(marked, key=lambda node: (sum(node), node))


def add_specializations(figures: NDArray[Any]) -> None:
    """Add to each node's figure, in place, those of all its specializations; `figures` has the shape of the lattice.

    Afterwards ``figures[node]`` is what ``figures[specializations(node)].sum()`` was before: prefix sums along one axis
    after another. Axes have a handful of levels, so adding whole slices is several times faster than `cumsum`.

    >>> figures = np.ones((2, 3), dtype=np.int64)
    >>> add_specializations(figures)
    >>> figures.tolist()
    [[1, 2, 3], [2, 4, 6]]
    """
    for axis in range(figures.ndim):
        levels = np.moveaxis(figures, axis, 0)
        for level in range(1, len(levels)):
            levels[level] += levels[level - 1]


def specializations(node: Node) -> tuple[slice, ...]:
    """Give the part of a per-node array that holds the node and all its specializations."""
    return tuple(slice(0, level + 1) for level in node)


def generalizations(node: Node) -> tuple[slice, ...]:
    """Give the part of a per-node array that holds the node and all its generalizations."""
    return tuple(slice(level, None) for level in node)


def outer_sum(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Make an array over all nodes whose entry is the sum of its levels' entries.

    >>> outer_sum([np.array([0, 10]), np.array([1, 2, 3])])
    array([[ 1,  2,  3],
           [11, 12, 13]])
    """
    total: NDArray[Any] = np.zeros((1,) * len(parts), dtype=parts[0].dtype)
    for i, part in enumerate(parts):
        total = total + part.reshape([-1 if j == i else 1 for j in range(len(parts))])
    return total


def minimal(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark, of the nodes that are marked, those with no other marked node among their specializations.

    `mask` has a flag per node, in the shape of the lattice, and so has the result.

    >>> minimal(np.array([[False, True], [True, True]]))
    array([[False,  True],
           [ True, False]])
    """
    reach = mask.copy()
    for axis in range(mask.ndim):  # reach: the node itself or some specialization of it is marked
        reach = np.logical_or.accumulate(reach, axis=axis)
    below = np.zeros_like(mask)
    for axis in range(mask.ndim):  # below: the same of the nodes one level lower in some attribute
        upper, lower = [slice(None)] * mask.ndim, [slice(None)] * mask.ndim
        upper[axis], lower[axis] = slice(1, None), slice(0, -1)
        below[tuple(upper)] |= reach[tuple(lower)]
    return mask & ~below


_READABLE = 10**15
"""From here on a number of generalizations is told by its power of ten."""


def check_size(heights: Sequence[int]) -> None:
    """Refuse a lattice that nobody could wait for, by the heights of its hierarchies.

    >>> check_size([9] * 8)
    Traceback (most recent call last):
    sfumato.errors.InputError: 8 quasi-identifiers with these hierarchies have 100,000,000 full-domain generalizations,
    more than the 20,000,000 that are searched; use hierarchies with fewer levels or fewer quasi-identifiers, or a local
    algorithm such as auto
    >>> check_size([9] * 600)
    Traceback (most recent call last):
    sfumato.errors.InputError: 600 quasi-identifiers with these hierarchies have about 10^600 full-domain
    generalizations, more than the 20,000,000 that are searched; use hierarchies with fewer levels or fewer
    quasi-identifiers, or a local algorithm such as auto
    """
    nodes = math.prod(height + 1 for height in heights)
    if nodes > LARGEST:
        count = f"{nodes:,}" if nodes < _READABLE else f"about 10^{round(math.log10(nodes))}"
        raise InputError(
            f"{len(heights)} quasi-identifiers with these hierarchies have {count} full-domain generalizations, more "
            f"than the {LARGEST:,} that are searched; use hierarchies with fewer levels or fewer quasi-identifiers, or "
            "a local algorithm such as auto"
        )
