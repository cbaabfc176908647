"""The risk of a table, raw or published, from every side."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.errors import DataError
from sfumato.policy import Policy
from sfumato.risk.adversaries import Adversaries
from sfumato.risk.asked import Asked
from sfumato.risk.k_map import KMap, k_map_of, read_population, sizes_in
from sfumato.risk.nulls import Nulls, nulls_of
from sfumato.risk.persons import DEFAULT_K, Persons, persons_of
from sfumato.risk.population import Uniqueness, uniqueness
from sfumato.risk.prosecutor import Risk, risk_of
from sfumato.risk.reached import reached_by, values_of
from sfumato.risk.reading import Reading, by_columns, by_policy, by_release
from sfumato.risk.sets import Sets, sets_of
from sfumato.risk.subject import Subject

_PLAIN = Asked()


@dataclass(frozen=True)
class TableRisk:
    """The risk of a table, by person besides where a column says whose a row is; `by` says where k is from.

    `population` is there where a table of the population was given, `uniqueness` where its size was; `nulls` where
    values are missing, and `sets` unless nobody asked for them.
    """

    risk: Risk
    adversaries: Adversaries
    persons: Persons | None = None
    by: str = ""
    population: KMap | None = None
    uniqueness: Uniqueness | None = None
    nulls: Nulls | None = None
    sets: Sets | None = None

    def as_json(self) -> dict[str, Any]:
        """For ``--json``: one object, with the figures by person only where there are any."""
        parts = {
            "population": self.population,
            "population_uniqueness": self.uniqueness,
            "null": self.nulls,
            "columns": self.sets,
        }
        found = {name: part.as_json() for name, part in parts.items() if part is not None}
        plain = self.risk.as_json() | (self.persons.as_json() if self.persons else {})
        return plain | self.adversaries.as_json() | found


def risk_by_policy(path: Path, policy: Policy, *, k: int | None = None, asked: Asked = _PLAIN) -> TableRisk:
    """The risk over a policy's quasi-identifiers; by persons where it names an individual column.

    `k` is the policy's largest unless it is given, and a common one where the policy has none. The individual column
    may be missing, where somebody left it out: rows are counted then.
    """
    found = by_policy(path, policy)
    if k is not None and found.subject.person is None:
        has = "the table has no column" if policy.individual else "the policy has no individual column"
        name = f" '{policy.individual.name}'" if policy.individual else ""
        raise DataError(f"k is counted in persons, and {has}{name}; leave --k out, or name persons")
    return measured(found, k, asked)


def risk_by_columns(
    path: Path, quasi: Sequence[str], *, individual: str | None = None, k: int | None = None, asked: Asked = _PLAIN
) -> TableRisk:
    """The risk over the given columns; NULL is a value like any other. By persons where a column names them."""
    if k is not None and individual is None:
        raise DataError("k is counted in persons, and no column names them; add --individual COLUMN, or leave --k out")
    return measured(by_columns(path, quasi, individual), k, asked)


def risk_by_release(folder: Path, *, k: int | None = None, asked: Asked = _PLAIN) -> TableRisk:
    """The risk of a release, by its public files and what its manifest says; by persons where it has pseudonyms."""
    found = by_release(folder)
    if k is not None and found.subject.person is None:
        raise DataError("k is counted in persons, and the release has no pseudonyms; leave --k out")
    return measured(found, k, asked)


def measured(reading: Reading, k: int | None, asked: Asked) -> TableRisk:
    """Everything that is asked of a table."""
    subject = reading.subject
    sampled = _sampled(subject)
    classes, share = subject.classes, asked.share(sampled)
    sizes, population = _in_population(reading, asked)
    adversaries = reached_by(subject, sizes, share, threshold=asked.threshold)
    named = subject.person is not None
    return TableRisk(
        risk_of(classes),
        adversaries,
        persons_of(classes, k or reading.k or DEFAULT_K) if named else None,
        "as given" if k else "the policy's" if reading.k else "since none is named",
        population,
        None if share is None else uniqueness(values_of(subject).persons, share, people=round(sampled / share)),
        nulls_of(subject.lines, subject.quasi),
        sets_of(subject.lines, subject.names, asked.sets) if asked.sets else None,
    )


def _sampled(subject: Subject) -> int:
    """Rows, or persons where rows name them."""
    return subject.rows if subject.person is None else len(np.unique(subject.person))


def _in_population(reading: Reading, asked: Asked) -> tuple[Any, KMap | None]:
    """The size of each class in the population table, and what that says; nothing where none was given."""
    if asked.population is None:
        return None, None
    quasi = reading.subject.names
    population = read_population(asked.population, quasi, reading.individual, reading.options)
    sizes = sizes_in(population, reading.released(), reading.subject)
    return sizes, k_map_of(values_of(reading.subject), sizes, population.persons)
