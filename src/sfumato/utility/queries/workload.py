"""The workload of the lossy-join paper (section 7): COUNT queries with a random set of values for each asked column.

A query asks of some quasi-identifiers and of one sensitive column. It wants b of the |A| values that a column A has in
the original, b = ⌈|A|·s^(1/(qd+1))⌉, so that about a share s of the rows would match if all values were as frequent and
columns had nothing to do with each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np

from sfumato.core.arrays import BoolArray, Codes, IntArray
from sfumato.errors import InputError


@dataclass(frozen=True)
class Workload:
    """So many queries, each of so many quasi-identifiers, with an expected share of rows that match.

    >>> Workload(queries=0)
    Traceback (most recent call last):
    sfumato.errors.InputError: queries must be at least 1, not 0
    """

    queries: int = 1000
    dimensions: int = 4
    selectivity: float = 0.05
    seed: int = 1

    def __post_init__(self) -> None:
        for name, least in (("queries", 1), ("dimensions", 1), ("seed", 0)):
            if getattr(self, name) < least:
                raise InputError(f"{name} must be at least {least}, not {getattr(self, name)}")
        if not 0 < self.selectivity <= 1:
            raise InputError(f"selectivity must be above 0 and at most 1, not {self.selectivity}")

    def wanted(self, width: int) -> int:
        """How many of a column's `width` values a query wants, by exact arithmetic.

        >>> Workload(dimensions=1, selectivity=0.25).wanted(6), Workload(dimensions=4).wanted(14)
        (3, 8)
        """
        power = self.dimensions + 1
        least = Fraction(str(self.selectivity)) * width**power  # as it was written, not the float next to it
        found = max(ceil(width * self.selectivity ** (1 / power)) - 1, 1)
        return next(b for b in range(found, width + 1) if b**power >= least)


@dataclass(frozen=True, eq=False)
class Query:
    """Count the rows with a wanted value in each asked column.

    `quasi` has a place among the quasi-identifiers and which of its values are wanted, for each one that is asked of;
    `sensitive` which values of the sensitive column are wanted.
    """

    quasi: tuple[tuple[int, BoolArray], ...]
    sensitive: BoolArray

    def among(self, columns: Sequence[Codes], codes: Sequence[IntArray] | None = None) -> IntArray:
        """The lines whose quasi-identifiers are wanted; `codes` are the original's codes of each column's own."""
        found = None
        for place, wanted in self.quasi:
            fits = wanted if codes is None else wanted.take(codes[place])
            hits = fits.take(columns[place])
            found = hits if found is None else np.logical_and(found, hits, out=found)
        assert found is not None  # noqa: S101 - a query has a dimension at least; this tells the type checker
        return np.flatnonzero(found)
