"""A column of whole numbers, as protocols that work on bits take it: every cell there, and within declared bits."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.core.arrow import numpy_numbers
from sfumato.core.numbers import read_decimal
from sfumato.errors import DataError, did_you_mean, listing, quote
from sfumato.party.party_task import PartyTable


def read_whole_numbers(table: PartyTable, column: str, bits: int) -> NDArray[np.int64]:
    """Read a column of a party's table: 0 and 1 for one bit, and else signed numbers of so many bits.

    >>> table = PartyTable(pa.table({"beds": ["12", "-3"]}), "a.csv")
    >>> read_whole_numbers(table, "beds", 8)
    array([12, -3])
    >>> read_whole_numbers(table, "beds", 4)
    Traceback (most recent call last):
    sfumato.errors.DataError: row 1 of a.csv has a number in 'beds' that is not from -8 to 7; write bits = 5 in [task],
    or mend it
    """
    arrow = table.arrow
    if column not in arrow.column_names:
        hint = did_you_mean(column, arrow.column_names) or f"; it has {listing(arrow.column_names)}"
        raise DataError(f"{table.name} has no column {quote(column)}{hint}")
    coded = arrow[column].combine_chunks().dictionary_encode(null_encoding="encode")
    if isinstance(coded, pa.ChunkedArray):  # of a column without a chunk
        coded = pa.array([], type=arrow[column].type).dictionary_encode()
    numbers = [_read_whole(value) for value in coded.dictionary.to_pylist()]
    places = numpy_numbers(coded.indices)  # numpy's own conversion would import pandas
    least, most = (0, 1) if bits == 1 else (-(1 << bits - 1), (1 << bits - 1) - 1)
    fits = np.array([number is not None and least <= number <= most for number in numbers], dtype=bool)
    if not fits[places].all():
        row = int(np.flatnonzero(~fits[places])[0])
        number = numbers[places[row]]
        where = f"row {row + 1:,} of {table.name} has"
        if number is None:
            raise DataError(f"{where} no whole number in {quote(column)}; mend it, or leave the row out at every party")
        # how many bits it takes is said of the largest, so that mending is done once
        needed = max((2 if number < 0 else 1, *(_signed_bits(one) for one in numbers if one is not None)))
        raise DataError(
            f"{where} a number in {quote(column)} that is not from {least:,} to {most:,}; "
            f"write bits = {needed} in [task], or mend it"
        )
    read: NDArray[np.int64] = np.array([number or 0 for number in numbers], dtype=np.int64)[places]
    return read


def _signed_bits(number: int) -> int:
    return (number if number >= 0 else ~number).bit_length() + 1


def _read_whole(value: Any) -> int | None:
    """Read a cell as a whole number; a text or a float that is one is one."""
    if value is None or isinstance(value, bool):
        return None if value is None else int(value)
    if isinstance(value, int):
        return value
    ratio = read_decimal(value.strip() if isinstance(value, str) else str(value))
    return ratio[0] if ratio is not None and ratio[1] == 1 else None
