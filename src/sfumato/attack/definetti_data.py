"""What the deFinetti attack works on: the bags of a column, a sample of profiles, and what is true about them.

A *bag* is how often each sensitive value occurs in a class. A *profile* is a combination of quasi-identifier values;
people who share it cannot be told apart by the adversary. A *cell* is the lines of one profile in one class.

Small releases are looked at whole. Of a large one a sample is drawn, under two conditions: to train a learner takes
whole classes, or a good part of very large ones, and to guess about somebody takes all classes in which their profile
occurs, since with some of them missing the attack would look worse than it is. So profiles are put in a random order,
and classes follow the first of their profiles.

The truth comes from the original table. The learner never sees it; it is for counting what the learner got right.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.attack.bound import Bound
from sfumato.core.arrays import BoolArray, Codes, FloatArray, IntArray, count_codes, narrow_codes
from sfumato.core.classes import Histogram, SensitiveDomain, count_values
from sfumato.core.keys import pack_tuples
from sfumato.core.segments import run_starts, sum_by_group
from sfumato.encode import CodedColumn, EncodedTable, encode_column
from sfumato.errors import DataError
from sfumato.policy import Policy
from sfumato.split import TwoTables
from sfumato.split.two_tables import NAME_THE_ORIGINAL, check_row_count, codes_in_original
from sfumato.table import Table

MAX_VALUES = 10_000
"""Of more values than these, all but the most frequent are merged into one, which is never guessed."""

MAX_LINES = 2_000_000
"""The most lines that are sorted to draw from."""

MAX_SCORES = 200_000_000
"""The most pairs of a profile and any value, times quasi-identifiers."""

MAX_BINS = 100
"""Columns with more values are put into so many bins."""

MAX_LEARNER_ENTRIES = 16_000_000
"""The most entries of all tables of a learner together: bins times values times columns."""

_MIN_CELLS_OF_CLASS = 10
"""Of no class fewer cells are looked at than this, unless it has fewer."""

_MIN_TARGETS = 100
"""Fewer profiles than these say nothing about an accuracy."""

_NO_PROFILE = np.iinfo(np.int64).max


# The bags of one sensitive column


@dataclass(frozen=True, eq=False)
class MergedBag:
    """The bags of a sensitive column: `published`, and `merged` as the learner sees them.

    Where there are too many values to learn about, the rarest are merged into one. `merged_code` gives for each value
    of the column the value that stands for it in `merged`; `guessable` are the values of `merged` that occur and stand
    for one value alone.
    """

    published: Histogram
    merged: Histogram
    merged_code: IntArray
    guessable: BoolArray

    @property
    def blind(self) -> float:
        """The share of the most frequent value in the whole table."""
        return float(np.bincount(self.published.value, self.published.count).max() / self.published.count.sum())

    def guessable_codes(self, codes: IntArray) -> IntArray:
        """Translate codes of the column to merged ones; -1 where the code is -1, or merged with others.

        >>> from sfumato.core.classes import EquivalenceClasses
        >>> classes = EquivalenceClasses.of([0, 0, 0], illness=["flu", "flu", "HIV"])
        >>> merge_rare_values(classes.sensitive["illness"]).guessable_codes(np.array([-1, 0, 1]))
        array([-1,  0,  1])
        """
        merged = self.merged_code[codes]
        return np.where((codes >= 0) & self.guessable[merged], merged, -1)

    def protected_values(self, bound: Bound | None) -> BoolArray:
        """Tell which of the learner's values a bound is about."""
        protected = np.zeros_like(self.guessable)
        protected[self.merged_code[self._bounded_values(bound)]] = True
        return protected & self.guessable

    def largest_share(self, sizes: IntArray, bound: Bound | None) -> float:
        """Find the largest share of a class that is of a value which a bound is about."""
        share = self.published.count / sizes[self.published.class_of]
        return float(share[self._bounded_values(bound)[self.published.value]].max(initial=0.0))

    def _bounded_values(self, bound: Bound | None) -> BoolArray:
        """Tell which published values a bound is about: all, where it names none or is none."""
        values = self.published.domain.values
        if bound is None or bound.values is None:
            return np.ones(len(values), dtype=np.bool_)
        return np.array([value in bound.values for value in values], dtype=np.bool_)


