"""The axis of a column with levels: a hull is a span of leaves, its label their lowest common ancestor."""

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.encode import QuasiIdentifier
from sfumato.errors import HierarchyError, listing
from sfumato.hierarchy import Hierarchy
from sfumato.hierarchy.hierarchy import ROOT
from sfumato.recode.local.axes.axis import Axis, Shown

_TABLE = 1 << 20
"""Up to so many pairs of values, the label of each pair is looked up and not sought."""

_LEAST = 1e-9
"""The width of what has more than one value and yet no loss, beyond a declared domain."""


class Tree(Axis):
    """An attribute with a hierarchy: a hull is a span of leaves in depth-first order, its label their lowest ancestor.

    Nodes are numbered level by level, leaves first; `cells` has the cost of a cell by level and label.
    """

    join = np.maximum

    def __init__(self, attribute: QuasiIdentifier, cells: list[FloatArray]) -> None:
        super().__init__(attribute)
        self.hierarchy: Hierarchy = attribute.hierarchy
        order = np.lexsort(self.hierarchy.matrix.T)
        self.place = np.empty(len(order), dtype=np.int64)
        self.place[order] = np.arange(len(order))
        self.single = np.column_stack([-self.place, self.place])
        self.sorted = self.hierarchy.matrix[order].astype(np.int64)
        self.offset = np.concatenate([[0], np.cumsum([len(level) for level in self.hierarchy.labels])])
        self.cost = np.concatenate(cells)
        leaves, *upper = self.hierarchy.loss
        self.width = np.concatenate([np.zeros(len(leaves)), *(np.maximum(loss, _LEAST) for loss in upper)])
        self._check_texts()
        self._shown = self._roots()
        self.cost = self.cost.take(self._shown)
        width = len(order)
        self._table = self._seek(*np.divmod(np.arange(width**2), width)) if width**2 <= _TABLE else None

    def steps(self) -> list[IntArray]:
        """The levels, those left out that put nothing together."""
        levels = [self.hierarchy.matrix[:, level].astype(np.int64) for level in range(self.hierarchy.height + 1)]
        widths = [len(np.unique(level)) for level in levels]
        return [level for i, level in enumerate(levels) if i == 0 or widths[i] < widths[i - 1]]

    def step_costs(self) -> list[FloatArray]:
        """A step is a level, and its labels have their costs."""
        return [self._step_cost(step)[np.unique(step, return_inverse=True)[1]] for step in self.steps()]

    def floors(self) -> list[float]:
        """The cheapest label of each step."""
        return [float(cost.min()) for cost in self.step_costs()]

    def nodes(self, hulls: IntArray) -> IntArray:
        """The lowest node that covers each hull."""
        first, last = -hulls[..., 0], hulls[..., 1]
        return self._seek(first, last) if self._table is None else self._table.take(first * len(self.place) + last)

    def cells(self, hulls: IntArray) -> FloatArray:
        """By node."""
        return self.cost.take(self.nodes(hulls))

    def widths(self, hulls: IntArray) -> FloatArray:
        """By node."""
        return self.width.take(self.nodes(hulls))

    def show(self, hulls: IntArray) -> Shown:
        """The nodes that are in use, and their texts."""
        used, codes = np.unique(self._shown.take(self.nodes(hulls)), return_inverse=True)
        level = np.searchsorted(self.offset, used, side="right") - 1
        code = used - self.offset[level]
        texts = tuple(self.hierarchy.labels[line][place] for line, place in zip(level, code, strict=True))
        loss = np.array([self.hierarchy.loss[line][place] for line, place in zip(level, code, strict=True)])
        return Shown(codes, texts, loss, level.astype(np.float64))

    def _seek(self, first: IntArray, last: IntArray) -> IntArray:
        """The lowest level at which both ends have the same label: levels nest, so it covers all between."""
        height = self.hierarchy.height
        found = np.full(first.shape, self.offset[height])
        for level in reversed(range(height)):
            start, end = self.sorted[first, level], self.sorted[last, level]
            found = np.where(start == end, self.offset[level] + start, found)
        return found

    def _roots(self) -> IntArray:
        """Each node, or the root where its label is the root's: a short code masked away, or a value ``*``.

        A reader takes it for the root's, so it has to cost as much and make one class with it.
        """
        labels = [label for level in self.hierarchy.labels for label in level]
        return np.array([len(labels) - 1 if label == ROOT else node for node, label in enumerate(labels)])

    def _check_texts(self) -> None:
        """Refuse a label that would stand for different values on different levels: here levels mix."""
        found: dict[str | None, list[tuple[int, int]]] = {}
        for level, labels in enumerate(self.hierarchy.labels):
            for code, label in enumerate(labels):
                found.setdefault(label, []).append((level, code))
        shared = {label: nodes for label, nodes in found.items() if label != ROOT and len(nodes) > 1}
        twice = [label for label, nodes in shared.items() if len({self._leaves(*node) for node in nodes}) > 1]
        if twice:
            raise HierarchyError(
                f"column {self.name!r}: labels that stand for different values on different levels: {listing(twice)}; "
                "local recoding mixes levels, so give each its own name"
            )

    def _leaves(self, level: int, code: int) -> bytes:
        return bytes((self.hierarchy.matrix[:, level] == code).tobytes())
