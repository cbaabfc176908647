"""A local recoding problem: the table as tuples, what is required of groups, and what labels cost.

Algorithms go from a `Problem` to a `Partition`. All questions about groups are asked here, of all groups at once:
whether they satisfy the requirement (`holds`, and with less counting `passes`), what they cover (`hulls`), what that
costs (`costs`), and how it is published (`labels`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import BoolArray, Codes, FloatArray, IntArray, narrow_codes
from sfumato.core.classes import EquivalenceClasses, Histogram, SensitiveDomain, count_values
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.core.segments import Segments, sort_by_group
from sfumato.encode import EncodedTable, count_distinct_tuples
from sfumato.models import KAnonymity
from sfumato.recode.local.axes import AttributeAxis, AxisLabels, GroupMembers
from sfumato.recode.local.partition import Partition
from sfumato.recode.metrics import METRICS, AdditiveMetric, Ncp
from sfumato.recode.requirement import Requirement

Hulls = list[IntArray]
"""Per axis, the hull of each of g groups: int[g, w], with the words w of that axis."""

Numbers = NDArray[Any]
"""Numbers, whole or not, of any precision."""

_TIE = 1e-6
"""Small enough to count only between equals."""

_PENALTY = 1e3
"""What a row in a group that fails costs besides: more than any label."""


@dataclass(frozen=True, eq=False)
class Problem:
    """All that a local algorithm works with.

    `start` has the rows that take part in one group that satisfies the requirement, the others suppressed. (Only where
    the refined α bound meets suppression may it have several groups, which are the result then.)

    Where a person's rows with equal quasi-identifiers are to stay together, a tuple is a bundle of rows and
    `indivisible`: all its rows are in one group. `bundle_values` say which sensitive values a bundle has, and `source`
    is the table as it was before.
    """

    encoded: EncodedTable
    requirement: Requirement
    axes: tuple[AttributeAxis, ...]
    metric: "LocalMetric"
    start: Partition
    source: EncodedTable
    bundle_values: Mapping[str, "BundleValues"]
    indivisible: bool

    @property
    def counts(self) -> IntArray:
        """Rows of each tuple."""
        return self.encoded.tuples.counts

    # What groups hold

    def count(self, partition: Partition) -> EquivalenceClasses:
        """Count the groups as a model sees them."""
        published = partition.published
        histograms = {name: self._histogram(published, name) for name in self.encoded.domains}
        person = self.encoded.individual
        individuals = histograms.pop(person.name) if person else None
        return EquivalenceClasses(published.sizes, histograms, individuals)

    def _histogram(self, partition: Partition, name: str) -> Histogram:
        domain = self.encoded.domains[name]
        if name in self.bundle_values:
            line, value, rows = self.bundle_values[name].list_values(partition.tuples)
            return count_values(partition.group.take(line), value, rows, domain)
        value = self.encoded.tuples.others[name][partition.tuples].astype(np.int64)
        return count_values(partition.group, value, partition.rows, domain)

    def count_one_class(self, tuples: IntArray, rows: IntArray) -> EquivalenceClasses:
        """Count some rows of tuples as one class: both int[n], rows may be 0."""
        if self.bundle_values:
            lines = np.flatnonzero(rows)
            return self.count(Partition(tuples[lines], rows[lines], np.zeros(len(lines), dtype=np.int64), 1))

        def histogram(name: str, domain: SensitiveDomain) -> Histogram:
            codes = self.encoded.tuples.others[name].take(tuples)
            counts = np.bincount(codes, weights=rows, minlength=len(domain.values)).astype(np.int64)
            value = np.flatnonzero(counts)
            return Histogram(np.zeros_like(value), value, counts[value], domain)

        histograms = {name: histogram(name, domain) for name, domain in self.encoded.domains.items()}
        person = self.encoded.individual
        individuals = histograms.pop(person.name) if person else None
        return EquivalenceClasses(rows.sum(keepdims=True), histograms, individuals)

    @property
    def persons(self) -> Codes:
        """The person of each tuple, where there are persons."""
        person = self.encoded.individual
        assert person is not None  # noqa: S101 - whoever asks knows; this tells the type checker
        return self.encoded.tuples.others[person.name]

    def main_values(self, name: str) -> Codes:
        """List the value of each tuple in a column that is looked at; of a bundle, the one it has most often."""
        return self.bundle_values[name].main if name in self.bundle_values else self.encoded.tuples.others[name]

    def has_value(self, name: str, value: int) -> BoolArray:
        """Tell which tuples have a value in some row."""
        if name in self.bundle_values:
            return self.bundle_values[name].has_value(value)
        has: BoolArray = self.encoded.tuples.others[name] == value
        return has

    def protected_values(self, name: str) -> BoolArray:
        """Tell which values of a column may not be too frequent: all, unless each model that looks at it names some."""
        values = self.encoded.domains[name].values
        looking = [model for model in self.requirement.models if name in model.looks_at]
        named = [getattr(model, "values", None) for model in looking] or [None]
        return np.array([any(some is None or value in some for some in named) for value in values], dtype=np.bool_)

    # Whether groups satisfy the requirement

    def holds(self, partition: Partition) -> BoolArray:
        """Tell which groups satisfy the requirement: bool[groups]; no group is empty."""
        return self.requirement.holds(self.count(partition))

    @cached_property
    def only_sizes_count(self) -> bool:
        """Whether a group satisfies the requirement as soon as it has enough rows."""
        return self.encoded.individual is None and all(isinstance(m, KAnonymity) for m in self.requirement.models)

    def passes(self, tuples: IntArray, rows: Numbers, group: IntArray, sizes: Numbers) -> BoolArray:
        """Tell which groups satisfy the requirement, with as little counting as it allows.

        Line by line, in any order, there are `rows` rows of a tuple in a group: tuples int[n], rows [n] whole numbers,
        group int[n]. `sizes` [g] are the rows of each group; one whose size is given as 0 is not looked at and fails.
        Values are counted only in groups that have rows enough, and not at all where sizes are all that counts.
        """
        passing: BoolArray = sizes >= self.requirement.least
        if self.only_sizes_count or not passing.any():
            return passing
        lines = np.flatnonzero(passing.take(group) & (rows > 0))
        number = np.cumsum(passing) - 1
        amounts = rows.take(lines).astype(np.int64)
        large = Partition(tuples.take(lines), amounts, number.take(group.take(lines)), int(number[-1]) + 1)
        passing[passing] = self.holds(large)
        return passing

    # What groups cover, and what that costs

    def hulls(self, partition: Partition) -> Hulls:
        """Find the tightest hull of each group; no group is empty."""
        published = partition.published
        order, runs = sort_by_group(published.group, published.groups)
        return self.hulls_of_runs(published.tuples.take(order), runs.starts)

    def hulls_of_runs(self, tuples: IntArray, starts: IntArray) -> Hulls:
        """Find the tightest hull of each run of tuples: tuples int[n], starts int[g]; no run is empty."""
        return [
            axis.reduce(axis.single.take(codes.take(tuples), axis=0), starts)
            for axis, codes in zip(self.axes, self.encoded.tuples.quasi, strict=True)
        ]

    def hulls_of_tuples(self, tuples: IntArray) -> Hulls:
        """Look up the hull of each tuple alone."""
        quasi = self.encoded.tuples.quasi
        return [axis.single.take(codes.take(tuples), axis=0) for axis, codes in zip(self.axes, quasi, strict=True)]

    def join_hulls(self, first: Hulls, second: Hulls) -> Hulls:
        """Join hulls line by line; shapes broadcast."""
        return [axis.join(a, b) for axis, a, b in zip(self.axes, first, second, strict=True)]

    def row_costs(self, hulls: Hulls) -> FloatArray:
        """Price a row of each group: float[g]."""
        cost: FloatArray = sum(
            (axis.cell_costs(hull) for axis, hull in zip(self.axes, hulls, strict=True)), start=np.zeros(len(hulls[0]))
        )
        return cost

    def costs(self, hulls: Hulls, sizes: IntArray) -> FloatArray:
        """Price each group: float[g]."""
        return self.metric.group_costs(self.row_costs(hulls), sizes)

    def cost(self, partition: Partition) -> float:
        """Price a partition, suppressed rows included: the metric times the rows of the table."""
        suppressed = int(partition.rows[partition.group < 0].sum())
        return float(np.sort(self.costs(self.hulls(partition), partition.sizes)).sum()) + suppressed

    def labels(self, partition: Partition) -> list[AxisLabels]:
        """Give each group its labels, the tightest that cover it; no group is empty."""
        published = partition.published
        return [
            axis.label_groups(hull, GroupMembers(codes.take(published.tuples), published.rows, published.group))
            for axis, hull, codes in zip(self.axes, self.hulls(published), self.encoded.tuples.quasi, strict=True)
        ]


class LocalMetric:
    """The metric of the policy for groups with labels of their own.

    Most metrics add up over cells; for those a group costs its rows times the cost of a row. Discernibility adds up the
    squares of sizes, and the average class size is least where there are most classes: there a row's cost only breaks
    ties.
    """

    def __init__(self, encoded: EncodedTable, name: str) -> None:
        self.rows, self.name = encoded.rows, name
        metric = METRICS[name](encoded)
        self.additive: AdditiveMetric = metric if isinstance(metric, AdditiveMetric) else Ncp(encoded)

    def cells(self, attribute: int) -> list[FloatArray]:
        """List the cost of a cell of an attribute with levels, by level and label, weighted."""
        return list(self.additive.cells[attribute])

    def share(self, attribute: int) -> float:
        """Look up the weight of an attribute: what its cell costs when nothing is left of it."""
        return float(self.additive.shares[attribute])

    def group_costs(self, row_costs: Numbers, sizes: Numbers) -> Numbers:
        """Price groups of these sizes, each of whose rows costs so much; their sum is the metric, times all rows.

        Shapes are equal or broadcast; the precision of the numbers is kept.
        """
        if self.name == "discernibility":
            row_costs = sizes / self.rows + row_costs * _TIE
        if self.name == "average-class-size":
            row_costs = row_costs * _TIE - np.sign(sizes) / np.maximum(sizes, 1)
        costs: Numbers = sizes * row_costs
        return costs


@dataclass(frozen=True, eq=False)
class PricedGroups:
    """Groups as an improvement sees them, for g groups: hulls, rows int[g], costs float[g], and which pass bool[g]."""

    hulls: Hulls
    sizes: IntArray
    costs: FloatArray
    passing: BoolArray

    @classmethod
    def empty(cls, problem: Problem, groups: int) -> "PricedGroups":
        """Make so many groups without rows, which cost nothing and pass nothing."""
        hulls = [np.zeros((groups, axis.single.shape[1]), dtype=np.int64) for axis in problem.axes]
        return cls(hulls, np.zeros(groups, dtype=np.int64), np.zeros(groups), np.zeros(groups, dtype=np.bool_))

    @classmethod
    def from_partition(cls, problem: Problem, partition: Partition) -> "PricedGroups":
        """Price the groups of a partition without empty ones."""
        hulls, sizes = problem.hulls(partition), partition.sizes
        return cls(hulls, sizes, problem.costs(hulls, sizes), problem.holds(partition))

    @property
    def penalized(self) -> FloatArray:
        """Costs, with so much added for groups that fail that getting rid of them always pays."""
        penalized: FloatArray = self.costs + np.where(self.passing, 0.0, _PENALTY * self.sizes)
        return penalized

    def select(self, groups: IntArray) -> "PricedGroups":
        """Keep some of the groups."""
        hulls = [hull[groups] for hull in self.hulls]
        return PricedGroups(hulls, self.sizes[groups], self.costs[groups], self.passing[groups])

    def replace(self, groups: IntArray, others: "PricedGroups") -> None:
        """Put other groups, in their order, into the places given; in place."""
        for hull, new in zip(self.hulls, others.hulls, strict=True):
            hull[groups] = new
        self.sizes[groups], self.costs[groups], self.passing[groups] = others.sizes, others.costs, others.passing


@dataclass(frozen=True, eq=False)
class BundleValues:
    """The values of one sensitive column in each of so many bundles of rows: a histogram with a class per bundle.

    >>> from sfumato.core.classes import SensitiveDomain
    >>> domain = SensitiveDomain(("flu", "HIV"), np.array([2, 1]))
    >>> histogram = Histogram(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([1, 1, 1]), domain)
    >>> values = BundleValues(histogram, 2)
    >>> values.list_values(np.array([1, 0]))[1], values.has_value(1)
    (array([0, 0, 1]), array([ True, False]))
    """

    values: Histogram
    bundles: int

    @cached_property
    def _runs(self) -> Segments:
        """The lines of each bundle."""
        return Segments.from_groups(self.values.class_of, self.bundles)

    @cached_property
    def main(self) -> Codes:
        """The value that each bundle has most often, the first of several."""
        order = np.lexsort([self.values.value, -self.values.count, self.values.class_of])
        return narrow_codes(self.values.value[order[self._runs.starts]], len(self.values.domain.values))

    def list_values(self, bundles: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """List the values of some bundles: the place of the bundle in the list, the value, and the rows that have it.

        Bundles int[m], which may repeat; returns three arrays with a line per bundle and value.
        """
        places = self._runs.places(bundles)
        line = self._runs.select(bundles).group
        return line, self.values.value.take(places), self.values.count.take(places)

    def has_value(self, value: int) -> BoolArray:
        """Tell which bundles have a value in some row."""
        has = np.zeros(self.bundles, dtype=np.bool_)
        has[self.values.class_of[self.values.value == value]] = True
        return has


def bundle_persons(encoded: EncodedTable) -> tuple[EncodedTable, dict[str, BundleValues]]:
    """Make one tuple of each person's rows with equal quasi-identifiers, so that no algorithm can separate them.

    The pseudonym links these rows. In different classes they would tell that the person is in both, which is more than
    either class tells. As one tuple they move together, and there are fewer tuples to move. Returns the table of
    bundles, and for each sensitive column the values that bundles have.
    """
    person = encoded.individual
    assert person is not None  # noqa: S101 - the only caller has looked; this tells the type checker
    tuples = count_distinct_tuples(encoded.quasi, {person.name: person}, encoded.counts)
    columns = [*encoded.tuples.quasi, encoded.tuples.others[person.name]]
    widths = [*(attribute.column.width for attribute in encoded.quasi), person.width]
    bundle = number_tuples(pack_tuples(columns, widths))[0]  # per tuple of the table as it is
    values = {
        name: BundleValues(
            count_values(bundle, codes.astype(np.int64), encoded.tuples.counts, encoded.domains[name]), len(tuples)
        )
        for name, codes in encoded.tuples.others.items()
        if name != person.name
    }
    return replace(encoded, tuples=tuples), values
