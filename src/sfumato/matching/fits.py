"""Which classes of a release fit which people: for blocks of people, all classes at once, a bit for each line."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.classes import IntArray
from sfumato.keys import Codes
from sfumato.matching.labels import Fitting, Side, fitting
from sfumato.matching.people import People
from sfumato.matching.released import Released

Words = NDArray[np.uint64]

_KEPT = 1 << 26
"""Columns of at most so many pairs of value and line are compared once for all people, others block by block."""
_WORD = 64


@dataclass(frozen=True, eq=False)
class Pairs:
    """People of a block and the classes that they fit: `first` is where the classes of each person begin."""

    first: IntArray
    classes: IntArray

    @property
    def some(self) -> NDArray[np.bool_]:
        """Who fits any."""
        return np.diff(self.first) > 0


@dataclass(frozen=True, eq=False)
class _Column:
    """A column by which people are looked up: the codes of people and of lines, and which fit."""

    people: Codes
    width: int
    lines: Codes
    fits: Fitting

    def words(self, start: int, end: int) -> Words:
        """For each of these people, the lines that fit by this column."""
        codes = self.people[start:end]
        if self.width * len(self.lines) <= _KEPT:
            return self._all[codes]
        used, place = np.unique(codes, return_inverse=True)
        return self._packed(used.astype(np.int64))[place]

    @cached_property
    def _all(self) -> Words:
        return self._packed(np.arange(self.width))

    def _packed(self, values: IntArray) -> Words:
        bits = np.packbits(self.fits.rows(values)[:, self.lines], axis=1, bitorder="little")
        short = -bits.shape[1] % 8
        return np.ascontiguousarray(np.pad(bits, ((0, 0), (0, short)))).view(np.uint64)


class Fits:
    """People looked up in a release, by the columns `by` that are known of them and can be compared."""

    def __init__(self, people: People, release: Released, *, own: bool) -> None:
        self.release, self.own = release, own
        shared = [name for name in release.quasi if name in people.known]
        found = {name: _column(people, release, name) for name in shared}
        self._columns = [one for one in found.values() if one is not None]
        self.by = tuple(name for name, one in found.items() if one is not None or own)
        self.unlike = tuple(name for name, one in found.items() if one is None and not own)

    def pairs(self, start: int, end: int) -> Pairs:
        """The classes that each of these people fits; of lines of the release itself, their own."""
        if self.own:
            return Pairs(np.arange(end - start + 1), self.release.owner[start:end])
        person, line = _places(self._words(start, end), len(self.release.owner))
        classes = len(self.release.sizes)
        keys = person * classes + self.release.owner[line]
        if len(self.release.owner) > classes:  # several lines of a class may fit, and its bag counts once
            keys = np.unique(keys)
        first = np.searchsorted(keys // classes, np.arange(end - start + 1))
        return Pairs(first, keys % classes)

    def _words(self, start: int, end: int) -> Words:
        found = np.full((end - start, -(-len(self.release.owner) // _WORD)), ~np.uint64(0))
        for column in self._columns:
            found &= column.words(start, end)
        return found


def _column(people: People, release: Released, name: str) -> _Column | None:
    there, shown = people.known[name], release.quasi[name]
    fits = fitting(people.side(name), Side(shown.texts, release.entry(name)))
    return None if fits is None else _Column(there.codes, there.width, shown.codes, fits)


def _places(words: Words, lines: int) -> Sequence[Any]:
    """The person and the line of each bit that is set, in order; only words that have one are opened."""
    person, word = np.nonzero(words)
    bits = np.unpackbits(words[person, word].view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    one, bit = np.nonzero(bits)
    line = word[one] * _WORD + bit
    inside = line < lines
    return person[one][inside], line[inside]
