"""Record linkage: people joined with the records of a release, counted on both sides.

A person and a line of the release match where every value that is known of the person lies under the line's label.
`count_matches` counts how many records each person matches, and how many persons each record. `find_likeliest_values`
adds up the sensitive values of the records that a person matches.

People with equal values are one *tuple*, equal rows of a release one *line*, so that there are few pairs to look at.
Pairs are found in blocks of people; they are kept for a second pass if they are few, else looked up again.

Records are rows, or persons where rows carry pseudonyms.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import Histogram
from sfumato.core.segments import expand_ranges
from sfumato.matching.lookup import CandidatePairs, PeopleLookup
from sfumato.matching.people import KnownPeople
from sfumato.reading.release_view import ReleaseLines

Progress = Callable[[int, int], None]

_CELLS = 1 << 21
"""Pairs of a person and a line that are looked at together."""

_KEPT = 1 << 24
"""Pairs that match and are kept for a second pass; where there are more, all are looked up again."""

_FEW = 1 << 19
"""Lines of histograms that need no sparse matrix."""

_TIED = 1 - 1e-12
"""Chances that differ by less are equal: they were added up in another order."""


@dataclass(eq=False)
class MatchingPairs:
    """The pairs of a person and a line that match, by blocks of people; may be iterated over several times."""

    fits: PeopleLookup
    progress: Progress | None = None
    _blocks: list[tuple[int, CandidatePairs]] | None = field(default=None, init=False)

    def __iter__(self) -> Iterator[tuple[int, CandidatePairs]]:
        """Yield the first tuple of each block, and the lines that its tuples match."""
        if self._blocks is not None:
            yield from self._blocks
            return
        blocks: list[tuple[int, CandidatePairs]] = []
        total = 0
        for start, end in self.fits.blocks(_CELLS):
            pairs = self.fits.candidate_lines(start, end)
            total += len(pairs.candidates)
            if total <= _KEPT:
                blocks.append((start, pairs))
            else:
                blocks.clear()
            yield start, pairs
            if self.progress is not None:
                self.progress(end, self.fits.tuple_count)
        self._blocks = blocks if total <= _KEPT else None


@dataclass(frozen=True, eq=False)
class MatchCounts:
    """How many match: of each tuple of people, and of each line of the release.

    Of tuples, int[tuples]:
    persons:    people who have the tuple
    records:    records that they match
    lines:      records of the lines that they match; a record on several lines counts several times
    fewest:     the fewest candidates of a record that they match
    inside:     float[tuples], the records that fall to each person if candidates share each record equally

    Of lines, int[lines]:
    own:        records of the line
    candidates: persons who match it
    """

    release: ReleaseLines
    persons: IntArray
    records: IntArray
    lines: IntArray
    fewest: IntArray
    inside: FloatArray
    own: IntArray
    candidates: IntArray

    @property
    def certain(self) -> BoolArray:
        """Who matches one record that nobody else matches: bool[tuples]."""
        certain: BoolArray = (self.records == 1) & (self.fewest == 1)
        return certain

    @property
    def matched(self) -> BoolArray:
        """Who matches any record: bool[tuples]."""
        matched: BoolArray = self.records > 0
        return matched

    @property
    def total_records(self) -> int:
        """The records of the release."""
        persons = self.release.persons
        return self.release.rows if persons is None else len(np.unique(persons))


def count_matches(matching: MatchingPairs, people: KnownPeople) -> MatchCounts:
    """Count matches on both sides, in two passes over the pairs.

    The second pass needs the candidates of every line, which are known after the first. For the shapes see
    `MatchCounts`.
    """
    release = matching.fits.release
    own, persons_on_lines = _count_own_records(release), _persons_on_lines(release)
    persons = np.bincount(people.tuple_of, minlength=people.tuple_count)
    records, lines = np.zeros((2, people.tuple_count), dtype=np.int64)
    candidates = np.zeros(len(own), dtype=np.int64)
    for start, pairs in matching:
        block = slice(start, start + len(pairs.first) - 1)
        lines[block] = _sum_by_person(pairs, own[pairs.candidates])
        records[block] = lines[block] if persons_on_lines is None else _count_persons(pairs, persons_on_lines)
        weights = persons[block][pairs.person_of]
        candidates += np.bincount(pairs.candidates, weights=weights, minlength=len(own)).astype(np.int64)
    fewest, inside = np.zeros(people.tuple_count, dtype=np.int64), np.zeros(people.tuple_count)
    for start, pairs in matching:
        block = slice(start, start + len(pairs.first) - 1)
        inside[block] = _sum_by_person(pairs, own[pairs.candidates] / candidates[pairs.candidates])
        fewest[block] = _least_by_person(pairs, candidates[pairs.candidates])
    return MatchCounts(release, persons, records, lines, fewest, inside, own, candidates)


def _count_own_records(release: ReleaseLines) -> IntArray:
    """Count the records of each line: int[lines]."""
    if release.persons is None:
        return release.line_rows
    width = int(release.persons.max(initial=0)) + 1
    different = np.unique(release.line_of * width + release.persons)
    return np.bincount(different // width, minlength=len(release.class_of))


def _persons_on_lines(release: ReleaseLines) -> Any:
    """Say which persons are on which line, as a sparse matrix [lines, persons]; ``None`` without pseudonyms."""
    if release.persons is None:
        return None
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import, and only needed where pseudonyms are

    ones = np.ones(len(release.line_of), dtype=np.int64)
    shape = (len(release.class_of), int(release.persons.max(initial=0)) + 1)
    return csr_array((ones, (release.line_of, release.persons)), shape=shape)


def _count_persons(pairs: CandidatePairs, persons_on_lines: Any) -> IntArray:
    """Count the different pseudonyms on the lines that each of the people matches."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - as above

    ones = np.ones(len(pairs.candidates), dtype=np.int64)
    matches = csr_array((ones, pairs.candidates, pairs.first), shape=(len(pairs.first) - 1, persons_on_lines.shape[0]))
    different: IntArray = np.diff((matches @ persons_on_lines).indptr).astype(np.int64)
    return different


