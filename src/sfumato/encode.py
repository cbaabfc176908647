"""Encode a table: rows become a few small integers, and equal rows become one tuple with a count.

The different values of a column are numbered in text order, so that nothing made of codes depends on the order in
which the rows came. Hierarchies are bound to exactly the values that occur. Algorithms work on the distinct tuples,
never on rows.

Whoever holds no rows has *counted lines*: the different rows as far as they are coded (by all quasi-identifiers, all
sensitive columns, persons, the sampling weight, and whatever else a search looks at), each with the number of rows that
it stands for. `assemble` makes an encoded table of either, and everything that works on one works on the other.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Codes, FloatArray, IntArray, count_codes, narrow_codes
from sfumato.core.arrow import (
    arrow_dictionary,
    arrow_indices,
    arrow_number,
    arrow_numbers,
    arrow_texts,
    filled_numbers,
    numpy_numbers,
)
from sfumato.core.classes import SensitiveDomain
from sfumato.core.keys import PackedTuples, count_keys, is_ascending, mix_bits, pack_tuples
from sfumato.core.numbers import read_decimals
from sfumato.core.randomness import Randomness
from sfumato.core.sampling_weights import read_weights, round_weights
from sfumato.core.segments import run_starts
from sfumato.errors import DataError
from sfumato.hierarchy import Hierarchy, Spec
from sfumato.policy import Column, Policy, Role
from sfumato.policy.columns import check_least
from sfumato.table import Table

COARSE = (
    "The different rows that came in were too many for one machine, so they were searched where they were, and only "
    "what is left of them after generalization was looked at here: how values go together below that is not known."
)
"""Said wherever a figure is left out for that."""
_MANY_ROWS = 1_000_000
"""From so many rows on columns are encoded two at a time."""


@dataclass(frozen=True, eq=False, repr=False)
class CodedColumn:
    """One column: a code per row or line, and per code its value, as text and as it was (``None`` for NULL)."""

    name: str
    codes: Codes
    texts: tuple[str | None, ...]
    values: Any

    @property
    def width(self) -> int:
        """Number of different values."""
        return len(self.texts)

    @property
    def arrow(self) -> Any:
        """The column as an Arrow column of a table, in a dictionary."""
        return pa.chunked_array(
            [arrow_dictionary(self.codes, self.values, pa.dictionary(pa.int32(), self.values.type))]
        )


@dataclass(frozen=True, eq=False)
class QuasiIdentifier:
    """A quasi-identifier: its column, its hierarchy over exactly the values that occur, and its weight.

    `spec` is what the policy declares of it: ranges and sets have no levels besides the values and ``*``. `least` is
    the lowest level that may be published. `counts` are the rows that each line stands for, where lines are counted.
    """

    column: CodedColumn
    hierarchy: Hierarchy
    weight: float
    spec: Spec
    least: int = 0
    counts: IntArray | None = None

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    @cached_property
    def frequencies(self) -> IntArray:
        """Rows per value."""
        return count_codes(self.column.codes, self.column.width, self.counts)

    @cached_property
    def permitted(self) -> "QuasiIdentifier":
        """The column generalized to its lowest permitted level, whose labels become its values."""
        if not self.least:
            return self
        tree, place = self.hierarchy.upward(self.least)
        codes = narrow_codes(place, len(tree.labels[0])).take(self.column.codes)
        column = CodedColumn(self.name, codes, tree.labels[0], arrow_texts(tree.labels[0]))
        return QuasiIdentifier(column, tree, self.weight, self.spec, counts=self.counts)


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


@dataclass(frozen=True, eq=False)
class DividedLines:
    """Counted lines whose rows go different ways, as entries: each is a line, or some of the rows of one.

    With n entries: `line` int[n] is the line that each comes from, ascending, and `rows` int[n] how many rows of it
    that are. Of the lines that have several entries, `dealt` has the entry of each row, line after line: whoever holds
    these rows sorts those of a line by what else is published of them, and the j-th gets the j-th of these entries.
    """

    line: IntArray
    rows: IntArray
    dealt: IntArray


@dataclass(frozen=True, eq=False, repr=False)
class EncodedTable:
    """A table as integers: what algorithms work on.

    Columns have a code per line. A line is a row, or where there are `counts`, so many rows: int[lines]. `rows` is the
    number of rows in either case.

    `plain` are the columns that are published as they are, and sampling weights as they are published: no algorithm
    looks at them. Of a counted table there are only those that lines are counted by. `weights` are the sampling weights
    as they came, that of a single row of each line: float[lines].

    A `coarse` table has lines that were counted when its columns were generalized already. In published rows and in
    others each column by itself is as it came in, and labels go together as they do, but not the values below them.
    """

    rows: int
    quasi: tuple[QuasiIdentifier, ...]
    sensitive: Mapping[str, CodedColumn]
    individual: CodedColumn | None
    domains: Mapping[str, SensitiveDomain]
    tuples: DistinctTuples
    plain: Mapping[str, Any]
    weights: FloatArray | None = None
    counts: IntArray | None = None
    coarse: bool = False

    @property
    def why_unmeasured(self) -> str | None:
        """Why what goes by the values of several columns together cannot be measured; nothing where it can."""
        return COARSE if self.coarse else None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers, in the table's order."""
        return tuple(attribute.name for attribute in self.quasi)

    @property
    def lines(self) -> int:
        """Number of lines: of rows, unless these are counted."""
        return self.rows if self.counts is None else len(self.counts)

    @property
    def line_weights(self) -> FloatArray | None:
        """People of the population that each line stands for, by the sampling weights of all of its rows."""
        return self.weights if self.weights is None or self.counts is None else self.weights * self.counts

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
        return replace(self, quasi=quasi, tuples=count_distinct_tuples(quasi, self.tuple_columns, self.counts))

    @property
    def tuple_columns(self) -> dict[str, CodedColumn]:
        """The columns besides quasi-identifiers that tuples differ in: those a requirement looks at, and persons."""
        person = self.individual
        return {
            name: person if person is not None and name == person.name else self.sensitive[name]
            for name in self.tuples.others
        }

    def divide(self, divided: DividedLines | None) -> "EncodedTable":
        """Give the table whose lines are the entries of divided ones; the same where nothing is divided."""
        if divided is None:
            return self
        line, counts = divided.line, divided.rows

        def take(column: CodedColumn) -> CodedColumn:
            return replace(column, codes=column.codes.take(line))

        places = arrow_numbers(line)
        return replace(
            self,
            quasi=tuple(replace(one, column=take(one.column), counts=counts) for one in self.quasi),
            sensitive={name: take(column) for name, column in self.sensitive.items()},
            individual=None if self.individual is None else take(self.individual),
            plain={name: column.take(places) for name, column in self.plain.items()},
            weights=None if self.weights is None else self.weights.take(line),
            counts=counts,
        )


