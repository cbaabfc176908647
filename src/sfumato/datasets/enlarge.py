"""A larger table like a given one: its rows copied, and a few attributes of each redrawn."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def enlarge(table: Any, rows: int, *, seed: int = 1, changed: int = 2) -> Any:
    """Make an Arrow table of `rows` rows: the rows of `table` in turn, with `changed` attributes of each redrawn.

    Which attributes is drawn for each row anew, and the new value evenly from the values of the attribute (it may be
    the old one). Text columns come as dictionaries, so that ten million rows are some hundred megabytes.

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
    left = np.full(rows, changed, dtype=np.int16)  # per row, how many attributes are still to be redrawn
    columns = []
    for place in range(table.num_columns):
        # Selection sampling: with the chance left / columns to come at each column, every subset of the right size is
        # as likely as another, without a permutation per row.
        redrawn = draw.random(rows, dtype=np.float32) * (table.num_columns - place) < left
        left -= redrawn
        columns.append(_enlarge_column(table.column(place), redrawn, draw))
    return pa.table(columns, names=table.column_names)


def _enlarge_column(column: Any, redrawn: NDArray[np.bool_], draw: np.random.Generator) -> Any:
    """Repeat a column to one value for each of the rows, new ones where `redrawn`."""
    kind = column.type
    plain = (column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column).combine_chunks()
    encoded = plain.dictionary_encode(null_encoding="encode")
    values, width = encoded.dictionary, len(encoded.dictionary)
    narrowest = np.int8 if width <= 1 << 7 else np.int16 if width <= 1 << 15 else np.int32
    codes = np.resize(encoded.indices.to_numpy().astype(narrowest), len(redrawn))
    codes[redrawn] = draw.integers(0, width, np.count_nonzero(redrawn), dtype=codes.dtype)
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        missing = values.is_null().to_numpy(zero_copy_only=False)
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=missing[codes] if missing.any() else None), values)
    return values.take(pa.array(codes))
