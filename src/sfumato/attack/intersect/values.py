"""Values of a sensitive column in all releases that have it, numbered alike, and how often people may hold each."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.segments import run_starts
from sfumato.encode import CodedColumn
from sfumato.matching.fits import Pairs
from sfumato.matching.released import Released


@dataclass(frozen=True, eq=False)
class Held:
    """How many rows that fit a person hold a value: keys of person and value in order, and the rows of each."""

    keys: IntArray
    rows: IntArray


@dataclass(frozen=True, eq=False)
class Values:
    """One sensitive column: its different values, the releases that have it by their places, and the true values."""

    name: str
    releases: Sequence[Released]
    truth: CodedColumn | None

    @cached_property
    def places(self) -> tuple[int, ...]:
        """Which of the releases have the column."""
        return tuple(place for place, one in enumerate(self.releases) if self.name in one.bags)

    @cached_property
    def codes(self) -> dict[str | None, int]:
        """A number for each value that some release has; NULL is one."""
        domains = [self.releases[place].bags[self.name].domain.values for place in self.places]
        return {value: number for number, value in enumerate(dict.fromkeys(value for one in domains for value in one))}

    @cached_property
    def true(self) -> IntArray | None:
        """The true value of each person; -1 where no release has it."""
        if self.truth is None:
            return None
        known = np.array([self.codes.get(text, -1) for text in self.truth.texts], dtype=np.int64)
        return known[self.truth.codes]

    @cached_property
    def _bags(self) -> dict[int, Any]:
        """The bags of each release as a sparse matrix, class by value."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import, and only needed where releases are compared

        found = {}
        for place in self.places:
            release = self.releases[place]
            bag = release.bags[self.name]
            columns = np.array([self.codes[value] for value in bag.domain.values], dtype=np.int64)[bag.value]
            shape = (len(release.sizes), len(self.codes))
            found[place] = csr_array((bag.count, (bag.class_of, columns)), shape=shape)
        return found

    def held(self, place: int, pairs: Pairs) -> Held:
        """What the classes of a release that people fit hold together."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - as above

        people = len(pairs.first) - 1
        ones = np.ones(len(pairs.classes), dtype=np.int64)
        fits = csr_array((ones, pairs.classes, pairs.first), shape=(people, self._bags[place].shape[0]))
        found = fits @ self._bags[place]
        found.sort_indices()
        person = np.repeat(np.arange(people, dtype=np.int64), np.diff(found.indptr))
        return Held(person * len(self.codes) + found.indices, found.data.astype(np.int64))


def common(held: Sequence[Held], fits: Sequence[BoolArray], values: int) -> IntArray:
    """The keys that all releases have, of those that a person fits; in order.

    >>> held = [Held(np.array([0, 1, 3]), np.array([2, 1, 1])), Held(np.array([1]), np.array([4]))]
    >>> common(held, [np.array([True, True]), np.array([True, False])], 3).tolist()
    [1, 3]
    """
    keys = np.sort(np.concatenate([one.keys for one in held]))
    if not len(keys):
        return keys
    first = run_starts(keys)
    often = np.diff(first, append=len(keys))
    wanted = np.sum(fits, axis=0)
    found: IntArray = keys[first][often == wanted[keys[first] // values]]
    return found


def within(keys: IntArray, known: IntArray) -> BoolArray:
    """Which keys are among known ones that are in order.

    >>> within(np.array([4, 2]), np.array([2, 3])).tolist(), within(np.array([4]), np.array([], dtype=int)).tolist()
    ([False, True], [False])
    """
    place = np.searchsorted(known, keys)
    found: BoolArray = np.append(known, -1)[np.minimum(place, len(known))] == keys
    return found
