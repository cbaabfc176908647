"""Labels that stand for spans on a line: they fit where the spans meet."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.segments import expand_ranges
from sfumato.hierarchy.base import ROOT, Label
from sfumato.matching.labels.side import DATES, MEANS, NUMBERS, VALUES, Side
from sfumato.matching.labels.spans import Reader, Span, days, endless, masked, numbers, whole

Told = list[Span] | None
"""The spans of a label; nothing for one that may stand for any value, or that is not explained."""

NULL = Span(None, None)
_NEVER = Span(0, -1)


@dataclass(frozen=True, eq=False)
class _Line:
    """The spans of all labels of a column in places of a common line; those of a label lie together."""

    first: IntArray
    low: IntArray
    high: IntArray
    least: IntArray
    most: IntArray
    every: BoolArray

    def only(self, places: IntArray) -> "_Line":
        """The spans of some labels."""
        ends = np.append(self.first, len(self.low))
        label, chosen = expand_ranges(ends[places], ends[places + 1])
        first = np.searchsorted(label, np.arange(len(places)))
        low, high, least, most = (part[chosen] for part in (self.low, self.high, self.least, self.most))
        return _Line(first, low, high, least, most, self.every[places])


@dataclass(frozen=True, eq=False)
class _Spanned:
    """Two columns on one line."""

    known: _Line
    shown: _Line

    def rows(self, places: IntArray) -> BoolArray:
        one = self.known.only(places)
        found = (one.low[:, np.newaxis] <= self.shown.high) & (self.shown.low <= one.high[:, np.newaxis])
        if self.shown.most.any():
            found &= one.least[:, np.newaxis] <= self.shown.most
            found &= self.shown.least <= one.most[:, np.newaxis]
        if len(one.first) < len(found):
            found = np.logical_or.reduceat(found, one.first, axis=0)
        if len(self.shown.first) < found.shape[1]:
            found = np.logical_or.reduceat(found, self.shown.first, axis=1)
        found |= one.every[:, np.newaxis]
        found |= self.shown.every
        return found

    def only(self) -> IntArray | None:
        """By where each begins, if the shown ones lie apart; nothing where they do not, or a known one meets two."""
        known, shown = self.known, self.shown
        several = len(known.first) < len(known.low) or len(shown.first) < len(shown.low)
        order = np.argsort(shown.low, kind="stable")
        low, high = shown.low[order], shown.high[order]
        if several or known.every.any() or shown.every.any() or (low[1:] <= high[:-1]).any():
            return None
        place = np.searchsorted(low, known.low, side="right") - 1
        after = np.minimum(place + 1, len(low) - 1)
        if (low[after] <= known.high)[place + 1 < len(low)].any():
            return None
        found = order[np.maximum(place, 0)]
        inside = (place >= 0) & (known.low <= shown.high[found]) & (known.low <= known.high)
        inside &= (known.least <= shown.most[found]) & (shown.least[found] <= known.most)
        return np.where(inside, found, -1)


def spanned(known: Side, shown: Side) -> _Spanned:
    """How labels fit that are numbers, dates or masked texts on one side at least."""
    told = [_told(known, _reader(known, shown)), _told(shown, _reader(shown, known))]
    if NUMBERS in {known.kind, shown.kind}:
        told = _scaled(told, integers=any(side.entry.get("integers") is True for side in (known, shown)))
    spans = [span for side in told for one in side for span in one or () if span is not NULL]
    place = {end: 2 * i for i, end in enumerate(sorted({end for span in spans for end in span[:2]}))}
    return _Spanned(*(_line(side, place) for side in told))


def spans_of(side: Side) -> list[Told]:
    """What the labels of a column stand for by themselves; nothing for means, which do not tell."""
    if side.kind == MEANS:
        return [[NULL] if label is None else None for label in side.labels]
    return _told(side, _reader(side, side))


def _reader(side: Side, other: Side) -> Reader:
    """How the labels of a column are read, or those of the other one where it says so."""
    own = other if side.kind == VALUES else side
    if own.kind == NUMBERS:
        return numbers
    if own.kind == DATES:
        return days(side.entry if side is own else {}, own.entry.get("date_format"))
    return masked(own.entry) if side is own else masked({"mask": {"side": own.entry["mask"]["side"]}})


def _told(side: Side, read: Reader) -> list[Told]:
    """The spans of each label; of values that are no such thing there are none."""
    if side.kind == VALUES:
        found = [None if leaves is None else list(_spans(leaves, read)) for leaves in side.leaves()]
        return [one or None for one in found] if side.coarse else found
    spans = [NULL if label is None else None if label == ROOT else read(label) for label in side.labels]
    return [None if span is None else [span] for span in spans]


def _spans(leaves: Sequence[Label], read: Reader) -> Iterator[Span]:
    for leaf in leaves:
        span = NULL if leaf is None else read(leaf)
        if span is not None:
            yield span


def _scaled(told: Sequence[Sequence[Told]], *, integers: bool) -> list[list[Told]]:
    """Numbers as whole ones, which are compared quickly: multiples of a fraction that all of them are."""
    spans = [span for side in told for one in side for span in one or () if span is not NULL]
    ends = [end for span in spans for end in span[:2] if not endless(end)]
    common = 1 if integers else lcm(*{Fraction(end).denominator for end in ends})

    def scaled(span: Span) -> Span:
        if span is NULL or integers:
            return span if span is NULL else whole(span)
        low, high = (end if endless(end) else int(end * common) for end in span[:2])
        return Span(low, high, span.open)

    return [[one and [scaled(span) for span in one] for one in side] for side in told]


def _line(side: Sequence[Told], place: Mapping[Any, int]) -> _Line:
    """The spans of a column by the places of their ends; NULL stands behind all of them."""
    counts = [max(len(one or ()), 1) for one in side]
    last = 2 * len(place) + 2
    cells = [_cells(span, place, last) for one in side for span in one or [_NEVER]]
    low, high, least, most = np.array(cells, dtype=np.int64).reshape(-1, 4).T
    first = np.cumsum(counts, dtype=np.int64) - counts
    return _Line(first, low, high, least, most, every=np.array([one is None for one in side], dtype=bool))


def _cells(span: Span, place: Mapping[Any, int], last: int) -> tuple[int, int, int, int]:
    if span is NULL:
        return last, last, 0, 0
    if span is _NEVER or span.low > span.high:
        return last + 1, -1, 0, 0
    return place[span.low], place[span.high] - span.open, span.least, span.most
