"""Labels of dates: 1970-03 stands for its days, 1970s for those of ten years; all in ISO form."""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from sfumato.queries.labels.leaves import Leaf

_ROOT = "*"
Span = tuple[date, date]


def _month(year: int, month: int) -> date:
    """The first day of a month, which may be one of the next year."""
    return date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)


def _week(year: int, week: int) -> Span:
    first = date.fromisocalendar(year, week, 1)
    return first, first + timedelta(days=7)


def _years(year: int, many: int) -> Span:
    return date(year, 1, 1), date(min(year + many, date.max.year), 1, 1)


# How each unit of the calendar is written, and from which day until before which one it reaches.
_UNITS: dict[str, tuple[str, Callable[..., Span]]] = {
    "day": (r"(\d{4})-(\d\d)-(\d\d)", lambda y, m, d: (date(y, m, d), date(y, m, d) + timedelta(days=1))),
    "week": (r"(\d{4})-W(\d\d)", _week),
    "month": (r"(\d{4})-(0[1-9]|1[0-2])", lambda y, m: (_month(y, m), _month(y, m + 1))),
    "quarter": (r"(\d{4})-Q([1-4])", lambda y, q: (_month(y, 3 * q - 2), _month(y, 3 * q + 1))),
    "year": (r"(\d{4})", lambda y: _years(y, 1)),
    "decade": (r"(\d{3}0)s", lambda y: _years(y, 10)),
    "century": (r"(\d\d00)-\d\d99", lambda y: _years(y, 100)),
}


@dataclass(frozen=True)
class Calendar:
    """Dates in the units that the manifest declares, written as its `form` says where they are exact.

    >>> Calendar(("month", "year")).told("1970-02")[-1], len(Calendar(("year",)).told("1972"))
    ('1970-02-28', 366)
    >>> Calendar(("decade",), "%Y").told("1970s")[:2], Calendar(("year",), "%d.%m.%Y").told("15.03.1970")
    (['1970', '1971'], ['1970-03-15'])
    """

    units: tuple[str, ...]
    form: str | None = None

    def told(self, label: Leaf) -> list[Leaf]:
        """The days, months or years that a label stands for; nothing for ``*``."""
        if label is None or label == _ROOT:
            return [] if label else [None]
        for unit in self.units:
            form, span = _UNITS.get(unit, _UNITS["day"])
            match = re.fullmatch(form, label, re.ASCII)
            if match:
                with suppress(ValueError):  # a date that there is not stands for itself, as any text would
                    return self._within(*span(*map(int, match.groups())))
        return [self._exact(label)]

    def _within(self, first: date, end: date) -> list[Leaf]:
        """The leaves from the first day until before the last, as fine as dates of the column are."""
        days = [first + timedelta(days=place) for place in range((end - first).days)]
        return list(dict.fromkeys(day.isoformat()[: self._length] for day in days))

    @property
    def _length(self) -> int:
        """The characters of an ISO date that a date of this form tells."""
        if self.form is None or re.search(r"%[dDjxcFuUVWw]", self.form):
            return 10
        return 7 if re.search(r"%[mbB]", self.form) else 4

    def _exact(self, text: str) -> str:
        """A date that was not generalized, in ISO form; with its time, where it has one."""
        if self.form is None:
            return text
        try:
            moment = datetime.strptime(text, self.form)  # noqa: DTZ007 - what is written is what counts
        except ValueError:
            return text
        return moment.date().isoformat()[: self._length] if moment.time() == datetime.min.time() else str(moment)
