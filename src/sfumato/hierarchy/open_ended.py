"""Columns without fixed levels: the algorithm chooses ranges or sets, and publishes those."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NoReturn

from sfumato.errors import HierarchyError, PolicyError
from sfumato.hierarchy.base import Label
from sfumato.hierarchy.exact import pair


@dataclass(frozen=True)
class Ranges:
    """``{ ranges = true }``: numbers, published as ranges that the algorithm chooses.

    `domain` is the lowest and the highest number there can be.

    >>> Ranges(domain=(0, 250)).levelled
    False
    """

    ranges: bool = True
    domain: Sequence[float] | None = None

    levelled: ClassVar[bool] = False
    schema: ClassVar[dict[str, object]] = {
        "type": "object",
        "description": "No fixed levels: the algorithm chooses ranges (Mondrian, TDS).",
        "properties": {
            "ranges": {"const": True, "description": "Always true."},
            "domain": {
                "type": "array",
                "items": {"type": "number"},
                "minItems": 2,
                "maxItems": 2,
                "description": "The lowest and the highest number there can be, both included.",
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

    def bind(
        self,
        values: Sequence[Label],  # noqa: ARG002 - there is nothing to bind them to
        *,
        column: str,
        nulls: Sequence[str] = ("",),  # noqa: ARG002 - same
    ) -> NoReturn:
        """Always refuses: there are no levels."""
        _refuse(column, "ranges")


@dataclass(frozen=True)
class Sets:
    """``"sets"``: values without a tree, published as sets such as ``{Bern, Thun}``.

    >>> Sets().bind(["Bern"], column="town")
    Traceback (most recent call last):
    sfumato.errors.HierarchyError: column 'town': sets have no fixed levels, ...
    """

    levelled: ClassVar[bool] = False
    schema: ClassVar[dict[str, object]] = {
        "const": "sets",
        "description": "No tree: the algorithm publishes sets of values, {Bern, Thun}.",
    }

    def bind(
        self,
        values: Sequence[Label],  # noqa: ARG002 - there is nothing to bind them to
        *,
        column: str,
        nulls: Sequence[str] = ("",),  # noqa: ARG002 - same
    ) -> NoReturn:
        """Always refuses: there are no levels."""
        _refuse(column, "sets")


def _refuse(column: str, kind: str) -> NoReturn:
    raise HierarchyError(
        f"column {column!r}: {kind} have no fixed levels, which full-domain algorithms need; "
        'give it intervals, a file or "suppress" as its hierarchy, or choose another algorithm'
    )