def encode(table: Table, policy: Policy) -> EncodedTable:
    """Encode the quasi-identifiers, the sensitive columns and the individuals of a table."""
    columns = [*policy.quasi, *policy.sensitive, *policy.with_role(Role.INDIVIDUAL)]
    if table.rows < _MANY_ROWS:
        coded = {column.name: encode_column(table, column.name) for column in columns}
    else:  # Arrow works outside Python's lock
        with ThreadPoolExecutor(2) as pool:
            names = [column.name for column in columns]
            coded = dict(zip(names, pool.map(lambda name: encode_column(table, name), names), strict=True))
    plain = {column.name: table.arrow.column(column.name) for column in policy.ungeneralized}
    return assemble(table.rows, coded, plain, None, policy, table.arrow.column_names)


def assemble(
    rows: int,
    coded: Mapping[str, CodedColumn],
    plain: Mapping[str, Any],
    counts: IntArray | None,
    policy: Policy,
    order: Sequence[str],
) -> EncodedTable:
    """Make an encoded table of its coded columns: bind hierarchies, number persons, count tuples.

    `coded` has the quasi-identifiers, the sensitive columns and the persons, with a code per row, or where there are
    `counts`, per counted line: int[lines], the rows of each. `plain` are the other published columns of rows; counted
    lines have none, but `coded` has all of `counted_columns` then. `order` has the names of the table's columns.

    Nothing depends on the order of lines, which may come in any: they are sorted by quasi-identifiers, then by what
    requirements look at, then by the rest, unless they are in that order already.
    """
    place, nulls = {name: i for i, name in enumerate(order)}, policy.source.null
    sampled = policy.sampling_weight
    required = {name for model in policy.privacy for name in model.looks_at}
    quasi_rules = sorted(policy.quasi, key=lambda column: place[column.name])
    plain = dict(plain)
    if counts is not None:
        coded, counts = _sort_lines(coded, counts, order_counted_columns(policy, order))
        plain = {column.name: coded[column.name].arrow for column in policy.ungeneralized if column.name in coded}
    quasi = tuple(bind_quasi_identifier(coded[column.name], column, nulls, counts) for column in quasi_rules)
    sensitive = {column.name: coded[column.name] for column in policy.sensitive}
    weights = None
    if sampled is not None:
        weights = read_weights(plain[sampled.name], sampled.name, counts)
        if sampled.round and counts is None:
            plain[sampled.name] = round_weights(plain[sampled.name], sampled.round)
        elif sampled.round:
            values = round_weights(pa.chunked_array([coded[sampled.name].values]), sampled.round).combine_chunks()
            plain[sampled.name] = replace(coded[sampled.name], values=values).arrow
    individual = None
    if policy.individual:
        published = (
            *(attribute.permitted.column.codes for attribute in quasi),
            *(column.codes for column in sensitive.values()),
            *(_dense_ranks(column, by_value=counts is not None) for column in plain.values()),
        )
        randomness = Randomness(policy.search.seed, "persons")
        individual = number_persons(coded[policy.individual.name], published, randomness, counts)
    domains = {
        column.name: sensitive_domain(value_totals(sensitive[column.name], counts), column, nulls)
        for column in policy.sensitive
        if column.name in required
    }
    others = {name: sensitive[name] for name in domains}
    if individual is not None:
        others[individual.name] = individual
        domains[individual.name] = value_totals(individual, counts)
    tuples = count_distinct_tuples(quasi, others, counts)
    return EncodedTable(rows, quasi, sensitive, individual, domains, tuples, plain, weights, counts)


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
        codes = codes.fill_null(arrow_number(len(order) - 1, codes.type))
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


