"""What an algorithm minimizes: the loss of a node, and bounds on it that save looking.

Every loss is between 0 (nothing generalized) and about 1 (everything), with suppressed rows counted as
rows of which nothing is left. A metric also says what evaluating one node tells of others: a floor for its
generalizations, and what the rows that no specialization can save add to the floor of those.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.encode import EncodedTable, QuasiIdentifier
from sfumato.recode.frequencies import Grouped
from sfumato.recode.lattice import Node, outer_sum


@dataclass(frozen=True)
class Price:
    """What a node costs, and what it adds to the floor of its specializations."""

    loss: float
    below: float


class Metric(ABC):
    """The loss of full-domain generalizations of one table."""

    name: ClassVar[str]

    @abstractmethod
    def floor(self) -> FloatArray:
        """A lower bound of the loss for every node of the lattice, before any is evaluated."""

    def above(self, classes: EquivalenceClasses) -> float:
        """The least that any generalization of a node with these classes costs."""
        del classes
        return 0.0

    @abstractmethod
    def price(self, node: Node, grouped: Grouped, passing: BoolArray, doomed: FloatArray) -> Price:
        """The cost of a node whose `passing` classes are published.

        `doomed` is the share of each class that every specialization has to suppress as well.
        """


class Additive(Metric):
    """A loss that is a sum over cells, each depending on its label alone.

    `cells` gives, for an attribute and a level, the loss of a cell per label. A suppressed row loses 1.
    """

    def __init__(
        self, encoded: EncodedTable, cells: Callable[[QuasiIdentifier, int], FloatArray], weights: FloatArray
    ) -> None:
        self.rows = encoded.rows
        self.shares = weights / weights.sum()
        self.cells = [
            [share * cells(attribute, level) for level in range(attribute.hierarchy.height + 1)]
            for attribute, share in zip(encoded.quasi, self.shares, strict=True)
        ]
        self.base = [
            np.array([self._mean(attribute, level, cell) for level, cell in enumerate(levels)])
            for attribute, levels in zip(encoded.quasi, self.cells, strict=True)
        ]

    def floor(self) -> FloatArray:
        """The loss if no row were suppressed: known without looking at any class."""
        return outer_sum(self.base)

    def price(self, node: Node, grouped: Grouped, passing: BoolArray, doomed: FloatArray) -> Price:
        """Base loss, and for each suppressed row what was still left of it."""
        base = float(sum(levels[level] for levels, level in zip(self.base, node, strict=True)))
        failing = ~passing
        left = self._left(node, grouped, failing)
        below = float((left * doomed[failing]).sum()) / self.rows
        return Price(base + float(left.sum()) / self.rows, below)

    def _left(self, node: Node, grouped: Grouped, chosen: BoolArray) -> FloatArray:
        """Per chosen class, what its rows still tell: the loss that suppressing them adds."""
        sizes = grouped.classes.sizes[chosen]
        left = np.ones(len(sizes))
        for levels, level, label in zip(self.cells, node, grouped.labels(chosen), strict=False):
            left -= levels[level].take(label)
        return left * sizes

    def _mean(self, attribute: QuasiIdentifier, level: int, cell: FloatArray) -> float:
        return float((cell[attribute.hierarchy.matrix[:, level]] * attribute.frequencies).sum()) / self.rows
