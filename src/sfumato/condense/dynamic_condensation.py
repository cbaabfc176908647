"""Dynamic condensation: groups of k to 2k - 1 rows of a stream, of which statistics alone are kept.

The plain definition takes one row after another. A row goes to the group whose mean is nearest, of several at the same
distance to the one that was there first; the statistics of the group take it up, and it is forgotten. A group that has
2k rows by that is split into two of k (see `group_statistics`). The first k rows are the first group.

A batch of rows is worked on at once, in rounds. In a round all rows left look for the nearest mean as the means are
when the round begins; each group takes its rows in their order until it has 2k; groups that have are split. Rows that
found their group full are left for the next round, and look again. A batch of one row is the plain definition. In a
larger one a row may miss what the rows right before it have moved.

Distances count each number in standard deviations of all rows so far. They are taken anew whenever the number of groups
passes a power of two, right before the groups are split that make it so; between, the measure stays as it is.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.condense.group_statistics import GroupStatistics
from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.segments import Segments, stable_order

_MANY, _DEEP = 4096, 6
"""A tree is worth its building from so many means on, and up to so many dimensions: in more it looks at most of its
points, and looking at all of them by a product of matrices is quicker."""
_NEIGHBOURS = 6
"""So many means are taken from the tree for each row."""
_BLOCK = 1 << 21
"""So many distances are computed at a time."""
_PIECE, _TALL = 9_000, 27
"""A product has a piece of so many numbers on its right, and so many lines on its left: larger ones OpenBLAS puts on
several threads, which wait for one another, and burn ten times the processor time where others are at work."""


class DynamicCondensation:
    """Groups of a stream of points, float[n, d], and the measure of distances between them.

    `groups` are the statistics. `centre` and `weights`, float[d], are the measure: a point x stands at (x - centre) ·
    weights. `fixed` has the weight of each coordinate that is not counted in standard deviations, and NaN elsewhere.
    Without a `measure` to go on with, it is taken of the groups. `limits`, where set, are what no mean exceeds: the
    lowest and the highest number of each coordinate, float[d] twice.

    >>> stream = DynamicCondensation.from_rows(np.array([[1.0], [2.0]]), k=2)
    >>> stream.add(np.array([[8.0], [9.0], [8.5]]))
    >>> stream.groups.sizes.tolist(), stream.groups.means.round(2).tolist()
    ([3, 2], [[8.21], [1.94]])
    """

    def __init__(
        self,
        groups: GroupStatistics,
        k: int,
        fixed: FloatArray | None = None,
        measure: tuple[FloatArray, FloatArray] | None = None,
    ) -> None:
        self.groups, self.k = groups, k
        self.limits: tuple[FloatArray, FloatArray] | None = None
        self.fixed = np.full(groups.width, np.nan) if fixed is None else fixed
        self._nearest: NearestMean | None = None
        self.centre, self.weights = self._take_measure() if measure is None else measure

    @classmethod
    def from_rows(cls, first: FloatArray, k: int, fixed: FloatArray | None = None) -> Self:
        """Begin with the first rows, float[k, d], as one group."""
        groups = GroupStatistics(first.shape[1])
        groups.append(first)
        return cls(groups, k, fixed)

    def _take_measure(self) -> tuple[FloatArray, FloatArray]:
        """Take the measure of distances from all rows so far; a number that is always the same counts nothing."""
        _, means, variances = self.groups.whole()
        spread = np.sqrt(variances)
        constant = spread <= 1e-13 * np.abs(means)
        usual = np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, spread))
        return means, np.where(np.isnan(self.fixed), usual, self.fixed)

    def add(self, points: FloatArray) -> None:
        """Take up a batch of rows, float[n, d]."""
        groups, limit = self.groups, 2 * self.k
        left = points
        while len(left):
            if self._nearest is None:
                self._nearest = NearestMean((groups.means - self.centre) * self.weights)
            found = self._nearest.find((left - self.centre) * self.weights)
            order = stable_order(found)
            of = found.take(order)
            runs = Segments.from_sorted(of)
            chosen = of[runs.starts]
            place = np.arange(len(of)) - runs.spread(runs.starts)
            room = limit - groups.sizes[chosen]
            taken = place < runs.spread(room)
            groups.add(left[order[taken]], chosen, Segments.from_lengths(np.minimum(runs.lengths, room)))
            full = chosen[groups.sizes[chosen] == limit]
            self._split(full)
            if self._nearest is not None:
                changed = np.concatenate([chosen, np.arange(groups.count - len(full), groups.count)])
                self._nearest.move(changed, (groups.means[changed] - self.centre) * self.weights)
            left = left[np.sort(order[~taken])]

    def _split(self, full: IntArray) -> None:
        if not len(full):
            return
        count = self.groups.count
        if (count + len(full)).bit_length() > count.bit_length():
            self.centre, self.weights = self._take_measure()
            self._nearest = None
        self.groups.split(full, self.weights, self.limits)


class NearestMean:
    """Which of g points is nearest, of several the first, while points move and others are added.

    A k-d tree holds the points as they were when it was built. Of a row it gives some nearest points as they were, and
    the distance D to the last of these: all others were at least as far away. A point that has moved by at most δ since
    is therefore at least D - δ away now. So where the nearest of those given is nearer than D - δ, it is the nearest of
    all. Points that are new, or have moved by more than δ, are looked at all; when they are too many, the tree is built
    anew. A row of which this leaves a doubt is compared with every point.

    >>> nearest = NearestMean(np.array([[0.0], [4.0]]))
    >>> nearest.move(np.array([1, 2]), np.array([[5.0], [1.0]]))
    >>> nearest.find(np.array([[0.9], [2.9], [3.1]])).tolist()
    [2, 2, 1]
    """

    def __init__(self, points: FloatArray) -> None:
        self.points = points
        self._count = len(points)
        self._tree: Any = None
        self._built: FloatArray = points[:0]
        self._drift: FloatArray = np.zeros(0)  # how far each point of the tree has moved
        self._allowed = 0.0

    def move(self, places: IntArray, points: FloatArray) -> None:
        """Move points; those after the last are new."""
        most = int(places.max(initial=-1)) + 1
        if most > len(self.points):
            grown = np.empty((2 * most, self.points.shape[1]))
            grown[: self._count] = self.points[: self._count]
            self.points = grown
        self._count = max(self._count, most)
        self.points[places] = points
        if self._tree is not None:
            old = places < len(self._built)
            self._drift[places[old]] = np.sqrt(((points[old] - self._built[places[old]]) ** 2).sum(axis=1))

    def find(self, rows: FloatArray) -> IntArray:
        """Find the nearest point of each row: int[n] of float[n, d]."""
        points = self.points[: self._count]
        if self._count < _MANY or points.shape[1] > _DEEP:
            return find_nearest(rows, points)[0]
        loose = np.flatnonzero(self._drift > self._allowed)
        if self._tree is None or len(loose) + self._count - len(self._built) > 32 + self._count // 16:
            loose = self._build(rows)
        loose = np.concatenate([loose, np.arange(len(self._built), self._count)])
        before, near = self._tree.query(rows, _NEIGHBOURS)
        distances = ((points[near] - rows[:, None, :]) ** 2).sum(axis=2)
        least = distances.min(axis=1)
        best: IntArray = np.where(distances == least[:, None], near, self._count).min(axis=1)
        if len(loose):
            other, apart = find_nearest(rows, points[loose])
            other = loose[other]
            better = (apart < least) | ((apart == least) & (other < best))
            best, least = np.where(better, other, best), np.minimum(apart, least)
        doubtful = np.flatnonzero(np.sqrt(least) * (1 + 1e-12) >= before[:, -1] - self._allowed)
        if len(doubtful):
            best[doubtful] = find_nearest(rows[doubtful], points)[0]
        return best

    def _build(self, rows: FloatArray) -> IntArray:
        """Build the tree anew; points may move by a tenth of the distances that rows have to their nearest points."""
        from scipy.spatial import cKDTree  # noqa: PLC0415 - heavy

        self._built = self.points[: self._count].copy()
        self._tree = cKDTree(self._built)
        self._drift = np.zeros(self._count)
        self._allowed = 0.1 * float(np.median(self._tree.query(rows[:64], _NEIGHBOURS)[0][:, -1]))
        return np.zeros(0, dtype=np.int64)


def find_nearest(rows: FloatArray, points: FloatArray) -> tuple[IntArray, FloatArray]:
    """Compare each row with every point: the nearest, of several the first, int[n], and its squared distance, float[n].

    |c|² - 2 x·c is one product of matrices, (x, 1) · (-2 c, |c|²), in single precision. Where another point comes as
    near to the best as its digits leave open, the row is compared with every point by differences, in double precision.

    >>> find_nearest(np.array([[1.0], [9.0]]), np.array([[0.0], [2.0], [7.0]]))[0].tolist()
    [0, 2]
    """
    nearest = np.empty(len(rows), dtype=np.int64)
    step = max(_BLOCK // len(points), 1)
    with np.errstate(over="ignore", invalid="ignore"):  # what single precision cannot hold is compared the other way
        lengths = np.einsum("ij,ij->i", points, points).astype(np.float32)
        columns = np.vstack([-2 * points.T, lengths]).astype(np.float32)
        for start in range(0, len(rows), step):
            some = rows[start : start + step].astype(np.float32)
            found = multiply_in_pieces(np.column_stack([some, np.ones(len(some), dtype=np.float32)]), columns)
            line, best = np.arange(len(some)), found.argmin(axis=1)
            least = found[line, best]
            found[line, best] = np.inf
            error = 1e-6 * (some.shape[1] + 2) * (np.einsum("ij,ij->i", some, some) + lengths[best])
            nearest[start : start + step] = np.where(found.min(axis=1) - least > error, best, -1)
    doubtful = np.flatnonzero(nearest < 0)
    if len(doubtful):  # often many equal rows, of categories or whole numbers
        different, which = np.unique(rows[doubtful], axis=0, return_inverse=True)
        best = np.array([((points - row) ** 2).sum(axis=1).argmin() for row in different])
        nearest[doubtful] = best[which.reshape(-1)]
    return nearest, ((rows - points[nearest]) ** 2).sum(axis=1)


def multiply_in_pieces(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float32]:
    """Multiply two matrices on one thread, a piece at a time: float32[n, m] of float32[n, d] and float32[d, m].

    >>> multiply_in_pieces(np.ones((2, 3), dtype=np.float32), np.ones((3, 1), dtype=np.float32)).tolist()
    [[3.0], [3.0]]
    """
    found = np.empty((len(left), right.shape[1]), dtype=np.float32)
    width = max(_PIECE // len(right), 1)
    for begin in range(0, right.shape[1], width):
        piece = np.ascontiguousarray(right[:, begin : begin + width])
        for start in range(0, len(left), _TALL):
            rows = slice(start, start + _TALL)
            np.matmul(left[rows], piece, out=found[rows, begin : begin + width])
    return found
