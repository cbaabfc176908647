"""Encode: rows become a few small integers, and equal rows become one tuple with a count."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrow import texts
from sfumato.classes import Domain, IntArray
from sfumato.coding import Coded, code
from sfumato.hierarchy import Hierarchy, Spec
from sfumato.keys import Codes, Packed, count, narrow, pack
from sfumato.persons import nameless, ranks
from sfumato.policy import Column, Policy, Role
from sfumato.policy.columns import check_least
from sfumato.randomness import Randomness
from sfumato.table import Table

_MANY = 1_000_000


@dataclass(frozen=True, eq=False)
class Attribute:
    """A quasi-identifier: its column, its hierarchy over exactly the values that occur, and its weight.

    `spec` is what the policy declares of it: ranges and sets have no levels besides the values and ``*``. `least` is
    the lowest level that may be published.
    """

    column: Coded
    hierarchy: Hierarchy
    weight: float
    spec: Spec
    least: int = 0

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    @cached_property
    def frequencies(self) -> IntArray:
        """Rows per value."""
        return np.bincount(self.column.codes, minlength=self.column.width)

    @cached_property
    def permitted(self) -> "Attribute":
        """As exactly as it may be told: the labels of its lowest level are its values, and lower levels are gone."""
        if not self.least:
            return self
        tree, place = self.hierarchy.upward(self.least)
        codes = narrow(place, len(tree.labels[0])).take(self.column.codes)
        column = Coded(self.name, codes, tree.labels[0], texts(tree.labels[0]))
        return Attribute(column, tree, self.weight, self.spec)


@dataclass(frozen=True, eq=False)
class Tuples:
    """The different rows as far as a search looks at them, each with the number of rows it stands for, as `packed`.

    `quasi` are leaf codes, one array per quasi-identifier; `others` the codes of the sensitive columns
    that some requirement looks at, and of the individuals, by column name.
    """

    quasi: tuple[Codes, ...]
    others: Mapping[str, Codes]
    counts: IntArray
    packed: Packed

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True, eq=False, repr=False)
class Encoded:
    """A table as integers: what algorithms work on.

    `plain` are the columns that are published as they are: no algorithm looks at them.
    """

    rows: int
    quasi: tuple[Attribute, ...]
    sensitive: Mapping[str, Coded]
    individual: Coded | None
    domains: Mapping[str, Domain]
    tuples: Tuples
    plain: Mapping[str, Any]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers, in the table's order."""
        return tuple(attribute.name for attribute in self.quasi)

    def known(self, name: str) -> Coded:
        """A column that is published as it is, or that of the individuals, as codes."""
        if self.individual is not None and name == self.individual.name:
            return self.individual
        if name in self.sensitive:
            return self.sensitive[name]
        return code(Table(pa.table({name: self.plain[name]})), name)

    @cached_property
    def permitted(self) -> "Encoded":
        """The table as exactly as it may be told: what is searched, so that nothing finer can be found."""
        if not any(one.least for one in self.quasi):
            return self
        quasi = tuple(one.permitted for one in self.quasi)
        named = {} if self.individual is None else {self.individual.name: self.individual}
        known = {**self.sensitive, **named}
        return replace(self, quasi=quasi, tuples=distinct(quasi, {name: known[name] for name in self.tuples.others}))


