"""Numbers in bins of fixed widths: 37 → 35-39 → 30-39 → 20-39 → ``*``; and the text of ranges of numbers.

The label of a range is ``35-39`` (whole numbers), ``[1.5, 2)``, ``[1.5, 1.9]``, ``<20``, ``65+``, a number itself or
``*``. It never begins with a minus, unless it is a single number. Labels are written and read exactly, without binary
floats: 0.3 lies on the edge of bins of width 0.1.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar, Literal, NamedTuple

from sfumato.core.numbers import read_decimal, write_decimal
from sfumato.errors import PolicyError, quote
from sfumato.hierarchy.hierarchy import (
    MOST_LEVELS,
    ROOT,
    Branch,
    Hierarchy,
    Label,
    build,
    label_paths,
    ncp,
    path_from,
    rank_values,
    refuse_values,
)

Ratio = tuple[int, int]
"""Numerator and denominator."""
Bound = float
"""A whole number of any size, or an infinity; never another float."""


@dataclass(frozen=True)
class Intervals:
    """``{ intervals = [5, 10, 20] }``: a level of bins for each width, then ``*``.

    Bins start at `origin`, so that no label depends on the extremes that happen to be in the data. Values
    below `bottom` and from `top` on share one label each; `domain` is the lowest and the highest value there
    can be, both included, and what losses are measured on. `integers` says that values are whole numbers and bins
    are written ``35-39``; left out, it is so where all that is declared is whole. It is never found from the values:
    one record would change the labels of all.

    >>> Intervals([5, 10], top=80).bind(["37", "83"], column="age").labels
    (('37', '83'), ('35-39', '80+'), ('30-39', '80+'), ('*',))
    """

    intervals: Sequence[float]
    origin: float = 0
    domain: Sequence[float] | None = None
    bottom: float | None = None
    top: float | None = None
    integers: bool | None = None

    levelled: ClassVar[bool] = True
    schema: ClassVar[dict[str, object]] = {
        "type": "object",
        "description": "Numbers in bins of fixed widths, one level for each width.",
        "properties": {
            "intervals": {
                "type": "array",
                "items": {"type": "number", "exclusiveMinimum": 0},
                "minItems": 1,
                "maxItems": MOST_LEVELS,
                "description": "The widths, each a multiple of the one before.",
            },
            "origin": {"type": "number", "description": "Where a bin starts; 0 when left out."},
            "domain": {
                "type": "array",
                "items": {"type": "number"},
                "minItems": 2,
                "maxItems": 2,
                "description": "The lowest and the highest value there can be, both included.",
            },
            "bottom": {"type": "number", "description": "Values below it share one label (bottom coding)."},
            "top": {"type": "number", "description": "Values from it on share one label (top coding)."},
            "integers": {
                "type": "boolean",
                "description": "Whether all values are integers; true when left out, if widths and bounds are.",
            },
        },
        "required": ["intervals"],
        "additionalProperties": False,
    }

    def __post_init__(self) -> None:
        object.__setattr__(self, "intervals", _nested_widths(self.intervals))
        if self.domain is not None:
            object.__setattr__(self, "domain", policy_domain(self.domain, "domain"))
        for key in ("origin", "bottom", "top"):
            if getattr(self, key) is not None:
                policy_number(getattr(self, key), key)
        if self.bottom is not None and self.top is not None and self.bottom > self.top:
            raise PolicyError(f"must not be below bottom, {self.bottom}, as {self.top} is", key="top")
        if not isinstance(self.integers, bool | None):
            raise PolicyError(f"must be true or false, not {quote(self.integers)}", key="integers")

    @property
    def is_whole(self) -> bool:
        """Whether bins are of whole numbers: as declared, or as the declared numbers suggest.

        >>> Intervals([5]).is_whole, Intervals([0.5]).is_whole, Intervals([5], integers=False).is_whole
        (True, False, False)
        """
        return all(denominator == 1 for denominator in self._denominators()) if self.integers is None else self.integers

    def bind(self, values: Sequence[Label], *, column: str, nulls: Sequence[str] = ("",)) -> Hierarchy:
        """Find the bins of each value, by exact arithmetic on its text.

        >>> Intervals([0.1]).bind(["0.3", "0.7"], column="ph").labels[1]
        ('[0.3, 0.4)', '[0.7, 0.8)')
        """
        ratios = read_numbers(values, column=column, whole=self.is_whole, form="bins")
        scale = math.lcm(*{ratio[1] for ratio in ratios if ratio}, *self._denominators())
        numbers = [ratio and ratio[0] * (scale // ratio[1]) for ratio in ratios]
        bins = self._bins(scale, extra=values.count(None))
        outside = [value for value, n in zip(values, numbers, strict=True) if n is not None and bins.outside(n)]
        remedy = "widen the domain, or take them in with bottom or top"
        refuse_values(outside, column=column, fault="outside of its domain", remedy=remedy)
        levels = [bins.level(numbers, _scaled(width, scale)) for width in self.intervals]
        loss = [*(loss for _, loss in levels), bins.root] if bins.domain else None
        ranks = rank_values(values, numbers)
        return build([values, *(labels for labels, _ in levels)], loss=loss, ranks=ranks, places=len(values))

    def paths(self, labels: Sequence[Label], *, column: str, nulls: Sequence[str] = ("",)) -> list[Branch | None]:
        """Find the bins above each number or bin; there are none for a bin in which no value that can be bound lies.

        A label is read back by writing: it mentions a number, and counts if it is among the labels of a number there.

        >>> Intervals([5, 10]).paths(["37", "35-39", "36-40"], column="age")
        [('37', '35-39', '30-39', '*'), ('35-39', '30-39', '*'), None]
        """
        texts = [text for text in dict.fromkeys(labels) if text is not None]
        mentions = {text: mention for text in texts if (mention := _read_mention(text))}
        scale = math.lcm(*{ratio[1] for ratio, _ in mentions.values()}, *self._denominators())
        bins = self._bins(scale, extra=0)
        numbers = [bins.witness(ratio[0] * (scale // ratio[1]), side) for ratio, side in mentions.values()]
        levels = [bins.level(numbers, _scaled(width, scale))[0] for width in self.intervals]
        paths: dict[str, Branch | None] = {}
        for text, number, upper in zip(mentions, numbers, zip(*levels, strict=True), strict=True):
            if number is not None:
                value = [text] if mentions[text][1] == "at" else []
                paths[text] = path_from(text, (*value, *upper, ROOT))
        return label_paths(labels, paths.get, null=(*[None] * (len(levels) + 1), ROOT))

    def _denominators(self) -> list[int]:
        ends = (self.origin, self.bottom, self.top, *(self.domain or ()), *self.intervals)
        return [policy_number(end, "intervals").denominator for end in ends if end is not None]

    def _bins(self, scale: int, *, extra: int) -> "FixedBins":
        bottom = -math.inf if self.bottom is None else _scaled(self.bottom, scale)
        top = math.inf if self.top is None else _scaled(self.top, scale)
        domain = None if self.domain is None else (_scaled(self.domain[0], scale), _scaled(self.domain[1], scale))
        origin, whole = _scaled(self.origin, scale), self.is_whole
        return FixedBins(scale, origin, bottom, top, domain=domain, whole=whole, extra=extra)


Side = Literal["at", "from", "below"]
_NUMBER = r"-?\d+(?:\.\d+)?"
# Read loosely, since a label counts only if the number in it has just this label.
_MENTIONS: dict[Side, re.Pattern[str]] = {
    "at": re.compile(r"(.*)", re.DOTALL),
    "from": re.compile(rf"\[?({_NUMBER})(?:-|\+|, ).*"),
    "below": re.compile(rf"<({_NUMBER})"),
}


def _read_mention(text: str) -> tuple[Ratio, Side] | None:
    """Find the number that a text mentions if it looks like a number or a bin, and on which side of it values lie.

    >>> _read_mention("37"), _read_mention("35-39"), _read_mention("<20"), _read_mention("none")
    (((37, 1), 'at'), ((35, 1), 'from'), ((20, 1), 'below'), None)
    """
    for side, form in _MENTIONS.items():
        if (match := form.fullmatch(text)) and (ratio := read_decimal(match[1])):
            return ratio, side
    return None


@dataclass(frozen=True)
class FixedBins:
    """Bins from `origin` on, cut off at `bottom` and `top`; all numbers are whole multiples of ``1 / scale``.

    `whole` says that values are integers, `extra` how many leaves the domain has besides its numbers.

    >>> FixedBins(scale=1, origin=0, top=80).level([37, 85, None], 5)[0]
    ['35-39', '80+', None]
    """

    scale: int
    origin: int
    bottom: Bound = -math.inf
    top: Bound = math.inf
    domain: tuple[int, int] | None = None
    whole: bool = True
    extra: int = 0

    def level(self, numbers: Sequence[int | None], width: int) -> tuple[list[Label], dict[Label, float]]:
        """Find the label of each number among bins of one width, and the loss of each label.

        >>> FixedBins(scale=1, origin=0, domain=(0, 10)).level([3], 5)
        (['0-4'], {'0-4': 0.4})
        """
        starts = [None if number is None else self._start(number, width) for number in numbers]
        labels: dict[Bound | None, Label] = {None: None}
        loss: dict[Label, float] = dict.fromkeys([None] * self.extra, 0.0)
        for start in set(starts):
            if start is None:
                continue
            if start == -math.inf:
                low, high = start, self.bottom
            elif start == math.inf:
                low, high = self.top, start
            else:
                low, high = max(start, self.bottom), min(start + width, self.top)
            labels[start] = write_range(low, high, scale=self.scale, whole=self.whole)
            loss[labels[start]] = self.loss(low, high)
        return [labels[start] for start in starts], loss

    def _start(self, number: int, width: int) -> Bound:
        """Where the bin of a number starts before it is cut off; an infinity for bottom and top coding."""
        if number < self.bottom:
            return -math.inf
        return math.inf if number >= self.top else number - (number - self.origin) % width

    def outside(self, number: int) -> bool:
        """Whether a number lies out of the domain and no bottom or top coding takes it in.

        >>> FixedBins(scale=1, origin=0, top=80, domain=(17, 90)).outside(95)
        False
        """
        if self.domain is None:
            return False
        lowest, highest = self.domain
        return self.bottom <= number < lowest or highest < number < self.top

    def witness(self, number: int, side: Side) -> int | None:
        """Find a number that can be bound, at a number, from it on or below it; ``None`` where there is none.

        If any number there has a label that begins or ends at `number`, this one has.

        >>> FixedBins(scale=1, origin=0, domain=(17, 90)).witness(15, "from")
        17
        """
        step = self.scale if self.whole else 1
        if side == "below":
            number = (number - 1) // step * step
        elif side == "from":
            number = -(-max(number, self.domain[0] if self.domain else number) // step) * step
        return None if number % step or self.outside(number) else number

    def loss(self, low: Bound, high: Bound) -> float:
        """Compute the NCP of a bin: by integers of the domain, or by its share of the domain's width.

        >>> FixedBins(scale=1, origin=0, domain=(0, 100), whole=False).loss(40, 60)
        0.2
        """
        if self.domain is None:
            return 0.0
        if self.whole:
            return ncp(self._integers(low, high), self.leaves)
        lowest, highest = self.domain
        return float(max(min(high, highest) - max(low, lowest), 0) / (highest - lowest))

    @property
    def leaves(self) -> int:
        """Integers in the domain, and what it has besides.

        >>> FixedBins(scale=10, origin=0, domain=(5, 100)).leaves
        10
        """
        return self._integers(-math.inf, math.inf) + self.extra

    @property
    def root(self) -> dict[Label, float]:
        """The loss of the root, by its label.

        >>> FixedBins(scale=1, origin=0, domain=(0, 10), extra=1).root
        {'*': 1.0}
        """
        return {ROOT: ncp(self.leaves, self.leaves) if self.whole else 1.0}

    def _integers(self, low: Bound, high: Bound) -> int:
        """How many integers of the domain are in a bin."""
        lowest, highest = self.domain or (0, 0)
        first = -(-max(low, lowest) // self.scale)
        end = -(-min(high, highest + 1) // self.scale)
        return int(end - first)


class NumberRange(NamedTuple):
    """The numbers that a label covers: from `low` on, up to `high`, which is part of it where it is `closed`.

    >>> NumberRange(Fraction(35), Fraction(40), closed=False).covers(Fraction(40))
    False
    """

    low: Fraction | float
    high: Fraction | float
    closed: bool

    def covers(self, number: Fraction) -> bool:
        """Whether a number lies within."""
        return self.low <= number and (number <= self.high if self.closed else number < self.high)


def write_range(low: Bound, high: Bound, *, scale: int = 1, whole: bool = False, closed: bool = False) -> str:
    """Write the label of the numbers from ``low / scale`` to ``high / scale``, the end included where it is `closed`.

    >>> write_range(35, 40, whole=True), write_range(35, 36, whole=True), write_range(-5, 0, whole=True)
    ('35-39', '35', '[-5, 0)')
    >>> write_range(15, 20, scale=10), write_range(15, 19, scale=10, closed=True)
    ('[1.5, 2)', '[1.5, 1.9]')
    >>> write_range(-math.inf, 20), write_range(65, math.inf), write_range(-math.inf, math.inf)
    ('<20', '65+', '*')
    """

    def text(bound: Bound) -> str:
        return write_decimal(int(bound), scale)

    # Infinities are found by comparison: isinf would make a float of a whole number of any size.
    if low == -math.inf:
        return ROOT if high == math.inf else f"<{text(high)}"
    if high == math.inf:
        return f"{text(low)}+" if low >= 0 else f"[{text(low)}, inf)"
    if closed:
        return text(low) if low == high else f"[{text(low)}, {text(high)}]"
    if not whole or low < 0 or low % scale or high % scale:
        return f"[{text(low)}, {text(high)})"
    last = high - scale
    return text(low) if low == last else f"{text(low)}-{text(last)}"


_RANGES = (
    re.compile(rf"(?P<low>\d+)-(?P<last>{_NUMBER})"),
    re.compile(rf"<(?P<end>{_NUMBER})"),
    re.compile(rf"(?P<low>{_NUMBER})\+"),
    re.compile(rf"\[(?P<low>{_NUMBER}), (?:(?P<end>{_NUMBER})\)|(?P<last>{_NUMBER})\]|inf\))"),
)


def read_range(label: str) -> NumberRange:
    """Read a label as `write_range` writes it, and raise ValueError for any other text.

    >>> read_range("35-39")
    NumberRange(low=Fraction(35, 1), high=Fraction(39, 1), closed=True)
    >>> read_range("<1.5"), read_range("*").high
    (NumberRange(low=-inf, high=Fraction(3, 2), closed=False), inf)
    """
    if label == ROOT:
        return NumberRange(-math.inf, math.inf, closed=False)
    if re.fullmatch(_NUMBER, label):
        return NumberRange(Fraction(label), Fraction(label), closed=True)
    match = next((match for form in _RANGES if (match := form.fullmatch(label))), None)
    if match is None:
        raise ValueError(f"not a range: {quote(label)}")
    low, end, last = (match.groupdict().get(name) for name in ("low", "end", "last"))
    start = -math.inf if low is None else Fraction(low)
    high = math.inf if end is last is None else Fraction(last or end or 0)
    return NumberRange(start, high, closed=last is not None)


def read_number_or_range(label: str) -> NumberRange | None:
    """Read a number, in whatever way it is written, or the label of a range; ``None`` for any other text.

    >>> read_number_or_range("037.0"), read_number_or_range("old")
    (NumberRange(low=Fraction(37, 1), high=Fraction(37, 1), closed=True), None)
    """
    ratio = read_decimal(label)
    if ratio is not None:
        return NumberRange(Fraction(*ratio), Fraction(*ratio), closed=True)
    try:
        return read_range(label)
    except ValueError:
        return None


def read_numbers(values: Sequence[Label], *, column: str, whole: bool, form: str) -> list[Ratio | None]:
    """Read the values of a column as numbers, ``None`` for NULL, or refuse those that are none or not `whole`.

    `form` is what the column is published in, bins or ranges, for the sentence about the latter.
    """
    ratios = [None if value is None else read_decimal(value) for value in values]
    read = list(zip(values, ratios, strict=True))
    strange = [value for value, ratio in read if value is not None and ratio is None]
    remedy = "mend them, or declare their text as null"
    refuse_values(strange, column=column, fault="not finite numbers", remedy=remedy)
    broken = [value for value, ratio in read if ratio and ratio[1] != 1] if whole else []
    refuse_values(broken, column=column, fault="not integers", remedy=f"say integers = false, for {form} as [35, 40)")
    return ratios


def policy_number(value: object, key: str) -> Fraction:
    """Take a number of the policy exactly as it is written there.

    >>> policy_number(0.1, "origin")
    Fraction(1, 10)
    >>> policy_number(True, "origin")
    Traceback (most recent call last):
    sfumato.errors.PolicyError: origin: must be a number, not True
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise PolicyError(f"must be a number, not {quote(value)}", key=key)
    if not math.isfinite(value):
        raise PolicyError(f"must be a finite number, not {value}", key=key)
    return Fraction(str(value))


