"""Which labels of two columns overlap: those that cover a value in common.

One column may be what somebody knows of people, the other that of a release; or both are of releases. Labels that list
their values overlap where the lists do (`ListedOverlap`). Numbers, units of the calendar and masked texts are spans on
a line, and overlap where the spans do (`SpanOverlap`): numbers as they are, dates as days, masked texts by what they
begin with. A label that nobody explains may cover any value, and overlaps all: that is never wrong, if it is
more than could be known.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from functools import partial
from math import ceil, floor, inf, lcm
from typing import Any, NamedTuple, Protocol

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.segments import expand_ranges
from sfumato.hierarchy.hierarchy import ROOT, Label
from sfumato.hierarchy.intervals import read_number_or_range
from sfumato.hierarchy.mask import read_masked
from sfumato.labels.covered_values import PLAIN_NUMBER, CalendarDates, listed_values
from sfumato.labels.data_dictionary import DATES, MASKS, NUMBERS, VALUES, Entry, is_aggregate, label_kind

MEANS = "means"

_DENSE_CELLS = 1 << 20
"""Cells of a matrix that need not be sparse."""
_ENDLESS_DAY = date(9998, 12, 31).toordinal()
"""A span of the calendar that reaches this day goes on for ever: the calendar ends within a year."""
_AFTER = chr(0x10FFFF)
_NUMBER = re.compile(PLAIN_NUMBER)


@dataclass(frozen=True, eq=False)
class DescribedLabels:
    """The labels of a column, and its entry in the data dictionary; an empty one says that each is a value itself."""

    labels: Sequence[Label]
    entry: Entry

    @property
    def kind(self) -> str:
        """What labels are: as `label_kind` has it, or means of classes and the like, which do not say what they cover.

        >>> DescribedLabels([], {"integers": True}).kind, DescribedLabels([], {"covers": {}}).kind
        ('numbers', 'values')
        """
        return MEANS if is_aggregate(self.entry) else label_kind(self.entry)

    @property
    def coarse(self) -> bool:
        """Whether the leaves of a hierarchy file are listed no more exactly than it may be published.

        >>> coarse, dated = DescribedLabels([], {"least": 1}), DescribedLabels([], {"least": 1, "dates": ["year"]})
        >>> coarse.coarse, dated.coarse
        (True, False)
        """
        return self.kind == VALUES and bool(self.entry.get("least"))

    def listed(self) -> list[Sequence[Label] | None]:
        """List the values under each label; ``None`` where it may cover any value, or is not explained.

        A star may cover any value here even where the entry lists the values under it, which a query goes by.

        >>> entry = {"covers": {"service": ["cook", "porter"]}}
        >>> DescribedLabels(["nurse", "service", "*", None], entry).listed()
        [['nurse'], ['cook', 'porter'], None, [None]]
        >>> DescribedLabels(["{Bern, Thun}", "{a,b}"], {"form": "sets"}).listed()
        [('Bern', 'Thun'), None]
        """
        lists: list[Sequence[Label] | None] = []
        for label in self.labels:
            try:
                values = [None] if label is None else [] if label == ROOT else listed_values(self.entry, label)
            except ValueError:  # it is no set
                values = []
            lists.append(values or None)
        return lists


class LabelOverlap(Protocol):
    """Which labels of the right of two columns overlap labels of the left one, which are given by their places."""

    def overlaps(self, places: IntArray) -> BoolArray:
        """Give a line for each of these labels, with a column for each label of the right column."""
        ...

    def single_overlap(self) -> IntArray | None:
        """For each label find the one that overlaps it, -1 where none does; ``None`` where several may."""
        ...


def find_overlap(left: DescribedLabels, right: DescribedLabels) -> LabelOverlap | None:
    """Find how labels of two columns overlap; ``None`` where nobody can say, and every label may overlap every other.

    A value may be missing from a release because it must not be published so exactly; it may be under any label.

    >>> persons = DescribedLabels(["37", "52", None], {})
    >>> overlap = find_overlap(persons, DescribedLabels(["30-39", "*", None], {"integers": True}))
    >>> overlap.overlaps(np.arange(3)).tolist()
    [[True, True, False], [False, True, False], [False, True, True]]
    """
    kinds = {left.kind, right.kind}
    if MEANS in kinds or len(kinds - {VALUES}) > 1:
        return None
    if kinds == {MASKS} and left.entry["mask"]["side"] != right.entry["mask"]["side"]:
        return None
    if kinds == {VALUES}:
        return ListedOverlap(*_alike_numbers(_compared_values(left, right), _compared_values(right, left)))
    return _compare_spans(left, right)


def find_unexplained(column: DescribedLabels) -> Label:
    """Find a label of which its release does not say what it covers, if there is one; a star covers any value.

    >>> find_unexplained(DescribedLabels(["*", "30-39", "old"], {"integers": True}))
    'old'
    >>> find_unexplained(DescribedLabels(["*", None, "f"], {})) is None
    True
    """
    if column.kind == MEANS:
        return next((label for label in column.labels if label is not None and label != ROOT), None)
    values = column.kind == VALUES
    covered: Sequence[object] = column.listed() if values else _label_spans(column, _span_reader(column, column))
    pairs = zip(column.labels, covered, strict=True)
    return next((label for label, content in pairs if content is None and label != ROOT), None)


def _compared_values(column: DescribedLabels, other: DescribedLabels) -> list[Sequence[Label] | None]:
    """List the values under each label; ``None`` for one of which the other column cannot say what it has it under."""
    if not other.coarse:
        return column.listed()
    listed = {value for values in other.listed() for value in values or ()}
    return [values if values and listed.issuperset(values) else None for values in column.listed()]


def _alike_numbers(*columns: list[Sequence[Label] | None]) -> Iterator[list[Sequence[Label] | None]]:
    """Write numbers alike, where one of the columns has no other values: what pandas wrote as 20.0 is 20 elsewhere.

    Codes such as 0501 are no plain numbers, and a column of them and of 250.0 stays as it is.

    >>> list(_alike_numbers([["20.0"], ["1.50"]], [["20"], ["old"], None]))
    [[['20'], ['1.5']], [['20'], ['old'], None]]
    >>> list(_alike_numbers([["250.0"], ["V10"]], [["250"], ["0501"]]))
    [[['250.0'], ['V10']], [['250'], ['0501']]]
    """
    different = [{value for listed in column for value in listed or () if value is not None} for column in columns]
    written = {value for values in different for value in values if "." in value and _NUMBER.fullmatch(value)}
    if not written or not any(all(map(_NUMBER.fullmatch, values)) for values in different):
        yield from columns
        return
    plain: dict[Label, Label] = {value: value.rstrip("0").rstrip(".") for value in written}
    for column in columns:
        yield [None if listed is None else [plain.get(value, value) for value in listed] for listed in column]


class ListedOverlap:
    """Labels that list their values; ``None`` lists any.

    left:   0/1 [n, v] for n labels of the left column and v different values
    right:  0/1 [v, m] for m labels of the right one, so that the product counts common values
    """

    def __init__(self, left: Sequence[Sequence[Label] | None], right: Sequence[Sequence[Label] | None]) -> None:
        different = {value: 0 for values in (*left, *right) for value in values or ()}
        place = {value: i for i, value in enumerate(different)}
        dense = max(len(left), len(right)) * len(place) <= _DENSE_CELLS
        self.left = _incidence(left, place, dense=dense)
        self.right = _incidence(right, place, dense=dense).T
        self.any_left = np.array([values is None for values in left], dtype=bool)
        self.any_right = np.array([values is None for values in right], dtype=bool)

    def overlaps(self, places: IntArray) -> BoolArray:
        """Give a line for each of these labels, with a column for each label of the right column."""
        common = self.left[places] @ self.right
        overlap: BoolArray = (common if isinstance(common, np.ndarray) else common.toarray()) > 0
        overlap |= self.any_left[places][:, np.newaxis]
        overlap |= self.any_right
        return overlap

    def single_overlap(self) -> IntArray | None:
        """For each label find the one that overlaps it, -1 where none does; ``None`` where several may."""
        if self.any_left.any() or self.any_right.any():
            return None
        label, other = (self.left @ self.right).nonzero()
        if len(np.unique(label)) < len(label):
            return None
        single = np.full(self.left.shape[0], -1)
        single[label] = other
        return single


def _incidence(lists: Sequence[Sequence[Label] | None], place: Mapping[Label, int], *, dense: bool) -> Any:
    """Make the matrix of which label (line) lists which value (column): a sparse one where it is not `dense`."""
    counts = [len(values or ()) for values in lists]
    columns = np.array([place[value] for values in lists for value in values or ()], dtype=np.int64)
    shape = (len(lists), len(place))
    if dense:
        matrix = np.zeros(shape, dtype=np.float32)
        matrix[np.repeat(np.arange(len(lists)), counts), columns] = 1
        return matrix
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import, and every report looks labels up

    return csr_array((np.ones(len(columns), dtype=np.int32), columns, np.cumsum([0, *counts])), shape=shape)


class LabelSpan(NamedTuple):
    """From `low` to `high`, which is part of it unless it is `open`; texts have `shortest` to `longest` characters."""

    low: Any
    high: Any
    open: bool = False
    shortest: int = 0
    longest: int = 0


Spans = list[LabelSpan] | None
"""The spans of a label; ``None`` for one that may cover any value, or that is not explained."""
_NULL = LabelSpan(None, None)
_EMPTY = LabelSpan(0, -1)


def _compare_spans(left: DescribedLabels, right: DescribedLabels) -> "SpanOverlap":
    """Put two columns on one line: numbers, dates or masked texts, of which one may have values."""
    both = [_label_spans(column, _span_reader(column, other)) for column, other in ((left, right), (right, left))]
    if NUMBERS in {left.kind, right.kind}:
        both = _scale_spans(both, whole=any(column.entry.get("integers") is True for column in (left, right)))
    spans = [span for column in both for label in column for span in label or () if span is not _NULL]
    # Ends become even numbers in their order, so that a span which is open there ends at the odd one before.
    place = {end: 2 * i for i, end in enumerate(sorted({end for span in spans for end in span[:2]}))}
    return SpanOverlap(*(SpanTable.from_spans(column, place) for column in both))


def _span_reader(column: DescribedLabels, other: DescribedLabels) -> Callable[[str], LabelSpan | None]:
    """Choose how the labels of a column are read: by its own entry, or values as the other's entry says."""
    own = column.kind != VALUES
    kind, entry = (column.kind, column.entry) if own else (other.kind, other.entry)
    if kind == NUMBERS:
        return _read_number_span
    if kind == DATES:
        return partial(_read_date_span, CalendarDates(tuple(entry["dates"]) if own else (), entry.get("date_format")))
    return partial(_read_mask_span, entry["mask"]["side"], entry["mask"].get("length") if own else None)


