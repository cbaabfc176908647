"""Cells of a column as whole numbers of steps of a grid, exact whatever their type and size, and back.

A mask that rounds, codes or adds works on whole numbers, so that 0.1 + 0.2 is 0.3 and no last digit of a floating-point
sum tells of a value. What comes back is of the type that came in: whole numbers stay whole, prices keep two decimals,
a CSV cell stays text, a date a date, and what is missing stays missing.
"""

import re
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.arrow import arrow_flags, arrow_numbers, arrow_places, arrow_texts
from sfumato.core.numbers import read_decimal
from sfumato.errors import DataError, quote

Steps = NDArray[Any]
"""Whole numbers: of 64 bits, or Python's own where these are too few."""

_WHOLE = r"^-?(0|[1-9][0-9]{0,17})$"
_ISO_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_EXACT = 1 << 53
"""Up to here every whole number is a float."""
_MOST_POWER = 22
"""Up to here every power of ten is a float."""
_NO_STEPS: Steps = np.zeros(0, dtype=np.int64)
_EPOCH = date(1970, 1, 1).toordinal()
_DAYS = (date.min.toordinal() - _EPOCH, date.max.toordinal() - _EPOCH)
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@dataclass(frozen=True, eq=False)
class GridNumbers:
    """The numbers or dates of a column.

    codes:  int[rows], the place of each row's value among the different ones; -1 where the cell is missing
    steps:  whole numbers, one for each different value, which is `steps` / 10^`decimals`; of dates days, of timestamps
            the longest of day, hour, minute, second and so on that they are all multiples of
    `whole` says that all values are whole and have to stay so; `limits` are the least and the largest number of steps
    that the type can hold, where it has such. `form` is how they are written again. `spelled` are the texts that values
    came as, where these are texts, with NULL for those that were changed: what is as it was is written as it was.
    """

    name: str
    column: Any
    codes: IntArray
    steps: Steps
    decimals: int
    form: str
    whole: bool = False
    limits: tuple[int, int] | None = None
    unit: int = 1
    spelled: Any = None

    @property
    def there(self) -> BoolArray:
        """Which rows have a value, bool[rows]."""
        return self.codes >= 0

    @property
    def is_date(self) -> bool:
        """Whether values are dates or timestamps."""
        return self.form in {"date", "text date", "timestamp"}

    @property
    def steps_per_day(self) -> float:
        """How many steps a day has, of timestamps; 1 of dates."""
        return 86_400 * _PER_SECOND[self.column.type.unit] / self.unit if self.form == "timestamp" else 1.0

    def floats(self) -> FloatArray:
        """The different values as floating numbers, dates in days: for statistics, and for nothing that is published.

        >>> read_grid_numbers(pa.chunked_array([["0.25", "3"]]), "x", "round").floats().tolist()
        [0.25, 3.0]
        """
        if self.is_date:
            return self.steps.astype(np.float64) / self.steps_per_day
        return _to_floats(self.steps, self.decimals)

    def row_floats(self) -> FloatArray:
        """The same for each row that has a value, float[rows that are there]."""
        return self.floats()[self.codes[self.there]]

    def with_decimals(self, decimals: int) -> "GridNumbers":
        """Write the same values on a finer grid.

        >>> fine = read_grid_numbers(pa.chunked_array([[2.5]]), "x", "round").with_decimals(3)
        >>> fine.steps.tolist(), fine.decimals
        ([2500], 3)
        """
        more = decimals - self.decimals
        if more <= 0:
            return self
        limits = None if self.limits is None else (self.limits[0] * 10**more, self.limits[1] * 10**more)
        return replace(self, steps=shift_steps(self.steps, more), decimals=decimals, limits=limits)

    def steps_of(self, number: float | str, key: str) -> "tuple[GridNumbers, int]":
        """Give a number or an ISO date of a policy in steps, with the column on a grid that has it.

        Raises `DataError` where no value of the column can be such a number.
        """
        if isinstance(number, str) != self.is_date:
            has, wants = ("dates", "a date") if self.is_date else ("numbers", "a number")
            raise DataError(f"column {quote(self.name)} holds {has}, so that {key} must be {wants}, not {number}")
        if isinstance(number, str):
            days = date.fromisoformat(number).toordinal() - _EPOCH
            if self.form != "timestamp":
                return self, days
            units = days * 86_400 * _PER_SECOND[self.column.type.unit]
            finer = self if units % self.unit == 0 else _ungrained(self)
            return finer, units // finer.unit
        exact = Fraction(str(number))
        decimals = _count_decimals(exact)
        scale = getattr(_value_type(self.column.type), "scale", None)
        if decimals > self.decimals and (self.whole or scale is not None):
            holds = "whole numbers" if self.whole else f"numbers of {scale} decimals"
            raise DataError(
                f"column {quote(self.name)} holds {holds}, which {key} = {number} is not; give one that is, or turn "
                "the column into numbers with more decimals"
            )
        finer = self.with_decimals(decimals)
        return finer, int(exact * 10**finer.decimals)

    def with_row_steps(self, steps: Steps) -> "GridNumbers":
        """Give every row that has a value another: whole numbers of steps, one for each such row.

        Different values are in ascending order then, so that codes are as good as ranks.

        >>> numbers = read_grid_numbers(pa.chunked_array([[7, None, 9]]), "x", "noise")
        >>> numbers.with_row_steps(np.array([8, 4])).write().to_pylist()
        [8, None, 4]
        """
        different, place = np.unique(steps, return_inverse=True)
        codes = np.full(len(self.codes), -1, dtype=np.int64)
        codes[self.there] = place.reshape(-1)
        return replace(self, codes=codes, steps=different, spelled=None)

    def clip(self, low: int | None, high: int | None) -> "GridNumbers":
        """Bring values between two bounds; whatever is at a bound then is written alike, however it was spelled.

        >>> codes = read_grid_numbers(pa.chunked_array([["007", "090", "093"]]), "x", "top")
        >>> codes.clip(None, 90).write().to_pylist()
        ['007', '90', '90']
        """
        steps, spelled = clip_steps(self.steps, low, high), self.spelled
        if spelled is not None:
            inside = np.ones(len(steps), dtype=np.bool_)
            for bound in (low, high):
                inside &= True if bound is None else np.asarray(steps != bound, dtype=np.bool_)
            spelled = pc.if_else(arrow_flags(inside), spelled, None)
        return replace(self, steps=steps, spelled=spelled)

    def write(self) -> Any:
        """Write a column of the type that came in; missing cells stay so.

        >>> prices = read_grid_numbers(pa.chunked_array([["12.50", None, "3.25"]]), "price", "round")
        >>> prices.with_row_steps(prices.steps * 2).write().to_pylist()
        ['25.00', None, '6.50']
        """
        if not len(self.steps):
            return self.column  # all of it is missing
        steps = self.steps
        steps = steps if self.limits is None else clip_steps(steps, *self.limits)
        indices = arrow_places(np.maximum(self.codes, 0), self.there)
        values = self._write_values(steps)
        values = values if self.spelled is None else pc.coalesce(self.spelled, values)
        written = pa.chunked_array([values.take(indices)])
        kind = self.column.type
        if not pa.types.is_dictionary(kind):
            if pa.types.is_floating(kind):  # what is no number is no NULL either
                written = pc.if_else(arrow_flags(self.there), written, self.column)
            return written
        return pa.chunked_array([written.combine_chunks().dictionary_encode().cast(kind)])

    def _write_values(self, steps: Steps) -> Any:
        """The values of these steps as an Arrow array of the column's value type."""
        kind = _value_type(self.column.type)
        match self.form:
            case "integer":
                return pa.array(steps.tolist(), kind) if steps.dtype == object else arrow_numbers(steps).cast(kind)
            case "date" | "timestamp":
                values = arrow_numbers((steps * self.unit).astype(np.int64))
                return values.cast(pa.int32()).cast(kind) if pa.types.is_date32(kind) else values.cast(kind)
            case "text date":
                return arrow_texts([date.fromordinal(int(step) + _EPOCH).isoformat() for step in steps.tolist()]).cast(
                    kind
                )
            case "decimal":
                return pa.array([Decimal(int(step)).scaleb(-self.decimals) for step in steps.tolist()], kind)
            case "floating":
                return arrow_numbers(_to_floats(steps, self.decimals)).cast(kind)
            case "text floating":
                return arrow_texts([repr(value) for value in _to_floats(steps, self.decimals).tolist()]).cast(kind)
        fixed = self.form == "text fixed"
        return arrow_texts([_write_text(int(step), self.decimals, fixed=fixed) for step in steps.tolist()]).cast(kind)


