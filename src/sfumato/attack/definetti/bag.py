"""The bags of one sensitive column, with its rarest values as one where there are too many to learn about."""

from dataclasses import dataclass

import numpy as np

from sfumato.attack.bound import Bound
from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.classes import Histogram, SensitiveDomain, count_values

VALUES = 10_000
"""Of more values than these, all but the most frequent are taken as one, which is never guessed."""


@dataclass(frozen=True, eq=False)
class Bag:
    """How often each value stands in each class: `exact` as published, `lines` as the learner sees it.

    `place` is the value that stands for each of the column, `told` those that are published and stand for one alone.
    """

    name: str
    exact: Histogram
    lines: Histogram
    place: IntArray
    told: BoolArray

    @property
    def values(self) -> int:
        """How many values the learner tells apart."""
        return len(self.told)

    def held(self, codes: IntArray) -> IntArray:
        """The learner's value for codes of the column; -1 where the code is, or where it stands for several.

        >>> from sfumato.core.classes import EquivalenceClasses
        >>> classes = EquivalenceClasses.of([0, 0, 0], illness=["flu", "flu", "HIV"])
        >>> bag = bag_of("illness", classes.sensitive["illness"])
        >>> bag.held(np.array([-1, 0, 1]))
        array([-1,  0,  1])
        """
        value = self.place[codes]
        return np.where((codes >= 0) & self.told[value], value, -1)

    def protected(self, bound: Bound | None) -> BoolArray:
        """Which of the learner's values a bound is about."""
        protected = np.zeros_like(self.told)
        protected[self.place[self._about(bound)]] = True
        return protected & self.told

    @property
    def blind(self) -> float:
        """The share of the most frequent value in the whole table."""
        return float(np.bincount(self.exact.value, self.exact.count).max() / self.exact.count.sum())

    def largest_share(self, sizes: IntArray, bound: Bound | None) -> float:
        """The largest share of a class that a value has which a bound is about."""
        share = self.exact.count / sizes[self.exact.class_of]
        return float(share[self._about(bound)[self.exact.value]].max(initial=0.0))

    def _about(self, bound: Bound | None) -> BoolArray:
        """Which published values a bound is about."""
        every = self.exact.domain.values
        if bound is None or bound.values is None:
            return np.ones(len(every), dtype=np.bool_)
        return np.array([value in bound.values for value in every], dtype=np.bool_)


def bag_of(name: str, exact: Histogram) -> Bag:
    """The bags of a column, as published and as the learner sees them."""
    width = len(exact.domain.values)
    totals = np.bincount(exact.value, weights=exact.count, minlength=width)
    if width <= VALUES:
        return Bag(name, exact, exact, np.arange(width), totals > 0)
    place = np.full(width, VALUES - 1)
    place[np.argsort(-totals, kind="stable")[: VALUES - 1]] = np.arange(VALUES - 1)
    seen = SensitiveDomain(("",) * VALUES, np.bincount(place, weights=totals, minlength=VALUES).astype(np.int64))
    told = np.arange(VALUES) < VALUES - 1
    return Bag(name, exact, count_values(exact.class_of, place[exact.value], exact.count, seen), place, told)
