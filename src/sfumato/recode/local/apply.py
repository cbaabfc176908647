"""Apply: a settled grouping of tuples becomes labels of rows.

Rows of one tuple that go different ways differ in nothing that an algorithm looked at. They are sorted by all else that
is published of them and then dealt out evenly, so that each part gets its share of every value. So the result does not
depend on the order of the input and says nothing of it, and no class is made of one kind of rows by the way.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import IntArray, narrow_codes
from sfumato.core.arrow import arrow_numbers, numpy_numbers
from sfumato.core.keys import pack_tuples
from sfumato.encode import EncodedTable
from sfumato.recode.local.axes import Shown
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.problem import Problem
from sfumato.recode.recoding import Labels, Recoding


def applied(problem: Problem, parts: Parts, algorithm: str) -> Recoding:
    """The recoding that a settled grouping is."""
    parts = parts.joined()
    group = groups_of_rows(problem.encoded, parts)
    kept = None if (parts.group >= 0).all() else group >= 0
    labels = {axis.name: _labels(shown, group) for axis, shown in zip(problem.axes, problem.shown(parts), strict=True)}
    return Recoding(algorithm, labels, kept, problem.count(parts))


def groups_of_rows(encoded: EncodedTable, parts: Parts) -> IntArray:
    """The group of each row, -1 where it is suppressed; parts are joined."""
    tuples = _tuples_of_rows(encoded)
    first = np.searchsorted(parts.of, np.arange(len(encoded.tuples)))
    group = parts.group[first].take(tuples)
    split = np.diff(first, append=len(parts)) > 1
    if split.any():
        rows = _in_order(encoded, np.flatnonzero(split.take(tuples)), tuples)
        group[rows] = _dealt(parts.only(split.take(parts.of)))
    return group


def _dealt(parts: Parts) -> IntArray:
    """The groups of the rows of each tuple, as evenly mixed as can be: the j-th of n rows stands at (j + 1/2) / n."""
    line = np.repeat(np.arange(len(parts)), parts.rows)
    place = np.arange(len(line)) - np.repeat(np.cumsum(parts.rows) - parts.rows, parts.rows)
    share = (place + 0.5) / parts.rows[line]
    dealt: IntArray = parts.group[line[np.lexsort([share, parts.of[line]])]]
    return dealt


def _tuples_of_rows(encoded: EncodedTable) -> IntArray:
    """The tuple of each row."""
    known = encoded.sensitive if encoded.individual is None else {encoded.individual.name: encoded.individual}
    others = [encoded.sensitive[name] if name in encoded.sensitive else known[name] for name in encoded.tuples.others]
    columns = [attribute.column for attribute in encoded.quasi] + others
    packed = pack_tuples([column.codes for column in columns], [column.width for column in columns])
    return np.searchsorted(encoded.tuples.packed.keys, packed.keys)


def _in_order(encoded: EncodedTable, rows: IntArray, tuples: IntArray) -> IntArray:
    """The rows sorted by their tuple and then by all that is published of them besides."""
    rest: dict[str, Any] = {"tuple": arrow_numbers(tuples[rows])}
    for name, column in encoded.sensitive.items():
        if name not in encoded.domains:
            rest[f"s {name}"] = arrow_numbers(column.codes[rows])
    for name, values in encoded.plain.items():
        rest[f"p {name}"] = _sortable(values.take(arrow_numbers(rows)))
    order = pc.sort_indices(pa.table(rest), sort_keys=[(name, "ascending") for name in rest])
    found: IntArray = rows[numpy_numbers(order)]
    return found


def _sortable(values: Any) -> Any:
    """Values of a kind that sorts: as all do that a table may hold, but dictionaries."""
    return pc.cast(values, values.type.value_type) if pa.types.is_dictionary(values.type) else values


def _labels(shown: Shown, group: IntArray) -> Labels:
    lift = narrow_codes(shown.codes, len(shown.texts))
    codes = lift.take(np.maximum(group, 0))
    return Labels(codes, shown.texts, shown.loss, shown.climbed, None)
