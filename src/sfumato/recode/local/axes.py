"""Axes: how the values of one quasi-identifier are covered by one label, for all groups at once.

A *hull* says what a group covers of an attribute: a line of whole numbers that joins with another by one numpy
operation. A span has its two ends, as ``(-first, last)``, so that the larger of each is the join; a set has its
members as bits, so that "or" is. The tightest hull of a group is the join of its rows' hulls, whatever the kind.

`TreeAxis` and `SetAxis` are here, numbers are in `range_axis`. With v leaves (different values of the column) and
hulls of w words, arrays of hulls are int[..., w].
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from sfumato.core.arrays import Codes, FloatArray, IntArray
from sfumato.core.segments import run_starts
from sfumato.encode import QuasiIdentifier
from sfumato.errors import HierarchyError, quote
from sfumato.hierarchy import Hierarchy
from sfumato.hierarchy.hierarchy import ROOT, Label, refuse_ambiguous_labels
from sfumato.hierarchy.open_ended import sort_members, write_member, write_members, write_single

LEAST_WIDTH = 1e-9
"""The width of what has more than one value and yet no width, as far as a float or a declared domain can tell."""

_TABLE = 1 << 20
"""Up to so many pairs of values, the label of each pair is looked up in a table."""

_WORD = 63
"""Bits of a word that are used, the sign's left out."""

MOST_MEMBERS = 64 * _WORD
"""Values of a column of sets at most: a hull has a bit for each."""

_CELLS = 1 << 22
"""So many bits are looked at at a time when labels of sets are written."""


@dataclass(frozen=True, eq=False)
class AxisLabels:
    """Labels of groups on one axis: the number of each group's label, and of each label its text and its losses.

    For g groups with l different labels: `codes` int[g], `texts` of length l, `loss` float[l] the NCP of a label,
    `climbed` float[l] the levels that it is above the leaves. No text is there twice: groups are united where their
    codes are equal, and a reader counts by texts.
    """

    codes: IntArray
    texts: tuple[str | None, ...]
    loss: FloatArray
    climbed: FloatArray

    def __post_init__(self) -> None:
        if len(set(self.texts)) < len(self.texts):
            raise ValueError("labels that read the same have different codes")


class GroupMembers(NamedTuple):
    """Who is in groups, line by line: int[n] the leaf, how many rows have it, and the group."""

    leaf: IntArray
    rows: IntArray
    group: IntArray


class AttributeAxis(ABC):
    """One quasi-identifier in local recoding.

    `join` joins hulls, `single` int[v, w] is the hull of each leaf alone, and `place` int[v] the place of each leaf in
    an order in which values that belong together are neighbours.
    """

    join: ClassVar[np.ufunc]
    single: IntArray
    place: IntArray

    def __init__(self, attribute: QuasiIdentifier) -> None:
        self.attribute = attribute

    @property
    def name(self) -> str:
        """The column's name."""
        return self.attribute.name

    @property
    def empty(self) -> int:
        """What each word of the hull that covers nothing is: joined with another, it gives the other."""
        return 0 if self.join is np.bitwise_or else -(1 << 62)

    @abstractmethod
    def cell_costs(self, hulls: IntArray) -> FloatArray:
        """Price a cell under each hull, by the metric; weighted, so that attributes add up to a row's cost."""

    @abstractmethod
    def widths(self, hulls: IntArray) -> FloatArray:
        """Measure the share of the domain that each hull spans, unweighted: 0 for one value, above 0 for more."""

    @abstractmethod
    def label_hulls(self, hulls: IntArray) -> AxisLabels:
        """Give each hull its label: int[g, w]."""

    def label_groups(self, hulls: IntArray, members: GroupMembers) -> AxisLabels:
        """Give each group its label; only where that tells more than the hull (a mean) do the members count."""
        del members
        return self.label_hulls(hulls)

    def reduce(self, hulls: IntArray, starts: IntArray) -> IntArray:
        """Join the hulls of each run of lines: int[n, w] to int[g, w]; no run is empty."""
        joined: IntArray = self.join.reduceat(hulls, starts, axis=0)
        return joined

    def steps(self) -> list[IntArray]:
        """List ever coarser partitions of the leaves, from single leaves to all in one: each int[v], a part per leaf.

        Where there are no levels, neighbours are put together two, four, eight at a time.
        """
        steps, place = [self.place], self.place
        while place.max(initial=0) > 0:
            place = place >> 1
            steps.append(place)
        return steps

    def step_floors(self) -> list[float]:
        """Find for each step what a cell costs there at least, or about."""
        return [float(self._part_costs(step).mean()) for step in self.steps()]

    def step_costs(self) -> list[FloatArray] | None:
        """Price a cell of each leaf at each step, float[v]; nothing where that depends on who else is in the group."""
        return None

    def _part_costs(self, step: IntArray) -> FloatArray:
        """Price a cell of each part of a step."""
        order = np.argsort(step, kind="stable")
        return self.cell_costs(self.reduce(self.single[order], run_starts(step[order])))


