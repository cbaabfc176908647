"""Three adversaries: prosecutor, journalist and marketer, and the chance that each ties a row to the right person.

The prosecutor knows that a certain person is in the table. The journalist wants to re-identify anybody, to show that it
can be done, and looks persons up in a register of the population. The marketer ties every row to somebody in that
register, and is content with the share that is right. All three know the quasi-identifiers exactly.

A class of f rows has F people in the population, and journalist and marketer pick one of them: their chance is 1 / F.
Where there is no table of the population, F is estimated by Pitman's model, fitted to the table. It says how the people
who were not drawn would fall: some begin classes of their own, some join those of the table. A class of f rows then has
F = f + X people, with X a negative binomial variable of f - alpha and p = (theta + n) / (theta + N), of n rows of the
table and N people. With alpha and theta 0 this is the individual risk of mu-Argus (Benedetti and Franconi 1998), which
underestimates the exposure of rows that are alone, where many are.

Where rows have sampling weights, a class of f rows stands for as many people as the sum of its weights, on average, so
that each of them was drawn with p = f divided by that sum. The individual risk of Benedetti and Franconi, as mu-Argus
and sdcMicro have it, takes F for a negative binomial variable of f and p: E(1 / F) = (p^f / f) 2F1(f, f; f + 1; 1 - p),
which is the above with alpha 0 and a p of its own for each class; of a row that is alone, p / (1 - p) log(1 / p).
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.page.display import Display, FigureTable
from sfumato.page.wording import chance, percent
from sfumato.risk.population_uniqueness import SampleClassSizes, pitman

THRESHOLD = 0.2
"""The chance above which a row is at risk where nobody names another: that of a class of fewer than five."""

TABLE, ESTIMATED, SAMPLE = "population table", "estimated from the sampling fraction", "the table itself"
WEIGHTED = "estimated from the sampling weights"
"""Where the size of a class in the population is from."""

_LARGE, _TERMS = 50, 80
"""Larger classes than these are summed term by term; so many terms give every digit of a floating-point number."""


@dataclass(frozen=True)
class ProsecutorRisk:
    """The prosecutor's chances of picking the right row for a person in the table.

    `highest` is for the person in the smallest class, `average` over all rows; `uniques` are rows alone in
    their class, `unique_share` their share.
    """

    highest: float
    average: float
    uniques: int
    unique_share: float

    def as_json(self) -> dict[str, float]:
        """Return the figures for ``--json`` and the audit."""
        return asdict(self)

    def _repr_html_(self) -> str:
        lines = [
            ("highest chance of a row", chance(self.highest)),
            ("average chance", percent(self.average)),
            ("rows that are alone", f"{self.uniques:,} ({percent(self.unique_share)})"),
        ]
        return Display("re-identification risk", [FigureTable(("prosecutor", ""), lines)]).as_html()


def measure_prosecutor_risk(classes: EquivalenceClasses) -> ProsecutorRisk:
    """Measure the prosecutor's risk of a table with these classes; by persons where rows name them.

    >>> measure_prosecutor_risk(EquivalenceClasses(sizes=[1, 4]))
    ProsecutorRisk(highest=1.0, average=0.4, uniques=1, unique_share=0.2)
    """
    persons, rows = classes.persons, classes.rows
    uniques = int(classes.sizes[persons == 1].sum())
    average = float((classes.sizes / persons).sum()) / rows
    return ProsecutorRisk(1.0 / int(persons.min()), average, uniques, uniques / rows)


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
        """Return the figures for ``--json`` and the audit."""
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
        """Return the figures for ``--json`` and the audit."""
        return asdict(self)


def adversaries_of(
    classes: EquivalenceClasses,
    population: IntArray | None = None,
    *,
    fraction: float | None = None,
    weights: FloatArray | None = None,
    threshold: float = THRESHOLD,
) -> Adversaries:
    """Measure what the three can expect of a table with these classes; by persons where rows name them.

    `population` is how many of the population fall in each class, 0 where it has nobody; `fraction` is the share of the
    population that the table is, and `weights` are the sums of sampling weights of each class, float[classes], from
    which the sizes are estimated. With none of them, the table is the population.

    >>> risk = adversaries_of(EquivalenceClasses(sizes=[1, 4]), np.array([2, 40]))
    >>> risk.prosecutor.highest, risk.journalist.highest, risk.marketer.average
    (1.0, 0.5, 0.12)
    """
    if population is not None:
        chance, basis = lookup_chance(classes.persons, population), TABLE
    elif fraction is not None:
        chance, basis = estimated_chance(classes.persons, fraction), ESTIMATED
    elif weights is not None:
        chance, basis = weighted_chance(classes.persons, weights), WEIGHTED
    else:
        chance, basis = 1.0 / classes.persons, SAMPLE
    return combine_adversaries(classes, summarize_chances(classes, chance, threshold), threshold, basis)


def combine_adversaries(
    classes: EquivalenceClasses, by_population: Chances, threshold: float, basis: str
) -> Adversaries:
    """Add the prosecutor's chances to those of journalist and marketer, which go by the population."""
    counts = "rows" if classes.individuals is None else "persons"
    prosecutor = summarize_chances(classes, 1.0 / classes.persons, threshold)
    return Adversaries(threshold, counts, basis, prosecutor, by_population, by_population)


