"""The earth mover's distance for costs from an expert's file (the linear program of the chapter).

`Costs` are what it costs to take one sensitive value for another. Where they are the lengths of a line or the heights
of a tree, uniform costs among them, the distance has a closed form; else it is a linear program per distribution, of
which bounds spare most.
"""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import Histogram, SensitiveDomain
from sfumato.core.regular_file import read_regular_file
from sfumato.core.segments import sum_by_group
from sfumato.errors import PolicyError, UnreadableFile, listing, quote
from sfumato.models.distances import Distance, LineDistance, TreeDistance, VariationalDistance, class_shares
from sfumato.models.model import TOLERANCE

_LARGEST_FILE = 1 << 28

_SOLVED_LIMIT = 100_000  # distributions whose distance is remembered
_POTENTIAL_LIMIT = 32  # potentials that are kept to bound with


@dataclass(frozen=True, eq=False)
class Costs:
    """A cost for each pair of values; one direction stands for both unless both are given.

    NULL is written as empty text, in the file and in `pairs`. `source` is what the policy calls it.

    >>> Costs({("flu", "cold"): 1, ("flu", ""): 2, ("cold", ""): 4}).shortest_paths(["flu", "cold", None])
    array([[0., 1., 2.],
           [1., 0., 3.],
           [2., 3., 0.]])
    """

    pairs: Mapping[tuple[str, str], float] = field(repr=False)
    source: str = ""

    def __post_init__(self) -> None:
        for (origin, target), cost in self.pairs.items():
            if not (math.isfinite(cost) and cost >= 0) or (origin == target and cost != 0):
                raise PolicyError(f"cost {cost} of {quote(origin)} and {quote(target)} makes no sense", key="costs")

    @classmethod
    def read(cls, name: str, folder: Path) -> "Costs":
        """Read a file of value,value,cost lines; a first line that ends in `cost` is a header."""
        pairs: dict[tuple[str, str], float] = {}
        try:
            text = read_regular_file(folder / name, most=_LARGEST_FILE, what="a file of costs").decode("utf-8-sig")
            for number, cells in enumerate(csv.reader(io.StringIO(text, newline="")), start=1):
                if not cells or (number == 1 and cells[-1].strip().lower() == "cost"):
                    continue
                origin, target, cost = _read_cost_line(cells, f"{name}, line {number}")
                if pairs.setdefault((origin, target), cost) != cost:
                    message = f"{name}, line {number}: a second cost for {origin},{target}"
                    raise PolicyError(message, key="costs")
        except UnreadableFile as error:
            raise PolicyError(f"{name} {error.reason}; name a file of value,value,cost lines", key="costs") from None
        except UnicodeDecodeError as error:
            raise PolicyError(f"{name} is not UTF-8 at byte {error.start}; save it as UTF-8", key="costs") from None
        except csv.Error as error:
            raise PolicyError(f"{name} cannot be read as costs ({error})", key="costs") from None
        return cls(pairs, name)

    def shortest_paths(self, values: Sequence[str | None]) -> FloatArray:
        """Compute the cost of the cheapest chain of moves between each two values, float[values, values].

        The chapter's program may move mass through third values, so the chain is what a move costs. Afterwards the
        costs obey the triangle inequality (Floyd and Warshall's algorithm).
        """
        texts = [value or "" for value in values]
        rows = [[self._direct_cost(origin, target) for target in texts] for origin in texts]
        table = np.array(rows, dtype=np.float64)
        missing = np.argwhere(np.isnan(table))
        if len(missing):
            lacking = listing(f"{texts[i]},{texts[j]}" for i, j in missing if i < j)
            raise PolicyError(f"{self.source or 'costs'} has no line for {lacking}", key="costs")
        for middle in range(len(table)):
            np.minimum(table, table[:, middle, None] + table[middle], out=table)
        return table

    def _direct_cost(self, origin: str, target: str) -> float:
        if origin == target:
            return 0.0
        return self.pairs.get((origin, target), self.pairs.get((target, origin), math.nan))


def _read_cost_line(cells: list[str], place: str) -> tuple[str, str, float]:
    try:
        origin, target, cost = cells
        return origin, target, float(cost)
    except ValueError:
        raise PolicyError(f"{place} must be value,value,cost", key="costs") from None


