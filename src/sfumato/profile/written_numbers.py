"""Numbers as people write them: with a point, with a decimal comma, with marks between thousands; and round numbers."""

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.core.arrow import numpy_numbers
from sfumato.profile.column_values import ColumnValues

_STYLES = {
    "point": r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?\s*$",
    "comma": r"^\s*[+-]?([0-9]{1,3}([. '][0-9]{3})+|[0-9]+)(,[0-9]+)?\s*$",
    "grouped": r"^\s*[+-]?([0-9]{1,3}([,' ][0-9]{3})+|[0-9]+)(\.[0-9]+)?\s*$",
}
_LEADING_ZERO = r"^\s*[+-]?0[0-9]"
_WHOLE = r"^\s*[+-]?[0-9]+(\.0*)?\s*$"  # 20.0 as well, which is how pandas writes whole numbers beside missing ones
_MARKS = re.compile(r"[\s '’]")


@dataclass(frozen=True, eq=False, repr=False)
class WrittenNumbers:
    """A column of numbers: each different value as a float, the rows of each, and how they are written.

    `style` is ``point`` where hierarchies can read them as they are, ``comma`` for 1.234,5 and ``grouped`` for 1,234.5.
    """

    values: NDArray[np.float64]
    counts: NDArray[np.int64]
    whole: bool
    style: str = "point"

    @property
    def low(self) -> float:
        """The lowest number."""
        return float(self.values.min())

    @property
    def high(self) -> float:
        """The highest number."""
        return float(self.values.max())

    def within(self, share: float) -> tuple[float, float]:
        """Find where nearly all rows lie: without this share of them at either end, and without one at least.

        So no single record sets the ends, however far away it is.

        >>> WrittenNumbers(np.array([3.0, 1.0, 2.0, 999.0]), np.array([4, 1, 4, 1]), True).within(0.01)
        (2.0, 3.0)
        """
        ordered, rows_up_to = self._ordered
        rows = int(rows_up_to[-1])
        left_out = min(max(int(share * rows), 1), (rows - 1) // 2)
        low, high = np.searchsorted(rows_up_to, [left_out + 1, rows - left_out])
        return float(ordered[low]), float(ordered[high])

    @cached_property
    def _ordered(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The numbers in order, and the rows up to each."""
        order = np.argsort(self.values)
        return self.values[order], np.cumsum(self.counts[order])

    def rows_from(self, bound: float) -> int:
        """Count the rows with this number or a higher one."""
        return int(self.counts[self.values >= bound].sum())


def read_numbers(values: ColumnValues) -> WrittenNumbers | None:
    """Read a column as numbers; ``None`` where a value is none, or has zeros in front as codes do.

    >>> read_numbers(ColumnValues.from_counts({"1.234,5": 1, "-7": 2})).values.tolist()
    [1234.5, -7.0]
    >>> read_numbers(ColumnValues.from_counts({"007": 1, "8": 1})) is None
    True
    """
    sample = values.sample
    style = next(
        (
            style
            for style, pattern in _STYLES.items()
            if all(re.match(pattern, text) for text in sample) and values.all_match(pattern)
        ),
        None,
    )
    if style is None or values.any_match(_LEADING_ZERO):
        return None
    plain = values.texts
    if style != "point":
        plain = pa.array([plain_number(text, style) for text in values.to_list()], type=pa.large_string())
    trimmed = pc.replace_substring_regex(pc.utf8_trim_whitespace(plain), r"^\+", "")
    numbers = numpy_numbers(trimmed.cast(pa.float64()))
    if not np.isfinite(numbers).all():
        return None
    return WrittenNumbers(numbers, values.counts, bool(pc.all(pc.match_substring_regex(plain, _WHOLE)).as_py()), style)


def plain_number(text: str, style: str) -> str:
    """Write a number as hierarchies read it, exactly: 1.234,50 becomes 1234.5.

    >>> plain_number("1.234,50", "comma"), plain_number("1,234.5", "grouped"), plain_number("-7", "comma")
    ('1234.5', '1234.5', '-7')
    """
    bare = _MARKS.sub("", text)
    plain = bare.replace(".", "").replace(",", ".") if style == "comma" else bare.replace(",", "")
    return format(Decimal(plain).normalize(), "f")


def round_number(bound: float, *, up: bool = True) -> float:
    """Find the nearest of 1, 2 and 5 times a power of ten, at or above a positive number; or at or below it.

    >>> round_number(73), round_number(73, up=False), round_number(0.3), round_number(1000)
    (100.0, 50.0, 0.5, 1000.0)
    """
    power = 10.0 ** np.floor(np.log10(bound))
    steps = [step * power for step in (1.0, 2.0, 5.0, 10.0)]
    slack = 1 + 1e-9  # a power of ten that is not exact in binary is still itself
    if up:
        return drop_binary_noise(next(step for step in steps if step * slack >= bound))
    return drop_binary_noise(max(step for step in steps if step <= bound * slack))


def drop_binary_noise(number: float) -> float:
    """Round away the last digits, which binary arithmetic gets wrong.

    >>> drop_binary_noise(0.1 + 0.2)
    0.3
    """
    return float(f"{number:.12g}")


def toml_number(number: float) -> Any:
    """Turn a whole number into an integer, for TOML.

    >>> toml_number(20.0), toml_number(0.5)
    (20, 0.5)
    """
    return int(number) if float(number).is_integer() else drop_binary_noise(number)
