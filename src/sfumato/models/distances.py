"""Distances between the distribution of a class and that of the whole table, for t-closeness.

Each is bound to the distribution of a sensitive column in the whole input table, rows that get suppressed included, and
is convex in the class, which is what makes t-closeness monotone (Lemma 20.3.3 of the chapter). Here are those that have
a closed form: the variational distance, relative entropy, and the earth mover's distance on a line and in a tree. The
earth mover's distance for costs of any kind is in `earth_mover`.

All take the sparse histogram of the column, one line per class and value that occurs, and the sizes of the classes;
both are computed for all classes at once.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import Histogram, SensitiveDomain
from sfumato.core.segments import run_starts, sum_by_group
from sfumato.errors import PolicyError
from sfumato.models.model import TOLERANCE


@dataclass(frozen=True, eq=False)
class Distance(ABC):
    """A distance from the distribution of a sensitive column in the whole table, convex in the class.

    All but `class_distances` have a default; a distance that is expensive to compute answers the others by bounds.
    """

    domain: SensitiveDomain

    @abstractmethod
    def class_distances(self, histogram: Histogram, sizes: IntArray) -> FloatArray:
        """Compute the distance of each class."""

    def within(self, histogram: Histogram, sizes: IntArray, limit: float) -> BoolArray:
        """Tell of each class whether it is within the limit; 1e-9 more passes, for rounding."""
        passing: BoolArray = self.class_distances(histogram, sizes) <= limit + TOLERANCE
        return passing

    def lower_bounds(self, histogram: Histogram, sizes: IntArray) -> FloatArray:
        """Compute a lower bound of the distance of each class."""
        return self.class_distances(histogram, sizes)

    def largest(self, histogram: Histogram, sizes: IntArray) -> float:
        """Compute the distance of the farthest class."""
        return float(self.class_distances(histogram, sizes).max(initial=0.0))

    def value_distances(self) -> FloatArray:
        """Compute for each value the distance of a class that has this value only.

        By convexity no class is farther than the farthest of its values, nor than their average.
        """
        codes = np.arange(len(self.domain.values))
        ones = np.ones_like(codes)
        return self.class_distances(Histogram(codes, codes, ones, self.domain), ones)


def class_shares(histogram: Histogram, sizes: IntArray) -> FloatArray:
    """Compute for each line of a histogram the share that its value has in its class."""
    shares: FloatArray = histogram.count / sizes[histogram.class_of]
    return shares


class VariationalDistance(Distance):
    """Half the sum of absolute differences (Equation 20.13); also the earth mover's distance where all moves cost 1.

    Both distributions sum to 1, so what one has too much the other has too little, and the surplus alone
    is half the sum: only values that occur in the class count.

    >>> from sfumato.core.classes import EquivalenceClasses
    >>> classes = EquivalenceClasses.of([0, 0, 1, 1], illness=["HIV", "flu", "flu", "flu"])
    >>> histogram = classes.sensitive["illness"]
    >>> VariationalDistance(histogram.domain).class_distances(histogram, classes.sizes)
    array([0.25, 0.25])
    """

    def class_distances(self, histogram: Histogram, sizes: IntArray) -> FloatArray:
        """Add up the surplus of each class."""
        surplus = class_shares(histogram, sizes) - self.domain.shares[histogram.value]
        return sum_by_group(histogram.class_of, np.maximum(surplus, 0.0), len(sizes))


class KullbackLeiblerDistance(Distance):
    """The relative entropy of the class (Equation 20.14), in natural units.

    >>> from sfumato.core.classes import EquivalenceClasses
    >>> classes = EquivalenceClasses.of([0, 1], illness=["HIV", "flu"])
    >>> histogram = classes.sensitive["illness"]
    >>> KullbackLeiblerDistance(histogram.domain).class_distances(histogram, classes.sizes).round(4)
    array([0.6931, 0.6931])
    """

    def class_distances(self, histogram: Histogram, sizes: IntArray) -> FloatArray:
        """Add up p log(p / q) over the values of each class."""
        p, q = class_shares(histogram, sizes), self.domain.shares[histogram.value]
        # A value that the table lacks is infinitely far; that happens only where the domain is another table's.
        with np.errstate(divide="ignore"):
            terms = p * np.log(p / q)
        return np.maximum(sum_by_group(histogram.class_of, terms, len(sizes)), 0.0)


@dataclass(frozen=True, eq=False)
class LineDistance(Distance):
    """The earth mover's distance on a line, where a move costs its length (Li et al. 2007, Section 5.1).

    What must cross a gap between two neighbouring stops is the difference of what lies before it, so the distance is
    the sum over gaps of length times absolute difference of the cumulative shares. The class's cumulative share is a
    step function with a step per value that occurs. Between two steps it is constant, while the table's cumulative
    share grows, so the terms change sign once: two look-ups in running sums per step are enough, and no dense table
    of classes by values is ever made.

    >>> domain = SensitiveDomain(("a", "b", "c"), np.array([1, 1, 1]))
    >>> line = LineDistance(domain, positions=np.array([0.0, 0.5, 1.0]))
    >>> line.class_distances(Histogram(np.array([0]), np.array([0]), np.array([2]), domain), np.array([2]))
    array([0.5])
    """

    positions: FloatArray
    """float[values]: where on the line each value of the domain is."""

    @cached_property
    def _stop_of(self) -> IntArray:
        """int[values]: the number of the stop of each value; values at equal positions share one."""
        return np.unique(self.positions, return_inverse=True)[1]

    @cached_property
    def _stops(self) -> FloatArray:
        """float[stops]: the different positions, in order."""
        return np.unique(self.positions)

    @cached_property
    def _table_share(self) -> FloatArray:
        """float[stops]: the table's cumulative share up to and with each stop."""
        return np.cumsum(np.bincount(self._stop_of, self.domain.shares))

    @cached_property
    def _table_work(self) -> FloatArray:
        """float[stops]: the table's cumulative share in a gap times its length, summed over the gaps before a stop."""
        return np.concatenate([[0.0], np.cumsum(self._table_share[:-1] * np.diff(self._stops))])

    def class_distances(self, histogram: Histogram, sizes: IntArray) -> FloatArray:
        """Compute the distance of each class.

        All arrays but the result have an entry per line of the histogram, sorted by class and position. A line's
        value is at stop `here`, the next one of its class at `there`, and `share` is the class's cumulative share
        between the two.
        """
        histogram = _sort_lines(histogram, self._stop_of)
        here, first = self._stop_of[histogram.value], run_starts(histogram.class_of)
        rows = np.cumsum(histogram.count)
        lengths = np.diff(first, append=len(rows))
        rows -= np.repeat(rows[first] - histogram.count[first], lengths)  # now counted from the class's first line
        share = rows / sizes[histogram.class_of]
        there = np.roll(here, -1)
        there[np.roll(first, -1) - 1] = len(self._stops) - 1  # the last value of a class lasts to the end
        # The gaps from `here` to `turn` have a table share below the class's, those from `turn` to `there` above it.
        turn = np.clip(np.searchsorted(self._table_share, share), here, there)
        stops, table = self._stops, self._table_work
        before = share * (stops[turn] - stops[here]) - (table[turn] - table[here])
        after = (table[there] - table[turn]) - share * (stops[there] - stops[turn])
        work = np.maximum(before, 0.0) + np.maximum(after, 0.0)
        work[first] += table[here[first]]  # before its first value the class has nothing
        return sum_by_group(histogram.class_of, work, len(sizes))


