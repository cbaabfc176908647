"""Missing values, both ways: NULL as a value of its own, and NULL as a wildcard that may be any value.

As a value, a row with NULL looks like rows with NULL only, to somebody who knows that it is missing. As a wildcard it
looks like every row that agrees where both are known, to somebody who knows the value that the table lacks.
Looking alike is no equivalence then, and so rows are counted one by one, not by classes.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.keys import pack_tuples
from sfumato.core.segments import expand_ranges
from sfumato.encode import CodedColumn
from sfumato.risk.measured_table import DistinctRows

_WORK = 20_000_000
"""Lines that are compared in all; beyond it, a random sample of the lines is compared."""
_FEWEST = 200
"""The sample has at least so many lines, even if it takes longer."""
_PATTERNS = 200
"""More patterns of missing values than these are not compared pair by pair."""


@dataclass(frozen=True)
class NullRisk:
    """Risk where NULL is read one way, by `looked_at` rows or persons: all, unless there were too many to compare."""

    highest: float
    average: float
    uniques: float
    unique_share: float
    looked_at: int

    def as_json(self) -> dict[str, Any]:
        """Return the figures for ``--json``."""
        return asdict(self)


@dataclass(frozen=True)
class MissingValueRisk:
    """How many cells and rows lack a value, and the risk both ways; `counts` says whether rows or persons count."""

    cells: int
    rows: int
    counts: str
    as_value: NullRisk
    as_wildcard: NullRisk

    def as_json(self) -> dict[str, Any]:
        """Return the figures for ``--json``."""
        return asdict(self)


def nulls_of(
    lines: DistinctRows, quasi: tuple[CodedColumn, ...], *, seed: int = 1, work: int = _WORK
) -> MissingValueRisk | None:
    """Measure the risk with NULL read both ways; nothing where no value is missing.

    `missing` bool[lines, columns] marks the cells that are NULL; `agreeing` int[chosen] counts the rows that agree with
    each chosen line where NULL agrees with everything: all lines, or a sample where that is too much work.
    """
    is_null = [  # NULL has the last code of its column
        codes == width - 1 if column.texts[-1] is None else np.zeros(len(lines), dtype=np.bool_)
        for codes, width, column in zip(lines.columns, lines.widths, quasi, strict=True)
    ]
    missing = np.column_stack(is_null)
    if not missing.any():
        return None
    agreement, every = _Agreement(lines, missing), np.arange(len(lines))
    chosen, agreeing = every, agreement.count_agreeing(work)
    if agreeing is None:
        chosen = _sample_lines(lines, max(work // len(lines), _FEWEST), np.random.default_rng(seed))
        agreeing = np.array([agreement.count_agreeing_with(line) for line in chosen.tolist()])
    return MissingValueRisk(
        cells=int(np.where(missing, lines.counts[:, None], 0).sum()),
        rows=int(lines.counts[missing.any(axis=1)].sum()),
        counts=lines.unit,
        as_value=_measure(lines, every, agreement.count_equal()),
        as_wildcard=_measure(lines, chosen, agreeing),
    )


class _Agreement:
    """How many rows, or persons, look like a line.

    missing: bool[lines, columns]. A pattern says which cells of a line are missing; patterns: bool[patterns, columns],
    pattern_of: int[lines].
    """

    def __init__(self, lines: DistinctRows, missing: BoolArray) -> None:
        self.lines, self.missing = lines, missing
        self.patterns, pattern_of = np.unique(missing, axis=0, return_inverse=True)
        self.pattern_of = pattern_of.reshape(-1)

    def count_equal(self) -> IntArray:
        """Count those that are equal to each line, NULL being a value."""
        class_of, classes = self.lines.number_lines(range(len(self.lines.columns)))
        weights = None if self.lines.named else self.lines.counts  # a person has each line once
        sizes: IntArray = np.bincount(class_of, weights=weights, minlength=classes).astype(np.int64)
        return sizes[class_of]

    def count_agreeing(self, work: int) -> IntArray | None:
        """Count those that agree with each line wherever both are known; none where that is too much work.

        Returns int[lines].
        """
        lines = self.lines
        if len(self.patterns) > _PATTERNS or len(self.patterns) * len(lines) > work:
            return None
        counts = np.ones_like(lines.counts) if lines.named else lines.counts
        agreeing = np.zeros(len(lines), dtype=np.int64)
        for own in range(len(self.patterns)):
            rows = np.flatnonzero(self.pattern_of == own)
            for candidates, first, last in self._matches(rows, own):
                sums = np.concatenate([[0], np.cumsum(counts[candidates])])
                agreeing[rows] += sums[last] - sums[first]
        if not lines.named:
            return agreeing
        if int(agreeing.sum()) > work:
            return None
        # Several of the lines that agree may be of one person, who counts once.
        width = int(lines.person.max()) + 1
        for own in range(len(self.patterns)):
            rows, keys = np.flatnonzero(self.pattern_of == own), []
            for candidates, first, last in self._matches(rows, own):
                row, place = expand_ranges(first, last)
                keys.append(row * width + lines.person[candidates[place]])
            agreeing[rows] = np.bincount(np.unique(np.concatenate(keys)) // width, minlength=len(rows))
        return agreeing

    def count_agreeing_with(self, line: int) -> int:
        """Count those that agree with one line, by comparing it with all others, one column after the other."""
        left = np.arange(len(self.lines))
        for column in np.flatnonzero(~self.missing[line]):
            codes = self.lines.columns[column]
            left = left[(codes[left] == codes[line]) | self.missing[left, column]]
        return self.lines.count(left)

    def _matches(self, rows: IntArray, own: int) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
        """For each pattern, find its lines that agree with those of one's `own` pattern, which are the `rows`.

        Yields (candidates, first, last): candidates (int[m]) are the lines of the other pattern, sorted by the columns
        that both patterns have; those that agree with rows[i] are candidates[first[i]:last[i]].
        """
        for other, absent in enumerate(self.patterns):
            candidates = np.flatnonzero(self.pattern_of == other)
            both, every = np.flatnonzero(~(self.patterns[own] | absent)), np.concatenate([rows, candidates])
            # Patterns that have no column in common agree everywhere: as if by a column with one value.
            columns = [self.lines.columns[i][every] for i in both] or [np.zeros(len(every), dtype=np.int64)]
            keys = pack_tuples(columns, [self.lines.widths[i] for i in both] or [1]).keys
            mine, theirs = keys[: len(rows)], keys[len(rows) :]
            order = np.argsort(theirs, kind="stable")
            theirs = theirs[order]
            yield candidates[order], np.searchsorted(theirs, mine), np.searchsorted(theirs, mine, side="right")


def _sample_lines(lines: DistinctRows, most: int, random: np.random.Generator) -> IntArray:
    """Draw about so many lines; of persons all their lines, of as many persons as have so many."""
    if not lines.named:
        return np.sort(random.choice(len(lines), min(most, len(lines)), replace=False))
    persons, person_of = np.unique(lines.person, return_inverse=True)
    order = random.permutation(len(persons))
    number = max(int(np.searchsorted(np.cumsum(np.bincount(person_of)[order]), most)), 1)
    return np.flatnonzero(np.isin(person_of, order[:number]))


def _measure(lines: DistinctRows, chosen: IntArray, alike: IntArray) -> NullRisk:
    """Measure chosen lines by how many look like each, scaled up to all lines where they are not all.

    chosen, alike: int[chosen lines].
    """
    values, weights = 1.0 / alike, lines.counts[chosen]
    if lines.named:  # a person is as exposed as the most exposed of their lines
        persons, person_of = np.unique(lines.person[chosen], return_inverse=True)
        highest = np.zeros(len(persons))
        np.maximum.at(highest, person_of, values)
        values, weights = highest, np.ones(len(persons), dtype=np.int64)
    looked_at, whole, alone = int(weights.sum()), lines.count(), float(weights[values == 1].sum())
    share = alone / looked_at
    uniques = share * whole if looked_at < whole else alone
    return NullRisk(float(values.max()), float(values @ weights) / looked_at, uniques, share, looked_at)
