"""How sure of a value a policy lets anybody be who counts the bag of a class."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sfumato.core.arrays import IntArray
from sfumato.core.classes import Histogram
from sfumato.core.numbers import ceil_times
from sfumato.models import (
    AlphaDeassociation,
    DistinctLDiversity,
    EntropyLDiversity,
    IdentityAlphaBeta,
    Model,
    RecursiveLDiversity,
)
from sfumato.policy import Policy


@dataclass(frozen=True)
class Bound:
    """The largest share of a bag that the policy allows, of these `values` or, where they are ``None``, of any."""

    share: float
    values: Sequence[str] | None = None


class Bagged(Protocol):
    """A release as far as a bound looks at it: the bags of its sensitive columns, and the rows of its classes."""

    @property
    def bags(self) -> Mapping[str, Histogram]:
        """How often each value stands in each class, by column."""
        ...

    @property
    def sizes(self) -> IntArray:
        """The rows of each class."""
        ...


def bounds(policy: Policy, tables: Bagged) -> dict[str, Bound]:
    """The strictest bound that the policy promises of each sensitive column; none where it bounds no share."""
    found = {column: list(_bounds(policy, tables, column)) for column in tables.bags}
    return {column: min(every, key=lambda bound: bound.share) for column, every in found.items() if every}


def _bounds(policy: Policy, tables: Bagged, column: str) -> Iterator[Bound]:
    values = len(tables.bags[column].domain.values)
    for model in policy.privacy:
        if column in model.looks_at:
            yield from _bound(model, tables.sizes, values, unlike=policy.publish.form == "anatomy")


def _bound(model: Model, sizes: IntArray, values: int, *, unlike: bool) -> Iterator[Bound]:
    """What a requirement says of the largest share; `unlike` where no value stands in a bag twice."""
    match model:
        case AlphaDeassociation():
            yield Bound(_alpha(model, sizes), model.values)
        case DistinctLDiversity() if unlike:
            yield Bound(1 / model.l)
        case EntropyLDiversity():
            yield Bound(_entropy(model.l, values))
        case IdentityAlphaBeta():
            yield Bound(float(model.beta))
        case RecursiveLDiversity() if model.l > 1:
            yield Bound(model.c / (1 + model.c))  # the rows of the other values together are 1 - p at most


def _alpha(model: AlphaDeassociation, sizes: IntArray) -> float:
    """The bound itself; refined, what rounding up makes of it in the class where that is most."""
    if not model.refined:
        return float(model.alpha)
    return float((ceil_times(model.alpha, sizes) / sizes).max(initial=0.0))


def _entropy(l: float, values: int) -> float:  # noqa: E741 - the field's own name
    """The largest share that leaves an entropy of log l, all other values being equally frequent.

    >>> round(_entropy(2, 2), 3), round(_entropy(2, 3), 3)
    (0.5, 0.773)
    """
    low, high = 1 / max(values, 1), 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _uncertainty(middle, values) >= math.log(l) else (low, middle)
    return high


def _uncertainty(share: float, values: int) -> float:
    """The entropy of a value with this share and all others equally frequent."""
    rest = (1 - share) / max(values - 1, 1)
    return -share * math.log(share) - (1 - share) * math.log(rest) if rest > 0 else 0.0
