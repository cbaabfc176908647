"""What models share: the histogram they look at, the share of rows that is doomed, and roundings for hints."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import EquivalenceClasses, Histogram
from sfumato.errors import PolicyError, did_you_mean

TOLERANCE = 1e-9  # entropies and distances are sums of rounded logarithms and quotients: a hair passes


def looked_at(classes: EquivalenceClasses, column: str) -> Histogram:
    """The histogram of a sensitive column.

    >>> looked_at(EquivalenceClasses.of([0], illness=["flu"]), "ilness")
    Traceback (most recent call last):
    sfumato.errors.PolicyError: column: 'ilness' is not a sensitive column; did you mean illness?
    """
    if column not in classes.sensitive:
        hint = did_you_mean(column, classes.sensitive)
        raise PolicyError(f"{column!r} is not a sensitive column{hint}", key="column")
    return classes.sensitive[column]


def distinct(histogram: Histogram, classes: int) -> IntArray:
    """How many different values each class has."""
    return np.bincount(histogram.class_of, minlength=classes)


def doom(failing: BoolArray, rows: IntArray | FloatArray, sizes: IntArray) -> FloatArray:
    """The share of rows that fails in any case, from a lower bound on their number.

    Rows are whole, so the bound is rounded up, and at least one (models that call this are monotone).
    A share below 1 is shaved by a trillionth, so that share times size never exceeds the whole number
    it stands for.
    """
    whole = np.clip(np.ceil(rows), 1, np.maximum(sizes, 1))
    share = whole / np.maximum(sizes, 1)
    return np.where(failing, np.where(whole < sizes, share * (1 - 1e-12), 1.0), 0.0)


def rounded_up(number: float) -> str:
    """Three digits that are not below the number.

    >>> rounded_up(0.24781), rounded_up(0.25)
    ('0.248', '0.25')
    """
    return f"{Context(prec=3, rounding=ROUND_CEILING).create_decimal(str(number)).normalize():f}"


def rounded_down(number: float) -> str:
    """Three digits that are not above the number, but for the tolerance.

    >>> rounded_down(10.39), rounded_down(2.9999999999999996)
    ('10.3', '3')
    """
    return f"{Context(prec=3, rounding=ROUND_FLOOR).create_decimal(str(round(number, 9))).normalize():f}"
