"""A larger table like a given one: its rows copied, and a few attributes of each redrawn."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Codes = NDArray[np.signedinteger[Any]]


def enlarge(table: Any, rows: int, *, seed: int = 1, changed: int = 2) -> Any:
    """An Arrow table of `rows` rows: the rows of `table` in turn, `changed` attributes of each redrawn.

    Which attributes is drawn for each row anew, and the new value evenly from the values of the attribute (it
    may be the old one). Text columns come as dictionaries, so that ten million rows are some hundred megabytes.

    >>> small = pa.table({"sex": ["f", "m"], "job": ["cook", "clerk"], "age": [31, 62]})
    >>> large = enlarge(small, 1000, changed=1)
    >>> large.num_rows, sorted(large["job"].unique().to_pylist())
    (1000, ['clerk', 'cook'])
    """
    if not 0 <= changed <= table.num_columns:
        raise ValueError(f"changed must be from 0 to the {table.num_columns} columns, not {changed}")
    if not table.num_rows:
        raise ValueError("a table without rows cannot be enlarged")
    draw = np.random.default_rng(seed)
    left = np.full(rows, changed, dtype=np.int16)
    columns = [
        _column(table.column(place), _chosen(left, table.num_columns - place, draw), draw)
        for place in range(table.num_columns)
    ]
    return pa.table(columns, names=table.column_names)


def _chosen(left: NDArray[np.int16], columns: int, draw: np.random.Generator) -> NDArray[np.bool_]:
    """The rows in which the next of `columns` columns is among the `left` ones to redraw; counts them off.

    Taken with the chance left / columns at each column, every subset of the right size is as likely as another
    (selection sampling), without a permutation per row.
    """
    chosen: NDArray[np.bool_] = draw.random(len(left), dtype=np.float32) * columns < left
    left -= chosen
    return chosen


def _column(column: Any, chosen: NDArray[np.bool_], draw: np.random.Generator) -> Any:
    coded = _plain(column).dictionary_encode(null_encoding="encode")
    width = len(coded.dictionary)
    codes = np.resize(coded.indices.to_numpy().astype(_narrowest(width)), len(chosen))
    codes[chosen] = draw.integers(0, width, np.count_nonzero(chosen), dtype=codes.dtype)
    return _decoded(codes, coded.dictionary)


def _plain(column: Any) -> Any:
    kind = column.type
    return (column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column).combine_chunks()


def _narrowest(width: int) -> type[np.int8 | np.int16 | np.int32]:
    return np.int8 if width <= 1 << 7 else np.int16 if width <= 1 << 15 else np.int32


def _decoded(codes: Codes, values: Any) -> Any:
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        missing = values.is_null().to_numpy(zero_copy_only=False)
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=missing[codes] if missing.any() else None), values)
    return values.take(pa.array(codes))