class TreeAxis(AttributeAxis):
    """An attribute with a hierarchy: a hull is a span of leaves in depth-first order, its label their lowest ancestor.

    Nodes are numbered level by level, leaves first: those of level i begin at ``offset[i]``. `labels_by_place`
    int[v, levels] has the code of the label of each level, by the leaf's place. `cells` is the cost of a cell by level
    and label.
    """

    join = np.maximum

    def __init__(self, attribute: QuasiIdentifier, cells: list[FloatArray]) -> None:
        super().__init__(attribute)
        self.hierarchy: Hierarchy = attribute.hierarchy
        refuse_ambiguous_labels(self.hierarchy, column=self.name)
        order = np.lexsort(self.hierarchy.matrix.T)
        leaves = len(order)
        self.place = np.empty(leaves, dtype=np.int64)
        self.place[order] = np.arange(leaves)
        self.single = np.column_stack([-self.place, self.place])
        self.labels_by_place = self.hierarchy.matrix[order].astype(np.int64)
        self.offset = np.concatenate([[0], np.cumsum([len(level) for level in self.hierarchy.labels])])
        # A node whose label is the root's (a short code masked away, or a value ``*``) is read as the root. So it has
        # to cost as much and make one class with it.
        labels = [label for level in self.hierarchy.labels for label in level]
        self._read_as = np.array([len(labels) - 1 if label == ROOT else node for node, label in enumerate(labels)])
        self._node_cost = np.concatenate(cells).take(self._read_as)
        widths = [np.maximum(loss, LEAST_WIDTH) for loss in self.hierarchy.loss[1:]]
        self._node_width = np.concatenate([np.zeros(len(self.hierarchy.loss[0])), *widths])
        pairs = np.divmod(np.arange(leaves**2), leaves) if leaves**2 <= _TABLE else None
        self._table = None if pairs is None else self._lowest_ancestors(*pairs)

    def steps(self) -> list[IntArray]:
        """List the levels, those left out that put nothing together."""
        levels = [self.hierarchy.matrix[:, level].astype(np.int64) for level in range(self.hierarchy.height + 1)]
        widths = [len(np.unique(level)) for level in levels]
        return [level for i, level in enumerate(levels) if i == 0 or widths[i] < widths[i - 1]]

    def step_costs(self) -> list[FloatArray]:
        """Price a cell of each leaf at each step: a step is a level, and its labels have their costs."""
        return [self._part_costs(step)[np.unique(step, return_inverse=True)[1]] for step in self.steps()]

    def step_floors(self) -> list[float]:
        """Find the cheapest label of each step."""
        return [float(cost.min()) for cost in self.step_costs()]

    def nodes(self, hulls: IntArray) -> IntArray:
        """Find the lowest node that covers each hull."""
        first, last = -hulls[..., 0], hulls[..., 1]
        if self._table is None:
            return self._lowest_ancestors(first, last)
        return self._table.take(first * len(self.place) + last)

    def cell_costs(self, hulls: IntArray) -> FloatArray:
        """Price a cell by its node."""
        return self._node_cost.take(self.nodes(hulls))

    def widths(self, hulls: IntArray) -> FloatArray:
        """Measure a hull by its node."""
        return self._node_width.take(self.nodes(hulls))

    def label_hulls(self, hulls: IntArray) -> AxisLabels:
        """List the nodes that are in use, and their texts."""
        used, codes = np.unique(self._read_as.take(self.nodes(hulls)), return_inverse=True)
        level = np.searchsorted(self.offset, used, side="right") - 1
        places = list(zip(level, used - self.offset[level], strict=True))
        texts = tuple(self.hierarchy.labels[line][code] for line, code in places)
        loss = np.array([self.hierarchy.loss[line][code] for line, code in places])
        return AxisLabels(codes, texts, loss, level.astype(np.float64))

    def _lowest_ancestors(self, first: IntArray, last: IntArray) -> IntArray:
        """Find the lowest level at which both ends have the same label: levels nest, so it covers all between."""
        height = self.hierarchy.height
        node = np.full(first.shape, self.offset[height])
        for level in reversed(range(height)):
            start, end = self.labels_by_place[first, level], self.labels_by_place[last, level]
            node = np.where(start == end, self.offset[level] + start, node)
        return node


