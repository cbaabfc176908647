"""A published label, read: ``35-39``, ``<20``, ``90+``, ``[1.5, 2)``, ``1970-03``, ``{Bern, Thun}``, ``435*``, ``*``.

For those who compute with a release and have the text of its labels alone. What a label of a hierarchy file covers is
in the manifest, under ``covers`` of its column, and no text tells it.
"""

import math
import re
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction

from sfumato.errors import InputError, quote
from sfumato.hierarchy.dates import UNITS, unit_end, unit_start
from sfumato.hierarchy.hierarchy import ROOT
from sfumato.hierarchy.intervals import NumberRange, read_number_or_range
from sfumato.hierarchy.open_ended import read_set

Number = int | float
KINDS = ("numbers", "dates", "set", "mask", "value")
"""What a label may be read as; ``all`` and ``missing`` are found by themselves."""

_MASK = re.compile(r"(\*+)([^*]+)|([^*]+)(\*+)", re.DOTALL)


@dataclass(frozen=True)
class PublishedLabel:
    """What a label covers.

    `kind` is ``numbers`` or ``dates``, with `low` and `high`, which are ``None`` where they are open, and `closed` as
    pandas has it (``both``, ``left``, ``right`` or ``neither``: which ends are part of it); ``set`` or ``value``, with
    its `members`; ``mask``, with what is told of the text as its one member and stars for the rest; ``all`` for ``*``;
    or ``missing``.

    >>> parse_label("35-39").midpoint, 37 in parse_label("35-39"), "Bern" in parse_label("{Bern, Thun}")
    (37.0, True, True)
    """

    text: str | None
    kind: str
    low: Number | date | None = None
    high: Number | date | None = None
    closed: str = "neither"
    members: tuple[str | None, ...] = ()

    @property
    def midpoint(self) -> float | date | None:
        """The middle of a range that has two ends; of dates the day in the middle."""
        if self.low is None or self.high is None:
            return None
        if isinstance(self.low, date) and isinstance(self.high, date):
            return self.low + (self.high - self.low) / 2
        assert not isinstance(self.low, date)  # noqa: S101 - both ends are of one kind; this tells the type checker
        assert not isinstance(self.high, date)  # noqa: S101 - same
        return (self.low + self.high) / 2

    def __contains__(self, value: object) -> bool:
        if self.kind == "all":
            return True
        if self.kind == "missing" or value is None:
            return value is None and (self.kind == "missing" or None in self.members)
        if self.kind in {"set", "value"}:
            return str(value) in self.members
        if self.kind == "mask":
            return self._fits_mask(str(value))
        return self._is_between(value)

    def _fits_mask(self, value: str) -> bool:
        text = self.text or ""
        stem, length = text.strip(ROOT), len(text)
        return len(value) == length and (value.startswith(stem) if text.endswith(ROOT) else value.endswith(stem))

    def _is_between(self, value: object) -> bool:
        try:
            above = self.low is None or (self.low <= value if self.closed in {"both", "left"} else self.low < value)  # type: ignore[operator]
            below = self.high is None or (value <= self.high if self.closed in {"both", "right"} else value < self.high)  # type: ignore[operator]
        except TypeError:  # a text in place of a number, or a number in place of a date
            return False
        return bool(above and below)


def parse_label(label: str | None, kind: str | None = None) -> PublishedLabel:
    """Read a label that was published.

    Without a `kind` it is found: a text that reads as a number or a range of numbers is one, so that 1970 is a number;
    say ``kind="dates"`` where it is a year. What reads as nothing else is a value. With a kind, a label that is not of
    it is an error.

    >>> parse_label("<20"), parse_label("90+").low, parse_label("*").kind
    (PublishedLabel(text='<20', kind='numbers', low=None, high=20, closed='neither', members=()), 90, 'all')
    >>> str(parse_label("1970-Q2").high), str(parse_label("1970", kind="dates").low)
    ('1970-06-30', '1970-01-01')
    """
    if kind is not None and kind not in KINDS:
        raise InputError(f"a label is not read as {quote(kind)}; choose one of {', '.join(KINDS)}")
    if label is None or label != label:  # noqa: PLR0124 - NaN, which frames have for NULL, is not itself
        return PublishedLabel(None, "missing")
    if not isinstance(label, str):  # a number that was published as it is
        label = str(label)
    if label == ROOT:
        return PublishedLabel(label, "all")
    readers = {"numbers": _read_numbers, "dates": _read_dates, "set": _read_members, "mask": _read_mask}
    for name, read in readers.items():
        if kind in {None, name} and (found := read(label)) is not None:
            return found
    if kind not in {None, "value"}:
        raise InputError(f"{quote(label)} is no label of the kind {kind}; leave the kind out, or say another")
    return PublishedLabel(label, "value", members=(label,))


def _read_numbers(label: str) -> PublishedLabel | None:
    found = read_number_or_range(label)
    if found is None or found.low > found.high:  # 1970-03 is a month
        return None
    return PublishedLabel(label, "numbers", _plain(found.low), _plain(found.high), closed_ends(found))


def closed_ends(found: NumberRange) -> str:
    """Say which ends are part of a range, in the words of pandas; an open end is part of none."""
    left, right = math.isfinite(found.low), found.closed and math.isfinite(found.high)
    return "both" if left and right else "left" if left else "right" if right else "neither"


def _plain(number: Fraction | float) -> Number | None:
    if isinstance(number, float):  # an infinity
        return None
    return int(number) if number.denominator == 1 else float(number)


def _read_dates(label: str) -> PublishedLabel | None:
    for unit in UNITS:
        start = unit_start(label, unit)
        if start is not None:
            try:
                last = unit_end(start.date(), unit) - timedelta(days=1)
            except (ValueError, OverflowError):  # the calendar ends before
                last = date.max
            return PublishedLabel(label, "dates", start.date(), last, "both")
    return None


def _read_members(label: str) -> PublishedLabel | None:
    if not (label.startswith("{") and label.endswith("}")):
        return None
    try:
        return PublishedLabel(label, "set", members=read_set(label))
    except ValueError:
        return None


def _read_mask(label: str) -> PublishedLabel | None:
    match = _MASK.fullmatch(label)
    return None if match is None else PublishedLabel(label, "mask", members=(match[2] or match[3],))
