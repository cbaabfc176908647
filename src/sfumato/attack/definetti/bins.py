"""Columns of many values in bins, so that a learner sees each often enough to learn something of it."""

import math
from collections.abc import Sequence

import numpy as np

from sfumato.core.arrays import Codes, IntArray

MOST = 100
"""Columns with more values are put into so many bins."""

CELLS = 16_000_000
"""The most entries of all tables of a learner together: bins times values times columns."""


def binned(texts: Sequence[str | None], codes: Codes, depth: int) -> tuple[IntArray, int]:
    """A bin for each code of a column, and how many there are.

    Values that are neighbours (as numbers where all are, else as text, which keeps dates and prefixes together) share a
    bin, each bin of about as many lines; NULL has one of its own. `depth` is how many entries of the learner each bin
    costs.

    >>> binned(("a", "b", None), np.array([0, 1, 1, 2]), 1)
    (array([0, 1, 2]), 3)
    >>> bins, _ = binned([str(i) for i in range(1000)], np.arange(1000), 1)
    >>> bins[[0, 9, 98, 998, 999]]
    array([ 0,  0,  9, 98, 98])
    """
    most = min(MOST, max(CELLS // depth, 2))
    if len(texts) <= most:
        return np.arange(len(texts)), len(texts)
    lines = np.bincount(codes, minlength=len(texts))
    order = _ordered(texts, np.flatnonzero(lines))
    before = np.cumsum(lines[order]) - lines[order]
    bins = np.full(len(texts), most - 1)
    bins[order] = before * (most - 1) // max(int(lines[order].sum()), 1)
    return bins, most


def _ordered(texts: Sequence[str | None], used: IntArray) -> IntArray:
    """Codes of the values that are used, NULL left out, in the order of numbers or else of text."""
    held = {code: text for code in used.tolist() if (text := texts[code]) is not None}
    numbers = {code: _number(text) for code, text in held.items()}
    key = numbers if all(map(math.isfinite, numbers.values())) else held
    return np.array(sorted(held, key=lambda code: key[code]), dtype=np.int64)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
