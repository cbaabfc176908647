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

Sums go over near records alone, which a tree of cuts (scipy's cKDTree) finds. The radius grows along the ladder, a few
steps at a time. A record joins where the distance to its kth neighbour lets one expect the end, and leaves when its sum
reaches k. Then the ladder is gone down, step by step, as long as it still does.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.randomness import Randomness

STEPS = 48
"""Steps of the ladder of spreads for each power of ten: each is about 4.9% above the one before."""
GRID = 1e-3
"""Centres are rounded to a power of ten that is at most this share of their spread."""
_GROWTH = 5
"""By how many steps of the ladder the radius grows: by about 27%."""
_PAIRS = 1 << 22
"""So many pairs of records are looked at at a time."""
_ALL = 256
"""Up to so many different records, all pairs are looked at."""
_TINY = 1e-300
_LOWEST, _HIGHEST = -12 * STEPS, 12 * STEPS


class Density(Protocol):
    """A kind of density: how far apart records are in it, the chance that another fits as well, and how it is drawn."""

    name: ClassVar[str]
    norm: ClassVar[float]
    """The norm in which its reach is measured: 2, or infinity."""
    start: ClassVar[float]
    """The spread that is looked at first, as a share of the distance to the kth neighbour."""

    def reach(self, columns: int) -> float:
        """Give the distance, in spreads, beyond which a record's chance is next to nothing."""
        ...

    def differences(self, points: FloatArray, others: FloatArray) -> FloatArray:
        """Measure how far apart points and others are, float[p, d] both: float[1, p], or float[d, p] by column."""
        ...

    def chances(self, apart: FloatArray, columns: int) -> FloatArray:
        """Give a lower bound of the chance that a record fits at least as well, given how many spreads it is apart.

        apart: float[1, p] of distances, or float[d, p] of differences in each of d columns; float[p] comes back.
        """
        ...

    def most(self, rows: int, equal: IntArray) -> FloatArray:
        """Give the expected anonymity that no spread reaches, for records of which so many are equal."""
        ...

    def draw(self, rows: int, columns: int, randomness: Randomness) -> FloatArray:
        """Draw deviations of centres, in spreads: float[rows, columns]."""
        ...


@dataclass(frozen=True)
class GaussianDensity:
    """A normal density; its spread is the standard deviation in each column.

    >>> GaussianDensity().chances(np.array([[0.0, 2.0]]), 1).round(3)
    array([1.   , 0.159])
    """

    name: ClassVar[str] = "gaussian"
    norm: ClassVar[float] = 2.0
    start: ClassVar[float] = 0.45

    def reach(self, columns: int) -> float:
        """Most of a sum comes of distances about twice the root of the columns: somewhat more than that.

        >>> GaussianDensity().reach(1), GaussianDensity().reach(9)
        (6.0, 7.6)
        """
        return 2 * max(3.0, math.sqrt(columns) + 0.8)

    def differences(self, points: FloatArray, others: FloatArray) -> FloatArray:
        """Distances; those of different points are above 0, even where their squares are not."""
        apart = np.sqrt(((points - others) ** 2).sum(axis=1))
        same = (points == others).all(axis=1)
        return np.where(same, 0.0, np.maximum(apart, _TINY))[None, :]

    def chances(self, apart: FloatArray, columns: int) -> FloatArray:
        """Φ(-distance/2 - c), and 1 where there is no difference; c is what rounding may shift."""
        from scipy.special import ndtr  # noqa: PLC0415 - takes a while

        shift = GRID / 2 * math.sqrt(columns)
        return np.where(apart[0] > 0, ndtr(apart[0] * -0.5 - shift), 1.0)

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
    start: ClassVar[float] = 1.0

    def reach(self, columns: int) -> float:  # noqa: ARG002 - the same, however many there are
        """Boxes that are two half-widths apart do not touch."""
        return 2.0

    def differences(self, points: FloatArray, others: FloatArray) -> FloatArray:
        """Differences in each column."""
        return np.ascontiguousarray(np.abs(points - others).T)

    def chances(self, apart: FloatArray, columns: int) -> FloatArray:
        """The product over columns of the share of a box that the other box covers, as they are drawn."""
        found = np.ones(apart.shape[1])
        for column in apart[:columns]:
            found *= np.maximum(1 - column / (2 * (1 - GRID)), 0)
        return found

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
        apart = density.differences(np.broadcast_to(points[row], points.shape), points)
        found[row] = density.chances(apart / spread, points.shape[1]).sum() if spread else equal.sum()
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
        neighbours = _Neighbours(places, counts.astype(np.float64), density)
        waiting = np.flatnonzero(needy)
        joins = neighbours.first_steps(waiting, k)
        left, step = np.empty(0, dtype=np.int64), int(joins.min())
        while len(left) or len(waiting):
            if step > _HIGHEST:
                return None
            left, later = np.concatenate([left, waiting[joins <= step]]), joins > step
            waiting, joins = waiting[later], joins[later]
            settled = neighbours.settle(left, step, k)
            found[left] = settled
            if progress is not None:
                progress(int(counts[left[settled > 0]].sum()))
            left = left[settled == 0]
            step = step + _GROWTH if len(left) or not len(waiting) else int(joins.min())
    return found[inverse.reshape(-1)]


class _Neighbours:
    """Different records, float[n, d], how many records each of them stands for, and which are near to one."""

    def __init__(self, places: FloatArray, counts: FloatArray, density: Density) -> None:
        from scipy.spatial import cKDTree  # noqa: PLC0415 - takes a while

        self.places, self.counts, self.density = places, counts, density
        self.columns = places.shape[1]
        self.reach = density.reach(self.columns)
        self.tree = cKDTree(places)

    def first_steps(self, rows: IntArray, k: float) -> IntArray:
        """Choose the step at which each record is looked at first, by how far the kth neighbour is: int[rows]."""
        nearest = min(math.ceil(k) + 1, len(self.places))
        kth = np.asarray(self.tree.query(self.places[rows], k=[nearest], p=self.density.norm)[0])[:, 0]
        steps = np.floor(STEPS * np.log10(np.maximum(kth * self.density.start, _TINY)) / _GROWTH) * _GROWTH
        return steps.clip(_LOWEST, _HIGHEST).astype(np.int64)

    def settle(self, rows: IntArray, step: int, k: float) -> FloatArray:
        """Give the smallest spreads of rows that reach k at a step of the ladder, and 0 of the others: float[rows]."""
        found = np.zeros(len(rows))
        for part, pair_of, second, distances in self._near_pairs(rows, self.reach * ladder(step)):
            first, apart, counted, lower = pair_of, distances, self.counts[second], step
            reached = np.ones(len(part), dtype=bool)
            # down the ladder, as long as some record reaches k; few are within reach of low steps
            while reached.any() and lower > _LOWEST - STEPS:
                spread = ladder(lower)
                chances = self.density.chances(apart / spread, self.columns)
                reached &= np.bincount(first, chances * counted, len(part)) >= k
                found[part[reached]] = spread
                lower -= 1
                kept = np.flatnonzero(reached[first] & (apart <= self.reach * ladder(lower)).all(axis=0))
                first, apart, counted = first[kept], apart[:, kept], counted[kept]
        return found

    def _near_pairs(self, rows: IntArray, radius: float) -> Iterator[tuple[IntArray, IntArray, IntArray, FloatArray]]:
        """List the pairs of some rows with all records within a radius, part by part.

        Of a part come the places in `rows`, int[r]; of its pairs the place of the first in the part, the second, which
        is a record, and how far `apart` they are: int[p] twice, and float[1, p] or float[d, p].
        """
        from scipy.spatial import cKDTree  # noqa: PLC0415 - takes a while

        every, parts = len(self.places), [np.arange(len(rows))]
        while parts:
            part = parts.pop()
            own = self.places[rows[part]]
            if every <= _ALL:  # a few records are all at hand, and all are counted
                first, second = np.repeat(np.arange(len(part)), every), np.tile(np.arange(every), len(part))
                yield part, first, second, self.density.differences(own[first], self.places[second])
                continue
            tree, norm = cKDTree(own), self.density.norm
            if len(part) * every > _PAIRS and len(part) > 1 and tree.count_neighbors(self.tree, radius, norm) > _PAIRS:
                parts += [part[len(part) // 2 :], part[: len(part) // 2]]
                continue
            pairs = tree.sparse_distance_matrix(self.tree, radius, norm, output_type="ndarray")
            first, second = pairs["i"], pairs["j"]
            if norm == 2:  # what the tree has measured is the distance
                same = rows[part][first] == second
                apart = np.where(same, 0.0, np.maximum(pairs["v"], _TINY))[None, :]
            else:
                apart = self.density.differences(own[first], self.places[second])
            yield part, first, second, apart
