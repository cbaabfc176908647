"""Equivalence classes as counts: all that a privacy model may see.

A class is the set of published rows that share their quasi-identifier values. A model never sees a
row: it sees how many rows each class has and, for each sensitive column, how many of them hold which
value. Counts are kept sparse, one line per (class, value) pair that occurs, so that a million classes
over a thousand values cost what occurs and not their product.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_DENSE = 8
"""Pairs are counted in a table where it has at most so many entries a line, else by a sort."""


@dataclass(frozen=True, eq=False)
class Domain:
    """A sensitive column as it stands in the whole input table, rows that get suppressed included.

    `values` are its distinct values (``None`` for NULL), `totals` the rows that hold each. `ranks` are
    the places of the values in their order and `places` how many there are in all, where the column has
    an order; `ancestors` has a line per value and a column per level of its hierarchy (level 0 the value
    itself, the last level one common root), where it has a hierarchy.
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
    """How often each value of one sensitive column stands in each class.

    Three columns of equal length, sorted by class and then by value: the class, the value's code and
    the number of rows (never 0).
    """

    owner: IntArray
    value: IntArray
    count: IntArray
    domain: Domain


@dataclass(frozen=True, eq=False)
class Classes:
    """Sizes of all classes, and histograms of the sensitive columns and of the individuals.

    `individuals` is there where one person may have several rows.

    >>> Classes.of([0, 0, 1], illness=["flu", "HIV", "flu"]).sizes
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

        >>> Classes.of([0, 0, 1], individuals=["ann", "ann", "bob"]).persons
        array([1, 1])
        """
        if self.individuals is None:
            return self.sizes
        return np.bincount(self.individuals.owner, minlength=len(self))

    @classmethod
    def of(
        cls, labels: ArrayLike, individuals: Sequence[str] | None = None, **sensitive: Sequence[str | None]
    ) -> "Classes":
        """Classes from a class number and sensitive values per row (for examples and tests).

        Every value is in the domain; its totals are those of these rows. Values are ordered as they
        sort as text, with NULL last, and that order is taken as their rank.
        """
        owner = np.unique(np.asarray(labels), return_inverse=True)[1].astype(np.int64)
        histograms = {name: _histogram(owner, values) for name, values in sensitive.items()}
        persons = None if individuals is None else _histogram(owner, individuals)
        return cls(np.bincount(owner), histograms, persons)

    def merged(self, into: ArrayLike) -> "Classes":
        """The classes after uniting them: class i becomes part of class ``into[i]``.

        >>> Classes(sizes=[1, 2, 3]).merged([0, 1, 0]).sizes
        array([4, 2])
        """
        target = np.asarray(into, dtype=np.int64)
        sizes = np.bincount(target, weights=self.sizes).astype(np.int64)
        sensitive = {name: moved(histogram, target) for name, histogram in self.sensitive.items()}
        return Classes(sizes, sensitive, self.individuals and moved(self.individuals, target))

    def only(self, chosen: BoolArray) -> "Classes":
        """The chosen classes alone, renumbered.

        >>> Classes(sizes=[1, 2, 3]).only(np.array([True, False, True])).sizes
        array([1, 3])
        """
        if chosen.all():
            return self
        sensitive = {name: kept(histogram, chosen) for name, histogram in self.sensitive.items()}
        return Classes(self.sizes[chosen], sensitive, self.individuals and kept(self.individuals, chosen))


def kept(histogram: Histogram, chosen: BoolArray) -> Histogram:
    """The histogram of the chosen classes alone, renumbered."""
    lines = chosen[histogram.owner]
    place = np.cumsum(chosen) - 1
    return Histogram(place[histogram.owner[lines]], histogram.value[lines], histogram.count[lines], histogram.domain)


def moved(histogram: Histogram, target: IntArray) -> Histogram:
    """The histogram after class i has become part of class ``target[i]``."""
    return tally(target[histogram.owner], histogram.value, histogram.count, histogram.domain)


def tally(owner: IntArray, value: IntArray, count: IntArray, domain: Domain) -> Histogram:
    """A histogram from (class, value, rows) lines in any order, equal pairs added up."""
    width = len(domain.values)
    keys = owner * width + value
    if int(keys.max(initial=0)) <= _DENSE * len(keys):
        table = np.bincount(keys, weights=count)
        pairs = np.flatnonzero(table)
        rows = table[pairs].astype(np.int64)
    else:
        pairs, place = np.unique(keys, return_inverse=True)
        rows = np.bincount(place, weights=count, minlength=len(pairs)).astype(np.int64)
    return Histogram(pairs // width, pairs % width, rows, domain)


def _histogram(owner: IntArray, values: Sequence[str | None]) -> Histogram:
    known = sorted(set(values), key=lambda value: (value is None, value or ""))
    code = {value: i for i, value in enumerate(known)}
    codes = np.array([code[value] for value in values], dtype=np.int64)
    ranks = np.arange(len(known))
    totals = np.bincount(codes, minlength=len(known))
    domain = Domain(tuple(known), totals, ranks=ranks, places=len(known))
    return tally(owner, codes, np.ones_like(codes), domain)