def bind_quasi_identifier(
    column: CodedColumn, rules: Column, nulls: tuple[str, ...], counts: IntArray | None = None
) -> QuasiIdentifier:
    """Bind the hierarchy of a quasi-identifier to the values that occur."""
    assert rules.hierarchy is not None  # noqa: S101 - the policy has checked it; this tells the type checker
    tree = rules.hierarchy.bind(column.texts, column=column.name, nulls=nulls)
    check_least(rules.least, tree.height, column=column.name)
    return QuasiIdentifier(column, tree, rules.weight, rules.hierarchy, rules.least, counts)


def value_totals(column: CodedColumn, counts: IntArray | None = None) -> SensitiveDomain:
    """Count the rows of each value of a column, without an order or ancestors; each line may stand for several rows."""
    return SensitiveDomain(column.texts, count_codes(column.codes, column.width, counts))


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


def count_distinct_tuples(
    quasi: tuple[QuasiIdentifier, ...], others: Mapping[str, CodedColumn], counts: IntArray | None = None
) -> DistinctTuples:
    """Count the rows of each different tuple of these columns, where each line stands for so many rows.

    Lines that are different tuples already, and in order, are taken as they are: nothing is copied.
    """
    columns = [attribute.column for attribute in quasi] + list(others.values())
    widths = [column.width for column in columns]
    packed = pack_tuples([column.codes for column in columns], widths)
    if counts is not None and is_ascending(packed.keys, strictly=True):
        codes = tuple(column.codes for column in columns)
        return DistinctTuples(codes[: len(quasi)], dict(zip(others, codes[len(quasi) :], strict=True)), counts, packed)
    counted = count_keys(packed, counts, consume=True)
    codes = packed.unpack_codes(counted.keys)
    named = dict(zip(others, codes[len(quasi) :], strict=True))
    return DistinctTuples(codes[: len(quasi)], named, counted.counts, replace(packed, keys=counted.keys))


# Counted lines


