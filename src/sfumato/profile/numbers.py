"""Numbers as people write them: with a point, with a decimal comma, with marks between thousands."""

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
from sfumato.profile.values import Values

_POINT = r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?\s*$"
_COMMA = r"^\s*[+-]?([0-9]{1,3}([. ' ][0-9]{3})+|[0-9]+)(,[0-9]+)?\s*$"
_GROUPED = r"^\s*[+-]?([0-9]{1,3}([,'  ][0-9]{3})+|[0-9]+)(\.[0-9]+)?\s*$"
_ZERO = r"^\s*[+-]?0[0-9]"
_WHOLE = r"^\s*[+-]?[0-9]+\s*$"
_MARKS = re.compile(r"[\s '’]")


@dataclass(frozen=True, eq=False, repr=False)
class Numbers:
    """A column of numbers: each different value as a float, and how they are written.

    `style` is ``point`` where hierarchies can read them as they are, ``comma`` for 1.234,5 and ``grouped`` for 1,234.5.
    """

    values: NDArray[np.float64]
    counts: NDArray[np.int64]
    whole: bool
    style: str = "point"

    def within(self, share: float) -> tuple[float, float]:
        """Where nearly all rows lie: without this share of them at either end, and without one at least.

        So no single record sets the ends, however far away it is.

        >>> Numbers(np.array([3.0, 1.0, 2.0, 999.0]), np.array([4, 1, 4, 1]), True).within(0.01)
        (2.0, 3.0)
        """
        ordered, reached = self._ordered
        rows = int(reached[-1])
        out = min(max(int(share * rows), 1), (rows - 1) // 2)
        low, high = np.searchsorted(reached, [out + 1, rows - out])
        return float(ordered[low]), float(ordered[high])

    @cached_property
    def _ordered(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The numbers in order, and the rows up to each."""
        order = np.argsort(self.values)
        return self.values[order], np.cumsum(self.counts[order])

    def rows_from(self, bound: float) -> int:
        """Rows with this number or a higher one."""
        return int(self.counts[self.values >= bound].sum())

    @property
    def low(self) -> float:
        """The lowest."""
        return float(self.values.min())

    @property
    def high(self) -> float:
        """The highest."""
        return float(self.values.max())


def numbers_of(values: Values) -> Numbers | None:
    """The column as numbers, or nothing where a value is none, or has zeros in front as codes do.

    >>> from sfumato.profile.values import of_texts
    >>> numbers_of(of_texts({"1.234,5": 1, "-7": 2})).values.tolist()
    [1234.5, -7.0]
    >>> numbers_of(of_texts({"007": 1, "8": 1})) is None
    True
    """
    for style, pattern in (("point", _POINT), ("comma", _COMMA), ("grouped", _GROUPED)):
        if all(re.match(pattern, text) for text in values.sample) and values.all_match(pattern):
            return _read(values, style)
    return None


def _read(values: Values, style: str) -> Numbers | None:
    if values.any_match(_ZERO):
        return None
    plain = (
        values.texts
        if style == "point"
        else pa.array([normal(text, style) for text in values.listed()], type=pa.large_string())
    )
    trimmed = pc.replace_substring_regex(pc.utf8_trim_whitespace(plain), r"^\+", "")
    found = numpy_numbers(trimmed.cast(pa.float64()))
    if not np.isfinite(found).all():
        return None
    return Numbers(found, values.counts, bool(pc.all(pc.match_substring_regex(plain, _WHOLE)).as_py()), style)


def normal(text: str, style: str) -> str:
    """A number as hierarchies read it, exactly: 1.234,50 becomes 1234.5.

    >>> normal("1.234,50", "comma"), normal("1,234.5", "grouped"), normal("-7", "comma")
    ('1234.5', '1234.5', '-7')
    """
    bare = _MARKS.sub("", text)
    plain = bare.replace(".", "").replace(",", ".") if style == "comma" else bare.replace(",", "")
    short = Decimal(plain).normalize()
    return format(short, "f")


def nice(bound: float, *, up: bool = True) -> float:
    """The nearest of 1, 2 and 5 times a power of ten, at or above a positive number; or at or below it.

    >>> nice(73), nice(73, up=False), nice(0.3), nice(1000)
    (100.0, 50.0, 0.5, 1000.0)
    """
    power = 10.0 ** np.floor(np.log10(bound))
    steps = [step * power for step in (1.0, 2.0, 5.0, 10.0)]
    slack = 1 + 1e-9  # a power of ten that is not exact in binary is still itself
    if up:
        return round_off(next(step for step in steps if step * slack >= bound))
    return round_off(max(step for step in steps if step <= bound * slack))


def round_off(number: float) -> float:
    """Without the dust of binary arithmetic.

    >>> round_off(0.1 + 0.2)
    0.3
    """
    return float(f"{number:.12g}")


def tidy(number: float) -> Any:
    """A whole number as an integer, for TOML.

    >>> tidy(20.0), tidy(0.5)
    (20, 0.5)
    """
    return int(number) if float(number).is_integer() else round_off(number)
