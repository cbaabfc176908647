"""Numbers as they are written, without binary floats: 0.3 lies on the edge of bins of width 0.1."""

import math
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from sfumato.errors import PolicyError


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
