"""A column as it is published, or as it came: which of its different values each row has, and their bins."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import BoolArray, Codes, IntArray
from sfumato.core.arrow import numpy_numbers
from sfumato.release.seen.bins import Bins, bins_of, bins_of_numbers

_FEW = 1 << 10
"""Numbers that are more than this go to steps without being written out first."""


@dataclass(frozen=True, eq=False)
class Values:
    """The code of each row's value, how many rows have each code, and the bin of each."""

    codes: Codes
    counts: IntArray
    bins: Bins


def values_of(column: Any, kept: IntArray | slice | None = None) -> Values | None:
    """The values of an Arrow array; nothing where it holds what cannot be told in a word, such as lists.

    Where rows are `kept`, a value that no such row has is not named.

    >>> found = values_of(pa.array([3, 1, None, 1]))
    >>> found.bins.names, found.bins.place.take(found.codes).tolist()
    (('1', '3', 'missing'), [1, 0, 2, 0])
    """
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    array = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
    try:
        found = array.dictionary_encode(null_encoding="encode")
        return _values(numpy_numbers(found.indices), found.dictionary, kept)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return None


def _values(codes: Codes, values: Any, kept: IntArray | slice | None) -> Values:
    counts = np.bincount(codes, minlength=len(values))
    named = None if kept is None else np.bincount(codes[kept], minlength=len(values)) > 0
    return Values(codes, counts, binned(values, counts, named))


def binned(values: Any, counts: IntArray, named: BoolArray | None = None) -> Bins:
    """The bins of different Arrow values that stand in so many rows each; the order that they come in is no matter."""
    numeric = pa.types.is_floating(values.type) or pa.types.is_integer(values.type)
    if numeric and len(values) > _FEW:
        numbers = pc.cast(values, pa.float64()).to_numpy(zero_copy_only=False)
        return bins_of_numbers(np.asarray(numbers), counts, named)
    return bins_of(_texts(values), counts, named=named)


def _texts(values: Any) -> list[str | None]:
    """As Arrow prints them; what is not text may still be cut off, since only a few are shown."""
    return list(pc.cast(values, pa.string()).to_pylist())
