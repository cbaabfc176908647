"""How many lines with a wanted sensitive value stand in each class."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import Histogram
from sfumato.encode import CodedColumn
from sfumato.split.two_tables import codes_in_original

_DENSE = 8
"""A table of classes by values is made where it has at most so many entries per pair that occurs."""


@dataclass(frozen=True, eq=False)
class Bags:
    """The bag of each class, out of `classes`; `codes` are the original's codes of the values of the histogram."""

    bag: Histogram
    codes: IntArray
    classes: int

    @classmethod
    def of(cls, bag: Histogram, column: CodedColumn, sizes: IntArray) -> "Bags":
        """The bags of classes of these sizes, in terms of the original's column."""
        return cls(bag, codes_in_original(bag.domain.values, column), len(sizes))

    def wanted(self, values: BoolArray) -> FloatArray:
        """How many lines of each class hold one of the wanted values, which are codes of the original."""
        mine = values.take(self.codes)
        if self._table is not None:
            return _sum(self._table, np.flatnonzero(mine).tolist())
        lines = np.flatnonzero(mine.take(self.bag.value))
        owner, count = self.bag.class_of.take(lines), self.bag.count.take(lines)
        return np.bincount(owner, weights=count, minlength=self.classes).astype(np.float64, copy=False)

    @cached_property
    def _table(self) -> FloatArray | None:
        """Counts by value and class, where that is not much larger than what occurs."""
        width = len(self.codes)
        if self.classes * width > _DENSE * len(self.bag.class_of):
            return None
        table = np.zeros((width, self.classes))
        table[self.bag.value, self.bag.class_of] = self.bag.count
        return table


def _sum(table: FloatArray, lines: Sequence[int]) -> FloatArray:
    """The sum of some lines of a table, one after another: a product would start threads, which are slower here."""
    total = np.zeros(table.shape[1])
    for line in lines:
        total += table[line]
    return total
