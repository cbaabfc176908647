"""Class sizes before and after, and how many rows stand in classes of which size."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sfumato.classes import BoolArray, Classes, FloatArray, IntArray, tally
from sfumato.encode import Encoded, Tuples

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


def raw_classes(encoded: Encoded) -> Classes:
    """The classes of the table as it came in, with its people where rows name them.

    Tuples are in the order of their quasi-identifiers, so that a class is a run of tuples: nothing has to be
    sorted again.
    """
    tuples = encoded.tuples
    if not tuples.others:
        return Classes(tuples.counts)
    new = _runs(tuples)
    sizes = np.add.reduceat(tuples.counts, np.flatnonzero(new))
    if encoded.individual is None:
        return Classes(sizes)
    name = encoded.individual.name
    owner = np.cumsum(new) - 1
    people = tally(owner, tuples.others[name].astype(np.int64), tuples.counts, encoded.domains[name])
    return Classes(sizes, individuals=people)


def binned(classes: Classes) -> Sizes:
    """Rows by the size of their class: in people where rows name them.

    >>> binned(Classes(sizes=[1, 3, 4])).shares[:2].tolist()
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


def below(classes: Classes, k: int) -> int:
    """Rows in classes of fewer than k."""
    return int(classes.sizes[classes.persons < k].sum())


def bins(edges: Sequence[int] = EDGES) -> list[str]:
    """What the bins are called.

    >>> bins((1, 2, 5, 10))
    ['1', '2–4', '5–9', '10+']
    """
    inner = [str(low) if high == low + 1 else f"{low:,}–{high - 1:,}" for low, high in pairwise(edges)]
    return [*inner, f"{edges[-1]:,}+"]


def _runs(tuples: Tuples) -> BoolArray:
    """Where a tuple's quasi-identifiers differ from those of the one before."""
    new = np.zeros(len(tuples), dtype=np.bool_)
    new[:1] = True
    for codes in tuples.quasi:
        new[1:] |= codes[1:] != codes[:-1]
    return new


def smallest(classes: Classes) -> int:
    """The size of the smallest class."""
    persons: IntArray = classes.persons
    return int(persons.min())
