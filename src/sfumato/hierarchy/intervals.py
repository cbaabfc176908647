"""Numbers in bins of fixed widths: 37 → 35-39 → 30-39 → 20-39 → ``*``."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sfumato.core.numbers import read_decimal
from sfumato.errors import PolicyError
from sfumato.hierarchy.base import ROOT, Branch, Hierarchy, Label, build, ranked, refuse
from sfumato.hierarchy.bins import Bins
from sfumato.hierarchy.exact import multiples, number, pair
from sfumato.hierarchy.paths import climb
from sfumato.hierarchy.witness import Witness, bin_paths

Ratio = tuple[int, int]


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
        object.__setattr__(self, "intervals", multiples(self.intervals))
        if self.domain is not None:
            object.__setattr__(self, "domain", pair(self.domain, "domain"))
        for key in ("origin", "bottom", "top"):
            if getattr(self, key) is not None:
                number(getattr(self, key), key)
        if self.bottom is not None and self.top is not None and self.bottom > self.top:
            raise PolicyError(f"must not be below bottom, {self.bottom}, as {self.top} is", key="top")
        if not isinstance(self.integers, bool | None):
            raise PolicyError(f"must be true or false, not {self.integers!r}", key="integers")

    def bind(
        self,
        values: Sequence[Label],
        *,
        column: str,
        nulls: Sequence[str] = ("",),  # noqa: ARG002 - only files have a line for NULL
    ) -> Hierarchy:
        """The bins of each value, by exact arithmetic on its text.

        >>> Intervals([0.1]).bind(["0.3", "0.7"], column="ph").labels[1]
        ('[0.3, 0.4)', '[0.7, 0.8)')
        """
        ratios = self._read(values, column)
        scale = math.lcm(*{known[1] for known in ratios if known}, *self._denominators())
        numbers = [known and known[0] * (scale // known[1]) for known in ratios]
        bins = self._bins(scale, whole=self.whole, extra=values.count(None))
        outside = [value for value, n in zip(values, numbers, strict=True) if n is not None and bins.outside(n)]
        remedy = "widen the domain, or take them in with bottom or top"
        refuse(outside, column=column, fault="outside of its domain", remedy=remedy)
        levels = [bins.level(numbers, _scaled(width, scale)) for width in self.intervals]
        loss = [*(loss for _, loss in levels), bins.root] if bins.domain else None
        ranks = ranked(values, numbers)
        return build([values, *(labels for labels, _ in levels)], loss=loss, ranks=ranks, places=len(values))

    def paths(
        self,
        labels: Sequence[Label],
        *,
        column: str,  # noqa: ARG002 - nothing can go wrong that would have to name it
        nulls: Sequence[str] = ("",),  # noqa: ARG002 - only files have a line for NULL
    ) -> list[Branch | None]:
        """The bins above each number or bin; none for a bin in which no value that can be bound would lie.

        >>> Intervals([5, 10]).paths(["37", "35-39", "36-40"], column="age")
        [('37', '35-39', '30-39', '*'), ('35-39', '30-39', '*'), None]
        """
        read = {text: Witness.read(text) for text in dict.fromkeys(labels) if text is not None}
        found = {text: witness for text, witness in read.items() if witness}
        scale = math.lcm(*{witness.number[1] for witness in found.values()}, *self._denominators())
        widths = [_scaled(width, scale) for width in self.intervals]
        known = bin_paths(found, self._bins(scale, whole=self.whole, extra=0), widths)
        return climb(labels, known.get, null=(*[None] * (len(widths) + 1), ROOT))

    def _read(self, values: Sequence[Label], column: str) -> list[Ratio | None]:
        ratios = [None if value is None else read_decimal(value) for value in values]
        read = list(zip(values, ratios, strict=True))
        remedy = "mend them, or declare their text as null"
        strange = [value for value, known in read if value is not None and known is None]
        refuse(strange, column=column, fault="not finite numbers", remedy=remedy)
        broken = [value for value, known in read if known and known[1] != 1] if self.whole else []
        refuse(broken, column=column, fault="not integers", remedy="say integers = false, for bins as [35, 40)")
        return ratios

    @property
    def whole(self) -> bool:
        """Whether bins are of whole numbers: as declared, or as the declared numbers suggest.

        >>> Intervals([5]).whole, Intervals([0.5]).whole, Intervals([5], integers=False).whole
        (True, False, False)
        """
        return all(denominator == 1 for denominator in self._denominators()) if self.integers is None else self.integers

    def _denominators(self) -> list[int]:
        ends = (self.origin, self.bottom, self.top, *(self.domain or ()), *self.intervals)
        return [number(end, "intervals").denominator for end in ends if end is not None]

    def _bins(self, scale: int, *, whole: bool, extra: int) -> Bins:
        bottom = -math.inf if self.bottom is None else _scaled(self.bottom, scale)
        top = math.inf if self.top is None else _scaled(self.top, scale)
        domain = None if self.domain is None else (_scaled(self.domain[0], scale), _scaled(self.domain[1], scale))
        return Bins(scale, _scaled(self.origin, scale), bottom, top, domain=domain, whole=whole, extra=extra)


def _scaled(value: float, scale: int) -> int:
    return int(number(value, "intervals") * scale)
