"""What two tables lose: no value, but which sensitive value belongs to which row."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sfumato.core.classes import Histogram


@dataclass(frozen=True)
class Tie:
    """How much of the tie between rows and the values of a sensitive column is left.

    `kept` is the share of rows that get their own value back if values are dealt out at random within classes, on
    average; `chance` the same if they are dealt out over the whole table, which is where nothing is left.
    """

    kept: float
    chance: float


def ties(bags: Mapping[str, Histogram]) -> dict[str, Tie]:
    """The tie of each sensitive column, from the bags of the classes.

    >>> from sfumato.core.classes import EquivalenceClasses
    >>> ties(EquivalenceClasses.of([1, 1, 2, 2], illness=["flu", "HIV", "flu", "flu"]).sensitive)
    {'illness': Tie(kept=0.75, chance=0.625)}
    """
    return {name: _tie(bag) for name, bag in bags.items()}


def _tie(bag: Histogram) -> Tie:
    """A value that r of n rows of a class hold comes back to each of them with the chance r / n."""
    sizes = np.bincount(bag.class_of, weights=bag.count)
    totals = np.bincount(bag.value, weights=bag.count)
    rows = sizes.sum()
    kept = float((bag.count**2 / sizes[bag.class_of]).sum() / rows)
    return Tie(kept, float((totals**2).sum() / rows**2))
