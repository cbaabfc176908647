"""Cells as steps of a grid: every value comes back as it was, in its type, and arithmetic on it is exact."""

from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import DataError
from sfumato.masking.grid_numbers import GridNumbers, clip_steps, read_grid_numbers, round_half_even, shift_steps

KINDS: dict[str, Any] = {
    "int8": pa.array([-128, None, 127, 0], pa.int8()),
    "uint64": pa.array([2**64 - 1, None, 0, 7], pa.uint64()),
    "float32": pa.array([0.1, None, 3.25, -7.0], pa.float32()),
    "float64": pa.array([0.1, None, 1 / 3, -1e300, 5e-324]),
    "decimal": pa.array([Decimal("12.30"), None, Decimal("-0.05")], pa.decimal128(20, 2)),
    "wide decimal": pa.array([Decimal(10) ** 30, None], pa.decimal256(40, 3)),
    "date": pa.array([date(1, 1, 1), None, date(9999, 12, 31)]),
    "date64": pa.array([date(1970, 1, 2), None, date(1969, 12, 31)], pa.date64()),
    "timestamp": pa.array([datetime(2020, 1, 1, 10, 30), None, datetime(1969, 7, 20)], pa.timestamp("ns")),  # noqa: DTZ001 - as many files have them,
    "zoned": pa.array([datetime(2020, 1, 1, 10, 30, tzinfo=UTC), None], pa.timestamp("us", "Europe/Zurich")),
    "text": pa.array(["12", None, "-7", "0"]),
    "text of prices": pa.array(["12.30", None, "-7.05"]),
    "text of decimals": pa.array(["12.3", None, "-7.05", "4"]),
    "text of dates": pa.array(["1979-05-27", None, "0001-01-01"]),
    "large text": pa.array(["1.5", None], pa.large_string()),
    "coded text": pa.array(["1.5", None, "2"]).dictionary_encode(),
    "nothing": pa.array([None, None], pa.null()),
    "nothing of a type": pa.array([None, None], pa.int32()),
}


def _read(cells: Any, key: str = "noise") -> GridNumbers:
    column = pa.chunked_array([cells])
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    return read_grid_numbers(column, "x", key, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_read_is_written_again(kind: str) -> None:
    """A column that nothing is done with comes back cell by cell, in its type; missing cells stay missing."""
    written = _read(KINDS[kind]).write()
    assert written.type == KINDS[kind].type
    assert written.to_pylist() == KINDS[kind].to_pylist()


@settings(deadline=None)
@given(st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_any_floats_come_back(values: list[float | None]) -> None:
    """Floats of any size are steps of a decimal grid, and come back to the last bit."""
    numbers = _read(pa.array(values, pa.float64()))
    assert numbers.write().to_pylist() == [None if value is None else value + 0.0 for value in values]
    exact = [Fraction(int(step), 10**numbers.decimals) for step in numbers.steps.tolist()]
    assert [float(one) for one in exact] == numbers.floats().tolist()


@settings(deadline=None)
@given(st.lists(st.integers(-(10**30), 10**30), min_size=1, max_size=6), st.integers(1, 10**12))
def test_rounding_is_exact_for_any_integers(values: list[int], unit: int) -> None:
    """Wide or narrow, whole numbers are rounded as Python rounds fractions: halves to even."""
    fits = all(abs(value) < 1 << 62 for value in values)
    for kind in (object, *([np.int64] if fits else [])):
        rounded = round_half_even(np.array(values, dtype=kind), unit)
        assert [int(one) for one in rounded] == [round(Fraction(value, unit)) * unit for value in values]


def test_no_number_is_not_a_missing_one() -> None:
    """NaN stays NaN, and NULL stays NULL."""
    written = _read(pa.array([1.5, None, float("nan")])).write().to_pylist()
    assert written[:2] == [1.5, None]
    assert np.isnan(written[2])


def test_exponents_stay_exponents() -> None:
    """Text with exponents is written as Python writes floats, and not in three hundred digits."""
    assert _rewritten(["1e300", "2.5"]) == ["1e+300", "2.5"]


def test_zeros_in_front_are_no_part_of_a_number() -> None:
    """What is changed is written as a number, and what is not as it was."""
    assert _rewritten(["007", "+12"]) == ["7", "12"]
    assert _read(pa.array(["007", "+12", "1e300"])).write().to_pylist() == ["007", "+12", "1e300"]


def _rewritten(texts: list[str]) -> list[str]:
    numbers = _read(pa.array(texts))
    written: list[str] = numbers.with_row_steps(numbers.steps[numbers.codes]).write().to_pylist()
    return written


def test_a_dictionary_may_hold_null() -> None:
    """NULL as an entry of a dictionary is NULL like any other."""
    cells = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["5", None, "7"]))
    assert _read(cells).write().to_pylist() == ["5", None, "7"]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (pa.array(["12", "twelve"]), "1 of its different values is neither"),
        (pa.array(["12", "secret", "other"]), "2 of its different values are neither"),
        (pa.array(["1979-13-27", "1979-01-01"]), "2 of its different values are neither"),
        (pa.array([True, False]), "holds bool, and noise needs numbers or dates"),
        (pa.array([1.0, float("inf")]), "holds infinite numbers"),
    ],
)
def test_what_is_no_number_is_refused_without_being_quoted(cells: Any, said: str) -> None:
    """The sentence says how many, and not which: the column is not published yet."""
    with pytest.raises(DataError, match=said) as caught:
        _read(cells)
    assert "secret" not in str(caught.value)


def test_categories_are_refused() -> None:
    """Categories of a frame cannot become other numbers."""
    cells = pa.array(["1", "2"]).dictionary_encode()
    with pytest.raises(DataError, match="holds categories, and round needs numbers"):
        read_grid_numbers(pa.chunked_array([cells]), "x", "round")


@settings(deadline=None)
@given(st.integers(-(10**20), 10**20), st.none() | st.integers(-(10**25), 10**25), st.integers(0, 10**25))
def test_clipping_is_exact(value: int, low: int | None, width: int) -> None:
    """Bounds of any size, or none."""
    high = None if low is None else low + width
    kind = np.int64 if abs(value) < 1 << 62 else object
    expected = value if low is None or high is None else min(max(value, low), high)
    assert int(clip_steps(np.array([value], dtype=kind), low, high)[0]) == expected


def test_shifting_widens() -> None:
    """Products that 64 bits cannot hold become Python's own numbers."""
    assert shift_steps(np.array([10**17, -1]), 5).tolist() == [10**22, -(10**5)]
