"""Numbers and dates of a column as floats, and floats written again as the column had them.

What is drawn or perturbed is a real number. A reader expects whole ages of a column of whole ages, two decimals of
prices with two decimals, and dates of dates: so whoever turns a column into floats keeps the grid that its values lie
on, and how the source writes them. Dates and times are microseconds since 1970.
"""

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import FloatArray
from sfumato.core.arrow import arrow_numbers, arrow_texts, numpy_numbers
from sfumato.errors import DataError, quote
from sfumato.hierarchy import Dates

MOST_DECIMALS = 9
"""Numbers with more decimals than this lie on no grid."""
DAY = 86_400_000_000
"""Microseconds of a day."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_GRIDS = (DAY, 3_600_000_000, 60_000_000, 1_000_000)
"""Microseconds of a day, an hour, a minute and a second: what times of a column may be multiples of."""
CALENDAR = (
    float((datetime(1, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)),
    float((datetime(9999, 12, 31, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)),
)
"""The first and the last day that can be written."""
_FEWEST_DIGITS = 8
"""Numbers on no grid are written with so many digits at least: 1e5 is a way of writing, and no rounding."""
_LEADING_ZERO = r"^[+-]?0\d"
_ISO_SHAPES = {
    "0-0-0": "%Y-%m-%d",
    "0-0-0T0:0": "%Y-%m-%dT%H:%M",
    "0-0-0 0:0": "%Y-%m-%d %H:%M",
    "0-0-0T0:0:0": "%Y-%m-%dT%H:%M:%S",
    "0-0-0 0:0:0": "%Y-%m-%d %H:%M:%S",
}
"""The ISO texts that are written again as they were, by what is left of them when each number is 0."""


@dataclass(frozen=True)
class NumberScale:
    """The grid that the numbers of a column lie on, and how the source writes them.

    `kind` is the Arrow type of the source. Numbers are multiples of ``10 ** -decimals``; where `decimals` is None they
    lie on no grid and are written with so many significant `digits`. `padded` says that texts have all decimals, as
    prices do. Dates have a `date_step` in microseconds, and a `date_format` where they are text.

    >>> scale = read_number_values(arrow_texts(["1.50", "20.25"]))
    >>> scale.numbers.tolist(), scale.scale.step, scale.scale.write(np.array([3.1, np.nan])).to_pylist()
    ([1.5, 20.25], 0.01, ['3.10', None])
    """

    kind: Any
    decimals: int | None = None
    padded: bool = False
    digits: int = 17
    date_step: float = 0.0
    date_format: str | None = None

    @property
    def is_date(self) -> bool:
        """Whether the numbers are moments, in microseconds since 1970."""
        return self.date_step > 0

    @property
    def step(self) -> float:
        """The distance between neighbours of the grid; 0 where there is none."""
        return self.date_step or (0.0 if self.decimals is None else 10.0**-self.decimals)

    @property
    def limits(self) -> tuple[float, float]:
        """The lowest and the highest number that the column's type can hold."""
        kind = self.kind
        if self.is_date:
            return CALENDAR
        if pa.types.is_integer(kind):
            most = (1 << (kind.bit_width - pa.types.is_signed_integer(kind))) - 1
            least = -most - 1 if pa.types.is_signed_integer(kind) else 0
            # beyond 2**53 floats are further apart than 1: the largest one that is not above the limit
            return float(least), float(most) if most < 1 << 53 else float(most - (most >> 52))
        if pa.types.is_time(kind) or pa.types.is_duration(kind):
            return (0.0, 86_400.0 * _PER_SECOND[kind.unit] - 1) if pa.types.is_time(kind) else (-(2.0**62), 2.0**62)
        if pa.types.is_decimal(kind):
            most = 10.0 ** (kind.precision - kind.scale)
            return -most * (1 - 1e-12), most * (1 - 1e-12)
        largest = float(np.finfo(np.float32 if pa.types.is_float32(kind) else np.float64).max)
        return -largest, largest

    def write(self, numbers: FloatArray) -> Any:
        """Write numbers as an Arrow array of the type of the source; NaN becomes NULL.

        >>> NumberScale(pa.date32(), date_step=DAY).write(np.array([DAY, np.nan])).to_pylist()
        [datetime.date(1970, 1, 2), None]
        """
        low, high = self.limits
        written = self._write_values(np.clip(np.nan_to_num(numbers), low, high))
        missing = np.isnan(numbers)
        if not missing.any():
            return written
        return pc.if_else(
            arrow_numbers(missing.view(np.uint8)).cast(pa.bool_()), pa.scalar(None, written.type), written
        )

    def _write_values(self, numbers: FloatArray) -> Any:
        kind, types = self.kind, pa.types
        if self.is_date:
            moments = arrow_numbers(np.rint(numbers).astype(np.int64)).cast(pa.timestamp("us"))
            if self.date_format is None:
                zoned = moments.cast(pa.timestamp("us", "UTC")) if getattr(kind, "tz", None) else moments
                return zoned.cast(kind, safe=False)
            # Python's strftime leaves out the zeros before a year of fewer than four digits
            form = self.date_format
            texts = [moment.strftime(form.replace("%Y", f"{moment.year:04}")) for moment in moments.to_pylist()]
            return arrow_texts(texts).cast(kind)
        if types.is_integer(kind) or types.is_time(kind) or types.is_duration(kind):
            whole = arrow_numbers(np.rint(numbers).astype(np.uint64 if types.is_uint64(kind) else np.int64))
            return whole.cast(pa.int32()).cast(kind) if types.is_time32(kind) else whole.cast(kind)
        if types.is_floating(kind):
            # what lies on a decimal grid is the float nearest to its decimals, and no sum of floats
            exact = numbers if self.decimals is None else np.round(numbers, self.decimals)
            return arrow_numbers(exact).cast(kind, safe=False)
        if self.decimals == 0 and np.abs(numbers).max(initial=0) < 1e18:
            return arrow_numbers(np.rint(numbers).astype(np.int64)).cast(pa.string()).cast(kind)
        different, place = np.unique(numbers, return_inverse=True)
        texts = arrow_texts([self.write_text(number) for number in different.tolist()]).cast(kind)
        return texts.take(arrow_numbers(place))

    def write_text(self, number: float) -> str:
        """Write one number as the texts of the column are written.

        >>> NumberScale(pa.string(), 2).write_text(3.0), NumberScale(pa.string(), digits=3).write_text(31415.0)
        ('3', '3.14e4')
        """
        if self.decimals is None:
            text = format(number, f".{self.digits}g")
            return re.sub(r"e\+?(-?)0*", r"e\1", text)
        text = f"{number:.{self.decimals}f}"
        if self.decimals and not self.padded and not pa.types.is_decimal(self.kind):
            text = text.rstrip("0").rstrip(".")
        return text if text.strip("-0.") else text.removeprefix("-")  # there is no minus zero