def read_grid_numbers(column: Any, name: str, key: str, kind: Any = None) -> GridNumbers:
    """Read a column of Arrow, of numbers, dates, or texts of either; `key` is the mask that needs them.

    `kind` is the type that it has in the source. Raises `DataError` where it holds something else.

    >>> read_grid_numbers(pa.chunked_array([["1.5", None, "20"]]), "x", "noise").steps.tolist()
    [15, 200]
    >>> read_grid_numbers(pa.chunked_array([["cook", "smith"]]), "job", "noise")
    Traceback (most recent call last):
    sfumato.errors.DataError: column 'job' has noise, and 2 of its different values are neither numbers nor dates such
    as 1979-05-27; leave noise out, or mend them
    """
    source = column.type if kind is None else kind
    if pa.types.is_dictionary(source):
        raise DataError(
            f"column {quote(name)} holds categories, and {key} needs numbers; turn them into these, or leave {key} out"
        )
    if pa.types.is_null(column.type):
        return GridNumbers(name, column, np.full(len(column), -1, dtype=np.int64), _NO_STEPS, 0, "integer")
    encoded = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(encoded.type):
        encoded = encoded.dictionary_decode()
    encoded = encoded.dictionary_encode()
    codes = np.asarray(pc.fill_null(encoded.indices, -1)).astype(np.int64)
    values = encoded.dictionary
    if values.null_count:  # a dictionary may hold NULL as an entry
        codes = np.where(np.append(np.asarray(values.is_null()), [False])[codes], -1, codes)
        keep = np.asarray(values.is_valid())
        codes = np.where(codes >= 0, np.append(np.cumsum(keep) - 1, [-1])[codes], -1)
        values = values.drop_null()
    types = pa.types
    plain = GridNumbers(name, column, codes, _NO_STEPS, 0, "integer")
    if types.is_integer(values.type):
        return _read_integers(plain, values)
    if types.is_decimal(values.type):
        return _read_decimals(plain, values)
    if types.is_floating(values.type):
        return _read_floats(plain, values, key)
    if types.is_date(values.type) or types.is_timestamp(values.type):
        return _read_dates(plain, values)
    if types.is_string(values.type) or types.is_large_string(values.type):
        return _read_texts(replace(plain, spelled=values), values, key)
    raise DataError(
        f"column {quote(name)} holds {source}, and {key} needs numbers or dates; turn it into these, or leave {key} out"
    )


