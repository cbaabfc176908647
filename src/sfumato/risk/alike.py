"""Who looks alike: rows that agree wherever neither has a value missing."""

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.keys import pack_tuples
from sfumato.core.segments import expand_ranges
from sfumato.risk.subject import Lines

_PATTERNS = 200
"""More patterns of missing values than these are not compared pair by pair."""

_Ranges = tuple[IntArray, IntArray, IntArray]
"""Lines in an order, and for each of some rows where those that look like it begin and end."""


class Alike:
    """How many rows, or persons, look like a line. Lines lie by pattern: which of their cells are missing."""

    def __init__(self, lines: Lines, missing: BoolArray) -> None:
        self.lines, self.missing = lines, missing
        self.patterns, pattern = np.unique(missing, axis=0, return_inverse=True)
        self.pattern = pattern.reshape(-1)

    def equal(self) -> IntArray:
        """Those that are equal to each line, NULL being a value."""
        classes, many = self.lines.numbered(range(len(self.lines.columns)))
        weights = None if self.lines.named else self.lines.counts  # of a person each line is there once
        found: IntArray = np.bincount(classes, weights=weights, minlength=many).astype(np.int64)
        return found[classes]

    def fitting(self, work: int) -> IntArray | None:
        """Those that agree with each line wherever both are known; nothing where that is too much work."""
        many = len(self.patterns)
        if many > _PATTERNS or many * len(self.lines) > work:
            return None
        ones = np.ones_like(self.lines.counts) if self.lines.named else self.lines.counts
        found = np.zeros(len(self.lines), dtype=np.int64)
        for own in range(many):
            rows = np.flatnonzero(self.pattern == own)
            found[rows] = sum(_sums(ones[order], first, last) for order, first, last in self._ranges(rows, own))
        if not self.lines.named:
            return found
        return self._persons() if int(found.sum()) <= work else None

    def fitting_one(self, line: int) -> int:
        """Those that agree with one line, all others looked at, column by column as few as are left."""
        left = np.arange(len(self.lines))
        for column in np.flatnonzero(~self.missing[line]):
            codes = self.lines.columns[column]
            left = left[(codes[left] == codes[line]) | self.missing[left, column]]
        return len(np.unique(self.lines.person[left])) if self.lines.named else int(self.lines.counts[left].sum())

    def _persons(self) -> IntArray:
        """Different persons: of the lines that look like a line, several may be one person's."""
        found, width = np.zeros(len(self.lines), dtype=np.int64), int(self.lines.person.max()) + 1
        for own in range(len(self.patterns)):
            rows, keys = np.flatnonzero(self.pattern == own), []
            for order, first, last in self._ranges(rows, own):
                row, place = expand_ranges(first, last)
                keys.append(row * width + self.lines.person[order[place]])
            found[rows] = np.bincount(np.unique(np.concatenate(keys)) // width, minlength=len(rows))
        return found

    def _ranges(self, rows: IntArray, own: int) -> list[_Ranges]:
        """For each pattern, its lines in the order of what they and the rows of one's own both have."""
        return [self._range(rows, self.patterns[own] | other, i) for i, other in enumerate(self.patterns)]

    def _range(self, rows: IntArray, unknown: BoolArray, other: int) -> _Ranges:
        them = np.flatnonzero(self.pattern == other)
        both, every = np.flatnonzero(~unknown), np.concatenate([rows, them])
        columns = [self.lines.columns[i][every] for i in both] or [np.zeros(len(every), dtype=np.int64)]
        keys = pack_tuples(columns, [self.lines.widths[i] for i in both] or [1]).keys
        mine, theirs = keys[: len(rows)], keys[len(rows) :]
        order = np.argsort(theirs, kind="stable")
        ordered = theirs[order]
        return them[order], np.searchsorted(ordered, mine), np.searchsorted(ordered, mine, side="right")


def _sums(weights: IntArray, first: IntArray, last: IntArray) -> IntArray:
    upto = np.concatenate([[0], np.cumsum(weights)])
    sums: IntArray = upto[last] - upto[first]
    return sums
