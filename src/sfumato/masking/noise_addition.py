"""Additive noise: to each value a normal deviation, whose size is a share of the column's own standard deviation.

With correlated noise (Kim 1986) the deviations of all columns together have the covariance of the columns times the
square of the share. So means and correlations stay, and variances grow by the known factor 1 + share²; and there is no
direction in which the data hardly vary and the noise does, by which a filter could tell them apart.

Values and noise lie on one decimal grid: that of the column, or a coarser one, which the size of the noise fixes. Both
are whole numbers there when they are added, so that no last digit of a floating-point sum tells of a value (Mironov
2012). Where the grid of the column is much finer than the noise, the digits below are drawn evenly: every number of the
grid can come out, whatever the value was.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sfumato.core.arrays import FloatArray
from sfumato.core.randomness import Randomness
from sfumato.masking.grid_numbers import GridNumbers, Steps, round_half_even, shift_steps

_FINENESS = 4
"""Decimal places of the grid of drawn deviations below the leading digit of the noise's standard deviation."""
_DIGITS = 9
"""So many digits at most are drawn evenly below these."""


@dataclass(frozen=True)
class NoiseShape:
    """The standard deviation of the noise of each column, and the correlations of those that go together.

    columns:      names, d of them
    deviations:   the standard deviation of the noise of each, 0 where a column does not vary
    correlation:  d rows of d numbers; 0 between columns whose noise is independent

    It is worked out of true values, and stays with the data holder: further rows get noise of the same shape.
    """

    columns: tuple[str, ...]
    deviations: tuple[float, ...]
    correlation: tuple[tuple[float, ...], ...]

    @classmethod
    def of(
        cls, columns: Mapping[str, GridNumbers], shares: Mapping[str, float], together: Sequence[str]
    ) -> "NoiseShape":
        """Work out the shape for columns of numbers; the noise of those in `together` has their correlations.

        Standard deviations are those of all values of a column; correlations those of the rows that have them all.

        >>> import pyarrow as pa
        >>> from sfumato.masking.grid_numbers import read_grid_numbers
        >>> pair = {n: read_grid_numbers(pa.chunked_array([[1, 2, 3]]), n, "noise") for n in "ab"}
        >>> shape = NoiseShape.of(pair, {"a": 0.5, "b": 0.1}, ["a", "b"])
        >>> [round(one, 3) for one in shape.deviations], round(shape.correlation[0][1], 6)
        ([0.408, 0.082], 1.0)
        """
        names = tuple(columns)
        sizes = tuple(shares[name] * standard_deviation(columns[name].row_floats()) for name in names)
        correlation = np.eye(len(names))
        varying = [place for place, name in enumerate(names) if name in together and sizes[place] > 0]
        if len(varying) > 1:
            whole = np.logical_and.reduce([columns[names[place]].there for place in varying])
            rows = np.column_stack([_scaled_rows(columns[names[place]])[whole] for place in varying])
            if len(rows) > 1 and (rows.std(axis=0) > 0).all():
                correlation[np.ix_(varying, varying)] = np.corrcoef(rows, rowvar=False)
        return cls(names, sizes, tuple(map(tuple, correlation.tolist())))

    def or_else(self, own: "NoiseShape") -> "NoiseShape":
        """Take the size of the noise from another shape of the same columns, where this one has none."""
        sizes = dict(zip(own.columns, own.deviations, strict=True))
        pairs = zip(self.columns, self.deviations, strict=True)
        return replace(self, deviations=tuple(size or sizes[name] for name, size in pairs))

    def covariance(self, units: Mapping[str, float]) -> FloatArray:
        """The covariance of the noise of some columns, float[d, d], each in a unit of its own.

        >>> NoiseShape(("a", "b"), (1e300, 2.0), ((1.0, 0.5), (0.5, 1.0))).covariance({"a": 1e300, "b": 1.0}).tolist()
        [[1.0, 1.0], [1.0, 4.0]]
        """
        places = [self.columns.index(name) for name in units]
        sizes = np.array(self.deviations)[places] / np.array(list(units.values()))
        return np.asarray(sizes[:, None] * np.array(self.correlation)[np.ix_(places, places)] * sizes)

    def draw(self, rows: int, randomness: Randomness) -> dict[str, FloatArray]:
        """Draw deviations in units of each column's standard deviation: float[rows] for each.

        With R = Q diag(λ) Qᵀ and g standard normal, Q diag(√λ) g has the correlations R, also where R is singular.
        """
        from sfumato.channels.additive_noise import GaussianNoise  # noqa: PLC0415 - imports scipy

        standard = GaussianNoise(1.0, (0.0, 1.0))
        normal = standard.draw(rows * len(self.columns), randomness).reshape(rows, len(self.columns))
        matrix = np.array(self.correlation)
        if (matrix != np.eye(len(matrix))).any():
            variances, directions = np.linalg.eigh(matrix)
            normal = normal @ (directions * np.sqrt(np.maximum(variances, 0.0))).T
        return {name: np.ascontiguousarray(normal[:, place]) for place, name in enumerate(self.columns)}

    def as_json(self) -> dict[str, Any]:
        """Give it for the private audit."""
        matrix = [list(row) for row in self.correlation]
        return {"columns": list(self.columns), "deviations": list(self.deviations), "correlation": matrix}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "NoiseShape":
        """Read it from the private audit; raises ValueError, TypeError or KeyError where it is none."""
        columns = tuple(str(name) for name in data["columns"])
        sizes = tuple(float(size) for size in data["deviations"])
        matrix = tuple(tuple(float(cell) for cell in row) for row in data["correlation"])
        square = np.array(matrix, dtype=np.float64)
        sound = len(sizes) == len(columns) and square.shape == (len(columns), len(columns))
        if not sound or not np.isfinite(square).all() or not all(math.isfinite(one) and one >= 0 for one in sizes):
            raise ValueError("no shape of noise")
        return cls(columns, sizes, matrix)


