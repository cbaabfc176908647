"""Correlation between the Gaussian noise of several columns, as it stands in ``noise.json``.

Independent noise on columns that go together can partly be filtered out again (`spectral_filter`): in the directions in
which the data vary little, reports show noise and nothing else. Noise that is correlated as the data are has no such
directions. Each column's own noise stays what it was, normal with its σ, so a column is reconstructed as before.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.additive_noise import GaussianNoise
from sfumato.core.randomness import Randomness
from sfumato.errors import InputError, did_you_mean, quote

Floats = NDArray[np.float64]

_LEAST_EIGENVALUE = 1e-9
_ALIKE = 1e-12


@dataclass(frozen=True)
class NoiseCorrelation:
    """The correlation matrix of the noise of some Gaussian columns; all other noise is independent.

    >>> shape = NoiseCorrelation(("height", "weight"), ((1.0, 0.8), (0.8, 1.0)))
    >>> shape.as_json()
    {'columns': ['height', 'weight'], 'matrix': [[1.0, 0.8], [0.8, 1.0]]}
    """

    columns: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        count = len(self.columns)
        if count < 2:
            raise InputError("correlation: columns must be a list of at least two Gaussian columns")
        if len(set(self.columns)) < count:
            twice = next(name for name in self.columns if self.columns.count(name) > 1)
            raise InputError(f"correlation: columns has {quote(twice)} twice; leave one out")
        if len(self.matrix) != count or any(len(row) != count for row in self.matrix):
            raise InputError(f"correlation: matrix must have {count} rows of {count} numbers, one for each column")
        if not all(math.isfinite(cell) for row in self.matrix for cell in row):
            raise InputError("correlation: matrix must be numbers from -1 to 1")
        square = self.as_array
        if (np.abs(np.diag(square) - 1) > _ALIKE).any():
            place = int(np.argmax(np.abs(np.diag(square) - 1)))
            raise InputError(
                f"correlation: the cell of matrix for {quote(self.columns[place])} with itself must be 1, "
                f"not {quote(self.matrix[place][place])}"
            )
        if (np.abs(square - square.T) > _ALIKE).any():
            row, column = np.unravel_index(np.argmax(np.abs(square - square.T)), square.shape)
            raise InputError(
                f"correlation: matrix must be symmetric, but {quote(self.columns[row])} with "
                f"{quote(self.columns[column])} is {square[row, column]:g} in one place and {square[column, row]:g} in "
                "the other"
            )
        if np.linalg.eigvalsh(square)[0] < _LEAST_EIGENVALUE:
            raise InputError(
                "correlation: matrix is not positive definite, so no noise has these correlations; bring them "
                "nearer to 0"
            )

    @classmethod
    def read(cls, document: object, columns: Mapping[str, object]) -> "NoiseCorrelation":
        """Check the key ``correlation`` of a noise file, given the noise of its columns."""
        if not isinstance(document, Mapping):
            raise InputError('correlation must be an object with "columns" and "matrix"')
        for key in document:
            if key not in ("columns", "matrix"):
                hint = did_you_mean(str(key), ("columns", "matrix"))
                raise InputError(f"correlation: {quote(key)} is not one of its keys{hint}")
        names, matrix = document.get("columns"), document.get("matrix")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise InputError("correlation: columns must be a list of texts")
        if not isinstance(matrix, list) or not all(isinstance(row, list) for row in matrix):
            raise InputError("correlation: matrix must be a list of rows, each a list of numbers")
        wrong = [cell for row in matrix for cell in row if isinstance(cell, bool) or not isinstance(cell, int | float)]
        if wrong:
            raise InputError(f"correlation: matrix must be numbers from -1 to 1, not {quote(wrong[0])}")
        # a whole number may be too large for a float; beyond ±2 it is wrong whatever it is
        cells = tuple(tuple(float(min(max(cell, -2), 2)) for cell in row) for row in matrix)
        correlation = cls(tuple(names), cells)
        correlation.sigmas(columns)
        return correlation

    def as_json(self) -> dict[str, Any]:
        """Give the entry of ``noise.json``."""
        return {"columns": list(self.columns), "matrix": [list(row) for row in self.matrix]}

    @property
    def as_array(self) -> Floats:
        """The matrix as an array, float[d, d]."""
        return np.array(self.matrix, np.float64)

    def sigmas(self, columns: Mapping[str, object]) -> Floats:
        """Find the standard deviation of each column's noise, float[d]; a column that is not Gaussian is refused."""
        found = []
        for name in self.columns:
            noise = columns.get(name)
            if noise is None:
                raise InputError(f"correlation: the noise does not know the column {quote(name)}")
            if not isinstance(noise, GaussianNoise):
                raise InputError(
                    f"correlation: the noise of {quote(name)} is {getattr(noise, 'kind', 'of another kind')} and must "
                    "be gaussian, the only kind whose sums stay of their kind; change the kind, or leave the column out"
                )
            found.append(noise.spread)
        return np.array(found)

    def deviations(self, columns: Mapping[str, object], count: int, randomness: Randomness) -> dict[str, Floats]:
        """Draw the noise of `count` rows: for each of the d columns float[count].

        With R = L Lᵀ (Cholesky) and g standard normal, σ L g has the correlations R, and each entry of it the variance
        σ². No deviation is farther out than independent noise of the column can be, so that what a noise `admits` is
        the same.
        """
        standard = GaussianNoise(1.0, (0.0, 1.0))
        normal = standard.draw(count * len(self.columns), randomness).reshape(count, len(self.columns))
        mixed = np.clip(normal @ np.linalg.cholesky(self.as_array).T, -standard.farthest, standard.farthest)
        scaled = mixed * self.sigmas(columns)
        return {name: np.ascontiguousarray(scaled[:, place]) for place, name in enumerate(self.columns)}
