"""Which lines and classes of a release may be about which people.

A line is a candidate for a person where the value known of the person is covered by the line's label, in each column
that both have. There are two ways to the same candidates:

- by key (`_KeyIndex`): where every value of a column is covered by one label only, that label says where to look. Of a
  raw table, or one whose columns each have a cut through a hierarchy, nothing has to be compared then;
- by bits (`LookupColumn.line_bits`): a bit for each line, column by column, for a block of people at once.

A label that nobody explains may cover any value. The sentences at the end say where that was so.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import BoolArray, Codes, IntArray
from sfumato.core.keys import pack_tuples
from sfumato.core.segments import expand_ranges
from sfumato.errors import listing, quote
from sfumato.labels.covered_values import looks_generalized
from sfumato.labels.label_overlap import DescribedLabels, LabelOverlap, find_overlap, find_unexplained
from sfumato.matching.people import KnownPeople
from sfumato.reading.release_view import ReleaseLines

BitWords = NDArray[np.uint64]
"""Booleans packed into words of 64 bits, line by line."""

_WORD_BITS = 64

_KEY_PAIR_COST = 32
"""A pair that is found by its key costs as much as so many that are compared bit by bit."""

_MOST_CACHED_BITS = 1 << 26
"""Columns of at most so many pairs of value and line are compared once for all people, others block by block."""

_LABELS_AT_ONCE = 1 << 24
"""Pairs of value and label that are compared together."""


@dataclass(frozen=True, eq=False)
class CandidatePairs:
    """Pairs of a person of a block and a class, or line, that may be about the person, sorted by person.

    `first` is where the pairs of each person begin (one more entry than persons), `candidates` the class or line of
    each pair.
    """

    first: IntArray
    candidates: IntArray

    @property
    def any_candidate(self) -> BoolArray:
        """Who has a candidate at all."""
        return np.diff(self.first) > 0

    @property
    def person_of(self) -> IntArray:
        """The person of each pair."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))


