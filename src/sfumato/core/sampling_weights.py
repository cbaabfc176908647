"""Sampling weights: how many people of the population a row of a survey stands for, read and rounded.

A weight follows from how somebody was drawn. Where few rows have one, it tells where and how that was, and so who it
may be; rounded ones tell less. A weight of somebody is never rounded to nothing.
"""

from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import FloatArray, IntArray, count_codes
from sfumato.core.arrow import arrow_texts
from sfumato.core.numbers import read_decimal
from sfumato.errors import DataError, quote


def read_weights(column: Any, name: str, counts: IntArray | None = None) -> FloatArray:
    """Read a column of Arrow as weights, float[rows]; each has to be a number that is not below 0, and one above it.

    An entry may stand for several rows, by `counts`.

    >>> read_weights(pa.chunked_array([["1.5", "20"]]), "pond").tolist()
    [1.5, 20.0]
    >>> read_weights(pa.chunked_array([["1.5", None]]), "pond")
    Traceback (most recent call last):
    sfumato.errors.DataError: column 'pond' has the role weight, and 1 of its cells is missing, or no number of 0 or
    more; give such rows a weight, or the column another role
    """
    texts, codes = _different_texts(column)
    numbers = [None if text is None else read_decimal(text) for text in texts]
    values = np.array([-1.0 if number is None else number[0] / number[1] for number in numbers], dtype=np.float64)
    weights: FloatArray = values[codes]
    bad = int((weights < 0).sum()) if counts is None else int(counts[weights < 0].sum())
    if bad:
        cells = "1 of its cells is" if bad == 1 else f"{bad:,} of its cells are"
        raise DataError(
            f"column {quote(name)} has the role weight, and {cells} missing, or no number of 0 or more; "
            "give such rows a weight, or the column another role"
        )
    if not weights.any():
        raise DataError(f"column {quote(name)} has the role weight, and every weight is 0; give it another role")
    return weights


def round_weights(column: Any, step: float) -> Any:
    """Round a column of weights to multiples of a step, halves to even ones, in its own type.

    What is above 0 stays at least one step.

    >>> round_weights(pa.chunked_array([["12.5", "3", "25", "0"]]), 10).to_pylist()
    ['10', '10', '20', '0']
    >>> round_weights(pa.chunked_array([[14, 1237]]), 25).to_pylist()
    [25, 1225]
    """
    texts, codes = _different_texts(column)
    unit = Decimal(str(step))
    rounded = []
    for text in texts:
        number = Decimal(text or "0")
        times = (number / unit).to_integral_value(rounding=ROUND_HALF_EVEN)
        rounded.append(f"{(max(times, Decimal(1)) if number > 0 else Decimal(0)) * unit:f}")
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    shown = [text.rstrip("0").rstrip(".") if "." in text else text for text in rounded]
    return pa.chunked_array([arrow_texts(shown).take(pa.array(codes)).cast(kind)])


def count_rare_weights(weights: FloatArray, fewest: int, counts: IntArray | None = None) -> int:
    """Count the rows whose weight fewer rows than this have; an entry may stand for several rows, by `counts`.

    >>> count_rare_weights(np.array([10.0, 10.0, 12.5]), 2)
    1
    """
    _, number, rows = np.unique(weights, return_inverse=True, return_counts=True)
    rows = rows if counts is None else count_codes(number, len(rows), counts)
    return int(rows[rows < fewest].sum())


def _different_texts(column: Any) -> tuple[list[str | None], Any]:
    """List the different cells of a column as texts, and the number of each row's among them, int[rows]."""
    cells = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    coded = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
    texts: list[str | None] = [*pc.cast(coded.dictionary, pa.string()).to_pylist(), None]
    return texts, np.asarray(pc.fill_null(coded.indices, len(texts) - 1))
