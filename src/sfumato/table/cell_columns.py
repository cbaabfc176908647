"""Columns from cells of any kind: spreadsheets, statistics packages and some databases give values one by one.

A column whose cells are all of one kind keeps it: whole numbers, numbers, truth values, dates, times. Numbers that are
all whole are whole numbers, whoever stored them as 20.0. A column of several kinds is text, each cell as it would be
read aloud: ``20``, ``3.5``, ``2020-01-31``, ``true``.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_EXACT = 1 << 53
"""Whole numbers up to this have a floating number of their own."""
_LARGEST = 1 << 63


def make_column(cells: Iterable[object], null: Collection[str] = ()) -> Any:
    """Make an Arrow array of cells; ``None``, what is no number, and the texts of `null` are NULL.

    >>> make_column([20.0, None, 3.0]).to_pylist(), make_column([20.0, 3.5]).type
    ([20, None, 3], DataType(double))
    >>> make_column([20.0, "refused", True, date(2020, 1, 31), ""], null=[""]).to_pylist()
    ['20', 'refused', 'true', '2020-01-31', None]
    """
    values = [None if _is_missing(cell, null) else cell for cell in cells]
    kinds = {_kind(cell) for cell in values if cell is not None}
    try:
        if kinds <= {int, float}:
            return _make_numbers(values, kinds)
        if kinds <= {date, datetime}:
            return _make_dates(values)
        if len(kinds) == 1 and kinds <= {bool, str, Decimal, time, bytes}:
            return pa.array(values)
    except (pa.ArrowException, OverflowError, ValueError, TypeError):  # beyond what a type holds: as text, then
        pass
    return pa.array([None if cell is None else write_cell(cell) for cell in values], pa.string())


def join_pieces(pieces: Sequence[Any]) -> Any:
    """Join arrays of a column that was read piece by piece, in the one type that holds them all.

    >>> join_pieces([make_column([1, 2]), make_column([0.5]), make_column([None])]).to_pylist()
    [1.0, 2.0, 0.5, None]
    >>> join_pieces([make_column([1]), make_column(["x"])]).to_pylist()
    ['1', 'x']
    """
    kind = joined_type([piece.type for piece in pieces], huge=any(has_huge_number(piece) for piece in pieces))
    return pa.chunked_array([piece.cast(kind) for piece in pieces], kind)


def joined_type(kinds: Sequence[Any], *, huge: bool) -> Any:
    """Find the type of a column from those of its pieces; a `huge` whole number beside others makes it text."""
    kind = common_type(kinds)
    return pa.string() if huge and pa.types.is_floating(kind) else kind


def common_type(kinds: Iterable[Any]) -> Any:
    """Find the type that holds values of all these types; text where they are of different kinds.

    >>> common_type([pa.null(), pa.int64(), pa.float64()]), common_type([pa.date32(), pa.bool_()])
    (DataType(double), DataType(string))
    """
    different = list(dict.fromkeys(kind for kind in kinds if not pa.types.is_null(kind)))
    if len(different) <= 1:
        return different[0] if different else pa.null()
    types = pa.types
    if all(types.is_integer(kind) for kind in different):
        return pa.int64()
    if all(types.is_integer(kind) or types.is_floating(kind) for kind in different):
        return pa.float64()
    if all(types.is_date(kind) or (types.is_timestamp(kind) and kind.tz is None) for kind in different):
        return pa.timestamp("us" if pa.timestamp("us") in different else "s")
    return pa.string()


def write_cell(cell: object) -> str:
    """Write a cell as text.

    >>> [write_cell(cell) for cell in (20.0, 0.1, True, datetime(2020, 1, 31), datetime(2020, 1, 31, 8, 5), "007")]
    ['20', '0.1', 'true', '2020-01-31', '2020-01-31 08:05:00', '007']
    """
    match cell:
        case bool():
            return "true" if cell else "false"
        case float() if cell.is_integer() and abs(cell) < _EXACT:
            return str(int(cell))
        case datetime() if cell.tzinfo is None and cell.time() == time():
            return cell.date().isoformat()
        case datetime():
            return cell.isoformat(sep=" ")
        case date() | time():
            return cell.isoformat()
        case timedelta():
            return str(cell)
        case bytes():
            return cell.hex()
    return str(cell)


def _is_missing(cell: object, null: Collection[str]) -> bool:
    return cell is None or cell != cell or (isinstance(cell, str) and cell in null)  # noqa: PLR0124 - no number


def _kind(cell: object) -> type:
    """Find the kind of a cell, a subclass counted as its kind; a truth value is no number, nor a time a date."""
    for kind in (bool, int, float, str, datetime, date, time, Decimal, bytes):
        if isinstance(cell, kind):
            return kind
    return type(cell)


def _make_numbers(values: list[Any], kinds: set[type]) -> Any:
    if not kinds:
        return pa.nulls(len(values))
    numbers = [value for value in values if value is not None]
    if all(
        float(value).is_integer() and abs(value) < (_LARGEST if isinstance(value, int) else _EXACT) for value in numbers
    ):
        return pa.array([None if value is None else int(value) for value in values], pa.int64())
    if any(isinstance(value, int) and abs(value) > _EXACT for value in numbers):
        raise OverflowError
    return pa.array(values, pa.float64())


def _make_dates(values: list[Any]) -> Any:
    """Make dates where no cell has a time of day, and otherwise times to the second, or as finely as they are."""
    times = [value for value in values if isinstance(value, datetime)]
    if any(value.tzinfo is not None for value in times):
        return pa.array(values, pa.timestamp("us", "UTC"))
    if all(value.time() == time() for value in times):
        return pa.array([value.date() if isinstance(value, datetime) else value for value in values], pa.date32())
    full = [
        value if value is None or isinstance(value, datetime) else datetime.combine(value, time()) for value in values
    ]
    return pa.array(full, pa.timestamp("us" if any(value.microsecond for value in times) else "s"))


def has_huge_number(piece: Any) -> bool:
    """Tell whether a column has whole numbers that no floating number is equal to."""
    return bool(pa.types.is_integer(piece.type)) and bool(pc.any(pc.greater(pc.abs(piece), _EXACT)).as_py())
