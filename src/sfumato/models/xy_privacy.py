"""(X, Y)-privacy: (X, Y)-anonymity and (X, Y)-linkability, Definitions 3.1 and 3.2 of Wang and Fung 2006.

Both are about the join of the current table with earlier releases. A model of classes judges a class by what is in it.
These judge how values on X go with values on Y over a join, so they say what is to be counted, and `sfumato.previous`
counts it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar

from sfumato.errors import PolicyError, quote
from sfumato.models.model import PrivacyEntry
from sfumato.models.policy_keys import NAME_LIST, PROTECTED_VALUES, SHARE, WHOLE_NUMBER

ROW = "$row"
"""The key of a row, in the current table; ``name.$row`` in an earlier release."""

ValueTuple = tuple[str | None, ...]
"""A value on y: one text for each of its columns, None for NULL."""


def is_row(name: str) -> bool:
    """Tell whether a name in x or y is a row key.

    >>> is_row("$row"), is_row("tax.$row"), is_row("row")
    (True, True, False)
    """
    return name == ROW or name.endswith(f".{ROW}")


@dataclass(frozen=True)
class Linkage(PrivacyEntry):
    """An entry about values on `x` and values on `y`, disjoint sets of columns of any of the tables.

    The join is that with all earlier releases, or with those that `releases` names.

    >>> from sfumato.models import XYAnonymity
    >>> XYAnonymity(x=["sex", "tax.sex"], y=["sex"], k=2)
    Traceback (most recent call last):
    sfumato.errors.PolicyError: y: 'sex' stands in x already; x and y must have no column in common
    """

    name: ClassVar[str]
    threat: ClassVar[str]

    x: Annotated[Sequence[str], NAME_LIST, "the columns that an adversary starts from, of any table"]
    y: Annotated[Sequence[str], NAME_LIST, "the columns that x must not lead to; $row is the row key"]
    _: KW_ONLY
    releases: Annotated[Sequence[str] | None, NAME_LIST, "the earlier releases that are joined; left out: all"] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.y:
            if name in self.x:
                raise PolicyError(f"{quote(name)} stands in x already; x and y must have no column in common", key="y")
        for name in self.x:
            if is_row(name):
                raise PolicyError(f"{quote(name)} is a row key, and those may stand in y only", key="x")


@dataclass(frozen=True)
class XYAnonymity(Linkage):
    """Each value on `x` is linked to at least `k` different values on `y`, over the join with earlier releases.

    Guards against a quasi-identifier that is made of columns of several releases. With the row key as `y` it counts
    rows; with a column, its different values. It does not bound how often one of them occurs: `xy-linkability` does.

    >>> XYAnonymity(x=["job", "zip"], y=["$row"], k=40).required
    {'x': ['job', 'zip'], 'y': ['$row'], 'k': 40}
    """

    name: ClassVar[str] = "xy-anonymity"
    threat: ClassVar[str] = "Someone joins this release with earlier ones and picks out a person by columns of both."

    k: Annotated[int, WHOLE_NUMBER, "the fewest different values on y for each value on x"]


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
    values: Annotated[
        Mapping[str, float] | Sequence[str | Sequence[str]] | None,
        PROTECTED_VALUES,
        "the protected values of y, or a table of their own bounds",
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in filter(is_row, self.y):
            raise PolicyError(
                f"{quote(name)} is a row key, and those have no share to bound; use xy-anonymity", key="y"
            )
        table, several = isinstance(self.values, Mapping), len(self.y) > 1
        if self.k is None and not table:
            raise PolicyError("is missing: the largest confidence with which x may imply a value on y", key="k")
        if table and several:
            raise PolicyError("a table of bounds is for one column in y; write an entry for each of them", key="values")
        for value in () if self.values is None or table else self.values:
            if (1 if isinstance(value, str) else len(value)) != len(self.y):
                example = "a list of as many texts as y has columns" if several else "a text"
                raise PolicyError(f"{quote(value)} is not a value of y: give {example} for each", key="values")

    def bounds(self, occurring: Sequence[ValueTuple]) -> dict[ValueTuple, float]:
        """Select the protected ones among the values on y that occur, each with its bound."""
        named = self.named_bounds
        # Values that are not named are protected as well, unless `values` is a list.
        others = self.k if self.values is None or isinstance(self.values, Mapping) else None
        bounds = {value: named.get(value, others) for value in occurring}
        return {value: bound for value, bound in bounds.items() if bound is not None}

    @property
    def named_bounds(self) -> dict[ValueTuple, float | None]:
        """The values that `values` names, each with its bound."""
        if isinstance(self.values, Mapping):
            return {(value,): bound for value, bound in self.values.items()}
        named: list[ValueTuple] = [(value,) if isinstance(value, str) else tuple(value) for value in self.values or ()]
        return dict.fromkeys(named, self.k)