_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


@dataclass(frozen=True, eq=False)
class ReadNumbers:
    """Values of a column as floats, NaN for NULL, and their scale."""

    numbers: FloatArray
    scale: NumberScale


def read_number_values(values: Any, *, column: str | None = None) -> ReadNumbers | None:
    """Read the different values of a column, an Arrow array, as numbers; nothing where one of them is none.

    Text with a leading zero is a code, and no number, unless the policy says that the column holds numbers: then
    `column` is its name, and what is no number is an error.

    >>> read_number_values(arrow_texts(["043", "11"])) is None
    True
    >>> read_number_values(arrow_texts(["12", "n/a"]), column="age")
    Traceback (most recent call last):
    sfumato.errors.DataError: column 'age' is to hold numbers, and 'n/a' is none; mend it, list it as missing in [data]
    null, or say that the column holds categories
    """
    kind, types = values.type, pa.types
    if is_text(kind):
        return _read_number_texts(values, column)
    if types.is_integer(kind) or types.is_time(kind) or types.is_duration(kind):
        integers = (
            values if types.is_integer(kind) else values.cast(pa.int32() if types.is_time32(kind) else pa.int64())
        )
        return ReadNumbers(_floats(integers), NumberScale(kind, 0))
    if types.is_decimal(kind):
        return ReadNumbers(_floats(values), NumberScale(kind, max(kind.scale, 0), padded=True))
    if not types.is_floating(kind):
        return None
    numbers = _floats(values)
    if np.isinf(numbers).any():
        named = "a column" if column is None else f"column {quote(column)}"
        raise DataError(f"{named} holds infinite numbers; make them missing")
    return ReadNumbers(numbers, NumberScale(kind, _fewest_decimals(numbers[~np.isnan(numbers)])))


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is one of text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _floats(values: Any) -> FloatArray:
    numbers = np.array(numpy_numbers(pc.fill_null(values.cast(pa.float64(), safe=False), 0.0)))
    if values.null_count:
        numbers[numpy_numbers(values.is_null().cast(pa.uint8())) == 1] = np.nan
    return numbers


_DECIMAL = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$"
_LONGEST = 400


