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

Sums go over near records alone. Records are in the leaves of a tree of cuts (scipy's cKDTree), each with a box around
it; those of a leaf are looked at together, beside all leaves whose boxes are within reach of its own, by one product of
matrices. What a sum comes to grows about as a power of the spread, by which the next step of the ladder to try is
guessed, until a step reaches k and the one below does not.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.randomness import Randomness
from sfumato.core.segments import Segments

STEPS = 48
"""Steps of the ladder of spreads for each power of ten: each is about 4.9% above the one before."""
GRID = 1e-3
"""Centres are rounded to a power of ten that is at most this share of their spread."""
_LEAF = 64
"""Records in a leaf."""
_MARGIN = 3
"""By how many steps of the ladder more than the one tried first pairs are listed: most need no more."""
_POWER = 4.0
"""The power of the spread by which a sum is taken to grow, where only one is known."""
_PRODUCT = 250_000
"""So many numbers are multiplied in a product of matrices."""
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

    def near(self, points: FloatArray, others: FloatArray, radii: FloatArray) -> tuple[IntArray, FloatArray]:
        """Find which others, float[o, d], are within the radius of which points, float[p, d] and float[p].

        Places in a table of a line per point and a column per other come back, ascending, and how far apart they are,
        as `differences` measures it; what is within a hair of a radius may be among them.
        """
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

    def near(self, points: FloatArray, others: FloatArray, radii: FloatArray) -> tuple[IntArray, FloatArray]:
        """By squared distances |x|² + |y|² - 2·x·y, in products of matrices, about the middle of the points.

        Such a square is off by some 1e-15 of the squared radius, so that a chance is off by 1e-7 where records are next
        to equal, and by far less elsewhere; what chances allow for rounding is a thousand times that. Products are so
        small that they stay in the cache and on one thread.
        """
        middle = points.mean(axis=0)
        x, y = points - middle, others - middle
        left = np.column_stack([-2.0 * x, np.ones(len(x)), np.einsum("ij,ij->i", x, x)])
        right = np.column_stack([y, np.einsum("ij,ij->i", y, y), np.ones(len(y))])
        limits = (radii * (1 + 1e-9))[:, None] ** 2
        width = max(_PRODUCT // left.size, 1)
        found, measured = [], []
        for start in range(0, len(y), width):
            squares = left @ right[start : start + width].T
            within = np.flatnonzero(squares <= limits)
            measured.append(squares.ravel().take(within))
            line = within // squares.shape[1]
            found.append(within + line * (len(y) - squares.shape[1]) + start)
        apart = np.sqrt(np.maximum(np.concatenate(measured), _TINY**2))
        return np.concatenate(found), np.maximum(apart, _TINY)[None, :]

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

    def near(self, points: FloatArray, others: FloatArray, radii: FloatArray) -> tuple[IntArray, FloatArray]:
        """Column by column: the first is compared for all pairs, the next for those that it leaves.

        Columns in which others are farther from the points come first, since they leave fewer.
        """
        order = np.argsort(-np.abs(others - points.mean(axis=0)).mean(axis=0), kind="stable")
        x, y = np.ascontiguousarray(points.T), np.ascontiguousarray(others.T)
        first = np.abs(x[order[0], :, None] - y[order[0]])
        left = np.flatnonzero(first <= radii[:, None])
        line = left // len(others)
        other = left - line * len(others)
        apart = {int(order[0]): first.ravel().take(left)}
        for column in order[1:].tolist():
            off = np.abs(x[column].take(line) - y[column].take(other))
            kept = np.flatnonzero(off <= radii.take(line))
            left, line, other = left.take(kept), line.take(kept), other.take(kept)
            apart = {number: values.take(kept) for number, values in apart.items()} | {column: off.take(kept)}
        return left, np.stack([apart[column] for column in range(len(order))])

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
        for rows in neighbours.parts(needy):
            steps = neighbours.smallest_steps(rows, k)
            if steps is None:
                return None
            found[rows] = [ladder(step) for step in steps.tolist()]
            if progress is not None:
                progress(int(counts[rows].sum()))
    return found[inverse.reshape(-1)]


class _Neighbours:
    """Different records, float[n, d], how many records each of them stands for, and which are near to one.

    Records stand in the order of the leaves here, and `order` int[n] says where they came from; `leaves` are their
    runs, `low` and `high` float[leaves, d] the boxes around them.
    """

    def __init__(self, places: FloatArray, counts: FloatArray, density: Density) -> None:
        from scipy.spatial import cKDTree  # noqa: PLC0415 - takes a while

        self.density, self.columns = density, places.shape[1]
        self.reach = density.reach(self.columns)
        self.every = len(places) <= _ALL  # a few records are all at hand, and all are counted
        self.tree = cKDTree(places, leafsize=len(places) if self.every else _LEAF)
        self.order = np.asarray(self.tree.indices, dtype=np.int64)
        self.places, self.counts = places[self.order], counts[self.order]
        self.leaves = Segments.from_lengths(np.array(_leaf_sizes(self.tree.tree)))
        self.low = np.minimum.reduceat(self.places, self.leaves.starts)
        self.high = np.maximum.reduceat(self.places, self.leaves.starts)

    def parts(self, chosen: BoolArray) -> Iterator[IntArray]:
        """List the chosen records (bool[n], as they came), leaf by leaf."""
        for start, length in zip(self.leaves.starts.tolist(), self.leaves.lengths.tolist(), strict=True):
            rows = self.order[start : start + length]
            rows = rows[chosen[rows]]
            if len(rows):
                yield rows

    @cached_property
    def _place_of(self) -> IntArray:
        """Where each record stands in the order of leaves: int[n]."""
        place = np.empty_like(self.order)
        place[self.order] = np.arange(len(place))
        return place

    def smallest_steps(self, rows: IntArray, k: float) -> IntArray | None:
        """Find the lowest step of the ladder at which each record of a leaf reaches k: int[rows]; none if one has none.

        `low` is a step that does not reach k, and `high` one that does, as far as they are known.
        """
        own = self._place_of[rows]
        steps = self._first_steps(own, k)
        low, high = np.full(len(rows), _LOWEST - STEPS), np.full(len(rows), _HIGHEST + 1)
        before = np.full((2, len(rows)), np.nan)  # the step that was tried last, and what its sum came to
        listed = np.full(len(rows), low[0])  # up to which step the pairs of a record are listed
        first, second, apart = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty((0, 0))
        while (wanting := np.flatnonzero(high - low > 1)).size:
            lacking = wanting[steps[wanting] > listed[wanting]]
            if len(lacking):
                listed[lacking] = np.minimum(steps[lacking] + _MARGIN, _HIGHEST)
                more = self._near_pairs(own[lacking], self.reach * _spreads(listed[lacking]))
                kept = np.flatnonzero(~np.isin(first, lacking))
                first, second = np.append(first[kept], lacking[more[0]]), np.append(second[kept], more[1])
                apart = np.concatenate([apart[:, kept], more[2]], axis=1) if len(kept) else more[2]
            sums = self._sum_chances(first, second, apart, _spreads(steps))
            reached = sums >= k
            high[wanting] = np.where(reached, steps, high)[wanting]
            low[wanting] = np.where(reached, low, steps)[wanting]
            if (low >= _HIGHEST).any():
                return None
            added = np.maximum(sums - self.counts[own], _TINY)
            guess = _next_steps(steps, added, k - self.counts[own], before)
            before = np.stack([steps.astype(np.float64), added])
            steps = np.clip(guess, low + 1, high - 1)
            kept = np.flatnonzero((high - low > 1)[first])
            if len(kept) < len(first):
                first, second, apart = first[kept], second[kept], apart[:, kept]
        return high

    def _sum_chances(self, first: IntArray, second: IntArray, apart: FloatArray, spreads: FloatArray) -> FloatArray:
        """Add up, over the pairs of each record, the chances of those that are within reach of its spread."""
        near = apart / spreads[first]
        if self.density.norm == 2 and not self.every:  # boxes out of reach have no chance as it is
            kept = np.flatnonzero(near[0] <= self.reach)
            first, second, near = first.take(kept), second.take(kept), near.take(kept, axis=1)
        chances: FloatArray = self.density.chances(near, self.columns) * self.counts.take(second)
        return np.asarray(np.bincount(first, chances, len(spreads)), dtype=np.float64)

    def _first_steps(self, own: IntArray, k: float) -> IntArray:
        """Choose the step at which each record is looked at first, by how far the kth neighbour is: int[rows]."""
        nearest = min(math.ceil(k) + 1, len(self.places))
        kth = np.asarray(self.tree.query(self.places[own], k=[nearest], p=self.density.norm)[0])[:, 0]
        steps = np.floor(STEPS * np.log10(np.maximum(kth * self.density.start, _TINY)))
        first: IntArray = steps.clip(_LOWEST, _HIGHEST).astype(np.int64)
        return first

    def _near_pairs(self, own: IntArray, radii: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """List the pairs of some records of a leaf with all that are within a radius of them: int[r] and float[r].

        Of pairs come the place of the first among the records, the place of the second, and how far `apart` they are:
        int[p] twice, and float[1, p] or float[d, p].
        """
        box = self.places[own].min(axis=0), self.places[own].max(axis=0)
        gaps = np.maximum(np.maximum(box[0] - self.high, self.low - box[1]), 0.0)
        far = radii.max() * (1 + 1e-9)
        if self.every:
            others = np.arange(len(self.places))
        elif self.density.norm == 2:
            others = self.leaves.places(np.flatnonzero((gaps * gaps).sum(axis=1) <= far * far))
        else:
            others = self.leaves.places(np.flatnonzero((gaps <= far).all(axis=1)))
        beside = self.places.take(others, axis=0)
        parts = np.array_split(np.arange(len(own)), min(max(len(own) * len(others) // _PAIRS, 1), len(own)))
        found = []
        for part in parts:
            if self.every:
                first, second = np.repeat(part, len(others)), np.tile(others, len(part))
                apart = self.density.differences(self.places[own[first]], self.places[second])
            else:
                near, apart = self.density.near(self.places[own[part]], beside, radii[part])
                line = near // len(others)
                first, second = line + part[0], others.take(near - line * len(others))
                apart[:, own.take(first) == second] = 0.0
            found.append((first, second, apart))
        firsts, seconds, aparts = zip(*found, strict=True)
        return np.concatenate(firsts), np.concatenate(seconds), np.concatenate(aparts, axis=1)


def _leaf_sizes(node: Any) -> list[int]:
    """List how many records each leaf of a tree has, from the first to the last."""
    waiting, sizes = [node], []
    while waiting:
        node = waiting.pop()
        if node.lesser is None:
            sizes.append(int(node.end_idx - node.start_idx))
        else:
            waiting += [node.greater, node.lesser]
    return sizes


def _spreads(steps: IntArray) -> FloatArray:
    """Give the spread at each of some steps of the ladder."""
    different, place = np.unique(steps, return_inverse=True)
    return np.array([ladder(step) for step in different.tolist()])[place.reshape(-1)]


def _next_steps(steps: IntArray, sums: FloatArray, wanted: FloatArray, before: FloatArray) -> IntArray:
    """Guess the step at which a sum comes to what is wanted, as a power of the spread: int[rows].

    sums: float[rows], what others add at the steps tried; before: float[2, rows], the steps before these, and what
    others added there, NaN where these are the first
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        power = np.log10(sums / before[1]) / (steps - before[0])
        power = np.where(np.isfinite(power), np.clip(power, 0.5 / STEPS, 20 / STEPS), _POWER / STEPS)
    off = np.clip(np.log10(wanted / sums) / power, -STEPS, STEPS)
    # up to the step that is enough; and from one that was enough down to the one below it
    return steps + np.where(off > 0, np.ceil(off), np.ceil(off) - 1).astype(np.int64)
