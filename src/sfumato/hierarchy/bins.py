"""Fixed bins on the line of numbers: which one a number falls into, its label and its loss.

All numbers are whole multiples of ``1 / scale``, so that every comparison is exact.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.core.numbers import write_decimal
from sfumato.hierarchy.base import ROOT, Label, ncp

# A whole number of any size, or an infinity; never another float.
Bound = float


@dataclass(frozen=True)
class Bins:
    """Bins from `origin` on, cut off at `bottom` and `top`.

    `whole` says that the numbers are integers, `extra` how many leaves the domain has besides its numbers.

    >>> Bins(scale=1, origin=0, top=80).level([37, 85, None], 5)[0]
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
        """The label of each number among bins of one width, and the loss of each label.

        >>> Bins(scale=1, origin=0, domain=(0, 10)).level([3], 5)
        (['0-4'], {'0-4': 0.4})
        """
        places = [None if number is None else self._place(number, width) for number in numbers]
        bounds = {place: self._bounds(place, width) for place in set(places) if place is not None}
        labels: dict[Bound | None, Label] = {place: self.label(*bound) for place, bound in bounds.items()}
        loss = {labels[place]: self.loss(*bound) for place, bound in bounds.items()}
        labels[None] = None
        return [labels[place] for place in places], loss | dict.fromkeys([None] * self.extra, 0.0)

    def outside(self, number: int) -> bool:
        """Whether a number lies out of the domain and no bottom or top coding takes it in.

        >>> Bins(scale=1, origin=0, top=80, domain=(17, 90)).outside(95)
        False
        """
        if self.domain is None:
            return False
        lowest, highest = self.domain
        return self.bottom <= number < lowest or highest < number < self.top

    def label(self, low: Bound, high: Bound) -> str:
        """What is published for the numbers from `low` to just below `high`; never begins with a minus.

        >>> bins = Bins(scale=1, origin=0)
        >>> bins.label(35, 40), bins.label(35, 36), bins.label(-5, 0), bins.label(-math.inf, 20)
        ('35-39', '35', '[-5, 0)', '<20')
        """
        # By comparison: isinf would make a float of a whole number of any size.
        if low == -math.inf:
            return f"<{self._text(high)}"
        if high == math.inf:
            return f"{self._text(low)}+" if low >= 0 else f"[{self._text(low)}, inf)"
        if not self.whole or low < 0 or low % self.scale or high % self.scale:
            return f"[{self._text(low)}, {self._text(high)})"
        last = high - self.scale
        return self._text(low) if low == last else f"{self._text(low)}-{self._text(last)}"

    def loss(self, low: Bound, high: Bound) -> float:
        """The NCP of a bin: by integers of the domain, or by its share of the domain's width.

        >>> Bins(scale=1, origin=0, domain=(0, 100), whole=False).loss(40, 60)
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

        >>> Bins(scale=10, origin=0, domain=(5, 100)).leaves
        10
        """
        return self._integers(-math.inf, math.inf) + self.extra

    @property
    def root(self) -> dict[Label, float]:
        """The loss of the root, by its label.

        >>> Bins(scale=1, origin=0, domain=(0, 10), extra=1).root
        {'*': 1.0}
        """
        return {ROOT: ncp(self.leaves, self.leaves) if self.whole else 1.0}

    def _integers(self, low: Bound, high: Bound) -> int:
        lowest, highest = self.domain or (0, 0)
        first = -(-max(low, lowest) // self.scale)
        end = -(-min(high, highest + 1) // self.scale)
        return int(end - first)

    def _place(self, number: int, width: int) -> Bound:
        if number < self.bottom:
            return -math.inf
        return math.inf if number >= self.top else (number - self.origin) // width

    def _bounds(self, place: Bound, width: int) -> tuple[Bound, Bound]:
        if place == -math.inf:
            return place, self.bottom
        if place == math.inf:
            return self.top, place
        start = self.origin + place * width
        return max(start, self.bottom), min(start + width, self.top)

    def _text(self, bound: Bound) -> str:
        return write_decimal(int(bound), self.scale)
