"""Dates and timestamps in units of the calendar: 1970-03-15 → 1970-03 → 1970 → 1970s → ``*``."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar

from sfumato.errors import PolicyError
from sfumato.hierarchy.base import ROOT, Branch, Hierarchy, Label, build, ranked, refuse
from sfumato.hierarchy.paths import climb, upward
from sfumato.hierarchy.units import UNITS, first_moment, nested


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
        object.__setattr__(self, "dates", nested(self.dates))
        if self.format is not None and not self._tells():
            fault = f"must be a strptime format that tells the {self.dates[0]}, not {self.format!r}"
            raise PolicyError(fault, key="format")

    def bind(
        self,
        values: Sequence[Label],
        *,
        column: str,
        nulls: Sequence[str] = ("",),  # noqa: ARG002 - only files have a line for NULL
    ) -> Hierarchy:
        """The units each date lies in, in calendar order.

        >>> Dates(["week"]).bind(["1970-03-15", "1969-12-30"], column="born").labels[1]
        ('1970-W11', '1970-W01')
        """
        moments = [None if value is None else self._moment(value) for value in values]
        strange = [value for value, moment in zip(values, moments, strict=True) if value is not None and not moment]
        wanted = "ISO dates" if self.format is None else f"dates written as {self.format}"
        refuse(strange, column=column, fault=f"not {wanted}", remedy="mend them, or give their format")
        levels = [[None if moment is None else UNITS[unit](moment) for moment in moments] for unit in self.dates]
        return build([values, *levels], ranks=ranked(values, moments), places=len(values))

    def paths(
        self,
        labels: Sequence[Label],
        *,
        column: str,
        nulls: Sequence[str] = ("",),  # noqa: ARG002 - only files have a line for NULL
    ) -> list[Branch | None]:
        """The units above each date or unit; none for what is neither, and for units that are no level.

        A text that reads as a date and as the label of a unit is the unit, as 1970-W11 is the week and not its
        Monday. A format may turn such a text into a date of another unit: that is refused.

        >>> Dates(["month", "year"]).paths(["1980-05-17", "1980-05", "1980s"], column="born")
        [('1980-05-17', '1980-05', '1980', '*'), ('1980-05', '1980', '*'), None]
        """
        read = {text: self._readings(text) for text in dict.fromkeys(labels) if text is not None}
        torn = [text for text, (date, unit) in read.items() if date and unit and self._torn(date, unit)]
        fault = f"both a date written as {self.format} and a unit of the calendar that it does not lie in"
        refuse(torn, column=column, fault=fault, remedy="write dates in another format")
        return climb(labels, lambda text: _told(*read[text]), null=(*[None] * (len(self.dates) + 1), ROOT))

    def _readings(self, text: str) -> tuple[Branch | None, Branch | None]:
        """The paths of a text as a date and as the label of a unit."""
        date, first = self._moment(text), first_moment(text)
        unit = None if first is None else upward(text, self._line(first))
        return None if date is None else (text, *self._line(date)), unit

    def _line(self, moment: datetime) -> Branch:
        return (*(UNITS[unit](moment) for unit in self.dates), ROOT)

    def _torn(self, date: Branch, unit: Branch) -> bool:
        """Whether both readings are meant and differ; strptime reads much that nobody writes, 1987 as %y%m%d say."""
        text = str(date[0])
        return date[-len(unit) :] != unit and _parsed(text, self.format).strftime(self.format or "") == text

    def _moment(self, text: str) -> datetime | None:
        try:
            # What is written is what counts; and a date with a zone does not compare with one without.
            return _parsed(text, self.format).replace(tzinfo=None)
        except ValueError:
            return None

    def _tells(self) -> bool:
        probe, finest = datetime(1987, 11, 23, tzinfo=UTC), UNITS[self.dates[0]]
        try:
            return finest(_parsed(probe.strftime(self.format or ""), self.format)) == finest(probe)
        except (TypeError, ValueError):
            return False


def _parsed(text: str, form: str | None) -> datetime:
    if form is None:
        return datetime.fromisoformat(text)
    return datetime.strptime(text, form)  # noqa: DTZ007 - the zone is dropped anyway


def _told(date: Branch | None, unit: Branch | None) -> Branch | None:
    """One of two readings: the unit, unless the date only repeats its label."""
    if date is None or unit is None:
        return date or unit
    return date if date[-len(unit) :] == unit and {*date[: -len(unit)]} == {unit[0]} else unit