def _sum_by_person(pairs: CandidatePairs, amounts: Any) -> Any:
    """Add up an amount per pair for each person; exactly where the amounts are integers."""
    after = np.concatenate([[0], np.cumsum(amounts)])
    if amounts.dtype.kind == "i":
        return after[pairs.first[1:]] - after[pairs.first[:-1]]
    return np.bincount(pairs.person_of, weights=amounts, minlength=len(pairs.first) - 1)


def _least_by_person(pairs: CandidatePairs, amounts: IntArray) -> IntArray:
    """Find the least amount of each person's pairs, 0 where there are none."""
    least = np.zeros(len(pairs.first) - 1, dtype=np.int64)
    some = pairs.any_candidate
    if some.any():
        least[some] = np.minimum.reduceat(amounts, pairs.first[:-1][some])
    return least


# Sensitive values


@dataclass(frozen=True, eq=False)
class LikeliestValues:
    """The likeliest value of each tuple of people.

    value: int[tuples], its code, -1 where nothing matches; chance: float[tuples]
    only:  bool[tuples], whether no other value is possible
    """

    value: IntArray
    chance: FloatArray
    only: BoolArray

    @classmethod
    def concatenate(cls, blocks: list["LikeliestValues"]) -> "LikeliestValues":
        """Join those of consecutive blocks of people."""
        return cls(
            np.concatenate([block.value for block in blocks]),
            np.concatenate([block.chance for block in blocks]),
            np.concatenate([block.only for block in blocks]),
        )


@dataclass(frozen=True, eq=False)
class ValuePosterior:
    """What the matching records tell of one sensitive column, under each assumption of `attack.link`.

    `everybody`: each record is one of the persons who match it. `in_release`: one of the records that match a person is
    theirs.
    """

    values: "ValueFrequencies"
    everybody: LikeliestValues
    in_release: LikeliestValues


def find_likeliest_values(column: str, matching: MatchingPairs, counts: MatchCounts) -> ValuePosterior:
    """Find the likeliest value of a sensitive column for each person.

    A line that matches counts with its records where the person is in the release. Where the people are everybody, it
    counts with its records per candidate: float[lines], the share of its records that fall to each person.
    """
    release = counts.release
    values = ValueFrequencies(release.bags[column], release.sizes)
    fallen: FloatArray = counts.own / np.maximum(counts.candidates, 1)
    blocks: tuple[list[LikeliestValues], list[LikeliestValues]] = ([], [])
    for _, pairs in matching:
        line = pairs.candidates
        for tops, weights in zip(blocks, (fallen, counts.own.astype(np.float64)), strict=True):
            tops.append(values.find_likeliest(pairs, release.class_of[line], weights[line]))
    everybody, in_release = map(LikeliestValues.concatenate, blocks)
    inside = np.maximum(counts.inside, 1.0)
    return ValuePosterior(
        values,
        # who is in the release for certain has no other value; else it may be that the person has none in it
        LikeliestValues(everybody.value, everybody.chance / inside, everybody.only & (counts.inside >= _TIED)),
        LikeliestValues(in_release.value, in_release.chance / np.maximum(counts.lines, 1), in_release.only),
    )


