"""By way of the population: the chance that a row of the table, or of its second table, is tied to its person.

Where a release is in two tables, a person is looked up by values in the first, and the row of the second is any of the
group. So the chance is that of being the one of the population who has the values, times the share that rows of those
values are of their group.
"""

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.core.keys import pack_tuples
from sfumato.risk.adversaries import ESTIMATED, TABLE, Adversaries, adversaries, adversaries_of, chances_of, through
from sfumato.risk.scaled import inverse_population
from sfumato.risk.subject import Subject, classes_of


def reached_by(
    subject: Subject, population: IntArray | None, fraction: float | None, *, threshold: float
) -> Adversaries:
    """What the three can expect, where the population has so many of each value, or the table is this share of it."""
    if subject.group is None or (population is None and fraction is None):
        return adversaries_of(subject.classes, population, fraction=fraction, threshold=threshold)
    alike = values_of(subject)
    cells, value, share = _cells(subject, alike)
    if population is not None:
        chance, basis = through(alike.persons, population), TABLE
    else:
        chance, basis = inverse_population(alike.persons, float(fraction or 1)), ESTIMATED
    return adversaries(subject.classes, chances_of(cells, share * chance[value], threshold), threshold, basis)


def values_of(subject: Subject) -> EquivalenceClasses:
    """The classes of equal values, which are the table's classes unless it has groups."""
    return subject.classes if subject.group is None else classes_of(subject.values, subject.person)


def _cells(subject: Subject, alike: EquivalenceClasses) -> tuple[EquivalenceClasses, IntArray, FloatArray]:
    """Rows of equal values and group, the value of each such cell, and its share of the group."""
    assert subject.group is not None  # noqa: S101 - cells are parts of groups; this tells the type checker
    keys = pack_tuples([subject.values, subject.group], [len(alike), len(subject.classes)]).keys
    _, first, cell = np.unique(keys, return_index=True, return_inverse=True)
    cells = classes_of(cell, subject.person)
    share: FloatArray = cells.persons / subject.classes.persons[subject.group[first]]
    return cells, subject.values[first], share
