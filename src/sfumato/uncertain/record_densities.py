"""The smallest spread that gives a record expected anonymity k.

C. C. Aggarwal, "On unifying privacy and uncertain data models", ICDE 2008.

A record X is published as a centre Z, drawn from a density around X, and the density itself, moved to Z. Whoever has
the true records matches them by fit: the density at Z that a record has. The *expected anonymity* of X is the expected
number of true records, X among them, that fit Z at least as well as X does; chance is in the draw of Z. With w = Y - X
for another record Y, and all columns divided by a common scale:

**Gaussian** of standard deviation s. Y fits at least as well when |Z - Y| <= |Z - X|. Put Z = X + s·e with e
standard normal: |s·e - w|² <= |s·e|² means |w|² <= 2·s·e·w, that is e·w/|w| >= |w|/(2·s), and
e·w/|w| is a standard normal number. So the chance is Φ(-|w|/(2·s)) for w ≠ 0, and 1 for an equal record. The sum
grows with s from the number of equal records m towards m + (n - m)/2, which no s reaches.

**Uniform** in the box of half-width s. X itself always lies in the box around Z, so Y fits at least as well when it
does, too: in each column, the two boxes of half-width s around X and Y both hold Z, with chance max(1 - |w_l|/(2·s),
0); the columns are independent, so the chance is their product. The sum grows towards n.

Three things keep the promise true of what is really published. Centres are rounded, to a thousandth of the spread or
finer, so that no digit tells of the sum that made them: a Gaussian chance is counted as Φ(-|w|/(2·s) - c) with c the
longest way that rounding can move a centre, in spreads; a box is drawn a thousandth narrower than it is published. Far
records are left out of a sum: for a Gaussian those beyond `reach`, whose chances are next to nothing. And spreads are
rounded up to a ladder of 48 steps per power of ten. Each of them only makes expected anonymity larger than counted.

Sums go over near records alone. Records are put into leaves by median cuts; for the records of a leaf the radius grows,
a few steps of the ladder at a time, and with it the leaves that are looked at. A record whose sum reaches k is settled,
and leaves; since its sum at the radius before did not, at most a few steps of the ladder are left to choose from.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.randomness import Randomness

STEPS = 48
"""Steps of the ladder of spreads for each power of ten: each is about 4.9% above the one before."""
GRID = 1e-3
"""Centres are rounded to a power of ten that is at most this share of their spread."""
_GROWTH = 5
"""By how many steps of the ladder the radius grows: by about 27%."""
_LEAF = 128
_CELLS = 1 << 22
"""So many pairs of records are looked at at a time."""
_BITS, _BINS = 44, 2048
"""Bits of a float that are left out where distances are counted in bins, and how many bins there are."""
_DEEPEST = 200
"""So many steps below a radius a spread is looked for, at most, when a radius is looked at first."""
_LOWEST, _HIGHEST = -12 * STEPS, 12 * STEPS


class Density(Protocol):
    """A kind of density: how far apart records are in it, the chance that another fits as well, and how it is drawn."""

    name: ClassVar[str]
    norm: ClassVar[float]
    """The norm in which its reach is measured: 2, or infinity."""

    def reach(self, columns: int) -> float:
        """Give the distance, in spreads, beyond which a record's chance is next to nothing."""
        ...

    def near_pairs(self, points: FloatArray, others: FloatArray, radius: float) -> "NearPairs":
        """List the pairs of a point, float[r, d], and another, float[c, d], within a radius."""
        ...

    def chances(self, apart: FloatArray, columns: int) -> FloatArray:
        """Give a lower bound of the chance that a record fits at least as well, given how many spreads it is apart.

        apart: float[1, p] of distances, or float[d, p] of differences in each of d columns; float[p] comes back.
        """
        ...

    def sum_chances(
        self, pairs: "NearPairs", counted: FloatArray | None, rows: int, steps: tuple[int, int], k: float
    ) -> FloatArray:
        """Add up the chances of each first record at steps of the ladder, ascending: float[rows, steps].

        `counted` says how many records the second of a pair stands for, where not all stand for one. Steps go from the
        one above the first of `steps` to the other, at which all pairs within reach are there; or from one at which no
        record reaches k.
        """
        ...

    def most(self, rows: int, equal: IntArray) -> FloatArray:
        """Give the expected anonymity that no spread reaches, for records of which so many are equal."""
        ...

    def draw(self, rows: int, columns: int, randomness: Randomness) -> FloatArray:
        """Draw deviations of centres, in spreads: float[rows, columns]."""
        ...


