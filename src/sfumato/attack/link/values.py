"""Which value of a sensitive column is likeliest for each person, by the bags of the lines that they match."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.attack.link.joined import Join, Joined
from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import Histogram
from sfumato.core.segments import expand_ranges
from sfumato.matching.fits import Pairs

_TIED = 1 - 1e-12
"""Chances that differ by less are equal: they were added up in another order."""

_FEW = 1 << 19
"""Lines of bags that need no sparse matrix."""


@dataclass(frozen=True, eq=False)
class Top:
    """The likeliest value of each tuple (-1 where nothing matches), its chance, and whether it is the only one."""

    value: IntArray
    chance: FloatArray
    only: BoolArray


@dataclass(frozen=True, eq=False)
class Values:
    """One sensitive column; its values in `order`, the most frequent of the release first."""

    name: str
    bag: Histogram
    sizes: IntArray

    @cached_property
    def totals(self) -> IntArray:
        """Rows of each value."""
        held = np.bincount(self.bag.value, weights=self.bag.count, minlength=len(self.bag.domain.values))
        return held.astype(np.int64)

    @cached_property
    def order(self) -> IntArray:
        """Codes by how often they occur, so that of values equally likely the more frequent is guessed."""
        return np.argsort(-self.totals, kind="stable")

    @property
    def blind(self) -> float:
        """The share of the most frequent value."""
        return float(self.totals.max() / self.totals.sum())

    def text(self, code: int) -> str | None:
        """A value by its code."""
        return self.bag.domain.values[code]

    @cached_property
    def _counts(self) -> Any:
        from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import, see below

        counts = (self.bag.count.astype(np.float64), (self.bag.class_of, self._places[self.bag.value]))
        return csr_array(counts, shape=(len(self.sizes), len(self.order)))

    def likeliest(self, found: Pairs, owner: IntArray, weights: FloatArray) -> Top:
        """The likeliest value of each of these people; the bag of each line that they match has a weight.

        Of one table a line is a class, so that its rows are counted as they are and nothing is rounded.
        """
        amounts = weights / self.sizes[owner]
        if self._starts[owner + 1].sum() - self._starts[owner].sum() <= _FEW:
            return self._top(*self._opened(found, owner, amounts))
        from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import, and a report looks few people up

        fits = csr_array((amounts, owner, found.first), shape=(len(found.first) - 1, len(self.sizes)))
        held = fits @ self._counts
        held.sort_indices()
        return self._top(held.indptr, held.indices, held.data)

    @cached_property
    def _starts(self) -> IntArray:
        """Where the lines of each class begin in the bag, and where the last one's end."""
        return np.searchsorted(self.bag.class_of, np.arange(len(self.sizes) + 1))

    @cached_property
    def _places(self) -> IntArray:
        """The place of each value in the order."""
        place = np.empty(len(self.order), dtype=np.int64)
        place[self.order] = np.arange(len(self.order))
        return place

    def _opened(self, found: Pairs, owner: IntArray, amounts: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """The product of people with the bags that they fit, line by line: what a sparse one would give."""
        pair, lines = expand_ranges(self._starts[owner], self._starts[owner + 1])
        keys = found.people[pair] * len(self.order) + self._places[self.bag.value[lines]]
        different, place = np.unique(keys, return_inverse=True)
        held = np.bincount(place, weights=amounts[pair] * self.bag.count[lines], minlength=len(different))
        first: IntArray = np.searchsorted(different, np.arange(len(found.first)) * len(self.order))
        return first, different % len(self.order), held.astype(np.float64, copy=False)

    def _top(self, first: IntArray, places: IntArray, amounts: FloatArray) -> Top:
        some, people = np.diff(first) > 0, len(first) - 1
        value, chance = np.full(people, -1), np.zeros(people)
        if some.any():
            begins = first[:-1][some]
            most = np.maximum.reduceat(amounts, begins)
            reached = amounts >= np.repeat(most * _TIED, np.diff(first)[some])
            value[some] = self.order[np.minimum.reduceat(np.where(reached, places, len(self.order)), begins)]
            chance[some] = most
        return Top(value, chance, np.diff(first) == 1)


@dataclass(frozen=True, eq=False)
class Posterior:
    """The likeliest values under each assumption."""

    values: Values
    everybody: Top
    in_release: Top


def posterior(name: str, join: Join, found: Joined) -> Posterior:
    """What the matching lines tell of a column, for all people."""
    release = found.release
    values = Values(name, release.bags[name], release.sizes)
    tops: list[list[Top]] = [[], []]
    parts: FloatArray = found.own / np.maximum(found.candidates, 1)
    for _, pairs in join:
        line = pairs.classes
        for kept, weights in zip(tops, (parts, found.own.astype(np.float64)), strict=True):
            kept.append(values.likeliest(pairs, release.class_of[line], weights[line]))
    everybody, in_release = map(_together, tops)
    inside = np.maximum(found.inside, 1.0)
    everybody = Top(everybody.value, everybody.chance / inside, everybody.only & (found.inside >= _TIED))
    return Posterior(
        values,
        everybody,
        Top(in_release.value, in_release.chance / np.maximum(found.lines, 1), in_release.only),
    )


def _together(tops: list[Top]) -> Top:
    return Top(*(np.concatenate([getattr(one, key) for one in tops]) for key in ("value", "chance", "only")))
