"""What the two (X, Y)-models share: they are about the join of the current table with earlier releases.

A model of classes judges a class by what it holds. These judge how values on X go with values on Y over a join, so
they say what is to be counted, and `sfumato.previous` counts it.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar

from sfumato.errors import PolicyError
from sfumato.models.base import Stated
from sfumato.models.keys import NAMES

ROW = "$row"
"""The key of a row, in the current table; ``name.$row`` in an earlier release."""


@dataclass(frozen=True)
class Linkage(Stated):
    """An entry about values on `x` and values on `y`, disjoint sets of columns of any of the tables.

    The join is that with all earlier releases, or with those that `releases` names.

    >>> from sfumato.models import XYAnonymity
    >>> XYAnonymity(x=["sex", "tax.sex"], y=["sex"], k=2)
    Traceback (most recent call last):
    sfumato.errors.PolicyError: y: 'sex' stands in x already; x and y must have no column in common
    """

    name: ClassVar[str]
    threat: ClassVar[str]

    x: Annotated[Sequence[str], NAMES, "the columns that an adversary starts from, of any table"]
    y: Annotated[Sequence[str], NAMES, "the columns that x must not lead to; $row is the row key"]
    _: KW_ONLY
    releases: Annotated[Sequence[str] | None, NAMES, "the earlier releases that are joined; left out: all"] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.y:
            if name in self.x:
                raise PolicyError(f"{name!r} stands in x already; x and y must have no column in common", key="y")
        for name in self.x:
            if is_row(name):
                raise PolicyError(f"{name!r} is a row key, and those may stand in y only", key="x")


def is_row(name: str) -> bool:
    """Whether a name in x or y is a row key.

    >>> is_row("$row"), is_row("tax.$row"), is_row("row")
    (True, True, False)
    """
    return name == ROW or name.endswith(f".{ROW}")
