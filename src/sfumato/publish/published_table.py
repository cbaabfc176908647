"""The published tables: rows in random order, quasi-identifiers as labels, persons as pseudonyms.

A release has one table, or several: one of quasi-identifiers (NSS) and one or more of sensitive values (SS), with the
class of each line. Class numbers are drawn at random and each table is shuffled by itself, so that nothing but the
class ties a line of one table to a line of another.

Nothing of a row that is not published travels along: orders leave suppressed rows out, and dictionaries hold only the
values that occur.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import BoolArray, Codes, IntArray, count_codes, narrow_codes, replace_codes
from sfumato.core.arrow import arrow_numbers, arrow_texts
from sfumato.core.randomness import Randomness
from sfumato.encode import CodedColumn, EncodedTable
from sfumato.errors import InputError
from sfumato.policy import Policy, Role
from sfumato.publish.pseudonyms import PseudonymKey, make_pseudonyms
from sfumato.publish.published_column import PublishedColumn
from sfumato.recode import Labels, Recoding
from sfumato.table import Table
from sfumato.table.frames import restore_frame

TOGETHER = (
    "The sensitive columns stand together in one table: whoever knows one of these values of a person can find the "
    "lines of the person's class that hold it, and read the others there. No requirement limits that. Apart, each "
    'column in a table of its own, nothing ties them, and how they go together is lost: [publish] ss = "apart".'
)
"""What one table of several sensitive columns reveals."""

_SAFE = re.compile(r"[A-Za-z0-9_-]{1,100}")
_BLOCK = 1 << 16
_ADDRESSED = (1 << 31) - 1
"""So many bytes of text an Arrow array of the usual kind can hold."""


@dataclass(frozen=True, eq=False, repr=False)
class PublishedTable:
    """A table as it is published, column by column.

    `source` is the table that it came from, and `order` the published rows of that table in their published order.
    `columns` holds a `PublishedColumn` for each coded column and a plain Arrow array for each other; `recoded` names
    the columns whose values are labels, pseudonyms or class numbers.

    Of a table of counted lines there is no order, and `counts` are the published rows of each line; plain columns are
    here with their type alone, since their cells were never held. Its rows are in the files that were written.
    """

    source: Table
    order: IntArray
    columns: Mapping[str, PublishedColumn | Any]
    types: Mapping[str, Any]
    recoded: frozenset[str]
    counts: IntArray | None = None

    @property
    def rows(self) -> int:
        """Published rows."""
        return len(self.order) if self.counts is None else int(self.counts.sum())

    @cached_property
    def arrow(self) -> Any:
        """The table as Arrow, every column in the type it came in or as text where it was recoded.

        Raises:
            InputError: the rows went by in batches and were never held in memory.
        """
        if self.counts is not None:
            raise InputError("the rows of this release were never held in memory; read them from the folder it is in")
        return pa.table(
            {
                name: self._in_order(
                    name, column.arrow(self.types[name]) if isinstance(column, PublishedColumn) else column
                )
                for name, column in self.columns.items()
            }
        )

    def _in_order(self, name: str, column: Any) -> Any:
        """Put an ordered dictionary into the order of the source's, as far as its values are published."""
        kind = column.type
        if not (pa.types.is_dictionary(kind) and kind.ordered):
            return column
        known = self.source.arrow.column(name).combine_chunks().dictionary.unique()
        used = known.filter(pc.is_in(known, column.dictionary))
        indices = pc.index_in(column.dictionary, used).take(column.indices).cast(kind.index_type)
        return pa.DictionaryArray.from_arrays(indices, used, ordered=True)

    def cut(self, start: int, stop: int) -> "PublishedTable":
        """Some of the rows, in their published order."""
        columns = {
            name: PublishedColumn(column.codes[start:stop], column.values)
            if isinstance(column, PublishedColumn)
            else column.slice(start, stop - start)
            for name, column in self.columns.items()
        }
        return replace(self, order=self.order[start:stop], columns=columns)

    def native(self) -> Any:
        """The table as the kind that came in: pandas, polars, Arrow, …."""
        return restore_frame(self.source, self.arrow, self.recoded)


def table_layout(policy: Policy, names: Sequence[str]) -> dict[str, list[str]]:
    """The columns of each table, by the name of its file; of the source's columns, in their order."""
    if not policy.publish.split:
        return {"table": list(names)}
    sensitive = [name for name in names if policy.columns[name].role is Role.SENSITIVE]
    nss = {"nss": [name for name in names if name not in sensitive]}
    if policy.publish.ss == "together" or len(sensitive) == 1:
        return {**nss, "ss": sensitive}
    # a file is named after its column where that is safe and no other's in another case, else by its number
    lower = [name.lower() for name in sensitive]
    safe = {
        name for name in sensitive if _SAFE.fullmatch(name) and lower.count(name.lower()) == 1 and not name.isdigit()
    }
    return {**nss, **{f"ss-{name if name in safe else n}": [name] for n, name in enumerate(sensitive, start=1)}}


