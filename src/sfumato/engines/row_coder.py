"""Rows of the source as packed keys: a function on a batch that every engine applies as it is.

An engine first tells the values of each coded column. `code_values` numbers them in text order, as `encode` does for a
table in memory, and `RowCoder` then turns a batch of rows, wherever it is read, into one integer per row. It holds the
values of the columns and nothing else, so that it can be pickled and sent to whoever has the rows.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Codes, IntArray, narrow_codes
from sfumato.core.arrow import arrow_numbers, filled_numbers, numpy_numbers
from sfumato.core.tuple_packer import TuplePacker
from sfumato.encode import CodedColumn, encode_column
from sfumato.table import Table

KEY = "key"
"""The column of keys in a batch that was coded."""


@dataclass(frozen=True, eq=False, repr=False)
class CountedValues:
    """The values of a column as an engine found them, in any order and each once, NULL as the last where rows have it.

    `counts` are the rows of each.
    """

    values: Any
    counts: IntArray


@dataclass(frozen=True, eq=False, repr=False)
class ColumnCoder:
    """Codes of one column: `known` are its values as an engine found them (no NULL), `place` the code of each.

    `null` is the code of NULL, or -1 where no row has it. Codes are below `width`.
    """

    name: str
    known: Any
    place: Codes
    null: int
    width: int

    def codes(self, cells: Any) -> Codes:
        """Code the cells of a batch: an Arrow array of values, or a dictionary array.

        >>> from sfumato.core.arrow import arrow_texts
        >>> column, coder = code_values("sex", CountedValues(arrow_texts(["m", "f", None]), np.array([2, 1, 1])))
        >>> column.texts, coder.codes(arrow_texts(["f", None, "m"])).tolist()
        (('f', 'm', None), [0, 2, 1])
        """
        if not pa.types.is_dictionary(cells.type):
            return self._place(pc.index_in(cells, self.known))
        if _is_same(cells.dictionary, self.known):
            return self._place(cells.indices)
        found = pc.index_in(cells.dictionary.cast(self.known.type), self.known)
        return self._place(found.take(cells.indices))

    def _place(self, found: Any) -> Codes:
        """Look up the codes of the places that values have among the known ones; NULL is a place as well."""
        if not found.null_count:
            return self.place.take(numpy_numbers(found))
        places = filled_numbers(found, len(self.known))
        return np.append(self.place, np.array([max(self.null, 0)], dtype=self.place.dtype)).take(places)


def _is_same(one: Any, other: Any) -> bool:
    """Tell whether two Arrow arrays lie in the same memory: then their values need not be compared."""
    if one is other:
        return True
    if len(one) != len(other) or one.offset != other.offset or one.type != other.type:
        return False
    addresses = [[buffer and buffer.address for buffer in array.buffers()] for array in (one, other)]
    return bool(addresses[0] == addresses[1])


def code_values(name: str, found: CountedValues) -> tuple[CodedColumn, ColumnCoder]:
    """Number the values of a column in text order, NULL last, as `encode_column` does.

    Returns the column with one line per value, and what codes its cells.
    """
    column = encode_column(Table(pa.table({name: found.values})), name)
    has_null = found.values.null_count > 0
    known = found.values.slice(0, len(found.values) - has_null)
    place = narrow_codes(column.codes[: len(known)], column.width)
    return column, ColumnCoder(name, known, place, int(column.codes[-1]) if has_null else -1, column.width)


def value_frequencies(column: CodedColumn, found: CountedValues) -> IntArray:
    """Add up the rows of each code, where several values print alike."""
    return np.bincount(column.codes, weights=found.counts, minlength=column.width).astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class RowCoder:
    """Codes rows: from a batch of the source's columns to a batch of keys, one for each row.

    `columns` are in the order of packing.
    """

    columns: tuple[ColumnCoder, ...]
    packer: TuplePacker

    def __call__(self, batch: Any) -> Any:
        """Code a record batch; the result has the column `key` alone."""
        return pa.record_batch([arrow_numbers(self.keys(batch))], names=[KEY])

    def codes(self, batch: Any) -> list[Codes]:
        """The codes of the rows, column by column."""
        return [column.codes(batch.column(column.name)) for column in self.columns]

    def keys(self, batch: Any) -> IntArray:
        """The packed key of each row: int[rows]."""
        return self.packer.pack(self.codes(batch))