@dataclass(frozen=True, eq=False)
class NearPairs:
    """Pairs of records that are near.

    int[p] `first` and `second`, and how far `apart`, float[1, p] or float[d, p], in d `columns`.
    """

    first: IntArray
    second: IntArray
    apart: FloatArray
    columns: int

    def select(self, kept: BoolArray) -> "NearPairs":
        """Keep some pairs."""
        return NearPairs(self.first[kept], self.second[kept], self.apart[:, kept], self.columns)


@dataclass(frozen=True)
class GaussianDensity:
    """A normal density; its spread is the standard deviation in each column.

    >>> GaussianDensity().chances(np.array([[0.0, 2.0]]), 1).round(3)
    array([1.   , 0.159])
    """

    name: ClassVar[str] = "gaussian"
    norm: ClassVar[float] = 2.0

    def reach(self, columns: int) -> float:
        """Most of a sum comes of distances about twice the root of the columns: somewhat more than that.

        >>> GaussianDensity().reach(1), GaussianDensity().reach(9)
        (7.0, 8.4)
        """
        return 2 * max(3.5, math.sqrt(columns) + 1.2)

    def near_pairs(self, points: FloatArray, others: FloatArray, radius: float) -> NearPairs:
        """Pairs with their distances.

        These are worked out as |x|² + |y|² - 2·x·y, relative to the mean of the points. What rounding does to
        that is of no account beside what `chances` has for rounded centres, and which are the same is looked at again.
        """
        middle = points.mean(axis=0)
        x, y = points - middle, others - middle
        squares = np.einsum("ij,ij->i", y, y)[None, :] - 2 * (x @ y.T)
        first, second = np.nonzero(squares <= (radius**2 - np.einsum("ij,ij->i", x, x))[:, None])
        found = squares[first, second] + np.einsum("ij,ij->i", x, x)[first]
        # of near points it is decided exactly whether they are the same
        close = np.flatnonzero(found <= 1e-12 * float(np.abs(y).max(initial=0)) ** 2 * len(middle))
        found[close] = ((x[first[close]] - y[second[close]]) ** 2).sum(axis=1)
        return NearPairs(first, second, np.sqrt(found.clip(min=0))[None, :], len(middle))

    def chances(self, apart: FloatArray, columns: int) -> FloatArray:
        """Φ(-distance/2 - c), and 1 where there is no difference; c is what rounding may shift."""
        from scipy.special import ndtr  # noqa: PLC0415 - takes a while

        shift = GRID / 2 * math.sqrt(columns)
        return np.where(apart[0] > 0, ndtr(apart[0] * -0.5 - shift), 1.0)

    def sum_chances(
        self,
        pairs: "NearPairs",
        counted: FloatArray | None,
        rows: int,
        steps: tuple[int, int],
        k: float,  # noqa: ARG002 - all steps at once
    ) -> FloatArray:
        """Count distances in bins, each of them rounded up by less than 0.4%, and add up over bins."""
        # the bits of a float are its logarithm, more or less: 256 bins for each doubling, the highest for `high`
        low, high = steps
        farthest = pairs.apart[0].max(initial=0.0)
        top = np.float64(max(farthest, self.reach(pairs.columns) * ladder(high))).view(np.int64) >> _BITS
        bins = (pairs.apart[0].view(np.int64) >> _BITS) - (top - _BINS + 1)
        place = pairs.first * _BINS + bins.clip(0, _BINS - 1)
        counts = np.bincount(place, counted, minlength=rows * _BINS).reshape(rows, _BINS)
        edges = ((np.arange(top - _BINS + 1, top + 1) + 1) << _BITS).view(np.float64)
        same = pairs.apart[0] == 0
        equal = np.bincount(pairs.first[same], None if counted is None else counted[same], minlength=rows)
        lowest = max(low + 1, high - _DEEPEST) if low > _LOWEST else high - _DEEPEST
        spreads = np.array([ladder(step) for step in range(lowest, high + 1)])
        # what is equal is in the lowest bin, and fits with certainty
        chances = self.chances((edges[:, None] / spreads).reshape(1, -1), pairs.columns).reshape(_BINS, len(spreads))
        sums: FloatArray = counts @ chances + equal[:, None] * (1 - chances[0])
        return sums

    def most(self, rows: int, equal: IntArray) -> FloatArray:
        """All equal records, and half of the others."""
        return equal + (rows - equal) / 2

    def draw(self, rows: int, columns: int, randomness: Randomness) -> FloatArray:
        """Standard normal numbers, as quantiles of random ones."""
        from scipy.special import ndtri  # noqa: PLC0415 - takes a while

        drawn: FloatArray = ndtri(_between_0_and_1(rows * columns, randomness)).reshape(rows, columns)
        return drawn


