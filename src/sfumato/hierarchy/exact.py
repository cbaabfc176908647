"""Numbers as they are written, without binary floats: 0.3 lies on the edge of bins of width 0.1."""

import math
import re
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise

from sfumato.errors import PolicyError

# A long text or exponent would make numbers of millions of digits, and no data has them.
_LONGEST = 400
_NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?\s*", re.ASCII)
# More digits than any quotient of two such numbers has.
_WIDE = Context(prec=4 * (_LONGEST + 1000))


def ratio(text: str) -> tuple[int, int] | None:
    """Numerator and denominator of a finite decimal number; ``None`` for any other text.

    >>> ratio("0.3"), ratio("007"), ratio("1e2"), ratio("NaN"), ratio("1e999")
    ((3, 10), (7, 1), (100, 1), None, None)
    """
    if text.isascii() and text.isdigit() and len(text) < 300:
        return int(text), 1  # the common case, and the quick one
    if len(text) > _LONGEST or not _NUMBER.fullmatch(text) or math.isinf(float(text)):
        return None
    return Decimal(text).as_integer_ratio()


def decimal(numerator: int, denominator: int) -> str:
    """The quotient in digits, as short as it is exact.

    >>> decimal(3, 10), decimal(4000, 100), decimal(-25, 10)
    ('0.3', '40', '-2.5')
    """
    return format(_WIDE.divide(Decimal(numerator), Decimal(denominator)), "f")


def number(value: object, key: str) -> Fraction:
    """A number of the policy, exactly as it was written there.

    >>> number(0.1, "origin")
    Fraction(1, 10)
    >>> number(True, "origin")
    Traceback (most recent call last):
    sfumato.errors.PolicyError: origin: must be a number, not True
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise PolicyError(f"must be a number, not {value!r}", key=key)
    if not math.isfinite(value):
        raise PolicyError(f"must be a finite number, not {value}", key=key)
    return Fraction(str(value))


def pair(value: object, key: str) -> tuple[float, float]:
    """The lowest and the highest number of a domain, as they were given.

    >>> pair([17, 90], "domain")
    (17, 90)
    """
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise PolicyError(f"must be [lowest, highest], not {value!r}", key=key)
    if number(value[0], key) >= number(value[1], key):
        raise PolicyError(f"must have its lowest number first, not {list(value)!r}", key=key)
    return value[0], value[1]


def multiples(value: object) -> tuple[float, ...]:
    """The widths of bins that nest, as they were given.

    >>> multiples([5, 10])
    (5, 10)
    """
    if not isinstance(value, list | tuple) or not value:
        raise PolicyError(f"must be a list of widths, as in [5, 10, 20], not {value!r}", key="intervals")
    widths = [number(width, "intervals") for width in value]
    if min(widths) <= 0:
        raise PolicyError(f"must be widths above 0, not {list(value)!r}", key="intervals")
    for i, (fine, coarse) in enumerate(pairwise(widths)):
        if coarse % fine:
            fault = f"{value[i + 1]} is no multiple of {value[i]}: the bins do not nest"
            raise PolicyError(f"{fault}; make each width a multiple of the one before", key="intervals")
    return tuple(value)
