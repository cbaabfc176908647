"""Labels of ranges: ``35-39``, ``[1.5, 2)``, ``[1.5, 1.9]``, ``<20``, ``65+``, a number itself, and ``*``.

They are written here and read back here, exactly. A label of a range never begins with a minus; a single
number is published as it is.
"""

import math
import re
from fractions import Fraction
from typing import NamedTuple

from sfumato.core.numbers import write_decimal
from sfumato.hierarchy.base import ROOT
from sfumato.hierarchy.bins import Bins, Bound

_NUMBER = r"-?\d+(?:\.\d+)?"
_FORMS = (
    re.compile(rf"(?P<low>{_NUMBER})"),
    re.compile(rf"(?P<low>\d+)-(?P<last>{_NUMBER})"),
    re.compile(rf"<(?P<end>{_NUMBER})"),
    re.compile(rf"(?P<low>{_NUMBER})\+"),
    re.compile(rf"\[(?P<low>{_NUMBER}), (?:(?P<end>{_NUMBER})\)|(?P<last>{_NUMBER})\]|inf\))"),
)


class Bounds(NamedTuple):
    """What a label covers: from `low` on, up to `high`, which is part of it where it is `closed`.

    >>> Bounds(Fraction(35), Fraction(40), closed=False).covers(Fraction(40))
    False
    """

    low: Fraction | float
    high: Fraction | float
    closed: bool

    def covers(self, number: Fraction) -> bool:
        """Whether a number lies within."""
        return self.low <= number and (number <= self.high if self.closed else number < self.high)


def write_range(low: Bound, high: Bound, *, scale: int = 1, whole: bool = False, closed: bool = False) -> str:
    """The label of the numbers from ``low / scale`` to ``high / scale``, the end included where it is `closed`.

    >>> write_range(35, 40, whole=True), write_range(15, 20, scale=10), write_range(15, 19, scale=10, closed=True)
    ('35-39', '[1.5, 2)', '[1.5, 1.9]')
    >>> write_range(-math.inf, 20), write_range(65, math.inf), write_range(-math.inf, math.inf)
    ('<20', '65+', '*')
    """
    if low == -math.inf and high == math.inf:
        return ROOT
    if not closed:
        return Bins(scale, 0, whole=whole).label(low, high)
    first, last = write_decimal(int(low), scale), write_decimal(int(high), scale)
    return first if low == high else f"[{first}, {last}]"


def read_range(label: str) -> Bounds:
    """What a label covers, or a ValueError where it is none.

    >>> read_range("35-39")
    Bounds(low=Fraction(35, 1), high=Fraction(39, 1), closed=True)
    >>> read_range("<1.5"), read_range("*").high
    (Bounds(low=-inf, high=Fraction(3, 2), closed=False), inf)
    """
    if label == ROOT:
        return Bounds(-math.inf, math.inf, closed=False)
    found = next((match for form in _FORMS if (match := form.fullmatch(label))), None)
    if found is None:
        raise ValueError(f"not a range: {label!r}")
    groups = found.groupdict()
    if found.re is _FORMS[0]:
        return Bounds(Fraction(label), Fraction(label), closed=True)
    low, end, last = (groups.get(name) for name in ("low", "end", "last"))
    start = -math.inf if low is None else Fraction(low)
    high = math.inf if end is last is None else Fraction(last or end or 0)
    return Bounds(start, high, closed=last is not None)