def class_id_column(policy: Policy) -> str:
    """The name of the column of class numbers, which no column of the table has."""
    name = "class_id"
    while name in policy.columns:
        name += "_"
    return name


def togetherness_warning(policy: Policy) -> str | None:
    """What having several sensitive columns together in one table reveals; nothing where they are not."""
    together = policy.publish.split and policy.publish.ss == "together" and len(policy.sensitive) > 1
    return TOGETHER if together else None


@dataclass(frozen=True, eq=False, repr=False)
class RandomDraws:
    """What is drawn for a release: an order of all rows for each table, and a pseudonym for each person."""

    orders: tuple[IntArray, ...]
    pseudonyms: list[str]
    randomness: Randomness

    @classmethod
    def for_tables(
        cls, encoded: EncodedTable, randomness: Randomness, tables: int, key: PseudonymKey | None = None
    ) -> "RandomDraws":
        """Draw for every row and person, published or not: what is suppressed later is left out then.

        Under a key a pseudonym is not drawn but computed from the person's name.
        """
        persons = encoded.individual.texts if encoded.individual else ()
        tables = tables if encoded.counts is None else 0  # whoever writes the rows shuffles them
        orders = tuple(randomness.permutation(encoded.rows) for _ in range(tables))
        return cls(orders, make_pseudonyms(persons, randomness, key), randomness)


def publish_tables(
    source: Table, encoded: EncodedTable, recoding: Recoding, policy: Policy, draws: RandomDraws
) -> dict[str, PublishedTable]:
    """The tables of a release, by the name of their file."""
    layout = table_layout(policy, source.arrow.column_names)
    if recoding.counts is not None:
        tables = {
            file: _publish_lines(names, source, encoded, recoding, policy, draws) for file, names in layout.items()
        }
        return _with_class_ids(tables, recoding, policy, draws.randomness) if policy.publish.split else tables
    coded = {attribute.name: attribute.column for attribute in encoded.quasi} | dict(encoded.sensitive)
    tables = {}
    for place, (file, names) in enumerate(layout.items()):
        order = draws.orders[place]
        order = order if recoding.published is None else order[recoding.published[order]]
        columns: dict[str, Any] = {}
        recoded = set()
        for name in names:
            role, labels = policy.columns[name].role, recoding.labels.get(name)
            if role is Role.INDIVIDUAL and encoded.individual is not None:
                columns[name] = _pseudonym_column(encoded.individual.codes.take(order), draws.pseudonyms)
                recoded.add(name)
            elif labels is not None and not _is_unchanged(coded[name], labels, recoding.published):
                columns[name] = _column_of_used(labels.codes.take(order), arrow_texts(labels.texts))
                recoded.add(name)
                if policy.aggregate(name) is not None:
                    columns[name] = _as_source(columns[name], source.type_of(name))
                elif policy.aggregate_form(name) is not None:
                    columns[name] = _as_numbers(columns[name])
            elif role in {Role.PLAIN, Role.WEIGHT}:
                columns[name] = _plain_column(encoded.plain[name], order)
            else:
                columns[name] = _column_of_used(coded[name].codes.take(order), coded[name].values)
        types = {name: columns[name].values.type if name in recoded else source.type_of(name) for name in columns}
        types |= {name: column.type for name, column in columns.items() if _is_large_text(column)}
        tables[file] = PublishedTable(source, order, columns, types, frozenset(recoded))
    return _with_class_ids(tables, recoding, policy, draws.randomness) if policy.publish.split else tables


def _publish_lines(
    names: Sequence[str],
    source: Table,
    encoded: EncodedTable,
    recoding: Recoding,
    policy: Policy,
    draws: RandomDraws,
) -> PublishedTable:
    """A published table of counted lines: nothing is put in an order, and no code is copied that need not be."""
    assert recoding.counts is not None  # noqa: S101 - the only caller has looked; this tells the type checker
    counts = recoding.counts if recoding.published is None else recoding.counts * recoding.published
    coded = {attribute.name: attribute.column for attribute in encoded.quasi} | dict(encoded.sensitive)
    columns: dict[str, Any] = {}
    recoded = set()
    for name in names:
        role, labels = policy.columns[name].role, recoding.labels.get(name)
        if role is Role.INDIVIDUAL and encoded.individual is not None:
            columns[name] = _pseudonym_column(encoded.individual.codes, draws.pseudonyms, counts)
            recoded.add(name)
        elif labels is not None and not _is_unchanged(coded[name], labels, recoding.published):
            columns[name] = _column_of_used(labels.codes, arrow_texts(labels.texts), counts)
            recoded.add(name)
            if policy.aggregate(name) is not None:
                columns[name] = _as_source(columns[name], source.type_of(name))
            elif policy.aggregate_form(name) is not None:
                columns[name] = _as_numbers(columns[name])
        elif name in coded or name in encoded.plain:
            column = coded[name] if name in coded else encoded.coded(name)
            columns[name] = _column_of_used(column.codes, column.values, counts)
        else:
            columns[name] = pa.nulls(0, source.type_of(name))
    types = {name: columns[name].values.type if name in recoded else source.type_of(name) for name in columns}
    return PublishedTable(source, np.zeros(0, dtype=np.int64), columns, types, frozenset(recoded), counts)