def _read_number_texts(values: Any, column: str | None) -> ReadNumbers | None:
    """Read texts by Arrow, all at once: a column may have a million different ones."""
    texts = pc.utf8_trim_whitespace(values.cast(pa.large_string()))
    known = texts.drop_null()
    if not len(known):
        return None
    numeric = pc.and_(pc.match_substring_regex(known, _DECIMAL), pc.less_equal(pc.utf8_length(known), _LONGEST))
    if column is None and pc.any(pc.match_substring_regex(known, _LEADING_ZERO)).as_py():
        return None
    floats = None
    if pc.all(numeric).as_py():  # Arrow reads no plus sign
        unsigned = pc.replace_substring_regex(texts, r"^\+", "")
        floats = _floats(unsigned.cast(pa.float64()))
        numeric = pc.is_finite(unsigned.drop_null().cast(pa.float64()))
    if not pc.all(numeric).as_py():
        if column is None:
            return None
        first = known.filter(pc.invert(numeric))[0].as_py()
        raise DataError(
            f"column {quote(column)} is to hold numbers, and {quote(first)} is none; mend it, list it as missing in "
            "[data] null, or say that the column holds categories"
        )
    assert floats is not None  # noqa: S101 - all are numbers; this tells the type checker
    mantissa = pc.replace_substring_regex(known, "[eE].*$", "")
    point = pc.find_substring(mantissa, ".").cast(pa.int64())
    decimals = pc.if_else(
        pc.less(point, 0), 0, pc.subtract(pc.subtract(pc.utf8_length(mantissa).cast(pa.int64()), point), 1)
    )
    most, fewest = pc.max(decimals).as_py(), pc.min(decimals).as_py()
    if pc.any(pc.match_substring(known, "e", ignore_case=True)).as_py() or most > MOST_DECIMALS:
        digits = pc.max(pc.utf8_length(pc.replace_substring_regex(mantissa, r"^[+-]?[0.]*|\.", ""))).as_py()
        return ReadNumbers(floats, NumberScale(values.type, digits=min(max(digits, _FEWEST_DIGITS), 17)))
    return ReadNumbers(floats, NumberScale(values.type, most, padded=most == fewest))


def _fewest_decimals(numbers: FloatArray) -> int | None:
    """Find the fewest decimals with which all numbers can be written; none where it takes more than some.

    >>> _fewest_decimals(np.array([20.0, 7.25])), _fewest_decimals(np.array([1 / 3]))
    (2, None)
    >>> _fewest_decimals(np.array([50000.84375])), _fewest_decimals(np.array([0.1 + 0.2]))
    (5, 1)
    >>> _fewest_decimals(np.array([1e9 + 0.01])), _fewest_decimals(np.array([1e-10]))
    (2, None)
    """
    largest = np.abs(numbers).max(initial=0)
    if largest > 1e15 or 0 < largest < 1e-6:  # beyond what a grid of so many decimals can tell
        return None
    for decimals in range(7):
        for some in (numbers[:1000], numbers):  # most that lie on no such grid are found out by a few
            scaled = some * 10.0**decimals
            if not (np.abs(scaled - np.rint(scaled)) <= 1e-13 * np.abs(scaled)).all():
                break
        else:
            return decimals
    return None


def read_date_values(values: Any, rules: Dates | None = None, *, column: str | None = None) -> ReadNumbers | None:
    """Read the different values of a column, an Arrow array, as moments; nothing where one of them is no date.

    `rules` say how dates are written, where it is not as ISO has it. Where the policy says that the column holds dates,
    `column` is its name, and what is no date is an error.

    >>> read = read_date_values(arrow_texts(["1970-01-02", None]))
    >>> read.numbers.tolist(), read.scale.write(2 * read.numbers).to_pylist()
    ([86400000000.0, nan], ['1970-01-03', None])
    """
    kind = values.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        zoned = pa.timestamp("us", getattr(kind, "tz", None))
        numbers = _floats(values.cast(zoned, safe=False).cast(pa.int64()))
        return ReadNumbers(numbers, NumberScale(kind, date_step=DAY if pa.types.is_date(kind) else _date_step(numbers)))
    if not is_text(kind):
        return None
    form = None if rules is None else rules.format
    moments: list[float] = []
    shapes = set()
    for text in values.to_pylist():
        if text is None:
            moments.append(math.nan)
            continue
        shapes.add(re.sub(r"\d+", "0", text))
        try:
            # as it is written: zones are not converted
            moment = datetime.fromisoformat(text) if form is None else datetime.strptime(text, form)  # noqa: DTZ007
        except ValueError:
            if column is None:
                return None
            way = (
                'mend it, or say how its dates are written: role = "quasi", hierarchy = { dates = ["day"], format = '
                '"%d.%m.%Y" }'
                if form is None
                else f"mend it, or its format, which says {quote(form)}"
            )
            raise DataError(f"column {quote(column)} is to hold dates, and {quote(text)} is none; {way}") from None
        moments.append((moment.replace(tzinfo=UTC) - _EPOCH) / timedelta(microseconds=1))
    if form is None and len(shapes) == 1:
        form = _ISO_SHAPES.get(shapes.pop())
    if form is None:  # nothing but NULL, or ISO texts of several kinds, which could not be written as they were
        return None
    numbers = np.array(moments)
    return ReadNumbers(numbers, NumberScale(kind, date_step=_date_step(numbers), date_format=form))


def _date_step(numbers: FloatArray) -> float:
    """Find the coarsest of a day, an hour, a minute, a second and a microsecond that all moments are multiples of."""
    moments = numbers[~np.isnan(numbers)]
    return next((float(grid) for grid in _GRIDS if not np.fmod(moments, grid).any()), 1.0)