@dataclass(frozen=True, eq=False)
class TreeDistance(Distance):
    """The earth mover's distance in a tree whose leaves are the values (Li et al. 2007, Section 5.2).

    A move costs the height of the lowest node above both values. `nodes` has a line per value and a column per level
    below the root, finest first: the value's node there. `heights` are the heights that the levels add.

    The distance is the sum over levels of added height times variational distance between the distributions over that
    level's nodes. For the cost of a move from v to w is the sum of added heights of the levels at which v and w are
    under different nodes. At one level, no plan moves less across nodes than the variational distance there, so the
    sum is a lower bound. It is reached: match what can be matched within the finest nodes, then what is left within
    the next, and so on; what is left in a node is then its surplus or its lack alone, and what crosses nodes at a
    level is the variational distance of that level, at all levels at once.

    >>> domain = SensitiveDomain(("a", "b", "c"), np.array([1, 1, 2]))
    >>> tree = TreeDistance(domain, nodes=np.array([[0, 0], [1, 0], [2, 1]]), heights=np.array([0.5, 0.5]))
    >>> tree.class_distances(Histogram(np.array([0]), np.array([0]), np.array([2]), domain), np.array([2]))
    array([0.625])
    """

    nodes: IntArray
    heights: FloatArray

    @cached_property
    def _rank(self) -> IntArray:
        """int[values]: an order of the values in which every node is a run."""
        order = np.lexsort(self.nodes.T) if self.nodes.size else np.arange(len(self.nodes))
        return np.argsort(order)

    def class_distances(self, histogram: Histogram, sizes: IntArray) -> FloatArray:
        """Compute the distance of each class, level by level."""
        histogram = _sort_lines(histogram, self._rank)
        total = np.zeros(len(sizes))
        for level, height in enumerate(self.heights):
            total += height * self._level_distances(histogram, sizes, self.nodes[:, level])
        return total

    def _level_distances(self, histogram: Histogram, sizes: IntArray, nodes: IntArray) -> FloatArray:
        """Compute the variational distance of each class over the nodes of one level.

        nodes:      int[values], the node of each value at this level
        histogram:  sorted such that the values of a class under one node are a run of lines; `first` are their starts
        """
        code = np.unique(nodes, return_inverse=True)[1]
        node = code[histogram.value]
        first = run_starts(histogram.class_of * (int(code.max()) + 1) + node)
        if not len(first):
            return np.zeros(len(sizes))
        class_of = histogram.class_of[first]
        share = np.add.reduceat(histogram.count, first) / sizes[class_of]
        surplus = share - np.bincount(code, self.domain.shares)[node[first]]
        return sum_by_group(class_of, np.maximum(surplus, 0.0), len(sizes))


