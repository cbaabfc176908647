"""The earth mover's distance for any costs, by linear programs that bounds make rare."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import Histogram
from sfumato.core.segments import sum_by_group
from sfumato.models.counts import TOLERANCE
from sfumato.models.distances.base import Distance, shares
from sfumato.models.distances.pointwise import Variational

KEPT = 100_000  # solved distributions to remember
SAVED = 32  # potentials to bound with


@dataclass(frozen=True, eq=False)
class Transport(Distance):
    """The chapter's linear program, solved once per distinct class distribution.

    `costs` obey the triangle inequality, so only surplus moves, straight to where it lacks. The dual of
    the program asks for potentials u with u_i - u_j <= cost_ij; their gain, the sum of (p - q) u, is at
    most the distance. What is feasible depends on the costs alone: potentials found for one class bound
    all classes from below, and a class that they show to fail needs no program of its own. From above,
    the variational distance times the largest cost bounds, and the average over the class's values of
    their own distances.

    >>> from sfumato.core.classes import SensitiveDomain
    >>> domain = SensitiveDomain(("a", "b", "c"), np.array([2, 1, 1]))
    >>> way = Transport(domain, costs=np.array([[0, 1, 2], [2, 0, 1], [1, 2, 0]], dtype=float))
    >>> way.of(Histogram(np.array([0]), np.array([0]), np.array([2]), domain), np.array([2])).round(9)
    array([0.75])
    """

    costs: FloatArray
    _solved: dict[bytes, float] = field(default_factory=dict, repr=False)
    _potentials: list[FloatArray] = field(default_factory=list, repr=False)

    def of(self, lines: Histogram, sizes: IntArray) -> FloatArray:
        """The distance of each class."""
        bounds = _bounds(lines, len(sizes))
        return np.array([self._exact(lines, *ends) for ends in bounds], dtype=np.float64)

    def within(self, lines: Histogram, sizes: IntArray, limit: float) -> BoolArray:
        """Whether each class is within the limit; programs only for those that no bound decides."""
        limit += TOLERANCE
        passing: BoolArray = self._at_most(lines, sizes) <= limit
        failing = self.at_least(lines, sizes) > limit
        bounds = _bounds(lines, len(sizes))
        for i in np.flatnonzero(~passing & ~failing):
            if not failing[i]:
                known = len(self._potentials)
                passing[i] = self._exact(lines, *bounds[i]) <= limit
                if not passing[i] and len(self._potentials) > known:
                    failing |= self._gain(self._potentials[-1], lines, sizes) > limit
        return passing

    def at_least(self, lines: Histogram, sizes: IntArray) -> FloatArray:
        """The best of the lower bounds."""
        off = self.costs[~np.eye(len(self.costs), dtype=np.bool_)]
        least = Variational(self.domain).of(lines, sizes) * (float(off.min()) if off.size else 0.0)
        for potential in self._potentials:
            np.maximum(least, self._gain(potential, lines, sizes), out=least)
        return least

    def largest(self, lines: Histogram, sizes: IntArray) -> float:
        """The distance of the farthest class: programs by falling upper bound, while it helps."""
        most, far = self._at_most(lines, sizes), 0.0
        bounds = _bounds(lines, len(sizes))
        for i in np.argsort(-most):
            if most[i] <= far:
                break
            far = max(far, self._exact(lines, *bounds[i]))
        return far

    def points(self) -> FloatArray:
        """All of a class's rows move from one value, as far as the table's rows are."""
        return np.asarray(self.costs @ self.domain.shares, dtype=np.float64)

    def _at_most(self, lines: Histogram, sizes: IntArray) -> FloatArray:
        average: FloatArray = sum_by_group(
            lines.class_of, shares(lines, sizes) * self.points()[lines.value], len(sizes)
        )
        most: FloatArray = np.minimum(average, Variational(self.domain).of(lines, sizes) * self.costs.max())
        return most

    def _gain(self, potential: FloatArray, lines: Histogram, sizes: IntArray) -> FloatArray:
        level = potential @ self.domain.shares
        return sum_by_group(lines.class_of, shares(lines, sizes) * (potential[lines.value] - level), len(sizes))

    def _exact(self, lines: Histogram, begin: int, end: int) -> float:
        value, count = lines.value[begin:end], lines.count[begin:end]
        count = count // np.gcd.reduce(count)  # (2, 4) and (1, 2) are one distribution
        name = value.tobytes() + count.tobytes()
        if name not in self._solved:
            if len(self._solved) >= KEPT:
                self._solved.clear()
            self._solved[name] = self._program(sum_by_group(value, count / count.sum(), len(self.costs)))
        return self._solved[name]

    def _program(self, part: FloatArray) -> float:
        """The distance of one distribution; its potentials are kept to bound others."""
        surplus = part - self.domain.shares
        give, take = np.flatnonzero(surplus > 1e-15), np.flatnonzero(surplus < -1e-15)
        if not len(give) or not len(take):
            return 0.0
        prices = _prices(self.costs[np.ix_(give, take)], surplus[give], -surplus[take])
        # Whatever the prices where mass is lacking, the cheapest way there is a feasible potential.
        potential: FloatArray = (self.costs[:, take] - prices).min(axis=1)
        self._potentials.append(potential)
        del self._potentials[:-SAVED]
        return max(float(surplus @ potential), 0.0)


def _bounds(lines: Histogram, classes: int) -> IntArray:
    """The first line of each class and the one after its last."""
    ends = np.searchsorted(lines.class_of, np.arange(classes + 1))
    return np.stack([ends[:-1], ends[1:]], axis=1)


def _prices(costs: FloatArray, give: FloatArray, take: FloatArray) -> FloatArray:
    """The dual prices of what is taken, in the cheapest plan that moves `give` to `take`."""
    # scipy takes a while to import, and most policies never come here.
    from scipy import optimize, sparse  # noqa: PLC0415  imported by who needs it

    rows, columns = costs.shape
    gives: Any = sparse.kron(sparse.eye_array(rows), np.ones((1, columns)))
    takes: Any = sparse.kron(np.ones((1, rows)), sparse.eye_array(columns))
    take = take * (give.sum() / take.sum())  # both sums are 1 minus what stays, but for rounding
    every: Any = sparse.vstack([gives, takes], format="csr")
    scale = float(costs.max()) or 1.0  # the solver's tolerances are absolute
    plan = optimize.linprog(
        costs.ravel() / scale,
        A_eq=every,
        b_eq=np.concatenate([give, take]),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if plan.status:  # mass that is given is taken and costs are finite, so there is always a plan
        raise RuntimeError(f"the linear program of a distance has no solution ({plan.message})")
    return scale * np.asarray(plan.eqlin.marginals, dtype=np.float64)[rows:]
