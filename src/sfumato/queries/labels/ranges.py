"""Labels of numbers: whole numbers of a range one by one, real ranges by points at equal distances."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.numbers import read_decimal
from sfumato.hierarchy.range_labels import Bounds, read_range
from sfumato.queries.labels.leaves import Leaf, Leaves, of_numbers

_WHOLE, _POINTS, _FEWEST = 1024, 256, 16
"""Leaves of a label at most: of whole numbers, of real ones; and what remains where there are very many labels."""
_IN_ALL = 1 << 21
_WORD = 1 << 62


def read_ranges(labels: Sequence[Leaf], domain: Sequence[float] | None, *, whole: bool) -> Leaves:
    """What labels of ranges stand for, within the declared domain or else between the ends that other labels show.

    >>> read_ranges(["37", "35-36", None], None, whole=True).values.to_pylist()
    [37, 35, 36, None]
    >>> read_ranges(["80+", "[-2, 0)"], [-9, 82], whole=True).values.to_pylist()
    [80, 81, 82, -2, -1]
    >>> read_ranges(["37", "80+"], None, whole=True).unclear
    '80+'
    """
    bounds = [_bounds(label) for label in labels]
    known = _declared(domain) or _shown([bound for bound in bounds if bound is not None])
    points = max(min(_WHOLE if whole else _POINTS, _IN_ALL // max(len(labels), 1)), _FEWEST)
    found: list[NDArray[Any] | None] = []
    for label, bound in zip(labels, bounds, strict=True):
        leaves = None if label is None else _leaves(bound, known, whole=whole, points=points)
        if label is not None and leaves is None:
            return Leaves(np.zeros(0, np.int64), None, number=True, unclear=label)
        found.append(leaves)
    return of_numbers(found, sampled=any(_is_wide(bound, known, whole=whole, points=points) for bound in bounds))


def _bounds(label: Leaf) -> Bounds | None:
    """What a label covers: a number itself, as it may be written in any way, or a range."""
    if label is None:
        return None
    exact = read_decimal(label)
    if exact is not None:
        return Bounds(Fraction(*exact), Fraction(*exact), closed=True)
    try:
        return read_range(label)
    except ValueError:
        return None


def _declared(domain: Sequence[float] | None) -> Bounds | None:
    return None if domain is None else Bounds(Fraction(str(domain[0])), Fraction(str(domain[1])), closed=True)


def _shown(bounds: Sequence[Bounds]) -> Bounds | None:
    """From the lowest to the highest number that labels with two ends show."""
    lows = [bound.low for bound in bounds if not math.isinf(bound.low)]
    highs = [bound.high for bound in bounds if not math.isinf(bound.high)]
    return Bounds(min(lows), max(highs), closed=True) if lows and highs else None


def _clipped(bound: Bounds, known: Bounds | None) -> Bounds | None:
    """As much of a range as lies within what is known; all of it where that is nothing and it has two ends."""
    if known is not None:
        low, high = max(bound.low, known.low), min(bound.high, known.high)
        if low < high or (low == high and (bound.closed or high < bound.high)):
            return Bounds(low, high, closed=bound.closed or known.high < bound.high)
    return None if math.isinf(bound.low) or math.isinf(bound.high) else bound


def _leaves(bound: Bounds | None, known: Bounds | None, *, whole: bool, points: int) -> NDArray[Any] | None:
    """The numbers of a label, or some of them; nothing where it is not clear what they are."""
    within = None if bound is None else _clipped(bound, known)
    if within is None:
        return None
    if within.low == within.high:
        return _number(Fraction(within.low))
    if not whole:
        width = (float(within.high) - float(within.low)) / points
        return float(within.low) + width * (np.arange(points) + 0.5)
    first, count = _whole(within)
    if count > points:
        places = (2 * np.arange(points, dtype=object) + 1) * count // (2 * points)
        return (first + places).astype(np.int64 if abs(first) + count < _WORD else np.float64)
    return np.arange(first, first + count) if count else None


def _is_wide(bound: Bounds | None, known: Bounds | None, *, whole: bool, points: int) -> bool:
    within = None if bound is None else _clipped(bound, known)
    if within is None or within.low == within.high:
        return False
    return not whole or _whole(within)[1] > points


def _whole(within: Bounds) -> tuple[int, int]:
    """The first whole number of a range, and how many there are."""
    first = math.ceil(within.low)
    end = math.floor(within.high) + 1 if within.closed else math.ceil(within.high)
    return first, max(end - first, 0)


def _number(value: Fraction) -> NDArray[Any]:
    whole = value.denominator == 1 and abs(value) < _WORD
    return np.array([int(value)], dtype=np.int64) if whole else np.array([float(value)])
