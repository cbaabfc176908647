"""The join of people with the lines of a release: who matches how many records, and how many match each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.matching.fits import Fits, Pairs
from sfumato.matching.people import People
from sfumato.matching.released import Released

Progress = Callable[[int, int], None]

_CELLS = 1 << 21
"""Pairs of a person and a line that are looked at together."""

_KEPT = 1 << 24
"""Pairs that fit and are kept for a second look; where there are more, all are looked up again."""


@dataclass(eq=False)
class Join:
    """People looked up in a release, block by block: as often as somebody asks, for the price of once if few match."""

    fits: Fits
    progress: Progress | None = None
    _kept: list[tuple[int, Pairs]] | None = field(default=None, init=False)

    def __iter__(self) -> Iterator[tuple[int, Pairs]]:
        """Where each block begins, with the lines that its people fit."""
        if self._kept is not None:
            yield from self._kept
            return
        kept: list[tuple[int, Pairs]] = []
        pairs = 0
        for start, end in self.fits.blocks(_CELLS):
            found = self.fits.lines(start, end)
            pairs += len(found.classes)
            if pairs <= _KEPT:
                kept.append((start, found))
            else:
                kept.clear()
            yield start, found
            if self.progress is not None:
                self.progress(end, self.fits.people)
        self._kept = kept if pairs <= _KEPT else None


@dataclass(frozen=True, eq=False)
class Joined:
    """What matches: by tuple of people, and by line of the release.

    Of each tuple: its `persons`, how many `records` it matches, `lines` counted with their records even where a record
    stands on several, the `fewest` candidates of a record that it matches, and `inside`, the records that fall to each
    of its persons if every record goes to its candidates in equal parts. Of each line: its `own` records and its
    `candidates`. Records are rows, or persons where rows carry pseudonyms.
    """

    release: Released
    persons: IntArray
    records: IntArray
    lines: IntArray
    fewest: IntArray
    inside: FloatArray
    own: IntArray
    candidates: IntArray

    @property
    def certain(self) -> BoolArray:
        """Who matches one record that nobody else matches."""
        certain: BoolArray = (self.records == 1) & (self.fewest == 1)
        return certain

    @property
    def every(self) -> int:
        """The records of the release."""
        persons = self.release.persons
        return self.release.rows if persons is None else len(np.unique(persons))


def joined(join: Join, people: People) -> Joined:
    """Count matches on both sides."""
    release, own = join.fits.release, _own(join.fits.release)
    persons = np.bincount(people.tuples, minlength=people.different)
    records, lines = np.zeros((2, people.different), dtype=np.int64)
    candidates = np.zeros(len(own), dtype=np.int64)
    named = _named(release)
    for start, found in join:
        block = slice(start, start + len(found.first) - 1)
        lines[block] = _summed(found, own[found.classes])
        records[block] = lines[block] if named is None else _different(found, named)
        weights = persons[block][found.people]
        candidates += np.bincount(found.classes, weights=weights, minlength=len(own)).astype(np.int64)
    fewest, inside = np.zeros(people.different, dtype=np.int64), np.zeros(people.different)
    for start, found in join:
        block = slice(start, start + len(found.first) - 1)
        inside[block] = _summed(found, own[found.classes] / candidates[found.classes])
        fewest[block] = _least(found, candidates[found.classes])
    return Joined(release, persons, records, lines, fewest, inside, own, candidates)


def _own(release: Released) -> IntArray:
    """The records of each line."""
    if release.persons is None:
        return np.bincount(release.lines, minlength=len(release.class_of))
    width = int(release.persons.max(initial=0)) + 1
    different = np.unique(release.lines * width + release.persons)
    return np.bincount(different // width, minlength=len(release.class_of))


def _named(release: Released) -> Any:
    """Which line has which persons, as a sparse matrix; nothing where rows carry no pseudonyms."""
    if release.persons is None:
        return None
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import, and only needed where pseudonyms are

    ones = np.ones(release.rows, dtype=np.int64)
    shape = (len(release.class_of), int(release.persons.max(initial=0)) + 1)
    return csr_array((ones, (release.lines, release.persons)), shape=shape)


def _different(found: Pairs, named: Any) -> IntArray:
    """How many different persons stand on the lines that each of the people fits."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - as above

    ones = np.ones(len(found.classes), dtype=np.int64)
    fits = csr_array((ones, found.classes, found.first), shape=(len(found.first) - 1, named.shape[0]))
    different: IntArray = np.diff((fits @ named).indptr).astype(np.int64)
    return different


def _summed(found: Pairs, amounts: Any) -> Any:
    """The sum over the pairs of each person; whole where the amounts are."""
    after = np.concatenate([[0], np.cumsum(amounts)])
    if amounts.dtype.kind == "i":
        return after[found.first[1:]] - after[found.first[:-1]]
    return np.bincount(found.people, weights=amounts, minlength=len(found.first) - 1)


def _least(found: Pairs, amounts: IntArray) -> IntArray:
    """The least over the pairs of each person, 0 where there are none."""
    least = np.zeros(len(found.first) - 1, dtype=np.int64)
    some = found.some
    if some.any():
        least[some] = np.minimum.reduceat(amounts, found.first[:-1][some])
    return least
