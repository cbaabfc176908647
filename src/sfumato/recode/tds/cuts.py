"""What a quasi-identifier can be specialized to: the nodes of its taxonomy, or of its ranges as they are cut.

Nodes are numbered from the root, which is 0, down. A cut of a column has one node on every path from the root to a
leaf; a specialization replaces a node of the cut by its children.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.encode import QuasiIdentifier
from sfumato.hierarchy.hierarchy import Label, refuse_ambiguous_labels
from sfumato.recode.local.range_axis import RangeAxis
from sfumato.recode.tds.refinement import Specialization
from sfumato.recode.tds.scores import Score

MOST_CUTS = 128
"""Among so many cuts of a range the next best one is looked for where the best one fails."""


class NodeLabel(NamedTuple):
    """A node as it is published: its label, what that loses, and how far it is above the leaves."""

    text: Label
    loss: float
    climbed: float


class ColumnNodes(ABC):
    """The nodes of a column, by number; 0 is the root."""

    def __init__(self, attribute: QuasiIdentifier) -> None:
        self.attribute, self.name, self.weight = attribute, attribute.name, attribute.weight
        self.leaves = attribute.column.width

    @abstractmethod
    def specialize(self, node: int) -> Specialization | None:
        """Specialize a node into its children; nothing for a leaf."""

    def next_cut(self, node: int) -> Specialization | None:
        """Specialize a node in another way than those that were given so far; nothing where there is none left."""
        del node
        return None

    @abstractmethod
    def label(self, node: int) -> NodeLabel:
        """Describe the node as it is published."""


class TaxonomyNodes(ColumnNodes):
    """A column with levels: nodes are its labels at each level, from the root down.

    Those of a depth begin at ``begin[depth]``. `counts` float[nodes, classes] are the rows of each class under a node.
    """

    def __init__(self, attribute: QuasiIdentifier, score: Score) -> None:
        super().__init__(attribute)
        self.tree, self.score = attribute.hierarchy, score
        refuse_ambiguous_labels(self.tree, column=attribute.name)
        number = {text: code for code, text in enumerate({text for level in self.tree.labels for text in level})}
        self.texts = [np.array([number[text] for text in level]) for level in self.tree.labels]
        sizes = [len(level) for level in self.tree.labels]
        self.begin = np.concatenate(([0], np.cumsum(sizes[::-1])))
        counts = [score.count_classes(attribute, self.tree.matrix[:, level], size) for level, size in enumerate(sizes)]
        self.counts = np.concatenate(counts[::-1])

    def place(self, node: int) -> tuple[int, int]:
        """Find the level of a node and the code of its label there."""
        depth = int(np.searchsorted(self.begin, node, side="right")) - 1
        return self.tree.height - depth, node - int(self.begin[depth])

    def specialize(self, node: int) -> Specialization | None:
        """Specialize into the labels below; where one reads like the node it tells nothing, and those below it count.

        With m leaves under the node: under int[m], below int[m] the node that each comes to.
        """
        level, code = self.place(node)
        if level == 0:
            return None
        under = np.flatnonzero(self.tree.matrix[:, level] == code)
        below = self._nodes_below(under, level, int(self.texts[level][code]))
        children, child = np.unique(below, return_inverse=True)
        steps = np.array([level - self.place(each)[0] for each in children.tolist()])
        gain = self.score.gain(self.counts[node], self.counts[children], steps)
        return Specialization(tuple(children.tolist()), under, child, self.weight * gain, self.leaves)

    def _nodes_below(self, leaves: IntArray, level: int, text: int) -> IntArray:
        """Find the node that each leaf comes to one level below, or further down where that still reads the same."""
        codes = self.tree.matrix[leaves, level - 1]
        nodes: IntArray = int(self.begin[self.tree.height - level + 1]) + codes.astype(np.int64)
        same = self.texts[level - 1][codes] == text
        if level > 1 and same.any():
            nodes[same] = self._nodes_below(leaves[same], level - 1, text)
        return nodes

    def label(self, node: int) -> NodeLabel:
        """Look up its label."""
        level, code = self.place(node)
        return NodeLabel(
            self.tree.labels[level][code], float(self.tree.loss[level][code]), float(self.tree.climbed[level][code])
        )


class RangeNodes(ColumnNodes):
    """A column of numbers: a node is a run of elementary intervals, cut in two where that gains most.

    NULL is behind the last interval and is separated from the numbers before anything else.
    """

    def __init__(self, attribute: QuasiIdentifier, score: Score, axis: RangeAxis) -> None:
        super().__init__(attribute)
        self.axis, self.score = axis, score
        self.counts = score.count_classes(attribute, axis.place, axis.null + 1)
        has_null = bool(self.counts[axis.null].sum())
        self.runs = [(0, axis.null if has_null else max(axis.null - 1, 0))]  # the intervals of each node
        self.given: dict[int, int] = {}  # the best cut of each node
        self.others: dict[int, list[tuple[int, float]]] = {}  # its other cuts and what they gain, the best one last

    def specialize(self, node: int) -> Specialization | None:
        """Cut in two, where it gains most; of equal cuts the one that leaves the halves most alike.

        A cut is the last interval of the first half: cuts int[m], gains float[m].
        """
        first, last = self.runs[node]
        if first == last:
            return None
        cuts = self._cuts(first, last)
        gains = self._cut_gains(first, last, cuts)
        best = cuts[gains >= gains.max() - 1e-12]
        cut = int(best[np.argmin(self._unlikeness(first, last, best))])
        self.given[node] = cut
        return self._cut_behind(node, cut, float(gains.max()))

    def next_cut(self, node: int) -> Specialization | None:
        """Cut in two where it gains most of the cuts that were not given yet; of equal ones likewise.

        Of very many cuts those are looked at which part the rows evenly.
        """
        first, last = self.runs[node]
        if node not in self.others:
            cuts = self._cuts(first, last)
            cuts = cuts[cuts != self.given[node]]
            if len(cuts) > MOST_CUTS:
                rows = self.counts.sum(axis=1)[first : last + 1].cumsum()
                shares = rows[-1] * np.arange(1, MOST_CUTS + 1) / (MOST_CUTS + 1)
                cuts = np.unique(cuts[np.searchsorted(rows[cuts - first], shares).clip(max=len(cuts) - 1)])
            gains = self._cut_gains(first, last, cuts)
            order = np.lexsort((cuts, self._unlikeness(first, last, cuts), -gains))[::-1]
            self.others[node] = list(zip(cuts[order].tolist(), gains[order].tolist(), strict=True))
        return self._cut_behind(node, *self.others[node].pop()) if self.others[node] else None

    def _cuts(self, first: int, last: int) -> IntArray:
        """List the cuts of a run; where it ends in NULL, that is parted from the rest before anything else."""
        return np.array([last - 1]) if last == self.axis.null else np.arange(first, last)

    def _unlikeness(self, first: int, last: int, cuts: IntArray) -> FloatArray:
        """Measure by how many rows the halves of a run differ, for each cut of it: float[m]."""
        rows = self.counts.sum(axis=1)[first : last + 1].cumsum()
        unlike: FloatArray = np.abs(2 * rows[cuts - first] - rows[-1])
        return unlike

    def _cut_behind(self, node: int, cut: int, gain: float) -> Specialization:
        first, last = self.runs[node]
        under = np.flatnonzero((self.axis.place >= first) & (self.axis.place <= last))
        child = (self.axis.place[under] > cut).astype(np.int64)
        self.runs += [(first, cut), (cut + 1, last)]
        children = len(self.runs) - 2, len(self.runs) - 1
        return Specialization(children, under, child, self.weight * gain, self.leaves)

    def _cut_gains(self, first: int, last: int, cuts: IntArray) -> FloatArray:
        """Measure what each cut of a run gains: float[m]."""
        start, end = np.full(len(cuts), first), np.full(len(cuts), last)
        runs = [(start, end), (start, cuts), (cuts + 1, end)]
        widths = [self.axis.losses(np.column_stack([-low, high])) for low, high in runs]
        return self.score.cut_gains(self.counts, (first, last), cuts, widths)

    def label(self, node: int) -> NodeLabel:
        """Write its range."""
        first, last = self.runs[node]
        loss = float(self.axis.losses(np.array([[-first, last]]))[0])
        return NodeLabel(self.axis.text(first, last), loss, loss)
