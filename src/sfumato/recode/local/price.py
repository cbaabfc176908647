"""What groups cost: the policy's metric as a sum over classes, whatever labels they have."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import FloatArray
from sfumato.encode import EncodedTable
from sfumato.recode.metrics import METRICS, AdditiveMetric, Ncp

Numbers = NDArray[Any]
"""Numbers, whole or not, of any precision."""


class Price:
    """The metric of the policy for groups with labels of their own.

    Most metrics add up over cells; for those `of` is rows times the cost of a row. Discernibility adds up the
    squares of sizes, and the average class size is least where there are most classes: there a row's cost only
    breaks ties.
    """

    def __init__(self, encoded: EncodedTable, metric: str) -> None:
        self.rows, self.metric = encoded.rows, metric
        chosen = METRICS[metric](encoded)
        self.additive: AdditiveMetric = chosen if isinstance(chosen, AdditiveMetric) else Ncp(encoded)

    def cells(self, attribute: int) -> list[FloatArray]:
        """The cost of a cell of an attribute with levels, by level and label, weighted."""
        return list(self.additive.cells[attribute])

    def share(self, attribute: int) -> float:
        """The weight of an attribute: what its cell costs when nothing is left of it."""
        return float(self.additive.shares[attribute])

    def of(self, row: Numbers, sizes: Numbers) -> Numbers:
        """The cost of groups of these sizes, each of whose rows costs so much; their sum is the metric, in rows."""
        if self.metric == "discernibility":
            row = sizes / self.rows + row * _TIE
        if self.metric == "average-class-size":
            row = row * _TIE - np.sign(sizes) / np.maximum(sizes, 1)
        cost: Numbers = sizes * row
        return cost


_TIE = 1e-6
"""Small enough to count only between equals."""
