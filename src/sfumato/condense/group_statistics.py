"""The statistics of groups of a stream: counts, sums and sums of products (Aggarwal 2015, equations 20.6 to 20.9).

All that is kept of a group of r rows is r, the sum of each column and the sum of the products of each pair of columns.
They are additive, so that a row is added and forgotten. The covariances of a group are

    Covariance(i, j) = Sum(i, j) / r - Mean(i) · Mean(j)                        (20.6)
                     = Sum(i, j) / r - Sum(i) · Sum(j) / r²                     (20.7)

For numbers such as 1,000,000,003 both terms have the same first digits, and the difference has none left. So sums of
products are kept about the mean of the group itself, Σ (x - Mean)(x - Mean)ᵀ, its *scatter*, which is r · Covariance.
Nothing is lost by it, `sums_of_products` gives Sum(i, j) back, and the mean discloses nothing that the sums do not.

A group of 2k rows is split along its longest eigenvector V, though its rows are gone. Under the assumption that rows
are uniform along each eigenvector, the range along V is

    R = √(12 λ)                                                                 (20.8)

for its eigenvalue λ, the largest. The halves have k rows each, their means are at Mean ± R/4 · V (exercise 6: that is
Mean ± √(3λ)/2 · V), and half the range has a quarter of the variance. All other eigenvalues stay, so that both have
the covariances

    C = P Σ Pᵀ = Covariance - 3/4 · λ V Vᵀ                                      (20.9)

from which sums and sums of products follow by 20.6.
"""

import numpy as np

from sfumato.condense.pseudo_rows import uniform_units
from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.randomness import Randomness
from sfumato.core.segments import Segments


