"""Class sizes: how many rows stand in classes of which size."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.classes import EquivalenceClasses

EDGES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Where the bins of class sizes begin: even steps on a scale of factors."""


@dataclass(frozen=True, eq=False)
class Sizes:
    """The share of rows in classes of each bin of sizes."""

    shares: FloatArray

    @property
    def used(self) -> int:
        """How many bins there are up to the last that holds a row."""
        return int(np.flatnonzero(self.shares).max(initial=0)) + 1


def binned(classes: EquivalenceClasses) -> Sizes:
    """Rows by the size of their class: in people where rows name them.

    >>> binned(EquivalenceClasses(sizes=[1, 3, 4])).shares[:2].tolist()
    [0.125, 0.875]
    """
    last, rows = EDGES[-1], classes.rows
    capped = np.minimum(classes.persons, last)
    if classes.individuals is not None:
        held = np.bincount(capped, weights=classes.sizes, minlength=last + 1)
    else:
        held = np.bincount(capped, minlength=last + 1) * np.arange(last + 1.0)
        held[last] = rows - held[:last].sum()
    return Sizes(np.add.reduceat(held, EDGES) / rows)


def below(classes: EquivalenceClasses, k: int) -> int:
    """Rows in classes of fewer than k."""
    return int(classes.sizes[classes.persons < k].sum())


def bins(edges: Sequence[int] = EDGES) -> list[str]:
    """What the bins are called.

    >>> bins((1, 2, 5, 10))
    ['1', '2–4', '5–9', '10+']
    """
    inner = [str(low) if high == low + 1 else f"{low:,}–{high - 1:,}" for low, high in pairwise(edges)]
    return [*inner, f"{edges[-1]:,}+"]


def smallest(classes: EquivalenceClasses) -> int:
    """The size of the smallest class."""
    persons: IntArray = classes.persons
    return int(persons.min())
