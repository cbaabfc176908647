"""Top and bottom coding and rounding, held against exact fractions."""

from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import DataError
from sfumato.masking.grid_numbers import read_grid_numbers
from sfumato.masking.rounding import round_numbers
from sfumato.masking.top_coding import code_extremes

VALUES = st.lists(st.none() | st.decimals(-(10**9), 10**9, allow_nan=False, places=4).map(str), min_size=1, max_size=8)


def _texts(values: list[str | None]) -> Any:
    return read_grid_numbers(pa.chunked_array([pa.array(values, pa.string())]), "x", "round")


@settings(deadline=None)
@given(VALUES, st.sampled_from([100, 25, 7, 0.1, 0.3, 0.05, 2.5]))
def test_rounded_values_are_the_nearest_multiples(values: list[str | None], step: float) -> None:
    """Every cell is a multiple of the step in exact decimals, within half a step of what it was; NULL stays."""
    unit = Fraction(str(step))
    for before, after in zip(values, round_numbers(_texts(values), step).write().to_pylist(), strict=True):
        assert (before is None) == (after is None)
        if before is not None:
            assert (Fraction(after) / unit).denominator == 1
            assert abs(Fraction(after) - Fraction(before)) <= unit / 2


@settings(deadline=None)
@given(VALUES, st.integers(-1000, 1000), st.integers(1, 1000))
def test_nothing_is_beyond_its_bounds(values: list[str | None], bottom: int, width: int) -> None:
    """Values beyond become the bound, all others stay what they were."""
    top = bottom + width
    for before, after in zip(
        values, code_extremes(_texts(values), top=top, bottom=bottom).write().to_pylist(), strict=True
    ):
        if before is None:
            assert after is None
        else:
            assert Fraction(after) == min(max(Fraction(before), bottom), top)


def test_no_binary_dust() -> None:
    """Three tenths are 0.3, as a float and as a text, and in a column of few digits."""
    for cells in (pa.array([0.29, 0.31]), pa.array(["0.29", "0.31"]), pa.array([0.29, 0.31], pa.float32())):
        rounded = round_numbers(read_grid_numbers(pa.chunked_array([cells]), "x", "round"), 0.1).write()
        assert rounded.cast(pa.string()).to_pylist() == (
            ["0.30", "0.30"] if pa.types.is_string(cells.type) else ["0.3", "0.3"]
        )


@pytest.mark.parametrize(
    ("cells", "given_top", "expected"),
    [
        (pa.array([1, 5]), 3, [1, 3]),
        (pa.array(["1.50", "5.25"]), 3, ["1.50", "3.00"]),
        (pa.array([0.5, 5.0]), 2.25, [0.5, 2.25]),
        (pa.array(["2020-05-01", "2021-01-01"]), "2020-12-31", ["2020-05-01", "2020-12-31"]),
    ],
)
def test_bounds_are_written_as_the_column_is(cells: Any, given_top: Any, expected: list[Any]) -> None:
    """A bound has the type and the decimals of the column."""
    numbers = read_grid_numbers(pa.chunked_array([cells]), "x", "top")
    assert code_extremes(numbers, top=given_top).write().to_pylist() == expected


def test_a_date_bounds_timestamps() -> None:
    """Midnight of the date, also where all timestamps are at half past something."""
    cells = pa.array(["2020-01-01 10:30:00", "2020-01-03 00:30:00"]).cast(pa.timestamp("us"))
    numbers = read_grid_numbers(pa.chunked_array([cells]), "x", "top")
    coded = code_extremes(numbers, top="2020-01-02").write().cast(pa.string()).to_pylist()
    assert coded == ["2020-01-01 10:30:00.000000", "2020-01-02 00:00:00.000000"]


@pytest.mark.parametrize(
    ("cells", "mask", "said"),
    [
        (pa.array([1, 2]), {"top": 1.5}, "holds whole numbers, which top = 1.5 is not"),
        (pa.array(["1", "2"]), {"round": 0.5}, "holds whole numbers, which round = 0.5 is not"),
        (pa.array(["2020-01-01"]), {"round": 5}, "holds dates, which have no multiples"),
        (pa.array(["2020-01-01"]), {"top": 5}, "holds dates, so that top must be a date, not 5"),
        (pa.array([5]), {"top": "2020-01-01"}, "holds numbers, so that top must be a number, not 2020-01-01"),
    ],
)
def test_a_bound_or_step_that_no_value_can_be_is_refused(cells: Any, mask: dict[str, Any], said: str) -> None:
    """Whole numbers stay whole, and dates dates."""
    numbers = read_grid_numbers(pa.chunked_array([cells]), "x", next(iter(mask)))
    with pytest.raises(DataError, match=said):
        round_numbers(numbers, mask["round"]) if "round" in mask else code_extremes(numbers, top=mask["top"])


def test_the_largest_multiple_that_fits() -> None:
    """A value at the end of its type is rounded to a multiple, not to the end."""
    numbers = read_grid_numbers(pa.chunked_array([pa.array([127, -128], pa.int8())]), "x", "round")
    assert round_numbers(numbers, 50).write().to_pylist() == [100, -100]
