"""(X, Y)-linkability: Definition 3.2 of Wang and Fung 2006."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from sfumato.errors import PolicyError
from sfumato.models.keys import PROTECTED, SHARE
from sfumato.models.linkage import Linkage, is_row

Protected = Mapping[str, float] | Sequence[str | Sequence[str]]
Line = tuple[str | None, ...]
"""A value on y: one text for each of its columns, None for NULL."""


@dataclass(frozen=True)
class XYLinkability(Linkage):
    """No value on `x` implies a protected value on `y` with a confidence above `k`, over the join of all releases.

    Guards against inferring a sensitive property of somebody from columns of several releases. `values` are the
    protected ones, all if it is left out; as a table it gives each its own bound, and `k` is that of the others, if
    there is to be any. Several sets of Y are several entries.

    >>> XYLinkability(x=["job"], y=["test"], k=0.5, values={"HIV": 0.1}).bounds([("HIV",), ("flu",)])
    {('HIV',): 0.1, ('flu',): 0.5}
    """

    name: ClassVar[str] = "xy-linkability"
    threat: ClassVar[str] = "Someone joins this release with earlier ones and is nearly sure of a person's property."
    rules: ClassVar[Mapping[str, object]] = {
        "if": {"not": {"required": ["k"]}},
        "then": {"properties": {"values": {"type": "object"}}, "required": ["values"]},
    }

    k: Annotated[float | None, SHARE, "the largest confidence with which x may imply a protected value on y"] = None
    values: Annotated[Protected | None, PROTECTED, "the protected values of y, or a table of their own bounds"] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in filter(is_row, self.y):
            raise PolicyError(f"{name!r} is a row key, and those have no share to bound; use xy-anonymity", key="y")
        table, several = isinstance(self.values, Mapping), len(self.y) > 1
        if self.k is None and not table:
            raise PolicyError("is missing: the largest confidence with which x may imply a value on y", key="k")
        if table and several:
            raise PolicyError("a table of bounds is for one column in y; write an entry for each of them", key="values")
        for value in () if self.values is None or table else self.values:
            if (1 if isinstance(value, str) else len(value)) != len(self.y):
                example = "a list of as many texts as y has columns" if several else "a text"
                raise PolicyError(f"{value!r} is not a value of y: give {example} for each", key="values")

    def bounds(self, known: Sequence[Line]) -> dict[Line, float]:
        """Of the values on y that occur, the protected ones, each with its bound."""
        stated, others = self.stated, self.k if self._others else None
        found = {line: stated.get(line, others) for line in known}
        return {line: bound for line, bound in found.items() if bound is not None}

    @property
    def _others(self) -> bool:
        """Whether values that are not stated are protected, too."""
        return self.values is None or isinstance(self.values, Mapping)

    @property
    def stated(self) -> dict[Line, float | None]:
        """The values that are named, each with its bound."""
        if isinstance(self.values, Mapping):
            return {(value,): bound for value, bound in self.values.items()}
        lines: list[Line] = [(value,) if isinstance(value, str) else tuple(value) for value in self.values or ()]
        return dict.fromkeys(lines, self.k)
