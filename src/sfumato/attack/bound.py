"""How sure of a sensitive value a policy lets anybody be who counts the values in a class.

Several privacy models bound the share that one value has among the rows of a class, and with it the chance of a guess
by somebody who knows a person's class and nothing else. Attacks report this bound beside what they reach.
"""

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
    """The largest share of a class that the policy allows: of these `values`, or of any where they are ``None``."""

    share: float
    values: Sequence[str] | None = None


class ClassHistograms(Protocol):
    """What a bound depends on: the histograms of the sensitive columns over the classes, and the class sizes."""

    @property
    def bags(self) -> Mapping[str, Histogram]:
        """Rows per class and value, by column."""
        ...

    @property
    def sizes(self) -> IntArray:
        """Rows per class."""
        ...


def bounds(policy: Policy, tables: ClassHistograms) -> dict[str, Bound]:
    """Find the strictest bound that the policy promises for each sensitive column that it sets one for."""
    strictest = {}
    for column, bag in tables.bags.items():
        promised = [
            bound
            for model in policy.privacy
            if column in model.looks_at
            for bound in _bounds_of_model(
                model, tables.sizes, len(bag.domain.values), distinct=policy.publish.form == "anatomy"
            )
        ]
        if promised:
            strictest[column] = min(promised, key=lambda bound: bound.share)
    return strictest


def _bounds_of_model(model: Model, sizes: IntArray, values: int, *, distinct: bool) -> Iterator[Bound]:
    """Derive what a model says of the largest share; `distinct` where no value occurs twice in a class."""
    match model:
        case AlphaDeassociation() if not model.refined:
            yield Bound(float(model.alpha), model.values)
        case AlphaDeassociation():  # the refined bound is rounded up to whole rows: the class where that adds most
            yield Bound(float((ceil_times(model.alpha, sizes) / sizes).max(initial=0.0)), model.values)
        case DistinctLDiversity() if distinct:
            yield Bound(1 / model.l)
        case EntropyLDiversity():
            yield Bound(_largest_share(model.l, values))
        case IdentityAlphaBeta():
            yield Bound(float(model.beta))
        case RecursiveLDiversity() if model.l > 1:
            yield Bound(model.c / (1 + model.c))  # the rows of the other values together are 1 - p at most


def _largest_share(l: float, values: int) -> float:  # noqa: E741 - the field's own name
    """Find the largest share that leaves an entropy of log l, by bisection; all other values are equally frequent.

    >>> round(_largest_share(2, 2), 3), round(_largest_share(2, 3), 3)
    (0.5, 0.773)
    """
    low, high = 1 / max(values, 1), 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _entropy(middle, values) >= math.log(l) else (low, middle)
    return high


def _entropy(share: float, values: int) -> float:
    """Compute the entropy where one value has this share and all others are equally frequent."""
    rest = (1 - share) / max(values - 1, 1)
    return -share * math.log(share) - (1 - share) * math.log(rest) if rest > 0 else 0.0