def shift_steps(steps: Steps, places: int) -> Steps:
    """Multiply whole numbers by a power of ten, as wider numbers where 64 bits are too few.

    >>> shift_steps(np.array([3]), 2).tolist(), shift_steps(np.array([3]), 20).tolist()
    ([300], [300000000000000000000])
    """
    most = max((abs(int(step)) for step in (steps.min(), steps.max())), default=0) if len(steps) else 0
    if steps.dtype != object and places <= 18 and most * 10**places < 1 << 62:
        return np.asarray(steps * np.int64(10**places))
    return np.asarray(steps.astype(object) * 10**places)


def clip_steps(steps: Steps, low: int | None, high: int | None) -> Steps:
    """Bring whole numbers between two bounds, of which either may be none, and of any size.

    >>> clip_steps(np.array([-3, 5, 900]), 0, 10**30).tolist(), clip_steps(np.array([7]), None, 5).tolist()
    ([0, 5, 900], [5])
    """
    if not len(steps):
        return steps
    if low is not None and steps.min() < low:
        steps = np.maximum(steps if low < 1 << 62 else steps.astype(object), low)
    if high is not None and steps.max() > high:
        steps = np.minimum(steps if high > -(1 << 62) else steps.astype(object), high)
    return steps


def round_half_even(steps: Steps, unit: int) -> Steps:
    """Round whole numbers to multiples of a unit, halves to even ones, exactly.

    >>> round_half_even(np.array([249, 250, 350, -250]), 100).tolist()
    [200, 200, 400, -200]
    """
    if steps.dtype != object and unit >= 1 << 61:
        steps = steps.astype(object)
    times, rest = steps // unit, steps % unit
    up = (2 * rest > unit) | ((2 * rest == unit) & (times % 2 == 1))
    return np.asarray((times + up.astype(steps.dtype)) * unit)


