"""The metrics that a policy may name: what a full-domain search minimizes.

Every loss is between 0 (nothing generalized) and about 1 (everything), with a suppressed row counted as a row of which
nothing is left. A metric also gives bounds that save looking at nodes: a floor under the loss of every node before any
is evaluated, a floor under all generalizations of a node, and what the doomed rows of a node, which every
specialization suppresses as well, add to the floor under its specializations.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.encode import EncodedTable, QuasiIdentifier
from sfumato.recode.frequency_sets import NodeClasses
from sfumato.recode.lattice import Node, outer_sum

LOSS_TOLERANCE = 1e-12
"""Losses closer than this are a tie, broken by height and then by levels."""


@dataclass(frozen=True)
class NodeLoss:
    """The loss of a node, and what its doomed rows add to the floor under its specializations."""

    loss: float
    added_below: float


class Metric(ABC):
    """The loss of full-domain generalizations of one table of so many `rows`."""

    name: ClassVar[str]
    rows: int

    @abstractmethod
    def floor(self) -> FloatArray:
        """Give a lower bound of the loss for every node of the lattice, in the lattice's shape."""

    def floor_above(self, classes: EquivalenceClasses) -> float:
        """Give the least loss that any generalization of a node with these classes can have."""
        del classes
        return 0.0

    @abstractmethod
    def price(self, node: Node, classes: NodeClasses, passing: BoolArray, doomed: FloatArray) -> NodeLoss:
        """Compute the loss of a node whose `passing` classes are published and whose other classes are suppressed.

        `passing` has a flag per class, `doomed` the share of each class that every specialization suppresses as well.
        """

    def unite_prices(self, node: Node, prices: Sequence[NodeLoss]) -> NodeLoss:  # noqa: ARG002 - some need it
        """Give the price of a node whose classes were priced in parts, each class in one of them."""
        return NodeLoss(sum(price.loss for price in prices), sum(price.added_below for price in prices))

    def unite_floors(self, floors: Sequence[float]) -> float:
        """Give `floor_above` of classes of which it was worked out in parts."""
        return sum(floors)

    def of_union(self, rows: int, losses: Sequence[FloatArray]) -> Self:  # noqa: ARG002 - additive ones need it
        """Give the same metric for the union of this table with others, of `rows` rows in all.

        `losses` has for each attribute float[levels] what all rows of the union lose at each level: the sum of what
        `total_losses` gives for each table.
        """
        united = copy(self)
        united.rows = rows
        return united

    def total_losses(self) -> list[FloatArray]:
        """Give for each attribute what all rows lose at each level, float[levels]; nothing where none is needed."""
        return []