def _read_number_span(text: str) -> LabelSpan | None:
    """Read a number or a range of numbers.

    >>> _read_number_span("35-39"), _read_number_span("[1.5, 2)"), _read_number_span("old")
    (LabelSpan(low=Fraction(35, 1), high=Fraction(39, 1), open=False, ...), LabelSpan(..., open=True, ...), None)
    """
    numbers = read_number_or_range(text)
    return None if numbers is None else LabelSpan(numbers.low, numbers.high, not numbers.closed)


def _read_date_span(calendar: CalendarDates, text: str) -> LabelSpan | None:
    """Read a unit of the calendar as days, counted from the first of all; a date with its time as its day.

    >>> span = _read_date_span(CalendarDates(("month",)), "1970-02")
    >>> span.high - span.low
    27
    """
    try:
        ends = calendar.first_and_last(text)
        if ends is None:
            return None
        first, last = _first_and_last_day(ends[0])[0], _first_and_last_day(ends[1])[1]
    except (ValueError, OverflowError):
        return None
    return LabelSpan(first, inf if last >= _ENDLESS_DAY else last)


def _first_and_last_day(text: str) -> tuple[int, int]:
    """The days of a date in ISO form, or of a month or a year."""
    if len(text) not in {4, 7}:
        day = datetime.fromisoformat(text).toordinal()
        return day, day
    year, first, last = int(text[:4]), int(text[5:] or 1), int(text[5:] or 12)
    return date(year, first, 1).toordinal(), date(year, last, monthrange(year, last)[1]).toordinal()


