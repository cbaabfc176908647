"""Noise shaped like the data: drawing it for whole rows, and proposing it from perturbed rows.

`spectral_filter` says what independent noise gives away where columns go together. Noise with the correlations of the
data gives away nothing more than each column's own report does, where its σ are to one another as the data's standard
deviations are; what is left where they are not is said with the proposal.

It has a price. Who knows one of a person's values knows the noise on it, and with correlated noise something of the
noise on the others. The proposal says that, too: it is for collectors who know no value beforehand.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.additive_noise import GaussianNoise
from sfumato.channels.wiener_filter import informed_errors
from sfumato.collect.noise import Noise
from sfumato.collect.noise_correlation import NoiseCorrelation
from sfumato.collect.noise_filter import (
    SpectralFilter,
    additive_columns,
    filter_rows,
    noise_covariance,
    predict_filter,
)
from sfumato.collect.number_columns import read_number_columns
from sfumato.core.randomness import Randomness
from sfumato.errors import InputError, quote
from sfumato.page.display import Display, FigureTable, Shown

Floats = NDArray[np.float64]

_LEAST_EIGENVALUE = 0.01
"""A proposed correlation matrix is brought so far from being singular: it is published with four decimal places."""
_ROWS_PER_COLUMN = 10


PRICE = (
    "Noise shaped like the data hides from who knows none of a person's values; who knows one of them learns more of "
    "the others than with independent noise."
)


def correlated_deviations(noise: Noise, count: int, randomness: Randomness) -> dict[str, Floats]:
    """Draw the correlated part of the noise of `count` whole rows: float[count] for each column of the correlation.

    It is empty where the noise has no correlation; all other columns draw their own. `AdditiveNoise.add` adds what is
    drawn to the values of a column.

    >>> sensor = GaussianNoise(10.0, (0.0, 100.0))
    >>> noise = Noise({"a": sensor, "b": sensor}, NoiseCorrelation(("a", "b"), ((1.0, 0.9), (0.9, 1.0))))
    >>> drawn = correlated_deviations(noise, 20_000, Randomness(seed=1))
    >>> bool(abs(np.corrcoef(drawn["a"], drawn["b"])[0, 1] - 0.9) < 0.01)
    True
    """
    return {} if noise.correlation is None else noise.correlation.deviations(noise.columns, count, randomness)


@dataclass(frozen=True, repr=False)
class ShapedNoise(Shown):
    """A noise with the correlation of the data, what a filter recovers of the noise before, and of this one.

    `informed_before` and `informed_after` are the mean squared errors of an adversary who knows one of the person's
    other values exactly, the one that tells most.
    """

    noise: Noise
    before: SpectralFilter
    after: SpectralFilter
    informed_before: tuple[float, ...]
    informed_after: tuple[float, ...]

    def as_json(self) -> dict[str, Any]:
        """Give the noise, and what the filter recovers before and after."""
        names = [one.column for one in self.before.columns]
        return {
            "noise": self.noise.as_json(),
            "before": self.before.as_json(),
            "after": self.after.as_json(),
            "informed_before": dict(zip(names, self.informed_before, strict=True)),
            "informed_after": dict(zip(names, self.informed_after, strict=True)),
        }

    def display(self) -> Display:
        """Show the errors that the filter leaves, before and after."""
        lines = [
            (old.column, *(f"{error:.4g}" for error in (old.alone, old.joint, new.joint, was, now)))
            for old, new, was, now in zip(
                self.before.columns, self.after.columns, self.informed_before, self.informed_after, strict=True
            )
        ]
        head = ("mean squared error", "own report", "all", "all, shaped", "knowing one", "knowing one, shaped")
        left = tuple(f"Warning, even so: {one}." for one in self.after.warnings())
        return Display("Noise shaped like the data", (FigureTable(head, lines),), (*left, PRICE))


def shape_noise(noise: Noise | Any, reports: Any, columns: Sequence[str] | None = None) -> ShapedNoise:
    """Propose the correlation of Gaussian noise from perturbed rows: that of the true values, as the reports show it.

    Rows of a pilot collection will do. Only the correlation is taken from them, so each column keeps its own noise.

    >>> size = np.random.default_rng(3).normal(50, 10, 5000).clip(0, 100)
    >>> noise = Noise({name: GaussianNoise(10.0, (0.0, 100.0)) for name in ("height", "weight")})
    >>> sent = {name: noise.columns[name].perturb(size, Randomness(4, name)) for name in noise.columns}
    >>> shaped = shape_noise(noise, sent)
    >>> shaped.noise.correlation.matrix[0][1]
    0.99
    >>> before, after = shaped.before.columns[0], shaped.after.columns[0]
    >>> round(before.alone), round(before.joint), round(after.joint)  # squared errors
    (50, 33, 50)
    """
    noise = Noise.load(noise)
    chosen = additive_columns(noise, columns)
    for name in chosen:
        if not isinstance(noise.column(name), GaussianNoise):
            raise InputError(
                f"only Gaussian noise can be correlated, and that of {quote(name)} is {noise.column(name).kind}; name "
                "the Gaussian columns, or change its kind"
            )
    rows = read_number_columns(reports, chosen, least=_ROWS_PER_COLUMN * len(chosen))
    old = noise_covariance(noise, chosen)
    values = _values_covariance(rows, old, chosen)
    matrix = _to_correlation(values)
    rounded = np.round(matrix, 4)
    shape = NoiseCorrelation(tuple(chosen), tuple(map(tuple, rounded.tolist())))
    shaped = replace(noise, correlation=shape)
    new = noise_covariance(shaped, chosen)
    before, after = filter_rows(rows, old, chosen), predict_filter(values, new, chosen)
    return ShapedNoise(shaped, before, after, informed_errors(values, old), informed_errors(values, new))


def _values_covariance(rows: Floats, of_noise: Floats, columns: Sequence[str]) -> Floats:
    """Subtract the covariance of the noise from that of the rows; directions without signal keep none."""
    of_reports = np.cov(rows, rowvar=False, ddof=1)
    lacking = np.diag(of_reports) <= np.diag(of_noise)
    if lacking.any():
        raise InputError(
            f"the rows vary less in {quote(columns[int(np.argmax(lacking))])} than its noise alone would: they are not "
            "perturbed by it"
        )
    variances, directions = np.linalg.eigh(of_reports - of_noise)
    return np.asarray((directions * np.maximum(variances, 0.0)) @ directions.T)


def _to_correlation(covariance: Floats) -> Floats:
    """Scale a covariance to a correlation matrix, and mix in as much of the identity as keeps it regular."""
    deviations = np.sqrt(np.diag(covariance))
    matrix = covariance / deviations[:, None] / deviations
    matrix = (matrix + matrix.T) / 2
    least = float(np.linalg.eigvalsh(matrix)[0])
    mixed = max((_LEAST_EIGENVALUE - least) / (1 - least), 0.0) if least < 1 else 0.0
    matrix = (1 - mixed) * matrix
    np.fill_diagonal(matrix, 1.0)
    return matrix
