"""Which lines and classes of a release fit which people: for blocks of people, all lines at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import IntArray
from sfumato.labels.label_overlap import DescribedLabels, find_overlap
from sfumato.matching.column import Column, Words
from sfumato.matching.lookup import Lookup, lookup
from sfumato.matching.people import People
from sfumato.matching.released import Released

_WORD = 64

_CHEAPER = 32
"""A pair that was found by its key costs as much as so many that are compared bit by bit."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """People of a block and the classes, or the lines, that they fit: `first` is where those of each person begin."""

    first: IntArray
    classes: IntArray

    @property
    def some(self) -> NDArray[np.bool_]:
        """Who fits any."""
        return np.diff(self.first) > 0

    @property
    def people(self) -> IntArray:
        """The person of each pair."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))


class Fits:
    """People looked up in a release, by the columns `by` that are known of them and can be compared.

    `unlike` are the columns whose labels do not tell what values they stand for. Where people are `own` lines of the
    release itself, nothing is looked up.
    """

    def __init__(self, people: People, release: Released, *, own: bool = False) -> None:
        self.release, self.own = release, own
        self.people = people.different
        shared = [name for name in release.quasi if name in people.known]
        found = {name: None if own else column_of(people, release, name) for name in shared}
        self.columns = {name: one for name, one in found.items() if one is not None}
        self.by = tuple(name for name, one in found.items() if one is not None or own)
        self.unlike = tuple(name for name, one in found.items() if one is None and not own)

    def blocks(self, cells: int) -> Iterator[tuple[int, int]]:
        """People in blocks for which at most so many pairs are looked at together, but of one at least."""
        if self._lookup is None:
            step = max(cells // max(len(self.release.class_of), 1), 1)
            yield from ((start, min(start + step, self.people)) for start in range(0, self.people, step))
            return
        after, start = np.cumsum(np.maximum(self._lookup.candidates, 1)), 0
        while start < self.people:
            done = int(after[start - 1]) if start else 0
            end = max(int(np.searchsorted(after, done + cells, side="right")), start + 1)
            yield start, end
            start = end

    def lines(self, start: int, end: int) -> Pairs:
        """The lines that each of these people fits."""
        if self._lookup is not None:
            person, line = self._lookup.places(start, end)
        else:
            person, line = _places(self._words(start, end), len(self.release.class_of))
        return Pairs(np.searchsorted(person, np.arange(end - start + 1)), line)

    def pairs(self, start: int, end: int) -> Pairs:
        """The classes that each of these people fits; of lines of the release itself, their own."""
        if self.own:
            return Pairs(np.arange(end - start + 1), self.release.class_of[start:end])
        found, classes = self.lines(start, end), len(self.release.sizes)
        keys = found.people * classes + self.release.class_of[found.classes]
        # several lines of a class may fit, and its bag counts once
        keys = np.unique(keys) if len(self.release.class_of) > classes else np.sort(keys)
        return Pairs(np.searchsorted(keys // classes, np.arange(end - start + 1)), keys % classes)

    @cached_property
    def _lookup(self) -> Lookup | None:
        """By keys, where that leaves little to compare."""
        found = lookup(list(self.columns.values()))
        if found is None or found.candidates.sum() * _CHEAPER > self.people * len(self.release.class_of):
            return None
        return found

    def _words(self, start: int, end: int) -> Words:
        found = np.full((end - start, -(-len(self.release.class_of) // _WORD)), ~np.uint64(0))
        for column in self.columns.values():
            found &= column.words(start, end)
        return found


def column_of(people: People, release: Released, name: str) -> Column | None:
    """A column of both sides; nothing where labels do not tell what they stand for."""
    there, shown = people.known[name], release.quasi[name]
    fits = find_overlap(people.side(name), DescribedLabels(shown.texts, release.entry(name)))
    return None if fits is None else Column(there.codes, there.width, shown.codes, shown.width, fits)


def _places(words: Words, lines: int) -> Sequence[Any]:
    """The person and the line of each bit that is set, in order; only words that have one are opened."""
    person, word = np.nonzero(words)
    bits = np.unpackbits(words[person, word].view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    one, bit = np.nonzero(bits)
    line = word[one] * _WORD + bit
    inside = line < lines
    return person[one][inside], line[inside]
