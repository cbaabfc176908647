"""Refinement: groups of tuples that are divided as columns are specialized; only what is divided is numbered anew."""

from collections.abc import Mapping
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import Codes, IntArray
from sfumato.core.keys import number_tuples, pack_tuples

Kind = TypeVar("Kind", np.int64, np.float64)


class Specialization(NamedTuple):
    """A specialization of a node: its children, which of them each leaf under it goes to, and its gain.

    With m of the column's `width` leaves under the node: leaves int[m], child int[m] the place of each in `children`.
    """

    children: tuple[int, ...]
    leaves: IntArray
    child: IntArray
    gain: float
    width: int

    @property
    def child_of_leaf(self) -> IntArray:
        """For every leaf of the column the place of its child, -1 where it is not under the node: int[width]."""
        place = np.full(self.width, -1)
        place[self.leaves] = self.child
        return place


class Refinement(NamedTuple):
    """Groups divided into parts, for m tuples and p parts: tuples int[m], part int[m], and parent int[p].

    `parent` is the group that each part comes from, ascending.
    """

    tuples: IntArray
    part: IntArray
    parent: IntArray


class TupleGroups:
    """The group of each tuple, int[t], numbered without gaps."""

    def __init__(self, group: IntArray, groups: int) -> None:
        self.group, self.groups = group.copy(), groups

    def refine(self, tuples: IntArray, child: IntArray, children: int) -> Refinement:
        """Divide the groups of some tuples, int[m], by a number per tuple, int[m], below `children`.

        >>> TupleGroups(np.array([0, 0, 1]), 2).refine(np.array([0, 1, 2]), np.array([1, 0, 0]), 2).parent
        array([0, 0, 1])
        """
        packed = pack_tuples([self.group[tuples], child], [self.groups, max(children, 1)])
        part, parts = number_tuples(packed)
        keys = np.empty(parts, dtype=np.int64)
        keys[part] = packed.keys
        return Refinement(tuples, part, packed.unpack(keys)[0])

    def refine_by(self, specialization: Specialization, leaves: Codes) -> Refinement:
        """Divide the groups of the tuples that a specialization is about, given each tuple's leaf in its column."""
        child = specialization.child_of_leaf[leaves]
        tuples = np.flatnonzero(child >= 0)
        return self.refine(tuples, child[tuples], len(specialization.children))

    def all_as_parts(self) -> Refinement:
        """Describe all groups as they are, each as one part."""
        return Refinement(np.arange(len(self.group)), self.group, np.arange(self.groups))

    def apply(self, refinement: Refinement) -> IntArray:
        """Divide groups for good; returns the group of each part, int[p]: the first of a group keeps its number."""
        parent = refinement.parent
        first = np.concatenate(([True], parent[1:] != parent[:-1]))
        numbers = np.where(first, parent, self.groups - 1 + np.cumsum(~first))
        self.group[refinement.tuples] = numbers[refinement.part]
        self.groups += int((~first).sum())
        return numbers


def update_figures(figures: NDArray[Kind], numbers: IntArray, of_parts: NDArray[Kind], groups: int) -> NDArray[Kind]:
    """Update figures by group after some were divided: those of the parts in their places, the others as they were."""
    grown: NDArray[Kind] = np.concatenate([figures, np.zeros(groups - len(figures), dtype=figures.dtype)])
    grown[numbers] = of_parts
    return grown


def touched_nodes(tuples: IntArray, leaves: Mapping[int, Codes], cuts: Mapping[int, IntArray]) -> dict[int, IntArray]:
    """Find the nodes of each quasi-identifier that some tuples are under, at the present cuts.

    `leaves` has each tuple's leaf and `cuts` each leaf's node, by the number of the quasi-identifier.
    """
    return {number: np.unique(cuts[number][codes[tuples]]) for number, codes in leaves.items()}