def _sort_lines(histogram: Histogram, rank: IntArray) -> Histogram:
    """Sort the lines of a histogram by class and then by the rank of their value; `rank` has one per value."""
    if (np.diff(rank) >= 0).all():  # the order they are in already
        return histogram
    order = np.argsort(histogram.class_of * (int(rank.max()) + 1) + rank[histogram.value], kind="stable")
    return Histogram(histogram.class_of[order], histogram.value[order], histogram.count[order], histogram.domain)


def _ordered_distance(domain: SensitiveDomain) -> LineDistance:
    """Make the line on which neighbouring values are equally far apart, and the ends at distance 1."""
    if domain.ranks is None:
        raise PolicyError(
            "distance emd-ordered needs numbers, or a hierarchy whose leaves stand in order", key="distance"
        )
    return LineDistance(domain, positions=domain.ranks / max(domain.places - 1, 1))


def _hierarchical_distance(domain: SensitiveDomain) -> TreeDistance:
    """Make the tree of the column's hierarchy, all levels equally high and the root at height 1."""
    if domain.ancestors is None:
        raise PolicyError("distance emd-hierarchical needs a hierarchy of the column", key="distance")
    nodes = domain.ancestors[:, :-1]
    return TreeDistance(domain, nodes=nodes, heights=np.full(nodes.shape[1], 1 / max(nodes.shape[1], 1)))


_CLOSED_FORMS: dict[str, Callable[[SensitiveDomain], Distance]] = {
    "variational": VariationalDistance,
    "kl": KullbackLeiblerDistance,
    "emd-equal": VariationalDistance,
    "emd-ordered": _ordered_distance,
    "emd-hierarchical": _hierarchical_distance,
}
GENERAL_EARTH_MOVER = "emd"
"""The name of the distance that needs a file of costs; `earth_mover` has it."""
DISTANCES = (*_CLOSED_FORMS, GENERAL_EARTH_MOVER)
"""All distances by the names that policies use."""


# Searches ask about the same column thousands of times; domains are equal only to themselves.
@lru_cache(maxsize=16)
def bind_distance(name: str, domain: SensitiveDomain) -> Distance:
    """Bind a distance with a closed form to the distribution of a column in the whole table.

    >>> domain = SensitiveDomain(("a", "b", "c"), np.array([1, 1, 1]), ranks=np.array([0, 1, 2]), places=3)
    >>> bind_distance("emd-ordered", domain).value_distances().round(3)
    array([0.5  , 0.333, 0.5  ])

    Raises:
        PolicyError: the column lacks what the distance needs, an order or a hierarchy.
    """
    return _CLOSED_FORMS[name](domain)