def encode(table: Table, policy: Policy) -> Encoded:
    """Encode the quasi-identifiers, the sensitive columns and the individuals of a table."""
    order = {name: i for i, name in enumerate(table.arrow.column_names)}
    nulls = policy.source.null
    coded = _code_all(table, policy)
    quasi = tuple(
        attribute(coded[column.name], column, nulls)
        for column in sorted(policy.quasi, key=lambda column: order[column.name])
    )
    sensitive = {column.name: coded[column.name] for column in policy.sensitive}
    plain = {column.name: table.arrow.column(column.name) for column in policy.plain}
    individual = None
    if policy.individual:
        published = [
            *(one.permitted.column.codes for one in quasi),
            *(one.codes for one in sensitive.values()),
            *ranks(plain),
        ]
        individual = nameless(coded[policy.individual.name], published, Randomness(policy.search.seed, "persons"))
    looked_at = {name for model in policy.privacy for name in model.looks_at}
    domains = {
        column.name: domain(sensitive[column.name], column, nulls)
        for column in policy.sensitive
        if column.name in looked_at
    }
    others = {name: sensitive[name] for name in domains}
    if individual is not None:
        others[individual.name] = individual
        domains[individual.name] = plain_domain(individual)
    tuples = distinct(quasi, others)
    return Encoded(table.rows, quasi, sensitive, individual, domains, tuples, plain)


def _code_all(table: Table, policy: Policy) -> dict[str, Coded]:
    """All columns that are looked at, two at a time where there are many rows: Arrow works outside Python's lock."""
    columns = [*policy.quasi, *policy.sensitive, *policy.with_role(Role.INDIVIDUAL)]
    if table.rows < _MANY:
        return {column.name: code(table, column.name) for column in columns}
    with ThreadPoolExecutor(2) as pool:
        return {coded.name: coded for coded in pool.map(lambda column: code(table, column.name), columns)}


def attribute(column: Coded, rules: Column, nulls: tuple[str, ...]) -> Attribute:
    """A quasi-identifier with its hierarchy bound to the values that occur."""
    assert rules.hierarchy is not None  # noqa: S101 - the policy has checked it; this tells the type checker
    tree = rules.hierarchy.bind(column.texts, column=column.name, nulls=nulls)
    check_least(rules.least, tree.height, column=column.name)
    return Attribute(column, tree, rules.weight, rules.hierarchy, rules.least)


def domain(column: Coded, rules: Column, nulls: tuple[str, ...]) -> Domain:
    """A sensitive column in the whole table: totals, and order and ancestors where there are any."""
    return understood(plain_domain(column), rules, nulls)


def understood(plain: Domain, rules: Column, nulls: tuple[str, ...]) -> Domain:
    """A domain with the order and the ancestors that the policy, or numbers by themselves, give its values."""
    if rules.hierarchy is None:
        ranks = _numeric_ranks(plain.values)
        return Domain(plain.values, plain.totals, ranks=ranks, places=0 if ranks is None else len(ranks))
    tree = rules.hierarchy.bind(plain.values, column=rules.name, nulls=nulls)
    return Domain(plain.values, plain.totals, tree.ranks, tree.places, tree.matrix.astype(np.int64))


def plain_domain(column: Coded) -> Domain:
    """A column of which only its values and their totals are known."""
    return Domain(column.texts, np.bincount(column.codes, minlength=column.width))


def _numeric_ranks(texts: tuple[str | None, ...]) -> IntArray | None:
    """Places in numeric order where every value is a number; equal numbers share no place."""
    try:
        numbers = [Decimal(text) for text in texts if text is not None]
    except InvalidOperation:
        return None
    if len(numbers) < len(texts) or not all(number.is_finite() for number in numbers):
        return None
    ranks = np.empty(len(numbers), dtype=np.int64)
    ranks[sorted(range(len(numbers)), key=numbers.__getitem__)] = np.arange(len(numbers))
    return ranks


def distinct(quasi: tuple[Attribute, ...], others: Mapping[str, Coded]) -> Tuples:
    """The different tuples of these columns, with the number of rows of each."""
    columns = [attribute.column for attribute in quasi] + list(others.values())
    widths = [column.width for column in columns]
    packed = pack([column.codes for column in columns], widths)
    counted = count(packed)
    codes = [narrow(part, width) for part, width in zip(packed.unpack(counted.keys), widths, strict=True)]
    named = dict(zip(others, codes[len(quasi) :], strict=True))
    return Tuples(tuple(codes[: len(quasi)]), named, counted.counts, replace(packed, keys=counted.keys))
