"""Dates as people write them: which format a column has, or which formats."""

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.profile.values import Values

_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?)?(Z|[+-]\d\d:?\d\d)?")
_COMPACT = re.compile(r"(18|19|20|21)\d{6}")
_DAYS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%d %m %Y")
_NAMED = ("%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%b %d, %Y", "%B %d, %Y", "%d. %B %Y")
_SHORT = ("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%m-%d-%y")
_MONTHS = ("%Y-%m", "%m/%Y", "%m.%Y", "%Y/%m")
_TIMES = ("", " %H:%M", " %H:%M:%S")
FORMATS: tuple[str | None, ...] = (
    None,
    *(day + time for day in (*_DAYS, *_NAMED, *_SHORT) for time in _TIMES),
    *_MONTHS,
)
"""From the surest to the least sure; ``None`` is ISO 8601. Days stand before months where either may be meant."""

_ONE_BY_ONE = 20_000
"""More values than this are checked by Arrow and not one by one."""

_YEARS = range(1800, 2200)


@dataclass(frozen=True)
class Moments:
    """A column of dates: its formats, one unless dates are written in several ways.

    `month_first` says that another reading fits every value as well, as of 03/04/2020; `timed`, that there is a time of
    day.
    """

    formats: tuple[str | None, ...]
    month_first: bool = False
    timed: bool = False

    @property
    def single(self) -> bool:
        """Whether one format reads all."""
        return len(self.formats) == 1

    @property
    def months(self) -> bool:
        """Whether there is no day of the month."""
        return any(form in _MONTHS for form in self.formats)

    @property
    def short(self) -> bool:
        """Whether years have two digits."""
        return any(form is not None and "%y" in form for form in self.formats)


def moments_of(values: Values) -> Moments | None:
    """The format of a column of dates, several where it takes several, or nothing where some value is no date.

    >>> from sfumato.profile.values import of_texts
    >>> moments_of(of_texts({"24.12.2020": 1, "01.02.2021": 1})).formats
    ('%d.%m.%Y',)
    >>> moments_of(of_texts({"24.12.2020": 1, "2021-02-01": 1})).formats
    (None, '%d.%m.%Y')
    """
    sample = values.sample
    if not all(any(character.isdigit() for character in text) for text in sample):
        return None
    fitting = [form for form in FORMATS if all(read(text, form) for text in sample)]
    found = next((form for form in fitting if _fits_all(values, form)), "")
    if found != "":
        swapped = str(found).replace("%d", "%x").replace("%m", "%d").replace("%x", "%m")
        timed = any(":" in text for text in sample)
        return Moments((found,), month_first=swapped != found and swapped in fitting, timed=timed)
    return _several(values, sample)


def _several(values: Values, sample: list[str]) -> Moments | None:
    """The fewest formats, taken greedily, under which every value is a date."""
    if values.distinct > _ONE_BY_ONE or not all(any(read(text, form) for form in FORMATS) for text in sample):
        return None
    left, chosen = values.listed(), list[str | None]()
    while left:
        counted = [sum(read(text, form) is not None for text in left) for form in FORMATS]
        best = max(range(len(FORMATS)), key=lambda i: (counted[i], -i))
        if not counted[best]:
            return None
        chosen.append(FORMATS[best])
        left = [text for text in left if read(text, FORMATS[best]) is None]
    return Moments(tuple(sorted(chosen, key=FORMATS.index)))


def read(text: str, form: str | None) -> datetime | None:
    """The date that a text says under a format; only years that people live in.

    >>> read("24.12.2020", "%d.%m.%Y").month, read("4711", None)
    (12, None)
    """
    if form is None and not (_ISO.fullmatch(text) or _COMPACT.fullmatch(text)):
        return None
    with suppress(ValueError):
        found = datetime.fromisoformat(text) if form is None else datetime.strptime(text, form)  # noqa: DTZ007
        return found if found.year in _YEARS else None
    return None


def readings(text: str, forms: Iterable[str | None]) -> set[tuple[int, int]]:
    """The months that a text may mean under several formats: one, unless days and months can be mistaken."""
    found = (read(text, form) for form in forms)
    return {(moment.year, moment.month) for moment in found if moment}


def _fits_all(values: Values, form: str | None) -> bool:
    if values.distinct <= _ONE_BY_ONE:
        return all(read(text, form) for text in values.listed())
    try:
        if form is None:
            pc.cast(values.texts, pa.timestamp("us"))
            return values.all_match(f"^({_ISO.pattern})$")
        return bool(pc.strptime(values.texts, format=form, unit="s", error_is_null=True).null_count == 0)
    except pa.ArrowInvalid:
        return False
