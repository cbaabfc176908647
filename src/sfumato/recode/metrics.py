"""The metrics that a policy may name."""

from collections.abc import Callable

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.encode import EncodedTable, QuasiIdentifier
from sfumato.recode.frequencies import Grouped
from sfumato.recode.lattice import Node
from sfumato.recode.metric import Additive, Metric, Price


class Ncp(Additive):
    """Normalized certainty penalty: the share of the domain's other leaves that a label covers, on average."""

    name = "ncp"

    def __init__(self, encoded: EncodedTable) -> None:
        super().__init__(encoded, lambda attribute, level: attribute.hierarchy.loss[level], _weights(encoded))


class Distortion(Additive):
    """The (α, k) paper's distortion ratio: levels climbed, of all levels that could be."""

    name = "distortion"

    def __init__(self, encoded: EncodedTable) -> None:
        super().__init__(encoded, _climbed, _weights(encoded) * _heights(encoded))


class Height(Additive):
    """The height of the node, of the height of the lattice; weights do not count."""

    name = "height"

    def __init__(self, encoded: EncodedTable) -> None:
        super().__init__(encoded, _climbed, _heights(encoded))


class Precision(Additive):
    """One minus Sweeney's precision: the share of its hierarchy that each attribute climbed, on average."""

    name = "precision"

    def __init__(self, encoded: EncodedTable) -> None:
        super().__init__(encoded, _climbed, _weights(encoded))


class Entropy(Additive):
    """Non-uniform entropy: bits lost about a row's values given their labels, of all bits there were.

    A cell with value v and label L loses log2(N(L) / N(v)), N counting rows of the whole table, so what a
    label still tells, log2(n / N(L)), depends on the label alone.
    """

    name = "entropy"

    def __init__(self, encoded: EncodedTable) -> None:
        bits = np.array([_bits(attribute, encoded.rows) for attribute in encoded.quasi])
        weights = _weights(encoded) * bits
        super().__init__(encoded, self._lost, weights if weights.sum() else _weights(encoded))

    def _lost(self, attribute: QuasiIdentifier, level: int) -> FloatArray:
        """Average loss per label, scaled so that the whole attribute at its top loses 1."""
        matrix, rows = attribute.hierarchy.matrix, attribute.frequencies.sum()
        held = np.bincount(matrix[:, level], weights=attribute.frequencies)
        told = np.log2(rows / held)
        bits = _bits(attribute, int(rows))
        return 1.0 - told / bits if bits else np.zeros(len(held))


class Discernibility(Metric):
    """Each row costs the size of its class, a suppressed one the size of the table; of the worst there is."""

    name = "discernibility"

    def __init__(self, encoded: EncodedTable) -> None:
        self.rows = encoded.rows
        self.shape = tuple(attribute.hierarchy.height + 1 for attribute in encoded.quasi)

    def floor(self) -> FloatArray:
        """Nothing is known before a class is seen."""
        return np.zeros(self.shape)

    def above(self, classes: EquivalenceClasses) -> float:
        """Squares of class sizes, which only grow when classes merge."""
        return float((classes.sizes.astype(np.float64) ** 2).sum()) / float(self.rows) ** 2

    def price(self, node: Node, grouped: Grouped, passing: BoolArray, doomed: FloatArray) -> Price:
        """Squares of the sizes of published classes, and the table's size for each row that goes."""
        del node
        sizes = grouped.classes.sizes.astype(np.float64)
        kept = float((sizes[passing] ** 2).sum()) / float(self.rows) ** 2
        lost = float(sizes[~passing].sum()) / self.rows
        return Price(kept + lost, float((sizes * doomed).sum()) / self.rows)


class AverageClassSize(Metric):
    """Rows of the table per published class, of the one class there would be at worst."""

    name = "average-class-size"

    def __init__(self, encoded: EncodedTable) -> None:
        self.shape = tuple(attribute.hierarchy.height + 1 for attribute in encoded.quasi)

    def floor(self) -> FloatArray:
        """Nothing is known before a class is seen."""
        return np.zeros(self.shape)

    def above(self, classes: EquivalenceClasses) -> float:
        """Merging never makes classes more."""
        return 1.0 / len(classes)

    def price(self, node: Node, grouped: Grouped, passing: BoolArray, doomed: FloatArray) -> Price:
        """One over the number of published classes."""
        del node, grouped, doomed
        classes = int(passing.sum())
        return Price(1.0 / classes if classes else np.inf, 0.0)


METRICS: dict[str, Callable[[EncodedTable], Metric]] = {
    metric.name: metric for metric in (Ncp, Distortion, Height, Precision, Entropy, Discernibility, AverageClassSize)
}


def _weights(encoded: EncodedTable) -> FloatArray:
    return np.array([attribute.weight for attribute in encoded.quasi])


def _heights(encoded: EncodedTable) -> FloatArray:
    """Levels above the values that came in, those included that may not be published."""
    return np.array([float(one.hierarchy.height + one.hierarchy.below) for one in encoded.quasi])


def _climbed(attribute: QuasiIdentifier, level: int) -> FloatArray:
    tree = attribute.hierarchy
    return np.full(len(tree.labels[level]), (level + tree.below) / (tree.height + tree.below))


def _bits(attribute: QuasiIdentifier, rows: int) -> float:
    """Bits that the attribute tells of an average row: its entropy.

    Where levels may not be published, it is that of what may: every row has lost the same besides, published or not,
    so that it makes no difference to what is best.
    """
    shares = attribute.frequencies[attribute.frequencies > 0] / rows
    return float(-(shares * np.log2(shares)).sum())
