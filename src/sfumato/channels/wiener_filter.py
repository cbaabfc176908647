"""What a filter recovers from columns that go together: noise that is added column by column can be taken out again.

Columns of a table are often correlated, and independent noise is not. So in the directions in which the data hardly
vary, reports show noise alone, and whoever leaves those directions out has removed that much of it (Kargupta, Datta,
Wang and Sivakumar 2003). The best linear filter, Wiener's, shrinks each direction by how much of its variance is noise
(Huang, Du and Chen 2005). The adversary needs nothing but the perturbed rows and the published noise: the covariance of
the reports less that of the noise is the covariance of the true values.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import quote
from sfumato.page.display import Display, FigureTable, Shown
from sfumato.page.wording import percent

Floats = NDArray[np.float64]

_MUCH = 0.75
"""It is much where the other columns leave at most so much of the squared error that a column's own report leaves."""
_MOST = 0.2
"""It is much, too, where at most so much of the variance of the true values is left unknown."""


@dataclass(frozen=True)
class FilteredColumn:
    """What the filter leaves of one column's noise, as mean squared errors of an adversary's guess of the true value.

    `noise_variance` is the error of taking the report for the value; `blind` is that of guessing the mean without a
    report, the variance of the true values; `alone` is that of the best linear guess from the column's own report;
    `joint` is that of the filter, from the reports of all columns.
    """

    column: str
    noise_variance: float
    blind: float
    alone: float
    joint: float

    @property
    def recovered(self) -> float:
        """The share of the true values' variance that the filter recovers, from 0 to 1."""
        return 1 - self.joint / self.blind if self.blind > 0 else 0.0

    @property
    def is_much(self) -> bool:
        """Whether the filter recovers so much that the noise promises more than it keeps."""
        return self.blind > 0 and (self.joint <= _MUCH * self.alone or self.joint <= _MOST * self.blind)


@dataclass(frozen=True, repr=False)
class SpectralFilter(Shown):
    """What a filter over several columns recovers, and the adversary's guesses.

    columns:   one line per column
    guesses:   float[n, d], the adversary's guesses of the true values, row by row; empty where no rows were given
    standing:  how many directions stand out of the noise by more than chance would let them
    rows:      how many rows it was estimated from
    """

    columns: tuple[FilteredColumn, ...]
    guesses: Floats
    standing: int
    rows: int

    def as_json(self) -> dict[str, Any]:
        """Give the figures by column, and the warnings."""
        figures = {
            one.column: {
                "noise_variance": one.noise_variance,
                "blind": one.blind,
                "alone": one.alone,
                "joint": one.joint,
                "recovered": one.recovered,
            }
            for one in self.columns
        }
        return {"rows": self.rows, "standing": self.standing, "columns": figures, "warnings": list(self.warnings())}

    def warnings(self) -> tuple[str, ...]:
        """Say for which columns the filter recovers much, a sentence each."""
        said = []
        for one in self.columns:
            if one.is_much and one.joint <= _MUCH * one.alone:
                said.append(
                    f"the columns together tell more of {quote(one.column)} than its noise lets its own report tell: "
                    f"an adversary's mean squared error falls from {one.alone:.3g} to {one.joint:.3g}, and "
                    f"{percent(one.recovered)} of the variance of the true values is recovered; give the noise the "
                    "correlation of the data, or collect fewer columns"
                )
            elif one.is_much:
                said.append(
                    f"an adversary's mean squared error for {quote(one.column)} is {one.joint:.3g}, where the noise "
                    f"has a variance of {one.noise_variance:.3g}, and {percent(one.recovered)} of the variance of the "
                    "true values is recovered; the noise is too small to hide them"
                )
        return tuple(said)

    def display(self) -> Display:
        """Show the errors that are left, column by column."""
        lines = [
            (
                one.column,
                f"{one.noise_variance:.4g}",
                f"{one.blind:.4g}",
                f"{one.alone:.4g}",
                f"{one.joint:.4g}",
                percent(one.recovered),
            )
            for one in self.columns
        ]
        head = ("mean squared error", "report as it is", "no report", "own report", "all reports", "recovered")
        title = f"What a filter over {len(self.columns)} columns recovers"
        return Display(title, (FigureTable(head, lines),), tuple(f"Warning: {one}." for one in self.warnings()))


