"""Dates as people write them: which format a column has, or which formats."""

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.profile.column_values import ColumnValues

_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?)?(Z|[+-]\d\d:?\d\d)?")
_COMPACT = re.compile(r"(18|19|20|21)\d{6}")
_DAYS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%d %m %Y")
_NAMED_MONTHS = ("%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%b %d, %Y", "%B %d, %Y", "%d. %B %Y")
_SHORT_YEARS = ("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%m-%d-%y")
_WITHOUT_DAYS = ("%Y-%m", "%m/%Y", "%m.%Y", "%Y/%m")
_TIMES = ("", " %H:%M", " %H:%M:%S")
DATE_FORMATS: tuple[str | None, ...] = (
    None,
    *(day + time for day in (*_DAYS, *_NAMED_MONTHS, *_SHORT_YEARS) for time in _TIMES),
    *_WITHOUT_DAYS,
)
"""From the surest to the least sure; ``None`` is ISO 8601. Days come before months where either may be meant."""

_ONE_BY_ONE = 20_000
"""More values than this are checked by Arrow and not one by one."""

_YEARS = range(1800, 2200)


@dataclass(frozen=True)
class WrittenDates:
    """A column of dates: its formats, one unless dates are written in several ways.

    `month_first` says that another reading fits every value as well, as of 03/04/2020; `timed`, that there is a time of
    day.
    """

    formats: tuple[str | None, ...]
    month_first: bool = False
    timed: bool = False

    @property
    def has_one_format(self) -> bool:
        """Whether one format reads all values."""
        return len(self.formats) == 1

    @property
    def without_days(self) -> bool:
        """Whether there is no day of the month."""
        return any(form in _WITHOUT_DAYS for form in self.formats)

    @property
    def short_years(self) -> bool:
        """Whether years have two digits."""
        return any(form is not None and "%y" in form for form in self.formats)

    def read(self, text: str) -> datetime:
        """Read a value of the column under the first format that fits."""
        return next(date for form in self.formats if (date := read_date(text, form)))


def find_date_formats(values: ColumnValues) -> WrittenDates | None:
    """Find the format of a column of dates, several where it takes several; ``None`` where some value is no date.

    >>> find_date_formats(ColumnValues.from_counts({"24.12.2020": 1, "01.02.2021": 1})).formats
    ('%d.%m.%Y',)
    >>> find_date_formats(ColumnValues.from_counts({"24.12.2020": 1, "2021-02-01": 1})).formats
    (None, '%d.%m.%Y')
    """
    sample = values.sample
    if not all(any(character.isdigit() for character in text) for text in sample):
        return None
    fitting = [form for form in DATE_FORMATS if all(read_date(text, form) for text in sample)]
    for form in fitting:
        if _fits_all(values, form):
            swapped = str(form).replace("%d", "%x").replace("%m", "%d").replace("%x", "%m")
            timed = any(":" in text for text in sample)
            return WrittenDates((form,), month_first=swapped != form and swapped in fitting, timed=timed)
    return _find_several_formats(values, sample)


def _fits_all(values: ColumnValues, form: str | None) -> bool:
    """Tell whether all values are dates in a format."""
    if values.distinct <= _ONE_BY_ONE:
        return all(read_date(text, form) for text in values.to_list())
    try:
        if form is None:
            pc.cast(values.texts, pa.timestamp("us"))
            return values.all_match(f"^({_ISO.pattern})$")
        return bool(pc.strptime(values.texts, format=form, unit="s", error_is_null=True).null_count == 0)
    except pa.ArrowInvalid:
        return False


def _find_several_formats(values: ColumnValues, sample: list[str]) -> WrittenDates | None:
    """Find few formats, the one that reads most taken first, under which every value is a date."""
    if values.distinct > _ONE_BY_ONE or not all(any(read_date(text, form) for form in DATE_FORMATS) for text in sample):
        return None
    left, chosen = values.to_list(), list[str | None]()
    while left:
        readable = [sum(read_date(text, form) is not None for text in left) for form in DATE_FORMATS]
        best = max(range(len(DATE_FORMATS)), key=lambda place: (readable[place], -place))
        if not readable[best]:
            return None
        chosen.append(DATE_FORMATS[best])
        left = [text for text in left if read_date(text, DATE_FORMATS[best]) is None]
    return WrittenDates(tuple(sorted(chosen, key=DATE_FORMATS.index)))


def read_date(text: str, form: str | None) -> datetime | None:
    """Read the date that a text says under a format; only of years that people live in.

    >>> read_date("24.12.2020", "%d.%m.%Y").month, read_date("4711", None)
    (12, None)
    """
    if form is None and not (_ISO.fullmatch(text) or _COMPACT.fullmatch(text)):
        return None
    with suppress(ValueError):
        date = datetime.fromisoformat(text) if form is None else datetime.strptime(text, form)  # noqa: DTZ007
        return date if date.year in _YEARS else None
    return None


def possible_months(text: str, forms: Iterable[str | None]) -> set[tuple[int, int]]:
    """Find the months that a text may mean under several formats: one, unless days and months can be mistaken."""
    dates = (read_date(text, form) for form in forms)
    return {(date.year, date.month) for date in dates if date}