class LineLookup:
    """Tuples of values looked up among lines of labels: a line is a candidate where its labels cover all the values.

    `columns` have a code for each of `tuple_count` tuples, and for each of `line_count` lines.
    """

    def __init__(self, columns: "Mapping[str, LookupColumn]", tuple_count: int, line_count: int) -> None:
        self.columns, self.tuple_count, self.line_count = columns, tuple_count, line_count

    def blocks(self, cells: int) -> Iterator[tuple[int, int]]:
        """Divide tuples into blocks in which at most so many pairs are looked at together; of one tuple at least."""
        if self._key_index is None:
            step = max(cells // max(self.line_count, 1), 1)
            yield from ((start, min(start + step, self.tuple_count)) for start in range(0, self.tuple_count, step))
            return
        after, start = np.cumsum(np.maximum(self._key_index.candidates, 1)), 0
        while start < self.tuple_count:
            before = int(after[start - 1]) if start else 0
            end = max(int(np.searchsorted(after, before + cells, side="right")), start + 1)
            yield start, end
            start = end

    def candidate_lines(self, start: int, end: int) -> CandidatePairs:
        """Find the lines that may be about each of these tuples."""
        if self._key_index is not None:
            person, line = self._key_index.pairs(start, end)
        else:
            bits = np.full((end - start, -(-self.line_count // _WORD_BITS)), ~np.uint64(0))
            for column in self.columns.values():
                bits &= column.line_bits(start, end)
            person, line = _bit_places(bits, self.line_count)
        return CandidatePairs(np.searchsorted(person, np.arange(end - start + 1)), line)

    @cached_property
    def _key_index(self) -> "_KeyIndex | None":
        """Look tuples up by keys, where that leaves little to compare."""
        index = _index_by_key(list(self.columns.values()))
        if index is None or index.candidates.sum() * _KEY_PAIR_COST > self.tuple_count * self.line_count:
            return None
        return index


class PeopleLookup(LineLookup):
    """People looked up in a release, by the `comparable` columns: known of them, with labels that can be compared.

    `incomparable` are the columns whose labels do not say what values they cover. Where people are the release's own
    lines (`own_lines`), nothing is compared.
    """

    def __init__(self, people: KnownPeople, release: ReleaseLines, *, own_lines: bool = False) -> None:
        self.release, self.own_lines = release, own_lines
        shared = [name for name in release.quasi if name in people.columns]
        columns = {name: None if own_lines else _lookup_column(people, release, name) for name in shared}
        found = {name: column for name, column in columns.items() if column is not None}
        super().__init__(found, people.tuple_count, len(release.class_of))
        self.comparable = tuple(name for name in shared if own_lines or name in self.columns)
        self.incomparable = tuple(name for name in shared if not own_lines and name not in self.columns)

    def candidate_classes(self, start: int, end: int) -> CandidatePairs:
        """Find the classes that may be about each of these people; of the release's own lines, their own class."""
        if self.own_lines:
            return CandidatePairs(np.arange(end - start + 1), self.release.class_of[start:end])
        lines, classes = self.candidate_lines(start, end), len(self.release.sizes)
        keys = lines.person_of * classes + self.release.class_of[lines.candidates]
        # several lines of a class may be candidates, and its bag counts once
        keys = np.unique(keys) if len(self.release.class_of) > classes else np.sort(keys)
        return CandidatePairs(np.searchsorted(keys // classes, np.arange(end - start + 1)), keys % classes)


@dataclass(frozen=True, eq=False)
class LookupColumn:
    """A column of both sides: codes of people, below `width`; codes of lines, below `labels`; and which overlap."""

    people: Codes
    width: int
    lines: Codes
    labels: int
    overlap: LabelOverlap

    def line_bits(self, start: int, end: int) -> BitWords:
        """Compare these people with all lines: a bit for each line that this column does not rule out."""
        codes = self.people[start:end]
        if self.width * len(self.lines) <= _MOST_CACHED_BITS:
            return self._all_bits[codes]
        used, place = np.unique(codes, return_inverse=True)
        return pack_bits(self.overlap.overlaps(used.astype(np.int64))[:, self.lines])[place]

    def compare_pairs(self, people: IntArray, lines: IntArray) -> BoolArray:
        """Say of each pair of a person and a line whether the column allows it.

        people, lines: int[pairs]. Where values have many labels, some values are compared at a time: pairs are sorted
        by value, and those of values `low` to `low + step` are compared together.
        """
        values, labels = self.people[people], self.lines[lines]
        step = max(_LABELS_AT_ONCE // max(self.labels, 1), 1)
        if self.width <= step:
            return self._overlaps[values, labels]
        allowed, order = np.zeros(len(people), dtype=np.bool_), np.argsort(values, kind="stable")
        ends = np.searchsorted(values[order], np.arange(0, self.width + step, step))
        for low, (begin, end) in zip(range(0, self.width, step), pairwise(ends.tolist()), strict=True):
            pairs = order[begin:end]
            overlaps = self.overlap.overlaps(np.arange(low, min(low + step, self.width)))
            allowed[pairs] = overlaps[values[pairs].astype(np.int64) - low, labels[pairs]]
        return allowed

    @cached_property
    def single_label(self) -> IntArray | None:
        """For each value the one label that covers it, -1 where none does; nothing where several cover some value."""
        return self.overlap.single_overlap()

    @cached_property
    def _overlaps(self) -> BoolArray:
        return self.overlap.overlaps(np.arange(self.width))

    @cached_property
    def _all_bits(self) -> BitWords:
        return pack_bits(self.overlap.overlaps(np.arange(self.width))[:, self.lines])


def pack_bits(lines: BoolArray) -> BitWords:
    """Pack lines of booleans into words.

    >>> pack_bits(np.array([[True, False, True]])).tolist()
    [[5]]
    """
    bits = np.packbits(lines, axis=1, bitorder="little")
    short = -bits.shape[1] % 8
    return np.ascontiguousarray(np.pad(bits, ((0, 0), (0, short)))).view(np.uint64)


def _bit_places(words: BitWords, lines: int) -> tuple[IntArray, IntArray]:
    """Find the person and the line of each bit that is set, in order; only words that have one are unpacked.

    words: uint64[people, ceil(lines / 64)], where bits of the last word beyond `lines` may be set and do not count.
    """
    person, word = np.nonzero(words)
    bits = np.unpackbits(words[person, word].view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    place, bit = np.nonzero(bits)
    line = word[place] * _WORD_BITS + bit
    inside = line < lines
    return person[place][inside], line[inside]


def _lookup_column(people: KnownPeople, release: ReleaseLines, name: str) -> LookupColumn | None:
    """Compare a column of both sides; ``None`` where its labels do not say what they cover."""
    values, labels = people.columns[name], release.quasi[name]
    overlap = find_overlap(people.labels(name), _release_labels(release, name))
    return None if overlap is None else LookupColumn(values.codes, values.width, labels.codes, labels.width, overlap)


@dataclass(frozen=True, eq=False)
class _KeyIndex:
    """Lines in the order of their keys, and where those with the key of each person begin and end.

    `others` are the columns that are not part of the key, and still have to be compared.
    """

    order: IntArray
    begin: IntArray
    end: IntArray
    others: Sequence[LookupColumn]

    @property
    def candidates(self) -> IntArray:
        """How many lines have the key of each person."""
        return self.end - self.begin

    def pairs(self, start: int, end: int) -> tuple[IntArray, IntArray]:
        """Find the person, counted from `start`, and the line of each pair; in the order of persons and lines."""
        person, place = expand_ranges(self.begin[start:end], self.end[start:end])
        line = self.order[place]
        for column in self.others:
            allowed = column.compare_pairs(person + start, line)
            person, line = person[allowed], line[allowed]
        ordered = np.lexsort((line, person)) if self.others else slice(None)
        return person[ordered], line[ordered]


def _index_by_key(columns: Sequence[LookupColumn]) -> _KeyIndex | None:
    """Index lines by the columns in which each value is covered by one label; nothing where there is no such column.

    single: one int[people] per key column, the only label of each person's value, -1 where no label covers it.
    People and lines are packed together, so that equal keys mean equal labels.
    """
    key_columns = [column for column in columns if column.single_label is not None]
    if not key_columns:
        return None
    people = len(key_columns[0].people)
    single = [one.single_label[one.people] for one in key_columns if one.single_label is not None]
    covered = np.all([labels >= 0 for labels in single], axis=0)
    codes = [
        np.concatenate([np.maximum(one, 0), column.lines]) for one, column in zip(single, key_columns, strict=True)
    ]
    packed = pack_tuples(codes, [max(column.labels, 1) for column in key_columns]).keys
    person_keys, line_keys = np.split(packed, [people])
    order = np.argsort(line_keys, kind="stable")
    begin, end = (np.searchsorted(line_keys[order], person_keys, side=side) for side in ("left", "right"))
    others = [column for column in columns if column.single_label is None]
    return _KeyIndex(order, begin, np.where(covered, end, begin), others)


# What could not be made use of when people were looked up, in sentences.


def unexplained_notes(lookup: PeopleLookup) -> Iterator[str]:
    """Name the columns whose labels do not say what they cover, all or some; they may be anybody's."""
    release = lookup.release
    where = f"of {release.name}"
    for name in lookup.incomparable:
        yield f"Column '{name}' {where} was left out: its labels do not tell what values they stand for."
    for name in lookup.comparable:
        label = find_unexplained(_release_labels(release, name))
        if label is not None:
            what = f"has labels that it does not explain, such as {quote(label)}: they may be any value"
            yield f"Column '{name}' {where} {what}."
    masked = [entry["name"] for entry in release.manifest.columns if entry.get("masked")]
    looked_up = [name for name in lookup.comparable if name in masked]
    if looked_up and not lookup.own_lines:
        yield (
            f"Masked {where}: {listing(looked_up)}. People are looked up by true values, which their rows need not "
            "have there; who knows how a column was masked, and compares by nearness, may find more of them."
        )
    if not lookup.comparable:
        yield f"No column {where} is known, so that all its rows may be anybody's."


def text_comparison_notes(lookup: PeopleLookup) -> Iterator[str]:
    """Name the columns with labels that look as if they covered several values, but were compared by their text."""
    release = lookup.release
    for name in lookup.comparable:
        labels = _release_labels(release, name)
        if labels.coarse:
            how = "so that other values fit all its labels: a policy says what they stand for"
            yield f"Column '{name}' of {release.name} tells no value exactly, {how} (--policy)."
            continue
        label = next((one for one in labels.labels if one is not None and looks_generalized(one)), None)
        if labels.kind == "values" and not labels.entry.keys() & {"form", "covers"} and label is not None:
            how = "were compared by their text: a policy says what they stand for"
            yield f"Column '{name}' of {release.name} has labels such as {quote(label)}, which {how} (--policy)."


def _release_labels(release: ReleaseLines, name: str) -> DescribedLabels:
    return DescribedLabels(release.quasi[name].texts, release.entry(name))
