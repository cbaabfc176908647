"""What a release tells of its sensitive columns: the bag of each class, and whose rows stand in it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.core.classes import Histogram, SensitiveDomain
from sfumato.core.keys import count_keys, pack_tuples
from sfumato.encode import CodedColumn, EncodedTable, sensitive_domain, value_totals
from sfumato.errors import InputError, did_you_mean, listing
from sfumato.matching.released import Released
from sfumato.policy import Policy
from sfumato.recode import Recoding


@dataclass(frozen=True, eq=False)
class Told:
    """One sensitive column: how often each value stands in each class, the rows of each class, and its persons.

    The domain of `bag` is what the whole table is taken to be. `persons` is there where rows name individuals.
    """

    bag: Histogram
    sizes: IntArray
    persons: Histogram | None = None


@dataclass(frozen=True, eq=False)
class Bags:
    """All sensitive columns together, as a bound looks at them."""

    told: Mapping[str, Told]

    @property
    def bags(self) -> Mapping[str, Histogram]:
        """How often each value stands in each class, by column."""
        return {name: one.bag for name, one in self.told.items()}

    @property
    def sizes(self) -> IntArray:
        """The rows of each class, in whatever order: it may differ from column to column."""
        return next((one.sizes for one in self.told.values()), np.zeros(0, dtype=np.int64))


def told_of(encoded: EncodedTable, recoding: Recoding, policy: Policy) -> dict[str, Told]:
    """Every sensitive column of a release in memory; the whole table is the input.

    Columns that no requirement looks at are counted here, from the rows that are published.
    """
    classes = recoding.classes
    found = {name: Told(bag, classes.sizes, classes.individuals) for name, bag in classes.sensitive.items()}
    left = {name: column for name, column in encoded.sensitive.items() if name not in found}
    if left:
        found |= _unasked(encoded, recoding, {name: _domain(left[name], policy) for name in left})
    return {name: found[name] for name in encoded.sensitive}


def told_by(released: Released, policy: Policy | None = None) -> dict[str, Told]:
    """Every sensitive column of a release as its public files show it; the whole table is what is published.

    A policy adds what it knows of the order of values and of their hierarchy.
    """
    persons = _persons(released)
    bags = {name: _understood(name, bag, policy) for name, bag in released.bags.items()}
    return {name: Told(bag, released.sizes, persons) for name, bag in bags.items()}


def told_in(released: Released, policy: Policy | None, column: str | None) -> dict[str, Told]:
    """One sensitive column of a release, or all; an `InputError` where there is none of that name, or none at all."""
    told = told_by(released, policy)
    if not told:
        raise InputError(f"{released.name} has no sensitive column, so that classes tell nothing of one")
    if column is not None and column not in told:
        hint = did_you_mean(column, told) or f"; it has {listing(told)}"
        raise InputError(f"'{column}' is no sensitive column of {released.name}{hint}")
    return {name: one for name, one in told.items() if column in {None, name}}


def _unasked(encoded: EncodedTable, recoding: Recoding, domains: Mapping[str, SensitiveDomain]) -> dict[str, Told]:
    rows = slice(None) if recoding.published is None else recoding.published
    owner = recoding.class_of[rows]
    sizes, one = np.bincount(owner), encoded.individual
    persons = None if one is None else _counted(owner, one.codes[rows], value_totals(one))
    bags = {name: _counted(owner, encoded.sensitive[name].codes[rows], domain) for name, domain in domains.items()}
    return {name: Told(bag, sizes, persons) for name, bag in bags.items()}


def _counted(owner: IntArray, codes: IntArray, domain: SensitiveDomain) -> Histogram:
    width = len(domain.values)
    pairs = count_keys(pack_tuples([owner, codes], [int(owner.max(initial=0)) + 1, width]))
    return Histogram(pairs.keys // width, pairs.keys % width, pairs.counts, domain)


def _domain(column: CodedColumn, policy: Policy) -> SensitiveDomain:
    """With order and ancestors; without, where the hierarchy does not fit: nobody asked for it."""
    plain = value_totals(column)
    try:
        return sensitive_domain(plain, policy.columns[column.name], policy.source.null)
    except InputError:
        return plain


def _understood(name: str, bag: Histogram, policy: Policy | None) -> Histogram:
    if policy is None or name not in policy.columns:
        return bag
    return replace(bag, domain=sensitive_domain(bag.domain, policy.columns[name], policy.source.null))


def _persons(released: Released) -> Histogram | None:
    """The persons of each class by number, where rows carry pseudonyms."""
    if released.persons is None:
        return None
    totals = np.bincount(released.persons)
    return _counted(released.class_of[released.lines], released.persons, SensitiveDomain(("",) * len(totals), totals))
