"""Dates and timestamps in units of the calendar: 1970-03-15 → 1970-03 → 1970 → 1970s → ``*``."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import ClassVar

from sfumato.errors import PolicyError, did_you_mean, quote
from sfumato.hierarchy.hierarchy import (
    ROOT,
    Branch,
    Hierarchy,
    Label,
    build,
    label_paths,
    path_from,
    rank_values,
    refuse_values,
)


def _week(moment: datetime) -> str:
    year, week, _ = moment.isocalendar()
    return f"{year:04}-W{week:02}"


def _century(moment: datetime) -> str:
    first = moment.year // 100 * 100
    return f"{first:04}-{first + 99:04}"


UNITS: dict[str, Callable[[datetime], str]] = {
    "day": lambda moment: moment.date().isoformat(),
    "week": _week,
    "month": lambda moment: f"{moment.year:04}-{moment.month:02}",
    "quarter": lambda moment: f"{moment.year:04}-Q{(moment.month + 2) // 3}",
    "year": lambda moment: f"{moment.year:04}",
    "decade": lambda moment: f"{moment.year // 10 * 10:04}s",
    "century": _century,
}
"""How the label of each unit is written, from the finest unit to the coarsest; `_LABELS` says how it is read."""
_ORDER = ", ".join(UNITS)


@dataclass(frozen=True)
class Dates:
    """``{ dates = ["month", "year", "decade"] }``: a level for each unit, then ``*``.

    Values are ISO dates or timestamps unless `format` says how they are written (as for strptime). The
    date is the one that is written: time zones are not converted.

    >>> Dates(["month", "decade"]).bind(["1970-03-15"], column="born").labels
    (('1970-03-15',), ('1970-03',), ('1970s',), ('*',))
    """

    dates: Sequence[str]
    format: str | None = None

    levelled: ClassVar[bool] = True
    schema: ClassVar[dict[str, object]] = {
        "type": "object",
        "description": "Dates in units of the calendar, one level for each unit.",
        "properties": {
            "dates": {
                "type": "array",
                "items": {"enum": list(UNITS)},
                "minItems": 1,
                "description": "The units from fine to coarse; a week lies in no month, quarter or year.",
            },
            "format": {
                "type": "string",
                "description": "How dates are written, as for strptime; ISO 8601 when left out.",
            },
        },
        "required": ["dates"],
        "additionalProperties": False,
    }

    def __post_init__(self) -> None:
        object.__setattr__(self, "dates", _nested_units(self.dates))
        if self.format is not None and not self._tells_finest():
            fault = f"must be a strptime format that tells the {self.dates[0]}, not {quote(self.format)}"
            raise PolicyError(fault, key="format")

    def bind(self, values: Sequence[Label], *, column: str, nulls: Sequence[str] = ("",)) -> Hierarchy:
        """Find the units that each date lies in, and rank dates by the calendar.

        >>> Dates(["week"]).bind(["1970-03-15", "1969-12-30"], column="born").labels[1]
        ('1970-W11', '1970-W01')
        """
        moments = [None if value is None else self._moment(value) for value in values]
        strange = [value for value, moment in zip(values, moments, strict=True) if value is not None and not moment]
        wanted = "ISO dates" if self.format is None else f"dates written as {self.format}"
        refuse_values(strange, column=column, fault=f"not {wanted}", remedy="mend them, or give their format")
        levels = [[None if moment is None else UNITS[unit](moment) for moment in moments] for unit in self.dates]
        return build([values, *levels], ranks=rank_values(values, moments), places=len(values))

    def paths(self, labels: Sequence[Label], *, column: str, nulls: Sequence[str] = ("",)) -> list[Branch | None]:
        """Find the units above each date or unit; there are none for other texts, and for units that are no level.

        A text that reads as a date and as the label of a unit is the unit, as 1970-W11 is the week and not its
        Monday. A format may turn such a text into a date of another unit: that is refused.

        >>> Dates(["month", "year"]).paths(["1980-05-17", "1980-05", "1980s"], column="born")
        [('1980-05-17', '1980-05', '1980', '*'), ('1980-05', '1980', '*'), None]
        """
        paths: dict[str, Branch | None] = {}
        ambiguous = []
        for text in dict.fromkeys(labels):
            if text is None:
                continue
            moment, unit = self._moment(text), self._unit_path(text)
            if moment is None or unit is None:
                paths[text] = unit if moment is None else (text, *self._units(moment))
                continue
            day = (text, *self._units(moment))
            below, same = {*day[: -len(unit)]}, day[-len(unit) :] == unit
            # strptime reads much that nobody writes, 1987 as %y%m%d say: that is the unit
            if not same and _parse_date(text, self.format).strftime(self.format or "") == text:
                ambiguous.append(text)
            paths[text] = day if same and below == {text} else unit  # a date may just repeat the label, as years do
        fault = f"both a date written as {self.format} and a unit of the calendar that it does not lie in"
        refuse_values(ambiguous, column=column, fault=fault, remedy="write dates in another format")
        return label_paths(labels, paths.__getitem__, null=(*[None] * (len(self.dates) + 1), ROOT))

    def _unit_path(self, text: str) -> Branch | None:
        """The path of a text as the label of a unit."""
        starts = (unit_start(text, unit) for unit in self.dates)
        start = next((start for start in starts if start is not None), None)
        return None if start is None else path_from(text, self._units(start))

    def _units(self, moment: datetime) -> Branch:
        return (*(UNITS[unit](moment) for unit in self.dates), ROOT)

    def _moment(self, text: str) -> datetime | None:
        try:
            # What is written is what counts; and a date with a zone does not compare with one without.
            return _parse_date(text, self.format).replace(tzinfo=None)
        except ValueError:
            return None

    def _tells_finest(self) -> bool:
        """Whether dates of the format tell the finest unit: one that is written and read again is in the same."""
        probe, finest = datetime(1987, 11, 23, tzinfo=UTC), UNITS[self.dates[0]]
        try:
            return finest(_parse_date(probe.strftime(self.format or ""), self.format)) == finest(probe)
        except (TypeError, ValueError):
            return False


def _parse_date(text: str, form: str | None) -> datetime:
    if form is None:
        return datetime.fromisoformat(text)
    return datetime.strptime(text, form)  # noqa: DTZ007 - the zone is dropped anyway


def _nested_units(value: object) -> tuple[str, ...]:
    """Take units from fine to coarse that nest, as they are in the policy.

    >>> _nested_units(["month", "year"])
    ('month', 'year')
    """
    if not isinstance(value, list | tuple) or not value:
        raise PolicyError(f'must be a list of units, as in ["month", "year"], not {quote(value)}', key="dates")
    units = list(UNITS)
    for unit in value:
        if unit not in units:
            hint = did_you_mean(str(unit), UNITS)
            raise PolicyError(f"unknown unit {quote(unit)}{hint or f'; the units are {_ORDER}'}", key="dates")
    for fine, coarse in pairwise(value):
        if units.index(fine) >= units.index(coarse):
            raise PolicyError(f"{coarse} cannot follow {fine}; the order is {_ORDER}", key="dates")
        if fine == "week":
            fault = f"a week does not nest in a {coarse}: it may lie in two"
            raise PolicyError(f"{fault}; leave out week or what follows it", key="dates")
    return tuple(value)


_LABELS = {
    "day": r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)",
    "week": r"(?P<year>\d{4})-W(?P<week>\d\d)",
    "month": r"(?P<year>\d{4})-(?P<month>\d\d)",
    "quarter": r"(?P<year>\d{4})-Q(?P<quarter>[1-4])",
    "year": r"(?P<year>\d{4})",
    "decade": r"(?P<year>\d{3}0)s",
    "century": r"(?P<year>\d\d00)-\d\d99",
}
_MONTHS = {"month": 1, "quarter": 3}
_YEARS = {"year": 1, "decade": 10, "century": 100}


def unit_start(label: str, unit: str) -> datetime | None:
    """Find where the unit with this label begins; ``None`` where the text is no label of such a unit.

    The first decade and the first century begin at 0, which is no year of the calendar: they begin in year 1.

    >>> labels = {"week": "1970-W11", "quarter": "1970-Q2", "month": "1970-03", "decade": "1970s"}
    >>> [str(unit_start(label, unit).date()) for unit, label in labels.items()]
    ['1970-03-09', '1970-04-01', '1970-03-01', '1970-01-01']
    >>> unit_start("1970-13", "month"), unit_start("March", "month")
    (None, None)
    """
    match = re.fullmatch(_LABELS[unit], label, re.ASCII)
    if match is None:
        return None
    part = {name: int(digits) for name, digits in match.groupdict().items()}
    try:
        if unit == "week":
            return datetime.fromisocalendar(part["year"], part["week"], 1)
        month = 3 * part["quarter"] - 2 if unit == "quarter" else part.get("month", 1)
        return datetime.combine(date(max(part["year"], 1), month, part.get("day", 1)), time.min)
    except ValueError:
        return None


def unit_end(first: date, unit: str) -> date:
    """Find the day after the last one of a unit that begins on `first`.

    Raises ValueError or OverflowError where the calendar ends before; years end with the last year that there is.

    >>> str(unit_end(date(1970, 10, 1), "quarter")), str(unit_end(date(1970, 1, 1), "decade"))
    ('1971-01-01', '1980-01-01')
    """
    if unit in _YEARS:
        years = _YEARS[unit]
        return date(min(first.year // years * years + years, date.max.year), 1, 1)
    if unit in _MONTHS:
        after = first.month - 1 + _MONTHS[unit]
        return date(first.year + after // 12, after % 12 + 1, 1)
    return first + timedelta(days=7 if unit == "week" else 1)