@dataclass(frozen=True, eq=False)
class ValueFrequencies:
    """One sensitive column over the classes of a release: its histogram `bag`, and the rows of each class."""

    bag: Histogram
    sizes: IntArray

    @cached_property
    def totals(self) -> IntArray:
        """Rows of each value: int[values]."""
        totals = np.bincount(self.bag.value, weights=self.bag.count, minlength=len(self.bag.domain.values))
        return totals.astype(np.int64)

    @cached_property
    def order(self) -> IntArray:
        """Codes from the most frequent value on: of values equally likely, the more frequent is guessed."""
        return np.argsort(-self.totals, kind="stable")

    @property
    def blind(self) -> float:
        """The share of the most frequent value."""
        return float(self.totals.max() / self.totals.sum())

    def text(self, code: int) -> str | None:
        """Return a value by its code."""
        return self.bag.domain.values[code]

    def find_likeliest(self, pairs: CandidatePairs, class_of: IntArray, weights: FloatArray) -> LikeliestValues:
        """Find the likeliest value of each of these people.

        class_of: int[pairs], the class of each line that they match; weights: float[pairs], what the line counts. The
        weight of a line is spread over the values of its class. Of one table a line is a class, so that its rows are
        counted as they are and nothing is rounded.
        """
        amounts = weights / self.sizes[class_of]
        if self._starts[class_of + 1].sum() - self._starts[class_of].sum() <= _FEW:
            return self._select_largest(*self._add_up(pairs, class_of, amounts))
        from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import, and a report looks few people up

        matches = csr_array((amounts, class_of, pairs.first), shape=(len(pairs.first) - 1, len(self.sizes)))
        summed = matches @ self._counts
        summed.sort_indices()
        return self._select_largest(summed.indptr, summed.indices, summed.data)

    @cached_property
    def _starts(self) -> IntArray:
        """Where the lines of each class begin in the histogram, and where the last one's end: int[classes + 1]."""
        return np.searchsorted(self.bag.class_of, np.arange(len(self.sizes) + 1))

    @cached_property
    def _ranks(self) -> IntArray:
        """The place of each value in the order: int[values]."""
        rank = np.empty(len(self.order), dtype=np.int64)
        rank[self.order] = np.arange(len(self.order))
        return rank

    @cached_property
    def _counts(self) -> Any:
        """The histogram as a sparse matrix [classes, values in order]."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import, see above

        counts = (self.bag.count.astype(np.float64), (self.bag.class_of, self._ranks[self.bag.value]))
        return csr_array(counts, shape=(len(self.sizes), len(self.order)))

    def _add_up(
        self, pairs: CandidatePairs, class_of: IntArray, amounts: FloatArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Multiply people with the histograms of the classes that they match, line by line.

        Returns what the sparse product has: where each person's entries begin, and rank and amount of each entry.
        """
        pair, lines = expand_ranges(self._starts[class_of], self._starts[class_of + 1])
        keys = pairs.person_of[pair] * len(self.order) + self._ranks[self.bag.value[lines]]
        different, place = np.unique(keys, return_inverse=True)
        summed = np.bincount(place, weights=amounts[pair] * self.bag.count[lines], minlength=len(different))
        first: IntArray = np.searchsorted(different, np.arange(len(pairs.first)) * len(self.order))
        return first, different % len(self.order), summed.astype(np.float64, copy=False)

    def _select_largest(self, first: IntArray, ranks: IntArray, amounts: FloatArray) -> LikeliestValues:
        """Select the largest amount of each person; of equals the value that is most frequent.

        first: int[people + 1]; ranks, amounts: [entries], those of person i from first[i] to first[i + 1]
        """
        some, people = np.diff(first) > 0, len(first) - 1
        value, chance = np.full(people, -1), np.zeros(people)
        if some.any():
            begins = first[:-1][some]
            largest = np.maximum.reduceat(amounts, begins)
            tied = amounts >= np.repeat(largest * _TIED, np.diff(first)[some])
            value[some] = self.order[np.minimum.reduceat(np.where(tied, ranks, len(self.order)), begins)]
            chance[some] = largest
        return LikeliestValues(value, chance, np.diff(first) == 1)