@dataclass(frozen=True)
class UniformDensity:
    """The same density everywhere in a box; its spread is half of the width in each column.

    >>> UniformDensity().chances(np.array([[0.0, 1.0], [0.0, 0.5]]), 2).round(2)
    array([1.  , 0.37])
    """

    name: ClassVar[str] = "uniform"
    norm: ClassVar[float] = math.inf

    def reach(self, columns: int) -> float:  # noqa: ARG002 - the same, however many there are
        """Boxes that are two half-widths apart do not touch."""
        return 2.0

    def near_pairs(self, points: FloatArray, others: FloatArray, radius: float) -> NearPairs:
        """Pairs with the difference in each column."""
        near = np.ones((len(points), len(others)), dtype=bool)
        for x, y in zip(points.T, others.T, strict=True):
            near &= np.abs(x[:, None] - y[None, :]) < radius
        first, second = np.nonzero(near)
        apart = np.stack([np.abs(x[first] - y[second]) for x, y in zip(points.T, others.T, strict=True)])
        return NearPairs(first, second, apart, len(apart))

    def chances(self, apart: FloatArray, columns: int) -> FloatArray:
        """The product over columns of the share of a box that the other box covers, as they are drawn."""
        found = np.ones(apart.shape[1])
        for column in apart[:columns]:
            found *= np.maximum(1 - column / (2 * (1 - GRID)), 0)
        return found

    def sum_chances(
        self, pairs: "NearPairs", counted: FloatArray | None, rows: int, steps: tuple[int, int], k: float
    ) -> FloatArray:
        """Add up products of pairs, step by step, as long as a record reaches k: few are within reach of low steps."""
        low, high = steps
        sums: list[FloatArray] = []
        for step in range(high, low, -1):
            spread = ladder(step)
            chances = self.chances(pairs.apart / spread, pairs.columns)
            weighed: FloatArray = chances if counted is None else chances * counted
            sums.append(np.bincount(pairs.first, weighed, minlength=rows).astype(np.float64))
            enough = sums[-1] >= k
            if not enough.any():
                break
            kept = enough[pairs.first] & (pairs.apart < self.reach(pairs.columns) * spread).all(axis=0)
            pairs, counted = pairs.select(kept), None if counted is None else counted[kept]
        return np.stack(sums[::-1], axis=1)

    def most(self, rows: int, equal: IntArray) -> FloatArray:
        """All records; where all are equal, one more than that, since all are reached."""
        return np.full(len(equal), float(rows))

    def draw(self, rows: int, columns: int, randomness: Randomness) -> FloatArray:
        """Even numbers between -1 and 1, a thousandth narrower."""
        return ((2 * _between_0_and_1(rows * columns, randomness) - 1) * (1 - GRID)).reshape(rows, columns)


