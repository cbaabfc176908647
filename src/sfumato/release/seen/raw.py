"""The classes of a table as it came in."""

import numpy as np

from sfumato.classes import BoolArray, Classes, tally
from sfumato.encode import Encoded, Tuples


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


def _runs(tuples: Tuples) -> BoolArray:
    """Where a tuple's quasi-identifiers differ from those of the one before."""
    new = np.zeros(len(tuples), dtype=np.bool_)
    new[:1] = True
    for codes in tuples.quasi:
        new[1:] |= codes[1:] != codes[:-1]
    return new