# Searches ask about the same column thousands of times; domains and costs are equal only to themselves.
@lru_cache(maxsize=16)
def bind_earth_mover(domain: SensitiveDomain, costs: Costs) -> Distance:
    """Bind the earth mover's distance to a column's distribution, in the cheapest way that its costs allow.

    A line or a tree where the costs are one; else linear programs.

    >>> domain = SensitiveDomain(("a", "b", "c"), np.array([1, 1, 1]))
    >>> type(bind_earth_mover(domain, Costs({("a", "b"): 1, ("b", "c"): 2, ("a", "c"): 3}))).__name__
    'LineDistance'
    """
    table = costs.shortest_paths(domain.values)
    return _recognize_line(domain, table) or _recognize_tree(domain, table) or TransportDistance(domain, table)


def _recognize_line(domain: SensitiveDomain, costs: FloatArray) -> LineDistance | None:
    """Find the line whose lengths are the costs, if there is one: a value's position is its distance from an end.

    costs: float[values, values]. The value that is farthest from the first one is an end of the line.
    """
    positions = costs[int(costs[0].argmax())]
    fits = np.allclose(np.abs(positions[:, None] - positions), costs, rtol=0, atol=1e-12 * costs.max())
    return LineDistance(domain, positions=positions) if fits else None


def _recognize_tree(domain: SensitiveDomain, costs: FloatArray) -> TreeDistance | None:
    """Find the tree whose heights are the costs, if there is one.

    There is one if "no farther than h" is an equivalence for every height h; its equivalence classes are the nodes
    of that height. A tree over n leaves has n heights at most, the leaves' own 0 among them.

    costs: float[values, values]
    """
    heights = np.unique(costs)
    if len(heights) > len(costs):
        return None
    levels = []
    for height in heights[:-1]:
        near = costs <= height
        node = near.argmax(axis=1)  # the first value that is near: the same for a whole node, if there are nodes
        if not np.array_equal(node[:, None] == node, near):
            return None
        levels.append(node)
    nodes = np.array(levels, dtype=np.int64).reshape(len(levels), len(costs)).T
    return TreeDistance(domain, nodes=nodes, heights=np.diff(heights))


@dataclass(frozen=True, eq=False)
class TransportDistance(Distance):
    """The chapter's linear program, solved once per distinct class distribution.

    `costs`, float[values, values], obey the triangle inequality, so only surplus moves, straight to where it lacks.
    The dual of the program asks for potentials u with u_i - u_j <= cost_ij; their gain, the sum of (p - q) u, is at
    most the distance. What is feasible depends on the costs alone: potentials of one class bound all classes from
    below, and a class that they show to fail needs no program of its own. From above, the variational distance times
    the largest cost bounds, and the average over the class's values of their own distances.

    >>> domain = SensitiveDomain(("a", "b", "c"), np.array([2, 1, 1]))
    >>> transport = TransportDistance(domain, costs=np.array([[0, 1, 2], [2, 0, 1], [1, 2, 0]], dtype=float))
    >>> two_rows_of_a = Histogram(np.array([0]), np.array([0]), np.array([2]), domain)
    >>> transport.class_distances(two_rows_of_a, np.array([2])).round(9)
    array([0.75])
    """

    costs: FloatArray
    _solved: dict[bytes, float] = field(default_factory=dict, repr=False)
    _potentials: list[FloatArray] = field(default_factory=list, repr=False)

    def class_distances(self, histogram: Histogram, sizes: IntArray) -> FloatArray:
        """Compute the distance of each class."""
        ranges = _line_ranges(histogram, len(sizes))
        return np.array([self._solve_class(histogram, *ends) for ends in ranges], dtype=np.float64)

    def within(self, histogram: Histogram, sizes: IntArray, limit: float) -> BoolArray:
        """Tell of each class whether it is within the limit; programs only for those that no bound decides."""
        limit += TOLERANCE
        passing: BoolArray = self._upper_bounds(histogram, sizes) <= limit
        failing = self.lower_bounds(histogram, sizes) > limit
        ranges = _line_ranges(histogram, len(sizes))
        for i in np.flatnonzero(~passing & ~failing):
            if failing[i]:  # shown by the potential of a class before it
                continue
            potentials = len(self._potentials)
            passing[i] = self._solve_class(histogram, *ranges[i]) <= limit
            if not passing[i] and len(self._potentials) > potentials:
                failing |= self._gain(self._potentials[-1], histogram, sizes) > limit
        return passing

    def lower_bounds(self, histogram: Histogram, sizes: IntArray) -> FloatArray:
        """Take the best lower bound of each class: the variational distance times the least cost, or a gain."""
        moves = self.costs[~np.eye(len(self.costs), dtype=np.bool_)]
        bounds = VariationalDistance(self.domain).class_distances(histogram, sizes) * (
            float(moves.min()) if moves.size else 0.0
        )
        for potential in self._potentials:
            np.maximum(bounds, self._gain(potential, histogram, sizes), out=bounds)
        return bounds

    def largest(self, histogram: Histogram, sizes: IntArray) -> float:
        """Compute the distance of the farthest class: programs by falling upper bound, while it helps."""
        bounds, farthest = self._upper_bounds(histogram, sizes), 0.0
        ranges = _line_ranges(histogram, len(sizes))
        for i in np.argsort(-bounds):
            if bounds[i] <= farthest:
                break
            farthest = max(farthest, self._solve_class(histogram, *ranges[i]))
        return farthest

    def value_distances(self) -> FloatArray:
        """Compute the distance of a class of one value: all its rows move, as far as the table's rows are."""
        return np.asarray(self.costs @ self.domain.shares, dtype=np.float64)

    def _upper_bounds(self, histogram: Histogram, sizes: IntArray) -> FloatArray:
        average: FloatArray = sum_by_group(
            histogram.class_of, class_shares(histogram, sizes) * self.value_distances()[histogram.value], len(sizes)
        )
        variational = VariationalDistance(self.domain).class_distances(histogram, sizes)
        bounds: FloatArray = np.minimum(average, variational * self.costs.max())
        return bounds

    def _gain(self, potential: FloatArray, histogram: Histogram, sizes: IntArray) -> FloatArray:
        """Compute the gain of a feasible potential, float[values], in each class: a lower bound of its distance."""
        level = potential @ self.domain.shares
        gains = class_shares(histogram, sizes) * (potential[histogram.value] - level)
        return sum_by_group(histogram.class_of, gains, len(sizes))

    def _solve_class(self, histogram: Histogram, begin: int, end: int) -> float:
        """Compute the distance of the class that has the lines from `begin` to `end`, unless it is known."""
        value, count = histogram.value[begin:end], histogram.count[begin:end]
        count = count // np.gcd.reduce(count)  # (2, 4) and (1, 2) are one distribution
        key = value.tobytes() + count.tobytes()
        if key not in self._solved:
            if len(self._solved) >= _SOLVED_LIMIT:
                self._solved.clear()
            self._solved[key] = self._solve(sum_by_group(value, count / count.sum(), len(self.costs)))
        return self._solved[key]

    def _solve(self, distribution: FloatArray) -> float:
        """Solve the program of one distribution, float[values]; keeps its potential to bound others."""
        surplus = distribution - self.domain.shares
        origins, targets = np.flatnonzero(surplus > 1e-15), np.flatnonzero(surplus < -1e-15)
        if not len(origins) or not len(targets):
            return 0.0
        prices = _dual_prices(self.costs[np.ix_(origins, targets)], surplus[origins], -surplus[targets])
        # Whatever the prices where mass is lacking, the cheapest way there is a feasible potential.
        potential: FloatArray = (self.costs[:, targets] - prices).min(axis=1)
        self._potentials.append(potential)
        del self._potentials[:-_POTENTIAL_LIMIT]
        return max(float(surplus @ potential), 0.0)