def counted_columns(policy: Policy) -> list[str]:
    """List the columns that lines are counted by: all that anything but publishing looks at.

    >>> columns = {"sex": {"role": "quasi", "hierarchy": "suppress"}, "visits": {"role": "plain"}}
    >>> counted_columns(Policy.read({"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}]}))
    ['sex']
    """
    coded = {Role.QUASI, Role.SENSITIVE, Role.INDIVIDUAL, Role.WEIGHT}
    if policy.previous or policy.linkage:  # records may be matched by any column that is published
        coded.add(Role.PLAIN)
    return [
        name for name, column in policy.columns.items() if column.role in coded or name == policy.search.class_column
    ]


def order_counted_columns(policy: Policy, order: Sequence[str]) -> list[str]:
    """Put the counted columns into the order that lines are sorted by: those that tuples differ in come first.

    `order` has the names of the table's columns.
    """
    required = {name for model in policy.privacy for name in model.looks_at}
    tuples = [
        *sorted((column.name for column in policy.quasi), key=list(order).index),
        *(column.name for column in policy.sensitive if column.name in required),
        *(column.name for column in policy.with_role(Role.INDIVIDUAL)),
    ]
    return [*tuples, *(name for name in counted_columns(policy) if name not in tuples)]


def why_not_counted(policy: Policy) -> str | None:
    """Say why a policy needs rows, so that counted lines would not do; nothing where they do.

    >>> quasi = {"role": "quasi", "hierarchy": "suppress"}
    >>> rules = {"columns": {"sex": quasi}, "privacy": [{"model": "k-anonymity", "k": 2}]}
    >>> why_not_counted(Policy.read(rules))
    """
    if policy.publish.drawn:
        return f'[publish] form = "{policy.publish.form}" draws what it publishes from single rows'
    if policy.masked:
        return f"columns are masked row by row: {', '.join(column.name for column in policy.masked)}"
    return None


def count_lines(encoded: EncodedTable, keep: Iterable[str] = ()) -> EncodedTable:
    """Collapse a table of rows to counted lines, different in all coded columns, sampling weights and those to `keep`.

    >>> from sfumato.policy import load
    >>> columns = {"sex": {"role": "quasi", "hierarchy": "suppress"}}
    >>> rules = load({"columns": columns, "privacy": [{"model": "k-anonymity", "k": 1}]})
    >>> lines = count_lines(encode(Table(pa.table({"sex": ["m", "f", "m"]})), rules))
    >>> lines.quasi[0].column.codes.tolist(), lines.counts.tolist(), lines.rows
    ([0, 1], [1, 2], 3)
    """
    kept = {name: encode_column(Table(pa.table({name: encoded.plain[name]})), name) for name in keep}
    looked_at = encoded.tuple_columns
    rest = {name: column for name, column in encoded.sensitive.items() if name not in looked_at}
    columns = [*(attribute.column for attribute in encoded.quasi), *looked_at.values(), *rest.values(), *kept.values()]
    codes, widths = [column.codes for column in columns], [column.width for column in columns]
    numbers: FloatArray = np.zeros(0)
    if encoded.weights is not None:
        numbers, number = np.unique(encoded.weights, return_inverse=True)
        codes, widths = [*codes, number], [*widths, len(numbers)]
    packed = pack_tuples(codes, widths)
    counted = count_keys(packed, encoded.counts, consume=True)
    taken = iter(packed.unpack_codes(counted.keys))

    def with_codes(column: CodedColumn) -> CodedColumn:
        return replace(column, codes=next(taken))

    quasi = tuple(replace(one, column=with_codes(one.column), counts=counted.counts) for one in encoded.quasi)
    looked_at = {name: with_codes(column) for name, column in looked_at.items()}
    coded = looked_at | {name: with_codes(column) for name, column in rest.items()}
    kept = {name: with_codes(column) for name, column in kept.items()}
    person = encoded.individual
    return replace(
        encoded,
        quasi=quasi,
        sensitive={name: coded[name] for name in encoded.sensitive},
        individual=None if person is None else coded[person.name],
        tuples=count_distinct_tuples(quasi, looked_at, counted.counts),
        plain={name: column.arrow for name, column in kept.items()},
        weights=None if encoded.weights is None else numbers.take(next(taken)),
        counts=counted.counts,
    )


