"""Rows as points: numbers that are scaled already, and categories, with one squared distance over both.

A squared distance adds up the squared differences of the numbers and, for each category column, its weight where the
values differ. That is what indicator columns scaled by √(weight/2) would give: two rows that differ, differ in two of
them. No such column is made. The centroid of some rows has for each category the shares of its values, and the squared
distance of a value v to shares s is ½·weight·(1 - 2·s[v] + Σ s²), a look-up in a table with an entry per value.

A category column may have *levels*: the labels of its values in a tree, from the value up. Then each of L levels has
the weight divided by L, so that values under a common parent are nearer than others, and a distance is still one
look-up.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import BoolArray, Codes, FloatArray, IntArray, count_codes
from sfumato.core.segments import run_starts

_LARGEST = 1e150
"""Squares of larger numbers are no numbers any more."""


@dataclass(frozen=True, eq=False)
class CategoryColumn:
    """A column of categories, for n rows with v different values.

    `codes` int[n] are below `width`, which is v. Values that differ add `weight` to a squared distance. `levels`
    int[v, L], where given, are the labels of each value at L levels, the value itself first.

    Results do not depend on the order of rows if the numbering of values does not: let it follow their texts, not
    their first appearance.

    >>> town = CategoryColumn(np.array([0, 1, 2]), 3, weight=4.0, levels=np.array([[0, 0], [1, 0], [2, 1]]))
    >>> town.distances_to_value(0)
    array([0., 2., 4.])
    >>> CategoryColumn(np.array([0, 1, 1]), 2).distances_to_shares(np.array([1, 2]) / 3).round(3)
    array([0.444, 0.111])
    """

    codes: Codes
    width: int
    weight: float = 1.0
    levels: IntArray | None = None

    def __post_init__(self) -> None:
        if self.levels is not None and (self.levels.ndim != 2 or len(self.levels) != self.width):
            raise ValueError(f"levels of {len(self.levels)} values, where there are {self.width}")
        if len(self.codes) and not 0 <= int(self.codes.min()) <= int(self.codes.max()) < self.width:
            raise ValueError(
                f"codes from {self.codes.min()} to {self.codes.max()}, where there are {self.width} values"
            )
        if not 0 <= self.weight < np.inf:
            raise ValueError(f"a weight of {self.weight}")

    @cached_property
    def labels(self) -> IntArray:
        """The label of each value at each level, int[L, v]; without a tree, the values alone."""
        return np.arange(self.width)[None, :] if self.levels is None else np.ascontiguousarray(self.levels.T)

    @cached_property
    def places(self) -> IntArray:
        """The place of each value in an order in which values that belong together are neighbours: int[v].

        With a tree, depth first; without one, the most frequent first, as a median among them then separates one or a
        few frequent values from many rare ones.
        """
        keys = (-count_codes(self.codes, self.width),) if self.levels is None else tuple(self.labels)
        places = np.empty(self.width, dtype=np.int64)
        places[np.lexsort((np.arange(self.width), *keys))] = np.arange(self.width)
        return places

    def select(self, rows: IntArray | BoolArray) -> "CategoryColumn":
        """Keep some rows."""
        return CategoryColumn(self.codes[rows], self.width, self.weight, self.levels)

    def distances_to_value(self, code: int) -> FloatArray:
        """Give the squared distance of each value to one of them: float[v]."""
        differ = self.labels != self.labels[:, code, None]
        return np.asarray(differ.sum(axis=0) * (self.weight / len(self.labels)), dtype=np.float64)

    def distances_to_shares(self, shares: FloatArray) -> FloatArray:
        """Give the squared distance of each value to shares of all of them, float[v] that adds up to 1: float[v]."""
        distances = np.zeros(self.width)
        for label in self.labels:
            share = np.bincount(label, shares, minlength=self.width)
            distances += 1.0 - 2.0 * share.take(label) + (share**2).sum()
        return distances * (self.weight / (2 * len(self.labels)))


@dataclass(frozen=True, eq=False)
class Centroid:
    """The middle of some points: the mean of each number, float[d], and the shares of each category, float[v]."""

    numbers: FloatArray
    shares: tuple[FloatArray, ...]


@dataclass(frozen=True, eq=False)
class MixedPoints:
    """Rows with a distance: `numbers` float[n, d], finite and scaled, and category columns of n rows each.

    >>> points = MixedPoints(np.array([[0.0], [1.0], [3.0]]), (CategoryColumn(np.array([0, 0, 1]), 2, weight=2.0),))
    >>> points.distances_to_row(0)
    array([ 0.,  1., 11.])
    >>> points.select(np.array([0, 2])).distances_to(points.centroid(np.array([0, 2])))
    array([2.75, 2.75])
    """

    numbers: FloatArray
    categories: tuple[CategoryColumn, ...] = ()

    def __post_init__(self) -> None:
        if self.numbers.ndim != 2 or any(len(column.codes) != len(self.numbers) for column in self.categories):
            raise ValueError("numbers are float[n, d], and every category column has n codes")
        # NaN is neither above nor below; two reductions make no array of the size of the table
        if self.numbers.size and not (self.numbers.min() > -_LARGEST and self.numbers.max() < _LARGEST):
            raise ValueError("numbers are finite: scale what is too large, and make a category of what is missing")

    def __len__(self) -> int:
        return len(self.numbers)

    def select(self, rows: IntArray | BoolArray) -> "MixedPoints":
        """Keep some rows, in the order given."""
        return MixedPoints(self.numbers[rows], tuple(column.select(rows) for column in self.categories))

    def centroid(self, rows: IntArray | None = None) -> Centroid:
        """Find the middle of some rows, or of all; there is at least one."""
        points = self if rows is None else self.select(rows)
        shares = tuple(count_codes(column.codes, column.width) / len(points) for column in points.categories)
        return Centroid(points.numbers.mean(axis=0), shares)

    def distances_to_row(self, row: int) -> FloatArray:
        """Give the squared distance of every row to one of them: float[n]."""
        tables = [column.distances_to_value(int(column.codes[row])) for column in self.categories]
        return self._distances(self.numbers[row], tables)

    def distances_to(self, centroid: Centroid) -> FloatArray:
        """Give the squared distance of every row to a centroid: float[n]."""
        tables = [
            column.distances_to_shares(shares) for column, shares in zip(self.categories, centroid.shares, strict=True)
        ]
        return self._distances(centroid.numbers, tables)

    def _distances(self, numbers: FloatArray, tables: list[FloatArray]) -> FloatArray:
        """Add up squared differences and what the tables say, column by column.

        Differences are squared one by one: a product of matrices would be quicker, and its last bits depend on the
        processor and on where a row stands.
        """
        distances = np.zeros(len(self))
        for column, number in zip(self.numbers.T, numbers, strict=True):
            distances += (column - number) ** 2
        for category, table in zip(self.categories, tables, strict=True):
            distances += table.take(category.codes)
        return distances

    def sum_of_squares(self, group: IntArray | None = None) -> float:
        """Add up the squared distances of all rows to the centroid of their group: SSE; without groups, SST.

        >>> points = MixedPoints(np.array([[1.0], [3.0], [8.0]]))
        >>> points.sum_of_squares(), points.sum_of_squares(np.array([0, 0, 1]))
        (26.0, 2.0)
        """
        group = np.zeros(len(self), dtype=np.int64) if group is None else group
        sizes = np.bincount(group)
        total = 0.0
        for column in self.numbers.T:
            means = np.bincount(group, column) / np.maximum(sizes, 1)
            total += float(((column - means.take(group)) ** 2).sum())
        for category in self.categories:
            for label in category.labels:
                # Σ over rows of ½w(1 - 2s + Σs²) is ½w(size - Σ count²/size) in each group.
                pair = np.sort(group * category.width + label.take(category.codes))
                starts = run_starts(pair)
                count = np.diff(starts, append=len(pair))
                of_group = pair[starts] // category.width
                lost = len(self) - float((count**2 / sizes.take(of_group)).sum())
                total += category.weight / (2 * len(category.labels)) * lost
        return total

    def content_order(self, then: IntArray | None = None) -> IntArray:
        """Find what sorts rows by their content, the first number first, equal ones by `then` or as they come."""
        keys: list[NDArray[Any]] = [column.codes for column in self.categories[::-1]] + list(self.numbers.T[::-1])
        last = [] if then is None else [then]
        return np.lexsort(last + keys) if last + keys else np.arange(len(self))

    def distinct_starts(self, order: IntArray, then: IntArray | None = None) -> IntArray:
        """Find where each run of equal rows begins, given an order in which equal rows are neighbours.

        >>> points = MixedPoints(np.array([[2.0], [1.0], [2.0]]))
        >>> points.distinct_starts(points.content_order())
        array([0, 1])
        """
        columns = [*self.numbers.T, *(column.codes for column in self.categories), *([] if then is None else [then])]
        begins = np.arange(len(order)) == 0
        for column in columns:
            ordered = column[order]
            begins[1:] |= ordered[1:] != ordered[:-1]
        return np.flatnonzero(begins)

    def scattered_order(self) -> IntArray:
        """Find an order that depends on the contents of rows alone and has no meaning; equal rows stay as they come.

        Rows are sorted by a hash of their content: one sort in place of one for each column. Should different rows have
        one hash, which is not expected in the age of the universe, they are sorted by content.
        """
        hashes = np.zeros(len(self), dtype=np.uint64)
        columns: list[NDArray[Any]] = [*self.numbers.T, *(column.codes for column in self.categories)]
        for column in columns:
            bits = (column + 0.0).view(np.uint64) if column.dtype.kind == "f" else column.astype(np.uint64)
            hashes = _mix(hashes ^ bits)
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
        same = np.flatnonzero(ordered[1:] == ordered[:-1])
        if any((column[order[same]] != column[order[same + 1]]).any() for column in columns):
            return self.content_order()
        return order


def _mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scatter 64-bit words, different ones to different places (the finalizer of splitmix64, after an odd step)."""
    words = words * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x9E3779B97F4A7C15)
    words ^= words >> np.uint64(30)
    words *= np.uint64(0xBF58476D1CE4E5B9)
    words ^= words >> np.uint64(27)
    words *= np.uint64(0x94D049BB133111EB)
    words ^= words >> np.uint64(31)
    return words