class GroupStatistics:
    """The statistics of g groups over d columns: `sizes` int[g], `means` float[g, d], `scatters` float[g, p].

    Of a scatter, which is symmetric, the p = d (d + 1) / 2 numbers from the diagonal on are kept, line by line. Room is
    made for twice as many groups whenever it is used up.

    >>> groups = GroupStatistics(2)
    >>> groups.append(np.array([[0.0, 0.0], [2.0, 2.0], [4.0, 4.0]]))
    >>> groups.sizes.tolist(), groups.means.tolist(), groups.covariances(np.array([0])).round(3).tolist()
    ([3], [[2.0, 2.0]], [[[2.667, 2.667], [2.667, 2.667]]])
    >>> groups.sums_of_products(np.array([0])).tolist()
    [[[20.0, 20.0], [20.0, 20.0]]]
    """

    def __init__(self, width: int) -> None:
        self.width, self.count = width, 0
        self._line, self._column = np.triu_indices(width)
        self._sizes: IntArray = np.zeros(1, dtype=np.int64)
        self._means: FloatArray = np.zeros((1, width))
        self._scatters: FloatArray = np.zeros((1, len(self._line)))

    @classmethod
    def from_arrays(cls, sizes: IntArray, means: FloatArray, scatters: FloatArray) -> "GroupStatistics":
        """Make the statistics of groups from their arrays, as `sizes`, `means` and `scatters` give them."""
        groups = cls(means.shape[1])
        groups.count = len(sizes)
        groups._sizes, groups._means, groups._scatters = sizes.copy(), means.copy(), scatters.copy()
        return groups

    @property
    def sizes(self) -> IntArray:
        """Rows of each group: int[g]."""
        return self._sizes[: self.count]

    @property
    def means(self) -> FloatArray:
        """Means of each group: float[g, d]."""
        return self._means[: self.count]

    @property
    def scatters(self) -> FloatArray:
        """Sums of products about the mean, packed: float[g, p]."""
        return self._scatters[: self.count]

    @property
    def variances(self) -> FloatArray:
        """Variances of each group, the diagonal of its covariances: float[g, d]."""
        found: FloatArray = self.scatters[:, self._line == self._column] / self.sizes[:, None]
        return found

    def covariances(self, groups: IntArray) -> FloatArray:
        """Covariances of some groups (20.6): float[n, d, d]."""
        found = np.empty((len(groups), self.width, self.width))
        found[:, self._line, self._column] = self._scatters[groups] / self._sizes[groups, None]
        found[:, self._column, self._line] = found[:, self._line, self._column]
        return found

    def sums(self, groups: IntArray) -> FloatArray:
        """Sum(i) of some groups: float[n, d]."""
        totals: FloatArray = self._means[groups] * self._sizes[groups, None]
        return totals

    def sums_of_products(self, groups: IntArray) -> FloatArray:
        """Sum(i, j) of some groups, by 20.6 from covariances and means: float[n, d, d]."""
        means = self._means[groups]
        products: FloatArray = self._sizes[groups, None, None] * (
            self.covariances(groups) + means[:, :, None] * means[:, None, :]
        )
        return products

    def whole(self) -> tuple[int, FloatArray, FloatArray]:
        """The number of all rows, their means and their variances: float[d] each."""
        rows = int(self.sizes.sum())
        means = self.sizes @ self.means / rows
        diagonal = self.scatters[:, self._line == self._column].sum(axis=0)
        return rows, means, (diagonal + self.sizes @ (self.means - means) ** 2) / rows

    def append(self, points: FloatArray) -> None:
        """Add a group of these rows, float[n, d]."""
        self.append_all(points, Segments.from_lengths(np.array([len(points)])))

    def append_all(self, points: FloatArray, runs: Segments) -> None:
        """Add a group for each run of rows, float[n, d]; no run is empty."""
        new = np.arange(self.count, self.count + len(runs))
        self._make_room(len(runs))
        self.count += len(runs)
        # they begin at their mean, and without rows: so their products are about it from the first on
        self._means[new] = np.add.reduceat(points / runs.spread(runs.lengths)[:, None], runs.starts, axis=0)
        self.add(points, new, runs)

    def add(self, points: FloatArray, groups: IntArray, runs: Segments) -> None:
        """Add rows to groups: float[n, d] run by run, and the group of each run, no group twice and no run empty.

        About the old mean, sums and sums of products of the rows are added; then both are moved to the new mean:
        Σ (x - new)(x - new)ᵀ = Σ (x - old)(x - old)ᵀ - r · (new - old)(new - old)ᵀ.
        """
        away = points - self._means[np.repeat(groups, runs.lengths)]
        totals = np.add.reduceat(away, runs.starts, axis=0)
        products = np.add.reduceat(away[:, self._line] * away[:, self._column], runs.starts, axis=0)
        sizes = self._sizes[groups] + runs.lengths
        shift = totals / sizes[:, None]
        products -= sizes[:, None] * shift[:, self._line] * shift[:, self._column]
        self._sizes[groups] = sizes
        self._means[groups] += shift
        self._scatters[groups] += products

    def split(
        self, groups: IntArray, weights: FloatArray, limits: tuple[FloatArray, FloatArray] | None = None
    ) -> IntArray:
        """Split groups into halves along their longest eigenvector; returns the numbers of the new groups, int[n].

        One half keeps the number of the group. `weights` float[d] say what a unit of each column is worth: the longest
        eigenvector is sought in weighted columns, and the split is told in columns as they are. With W the diagonal
        matrix of the weights, t = Vᵀ W (x - Mean) is the place of a row along V, and U = Covariance · W · V / λ what
        each column changes per unit of t: it is W⁻¹ V, but for columns of no weight, which go along as far as they are
        correlated with t. Along U all is as above.

        With `limits`, the lowest and the highest number of each column, float[d] twice, halves are no farther apart
        than their means stay within: at f · R / 4 with f <= 1. In a skewed column R is wider than the rows are. Counts
        and sums are those of the group all the same, and the variance of a half along U is λ - (f · R / 4)², so that
        both halves have the sums of products of the group, too.
        """
        self._make_room(len(groups))
        new = np.arange(self.count, self.count + len(groups))
        covariances = self.covariances(groups)
        values, vectors = np.linalg.eigh(covariances * weights[:, None] * weights)
        longest = np.maximum(values[:, -1], 0)
        axis = vectors[:, :, -1]
        largest = np.take_along_axis(axis, np.abs(axis).argmax(axis=1)[:, None], axis=1)
        axis = axis * np.where(largest < 0, -1.0, 1.0)  # its sign means nothing, and one is chosen
        along = np.einsum("gij,gj->gi", covariances, weights * axis)  # λ U
        along /= np.where(longest > 0, longest, 1)[:, None]
        quarter = np.sqrt(12 * longest)[:, None] / 4 * along  # R / 4, by 20.8
        nearness = np.ones((len(groups), 1))
        if limits is not None:
            room = np.minimum(self._means[groups] - limits[0], limits[1] - self._means[groups])
            with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
                fits = np.where(quarter != 0, np.maximum(room, 0) / np.abs(quarter), np.inf)
            nearness = np.minimum(fits.min(axis=1, keepdims=True), 1.0)
        quarter *= nearness
        half = self._sizes[groups] // 2
        rest = self._sizes[groups] - half
        # 20.9, as scatters: a covariance times the rows of the half
        lowered = self._scatters[groups] / self._sizes[groups, None]
        lowered -= 0.75 * nearness**2 * longest[:, None] * along[:, self._line] * along[:, self._column]
        self._means[new], self._means[groups] = self._means[groups] - quarter, self._means[groups] + quarter
        self._scatters[new], self._scatters[groups] = lowered * half[:, None], lowered * rest[:, None]
        self._sizes[new], self._sizes[groups] = half, rest
        self.count += len(groups)
        return new

    def draw(self, groups: IntArray, rows: int, randomness: Randomness, *, exact: bool = True) -> FloatArray:
        """Draw `rows` points for each of some groups, uniform along its eigenvectors: float[n, rows, d].

        Where they are to be `exact`, the points of a group have its mean; else only their expected value does.
        """
        variances, axes = np.linalg.eigh(self.covariances(groups))
        spokes = np.sqrt(np.maximum(variances, 0))[:, :, None] * axes.swapaxes(1, 2)  # an axis a line
        units = uniform_units(randomness, (len(groups), rows, self.width))
        if exact:
            units -= units.mean(axis=1, keepdims=True)
            if rows > 1:  # centring takes a share of the variance away
                units *= np.sqrt(rows / (rows - 1))
        drawn: FloatArray = self._means[groups][:, None, :] + units @ spokes
        return drawn

    def _make_room(self, more: int) -> None:
        room = len(self._sizes)
        if self.count + more <= room:
            return
        added = max(room, self.count + more - room)
        self._sizes = np.concatenate([self._sizes, np.zeros(added, dtype=np.int64)])
        self._means = np.concatenate([self._means, np.zeros((added, self.width))])
        self._scatters = np.concatenate([self._scatters, np.zeros((added, self._scatters.shape[1]))])