class AdditiveMetric(Metric):
    """A loss that is a sum over cells, each depending on its label alone.

    `cell_loss` gives, for an attribute and a level, the loss of a cell per label. A suppressed row loses 1, shared out
    among the attributes by their weights: `shares` (float[attributes]). `cells` has for each attribute and level the
    weighted loss of a cell per label, and `base` for each attribute the average of it over all rows, by level.
    """

    def __init__(
        self, encoded: EncodedTable, cell_loss: Callable[[QuasiIdentifier, int], FloatArray], weights: FloatArray
    ) -> None:
        self.rows = encoded.rows
        self.shares = weights / weights.sum()
        self.cells: list[list[FloatArray]] = []
        self.base: list[FloatArray] = []
        for attribute, share in zip(encoded.quasi, self.shares, strict=True):
            matrix, frequencies = attribute.hierarchy.matrix, attribute.frequencies
            cells = [share * cell_loss(attribute, level) for level in range(attribute.hierarchy.height + 1)]
            means = [float((cell[matrix[:, i]] * frequencies).sum()) / self.rows for i, cell in enumerate(cells)]
            self.cells.append(cells)
            self.base.append(np.array(means))

    def floor(self) -> FloatArray:
        """Give the loss of every node if no row were suppressed, which needs no look at any class."""
        return outer_sum(self.base)

    def total_losses(self) -> list[FloatArray]:
        """Give for each attribute what all rows lose at each level, if no row is suppressed."""
        return [means * self.rows for means in self.base]

    def of_union(self, rows: int, losses: Sequence[FloatArray]) -> Self:
        """Average the losses over the rows of the union; what a label loses is the same in all tables."""
        united = super().of_union(rows, losses)
        united.base = [total / rows for total in losses]
        return united

    def price(self, node: Node, classes: NodeClasses, passing: BoolArray, doomed: FloatArray) -> NodeLoss:
        """Add to the loss without suppression, for each suppressed row, what its labels had not lost yet."""
        base = self._base_at(node)
        failing = ~passing
        sizes = classes.classes.sizes[failing]
        left = np.ones(len(sizes))  # per failing class, what a row of it has not lost
        for levels, level, label in zip(self.cells, node, classes.labels(failing), strict=False):
            left -= levels[level].take(label)
        left *= sizes
        added_below = float((left * doomed[failing]).sum()) / self.rows
        return NodeLoss(base + float(left.sum()) / self.rows, added_below)

    def unite_prices(self, node: Node, prices: Sequence[NodeLoss]) -> NodeLoss:
        """Add up what suppressed rows lose besides; what all rows lose is in the price of each part."""
        added = super().unite_prices(node, prices)
        return NodeLoss(added.loss - (len(prices) - 1) * self._base_at(node), added.added_below)

    def _base_at(self, node: Node) -> float:
        """The loss of a node if no row were suppressed."""
        return float(sum(levels[level] for levels, level in zip(self.base, node, strict=True)))


class Ncp(AdditiveMetric):
    """Normalized certainty penalty: the share of the domain's other leaves that a label covers, on average."""

    name = "ncp"

    def __init__(self, encoded: EncodedTable) -> None:
        super().__init__(encoded, lambda attribute, level: attribute.hierarchy.loss[level], _weights(encoded))


class Distortion(AdditiveMetric):
    """The (α, k) paper's distortion ratio: levels climbed, of all levels that could be."""

    name = "distortion"

    def __init__(self, encoded: EncodedTable) -> None:
        super().__init__(encoded, _climbed_share, _weights(encoded) * _heights(encoded))


class Height(AdditiveMetric):
    """The height of the node, of the height of the lattice; weights do not count."""

    name = "height"

    def __init__(self, encoded: EncodedTable) -> None:
        super().__init__(encoded, _level_share, _heights(encoded))


class Precision(AdditiveMetric):
    """One minus Sweeney's precision: the share of its hierarchy that each attribute climbed, on average."""

    name = "precision"

    def __init__(self, encoded: EncodedTable) -> None:
        super().__init__(encoded, _climbed_share, _weights(encoded))


class Entropy(AdditiveMetric):
    """Non-uniform entropy: bits lost about a row's values given their labels, of all bits there were.

    A cell with value v and label L loses log2(N(L) / N(v)), N counting rows of the whole table, so that the
    information left in a label, log2(n / N(L)), depends on the label alone.
    """

    name = "entropy"

    def __init__(self, encoded: EncodedTable) -> None:
        bits = np.array([_entropy_bits(attribute, encoded.rows) for attribute in encoded.quasi])
        weights = _weights(encoded) * bits
        super().__init__(encoded, self._cell_loss, weights if weights.sum() else _weights(encoded))

    def _cell_loss(self, attribute: QuasiIdentifier, level: int) -> FloatArray:
        """Average loss per label, scaled so that the whole attribute at its top loses 1."""
        rows = attribute.frequencies.sum()
        rows_of_label = np.bincount(attribute.hierarchy.matrix[:, level], weights=attribute.frequencies)
        bits_left = np.log2(rows / np.maximum(rows_of_label, 1))  # labels that no row has may be there, and cost nobody
        bits = _entropy_bits(attribute, int(rows))
        return 1.0 - bits_left / bits if bits else np.zeros(len(rows_of_label))


