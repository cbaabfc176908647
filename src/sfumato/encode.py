"""Encode a table: rows become a few small integers, and equal rows become one tuple with a count.

The different values of a column are numbered in text order, so that nothing made of codes depends on the order in
which the rows came. Hierarchies are bound to exactly the values that occur. Algorithms work on the distinct tuples,
never on rows.
"""

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Codes, FloatArray, IntArray, count_codes, narrow_codes
from sfumato.core.arrow import arrow_indices, arrow_numbers, arrow_texts, numpy_numbers
from sfumato.core.classes import SensitiveDomain
from sfumato.core.keys import PackedTuples, count_keys, mix_bits, pack_tuples
from sfumato.core.numbers import read_decimals
from sfumato.core.randomness import Randomness
from sfumato.core.sampling_weights import read_weights, round_weights
from sfumato.core.segments import run_starts
from sfumato.errors import DataError
from sfumato.hierarchy import Hierarchy, Spec
from sfumato.policy import Column, Policy, Role
from sfumato.policy.columns import check_least
from sfumato.table import Table

_MANY_ROWS = 1_000_000
"""From so many rows on columns are encoded two at a time."""


@dataclass(frozen=True, eq=False, repr=False)
class CodedColumn:
    """One column: a code per row, and per code its value, as text and as it was (``None`` for NULL)."""

    name: str
    codes: Codes
    texts: tuple[str | None, ...]
    values: Any

    @property
    def width(self) -> int:
        """Number of different values."""
        return len(self.texts)


@dataclass(frozen=True, eq=False)
class QuasiIdentifier:
    """A quasi-identifier: its column, its hierarchy over exactly the values that occur, and its weight.

    `spec` is what the policy declares of it: ranges and sets have no levels besides the values and ``*``. `least` is
    the lowest level that may be published.
    """

    column: CodedColumn
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
        return count_codes(self.column.codes, self.column.width)

    @cached_property
    def permitted(self) -> "QuasiIdentifier":
        """The column generalized to its lowest permitted level, whose labels become its values."""
        if not self.least:
            return self
        tree, place = self.hierarchy.upward(self.least)
        codes = narrow_codes(place, len(tree.labels[0])).take(self.column.codes)
        column = CodedColumn(self.name, codes, tree.labels[0], arrow_texts(tree.labels[0]))
        return QuasiIdentifier(column, tree, self.weight, self.spec)


@dataclass(frozen=True, eq=False)
class DistinctTuples:
    """The different rows as far as a search looks at them, each with the number of rows it stands for.

    `quasi` are leaf codes, one array per quasi-identifier; `others` the codes of the sensitive columns that some
    requirement looks at, and of the individuals, by column name. `packed` has one key per tuple, ascending.
    """

    quasi: tuple[Codes, ...]
    others: Mapping[str, Codes]
    counts: IntArray
    packed: PackedTuples

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True, eq=False, repr=False)
class EncodedTable:
    """A table as integers: what algorithms work on.

    `plain` are the columns that are published as they are, and sampling weights as they are published: no algorithm
    looks at them. `weights` are the sampling weights as they came, float[rows].
    """

    rows: int
    quasi: tuple[QuasiIdentifier, ...]
    sensitive: Mapping[str, CodedColumn]
    individual: CodedColumn | None
    domains: Mapping[str, SensitiveDomain]
    tuples: DistinctTuples
    plain: Mapping[str, Any]
    weights: FloatArray | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers, in the table's order."""
        return tuple(attribute.name for attribute in self.quasi)

    def coded(self, name: str) -> CodedColumn:
        """A column that is published as it is, or that of the individuals, as codes."""
        if self.individual is not None and name == self.individual.name:
            return self.individual
        if name in self.sensitive:
            return self.sensitive[name]
        return encode_column(Table(pa.table({name: self.plain[name]})), name)

    @cached_property
    def permitted(self) -> "EncodedTable":
        """The table generalized to the lowest permitted levels: what is searched, so that nothing is finer."""
        if not any(attribute.least for attribute in self.quasi):
            return self
        quasi = tuple(attribute.permitted for attribute in self.quasi)
        named = {} if self.individual is None else {self.individual.name: self.individual}
        coded = {**self.sensitive, **named}
        others = {name: coded[name] for name in self.tuples.others}
        return replace(self, quasi=quasi, tuples=count_distinct_tuples(quasi, others))