def _line_ranges(histogram: Histogram, classes: int) -> IntArray:
    """Find the first line of each class and the one after its last: int[classes, 2]."""
    ends = np.searchsorted(histogram.class_of, np.arange(classes + 1))
    return np.stack([ends[:-1], ends[1:]], axis=1)


def _dual_prices(costs: FloatArray, supply: FloatArray, demand: FloatArray) -> FloatArray:
    """Compute the dual price of each target, in the cheapest plan that moves all of `supply` to `demand`.

    costs:   float[origins, targets]
    supply:  float[origins], above 0; its sum is that of `demand` but for rounding
    demand:  float[targets], above 0; the prices have the same shape
    """
    # scipy takes a while to import, and most policies never come here.
    from scipy import optimize, sparse  # noqa: PLC0415  imported by who needs it

    origins, targets = costs.shape
    # The plan's variables are the moves, row by row; each origin gives its supply and each target takes its demand.
    gives: Any = sparse.kron(sparse.eye_array(origins), np.ones((1, targets)))
    takes: Any = sparse.kron(np.ones((1, origins)), sparse.eye_array(targets))
    constraints: Any = sparse.vstack([gives, takes], format="csr")
    demand = demand * (supply.sum() / demand.sum())  # both sums are 1 minus what stays, but for rounding
    scale = float(costs.max()) or 1.0  # the solver's tolerances are absolute
    plan = optimize.linprog(
        costs.ravel() / scale,
        A_eq=constraints,
        b_eq=np.concatenate([supply, demand]),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if plan.status:  # mass that is given is taken and costs are finite, so there is always a plan
        raise RuntimeError(f"the linear program of a distance has no solution ({plan.message})")
    return scale * np.asarray(plan.eqlin.marginals, dtype=np.float64)[origins:]
