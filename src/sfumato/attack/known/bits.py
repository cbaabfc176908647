"""Rows of a release that fit known values: a bit for each, for all targets at once.

Equal rows are one line, which stands for as many rows as it has. So that bits can be counted, a line stands once for
each power of two that its number of rows is made of, and bits of one power lie together.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.matching.column import Column, Words, packed
from sfumato.matching.fits import Fits
from sfumato.matching.people import People
from sfumato.matching.released import Released

_WORD = 64

_WORDS = 1 << 25
"""The most words of all columns together: fewer targets are looked for where there are more lines."""

_CELLS = 1 << 23
"""Values times lines that are compared together."""


@dataclass(frozen=True, eq=False)
class Lines:
    """The place of each bit among the lines, -1 where it is none.

    `first` is where the words of each power of two begin, and `worth` how many rows a bit of them stands for.
    """

    place: IntArray
    first: IntArray
    worth: IntArray

    @classmethod
    def of(cls, release: Released) -> "Lines":
        """The lines of a release, each as often as powers of two make up its rows."""
        rows = np.bincount(release.lines, minlength=len(release.class_of))
        powers = {2**power: np.flatnonzero(rows >> power & 1) for power in range(int(rows.max()).bit_length())}
        filled = {worth: np.pad(one, (0, -len(one) % _WORD), constant_values=-1) for worth, one in powers.items()}
        some = {worth: one for worth, one in filled.items() if len(one)}
        words = np.array([len(one) // _WORD for one in some.values()])
        return cls(np.concatenate(list(some.values())), np.cumsum(words) - words, np.array(list(some)))

    def most_targets(self, columns: int) -> int:
        """How many targets can be looked for at once."""
        return max(_WORDS * _WORD // (len(self.place) * columns), 1)


@dataclass(frozen=True, eq=False)
class Bits:
    """Targets, by different tuples of what may be known; the words of each column, and of no column at all."""

    columns: tuple[Words, ...]
    every: Words
    lines: Lines
    targets: IntArray

    lasting: ClassVar[bool] = False

    @classmethod
    def of(cls, people: People, fits: Fits, lines: Lines) -> "Bits":
        """Compare each column once."""
        inside = packed((lines.place >= 0)[np.newaxis, :])
        words = tuple(_words(one, lines.place) for one in fits.columns.values())
        targets = np.bincount(people.tuples, minlength=people.different)
        return cls(words, np.repeat(inside, people.different, axis=0), lines, targets)

    @property
    def cost(self) -> int:
        """What comparing once costs; a word is quicker looked at than a row."""
        return self.every.size // 8 + 1

    def start(self) -> Words:
        """Nothing is known."""
        return self.every

    def narrowed(self, state: Words, place: int) -> Words:
        """One more value is known."""
        return state & self.columns[place]

    def matches(self, state: Words) -> IntArray:
        """How many rows fit what is known of each target."""
        bits = np.add.reduceat(np.bitwise_count(state), self.lines.first, axis=1, dtype=np.int64)
        rows: IntArray = bits @ self.lines.worth
        return rows


def _words(column: Column, place: IntArray) -> Words:
    """The lines that fit each target, some values at a time."""
    codes = column.lines[np.maximum(place, 0)]
    used, targets = np.unique(column.people, return_inverse=True)
    step = max(_CELLS // max(len(codes), 1), 1)
    parts = [
        packed(column.fits.overlaps(used[a : a + step].astype(np.int64))[:, codes]) for a in range(0, len(used), step)
    ]
    return np.concatenate(parts)[targets]