def encode(table: Table, policy: Policy) -> EncodedTable:
    """Encode the quasi-identifiers, the sensitive columns and the individuals of a table."""
    order = {name: i for i, name in enumerate(table.arrow.column_names)}
    nulls = policy.source.null
    columns = [*policy.quasi, *policy.sensitive, *policy.with_role(Role.INDIVIDUAL)]
    if table.rows < _MANY_ROWS:
        coded = {column.name: encode_column(table, column.name) for column in columns}
    else:  # Arrow works outside Python's lock
        with ThreadPoolExecutor(2) as pool:
            names = [column.name for column in columns]
            coded = dict(zip(names, pool.map(lambda name: encode_column(table, name), names), strict=True))
    quasi = tuple(
        bind_quasi_identifier(coded[column.name], column, nulls)
        for column in sorted(policy.quasi, key=lambda column: order[column.name])
    )
    sensitive = {column.name: coded[column.name] for column in policy.sensitive}
    plain = {column.name: table.arrow.column(column.name) for column in policy.ungeneralized}
    weights = None
    if (column := policy.sampling_weight) is not None:
        weights = read_weights(plain[column.name], column.name)
        plain[column.name] = round_weights(plain[column.name], column.round) if column.round else plain[column.name]
    individual = None
    if policy.individual:
        published = [
            *(attribute.permitted.column.codes for attribute in quasi),
            *(column.codes for column in sensitive.values()),
            *(_dense_ranks(column) for column in plain.values()),
        ]
        randomness = Randomness(policy.search.seed, "persons")
        individual = number_persons(coded[policy.individual.name], published, randomness)
    required = {name for model in policy.privacy for name in model.looks_at}
    domains = {
        column.name: sensitive_domain(value_totals(sensitive[column.name]), column, nulls)
        for column in policy.sensitive
        if column.name in required
    }
    others = {name: sensitive[name] for name in domains}
    if individual is not None:
        others[individual.name] = individual
        domains[individual.name] = value_totals(individual)
    tuples = count_distinct_tuples(quasi, others)
    return EncodedTable(table.rows, quasi, sensitive, individual, domains, tuples, plain, weights)


def encode_column(table: Table, name: str) -> CodedColumn:
    """Number the different values of a column in text order, NULL last.

    >>> from sfumato.core.arrow import arrow_texts
    >>> column = encode_column(Table(pa.table({"sex": arrow_texts(["m", None, "f", "m"])})), "sex")
    >>> column.codes.tolist(), column.texts
    ([1, 2, 0, 1], ('f', 'm', None))
    """
    encoded = table.arrow.column(name).combine_chunks()
    if pa.types.is_dictionary(encoded.type) and encoded.dictionary.null_count:
        encoded = encoded.dictionary_decode()  # a dictionary may hold NULL as an entry, which is NULL like any other
    if not pa.types.is_dictionary(encoded.type):
        encoded = encoded.dictionary_encode()
    values = encoded.dictionary
    is_text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    try:
        texts = list((values if is_text else pc.cast(values, pa.string())).to_pylist())  # 7 is '7', a date is ISO
    except pa.ArrowInvalid:  # its words may quote a value
        raise DataError(
            f"column '{name}' holds {values.type}, and one of its values cannot be written as text; turn it into text"
        ) from None
    used = sorted((i for i in pc.unique(encoded.indices).to_pylist() if i is not None), key=texts.__getitem__)
    order: list[int | None] = [*used, *([None] if encoded.indices.null_count else [])]
    place = np.zeros(len(texts), dtype=np.int64)
    place[used] = np.arange(len(used))
    codes = arrow_numbers(narrow_codes(place, len(order))).take(encoded.indices)
    if codes.null_count:
        codes = pc.fill_null(codes, len(order) - 1)
    labels = tuple(None if i is None else texts[i] for i in order)
    column = CodedColumn(name, numpy_numbers(codes), labels, values.take(arrow_indices(order)))
    first = {text: i for i, text in reversed(list(enumerate(labels)))}
    if len(first) == column.width:
        return column
    # Values that print the same are one value: a dictionary may list a value twice.
    keep = sorted(first.values())
    merged = narrow_codes(np.searchsorted(keep, [first[text] for text in labels]), len(keep))
    texts_kept = tuple(labels[i] for i in keep)
    return CodedColumn(name, merged[column.codes], texts_kept, column.values.take(arrow_indices(keep)))


