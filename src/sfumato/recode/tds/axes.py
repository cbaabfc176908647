"""What a quasi-identifier can be specialized to: the nodes of its taxonomy, or of its ranges as they are cut."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.encode import QuasiIdentifier
from sfumato.hierarchy.hierarchy import Label
from sfumato.recode.local.axes import RangeAxis
from sfumato.recode.tds.score import Score


class Split(NamedTuple):
    """A specialization of a node: its children, which of them each leaf under it goes to, and its gain."""

    children: tuple[int, ...]
    leaves: IntArray
    child: IntArray
    gain: float
    width: int

    @property
    def which(self) -> IntArray:
        """For every leaf of the column the place of its child, -1 where it is not under the node."""
        found = np.full(self.width, -1)
        found[self.leaves] = self.child
        return found


class Shown(NamedTuple):
    """A node as it is published: its label, what that loses, and how far it stands above the leaves."""

    text: Label
    loss: float
    climbed: float


class Axis(ABC):
    """The nodes of a column, by number; 0 is the root."""

    def __init__(self, attribute: QuasiIdentifier) -> None:
        self.attribute, self.name, self.weight = attribute, attribute.name, attribute.weight
        self.leaves = attribute.column.width

    @abstractmethod
    def split(self, node: int) -> Split | None:
        """The specialization of a node; none for a leaf."""

    @abstractmethod
    def shown(self, node: int) -> Shown:
        """The node as it is published."""


class TreeAxis(Axis):
    """A column with levels: nodes are its labels at each level, from the root down."""

    def __init__(self, attribute: QuasiIdentifier, score: Score) -> None:
        super().__init__(attribute)
        self.tree, self.score = attribute.hierarchy, score
        number = {text: code for code, text in enumerate({text for level in self.tree.labels for text in level})}
        self.texts = [np.array([number[text] for text in level]) for level in self.tree.labels]
        sizes = [len(level) for level in self.tree.labels[::-1]]
        self.begin = np.concatenate(([0], np.cumsum(sizes)))
        self.counts = np.concatenate(
            [score.counts(attribute, self.tree.matrix[:, level], size) for level, size in enumerate(sizes[::-1])][::-1]
        )

    def place(self, node: int) -> tuple[int, int]:
        """The level of a node and the code of its label there."""
        depth = int(np.searchsorted(self.begin, node, side="right")) - 1
        return self.tree.height - depth, node - int(self.begin[depth])

    def split(self, node: int) -> Split | None:
        """Into the labels below; one that reads like the node would tell nothing, so what is below it counts."""
        level, code = self.place(node)
        if level == 0:
            return None
        under = np.flatnonzero(self.tree.matrix[:, level] == code)
        below = self._below(under, level, int(self.texts[level][code]))
        children, child = np.unique(below, return_inverse=True)
        steps = np.array([level - self.place(each)[0] for each in children.tolist()])
        gain = self.score.gain(self.counts[node], self.counts[children], steps)
        return Split(tuple(children.tolist()), under, child, self.weight * gain, self.leaves)

    def _below(self, leaves: IntArray, level: int, text: int) -> IntArray:
        """The node that each leaf comes to one level below, or further down where that still reads the same."""
        codes = self.tree.matrix[leaves, level - 1]
        found: IntArray = int(self.begin[self.tree.height - level + 1]) + codes.astype(np.int64)
        same = self.texts[level - 1][codes] == text
        if level > 1 and same.any():
            found[same] = self._below(leaves[same], level - 1, text)
        return found

    def shown(self, node: int) -> Shown:
        """Its label."""
        level, code = self.place(node)
        return Shown(self.tree.labels[level][code], float(self.tree.loss[level][code]), float(level))


class RangesAxis(Axis):
    """A column of numbers: a node is a run of elementary intervals, cut in two where that gains most.

    NULL stands behind the last interval and is parted from the numbers before anything else.
    """

    def __init__(self, attribute: QuasiIdentifier, score: Score, spans: RangeAxis) -> None:
        super().__init__(attribute)
        self.spans, self.score = spans, score
        self.counts = score.counts(attribute, spans.place, spans.null + 1)
        has_null = bool(self.counts[spans.null].sum())
        self.runs = [(0, spans.null if has_null else max(spans.null - 1, 0))]

    def split(self, node: int) -> Split | None:
        """In two, where it gains most; of equal cuts the one that leaves the halves most alike."""
        first, last = self.runs[node]
        if first == last:
            return None
        if last == self.spans.null:
            cut, gain = last - 1, self._gain(first, last, np.array([last - 1]))[0]
        else:
            cuts = np.arange(first, last)
            gains = self._gain(first, last, cuts)
            best = np.flatnonzero(gains >= gains.max() - 1e-12)
            cut, gain = self._evenest(first, last, cuts[best]), gains.max()
        under = np.flatnonzero((self.spans.place >= first) & (self.spans.place <= last))
        child = (self.spans.place[under] > cut).astype(np.int64)
        self.runs += [(first, cut), (cut + 1, last)]
        return Split((len(self.runs) - 2, len(self.runs) - 1), under, child, self.weight * float(gain), self.leaves)

    def shown(self, node: int) -> Shown:
        """Its range."""
        first, last = self.runs[node]
        loss = float(self.spans.losses(np.array([[-first, last]]))[0])
        return Shown(self.spans.text(first, last), loss, loss)

    def _gain(self, first: int, last: int, cuts: IntArray) -> FloatArray:
        widths = [self.spans.losses(np.column_stack([-a, b])) for a, b in self._runs(first, last, cuts)]
        return self.score.of_cuts(self.counts, (first, last), cuts, widths)

    def _runs(self, first: int, last: int, cuts: IntArray) -> list[tuple[IntArray, IntArray]]:
        start, end = np.full(len(cuts), first), np.full(len(cuts), last)
        return [(start, end), (start, cuts), (cuts + 1, end)]

    def _evenest(self, first: int, last: int, cuts: IntArray) -> int:
        rows = self.counts.sum(axis=1)[first : last + 1].cumsum()
        return int(cuts[np.argmin(np.abs(2 * rows[cuts - first] - rows[-1]))])
