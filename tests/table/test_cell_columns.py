"""Columns of cells: one type where there is one, text where there is none, and the same in pieces as at once."""

# ruff: noqa: DTZ001 - these cells are of no zone

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.table.cell_columns import join_pieces, make_column, write_cell

NUMBERS = st.one_of(st.none(), st.integers(-(2**40), 2**40), st.floats(-1e6, 1e6))
CELLS = st.one_of(
    NUMBERS,
    st.text(max_size=3),
    st.booleans(),
    st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)),
    st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)),
)


@given(st.lists(NUMBERS, min_size=1, max_size=8))
def test_numbers_are_kept(cells: list[Any]) -> None:
    """Numbers come back equal, and are whole numbers exactly where all are whole."""
    column = make_column(cells)
    assert column.to_pylist() == cells
    present = [cell for cell in cells if cell is not None]
    if present:
        assert pa.types.is_integer(column.type) == all(float(cell).is_integer() for cell in present)


@given(st.lists(CELLS, min_size=1, max_size=8), st.integers(1, 8))
def test_pieces_are_the_whole(cells: list[Any], size: int) -> None:
    """A column made in pieces has the rows of one made at once, NULL where that has NULL."""
    pieces = [make_column(cells[start : start + size]) for start in range(0, len(cells), size)]
    joined = join_pieces(pieces)
    assert len(joined) == len(cells)
    assert [cell is None for cell in joined.to_pylist()] == [cell is None for cell in cells]
    if len(pieces) == 1:
        assert joined.to_pylist() == make_column(cells).to_pylist()


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([True, None], pa.bool_()),
        ([None, None], pa.null()),
        ([2**62, 1], pa.int64()),
        ([2**70, 1], pa.string()),
        ([float("nan"), 1.0], pa.int64()),
        ([Decimal("1.50"), None], pa.decimal128(3, 2)),
        ([dt.time(8), None], pa.time64("us")),
        ([dt.timedelta(hours=30)], pa.string()),
        ([True, 1], pa.string()),
        ([b"x"], pa.binary()),
    ],
)
def test_types(cells: list[Any], kind: Any) -> None:
    """Each kind of cell has its type; what has none is text."""
    assert make_column(cells).type == kind


def test_huge_whole_numbers_are_not_rounded() -> None:
    """Whole numbers that a floating number cannot hold stay exact beside fractions, as text."""
    joined = join_pieces([make_column([2**60 + 1]), make_column([0.5])])
    assert joined.to_pylist() == [str(2**60 + 1), "0.5"]
    assert make_column([2**60 + 1, 0.5]).to_pylist() == [str(2**60 + 1), "0.5"]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_read_back_from_its_text(number: float) -> None:
    """The text of a number is the number."""
    assert float(write_cell(number)) == number