class Discernibility(Metric):
    """Each row costs the size of its class, a suppressed one the size of the table; of the worst there is."""

    name = "discernibility"

    def __init__(self, encoded: EncodedTable) -> None:
        self.rows = encoded.rows
        self.shape = tuple(attribute.hierarchy.height + 1 for attribute in encoded.quasi)

    def floor(self) -> FloatArray:
        """Give 0 for every node: nothing is known before classes are counted."""
        return np.zeros(self.shape)

    def floor_above(self, classes: EquivalenceClasses) -> float:
        """Add up the squares of class sizes, which only grow when classes are united."""
        return float((classes.sizes.astype(np.float64) ** 2).sum()) / float(self.rows) ** 2

    def price(self, node: Node, classes: NodeClasses, passing: BoolArray, doomed: FloatArray) -> NodeLoss:
        """Add up the squares of the sizes of published classes, and the table's size for each suppressed row."""
        del node
        sizes = classes.classes.sizes.astype(np.float64)
        published = float((sizes[passing] ** 2).sum()) / float(self.rows) ** 2
        suppressed = float(sizes[~passing].sum()) / self.rows
        return NodeLoss(published + suppressed, float((sizes * doomed).sum()) / self.rows)


class AverageClassSize(Metric):
    """Rows of the table per published class, of the one class there would be at worst."""

    name = "average-class-size"

    def __init__(self, encoded: EncodedTable) -> None:
        self.rows = encoded.rows
        self.shape = tuple(attribute.hierarchy.height + 1 for attribute in encoded.quasi)

    def floor(self) -> FloatArray:
        """Give 0 for every node: nothing is known before classes are counted."""
        return np.zeros(self.shape)

    def floor_above(self, classes: EquivalenceClasses) -> float:
        """Give one over the number of classes: uniting classes never makes more of them."""
        return 1.0 / len(classes)

    def price(self, node: Node, classes: NodeClasses, passing: BoolArray, doomed: FloatArray) -> NodeLoss:
        """Give one over the number of published classes."""
        del node, classes, doomed
        published = int(passing.sum())
        return NodeLoss(1.0 / published if published else np.inf, 0.0)

    def unite_prices(self, node: Node, prices: Sequence[NodeLoss]) -> NodeLoss:
        """Count the published classes of all parts."""
        del node
        published = sum(round(1.0 / price.loss) for price in prices)
        return NodeLoss(1.0 / published if published else np.inf, 0.0)

    def unite_floors(self, floors: Sequence[float]) -> float:
        """Count the classes of all parts."""
        return 1.0 / sum(round(1.0 / floor) for floor in floors)


METRICS: dict[str, Callable[[EncodedTable], Metric]] = {
    metric.name: metric for metric in (Ncp, Distortion, Height, Precision, Entropy, Discernibility, AverageClassSize)
}


def _weights(encoded: EncodedTable) -> FloatArray:
    return np.array([attribute.weight for attribute in encoded.quasi])


def _heights(encoded: EncodedTable) -> FloatArray:
    """Levels above the values that came in, those included that may not be published."""
    return np.array([float(attribute.hierarchy.height + attribute.hierarchy.below) for attribute in encoded.quasi])


def _climbed_share(attribute: QuasiIdentifier, level: int) -> FloatArray:
    """Levels climbed to each label, of all levels above the values that came in; a repeated label is no level."""
    tree = attribute.hierarchy
    share: FloatArray = (tree.climbed[level] + tree.below) / (tree.height + tree.below)
    return share


def _level_share(attribute: QuasiIdentifier, level: int) -> FloatArray:
    """The level of the node, of all levels above the values that came in, the same for every label."""
    tree = attribute.hierarchy
    return np.full(len(tree.labels[level]), (level + tree.below) / (tree.height + tree.below))


def _entropy_bits(attribute: QuasiIdentifier, rows: int) -> float:
    """Compute the entropy of an attribute: the bits that its value tells of an average row.

    Where levels may not be published, it is the entropy of the lowest level that may. Every row has lost the same
    besides, published or not, so that it makes no difference to which node is best.
    """
    shares = attribute.frequencies[attribute.frequencies > 0] / rows
    return float(-(shares * np.log2(shares)).sum())