def add_noise(numbers: GridNumbers, deviations: FloatArray, size: float, randomness: Randomness) -> Steps:
    """Add noise to every value that is there: whole numbers of steps, one for each such row.

    deviations: float[rows that are there], in units of `size`, the standard deviation in the unit of the column

    With σ of leading digit 10^e, deviations are rounded to 10^(e - 4). Where the column's grid is coarser than that,
    they are rounded to it; where it is finer, the digits in between are drawn evenly, up to nine of them, and values
    are rounded to the last of these.

    >>> import pyarrow as pa
    >>> from sfumato.masking.grid_numbers import read_grid_numbers
    >>> ages = read_grid_numbers(pa.chunked_array([[30, None, 50]]), "age", "noise")
    >>> add_noise(ages, np.array([1.0, -1.0]), 4.2, Randomness(1)).tolist()
    [34, 46]
    """
    steps = numbers.steps[numbers.codes[numbers.there]]
    if not size > 0 or not len(steps):
        return steps
    in_steps = _steps_of_size(numbers, size)  # the standard deviation in steps, as mantissa and exponent
    coarse = in_steps[1] - _FINENESS  # the exponent of the grid of deviations, in steps
    if coarse <= 0:
        drawn = np.rint(deviations * (in_steps[0] * 10.0 ** in_steps[1])).astype(np.int64)
        return _add(steps, drawn)
    fine = max(coarse - _DIGITS, 0)
    below = 10 ** (coarse - fine)
    whole = np.rint(deviations * (in_steps[0] * 10.0**_FINENESS)).astype(np.int64)
    digits = (randomness.words(len(whole)) % np.uint64(below)).astype(np.int64)
    drawn = whole * below + digits - below // 2
    if not fine:
        return _add(steps, drawn)
    unit = 10**fine
    rounded = round_half_even(steps, unit) // unit
    return shift_steps(_add(rounded, drawn), fine)


def standard_deviation(values: FloatArray) -> float:
    """The standard deviation of values of any size, without overflow; 0 of fewer than two.

    >>> standard_deviation(np.array([1e300, -1e300])) == 1e300, standard_deviation(np.array([7.0]))
    (True, 0.0)
    """
    if len(values) < 2 or values.min() == values.max():
        return 0.0
    unit = power_below(values)
    return float((values / unit).std()) * unit


def power_below(values: FloatArray) -> float:
    """A power of two that the largest of some values is one to two times of: dividing by it loses nothing.

    >>> power_below(np.array([3.0, -5.0])), power_below(np.array([0.0]))
    (4.0, 1.0)
    """
    most = float(np.nanmax(np.abs(values), initial=0.0))
    return 1.0 if most == 0 else math.ldexp(1.0, math.frexp(most)[1] - 1)


def _scaled_rows(numbers: GridNumbers) -> FloatArray:
    """How many standard deviations each row's value is above the mean, float[rows]; NaN where there is none."""
    rows = np.full(len(numbers.codes), np.nan)
    values = numbers.row_floats()
    scaled = values / power_below(values)
    rows[numbers.there] = (scaled - scaled.mean()) / (scaled.std() or 1.0) if len(scaled) else scaled
    return rows


def _steps_of_size(numbers: GridNumbers, size: float) -> tuple[float, int]:
    """The standard deviation in steps of the column, as a number from 1 to 10 and the power of ten it is times."""
    mantissa, exponent = f"{size * numbers.steps_per_day:.17e}".split("e")
    return float(mantissa), int(exponent) + numbers.decimals


def _add(steps: Steps, drawn: Steps) -> Steps:
    """Add whole numbers, as wider ones where a sum would not fit into 64 bits."""
    if steps.dtype == object or np.abs(drawn).max(initial=0) >= 1 << 61:
        return np.asarray(steps.astype(object) + drawn.astype(object))
    return np.asarray(steps + drawn)