def _with_class_ids(
    tables: Mapping[str, PublishedTable], recoding: Recoding, policy: Policy, randomness: Randomness
) -> dict[str, PublishedTable]:
    """Add the class of each line to each table: last in NSS, first in SS, as the lossy-join paper has it."""
    classes, name = len(recoding.classes), class_id_column(policy)
    ids = arrow_numbers(randomness.permutation(classes) + 1)
    codes = narrow_codes(np.maximum(recoding.class_of, 0), classes)
    numbered = {}
    for file, table in tables.items():
        column = PublishedColumn(codes if table.counts is not None else codes.take(table.order), ids, table.counts)
        columns = {**table.columns, name: column} if file == "nss" else {name: column, **table.columns}
        types = {**table.types, name: ids.type}
        numbered[file] = replace(table, columns=columns, types=types, recoded=table.recoded | {name})
    return numbered


def _is_unchanged(column: CodedColumn, labels: Labels, published: BoolArray | None) -> bool:
    """Whether every published cell is the one that came in: then the column keeps its type.

    Where labels of several levels are mixed, one generalized cell is enough to make the column text.
    """
    if labels.level is not None or labels.climbed.any():
        return labels.level == 0
    code = {text: place for place, text in enumerate(labels.texts)}
    same = np.array([code.get(text, -1) for text in column.texts])
    for start in range(0, len(labels.codes), _BLOCK):
        block = slice(start, start + _BLOCK)
        unchanged = same.take(column.codes[block]) == labels.codes[block]
        if not (unchanged if published is None else unchanged | ~published[block]).all():
            return False
    return True


def _pseudonym_column(codes: Codes, pseudonyms: list[str], counts: IntArray | None = None) -> PublishedColumn:
    """Pseudonyms, listed in an order of their own: that of the persons' true names must not travel either."""
    order = np.argsort(np.array(pseudonyms, dtype=np.bytes_))  # they are ASCII, and sorted faster so
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return _column_of_used(
        narrow_codes(place, len(order)).take(codes),
        arrow_texts([pseudonyms[person] for person in order.tolist()]),
        counts,
    )


def _column_of_used(codes: Codes, values: Any, counts: IntArray | None = None) -> PublishedColumn:
    """A column with only the values that occur: one that is not published must not travel in a dictionary."""
    used = np.flatnonzero(count_codes(codes, len(values), counts))
    if len(used) == len(values):
        return PublishedColumn(codes, values, counts)
    place = np.zeros(len(values), dtype=np.int64)
    place[used] = np.arange(len(used))
    shown = values.take(arrow_numbers(used))
    return PublishedColumn(replace_codes(codes, narrow_codes(place, len(used))), shown, counts)


def _as_numbers(column: PublishedColumn) -> PublishedColumn:
    """Make numbers of means, where all labels are numbers that are written so again; else they stay as they are.

    They do not where values are missing beside others in a class: that class has the label ``*``.
    """
    try:
        numbers = column.values.cast(pa.float64())
    except pa.ArrowInvalid:
        return column
    return replace(column, values=numbers) if numbers.cast(pa.string()).equals(column.values) else column


def _as_source(column: PublishedColumn, kind: Any) -> PublishedColumn:
    """Give aggregates of classes, which lie on the grid of the column, the type that the column has.

    They stay text where the type is another one, and where a class has values and missing ones, whose label is ``*``.
    """
    types = pa.types
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_temporal(kind)):
        return column
    try:
        return replace(column, values=column.values.cast(kind))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return column


def _plain_column(column: Any, order: IntArray) -> Any:
    """A column that is published as it is, with only the values that occur.

    Text of more bytes than an Arrow text array can address becomes the kind that can.
    """
    if pa.types.is_string(column.type) and column.nbytes > _ADDRESSED:
        column = column.cast(pa.large_string())
    column = column.combine_chunks().take(arrow_numbers(order))
    if not pa.types.is_dictionary(column.type):
        return column
    fresh = column.dictionary_decode().dictionary_encode()  # the old one may hold values of rows that are gone
    codes = fresh.indices.cast(column.type.index_type)
    return pa.DictionaryArray.from_arrays(codes, fresh.dictionary, ordered=column.type.ordered)


def _is_large_text(column: Any) -> bool:
    return not isinstance(column, PublishedColumn) and bool(pa.types.is_large_string(column.type))