def _read_mask_span(side: str, length: int | None, text: str) -> LabelSpan:
    """Read a masked text: all texts with its stem lie between the stem and the stem with the last of all characters.

    >>> _read_mask_span("right", None, "435*")[3:], _read_mask_span("right", 6, "435***")[3:]
    ((4, 4), (3, 6))
    """
    stem, shortest, longest = read_masked(text, side=side, length=length)
    return LabelSpan(stem, stem + _AFTER, shortest=shortest, longest=longest)


def _label_spans(column: DescribedLabels, read: Callable[[str], LabelSpan | None]) -> list[Spans]:
    """Read the spans of each label; values that are no number, date or text with a stem have none."""
    if column.kind == VALUES:
        lists = [None if values is None else list(_read_values(values, read)) for values in column.listed()]
        # The value of such a column may be one that is not published so exactly.
        return [spans or None for spans in lists] if column.coarse else lists
    spans = [_NULL if label is None else None if label == ROOT else read(label) for label in column.labels]
    return [None if span is None else [span] for span in spans]


def _read_values(values: Sequence[Label], read: Callable[[str], LabelSpan | None]) -> Iterator[LabelSpan]:
    for value in values:
        span = _NULL if value is None else read(value)
        if span is not None:
            yield span


def _scale_spans(both: Sequence[Sequence[Spans]], *, whole: bool) -> list[list[Spans]]:
    """Turn numbers into whole ones, which are compared quickly: multiples of a fraction that all of them are.

    Where a column has `whole` numbers only, spans shrink to the whole numbers within.
    """
    spans = [span for column in both for label in column for span in label or () if span is not _NULL]
    ends = [end for span in spans for end in span[:2] if not is_endless(end)]
    common = 1 if whole else lcm(*{Fraction(end).denominator for end in ends})

    def scale(span: LabelSpan) -> LabelSpan:
        if span is _NULL:
            return span
        if whole:
            return shrink_to_whole(span)
        low, high = (end if is_endless(end) else int(end * common) for end in span[:2])
        return LabelSpan(low, high, span.open)

    return [[label and [scale(span) for span in label] for label in column] for column in both]


