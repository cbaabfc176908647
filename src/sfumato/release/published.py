"""The published table: kept rows in random order, quasi-identifiers as labels, persons as pseudonyms."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.arrow import coded, numbers, texts
from sfumato.classes import IntArray
from sfumato.coding import Coded
from sfumato.encode import Encoded
from sfumato.keys import Codes, narrow
from sfumato.policy import Policy, Role
from sfumato.recode import Labels, Recoding
from sfumato.release.shuffle import Randomness
from sfumato.table import Table
from sfumato.table.frames import restore

_ADDRESSED = (1 << 31) - 1


@dataclass(frozen=True, eq=False)
class Cells:
    """One published column: codes in published order, and the value of each code that occurs, and no other."""

    codes: Codes
    values: Any

    def arrow(self, kind: Any) -> Any:
        """As an Arrow array of the given type."""
        if pa.types.is_dictionary(kind):
            return coded(self.codes, self.values, kind)
        return self.values.cast(kind).take(numbers(self.codes))


@dataclass(frozen=True, eq=False)
class Published:
    """What leaves the house, column by column in the table's order.

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

    def native(self) -> Any:
        """The table as the kind that came in."""
        return restore(self.table, self.arrow, self.recoded)


@dataclass(frozen=True, eq=False)
class Drawn:
    """What was drawn at random for a table: an order of all its rows, and a pseudonym for each person in it."""

    order: IntArray
    pseudonyms: list[str]

    @classmethod
    def for_table(cls, encoded: Encoded, randomness: Randomness) -> "Drawn":
        """Draw for every row and person, published or not: what is suppressed later simply falls out."""
        persons = encoded.individual.width if encoded.individual else 0
        return cls(randomness.permutation(encoded.rows), randomness.pseudonyms(persons))


def publish_rows(table: Table, encoded: Encoded, recoding: Recoding, policy: Policy, drawn: Drawn) -> Published:
    """Choose, shuffle and relabel."""
    order = drawn.order if recoding.kept is None else drawn.order[recoding.kept[drawn.order]]
    fresh, places = _relabelled(encoded, recoding, drawn, order), numbers(order)
    same = {attribute.name: attribute.column for attribute in encoded.quasi} | dict(encoded.sensitive)
    columns: dict[str, Any] = {}
    for name in table.arrow.column_names:
        if policy.columns[name].role is Role.PLAIN:
            columns[name] = _compact(_roomy(table.arrow.column(name)).combine_chunks().take(places))
        else:
            columns[name] = fresh[name] if name in fresh else _cells(same[name].codes.take(order), same[name].values)
    types = {name: pa.string() if name in fresh else table.type_of(name) for name in columns}
    types |= {name: column.type for name, column in columns.items() if _is_large(column)}
    return Published(table, order, columns, types, frozenset(fresh))


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


def _relabelled(encoded: Encoded, recoding: Recoding, drawn: Drawn, order: IntArray) -> dict[str, Cells]:
    """The columns that are text now, whatever they were: generalized quasi-identifiers, and the individuals."""
    columns = {attribute.name: attribute.column for attribute in encoded.quasi}
    fresh = {
        name: _cells(labels.codes.take(order), texts(labels.texts))
        for name, labels in recoding.labels.items()
        if not _is_exact(columns[name], labels, order)
    }
    if encoded.individual is not None:
        fresh[encoded.individual.name] = _persons(encoded.individual.codes.take(order), drawn.pseudonyms)
    return fresh


def _is_exact(column: Coded, labels: Labels, order: IntArray) -> bool:
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
    names = np.array(pseudonyms)
    order = np.argsort(names)
    place = np.empty(len(names), dtype=np.int64)
    place[order] = np.arange(len(names))
    return _cells(narrow(place, len(names)).take(codes), texts(names[order].tolist()))


def _cells(codes: Codes, values: Any) -> Cells:
    """Cells with only the values that occur: one that is not published must not travel in a dictionary."""
    used = np.flatnonzero(np.bincount(codes, minlength=len(values)))
    if len(used) == len(values):
        return Cells(codes, values)
    place = np.zeros(len(values), dtype=np.int64)
    place[used] = np.arange(len(used))
    return Cells(narrow(place, len(used)).take(codes), values.take(numbers(used)))