def divide_lines(
    counts: IntArray, lines: IntArray, group: IntArray, group_of: IntArray
) -> tuple[DividedLines | None, IntArray]:
    """Divide lines whose rows are in several groups; also returns the group of each entry, int[n].

    `counts` int[lines] are the rows of all lines. The rows of the chosen `lines` (int[m], ascending) are in the groups
    `group`, line after line; those of any other in the group of their line, `group_of` int[lines]. Groups may be -1.

    >>> divided, group = divide_lines(np.array([1, 3]), np.array([1]), np.array([0, 2, 0]), np.array([5, 0]))
    >>> divided.line.tolist(), divided.rows.tolist(), group.tolist(), divided.dealt.tolist()
    ([0, 1, 1], [1, 2, 1], [5, 0, 2], [1, 2, 1])
    """
    place = np.repeat(np.arange(len(lines)), counts.take(lines))
    width = int(group.max(initial=-1)) + 2
    pairs, pair_of_row, rows = np.unique(place * width + group + 1, return_inverse=True, return_counts=True)
    parts = np.bincount(pairs // width, minlength=len(lines))  # of each chosen line
    group_of = group_of.copy()
    group_of[lines[pairs // width]] = pairs % width - 1
    if (parts <= 1).all():
        return None, group_of
    entries = np.ones(len(counts), dtype=np.int64)
    entries[lines] = parts
    line = np.repeat(np.arange(len(counts)), entries)
    first = np.cumsum(entries) - entries
    chosen = pairs // width
    entry_of_pair = first.take(lines[chosen]) + np.arange(len(pairs)) - (np.cumsum(parts) - parts)[chosen]
    amounts, groups = counts.take(line), group_of.take(line)
    amounts[entry_of_pair], groups[entry_of_pair] = rows, pairs % width - 1
    several = parts.take(place) > 1
    dealt = entry_of_pair.take(pair_of_row[several])
    return DividedLines(line, amounts, dealt), groups


def _sort_lines(
    coded: Mapping[str, CodedColumn], counts: IntArray, names: Sequence[str]
) -> tuple[dict[str, CodedColumn], IntArray]:
    """Sort counted lines by these columns, so that tuples are runs of lines; lines that are sorted stay as they are."""
    packed = pack_tuples([coded[name].codes for name in names], [coded[name].width for name in names])
    if is_ascending(packed.keys):
        return dict(coded), counts
    order = np.argsort(packed.keys)
    del packed
    return {name: replace(one, codes=one.codes.take(order)) for name, one in coded.items()}, counts.take(order)


def number_persons(
    person: CodedColumn, columns: Iterable[Codes], randomness: Randomness, counts: IntArray | None = None
) -> CodedColumn:
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
    if counts is not None:
        words *= counts.astype(np.uint64)
    if len(words):  # added up by person: sums of words wrap around, and do not depend on the order of rows
        by_person = np.argsort(person.codes, kind="stable")
        words = np.add.reduceat(words[by_person], run_starts(person.codes[by_person]))
    order = np.lexsort([randomness.permutation(person.width), words])
    place = np.empty(person.width, dtype=np.int64)
    place[order] = np.arange(person.width)
    texts = tuple(person.texts[number] for number in order.tolist())
    values = person.values.take(arrow_indices(order.tolist()))
    return CodedColumn(person.name, narrow_codes(place, person.width).take(person.codes), texts, values)


def _dense_ranks(column: Any, *, by_value: bool = False) -> Codes:
    """The values of an Arrow column as numbers that do not depend on the order of the rows.

    With `by_value` it is a dictionary array all of whose values occur: then these alone are ranked.
    """
    kind = column.type
    if by_value:
        cells = column.combine_chunks()
        places = filled_numbers(cells.indices, len(cells.dictionary))
        return np.append(_dense_ranks(cells.dictionary), len(cells.dictionary) + 1).take(places)
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    elif pa.types.is_null(kind) or pa.types.is_string_view(kind):
        column = column.cast(pa.string())
    return numpy_numbers(pc.rank(column, tiebreaker="dense").cast(pa.int64()))
