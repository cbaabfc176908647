"""The classes of a table as it came in."""

import numpy as np

from sfumato.core.arrays import BoolArray
from sfumato.core.classes import EquivalenceClasses, count_values
from sfumato.encode import DistinctTuples, EncodedTable


def raw_classes(encoded: EncodedTable) -> EquivalenceClasses:
    """The classes of the table as it came in, with its people where rows name them.

    Tuples are in the order of their quasi-identifiers, so that a class is a run of tuples: nothing has to be
    sorted again.
    """
    tuples = encoded.tuples
    if not tuples.others:
        return EquivalenceClasses(tuples.counts)
    new = _runs(tuples)
    sizes = np.add.reduceat(tuples.counts, np.flatnonzero(new))
    if encoded.individual is None:
        return EquivalenceClasses(sizes)
    name = encoded.individual.name
    owner = np.cumsum(new) - 1
    people = count_values(owner, tuples.others[name].astype(np.int64), tuples.counts, encoded.domains[name])
    return EquivalenceClasses(sizes, individuals=people)


def _runs(tuples: DistinctTuples) -> BoolArray:
    """Where a tuple's quasi-identifiers differ from those of the one before."""
    new = np.zeros(len(tuples), dtype=np.bool_)
    new[:1] = True
    for codes in tuples.quasi:
        new[1:] |= codes[1:] != codes[:-1]
    return new