def shrink_to_whole(span: LabelSpan) -> LabelSpan:
    """Shrink a span to the whole numbers within; it ends before it begins where there are none.

    >>> shrink_to_whole(LabelSpan(Fraction(3, 2), Fraction(4), open=True))[:3]
    (2, 3, False)
    """
    low = span.low if is_endless(span.low) else ceil(span.low)
    if is_endless(span.high):
        return LabelSpan(low, span.high)
    return LabelSpan(low, ceil(span.high) - 1 if span.open else floor(span.high))


def is_endless(end: Any) -> bool:
    """Whether a span has no end there; `isinf` would take fractions for floating-point numbers, which may be too large.

    >>> is_endless(inf), is_endless(Fraction(10**400))
    (True, False)
    """
    return isinstance(end, float)


@dataclass(frozen=True, eq=False)
class SpanTable:
    """The s spans of all n labels of a column, by the places of their ends on a common line.

    first:              int[n], the first span of each label, whose spans are neighbours
    low, high:          int[s], both ends included; an empty span ends before it begins
    shortest, longest:  int[s], how many characters texts have; 0 where there are no texts
    anything:           bool[n], labels that may cover any value
    """

    first: IntArray
    low: IntArray
    high: IntArray
    shortest: IntArray
    longest: IntArray
    anything: BoolArray

    @classmethod
    def from_spans(cls, column: Sequence[Spans], place: Mapping[Any, int]) -> "SpanTable":
        """Put the spans of each label in their places, `place` by end; NULL is behind all of them.

        Each label has a span at least, which may be empty: so `reduceat` finds those of every label.
        """
        after = 2 * len(place) + 2
        counts, lines = [], []
        for label in column:
            spans = label or [_EMPTY]
            counts.append(len(spans))
            for span in spans:
                if span is _NULL:
                    lines.append((after, after, 0, 0))
                elif span.low > span.high:
                    lines.append((after + 1, -1, 0, 0))
                else:
                    lines.append((place[span.low], place[span.high] - span.open, span.shortest, span.longest))
        first = np.cumsum(counts, dtype=np.int64) - counts
        low, high, shortest, longest = np.array(lines, dtype=np.int64).reshape(-1, 4).T
        anything = np.array([label is None for label in column], dtype=bool)
        return cls(first, low, high, shortest, longest, anything)

    def select(self, labels: IntArray) -> "SpanTable":
        """Take the spans of some labels."""
        ends = np.append(self.first, len(self.low))
        label, chosen = expand_ranges(ends[labels], ends[labels + 1])
        first = np.searchsorted(label, np.arange(len(labels)))
        low, high, shortest, longest = self.low[chosen], self.high[chosen], self.shortest[chosen], self.longest[chosen]
        return SpanTable(first, low, high, shortest, longest, self.anything[labels])


