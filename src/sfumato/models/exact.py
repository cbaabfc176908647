"""Multiples of a policy's decimal number in whole numbers, without rounding.

A policy says 0.1 and means one tenth, not the binary number nearest to it: ten per cent of 30 rows are
3 rows, while ``0.1 * 30`` is a little more than 3. So a number is read from its digits as a fraction.
Denominators go up to 10**9, which also reads 0.3333333333333333 as a third; with that limit every
product of up to nine billion rows stays within 64 bits.
"""

from fractions import Fraction
from typing import NamedTuple

from sfumato.classes import IntArray

LARGEST = 10**9


class Parts(NamedTuple):
    """A number as ``whole + over / under`` with ``0 <= over < under``."""

    whole: int
    over: int
    under: int


def fraction(number: float) -> Fraction:
    """The fraction that a number's digits say.

    >>> fraction(0.1), fraction(1 / 3)
    (Fraction(1, 10), Fraction(1, 3))

    A number with more digits than that is rounded down, which makes a bound stricter and never looser.

    >>> fraction(0.09999999999)
    Fraction(99999999, 1000000000)
    """
    exact = Fraction(str(number))
    near = exact.limit_denominator(LARGEST)
    return near if float(near) == float(number) else Fraction(exact.numerator * LARGEST // exact.denominator, LARGEST)


def parts(number: float) -> Parts:
    """The number as whole and fraction, so that neither product with a count overflows."""
    exact = fraction(number)
    whole, over = divmod(exact.numerator, exact.denominator)
    return Parts(min(whole, LARGEST), over, exact.denominator)


def floor_times(number: float, counts: IntArray) -> IntArray:
    """The whole part of ``number * counts``.

    >>> import numpy as np
    >>> floor_times(0.1, np.array([29, 30]))
    array([2, 3])
    """
    whole, over, under = parts(number)
    return whole * counts + over * counts // under


def ceil_times(number: float, counts: IntArray) -> IntArray:
    """The least whole number that is not below ``number * counts``.

    >>> import numpy as np
    >>> ceil_times(0.1, np.array([30, 31]))
    array([3, 4])
    """
    whole, over, under = parts(number)
    return whole * counts - (-over * counts // under)