def merge_rare_values(published: Histogram) -> MergedBag:
    """Merge all but the most frequent values into one, where there are more than `MAX_VALUES`."""
    width = len(published.domain.values)
    totals = np.bincount(published.value, weights=published.count, minlength=width)
    if width <= MAX_VALUES:
        return MergedBag(published, published, np.arange(width), totals > 0)
    code = np.full(width, MAX_VALUES - 1)
    code[np.argsort(-totals, kind="stable")[: MAX_VALUES - 1]] = np.arange(MAX_VALUES - 1)
    merged_totals = np.bincount(code, weights=totals, minlength=MAX_VALUES).astype(np.int64)
    domain = SensitiveDomain(("",) * MAX_VALUES, merged_totals)
    merged = count_values(published.class_of, code[published.value], published.count, domain)
    return MergedBag(published, merged, code, np.arange(MAX_VALUES) < MAX_VALUES - 1)


# The sample


@dataclass(frozen=True, eq=False)
class SampleLimits:
    """The most cells and links to look at, the links that a cell of each class has, and the number of values."""

    cells: int
    links: int
    links_of_cell: IntArray
    values: int

    @classmethod
    def from_bag(cls, cells: int, links: int, quasi: int, bag: Histogram) -> "SampleLimits":
        """Derive limits from the number of quasi-identifiers, each of which is looked up at each link, and the bags."""
        values = len(bag.domain.values)
        most = max(min(cells, MAX_SCORES // (quasi * values)), 1)
        return cls(most, max(links // quasi, 1), np.bincount(bag.class_of), values)


@dataclass(frozen=True, eq=False)
class ProfileSample:
    """The cells that are looked at, and the profiles they are of.

    Each of c cells has its `profile`, its class in `class_of` and its number of `lines` (three arrays of length c).
    Each of p profiles has, for each quasi-identifier, its code in `codes` and the bin of this code in `bin_of`: a
    learner sees bins, as many as `bins` says, where a column has many values. `targets` are the profiles that guesses
    are made about.
    """

    profile: IntArray
    class_of: IntArray
    lines: FloatArray
    codes: tuple[IntArray, ...]
    bin_of: tuple[IntArray, ...]
    bins: tuple[int, ...]
    targets: BoolArray

    @property
    def weight(self) -> FloatArray:
        """The lines of each profile; 0 where no guess is made about it."""
        return sum_by_group(self.profile, self.lines, len(self.targets)) * self.targets

    def select(self, classes: BoolArray) -> "ProfileSample":
        """Keep the cells of some classes."""
        inside = classes[self.class_of]
        return replace(self, profile=self.profile[inside], class_of=self.class_of[inside], lines=self.lines[inside])


def draw_sample(tables: TwoTables, limits: SampleLimits, rng: np.random.Generator) -> ProfileSample:
    """List the cells of two tables, or of a sample of their classes where they exceed the limits.

    order:                   int[n], a random number for each line, equal for lines of one profile
    ranks:                   int[p], these numbers of the p profiles, in order: profiles are numbered by them
    class_of, profile:       int[c], of each cell, sorted by class and then by profile
    line, lines:             int[c], a line of each cell, and how many it has
    numbers, place, own:     profiles of the cells that are chosen, a cell of each, and which of them each cell has
    """
    packed = pack_tuples([column.codes for column in tables.quasi], [column.width for column in tables.quasi])
    order = scramble_keys(packed.keys, rng)
    classes = _select_classes(order, tables.class_of, tables.sizes)
    rows = np.flatnonzero(classes.chosen[tables.class_of])
    ranks, profile = np.unique(order[rows], return_inverse=True)
    width = max(len(ranks), 1)
    keys, line, cell = np.unique(tables.class_of[rows] * width + profile, return_index=True, return_inverse=True)
    lines = count_codes(cell, len(keys), None if tables.counts is None else tables.counts.take(rows))
    class_of, profile = np.divmod(keys, width)
    cells = _select_cells(profile, class_of, limits)
    incomplete = min(cells.incomplete, int(np.searchsorted(ranks, classes.incomplete)))
    chosen = np.flatnonzero(cells.chosen)
    numbers, place, own = np.unique(profile[chosen], return_index=True, return_inverse=True)
    codes = tuple(column.codes.take(rows[line[chosen[place]]]).astype(np.int64) for column in tables.quasi)
    binned = [
        bin_values(column.texts, code, limits.values * len(codes))
        for column, code in zip(tables.quasi, codes, strict=True)
    ]
    targets: BoolArray = numbers < incomplete
    return ProfileSample(
        profile=own,
        class_of=class_of[chosen],
        lines=lines[chosen].astype(np.float64),
        codes=codes,
        bin_of=tuple(bin_of.take(code) for (bin_of, _), code in zip(binned, codes, strict=True)),
        bins=tuple(bins for _, bins in binned),
        targets=targets if targets.sum() >= _MIN_TARGETS else np.ones(len(numbers), dtype=np.bool_),
    )


def scramble_keys(keys: IntArray, rng: np.random.Generator) -> IntArray:
    """Replace keys by numbers in another order, equal for equal keys alone.

    Two multiplications by odd numbers and a shift in between: each step can be undone, so that no two keys meet.
    """
    factors = rng.integers(0, 1 << 62, 2).astype(np.uint64) * np.uint64(2) + np.uint64(1)
    mixed = keys.astype(np.uint64) * factors[0]
    mixed ^= mixed >> np.uint64(31)
    mixed *= factors[1]
    order: IntArray = mixed.view(np.int64)
    return order


@dataclass(frozen=True, eq=False)
class _Selection:
    """The classes or cells that are `chosen`, and the first profile, in random order, that is `incomplete` in them."""

    chosen: BoolArray
    incomplete: int


def _select_classes(order: IntArray, class_of: IntArray, sizes: IntArray) -> _Selection:
    """Choose the classes of the first profiles, with `MAX_LINES` lines at most, before anything is sorted."""
    if len(class_of) <= MAX_LINES:
        return _Selection(np.ones(len(sizes), dtype=np.bool_), _NO_PROFILE)
    earliest = np.full(len(sizes), _NO_PROFILE)
    np.minimum.at(earliest, class_of, order)
    return _take_first(earliest, [(sizes, MAX_LINES)])


def _select_cells(profile: IntArray, class_of: IntArray, limits: SampleLimits) -> _Selection:
    """Choose cells within the limits: of the classes that come first, and of huge classes some of the cells.

    profile, class_of:  int[c], sorted by class and then by profile; profiles are numbered in random order
    begins, sizes:      int[g], the first cell and the number of cells of each class
    room:               int[g], how many cells of a class are looked at: an even share of the limits, but
                        `_MIN_CELLS_OF_CLASS` at least
    """
    if len(profile) <= limits.cells and int(limits.links_of_cell[class_of].sum()) <= limits.links:
        return _Selection(np.ones(len(profile), dtype=np.bool_), _NO_PROFILE)
    begins = run_starts(class_of)
    cost, sizes = limits.links_of_cell[class_of[begins]], np.diff(begins, append=len(class_of))
    room = np.maximum(np.minimum(limits.cells, limits.links // cost) // len(begins), _MIN_CELLS_OF_CLASS)
    cells = np.minimum(sizes, room)
    classes = _take_first(profile[begins], [(cells, limits.cells), (cells * cost, limits.links)])
    inside, place = np.repeat(classes.chosen, sizes), np.arange(len(class_of)) - np.repeat(begins, sizes)
    chosen = inside & (place < np.repeat(room, sizes))
    return _Selection(chosen, min(classes.incomplete, int(profile[inside & ~chosen].min(initial=_NO_PROFILE))))


def _take_first(earliest: IntArray, costs: list[tuple[IntArray, int]]) -> _Selection:
    """Choose the classes whose earliest profile comes first, as many as every limit allows, but one at least."""
    order = np.argsort(earliest, kind="stable")
    fits = np.all([np.cumsum(cost[order]) <= most for cost, most in costs], axis=0)
    fits[0] = True
    chosen = np.zeros(len(order), dtype=np.bool_)
    chosen[order[fits]] = True
    return _Selection(chosen, int(earliest[~chosen].min(initial=_NO_PROFILE)))


def bin_values(texts: Sequence[str | None], codes: Codes, entries: int) -> tuple[IntArray, int]:
    """Find a bin for each code of a column, and the number of bins.

    A learner has to see a value often enough to learn something about it. So neighbouring values share a bin, each bin
    of about as many lines; they are ordered as numbers where all are, else as text, which keeps dates and prefixes
    together. NULL has a bin of its own. `entries` is how many entries of the learner each bin costs.

    >>> bin_values(("a", "b", None), np.array([0, 1, 1, 2]), 1)
    (array([0, 1, 2]), 3)
    >>> bins, _ = bin_values([str(i) for i in range(1000)], np.arange(1000), 1)
    >>> bins[[0, 9, 98, 998, 999]]
    array([ 0,  0,  9, 98, 98])
    """
    most = min(MAX_BINS, max(MAX_LEARNER_ENTRIES // entries, 2))
    if len(texts) <= most:
        return np.arange(len(texts)), len(texts)
    lines = np.bincount(codes, minlength=len(texts))
    values = {code: text for code in np.flatnonzero(lines).tolist() if (text := texts[code]) is not None}
    numbers = {code: _number(text) for code, text in values.items()}
    sort_key = numbers if all(map(math.isfinite, numbers.values())) else values
    order = np.array(sorted(values, key=lambda code: sort_key[code]), dtype=np.int64)
    before = np.cumsum(lines[order]) - lines[order]
    bins = np.full(len(texts), most - 1)
    bins[order] = before * (most - 1) // max(int(lines[order].sum()), 1)
    return bins, most


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


# The truth, from the original table


@dataclass(frozen=True, eq=False)
class Original:
    """The original rows: quasi-identifiers and sensitive columns as codes, by name.

    Where lines are counted, a code is that of a line, and `counts` are the rows of each.
    """

    columns: Mapping[str, CodedColumn]
    counts: IntArray | None = None

    @classmethod
    def of_table(cls, table: Table, policy: Policy) -> "Original":
        """Take the original as it was read."""
        return cls({column.name: encode_column(table, column.name) for column in (*policy.quasi, *policy.sensitive)})

    @classmethod
    def of_encoded(cls, encoded: EncodedTable) -> "Original":
        """Take the original as it was encoded for the release."""
        return cls({column.name: column.column for column in encoded.quasi} | dict(encoded.sensitive), encoded.counts)

    @property
    def lines(self) -> int:
        """The number of lines: of rows, unless these are counted."""
        return len(next(iter(self.columns.values())).codes)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.lines if self.counts is None else int(self.counts.sum())


@dataclass(frozen=True, eq=False)
class TrueCounts:
    """Rows of the original for each profile, and for each pair of profile and value that occurs.

    rows:           int[p]
    pairs, counts:  int[n], in order: profile times `values` plus value, and its rows
    """

    rows: IntArray
    pairs: IntArray
    counts: IntArray
    values: int

    def share(self, profile: IntArray, value: IntArray) -> FloatArray:
        """Look up the share of the rows of a profile that have a value: how often this guess about it is right."""
        keys = profile * self.values + value
        place = np.searchsorted(self.pairs, keys)
        place[place == len(self.pairs)] = 0
        rows = np.where(self.pairs[place] == keys, self.counts[place], 0)
        return rows / self.rows[profile]


def look_up_truth(
    original: Original, tables: TwoTables, sample: ProfileSample, name: str, bag: MergedBag
) -> TrueCounts:
    """Count the original rows of each profile and value; `DataError` where the original lacks lines of the release.

    Rows that were not published count like others of their profile: nobody outside can tell which they are.
    """
    check_row_count(tables.rows, original.rows)
    profile = _profile_of_rows(original, tables, sample)
    lines = np.bincount(sample.profile, weights=sample.lines).astype(np.int64)
    rows = count_codes(profile, len(lines) + 1, original.counts)[:-1]
    lacking = int(np.maximum(lines - rows, 0).sum())
    if lacking:
        why = f"{lacking:,} of {lines.sum():,} lines of the release have quasi-identifiers of no row of the original"
        raise DataError(f"{why}; {NAME_THE_ORIGINAL}")
    column = original.columns[name]
    value = bag.guessable_codes(_released_codes(column, bag.published.domain.values))[column.codes]
    counted = (profile < len(rows)) & (value >= 0)
    values = len(bag.guessable)
    pairs, place = np.unique(profile[counted] * values + value[counted], return_inverse=True)
    counts = count_codes(place, len(pairs), None if original.counts is None else original.counts[counted])
    return TrueCounts(rows, pairs, counts, values)


def _profile_of_rows(original: Original, tables: TwoTables, sample: ProfileSample) -> IntArray:
    """Find the profile of each row of the original: int[n]; one more than there are where it has none of them.

    Profiles and rows are packed together, so that equal tuples get equal keys.
    """
    columns, inside = [], np.ones(original.lines, dtype=np.bool_)
    for quasi, codes in zip(tables.quasi, sample.codes, strict=True):
        column = original.columns[quasi.name]
        released = _released_codes(column, quasi.texts)
        inside &= (released >= 0)[column.codes]
        row = narrow_codes(np.maximum(released, 0), quasi.width)[column.codes]
        columns.append(np.concatenate([narrow_codes(codes, quasi.width), row]))
    packed = pack_tuples(columns, [quasi.width for quasi in tables.quasi])
    keys, rows = np.split(packed.keys, [len(sample.codes[0])])
    order = np.argsort(keys)
    profile = order[np.minimum(np.searchsorted(keys, rows, sorter=order), len(keys) - 1)]
    return np.where(inside & (keys[profile] == rows), profile, len(keys))


def _released_codes(column: CodedColumn, texts: Sequence[str | None]) -> IntArray:
    """Find for each code of an original column the code that the release has for the same value; -1 without one."""
    codes = np.full(column.width, -1)
    codes[codes_in_original(texts, column)] = np.arange(len(texts))
    return codes