@dataclass(frozen=True, eq=False)
class SpanOverlap:
    """Two columns on one line."""

    left: SpanTable
    right: SpanTable

    def overlaps(self, places: IntArray) -> BoolArray:
        """Give a line for each of these labels, with a column for each label of the right column.

        All pairs of spans are compared, bool[s, t]; then those of each label are united, bool[n, m].
        """
        left, right = self.left.select(places), self.right
        overlap = (left.low[:, np.newaxis] <= right.high) & (right.low <= left.high[:, np.newaxis])
        if right.longest.any():
            overlap &= left.shortest[:, np.newaxis] <= right.longest
            overlap &= right.shortest <= left.longest[:, np.newaxis]
        if len(left.first) < len(overlap):
            overlap = np.logical_or.reduceat(overlap, left.first, axis=0)
        if len(right.first) < overlap.shape[1]:
            overlap = np.logical_or.reduceat(overlap, right.first, axis=1)
        overlap |= left.anything[:, np.newaxis]
        overlap |= right.anything
        return overlap

    def single_overlap(self) -> IntArray | None:
        """For each label find the one that overlaps it, -1 where none does; ``None`` where several may.

        If the right spans lie apart, a left one can only overlap the last of them that begins no later than it does,
        unless it reaches the one after that.
        """
        left, right = self.left, self.right
        several = len(left.first) < len(left.low) or len(right.first) < len(right.low)
        order = np.argsort(right.low, kind="stable")
        low, high = right.low[order], right.high[order]
        if several or left.anything.any() or right.anything.any() or (low[1:] <= high[:-1]).any():
            return None
        place = np.searchsorted(low, left.low, side="right") - 1
        after = np.minimum(place + 1, len(low) - 1)
        if (low[after] <= left.high)[place + 1 < len(low)].any():
            return None
        single = order[np.maximum(place, 0)]
        inside = (place >= 0) & (left.low <= right.high[single]) & (left.low <= left.high)
        inside &= (left.shortest <= right.longest[single]) & (right.shortest[single] <= left.longest)
        return np.where(inside, single, -1)