class SetAxis(AttributeAxis):
    """A column of sets: a hull is the set of values that occur, as bits, published as ``{Bern, Thun}``.

    What a set costs is (members - 1) / (values - 1). All values that are published, together, are ``*``, which says the
    same and is shorter. Bits are in the order of texts; places are in the order of frequency, the most frequent first,
    so that a cut at the median separates one or a few frequent values from the many rare ones, which makes small sets
    of most rows.
    """

    join = np.bitwise_or

    def __init__(self, attribute: QuasiIdentifier, share: float) -> None:
        super().__init__(attribute)
        values = attribute.hierarchy.labels[0]
        if len(values) > MOST_MEMBERS:
            raise HierarchyError(
                f"column {quote(attribute.name)}: {len(values):,} different values, and sets are of at most "
                f"{MOST_MEMBERS:,}; give it a hierarchy file, a mask or intervals"
            )
        self.values = sort_members(values)
        bit = {value: i for i, value in enumerate(self.values)}
        bits = np.array([bit[value] for value in values], dtype=np.int64)
        self.single = np.zeros((len(bits), max(-(-len(bits) // _WORD), 1)), dtype=np.int64)
        self.single[np.arange(len(bits)), bits // _WORD] = np.left_shift(1, bits % _WORD)
        self._width = np.arange(-1, len(bits)) / max(len(bits) - 1, 1)  # by the number of members, from 0
        self._cost = share * self._width
        self.place = np.empty(len(bits), dtype=np.int64)
        self.place[np.lexsort([bits, -attribute.frequencies])] = np.arange(len(bits))

    def cell_costs(self, hulls: IntArray) -> FloatArray:
        """Price a cell by the members of its set."""
        return self._cost.take(_count_members(hulls))

    def widths(self, hulls: IntArray) -> FloatArray:
        """Measure the share of the other values that a set has besides one."""
        return self._width.take(_count_members(hulls))

    def label_hulls(self, hulls: IntArray) -> AxisLabels:
        """List the sets that are in use, and their texts."""
        if hulls.shape[1] == 1:  # one word each: sorting numbers is quicker than sorting lines
            words, codes = np.unique(hulls[:, 0], return_inverse=True)
            used = words[:, None]
        else:
            used, codes = np.unique(hulls, axis=0, return_inverse=True)
            codes = codes.reshape(-1)
        everything = (used == np.bitwise_or.reduce(used, axis=0)).all(axis=1) & (self.widths(used) > 0)
        loss = np.where(everything, 1.0, self.widths(used))
        texts = [ROOT if every else text for every, text in zip(everything, self._texts(used), strict=True)]
        return AxisLabels(codes, tuple(texts), loss, loss)

    def _texts(self, hulls: IntArray) -> list[Label]:
        """Write the members of each set."""
        tokens, texts = [write_member(value) for value in self.values], list[Label]()
        place = np.arange(len(tokens))
        for block in np.array_split(hulls, max(len(hulls) * len(tokens) // _CELLS, 1)):
            line, value = np.nonzero((block[:, place // _WORD] >> (place % _WORD)) & 1)
            ends = np.cumsum(np.bincount(line, minlength=len(block))).tolist()
            bits = value.tolist()
            for members in (bits[start:end] for start, end in zip([0, *ends], ends, strict=False)):
                single = len(members) == 1
                texts.append(
                    write_single(self.values[members[0]]) if single else write_members([tokens[i] for i in members])
                )
        return texts


def _count_members(hulls: IntArray) -> Codes:
    """Count the members of each set."""
    bits = np.bitwise_count(hulls)
    return bits[..., 0] if hulls.shape[-1] == 1 else bits.sum(axis=-1, dtype=np.int64)