def policy_domain(value: object, key: str) -> tuple[float, float]:
    """Take the lowest and the highest number of a domain, as they are in the policy.

    >>> policy_domain([17, 90], "domain")
    (17, 90)
    """
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise PolicyError(f"must be [lowest, highest], not {quote(value)}", key=key)
    if policy_number(value[0], key) >= policy_number(value[1], key):
        raise PolicyError(f"must have its lowest number first, not {quote(list(value))}", key=key)
    return value[0], value[1]


def _nested_widths(value: object) -> tuple[float, ...]:
    """Take the widths of bins that nest, as they are in the policy.

    >>> _nested_widths([5, 10])
    (5, 10)
    """
    if not isinstance(value, list | tuple) or not value:
        raise PolicyError(f"must be a list of widths, as in [5, 10, 20], not {quote(value)}", key="intervals")
    if len(value) > MOST_LEVELS:
        raise PolicyError(f"must be at most {MOST_LEVELS} widths, not {len(value):,}", key="intervals")
    widths = [policy_number(width, "intervals") for width in value]
    if min(widths) <= 0:
        raise PolicyError(f"must be widths above 0, not {quote(list(value))}", key="intervals")
    for i, (fine, coarse) in enumerate(pairwise(widths)):
        if coarse % fine:
            fault = f"{value[i + 1]} is no multiple of {value[i]}: the bins do not nest"
            raise PolicyError(f"{fault}; make each width a multiple of the one before", key="intervals")
    return tuple(value)


def _scaled(value: float, scale: int) -> int:
    return int(policy_number(value, "intervals") * scale)
