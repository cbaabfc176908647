"""The risk of a table, raw or published: by adversary, by person, in its population, and by sets of columns."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.core.keys import pack_tuples
from sfumato.errors import DataError, InputError
from sfumato.page.display import Display, FigureTable, Shown
from sfumato.page.wording import percent
from sfumato.policy import Policy
from sfumato.risk.adversaries import (
    ESTIMATED,
    TABLE,
    THRESHOLD,
    WEIGHTED,
    Adversaries,
    ProsecutorRisk,
    adversaries_of,
    combine_adversaries,
    estimated_chance,
    lookup_chance,
    measure_prosecutor_risk,
    summarize_chances,
    weighted_chance,
)
from sfumato.risk.column_sets import LARGEST, ColumnSets, sets_of
from sfumato.risk.k_map import KMap, count_population, measure_k_map, read_population
from sfumato.risk.measured_table import MeasuredTable, count_persons, read_by_columns, read_by_policy, read_release
from sfumato.risk.missing_values import MissingValueRisk, nulls_of
from sfumato.risk.person_risk import DEFAULT_K, PersonRisk, measure_person_risk
from sfumato.risk.population_uniqueness import Uniqueness, uniqueness
from sfumato.settled_policy import settle_columns

_MOST_PEOPLE = 10**11
"""More people than have ever lived, and more than the estimates have digits for."""


@dataclass(frozen=True)
class RiskOptions:
    """The threshold, the population that the table is a sample of, and the size of the sets of columns.

    The population is a table (a path or a frame), its size, or the share of it that the table is; at most one of them.

    >>> RiskOptions(population_size=100, fraction=0.1)
    Traceback (most recent call last):
    sfumato.errors.InputError: give one of --population, --population-size and --sampling-fraction, not several
    """

    threshold: float = THRESHOLD
    population: Any = None
    population_size: int | None = None
    fraction: float | None = None
    sets: int = LARGEST

    def __post_init__(self) -> None:
        if sum(value is not None for value in (self.population, self.population_size, self.fraction)) > 1:
            raise InputError("give one of --population, --population-size and --sampling-fraction, not several")
        if not 0 < self.threshold <= 1:
            raise InputError(f"the threshold must be above 0 and at most 1, not {self.threshold:g}")
        if self.fraction is not None and not 0 < self.fraction <= 1:
            raise InputError(f"the sampling fraction must be above 0 and at most 1, not {self.fraction:g}")
        if self.sets < 0:
            raise InputError(f"sets must be of 0 columns (none) or more, not {self.sets}")

    def share(self, sampled: int) -> float | None:
        """Compute the share of the population that so many are, where that is known.

        >>> RiskOptions(population_size=100).share(20)
        0.2
        """
        people = self.population_size if self.fraction is None else sampled / self.fraction
        if people is None:
            return None
        if people < sampled:
            raise InputError(
                f"a population of {people:,} cannot have the {sampled:,} of the table as a sample; "
                "give the size of the population that they were drawn from"
            )
        if people > _MOST_PEOPLE:
            raise InputError(
                f"no population has more than {_MOST_PEOPLE:,} people; give its true size, or the share it is"
            )
        return sampled / people if self.fraction is None else self.fraction


_DEFAULTS = RiskOptions()


@dataclass(frozen=True, repr=False)
class TableRisk(Shown):
    """The risk of a table, by person besides where a column says whose a row is; `by` says where k is from.

    `population` is there where a table of the population was given, `uniqueness` where its size was; `nulls` where
    values are missing, and `sets` unless they were switched off. `weights` is there where rows have sampling weights.
    """

    risk: ProsecutorRisk
    adversaries: Adversaries
    persons: PersonRisk | None = None
    by: str = ""
    population: KMap | None = None
    uniqueness: Uniqueness | None = None
    nulls: MissingValueRisk | None = None
    sets: ColumnSets | None = None
    weights: "WeightedSample | None" = None

    def display(self) -> Display:
        """Show the chances of the three adversaries, and what was measured besides, in figures alone."""
        three = self.adversaries
        each = (three.prosecutor, three.journalist, three.marketer)
        lines = [
            (f"highest of all {three.counts}", *(percent(one.highest) for one in each[:2]), ""),
            ("average", *(percent(one.average) for one in each)),
            (f"{three.counts} above {three.threshold:g}", *(f"{one.number:,}" for one in each[:2]), ""),
            (f"{three.counts} alone", *(f"{one.certain:,}" for one in each[:2]), ""),
        ]
        said = []
        if self.persons:
            said.append(f"{self.persons.persons:,} persons with {self.persons.rpi:.3g} rows each on average")
        if self.uniqueness and self.uniqueness.chosen:
            share = getattr(self.uniqueness, self.uniqueness.chosen).share
            said.append(f"{percent(share)} of the population are estimated to be alone in it")
        if self.sets and self.sets.minimal:
            first = self.sets.minimal[0]
            said.append(f"{' and '.join(first.columns)} find {first.finds:,} {self.sets.counts} by themselves")
        head = ("chance of being found", "prosecutor", "journalist", "marketer")
        return Display("re-identification risk", [FigureTable(head, lines)], said)

    def as_json(self) -> dict[str, Any]:
        """Return one object for ``--json``, with the figures by person only where there are any."""
        parts = {
            "population": self.population,
            "population_uniqueness": self.uniqueness,
            "null": self.nulls,
            "columns": self.sets,
            "weights": self.weights,
        }
        plain = self.risk.as_json() | (self.persons.as_json() if self.persons else {})
        optional = {name: part.as_json() for name, part in parts.items() if part is not None}
        return plain | self.adversaries.as_json() | optional


@dataclass(frozen=True)
class WeightedSample:
    """A table with sampling weights in a `column`, which add up to so many `people` of the population.

    `used` says that the chances of journalist and marketer go by them: a table of the population, its size or a
    sampling fraction goes before.
    """

    column: str
    people: float
    used: bool

    def as_json(self) -> dict[str, Any]:
        """Return the figures for ``--json``."""
        return asdict(self)


def risk_by_policy(path: Any, policy: Policy, *, k: int | None = None, asked: RiskOptions = _DEFAULTS) -> TableRisk:
    """Measure the risk over a policy's quasi-identifiers; by persons where it names an individual column.

    `k` is the policy's largest unless it is given, and a common one where the policy has none. The individual column
    may be missing, where somebody left it out: rows are counted then.
    """
    table = read_by_policy(path, settle_columns(policy, path, whole=False))
    if k is not None and table.person is None:
        has = "the table has no column" if policy.individual else "the policy has no individual column"
        name = f" '{policy.individual.name}'" if policy.individual else ""
        raise DataError(f"k is counted in persons, and {has}{name}; leave --k out, or name persons")
    return _measure_table(table, k, asked)


def risk_by_columns(
    path: Any,
    quasi: Sequence[str],
    *,
    individual: str | None = None,
    weight: str | None = None,
    k: int | None = None,
    asked: RiskOptions = _DEFAULTS,
) -> TableRisk:
    """Measure the risk over the given columns; NULL is a value like any other. By persons where a column names them.

    `weight` is the column of sampling weights, which say how many people each row stands for.
    """
    if k is not None and individual is None:
        raise DataError("k is counted in persons, and no column names them; add --individual COLUMN, or leave --k out")
    return _measure_table(read_by_columns(path, quasi, individual, weight), k, asked)


def risk_by_release(folder: Path, *, k: int | None = None, asked: RiskOptions = _DEFAULTS) -> TableRisk:
    """Measure the risk of a release, by its public files and its manifest; by persons where it has pseudonyms."""
    table = read_release(folder)
    if k is not None and table.person is None:
        raise DataError("k is counted in persons, and the release has no pseudonyms; leave --k out")
    return _measure_table(table, k, asked)


def _measure_table(table: MeasuredTable, k: int | None, options: RiskOptions) -> TableRisk:
    share = options.share(table.sampled)
    sizes, k_map = None, None
    if options.population is not None:
        population = read_population(options.population, table)
        sizes = count_population(population, table)
        k_map = measure_k_map(table.value_classes, sizes, population.persons)
    adversaries = _measure_adversaries(table, sizes, share, options.threshold)
    persons = None if table.person is None else measure_person_risk(table.classes, k or table.k or DEFAULT_K)
    uniques = None
    if share is not None:
        uniques = uniqueness(table.value_classes.persons, share, people=round(table.sampled / share))
    return TableRisk(
        measure_prosecutor_risk(table.classes),
        adversaries,
        persons,
        by="as given" if k else "the policy's" if table.k else "since none is named",
        population=k_map,
        uniqueness=uniques,
        nulls=nulls_of(table.lines, table.quasi),
        sets=sets_of(table.lines, table.names, options.sets) if options.sets else None,
        weights=_weighted_sample(table, adversaries),
    )


def _weighted_sample(table: MeasuredTable, adversaries: Adversaries) -> WeightedSample | None:
    if table.value_weights is None or table.weighted_by is None:
        return None
    return WeightedSample(table.weighted_by, float(table.value_weights.sum()), adversaries.basis == WEIGHTED)


def _measure_adversaries(
    table: MeasuredTable, population: IntArray | None, fraction: float | None, threshold: float
) -> Adversaries:
    """Measure the adversaries, where the population has so many of each value, or the table is this share of it.

    Where a release is in two tables, a person is looked up by values in the first, and the row of the second is any of
    the group. So the chance is that of being the one of the population who has the values, times the share that rows
    of those values are of their group. Rows of equal values and group form a cell.

    population: int[values]; chance: float[values]; share: float[cells].
    """
    weights = table.value_weights
    if table.group is None or (population is None and fraction is None and weights is None):
        own = weights if table.group is None else None
        return adversaries_of(table.classes, population, fraction=fraction, weights=own, threshold=threshold)
    persons = table.value_classes.persons
    if population is not None:
        chance, basis = lookup_chance(persons, population), TABLE
    elif fraction is None and weights is not None:
        chance, basis = weighted_chance(persons, weights), WEIGHTED
    else:
        chance, basis = estimated_chance(persons, float(fraction or 1)), ESTIMATED
    keys = pack_tuples([table.values, table.group], [len(table.value_classes), len(table.classes)]).keys
    _, first, cell_of = np.unique(keys, return_index=True, return_inverse=True)
    cells = count_persons(cell_of, table.person)
    share = cells.persons / table.classes.persons[table.group[first]]
    chances = summarize_chances(cells, share * chance[table.values[first]], threshold)
    return combine_adversaries(table.classes, chances, threshold, basis)
