"""Dates and timestamps in units of the calendar: 1970-03-15 → 1970-03 → 1970 → 1970s → ``*``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import ClassVar

from sfumato.errors import PolicyError, did_you_mean
from sfumato.hierarchy.base import Hierarchy, Label, build, ranked, refuse


def _week(moment: datetime) -> str:
    year, week, _ = moment.isocalendar()
    return f"{year:04}-W{week:02}"


def _century(moment: datetime) -> str:
    first = moment.year // 100 * 100
    return f"{first:04}-{first + 99:04}"


# From the finest to the coarsest.
_UNITS: dict[str, Callable[[datetime], str]] = {
    "day": lambda moment: moment.date().isoformat(),
    "week": _week,
    "month": lambda moment: f"{moment.year:04}-{moment.month:02}",
    "quarter": lambda moment: f"{moment.year:04}-Q{(moment.month + 2) // 3}",
    "year": lambda moment: f"{moment.year:04}",
    "decade": lambda moment: f"{moment.year // 10 * 10:04}s",
    "century": _century,
}
_ORDER = ", ".join(_UNITS)


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
                "items": {"enum": list(_UNITS)},
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
        object.__setattr__(self, "dates", _units(self.dates))
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
        levels = [[None if moment is None else _UNITS[unit](moment) for moment in moments] for unit in self.dates]
        return build([values, *levels], ranks=ranked(values, moments), places=len(values))

    def _moment(self, text: str) -> datetime | None:
        try:
            # What is written is what counts; and a date with a zone does not compare with one without.
            return _parsed(text, self.format).replace(tzinfo=None)
        except ValueError:
            return None

    def _tells(self) -> bool:
        probe, finest = datetime(1987, 11, 23, tzinfo=UTC), _UNITS[self.dates[0]]
        try:
            return finest(_parsed(probe.strftime(self.format or ""), self.format)) == finest(probe)
        except (TypeError, ValueError):
            return False


def _parsed(text: str, form: str | None) -> datetime:
    if form is None:
        return datetime.fromisoformat(text)
    return datetime.strptime(text, form)  # noqa: DTZ007 - the zone is dropped anyway


def _units(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise PolicyError(f'must be a list of units, as in ["month", "year"], not {value!r}', key="dates")
    for unit in value:
        if unit not in list(_UNITS):
            hint = did_you_mean(str(unit), _UNITS)
            raise PolicyError(f"unknown unit {unit!r}{hint or f'; the units are {_ORDER}'}", key="dates")
    for fine, coarse in pairwise(value):
        _nest(fine, coarse)
    return tuple(value)


def _nest(fine: str, coarse: str) -> None:
    units = list(_UNITS)
    if units.index(fine) >= units.index(coarse):
        raise PolicyError(f"{coarse} cannot follow {fine}; the order is {_ORDER}", key="dates")
    if fine == "week":
        fault = f"a week does not nest in a {coarse}: it may lie in two"
        raise PolicyError(f"{fault}; leave out week or what follows it", key="dates")