DENSITIES: dict[str, Density] = {"gaussian": GaussianDensity(), "uniform": UniformDensity()}


def _between_0_and_1(count: int, randomness: Randomness) -> FloatArray:
    """Draw numbers of 53 bits, 0 and 1 not among them."""
    return ((randomness.words(count) >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53


def ladder(step: int) -> float:
    """Give the spread at a step of the ladder: a power of 10^(1/48), rounded to three digits.

    >>> [ladder(step) for step in (-48, 0, 1, 2, 48)]
    [0.1, 1.0, 1.05, 1.1, 10.0]
    """
    return float(f"{10 ** (step / STEPS):.2e}")


def count_expected(points: FloatArray, spreads: FloatArray, density: Density) -> FloatArray:
    """Work out the expected anonymity of records by its definition, row by row: float[n].

    points: float[n, d], in common units; spreads: float[n], 0 for a record that is published as it is.

    >>> count_expected(np.array([[0.0], [1.0], [1.0]]), np.array([2.0, 2.0, 0.0]), UniformDensity()).round(2)
    array([2.5 , 2.75, 2.  ])
    """
    found = np.empty(len(points))
    for row, spread in enumerate(spreads.tolist()):
        equal = (points == points[row]).all(axis=1)
        pairs = density.near_pairs(points[[row]], points, np.inf) if spread else None
        found[row] = equal.sum() if pairs is None else density.chances(pairs.apart / spread, points.shape[1]).sum()
    return found


def smallest_spreads(
    points: FloatArray, k: float, density: Density, progress: Callable[[int], None] | None = None
) -> FloatArray | None:
    """Find for each record the smallest spread of the ladder with expected anonymity k; none where one has none.

    points: float[n, d], in common units. Equal records are looked at once. A record that k records equal has spread 0:
    it is published as it is. `progress` is told how many records were settled since it was called last.

    >>> smallest_spreads(np.array([[0.0], [1.0], [3.0], [3.0]]), 2, UniformDensity())
    array([1.78, 1.27, 0.  , 0.  ])
    >>> smallest_spreads(np.array([[0.0], [1.0], [3.0]]), 2, GaussianDensity()) is None
    True
    """
    places, inverse, counts = np.unique(points, axis=0, return_inverse=True, return_counts=True)
    needy = counts < k
    found = np.zeros(len(places))
    if needy.any() and density.most(len(points), counts[needy]).min() <= k:
        return None
    if needy.any():
        leaves = _Leaves(places, density.norm)
        weights = counts.astype(np.float64) if counts.max() > 1 else None
        for leaf in range(len(leaves.starts)):
            rows = leaves.members(leaf)
            rows = rows[needy[rows]]
            if not len(rows):
                continue
            settled = _settle_leaf(_Neighbours(places, weights, leaves, leaf, density), rows, k)
            if settled is None:
                return None
            found[rows] = settled
            if progress is not None:
                progress(int(counts[rows].sum()))
    return found[inverse.reshape(-1)]


def _settle_leaf(neighbours: "_Neighbours", rows: IntArray, k: float) -> FloatArray | None:
    """Find the spreads of some records of a leaf, by a radius that grows; none where even the widest is too narrow.

    Before each round but the first, no record that is left reaches k at the step `low`.
    """
    found, left = np.zeros(len(rows)), np.arange(len(rows))
    step, low = neighbours.first_step(k), _LOWEST
    while len(left):
        reached, steps = neighbours.settle(rows[left], low, step, k)
        found[left[reached]] = [ladder(one) for one in steps.tolist()]
        left = left[~reached]
        if step == _HIGHEST:
            break
        low, step = step, min(step + _GROWTH, _HIGHEST)
    return None if len(left) else found


class _Neighbours:
    """The records that may be near to those of one leaf."""

    def __init__(
        self, places: FloatArray, weights: FloatArray | None, leaves: "_Leaves", leaf: int, density: Density
    ) -> None:
        self.places, self.weights, self.leaves, self.density = places, weights, leaves, density
        self.leaf, self.gaps = leaf, leaves.gaps(leaf)
        self.columns = places.shape[1]
        self.reach = density.reach(self.columns)

    def first_step(self, k: float) -> int:
        """Choose a spread that is rather too small: twice as far as the kth of the leaf is hardly ever enough."""
        own = self.places[self.leaves.members(self.leaf)]
        apart = np.linalg.norm(own[:, None, :] - own[None, :, :], self.density.norm, axis=2)
        apart.sort(axis=1)
        kth = apart[:, min(math.ceil(k), len(own) - 1)]
        near = float(np.min(kth[kth > 0], initial=np.inf))
        near = near if near < np.inf else float(np.min(self.gaps[self.gaps > 0], initial=1.0))
        return min(max(math.floor(STEPS * math.log10(2 * near / self.reach)), _LOWEST), _HIGHEST)

    def settle(self, rows: IntArray, low: int, high: int, k: float) -> tuple[BoolArray, IntArray]:
        """Tell which rows reach k at the step `high`, and for these the lowest step above `low` at which they do."""
        radius = self.reach * ladder(high)
        near = np.flatnonzero(self.gaps <= radius * (1 + 1e-9))
        radius = radius if len(near) < len(self.gaps) else np.inf  # where all are at hand, all are counted
        others = self.leaves.members_of(near)
        reached, found = [], []
        at_once = max(_CELLS // len(others), 1)
        for start in range(0, len(rows), at_once):
            part = rows[start : start + at_once]
            pairs = self.density.near_pairs(self.places[part], self.places[others], radius)
            counted = None if self.weights is None else self.weights[others][pairs.second]
            sums = self.density.sum_chances(pairs, counted, len(part), (low, high), k)
            enough = sums[:, -1] >= k
            reached.append(enough)
            found.append(high + 1 - (sums[enough] >= k).sum(axis=1))
        return np.concatenate(reached), np.concatenate(found)


class _Leaves:
    """Points in leaves of at most 128, made by cutting the widest column at its median, with the box of each.

    >>> leaves = _Leaves(np.arange(300.0)[:, None], 2.0)
    >>> len(leaves.starts), leaves.gaps(0).tolist()
    (4, [0.0, 1.0, 76.0, 151.0])
    """

    def __init__(self, points: FloatArray, norm: float) -> None:
        self.norm = norm
        runs, waiting = [], [np.arange(len(points))]
        while waiting:
            rows = waiting.pop()
            if len(rows) <= _LEAF:
                runs.append(rows)
                continue
            inside = points[rows]
            widest = int(np.argmax(np.ptp(inside, axis=0)))
            order = np.argpartition(inside[:, widest], len(rows) // 2)
            waiting += [rows[order[len(rows) // 2 :]], rows[order[: len(rows) // 2]]]
        self.order = np.concatenate(runs)
        self.starts = np.cumsum([0] + [len(rows) for rows in runs[:-1]])
        self.ends = np.append(self.starts[1:], len(points))
        inside = points[self.order]
        self.lows = np.minimum.reduceat(inside, self.starts, axis=0)
        self.highs = np.maximum.reduceat(inside, self.starts, axis=0)

    def members(self, leaf: int) -> IntArray:
        """List the points of a leaf."""
        return self.order[self.starts[leaf] : self.ends[leaf]]

    def members_of(self, leaves: IntArray) -> IntArray:
        """List the points of some leaves."""
        return np.concatenate([self.members(leaf) for leaf in leaves.tolist()])

    def width(self, leaf: int) -> float:
        """Measure the box of a leaf from corner to corner."""
        return float(np.linalg.norm(self.highs[leaf] - self.lows[leaf], self.norm))

    def gaps(self, leaf: int) -> FloatArray:
        """Measure how far the box of a leaf is from that of each other at least: float[leaves]."""
        apart = np.maximum(self.lows - self.highs[leaf], self.lows[leaf] - self.highs).clip(min=0)
        return np.asarray(np.linalg.norm(apart, self.norm, axis=1))
