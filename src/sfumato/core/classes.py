"""Equivalence classes as counts: all that a privacy model may see.

An *equivalence class* is the set of published rows that share their quasi-identifier values. A model never sees a row:
it sees how many rows each class has and, for each sensitive column, how many of them hold which value. Counts are kept
sparse, one line per (class, value) pair that occurs, so that a million classes over a thousand values cost what occurs
and not their product.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from sfumato.core.arrays import BoolArray, Codes, FloatArray, IntArray
from sfumato.core.keys import PackedTuples, count_keys

_DENSE = 8
"""Pairs are counted in a dense table where it has at most so many entries per line, else by a sort."""
_LARGE = 1 << 20
"""More lines than this are counted with an eye on memory."""
_BLOCK = 1 << 16


@dataclass(frozen=True, eq=False)
class SensitiveDomain:
    """A sensitive column in the whole input table, rows that get suppressed included.

    `values` are its distinct values (``None`` for NULL), `totals` the rows that hold each. Where the column has an
    order, `ranks` are the places of the values in it and `places` how many places there are. Where it has a hierarchy,
    `ancestors` has a line per value and a column per level: level 0 is the value itself, the last level the root.
    """

    values: tuple[str | None, ...] = field(repr=False)  # of persons, these are their names
    totals: IntArray
    ranks: IntArray | None = None
    places: int = 0
    ancestors: IntArray | None = None

    @property
    def shares(self) -> FloatArray:
        """The share of each value in the whole table."""
        shares: FloatArray = self.totals / self.totals.sum()
        return shares


@dataclass(frozen=True, eq=False)
class Histogram:
    """How many rows of each class hold which value of one sensitive column.

    Three arrays of equal length, sorted by class and then by value: the class of the line, the code of the value in
    `domain`, and the number of rows, which is never 0.
    """

    class_of: IntArray
    value: IntArray
    count: IntArray
    domain: SensitiveDomain

    def select(self, chosen: BoolArray) -> "Histogram":
        """Keep the classes that are chosen, renumbered without gaps; `chosen` has a flag per class."""
        lines = chosen[self.class_of]
        renumbered = np.cumsum(chosen) - 1
        return Histogram(renumbered[self.class_of[lines]], self.value[lines], self.count[lines], self.domain)

    def merge(self, into: IntArray) -> "Histogram":
        """Unite classes: class i becomes part of class ``into[i]``."""
        return count_values(into[self.class_of], self.value, self.count, self.domain)


def count_values(class_of: IntArray, value: Codes, count: IntArray | None, domain: SensitiveDomain) -> Histogram:
    """Make a histogram of (class, value, rows) lines in any order; rows of equal pairs are added up.

    Without a `count`, each line is a row.
    """
    width = len(domain.values)
    if len(class_of) > _LARGE:
        return _count_many_values(class_of, value, count, domain)
    keys = class_of * width + value
    if int(keys.max(initial=0)) <= _DENSE * len(keys):
        table = np.bincount(keys, weights=count)
        pairs = np.flatnonzero(table)
        rows = table[pairs].astype(np.int64)
    else:
        pairs, place = np.unique(keys, return_inverse=True)
        rows = np.bincount(place, weights=count, minlength=len(pairs)).astype(np.int64)
    return Histogram(pairs // width, pairs % width, rows, domain)


def _count_many_values(class_of: IntArray, value: Codes, count: IntArray | None, domain: SensitiveDomain) -> Histogram:
    """Count as `count_values` does, with as few arrays as long as the lines as can be; lines of class -1 are left out.

    Keys are of the class, from 1 on, and the value.
    """
    width, keys = len(domain.values), np.empty(len(class_of), dtype=np.int64)
    for start in range(0, len(keys), _BLOCK):
        block = slice(start, start + _BLOCK)
        keys[block] = (class_of[block] + 1) * width + value[block]
    classes = int(class_of.max(initial=0)) + 2
    counted = count_keys(PackedTuples(keys, classes * width, ((None, (classes, width)),)), count, consume=True)
    first = int(np.searchsorted(counted.keys, width))
    keys, rows = counted.keys[first:], counted.counts[first:]
    return Histogram(keys // width - 1, keys % width, rows, domain)


def count_published_values(class_of: IntArray, value: Codes, count: IntArray, domain: SensitiveDomain) -> Histogram:
    """Make a histogram of lines of so many rows each, but for those of class -1, which are not published.

    >>> domain = SensitiveDomain(("a", "b"), np.array([3, 2]))
    >>> found = count_published_values(np.array([0, -1, 0]), np.array([1, 0, 1]), np.array([1, 3, 1]), domain)
    >>> found.class_of.tolist(), found.value.tolist(), found.count.tolist()
    ([0], [1], [2])
    """
    return _count_many_values(class_of, value, count, domain)


@dataclass(frozen=True, eq=False)
class EquivalenceClasses:
    """Sizes of all classes, and histograms of the sensitive columns and of the individuals.

    `individuals` is there where one person may have several rows.

    >>> EquivalenceClasses.of([0, 0, 1], illness=["flu", "HIV", "flu"]).sizes
    array([2, 1])
    """

    sizes: IntArray
    sensitive: Mapping[str, Histogram] = field(default_factory=dict)
    individuals: Histogram | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", np.asarray(self.sizes, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def rows(self) -> int:
        """All rows of all classes."""
        return int(self.sizes.sum())

    @property
    def persons(self) -> IntArray:
        """People in each class: different individuals where rows name them, else rows.

        >>> EquivalenceClasses.of([0, 0, 1], individuals=["ann", "ann", "bob"]).persons
        array([1, 1])
        """
        if self.individuals is None:
            return self.sizes
        return np.bincount(self.individuals.class_of, minlength=len(self))

    @classmethod
    def of(
        cls, labels: ArrayLike, individuals: Sequence[str] | None = None, **sensitive: Sequence[str | None]
    ) -> "EquivalenceClasses":
        """Make classes from a class number and sensitive values per row, for examples and tests.

        Every value is in the domain; its totals are those of these rows. Values are ordered as they sort as text,
        NULL last, and that order is taken as their rank.
        """
        class_of = np.unique(np.asarray(labels), return_inverse=True)[1].astype(np.int64)

        def histogram(values: Sequence[str | None]) -> Histogram:
            known = sorted(set(values), key=lambda value: (value is None, value or ""))
            code = {value: i for i, value in enumerate(known)}
            codes = np.array([code[value] for value in values], dtype=np.int64)
            totals = np.bincount(codes, minlength=len(known))
            domain = SensitiveDomain(tuple(known), totals, ranks=np.arange(len(known)), places=len(known))
            return count_values(class_of, codes, np.ones_like(codes), domain)

        histograms = {name: histogram(values) for name, values in sensitive.items()}
        return cls(np.bincount(class_of), histograms, None if individuals is None else histogram(individuals))

    def merge(self, into: ArrayLike) -> "EquivalenceClasses":
        """Unite classes: class i becomes part of class ``into[i]``.

        >>> EquivalenceClasses(sizes=[1, 2, 3]).merge([0, 1, 0]).sizes
        array([4, 2])
        """
        target = np.asarray(into, dtype=np.int64)
        sizes = np.bincount(target, weights=self.sizes).astype(np.int64)
        sensitive = {name: histogram.merge(target) for name, histogram in self.sensitive.items()}
        return EquivalenceClasses(sizes, sensitive, self.individuals and self.individuals.merge(target))

    def select(self, chosen: BoolArray) -> "EquivalenceClasses":
        """Keep the classes that are chosen, renumbered without gaps.

        >>> EquivalenceClasses(sizes=[1, 2, 3]).select(np.array([True, False, True])).sizes
        array([1, 3])
        """
        if chosen.all():
            return self
        sensitive = {name: histogram.select(chosen) for name, histogram in self.sensitive.items()}
        return EquivalenceClasses(self.sizes[chosen], sensitive, self.individuals and self.individuals.select(chosen))