def bind_quasi_identifier(column: CodedColumn, rules: Column, nulls: tuple[str, ...]) -> QuasiIdentifier:
    """Bind the hierarchy of a quasi-identifier to the values that occur."""
    assert rules.hierarchy is not None  # noqa: S101 - the policy has checked it; this tells the type checker
    tree = rules.hierarchy.bind(column.texts, column=column.name, nulls=nulls)
    check_least(rules.least, tree.height, column=column.name)
    return QuasiIdentifier(column, tree, rules.weight, rules.hierarchy, rules.least)


def value_totals(column: CodedColumn) -> SensitiveDomain:
    """Count the rows of each value of a column, without an order or ancestors."""
    return SensitiveDomain(column.texts, np.bincount(column.codes, minlength=column.width))


def sensitive_domain(totals: SensitiveDomain, rules: Column, nulls: tuple[str, ...]) -> SensitiveDomain:
    """Add to a sensitive column the order and the ancestors that the policy, or numbers by themselves, give its values.

    Without a hierarchy a column has an order where every value is a number; equal numbers share no place.
    """
    values = totals.values
    if rules.hierarchy is not None:
        tree = rules.hierarchy.bind(values, column=rules.name, nulls=nulls)
        return SensitiveDomain(values, totals.totals, tree.ranks, tree.places, tree.matrix.astype(np.int64))
    numbers = read_decimals(values)
    if numbers is None:
        return SensitiveDomain(values, totals.totals)
    ranks = np.empty(len(numbers), dtype=np.int64)
    ranks[sorted(range(len(numbers)), key=numbers.__getitem__)] = np.arange(len(numbers))
    return SensitiveDomain(values, totals.totals, ranks=ranks, places=len(ranks))


def count_distinct_tuples(quasi: tuple[QuasiIdentifier, ...], others: Mapping[str, CodedColumn]) -> DistinctTuples:
    """Count the rows of each different tuple of these columns."""
    columns = [attribute.column for attribute in quasi] + list(others.values())
    widths = [column.width for column in columns]
    packed = pack_tuples([column.codes for column in columns], widths)
    counted = count_keys(packed)
    codes = packed.unpack_codes(counted.keys)
    named = dict(zip(others, codes[len(quasi) :], strict=True))
    return DistinctTuples(codes[: len(quasi)], named, counted.counts, replace(packed, keys=counted.keys))


def number_persons(person: CodedColumn, columns: Iterable[Codes], randomness: Randomness) -> CodedColumn:
    """Number persons in an order that their names have no part in.

    Between rows that are alike, a search takes those that come first. If persons came in the order of their names,
    whoever knows the names would know who was dropped and who was moved, and of those who cannot have been, more than
    is promised. So persons are numbered by the codes of all other columns in their rows, spread by hashing, whichever
    order the rows have; those of whom the same is published are numbered at random.

    >>> people = CodedColumn("who", np.array([0, 1, 1]), ("ann", "bob"), pa.array(["ann", "bob"]))
    >>> numbered = number_persons(people, [np.array([5, 7, 8])], Randomness(1))
    >>> sorted(numbered.texts), [numbered.texts[code] for code in numbered.codes]
    (['ann', 'bob'], ['ann', 'bob', 'bob'])
    """
    words = np.zeros(len(person.codes), dtype=np.uint64)  # a hash of each row's other columns
    for number, codes in enumerate(columns):
        words = mix_bits(words ^ codes.astype(np.uint64), number + 1)
    if len(words):  # added up by person: sums of words wrap around, and do not depend on the order of rows
        by_person = np.argsort(person.codes, kind="stable")
        words = np.add.reduceat(words[by_person], run_starts(person.codes[by_person]))
    order = np.lexsort([randomness.permutation(person.width), words])
    place = np.empty(person.width, dtype=np.int64)
    place[order] = np.arange(person.width)
    texts = tuple(person.texts[number] for number in order.tolist())
    values = person.values.take(arrow_indices(order.tolist()))
    return CodedColumn(person.name, narrow_codes(place, person.width).take(person.codes), texts, values)


def _dense_ranks(column: Any) -> Codes:
    """The values of an Arrow column as numbers that do not depend on the order of the rows."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    elif pa.types.is_null(kind) or pa.types.is_string_view(kind):
        column = column.cast(pa.string())
    return numpy_numbers(pc.rank(column, tiebreaker="dense").cast(pa.int64()))
