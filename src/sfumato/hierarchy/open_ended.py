"""Columns without fixed levels: the algorithm chooses ranges or sets, and publishes those."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sfumato.core.numbers import read_decimal
from sfumato.errors import PolicyError
from sfumato.hierarchy.base import Hierarchy, Label, build, ranked, refuse
from sfumato.hierarchy.exact import number, pair
from sfumato.hierarchy.paths import Unlevelled

Ratio = tuple[int, int]


@dataclass(frozen=True)
class Ranges(Unlevelled):
    """``{ ranges = true }``: numbers, published as ranges that the algorithm chooses.

    `domain` is the lowest and the highest number there can be, both included. `integers` says that values are whole
    numbers and ranges are written ``35-39``; left out, it is so where a domain of whole numbers is declared. It is
    never found from the values: one record would change the labels of all.

    >>> Ranges(domain=(0, 250)).bind(["180", "95"], column="height").ranks.tolist()
    [1, 0]
    """

    ranges: bool = True
    domain: Sequence[float] | None = None
    integers: bool | None = None

    levelled: ClassVar[bool] = False
    schema: ClassVar[dict[str, object]] = {
        "type": "object",
        "description": "No fixed levels: the algorithm chooses ranges (Mondrian).",
        "properties": {
            "ranges": {"const": True, "description": "Always true."},
            "domain": {
                "type": "array",
                "items": {"type": "number"},
                "minItems": 2,
                "maxItems": 2,
                "description": "The lowest and the highest number there can be, both included.",
            },
            "integers": {
                "type": "boolean",
                "description": "Whether all values are integers; true when left out, if a domain of integers is given.",
            },
        },
        "required": ["ranges"],
        "additionalProperties": False,
    }

    def __post_init__(self) -> None:
        if self.ranges is not True:
            raise PolicyError(f"must be true, not {self.ranges!r}", key="ranges")
        if self.domain is not None:
            object.__setattr__(self, "domain", pair(self.domain, "domain"))
        if not isinstance(self.integers, bool | None):
            raise PolicyError(f"must be true or false, not {self.integers!r}", key="integers")
        if self.integers and any(number(end, "domain").denominator != 1 for end in self.domain or ()):
            raise PolicyError("must be whole numbers, since integers = true", key="domain")

    @property
    def whole(self) -> bool:
        """Whether ranges are of whole numbers: as declared, or as the declared domain suggests.

        >>> Ranges().whole, Ranges(domain=(0, 9)).whole, Ranges(domain=(0, 9), integers=False).whole
        (False, True, False)
        """
        if self.integers is not None:
            return self.integers
        return self.domain is not None and all(number(end, "domain").denominator == 1 for end in self.domain)

    def bind(
        self,
        values: Sequence[Label],
        *,
        column: str,
        nulls: Sequence[str] = ("",),  # noqa: ARG002 - only files have a line for NULL
    ) -> Hierarchy:
        """The values and ``*``, with the place of each value among the numbers; NULL stands last."""
        numbers, _ = self.numbers(values, column=column)
        return build([values], ranks=ranked(values, numbers), places=len(values))

    def numbers(self, values: Sequence[Label], *, column: str) -> tuple[list[int | None], int]:
        """Each value as a whole number of equal small steps, exactly, and how many of them make one.

        >>> Ranges().numbers(["1.5", None, "2"], column="ph")
        ([15, None, 20], 10)
        """
        ratios = self._read(values, column)
        ends = [number(end, "domain").as_integer_ratio() for end in self.domain or ()]
        scale = _power({known[1] for known in (*ratios, *ends) if known})
        numbers = [known and known[0] * (scale // known[1]) for known in ratios]
        if ends:
            low, high = (top * (scale // bottom) for top, bottom in ends)
            outside = [
                value for value, n in zip(values, numbers, strict=True) if n is not None and not low <= n <= high
            ]
            refuse(outside, column=column, fault="outside of its domain", remedy="widen the domain, or mend them")
        return numbers, scale

    def _read(self, values: Sequence[Label], column: str) -> list[Ratio | None]:
        ratios = [None if value is None else read_decimal(value) for value in values]
        read = list(zip(values, ratios, strict=True))
        strange = [value for value, known in read if value is not None and known is None]
        refuse(strange, column=column, fault="not finite numbers", remedy="mend them, or declare their text as null")
        broken = [value for value, known in read if known and known[1] != 1] if self.whole else []
        refuse(broken, column=column, fault="not integers", remedy="say integers = false, for ranges as [35, 40)")
        return ratios


@dataclass(frozen=True)
class Sets(Unlevelled):
    """``"sets"``: values without a tree, published as sets such as ``{Bern, Thun}``.

    >>> Sets().bind(["Bern", "Thun"], column="town").labels
    (('Bern', 'Thun'), ('*',))
    """

    levelled: ClassVar[bool] = False
    schema: ClassVar[dict[str, object]] = {
        "const": "sets",
        "description": "No tree: the algorithm publishes sets of values, {Bern, Thun}.",
    }

    def bind(
        self,
        values: Sequence[Label],
        *,
        column: str,  # noqa: ARG002 - nothing can go wrong that would have to name it
        nulls: Sequence[str] = ("",),  # noqa: ARG002 - only files have a line for NULL
    ) -> Hierarchy:
        """The values and ``*``."""
        return build([values])


def _power(denominators: set[int]) -> int:
    """The least power of ten that all of these divide; they are denominators of decimal numbers.

    >>> _power({4, 5}), _power(set())
    (100, 1)
    """
    power = 1
    while any(power % denominator for denominator in denominators):
        power *= 10
    return power
