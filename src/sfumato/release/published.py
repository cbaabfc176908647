"""The published tables: kept rows in random order, quasi-identifiers as labels, persons as pseudonyms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Codes, IntArray, narrow_codes
from sfumato.core.arrow import arrow_numbers, arrow_texts
from sfumato.core.randomness import Randomness
from sfumato.encode import CodedColumn, EncodedTable
from sfumato.policy import Policy, Role
from sfumato.recode import Labels, Recoding
from sfumato.release.cells import Cells
from sfumato.release.pseudonyms import Key, pseudonyms
from sfumato.table import Table
from sfumato.table.frames import restore_frame

_ADDRESSED = (1 << 31) - 1


@dataclass(frozen=True, eq=False, repr=False)
class Published:
    """A table that leaves the house, column by column in its order.

    `columns` holds `Cells` for coded columns and plain Arrow arrays for the others; `recoded` names the
    columns whose values are labels or pseudonyms now.
    """

    table: Table
    order: IntArray
    columns: Mapping[str, Cells | Any]
    types: Mapping[str, Any]
    recoded: frozenset[str]

    @property
    def rows(self) -> int:
        """Published rows."""
        return len(self.order)

    @cached_property
    def arrow(self) -> Any:
        """The table as Arrow, every column in the type it came in or as text where it was recoded."""
        return pa.table(
            {
                name: self._in_order(name, column.arrow(self.types[name]) if isinstance(column, Cells) else column)
                for name, column in self.columns.items()
            }
        )

    def _in_order(self, name: str, column: Any) -> Any:
        """An ordered dictionary in the order of the source's, as far as its values are published."""
        kind = column.type
        if not (pa.types.is_dictionary(kind) and kind.ordered):
            return column
        known = self.table.arrow.column(name).combine_chunks().dictionary.unique()
        used = known.filter(pc.is_in(known, column.dictionary))
        indices = pc.index_in(column.dictionary, used).take(column.indices).cast(kind.index_type)
        return pa.DictionaryArray.from_arrays(indices, used, ordered=True)

    def adding(self, name: str, column: Cells, *, first: bool = False) -> "Published":
        """The table with a column more, before or after the others, which no column of the source is."""
        columns = {name: column, **self.columns} if first else {**self.columns, name: column}
        types = {**self.types, name: column.values.type}
        return replace(self, columns=columns, types=types, recoded=self.recoded | {name})

    def native(self) -> Any:
        """The table as the kind that came in."""
        return restore_frame(self.table, self.arrow, self.recoded)


@dataclass(frozen=True, eq=False, repr=False)
class Drawn:
    """What was drawn for a release: an order of all rows for each table, and a pseudonym for each person."""

    orders: tuple[IntArray, ...]
    pseudonyms: list[str]
    randomness: Randomness

    @classmethod
    def for_tables(cls, encoded: EncodedTable, randomness: Randomness, tables: int, key: Key | None = None) -> "Drawn":
        """Draw for every row and person, published or not: what is suppressed later simply falls out.

        Under a key a pseudonym is not drawn but made of the person's name.
        """
        persons = encoded.individual.texts if encoded.individual else ()
        orders = tuple(randomness.permutation(encoded.rows) for _ in range(tables))
        return cls(orders, pseudonyms(persons, randomness, key), randomness)


@dataclass(frozen=True, eq=False)
class Publisher:
    """Writes columns of a recoded table in an order: chooses, shuffles and relabels."""

    table: Table
    encoded: EncodedTable
    recoding: Recoding
    policy: Policy
    drawn: Drawn

    def published(self, names: Sequence[str], place: int) -> Published:
        """These columns, in the order that was drawn for the table of this place."""
        order, kept = self.drawn.orders[place], self.recoding.published
        order = order if kept is None else order[kept[order]]
        fresh = {name: cells for name in names if (cells := self._relabelled(name, order))}
        columns: dict[str, Any] = {name: fresh[name] if name in fresh else self._same(name, order) for name in names}
        types = {name: pa.string() if name in fresh else self.table.type_of(name) for name in columns}
        types |= {name: column.type for name, column in columns.items() if _is_large(column)}
        return Published(self.table, order, columns, types, frozenset(fresh))

    def _relabelled(self, name: str, order: IntArray) -> Cells | None:
        """A column that is text now, whatever it was: a generalized quasi-identifier, or the individuals."""
        role, labels = self.policy.columns[name].role, self.recoding.labels.get(name)
        if role is Role.INDIVIDUAL and self.encoded.individual is not None:
            return _persons(self.encoded.individual.codes.take(order), self.drawn.pseudonyms)
        if labels is None or _is_exact(self._known[name], labels, order):
            return None
        return _cells(labels.codes.take(order), arrow_texts(labels.texts))

    @cached_property
    def _known(self) -> dict[str, CodedColumn]:
        return {one.name: one.column for one in self.encoded.quasi} | dict(self.encoded.sensitive)

    def _same(self, name: str, order: IntArray) -> Any:
        """A column whose values are published as they are."""
        if self.policy.columns[name].role is Role.PLAIN:
            return _compact(_roomy(self.table.arrow.column(name)).combine_chunks().take(arrow_numbers(order)))
        return _cells(self._known[name].codes.take(order), self._known[name].values)


def _roomy(column: Any) -> Any:
    """Text of more bytes than an Arrow text array can address, as the kind that can."""
    return column.cast(pa.large_string()) if pa.types.is_string(column.type) and column.nbytes > _ADDRESSED else column


def _is_large(column: Any) -> bool:
    return not isinstance(column, Cells) and bool(pa.types.is_large_string(column.type))


def _compact(column: Any) -> Any:
    """A plain column with only the values that occur: a dictionary may hold those of rows that are gone."""
    if not pa.types.is_dictionary(column.type):
        return column
    found = column.dictionary_decode().dictionary_encode()
    codes = found.indices.cast(column.type.index_type)
    return pa.DictionaryArray.from_arrays(codes, found.dictionary, ordered=column.type.ordered)


def _is_exact(column: CodedColumn, labels: Labels, order: IntArray) -> bool:
    """Whether every published cell is the one that came in: then the column keeps its type.

    Where labels of several levels are mixed, one generalized cell is enough to make the column text.
    """
    if labels.level is not None or labels.climbed.any():
        return labels.level == 0
    code = {text: place for place, text in enumerate(labels.texts)}
    same = np.array([code.get(text, -1) for text in column.texts])
    return bool((same.take(column.codes.take(order)) == labels.codes.take(order)).all())


def _persons(codes: Codes, pseudonyms: list[str]) -> Cells:
    """Pseudonyms, listed in an order of their own: that of the persons' true names must not travel either."""
    order = np.argsort(np.array(pseudonyms, dtype=np.bytes_))  # they are ASCII, and sorted faster so
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return _cells(
        narrow_codes(place, len(order)).take(codes), arrow_texts([pseudonyms[person] for person in order.tolist()])
    )


def _cells(codes: Codes, values: Any) -> Cells:
    """Cells with only the values that occur: one that is not published must not travel in a dictionary."""
    used = np.flatnonzero(np.bincount(codes, minlength=len(values)))
    if len(used) == len(values):
        return Cells(codes, values)
    place = np.zeros(len(values), dtype=np.int64)
    place[used] = np.arange(len(used))
    return Cells(narrow_codes(place, len(used)).take(codes), values.take(arrow_numbers(used)))
