"""A column that people are looked up by: the codes of people and of lines, and which of them fit."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import BoolArray, Codes, IntArray
from sfumato.labels.label_overlap import LabelOverlap

Words = NDArray[np.uint64]

_KEPT = 1 << 26
"""Columns of at most so many pairs of value and line are compared once for all people, others block by block."""

_SHOWN = 1 << 24
"""Pairs of value and label that are compared together."""


@dataclass(frozen=True, eq=False)
class Column:
    """Codes of people, below `width`; codes of lines, below `labels`; and how values fit labels."""

    people: Codes
    width: int
    lines: Codes
    labels: int
    fits: LabelOverlap

    def words(self, start: int, end: int) -> Words:
        """For each of these people, the lines that fit by this column, a bit for each."""
        codes = self.people[start:end]
        if self.width * len(self.lines) <= _KEPT:
            return self._all[codes]
        used, place = np.unique(codes, return_inverse=True)
        return packed(self.fits.overlaps(used.astype(np.int64))[:, self.lines])[place]

    def pairs(self, people: IntArray, lines: IntArray) -> BoolArray:
        """Whether people fit lines, pair by pair; values some at a time, where they have many labels."""
        known, shown = self.people[people], self.lines[lines]
        step = max(_SHOWN // max(self.labels, 1), 1)
        if self.width <= step:
            return self._told[known, shown]
        found, order = np.zeros(len(people), dtype=np.bool_), np.argsort(known, kind="stable")
        ends = np.searchsorted(known[order], np.arange(0, self.width + step, step))
        for start, (begin, end) in zip(range(0, self.width, step), pairwise(ends.tolist()), strict=True):
            some = order[begin:end]
            rows = self.fits.overlaps(np.arange(start, min(start + step, self.width)))
            found[some] = rows[known[some].astype(np.int64) - start, shown[some]]
        return found

    @cached_property
    def only(self) -> IntArray | None:
        """For each value the one label that it fits, -1 where it fits none; nothing where some value fits several."""
        return self.fits.single_overlap()

    @cached_property
    def _told(self) -> BoolArray:
        return self.fits.overlaps(np.arange(self.width))

    @cached_property
    def _all(self) -> Words:
        return packed(self.fits.overlaps(np.arange(self.width))[:, self.lines])


def packed(found: BoolArray) -> Words:
    """Lines of booleans as words.

    >>> packed(np.array([[True, False, True]])).tolist()
    [[5]]
    """
    bits = np.packbits(found, axis=1, bitorder="little")
    short = -bits.shape[1] % 8
    return np.ascontiguousarray(np.pad(bits, ((0, 0), (0, short)))).view(np.uint64)
