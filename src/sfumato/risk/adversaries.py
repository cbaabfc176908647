"""Three adversaries: who is sure that a person is in the table, who is not, and who is after as many as possible.

The prosecutor knows that a certain person is in the table. The journalist wants to re-identify anybody, to show that it
can be done, and looks persons up in a register of the population. The marketer ties every row to somebody in that
register, and is content with the share that is right. All three know the quasi-identifiers exactly.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.risk.scaled import inverse_population

THRESHOLD = 0.2
"""The chance above which a row is at risk where nobody names another: that of a class of fewer than five."""

TABLE, ESTIMATED, SAMPLE = "population table", "estimated from the sampling fraction", "the table itself"
"""Where the size of a class in the population is from."""


@dataclass(frozen=True)
class Chances:
    """The chance of tying a row, or a person where rows name them, to the right one.

    `highest` is that of the one at most risk, `average` that over all; `above` is the share, and `number` the number,
    whose chance is above the threshold. `certain` is how many cannot be mistaken for anybody else, `certain_share`
    their share. `right` is how many are expected to be tied right, if all are tied to somebody.
    """

    highest: float
    average: float
    above: float
    number: int
    certain: int
    certain_share: float
    right: float

    def as_json(self) -> dict[str, Any]:
        """For ``--json`` and the audit."""
        return asdict(self)


@dataclass(frozen=True)
class Adversaries:
    """What each of the three can expect. `counts` says what is counted, `basis` where population sizes are from.

    The chances of journalist and marketer are the same, row by row: one looks at the highest, the other at the average.
    """

    threshold: float
    counts: str
    basis: str
    prosecutor: Chances
    journalist: Chances
    marketer: Chances

    def as_json(self) -> dict[str, Any]:
        """For ``--json`` and the audit."""
        return asdict(self)


def adversaries_of(
    classes: EquivalenceClasses,
    population: IntArray | None = None,
    *,
    fraction: float | None = None,
    threshold: float = THRESHOLD,
) -> Adversaries:
    """What the three can expect of a table with these classes; by persons where rows name them.

    `population` is how many of the population fall in each class, 0 where it has nobody; `fraction` is the share of the
    population that the table is, from which the sizes are estimated. With neither, the table is the population.

    >>> found = adversaries_of(EquivalenceClasses(sizes=[1, 4]), np.array([2, 40]))
    >>> found.prosecutor.highest, found.journalist.highest, found.marketer.average
    (1.0, 0.5, 0.12)
    """
    if population is not None:
        found, basis = through(classes.persons, population), TABLE
    elif fraction is not None:
        found, basis = inverse_population(classes.persons, fraction), ESTIMATED
    else:
        found, basis = 1.0 / classes.persons, SAMPLE
    return adversaries(classes, chances_of(classes, found, threshold), threshold, basis)


def adversaries(classes: EquivalenceClasses, reached: Chances, threshold: float, basis: str) -> Adversaries:
    """The three, where the chances by way of the population are known already."""
    counts = "rows" if classes.individuals is None else "persons"
    return Adversaries(
        threshold, counts, basis, chances_of(classes, 1.0 / classes.persons, threshold), reached, reached
    )


def through(persons: IntArray, population: IntArray) -> FloatArray:
    """The chance of each class by way of a population table: none where that table has nobody.

    Where it has fewer than the table, it is not whole, and the class itself is what hides its rows.

    >>> through(np.array([2, 2, 2]), np.array([8, 0, 1]))
    array([0.125, 0.   , 0.5  ])
    """
    return np.where(population > 0, 1.0 / np.maximum(population, persons), 0.0)


def chances_of(classes: EquivalenceClasses, chance: FloatArray, threshold: float) -> Chances:
    """The chances of all rows, from those of their classes; a person is as exposed as their most exposed row."""
    values, weights = exposed(classes, chance)
    whole, right = int(weights.sum()), float(values @ weights)
    number, certain = int(weights[values > threshold].sum()), int(weights[values == 1].sum())
    return Chances(float(values.max()), right / whole, number / whole, number, certain, certain / whole, right)


def exposed(classes: EquivalenceClasses, chance: FloatArray) -> tuple[FloatArray, IntArray]:
    """Chances and how many have each: a class's by its rows, or a person's, each once.

    >>> people = EquivalenceClasses.of([0, 0, 1], individuals=["ann", "bob", "ann"])
    >>> exposed(people, np.array([0.5, 1.0]))
    (array([1. , 0.5]), array([1, 1]))
    """
    if classes.individuals is None:
        return chance, classes.sizes
    lines = classes.individuals
    highest = np.zeros(int(lines.value.max()) + 1)
    np.maximum.at(highest, lines.value, chance[lines.class_of])
    present = np.unique(lines.value)
    return highest[present], np.ones(len(present), dtype=np.int64)
