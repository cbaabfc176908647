"""Decimal numbers as they are written, without binary floats, and what counts as a number at all.

0.3 lies on the edge of bins of width 0.1, and ten per cent of 30 rows are 3 rows, while ``0.1 * 30`` is a little more
than 3. So a number is read from its digits, as a fraction, wherever an edge or a bound decides about somebody's row.
"""

import math
import re
from collections.abc import Iterable
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from sfumato.core.arrays import IntArray

# A long text or exponent would make numbers of millions of digits, and no data has them.
_LONGEST = 400
_DECIMAL = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?\s*", re.ASCII)
# More digits than any quotient of two such numbers has.
_WIDE = Context(prec=4 * (_LONGEST + 1000))

LARGEST_DENOMINATOR = 10**9
"""With it every product of a fraction and up to nine billion rows stays within 64 bits."""


def is_number(value: object) -> bool:
    """Whether a value of a TOML or JSON file is a finite number; True and False are none.

    >>> is_number(1.5), is_number(True), is_number(float("nan")), is_number("1")
    (True, False, False, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def read_decimal(text: str) -> tuple[int, int] | None:
    """Read a cell's text as numerator and denominator of a finite decimal number; ``None`` for any other text.

    >>> read_decimal("0.3"), read_decimal("007"), read_decimal("1e2"), read_decimal("NaN"), read_decimal("1e999")
    ((3, 10), (7, 1), (100, 1), None, None)
    """
    if text.isascii() and text.isdigit() and len(text) < 300:
        return int(text), 1  # the common case, and the quick one
    if len(text) > _LONGEST or not _DECIMAL.fullmatch(text) or math.isinf(float(text)):
        return None
    return Decimal(text).as_integer_ratio()


def read_decimals(texts: Iterable[str | None]) -> list[Decimal] | None:
    """Read a column of texts as decimal numbers; ``None`` where one of them, NULL included, is no finite number.

    >>> read_decimals(["10", "9.5"]), read_decimals(["10", None])
    ([Decimal('10'), Decimal('9.5')], None)
    """
    numbers = []
    for text in texts:
        if text is None or read_decimal(text) is None:
            return None
        numbers.append(Decimal(text))
    return numbers


def write_decimal(numerator: int, denominator: int) -> str:
    """Write a quotient in digits, as short as it is exact.

    >>> write_decimal(3, 10), write_decimal(4000, 100), write_decimal(-25, 10)
    ('0.3', '40', '-2.5')
    """
    return format(_WIDE.divide(Decimal(numerator), Decimal(denominator)), "f")


@lru_cache(maxsize=1024)
def exact_fraction(number: float) -> Fraction:
    """Turn a number of a policy into the fraction that its digits say.

    Denominators go up to 10**9, which also reads 0.3333333333333333 as a third.

    >>> exact_fraction(0.1), exact_fraction(1 / 3)
    (Fraction(1, 10), Fraction(1, 3))

    A number with more digits than that is rounded down, which makes a bound stricter and never looser.

    >>> exact_fraction(0.09999999999)
    Fraction(99999999, 1000000000)
    """
    exact = Fraction(str(number))
    near = exact.limit_denominator(LARGEST_DENOMINATOR)
    if float(near) == float(number):
        return near
    return Fraction(exact.numerator * LARGEST_DENOMINATOR // exact.denominator, LARGEST_DENOMINATOR)


class MixedFraction(NamedTuple):
    """A number as ``whole + over / under`` with ``0 <= over < under``."""

    whole: int
    over: int
    under: int


def mixed_fraction(number: float) -> MixedFraction:
    """Take a number apart into whole and fraction, so that neither product with a count overflows."""
    exact = exact_fraction(number)
    whole, over = divmod(exact.numerator, exact.denominator)
    return MixedFraction(min(whole, LARGEST_DENOMINATOR), over, exact.denominator)


def floor_times(number: float, counts: IntArray) -> IntArray:
    """Compute the whole part of ``number * counts``, exactly.

    >>> import numpy as np
    >>> floor_times(0.1, np.array([29, 30]))
    array([2, 3])
    """
    whole, over, under = mixed_fraction(number)
    return whole * counts + over * counts // under


def ceil_times(number: float, counts: IntArray) -> IntArray:
    """Compute the least whole number that is not below ``number * counts``, exactly.

    >>> import numpy as np
    >>> ceil_times(0.1, np.array([30, 31]))
    array([3, 4])
    """
    whole, over, under = mixed_fraction(number)
    return whole * counts - (-over * counts // under)