def _read_integers(plain: GridNumbers, values: Any) -> GridNumbers:
    kind = values.type
    bits = kind.bit_width
    limits = (0, 2**bits - 1) if pa.types.is_unsigned_integer(kind) else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    small = limits[1] < 1 << 63
    steps = np.asarray(values.cast(pa.int64())) if small else np.array(values.to_pylist(), dtype=object)
    return replace(plain, steps=_narrow(steps), whole=True, limits=limits)


def _read_decimals(plain: GridNumbers, values: Any) -> GridNumbers:
    kind = values.type
    decimals = max(kind.scale, 0)
    steps = [int(Fraction(value) * 10**decimals) for value in values.to_pylist()]
    most = (10**kind.precision - 1) * 10 ** max(-kind.scale, 0)
    whole = kind.scale <= 0
    return replace(plain, steps=_narrow(steps), decimals=decimals, form="decimal", whole=whole, limits=(-most, most))


def _read_floats(plain: GridNumbers, values: Any, key: str) -> GridNumbers:
    """Read floats by their shortest decimal text; what is no number (NaN) counts as missing, and stays as it is."""
    numbers = np.asarray(values.cast(pa.float64()))
    if np.isinf(numbers).any():
        raise DataError(
            f"column {quote(plain.name)} holds infinite numbers, and {key} needs finite ones; make them missing"
        )
    if np.isnan(numbers).any():
        lacking = np.isnan(numbers)
        keep = ~lacking
        codes = np.append(np.where(lacking, -1, np.cumsum(keep) - 1), [-1])[plain.codes]
        plain, values, numbers = replace(plain, codes=codes), values.filter(arrow_flags(keep)), numbers[keep]
    if pa.types.is_float64(values.type):
        for decimals in range(16):  # nearly all columns have few decimals; all values are tried at once
            steps = np.rint(numbers * 10.0**decimals)
            if len(steps) and np.abs(steps).max() >= _EXACT:
                break
            if (steps / 10.0**decimals == numbers).all():
                return replace(plain, steps=steps.astype(np.int64), decimals=decimals, form="floating")
    texts = [repr(number) for number in numbers.tolist()]
    if not pa.types.is_float64(values.type):  # the shortest text of a narrow float is shorter
        texts = values.cast(pa.string()).to_pylist()
    fractions = [Fraction(text) for text in texts]
    decimals = max((_count_decimals(one) for one in fractions), default=0)
    return replace(
        plain, steps=_narrow([int(one * 10**decimals) for one in fractions]), decimals=decimals, form="floating"
    )


