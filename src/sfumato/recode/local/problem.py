"""Problem: all that a local algorithm works with, and the questions it asks of a grouping, all groups at once."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import BoolArray, Codes, FloatArray, IntArray, narrow_codes
from sfumato.core.classes import EquivalenceClasses, Histogram, count_values
from sfumato.encode import EncodedTable
from sfumato.recode.local.axes import Axis, Members, Shown
from sfumato.recode.local.bundles import Bag
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.price import Price
from sfumato.recode.requirement import Requirement

Hulls = list[IntArray]
"""Per axis, the hull of each group."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A table as tuples, what is required of its classes, and what labels cost.

    `start` has the rows that take part in one group that passes, the others suppressed. (Only where the refined α
    bound meets suppression may it have several groups, which are the result then.)

    Where a person's rows with equal quasi-identifiers are to stay together, tuples are `whole`: all rows of one stand
    in one group. A tuple is such a bundle of rows then, and `bags` tell what sensitive values it holds; `source` is
    the table as it was before.
    """

    encoded: EncodedTable
    requirement: Requirement
    axes: tuple[Axis, ...]
    price: Price
    start: Parts
    source: EncodedTable
    bags: Mapping[str, Bag]
    whole: bool

    @property
    def counts(self) -> IntArray:
        """Rows of each tuple."""
        return self.encoded.tuples.counts

    def count(self, parts: Parts) -> EquivalenceClasses:
        """The groups as a model sees them."""
        if (parts.group < 0).any():
            parts = parts.only(parts.group >= 0)
        histograms = {name: self._histogram(parts, name) for name in self.encoded.domains}
        person = self.encoded.individual
        people = histograms.pop(person.name) if person else None
        return EquivalenceClasses(parts.sizes, histograms, people)

    def _histogram(self, parts: Parts, name: str) -> Histogram:
        domain = self.encoded.domains[name]
        if name not in self.bags:
            return count_values(
                parts.group, self.encoded.tuples.others[name][parts.of].astype(np.int64), parts.rows, domain
            )
        held = self.bags[name].of(parts.of)
        return count_values(parts.group.take(held.line), held.value, held.rows, domain)

    @property
    def persons(self) -> Codes:
        """The person of each tuple, where there are persons."""
        person = self.encoded.individual
        assert person is not None  # noqa: S101 - whoever asks knows; this tells the type checker
        return self.encoded.tuples.others[person.name]

    def main(self, name: str) -> Codes:
        """The value of each tuple in a column that is looked at; of a bundle, the one it holds most often."""
        return self.bags[name].main if name in self.bags else self.encoded.tuples.others[name]

    def holding(self, name: str, value: int) -> BoolArray:
        """Which tuples hold a value in some row."""
        if name in self.bags:
            return self.bags[name].holding(value)
        found: BoolArray = self.encoded.tuples.others[name] == value
        return found

    def holds(self, parts: Parts) -> BoolArray:
        """Which groups meet every requirement."""
        return self.requirement.holds(self.count(parts))

    def hulls(self, parts: Parts) -> Hulls:
        """The tightest hull of each group; no group may be empty."""
        kept = parts if (parts.group >= 0).all() else parts.only(parts.group >= 0)
        order = np.argsort(narrow_codes(kept.group, parts.groups), kind="stable")  # narrow numbers sort in linear time
        starts = np.searchsorted(kept.group[order], np.arange(parts.groups))
        lines = kept.of[order]
        return [
            axis.reduce(axis.single.take(codes.take(lines), axis=0), starts)
            for axis, codes in zip(self.axes, self.encoded.tuples.quasi, strict=True)
        ]

    def shown(self, parts: Parts) -> list[Shown]:
        """The labels of each group; no group may be empty."""
        kept = parts if (parts.group >= 0).all() else parts.only(parts.group >= 0)
        return [
            axis.describe(hull, Members(codes.take(kept.of), kept.rows, kept.group))
            for axis, hull, codes in zip(self.axes, self.hulls(kept), self.encoded.tuples.quasi, strict=True)
        ]

    def row_cost(self, hulls: Hulls) -> FloatArray:
        """What a row of each group costs."""
        cost: FloatArray = sum(
            (axis.cells(hull) for axis, hull in zip(self.axes, hulls, strict=True)), start=np.zeros(len(hulls[0]))
        )
        return cost

    def costs(self, hulls: Hulls, sizes: IntArray) -> FloatArray:
        """What each group costs."""
        return self.price.of(self.row_cost(hulls), sizes)

    def joined(self, first: Hulls, second: Hulls) -> Hulls:
        """Hulls joined line by line; shapes broadcast."""
        return [axis.join(a, b) for axis, a, b in zip(self.axes, first, second, strict=True)]

    def cost(self, parts: Parts) -> float:
        """What a grouping costs in all, suppressed rows included: the metric times the rows of the table."""
        gone = int(parts.rows[parts.group < 0].sum())
        return float(np.sort(self.costs(self.hulls(parts), parts.sizes)).sum()) + gone
