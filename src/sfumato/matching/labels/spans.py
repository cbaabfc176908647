"""Labels as spans between two ends: numbers as they are, dates as days, masked texts as what begins alike.

A span is where what a label stands for begins and where it ends, both included, on a line that is common to two
columns. Masked texts have a second one, for how long the texts are.
"""

from calendar import monthrange
from collections.abc import Callable
from datetime import date, datetime
from fractions import Fraction
from math import ceil, floor, inf
from typing import Any, NamedTuple

from sfumato.core.numbers import read_decimal
from sfumato.hierarchy.base import ROOT
from sfumato.hierarchy.range_labels import read_range
from sfumato.queries.entry import Entry
from sfumato.queries.labels.calendar import Calendar

_LAST = date(9998, 12, 31).toordinal()
"""A span of the calendar that comes to here goes on for ever: the calendar ends within a year."""
_AFTER = chr(0x10FFFF)


class Span(NamedTuple):
    """From `low` to `high`, which is part of it unless it is `open`; of texts with lengths from `least` to `most`."""

    low: Any
    high: Any
    open: bool = False
    least: int = 0
    most: int = 0


Reader = Callable[[str], Span | None]
"""What a label stands for; nothing where it does not say."""


def numbers(text: str) -> Span | None:
    """A number or a range of numbers.

    >>> numbers("35-39"), numbers("[1.5, 2)"), numbers("old")
    (Span(low=Fraction(35, 1), high=Fraction(39, 1), open=False, ...), Span(..., open=True, ...), None)
    """
    exact = read_decimal(text)
    if exact is not None:
        return Span(Fraction(*exact), Fraction(*exact))
    try:
        bounds = read_range(text)
    except ValueError:
        return None
    return Span(bounds.low, bounds.high, not bounds.closed)


def whole(span: Span) -> Span:
    """The whole numbers of a span; it ends before it begins where there are none.

    >>> whole(Span(Fraction(3, 2), Fraction(4), open=True))[:3]
    (2, 3, False)
    """
    low = span.low if endless(span.low) else ceil(span.low)
    if endless(span.high):
        return Span(low, span.high)
    return Span(low, ceil(span.high) - 1 if span.open else floor(span.high))


def endless(end: Any) -> bool:
    """Whether a span has no end there; `isinf` would take fractions for floating-point numbers, which may be too large.

    >>> endless(inf), endless(Fraction(10**400))
    (True, False)
    """
    return isinstance(end, float)


def days(entry: Entry, form: str | None = None) -> Reader:
    """Reads units of the calendar as days, counted from the first of all; a date with its time as its day."""
    calendar = Calendar(tuple(entry.get("dates", ())), entry.get("date_format", form))

    def read(text: str) -> Span | None:
        try:
            leaves = calendar.told(text)
            first, last = _days(leaves[0] or ""), _days(leaves[-1] or "")
        except (IndexError, ValueError, OverflowError):
            return None
        return Span(first.low, inf if last.high >= _LAST else last.high)

    return read


def _days(text: str) -> Span:
    """The days of a date in ISO form, or of a month or a year."""
    if len(text) not in {4, 7}:
        day = datetime.fromisoformat(text).toordinal()
        return Span(day, day)
    year, first, last = int(text[:4]), int(text[5:] or 1), int(text[5:] or 12)
    end = date(year, last, monthrange(year, last)[1])
    return Span(date(year, first, 1).toordinal(), end.toordinal())


def masked(entry: Entry) -> Reader:
    """Reads masked texts: what they begin with (what they end with, backwards, where the left is masked).

    >>> masked({"mask": {"side": "right"}})("435*")[3:], masked({"mask": {"side": "right", "length": 6}})("435***")[3:]
    ((4, 4), (3, 6))
    """
    mask = entry["mask"]
    left, length = mask.get("side") == "left", mask.get("length")

    def read(text: str) -> Span:
        turned = text[::-1] if left else text
        kept = turned.rstrip(ROOT)
        if length is None or len(kept) == len(text):
            return Span(kept, kept + _AFTER, least=len(text), most=len(text))
        most = length if len(text) == length else len(kept)
        return Span(kept, kept + _AFTER, least=len(kept), most=most)

    return read
