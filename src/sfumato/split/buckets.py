"""How many different values a bucket of Anatomy needs, for what the policy asks."""

import math
from fractions import Fraction

import numpy as np

from sfumato.core.classes import EquivalenceClasses, Histogram
from sfumato.encode import EncodedTable, value_totals
from sfumato.errors import Infeasible
from sfumato.models import Model
from sfumato.recode.evaluate import Requirement

_LINES = 20_000_000
"""Buckets of more lines than this, all values together, are not tried."""


def bucket_size(encoded: EncodedTable, requirement: Requirement, column: str) -> int:
    """The smallest number of different values with which every bucket meets every requirement.

    It is tried out: every value stands in some bucket of neighbouring values. More values never hurt, except where a
    requirement compares with the whole table; what is made in the end is checked once more. A share of α is taken as
    it stands, refined or not: rounded up, it would let a bucket be a single row.
    """
    width = encoded.sensitive[column].width
    low = max(requirement.least, *(_least(model) for model in requirement.models))
    high = low
    while high <= width and not _meets(encoded, requirement, column, high):
        low, high = high + 1, min(2 * high, width) if high < width else width + 1
    if high > width:
        raise Infeasible(_why(column, width, requirement), nearest={"l": float(width)})
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _meets(encoded, requirement, column, middle) else (middle + 1, high)
    return low


def _least(model: Model) -> int:
    """The fewest different values that hold no share above α."""
    alpha = model.required.get("alpha")
    return 1 if alpha is None else math.ceil(1 / Fraction(str(alpha)))


def _why(column: str, width: int, requirement: Requirement) -> str:
    asked = ", ".join(model.name for model in requirement.models)
    return f"no bucket of different values of '{column}', which has {width:,}, meets the policy ({asked}); ask for less"


def _meets(encoded: EncodedTable, requirement: Requirement, column: str, size: int) -> bool:
    if size * encoded.sensitive[column].width > _LINES:
        return False
    return bool(requirement.holds(_buckets(encoded, column, size)).all())


def _buckets(encoded: EncodedTable, column: str, size: int) -> EquivalenceClasses:
    """A bucket for each value, of that and the next ones, each row another person's."""
    domain = encoded.domains.get(column) or value_totals(encoded.sensitive[column])
    width = len(domain.values)
    owner = np.repeat(np.arange(width), size)
    value = (owner + np.tile(np.arange(size), width)) % width
    order = np.lexsort([value, owner])
    lines = Histogram(owner, value[order], np.ones(len(owner), dtype=np.int64), domain)
    return EquivalenceClasses(np.full(width, size), {column: lines})
