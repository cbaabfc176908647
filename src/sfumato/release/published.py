"""The published table: kept rows in random order, quasi-identifiers as labels, persons as pseudonyms."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.classes import IntArray
from sfumato.encode import Coded, Encoded
from sfumato.keys import Codes, narrow
from sfumato.policy import Policy, Role
from sfumato.recode import Recoding
from sfumato.release.shuffle import Randomness
from sfumato.table import Table
from sfumato.table.frames import restore


@dataclass(frozen=True, eq=False)
class Cells:
    """One published column: codes in published order, and the value of each code that occurs, and no other."""

    codes: Codes
    values: Any

    def arrow(self, kind: Any) -> Any:
        """As an Arrow array of the given type."""
        taken = pa.DictionaryArray.from_arrays(pa.array(self.codes), self.values)
        return taken if pa.types.is_dictionary(kind) else taken.dictionary_decode().cast(kind)


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
                name: column.arrow(self.types[name]) if isinstance(column, Cells) else column
                for name, column in self.columns.items()
            }
        )

    def native(self) -> Any:
        """The table as the kind that came in."""
        if self.table.kind in {"pandas", "polars"}:
            changed = {name: self.arrow.column(name) for name in self.recoded}
            return restore(self.table, self.order, changed, list(self.columns))
        if self.table.kind == "duckdb":
            import duckdb  # noqa: PLC0415 - only for those who handed in a relation

            return duckdb.from_arrow(self.arrow)
        return self.arrow


def publish_rows(
    table: Table, encoded: Encoded, recoding: Recoding, policy: Policy, randomness: Randomness
) -> Published:
    """Choose, shuffle and relabel."""
    order = randomness.permutation(encoded.rows - recoding.suppressed)
    if recoding.kept is not None:
        order = np.flatnonzero(recoding.kept)[order]
    quasi = {attribute.name: attribute.column for attribute in encoded.quasi}
    columns: dict[str, Any] = {}
    types: dict[str, Any] = {}
    recoded: set[str] = set()
    for name in table.arrow.column_names:
        types[name] = table.arrow.schema.field(name).type
        role = policy.columns[name].role
        if role is Role.QUASI and recoding.labels[name].level != 0:
            labels = recoding.labels[name]
            columns[name] = _cells(labels.codes[order], pa.array(labels.texts, pa.string()))
            types[name] = pa.string()
            recoded.add(name)
        elif role is Role.INDIVIDUAL:
            columns[name] = _pseudonyms(_individual(encoded), order, randomness)
            types[name] = pa.string()
            recoded.add(name)
        elif role is Role.PLAIN:
            columns[name] = table.arrow.column(name).combine_chunks().take(pa.array(order))
        else:
            coded = quasi[name] if role is Role.QUASI else encoded.sensitive[name]
            columns[name] = _cells(coded.codes[order], coded.values)
    return Published(table, order, columns, types, frozenset(recoded))


def _cells(codes: Codes, values: Any) -> Cells:
    """Cells with only the values that occur: one that is not published must not travel in a dictionary."""
    used = np.flatnonzero(np.bincount(codes, minlength=len(values)))
    if len(used) == len(values):
        return Cells(codes, values)
    place = np.zeros(len(values), dtype=np.int64)
    place[used] = np.arange(len(used))
    return Cells(narrow(place, len(used))[codes], values.take(pa.array(used)))


def _pseudonyms(column: Coded, order: IntArray, randomness: Randomness) -> Cells:
    """A fresh random name per person; a missing name is a person of its own, like any other value."""
    return _cells(column.codes[order], pa.array(randomness.pseudonyms(column.width), pa.string()))


def _individual(encoded: Encoded) -> Coded:
    assert encoded.individual is not None  # noqa: S101 - the column's role says so; this tells the type checker
    return encoded.individual
