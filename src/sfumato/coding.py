"""Columns as codes: the different values of a column numbered in text order.

So nothing that is made of codes depends on the order in which the rows came.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.arrow import numbers, places, to_numpy
from sfumato.keys import Codes, narrow
from sfumato.table import Table


@dataclass(frozen=True, eq=False, repr=False)
class Coded:
    """One column: a code per row, and per code its value, as text and as it was (``None`` for NULL)."""

    name: str
    codes: Codes
    texts: tuple[str | None, ...]
    values: Any

    @property
    def width(self) -> int:
        """Number of different values."""
        return len(self.texts)


def code(table: Table, name: str) -> Coded:
    """Number the different values of a column in text order, NULL last."""
    encoded = table.arrow.column(name).combine_chunks()
    if not pa.types.is_dictionary(encoded.type) or encoded.dictionary.null_count:
        encoded = _plain(encoded).dictionary_encode()
    values, texts = encoded.dictionary, _texts(encoded.dictionary)
    used = [i for i in pc.unique(encoded.indices).to_pylist() if i is not None]
    nulls = [None] if encoded.indices.null_count else []
    order: list[int | None] = [*sorted(used, key=lambda i: texts[i]), *nulls]
    labels = tuple(None if i is None else texts[i] for i in order)
    codes = _renumbered(encoded.indices, order, len(texts))
    return _merged(Coded(name, codes, labels, values.take(places(order))))


def _renumbered(indices: Any, order: list[int | None], width: int) -> Codes:
    """The place in `order` of each index; NULL, where there is one, has the last place."""
    place = np.zeros(width, dtype=np.int64)
    known = [i for i in order if i is not None]
    place[known] = np.arange(len(known))
    codes = numbers(narrow(place, len(order))).take(indices)
    return to_numpy(_filled(codes, len(order) - 1))


def _plain(encoded: Any) -> Any:
    """Values as they are: a dictionary may hold NULL as an entry, which is NULL like any other."""
    return encoded.dictionary_decode() if pa.types.is_dictionary(encoded.type) else encoded


def _filled(codes: Any, null: int) -> Any:
    return pc.fill_null(codes, null) if codes.null_count else codes


def _texts(values: Any) -> list[str]:
    """Values as text: as Arrow prints them, so that 7 is '7' and a date is ISO."""
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return list(values.to_pylist())
    return list(pc.cast(values, pa.string()).to_pylist())


def _merged(column: Coded) -> Coded:
    """Values that print the same are one value (a dictionary may list a value twice)."""
    first = {text: i for i, text in reversed(list(enumerate(column.texts)))}
    if len(first) == column.width:
        return column
    keep = sorted(first.values())
    place = np.searchsorted(keep, [first[text] for text in column.texts])
    texts = tuple(column.texts[i] for i in keep)
    return Coded(column.name, narrow(place, len(keep))[column.codes], texts, column.values.take(places(keep)))
