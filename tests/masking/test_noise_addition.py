"""Additive noise: its covariance, its grid, and that no digit of what comes out tells of what went in."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core.randomness import Randomness
from sfumato.masking.grid_numbers import GridNumbers, read_grid_numbers
from sfumato.masking.noise_addition import NoiseShape, add_noise, standard_deviation

ROWS = 40_000


def _numbers(values: Any) -> GridNumbers:
    return read_grid_numbers(pa.chunked_array([pa.array(values)]), "x", "noise")


def _columns(rows: int = ROWS) -> dict[str, GridNumbers]:
    """Two columns with a correlation of 0.8, one with none, of different sizes; floats of three decimals."""
    draw = np.random.default_rng(1)
    first = draw.normal(size=rows)
    second = 0.8 * first + 0.6 * draw.normal(size=rows)
    third = draw.normal(size=rows)
    sizes = {"a": 50 * first + 200, "b": 3 * second, "c": 1000 * third}
    return {name: _numbers(np.round(values, 3)) for name, values in sizes.items()}


def test_correlated_noise_has_the_covariance_of_the_columns() -> None:
    """Kim's ratio: the covariance of the noise is the shares' product times that of the columns, cell by cell."""
    columns, shares = _columns(), {"a": 0.5, "b": 0.5, "c": 0.2}
    shape = NoiseShape.of(columns, shares, list(columns))
    drawn = shape.draw(ROWS, Randomness(3))
    noise = np.column_stack(
        [
            add_noise(one, drawn[name], size, Randomness(4, name)) / 10.0**one.decimals - one.row_floats()
            for (name, one), size in zip(columns.items(), shape.deviations, strict=True)
        ]
    )
    values = np.column_stack([one.row_floats() for one in columns.values()])
    share = np.array(list(shares.values()))
    wanted = np.cov(values, rowvar=False) * share[:, None] * share
    scale = np.sqrt(np.outer(np.diag(wanted), np.diag(wanted)))
    assert np.abs((np.cov(noise, rowvar=False) - wanted) / scale).max() < 0.03
    both = [float(np.corrcoef(rows[:, 0], rows[:, 1])[0, 1]) for rows in (values + noise, values)]
    assert abs(both[0] - both[1]) < 0.01


def test_independent_noise_weakens_correlations() -> None:
    """With a share of one half each, a correlation is divided by 1.25."""
    columns = _columns()
    shape = NoiseShape.of(columns, dict.fromkeys(columns, 0.5), [])
    assert shape.correlation == tuple(tuple(float(i == j) for j in range(3)) for i in range(3))
    drawn = shape.draw(ROWS, Randomness(3))
    first, second = (
        add_noise(columns[name], drawn[name], shape.deviations[place], Randomness(5, name)).astype(np.float64)
        for place, name in enumerate("ab")
    )
    assert abs(float(np.corrcoef(first, second)[0, 1]) - 0.8 / 1.25) < 0.01


def test_columns_that_follow_from_one_another_get_the_same_noise() -> None:
    """A singular covariance is no obstacle: what is twice another stays twice, but for the grid."""
    ages = np.arange(1000) % 77
    columns = {"age": _numbers(ages), "twice": _numbers(2 * ages)}
    shape = NoiseShape.of(columns, dict.fromkeys(columns, 0.3), list(columns))
    drawn = shape.draw(1000, Randomness(1))
    age, twice = (add_noise(columns[n], drawn[n], shape.deviations[i], Randomness(2)) for i, n in enumerate(columns))
    assert np.abs(twice - 2 * age).max() <= 2


@pytest.mark.parametrize(
    ("values", "decimals"),
    [
        ([10, 20, 30, 40], 0),
        (["10.25", "20.50", "90.75", "3.00"], 2),
        ([0.1, 0.25, 3.5, 2.0], 2),
        ([1 / 3, 2 / 3, 1 / 7, 0.9], 15),
    ],
    ids=["whole", "prices", "floats", "many digits"],
)
def test_what_comes_out_is_on_the_grid_of_the_column(values: list[Any], decimals: int) -> None:
    """Decimals stay as many as there were, up to nine below what the noise can tell."""
    numbers = _numbers(values)
    size = 0.3 * standard_deviation(numbers.row_floats())
    masked = numbers.with_row_steps(add_noise(numbers, np.array([0.7, -1.1, 0.2, 1.9]), size, Randomness(1))).write()
    for text in masked.cast(pa.string()).to_pylist():
        assert len(text.partition(".")[2]) <= decimals


def test_digits_below_the_noise_are_even_whatever_the_value() -> None:
    """Of a column of cents with noise of thousands, the last three digits are as good as drawn.

    The value's own last digits are all 77; chi-square over thousand cells.
    """
    numbers = _numbers([f"{value}.77" for value in (np.arange(20_000) * 37 % 90_000).tolist()])
    deviations = NoiseShape(("x",), (1.0,), ((1.0,),)).draw(20_000, Randomness(1))["x"]
    last = add_noise(numbers, deviations, 4_000_000.0, Randomness(2)) % 1000
    counts = np.bincount(last.astype(np.int64), minlength=1000)
    assert ((counts - 20) ** 2 / 20).sum() < 1000 + 4 * np.sqrt(2000)


def test_every_step_can_come_out() -> None:
    """Between the smallest and the largest of many draws no whole number is left out: nothing is ruled out."""
    numbers = _numbers([100] * 100_000)
    deviations = NoiseShape(("x",), (1.0,), ((1.0,),)).draw(100_000, Randomness(1))["x"]
    seen = np.unique(add_noise(numbers, deviations, 30.0, Randomness(2)))
    middle = seen[(seen > 40) & (seen < 160)]
    assert len(middle) == 119


NUMBER = st.none() | st.floats(-1e300, 1e300) | st.integers(-(2**53), 2**53).map(float) | st.just(1e300)


@settings(deadline=None)
@given(st.lists(NUMBER, min_size=1, max_size=12), st.floats(0.001, 10), st.integers(0, 99))
def test_any_column_gets_noise(values: list[float | None], share: float, seed: int) -> None:
    """NULLs, ties, one row, one value, huge and negative numbers: what comes out is finite, and NULL where it was."""
    numbers = _numbers(pa.array(values, pa.float64()))
    shape = NoiseShape.of({"x": numbers}, {"x": share}, ["x"])
    drawn = shape.draw(len(values), Randomness(seed))["x"][numbers.there]
    steps = add_noise(numbers, drawn, shape.deviations[0], Randomness(seed))
    written = numbers.with_row_steps(steps).write().to_pylist()
    assert [one is None for one in written] == [one is None for one in values]
    there = [one for one in values if one is not None]
    if len(set(there)) <= 1:
        assert shape.deviations == (0.0,)
        assert [one for one in written if one is not None] == there
    for before, after in zip(values, written, strict=True):
        assert before is None or abs(after - before) <= 9 * shape.deviations[0] * 1.01 + 1e-6 * abs(before) + 1e-300


def test_a_shape_is_saved_and_read() -> None:
    """What further rows need goes through JSON, and nonsense is refused."""
    shape = NoiseShape.of(_columns(50), {"a": 0.1, "b": 0.2, "c": 0.3}, ["a", "b"])
    assert NoiseShape.from_json(shape.as_json()) == shape
    for wrong in ({"deviations": [1]}, {"deviations": [1, -1, 2]}, {"correlation": [[1.0]]}):
        with pytest.raises(ValueError, match=r"no shape|inhomogeneous"):
            NoiseShape.from_json(shape.as_json() | wrong)