def _read_dates(plain: GridNumbers, values: Any) -> GridNumbers:
    kind = values.type
    if pa.types.is_date32(kind):
        return replace(plain, steps=np.asarray(values.cast(pa.int32())).astype(np.int64), form="date", limits=_DAYS)
    per_day = 86_400 * _PER_SECOND["ms" if pa.types.is_date64(kind) else kind.unit]
    units = np.asarray(values.cast(pa.int64()))
    form = "date" if pa.types.is_date64(kind) else "timestamp"
    if pa.types.is_date64(kind):
        return replace(plain, steps=units // per_day, form=form, limits=_DAYS, unit=per_day)
    grains = [per_day, per_day // 24, per_day // 1440, *(per_day // 86_400 // 10**power for power in range(10))]
    unit = next((grain for grain in grains if grain and (units % grain == 0).all()), 1)
    span = (_DAYS[0] * per_day // unit, ((_DAYS[1] + 1) * per_day - 1) // unit)
    limits = (max(span[0], -(2**63) // unit + 1), min(span[1], (2**63 - 1) // unit))
    return replace(plain, steps=units // unit, form=form, limits=limits, unit=unit)


def _read_texts(plain: GridNumbers, values: Any, key: str) -> GridNumbers:
    """Read texts: whole numbers, ISO dates, or decimals, of which it is kept how many digits they are written with."""

    def all_match(pattern: str) -> bool:
        return not len(values) or bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())

    if all_match(_WHOLE):  # also where there is no value at all
        return replace(plain, steps=np.asarray(values.cast(pa.int64())), form="text whole", whole=True)
    if all_match(_ISO_DATE):
        try:
            days = np.asarray(values.cast(pa.date32()).cast(pa.int32())).astype(np.int64)
            return replace(plain, steps=days, form="text date", limits=_DAYS)
        except pa.ArrowInvalid:  # a 13th month, say
            pass
    texts = values.to_pylist()
    ratios = [read_decimal(text) for text in texts]
    bad = sum(ratio is None for ratio in ratios)
    if bad:
        number = "1 of its different values is neither a number nor a date"
        if bad > 1:
            number = f"{bad:,} of its different values are neither numbers nor dates"
        raise DataError(
            f"column {quote(plain.name)} has {key}, and {number} such as 1979-05-27; leave {key} out, or mend them"
        )
    fractions = [Fraction(*ratio) for ratio in ratios if ratio is not None]
    written = {len(text.strip().partition(".")[2]) for text in texts}
    exponents = any(re.search("[eE]", text) for text in texts)
    decimals = max([*map(_count_decimals, fractions), *(() if exponents else written)])
    form = "text floating" if exponents else "text fixed" if len(written) == 1 else "text"
    steps = _narrow([int(one * 10**decimals) for one in fractions])
    return replace(plain, steps=steps, decimals=decimals, form=form, whole=decimals == 0 and not exponents)


def _value_type(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _narrow(steps: Any) -> Steps:
    """Whole numbers in 64 bits, with room for a sum, where they fit; else as Python's own."""
    if isinstance(steps, np.ndarray) and steps.dtype != object:
        most = max(abs(int(steps.min())), abs(int(steps.max()))) if len(steps) else 0
        return steps if most < 1 << 62 else steps.astype(object)
    values = list(steps)
    fits = all(-(1 << 62) < value < 1 << 62 for value in values)
    return np.array(values, dtype=np.int64 if fits else object)


def _count_decimals(number: Fraction) -> int:
    """Count the decimals that a decimal number needs.

    >>> [_count_decimals(Fraction(text)) for text in ("5", "0.25", "1e3", "0.001")]
    [0, 2, 0, 3]
    """
    rest, twos, fives = number.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives)


def _to_floats(steps: Steps, decimals: int) -> FloatArray:
    """The floats that are nearest to steps / 10^decimals: by one division where both are floats, else by their text."""
    if steps.dtype != object and decimals <= _MOST_POWER and (not len(steps) or np.abs(steps).max() < _EXACT):
        return np.asarray(steps / 10.0**decimals)
    return np.array([float(f"{int(step)}e-{decimals}") for step in steps.tolist()], dtype=np.float64)


def _ungrained(numbers: GridNumbers) -> GridNumbers:
    """Write timestamps in the units of their type."""
    limits = numbers.limits and (numbers.limits[0] * numbers.unit, numbers.limits[1] * numbers.unit)
    return replace(numbers, steps=_narrow(numbers.steps.astype(object) * numbers.unit), unit=1, limits=limits)


def _write_text(step: int, decimals: int, *, fixed: bool) -> str:
    """Write steps in digits, with all decimals or with as few as it takes.

    >>> _write_text(-250, 2, fixed=True), _write_text(-250, 2, fixed=False), _write_text(300, 2, fixed=False)
    ('-2.50', '-2.5', '3')
    """
    if not decimals:
        return str(step)
    digits = f"{abs(step):0{decimals + 1}}"
    text = f"{'-' if step < 0 else ''}{digits[:-decimals]}.{digits[-decimals:]}"
    return text if fixed else text.rstrip("0").rstrip(".")