def summarize_chances(classes: EquivalenceClasses, chance: FloatArray, threshold: float) -> Chances:
    """Summarize the chances of all rows, or of all persons where rows name them, from those of their classes.

    chance: float[classes], that of a row of each class. A person is as exposed as their most exposed row: Ann, who has
    a row in both classes, has the chance 1 of the second.

    >>> people = EquivalenceClasses.of([0, 0, 1], individuals=["ann", "bob", "ann"])
    >>> summarize_chances(people, np.array([0.5, 1.0]), threshold=0.7)
    Chances(highest=1.0, average=0.75, above=0.5, number=1, certain=1, certain_share=0.5, right=1.5)
    """
    if classes.individuals is None:
        values, weights = chance, classes.sizes  # a class has as many rows of its chance as it is large
    else:
        lines = classes.individuals
        highest = np.zeros(int(lines.value.max()) + 1)
        np.maximum.at(highest, lines.value, chance[lines.class_of])
        values = highest[np.unique(lines.value)]
        weights = np.ones(len(values), dtype=np.int64)
    total, right = int(weights.sum()), float(values @ weights)
    number, certain = int(weights[values > threshold].sum()), int(weights[values == 1].sum())
    return Chances(float(values.max()), right / total, number / total, number, certain, certain / total, right)


def lookup_chance(persons: IntArray, population: IntArray) -> FloatArray:
    """Compute the chance of each class by a table of the population: 0 where that table has nobody of the class.

    Where it has fewer than the measured table, it is not complete, and the class itself is what hides its rows.

    >>> lookup_chance(np.array([2, 2, 2]), np.array([8, 0, 1]))
    array([0.125, 0.   , 0.5  ])
    """
    return np.where(population > 0, 1.0 / np.maximum(population, persons), 0.0)


def estimated_chance(sizes: IntArray, fraction: float) -> FloatArray:
    """Estimate the chance, 1 / population size, of classes of a table that is this share of the population.

    sizes: int[classes]. The table is taken for the population, to be safe, where Pitman's model cannot be fitted.

    >>> estimated_chance(np.array([1] * 50 + [2] * 10 + [5] * 6 + [20] * 2), 0.1)[[0, 50, 60, 66]].round(4)
    array([0.6285, 0.1362, 0.0292, 0.0056])
    >>> estimated_chance(np.array([1, 4]), 1.0)
    array([1.  , 0.25])
    """
    sample = SampleClassSizes.from_sizes(sizes, fraction)
    alpha, share = 0.0, 1.0
    if sample.classes == 1 and sample.rows > 1:
        share = sample.fraction
    else:
        parameters = pitman(sample).parameters
        if sample.fraction < 1 and parameters:
            theta = parameters["theta"]
            alpha, share = parameters["alpha"], (theta + sample.rows) / (theta + sample.people)
    return expected_inverse(sample.sizes, alpha, share)[np.searchsorted(sample.sizes, sizes)]


def weighted_chance(persons: IntArray, weights: FloatArray) -> FloatArray:
    """Estimate the chance of classes of so many persons that stand for as many people as their weights add up to.

    Nobody stands for less than themselves.

    >>> weighted_chance(np.array([1, 2, 1]), np.array([100.0, 200.0, 0.5])).round(4)
    array([0.0465, 0.0096, 1.    ])
    """
    return expected_inverse(persons, 0.0, persons / np.maximum(weights, persons))


def expected_inverse(sizes: IntArray, alpha: float, share: float | FloatArray) -> FloatArray:
    """Compute E(1 / (f + X)) for sizes f, which is (p / f) 2F1(1, 1 + alpha; f + 1; 1 - p) with p the `share`.

    The share is one for all classes, or float[classes].

    >>> expected_inverse(np.array([1, 100]), 0.0, 0.1).round(4)
    array([0.2558, 0.001 ])
    """
    from scipy.special import hyp2f1  # noqa: PLC0415 - slow to import, and most never come here

    small = hyp2f1(1.0, 1.0 + alpha, np.minimum(sizes, _LARGE) + 1.0, 1.0 - share)
    # For large f the library's 2F1 loses its digits; the terms of the series then fall quickly.
    c = np.maximum(sizes, _LARGE) + 1.0
    term = large = np.ones_like(c)
    for n in range(_TERMS):
        term = term * ((1.0 - share) * (1 + alpha + n) / (c + n))
        large = large + term
    chance: FloatArray = share / sizes * np.where(sizes <= _LARGE, small, large)
    return chance
