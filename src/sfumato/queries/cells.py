"""Columns on their way into the database: cells become small numbers, and dictionaries say what they stand for."""

from dataclasses import replace

import pyarrow as pa

from sfumato.core.arrow import arrow_numbers
from sfumato.labels.covered_values import find_covered_values
from sfumato.labels.data_dictionary import Entry
from sfumato.queries.column import Column
from sfumato.queries.files import Raw
from sfumato.queries.kinds import converted, kind_of
from sfumato.table.formula_guard import unguard_formula

_CODES = {"UTINYINT": 1 << 8, "USMALLINT": 1 << 16, "UINTEGER": 1 << 32}
_TEXTS = frozenset({"string", "large_string", "string_view"})
"""Types of columns that may hold labels; a quasi-identifier of another type is published as it came."""
_FEW, _TIMES = 1 << 8, 4
"""Columns are coded that have few different values, or values that occur so many times each on average."""


def load_column(raw: Raw, entry: Entry, column: Column, *, labelled: bool) -> tuple[Column, str]:
    """A column with its dictionary made, and its part of the table in SQL; quasi-identifiers may be `labelled`.

    The table ``n`` with its place is left behind: its different cells ``r``, numbered.
    """
    different = _number_cells(raw, column)
    if labelled and entry.get("role") == "quasi" and entry.get("type", "string") in _TEXTS:
        return _load_labels(raw, entry, column), column.code
    kind = kind_of(raw, f"n{column.place}", entry)
    number, coded = kind != "VARCHAR", different <= _FEW or different * _TIMES <= raw.rows
    if coded:
        value = converted("r", kind, guarded=raw.guarded)
        raw.connection.execute(
            f"CREATE TABLE {column.dictionary} AS SELECT {column.code}, {value} AS {column.value} FROM n{column.place}"
        )
    cell = column.code if coded else f"{converted(raw.cell(column.name), kind, guarded=raw.guarded)} AS {column.value}"
    (empty,) = raw.connection.execute(f"SELECT count(r) = 0 FROM n{column.place}").fetchone()
    return replace(column, number=number, coded=coded, empty=empty), cell


def _number_cells(raw: Raw, column: Column) -> int:
    """Number the different cells of a column, in the table ``n`` with its place; how many there are."""
    cell, name = raw.cell(column.name), f"n{column.place}"
    raw.connection.execute(
        f"CREATE TABLE {name} AS SELECT r, row_number() OVER () - 1 AS {column.code} "
        f"FROM (SELECT DISTINCT {cell} AS r FROM raw)"
    )
    (different,) = raw.connection.execute(f"SELECT count(*) FROM {name}").fetchone()
    kind = next(kind for kind, most in _CODES.items() if different <= most)
    raw.connection.execute(f"ALTER TABLE {name} ALTER {column.code} TYPE {kind}")
    return int(different)


def _load_labels(raw: Raw, entry: Entry, column: Column) -> Column:
    """A column of labels: what each stands for is read from its text and its entry."""
    found = raw.connection.execute(f"SELECT CAST(r AS VARCHAR) FROM n{column.place} ORDER BY {column.code}").fetchall()
    leaves = find_covered_values(entry, [unguard_formula(text) if raw.guarded and text else text for (text,) in found])
    if leaves.unclear is not None:
        return replace(column, unclear=leaves.unclear)
    parts = {
        column.code: arrow_numbers(leaves.label_of),
        column.value: leaves.values,
        column.size: arrow_numbers(leaves.sizes),
    }
    raw.connection.register("leaves", pa.table(parts))
    raw.connection.execute(
        f"CREATE TABLE {column.dictionary} AS SELECT n.{column.code}, l.{column.value}, l.{column.size} "
        f"FROM leaves l JOIN n{column.place} n USING ({column.code})"
    )
    raw.connection.unregister("leaves")
    return replace(
        column,
        number=leaves.number,
        uncertain=not leaves.exact,
        sampled=leaves.sampled,
        empty=leaves.values.null_count == len(leaves.values),
    )