def filter_rows(rows: Floats, of_noise: Floats, columns: Sequence[str]) -> SpectralFilter:
    """Estimate the covariance from n perturbed rows float[n, d], and filter them; `of_noise` is float[d, d]."""
    mean = rows.mean(axis=0)
    of_reports = np.cov(rows, rowvar=False, ddof=1)
    shrink, error, standing = wiener_filter(of_reports, of_noise, len(rows))
    of_values = np.maximum(np.diag(of_reports) - np.diag(of_noise), 0.0)
    guesses = mean + (rows - mean) @ shrink.T
    return SpectralFilter(_filtered(columns, of_values, of_noise, error), guesses, standing, len(rows))


def predict_filter(of_values: Floats, of_noise: Floats, columns: Sequence[str]) -> SpectralFilter:
    """Say what a filter would recover where the covariance of the true values is known, float[d, d], without rows.

    >>> values, noise = np.array([[100.0, 90.0], [90.0, 100.0]]), np.eye(2) * 100
    >>> [round(one.joint, 1) for one in predict_filter(values, noise, ["a", "b"]).columns]
    [37.3, 37.3]
    >>> [round(one.joint, 1) for one in predict_filter(values, values, ["a", "b"]).columns]  # noise shaped as the data
    [50.0, 50.0]
    """
    _, error, standing = wiener_filter(of_values + of_noise, of_noise, None)
    empty = np.empty((0, len(columns)))
    return SpectralFilter(_filtered(columns, np.diag(of_values), of_noise, error), empty, standing, 0)


def wiener_filter(of_reports: Floats, of_noise: Floats, rows: int | None) -> tuple[Floats, Floats, int]:
    """Find the best linear filter, its mean squared errors, and how many directions stand out of the noise.

    of_reports, of_noise: float[d, d]; `rows` that the former was estimated from, None where it is exact
    returns: the filter float[d, d] for centred rows, the errors float[d], and a count

    Seen through L⁻¹, with L Lᵀ the covariance of the noise, noise has variance 1 in every direction. A direction v in
    which reports have variance λ is shrunk by (λ - 1) / λ, and noise of variance (λ - 1) / λ is left in it; where λ is
    below 1, by chance, there is no signal. Of noise alone no λ is expected above (1 + √(d / n))².
    """
    lower = np.linalg.cholesky(of_noise)
    inverse = np.linalg.inv(lower)
    variances, directions = np.linalg.eigh(inverse @ of_reports @ inverse.T)
    kept = np.maximum(variances - 1, 0.0) / np.maximum(variances, 1e-300)
    back = lower @ directions
    shrink = (back * kept) @ (directions.T @ inverse)
    error = (back**2) @ kept
    by_chance = 1.0 if rows is None else (1 + np.sqrt(len(variances) / rows)) ** 2
    return shrink, error, int((variances > by_chance * (1 + 1e-9)).sum())


def informed_errors(of_values: Floats, of_noise: Floats) -> tuple[float, ...]:
    """Give, for each of d columns, the least mean squared error of who has all reports and one other true value.

    of_values, of_noise: float[d, d]. Knowing value and report of column k is knowing its value and its noise, so both
    covariances are taken given k, and the filter is that of what is left of the other columns.

    >>> pair = np.array([[100.0, 80.0], [80.0, 100.0]])
    >>> [round(error) for error in informed_errors(pair, np.eye(2) * 100)]  # 36 of the value and 100 of the noise left
    [26, 26]
    >>> [round(error) for error in informed_errors(pair, pair)]  # 36 of either
    [18, 18]
    """
    count = len(of_values)
    least = np.full(count, np.inf)
    for known in range(count):
        others = np.delete(np.arange(count), known)
        values, noise = (
            part[np.ix_(others, others)] - np.outer(part[others, known], part[others, known]) / part[known, known]
            for part in (of_values, of_noise)
        )
        error = np.diag(values - values @ np.linalg.solve(values + noise, values))
        least[others] = np.minimum(least[others], error)
    return tuple(np.maximum(least, 0.0).tolist())


def _filtered(columns: Sequence[str], of_values: Floats, of_noise: Floats, error: Floats) -> tuple[FilteredColumn, ...]:
    noise = np.diag(of_noise)
    alone = of_values * noise / np.maximum(of_values + noise, 1e-300)
    return tuple(
        FilteredColumn(name, float(noise[i]), float(of_values[i]), float(alone[i]), float(error[i]))
        for i, name in enumerate(columns)
    )
