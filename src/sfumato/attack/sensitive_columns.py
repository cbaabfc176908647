"""What a release shows of its sensitive columns: the values of each class, and whose rows are in it.

The attacks that look at single classes (`homogeneity`, `minimality`) start from here, with a release in memory or with
its public files. What the whole table is taken to be, and so what somebody knows without the release, is the domain of
the histogram: the input for a release in memory, the published rows for files.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.core.classes import Histogram, SensitiveDomain
from sfumato.core.keys import count_keys, pack_tuples
from sfumato.encode import CodedColumn, EncodedTable, sensitive_domain, value_totals
from sfumato.errors import InputError, did_you_mean, listing, quote
from sfumato.policy import Policy
from sfumato.reading.release_view import ReleaseLines
from sfumato.recode import Recoding


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """One sensitive column over the classes of a release.

    `bag` counts rows per class and value, `sizes` rows per class; `persons` counts rows per class and person, where
    rows are of individuals.
    """

    bag: Histogram
    sizes: IntArray
    persons: Histogram | None = None


@dataclass(frozen=True, eq=False)
class SensitiveColumns:
    """All sensitive columns of a release together, in the form that `attack.bound.bounds` looks at."""

    columns: Mapping[str, SensitiveColumn]

    @property
    def bags(self) -> Mapping[str, Histogram]:
        """Rows per class and value, by column."""
        return {name: column.bag for name, column in self.columns.items()}

    @property
    def sizes(self) -> IntArray:
        """Rows per class, as the first column numbers the classes; other columns may number them in another order."""
        return next((column.sizes for column in self.columns.values()), np.zeros(0, dtype=np.int64))


def sensitive_columns_from_recoding(
    encoded: EncodedTable, recoding: Recoding, policy: Policy
) -> dict[str, SensitiveColumn]:
    """Take every sensitive column from a release in memory.

    The recoding has counted those that a requirement looks at. The others are counted here, from the published rows.
    """
    classes = recoding.classes
    columns = {
        name: SensitiveColumn(bag, classes.sizes, classes.individuals) for name, bag in classes.sensitive.items()
    }
    uncounted = [name for name in encoded.sensitive if name not in columns]
    if uncounted:
        rows = slice(None) if recoding.published is None else recoding.published
        class_of, person = recoding.class_of[rows], encoded.individual
        sizes = np.bincount(class_of)
        persons = None if person is None else _count(class_of, person.codes[rows], value_totals(person))
        for name in uncounted:
            column = encoded.sensitive[name]
            bag = _count(class_of, column.codes[rows], _domain_if_it_fits(column, policy))
            columns[name] = SensitiveColumn(bag, sizes, persons)
    return {name: columns[name] for name in encoded.sensitive}


def sensitive_columns_from_release(released: ReleaseLines, policy: Policy | None = None) -> dict[str, SensitiveColumn]:
    """Take every sensitive column from the public files of a release.

    A policy adds the order of values and their hierarchy.
    """
    policy = policy and policy.for_table([entry["name"] for entry in released.manifest.columns], whole=False)
    persons = None
    if released.persons is not None:  # rows carry pseudonyms
        totals = np.bincount(released.persons)
        numbered = SensitiveDomain(("",) * len(totals), totals)
        persons = _count(released.class_of[released.line_of], released.persons, numbered)
    columns = {}
    for name, bag in released.bags.items():
        if policy is not None and name in policy.columns:
            domain = sensitive_domain(bag.domain, policy.columns[name], policy.source.null)
            columns[name] = SensitiveColumn(replace(bag, domain=domain), released.sizes, persons)
        else:
            columns[name] = SensitiveColumn(bag, released.sizes, persons)
    return columns


def select_sensitive_columns(
    released: ReleaseLines, policy: Policy | None, column: str | None
) -> dict[str, SensitiveColumn]:
    """Take one sensitive column of a release by its name, or all.

    An `InputError` says that there is none of that name, or none at all.
    """
    columns = sensitive_columns_from_release(released, policy)
    if not columns:
        raise InputError(f"{released.name} has no sensitive column, so that classes tell nothing of one")
    if column is not None and column not in columns:
        hint = did_you_mean(column, columns) or f"; it has {listing(columns)}"
        raise InputError(f"{quote(column)} is no sensitive column of {released.name}{hint}")
    return {name: columns[name] for name in columns if column in {None, name}}


def _count(class_of: IntArray, codes: IntArray, domain: SensitiveDomain) -> Histogram:
    """Count the rows per class and code. Both arrays are ``int[rows]``."""
    width = len(domain.values)
    pairs = count_keys(pack_tuples([class_of, codes], [int(class_of.max(initial=0)) + 1, width]))
    return Histogram(pairs.keys // width, pairs.keys % width, pairs.counts, domain)


def _domain_if_it_fits(column: CodedColumn, policy: Policy) -> SensitiveDomain:
    """Add order and ancestors to the values; leave them out where the hierarchy does not fit, as no model uses it."""
    totals = value_totals(column)
    try:
        return sensitive_domain(totals, policy.columns[column.name], policy.source.null)
    except InputError:
        return totals
