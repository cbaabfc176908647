"""Units of the calendar: the label of the one that a moment lies in, and a moment in the one that a label names."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise

from sfumato.errors import PolicyError, did_you_mean

_LABEL = re.compile(
    r"(?P<year>\d{4})(?:-W(?P<week>\d\d)|-Q(?P<quarter>\d)|-(?P<month>\d\d)(?:-(?P<day>\d\d))?|s|-\d{4})?"
)


def _week(moment: datetime) -> str:
    year, week, _ = moment.isocalendar()
    return f"{year:04}-W{week:02}"


def _century(moment: datetime) -> str:
    first = moment.year // 100 * 100
    return f"{first:04}-{first + 99:04}"


# From the finest to the coarsest.
UNITS: dict[str, Callable[[datetime], str]] = {
    "day": lambda moment: moment.date().isoformat(),
    "week": _week,
    "month": lambda moment: f"{moment.year:04}-{moment.month:02}",
    "quarter": lambda moment: f"{moment.year:04}-Q{(moment.month + 2) // 3}",
    "year": lambda moment: f"{moment.year:04}",
    "decade": lambda moment: f"{moment.year // 10 * 10:04}s",
    "century": _century,
}
_ORDER = ", ".join(UNITS)


def nested(value: object) -> tuple[str, ...]:
    """Units from fine to coarse that nest, as they were given.

    >>> nested(["month", "year"])
    ('month', 'year')
    """
    if not isinstance(value, list | tuple) or not value:
        raise PolicyError(f'must be a list of units, as in ["month", "year"], not {value!r}', key="dates")
    for unit in value:
        if unit not in list(UNITS):
            hint = did_you_mean(str(unit), UNITS)
            raise PolicyError(f"unknown unit {unit!r}{hint or f'; the units are {_ORDER}'}", key="dates")
    for fine, coarse in pairwise(value):
        _nest(fine, coarse)
    return tuple(value)


def _nest(fine: str, coarse: str) -> None:
    units = list(UNITS)
    if units.index(fine) >= units.index(coarse):
        raise PolicyError(f"{coarse} cannot follow {fine}; the order is {_ORDER}", key="dates")
    if fine == "week":
        fault = f"a week does not nest in a {coarse}: it may lie in two"
        raise PolicyError(f"{fault}; leave out week or what follows it", key="dates")


def first_moment(label: str) -> datetime | None:
    """Where the unit with this label begins, whichever unit it is; none for what is no such label.

    >>> [str(first_moment(label).date()) for label in ("1970-W11", "1970-Q2", "1970-03", "1970s")]
    ['1970-03-09', '1970-04-01', '1970-03-01', '1970-01-01']
    >>> first_moment("1970-13"), first_moment("March")
    (None, None)
    """
    found = _LABEL.fullmatch(label)
    try:
        return found and _begin(**{part: int(text) for part, text in found.groupdict().items() if text})
    except ValueError:
        return None


def _begin(year: int, *, week: int = 0, quarter: int = 0, month: int = 1, day: int = 1) -> datetime:
    if week:
        return datetime.fromisocalendar(year, week, 1)
    # The first decade and the first century begin at 0, which is no year of the calendar.
    return datetime(max(year, 1), 3 * quarter - 2 if quarter else month, day, tzinfo=UTC).replace(tzinfo=None)
