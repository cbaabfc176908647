"""Rotation perturbation, and two attacks that undo it: a demonstration that it should not be trusted.

All rows are multiplied by one secret orthogonal matrix (Chen and Liu 2005). Distances between rows stay what they were,
so clustering and nearest neighbours give the same result as on the true rows, at no loss. But the matrix is one secret
for everybody: as many known rows as there are columns give it away, and with it every other row. Who
knows no row but how such people are distributed finds the main axes of both tables and lays one on the other (Liu,
Giannella and Kargupta 2006). `RotatedTable.attack` does both and says how much came back.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.attack.result import AttackResult, ShownAttack
from sfumato.channels.additive_noise import GaussianNoise
from sfumato.collect.number_columns import read_number_columns
from sfumato.core.randomness import Randomness
from sfumato.errors import DataError, InputError, quote
from sfumato.page.display import Display, FigureTable, Shown
from sfumato.page.wording import percent, plural
from sfumato.reading.outside_table import outside_column_names

Floats = NDArray[np.float64]

_NEAR = 0.1
"""A cell counts as recovered where the guess is off by less than so many standard deviations of its column."""
UNTRUSTED = (
    "Rotation keeps every distance and hides little: whoever knows a few rows, or the distribution, finds the matrix "
    "and with it all rows. Do not rely on it."
)


@dataclass(frozen=True, repr=False)
class RotatedTable(Shown):
    """Rows that were rotated by a secret matrix, with what the holder must keep secret. Do not rely on it.

    columns: names of the d columns
    rows:    float[n, d], the rotated rows in random order; an axis is a mixture of all columns
    matrix:  float[d, d], the secret orthogonal matrix; rows = (standardized true rows) @ matrix
    truth:   float[n, d], the true rows in the order of `rows`, standardized: only for measuring attacks
    """

    columns: tuple[str, ...]
    rows: Floats
    matrix: Floats
    truth: Floats

    @property
    def table(self) -> Any:
        """The rotated rows as an Arrow table with the columns r1, r2 and so on."""
        return pa.table({f"r{place + 1}": self.rows[:, place] for place in range(self.rows.shape[1])})

    def distance_error(self, pairs: int = 1000) -> float:
        """The largest relative change of a distance between two rows, over pairs of neighbours in the table.

        It is rounding and nothing else: that is what rotation is for.
        """
        count = min(pairs, len(self.rows) - 1)
        before = np.linalg.norm(self.truth[1 : count + 1] - self.truth[:count], axis=1)
        after = np.linalg.norm(self.rows[1 : count + 1] - self.rows[:count], axis=1)
        apart = before > 0
        return float((np.abs(after - before)[apart] / before[apart]).max(initial=0.0))

    def attack(self, known: int | None = None, sample: int | None = None) -> "RotationAttack":
        """Attack it as somebody would who knows `known` rows, or a `sample` of such people; the rest is measured.

        Without numbers it is as many rows as columns, and a tenth of the rows. The known rows are the first ones of
        the rotated table, which are random; the sample is not among the rows that are then attacked.
        """
        rows, width = self.truth.shape
        known = width if known is None else known
        sample = max(rows // 10, 2 * width) if sample is None else sample
        if not 1 <= known < rows:
            raise InputError(f"known must be from 1 to {rows - 1:,}, fewer than all rows, not {quote(known)}")
        if not 2 * width <= sample <= rows // 2:
            raise InputError(
                f"sample must be from {2 * width:,} to {rows // 2:,}, two rows for each column and half of the rows, "
                f"not {quote(sample)}"
            )
        by_rows = undo_by_known_rows(self.rows, self.truth[:known], self.rows[:known])
        others, outside = self.rows[sample:], self.truth[:sample]
        by_axes = undo_by_main_axes(others, outside)
        return RotationAttack(
            self.columns,
            known,
            sample,
            _recovered(by_rows[known:], self.truth[known:]),
            _recovered(by_axes, self.truth[sample:]),
            _share_near(by_rows[known:], self.truth[known:]),
            _share_near(by_axes, self.truth[sample:]),
            _share_near(np.zeros_like(self.truth), self.truth),
        )

    def display(self) -> Display:
        """Show its size and the warning."""
        size = f"{plural(len(self.rows), 'row')} of {plural(len(self.columns), 'column')}, rotated"
        return Display(size, (), (f"Distances changed by {self.distance_error():.1e} at most.", UNTRUSTED))


@dataclass(frozen=True, repr=False)
class RotationAttack(ShownAttack):
    """How much two attacks on a rotated table recover.

    `by_known_rows` and `by_main_axes` are the share of each column's variance that the guesses explain, at most 1;
    below 0 they are worse than guessing the mean. `known_success` and `axes_success` are the shares of cells whose
    guess is off by less than a tenth of a standard deviation, `baseline` that of guessing the mean everywhere.
    """

    columns: tuple[str, ...]
    known: int
    sample: int
    by_known_rows: tuple[float, ...]
    by_main_axes: tuple[float, ...]
    known_success: float
    axes_success: float
    baseline: float

    def results(self) -> tuple[AttackResult, ...]:
        """Reduce the findings to lines."""
        counts = "cells guessed to a tenth of a standard deviation, by"
        return (
            AttackResult(
                "known rows",
                f"The adversary knows {plural(self.known, 'row')}, which rotated rows they are, and mean and spread "
                "of each column.",
                f"{counts} known rows",
                self.known_success,
                self.baseline,
                says=(
                    f"Known rows recover at least {percent(min(self.by_known_rows))} of a column's variance.",
                    UNTRUSTED,
                ),
            ),
            AttackResult(
                "main axes",
                f"The adversary has {plural(self.sample, 'other row')} of the same distribution, none of the table.",
                f"{counts} main axes",
                self.axes_success,
                self.baseline,
                says=(
                    f"Main axes recover {percent(float(np.mean(self.by_main_axes)))} of the variance on average.",
                    "Of an axis along which values are symmetric they cannot tell the sign.",
                ),
            ),
        )

    def display(self) -> Display:
        """Show the lines, and the share of variance that came back by column."""
        lines = [
            (name, *(f"{max(share, 0.0):.1%}" for share in shares))
            for name, *shares in zip(self.columns, self.by_known_rows, self.by_main_axes, strict=True)
        ]
        shown = super().display()
        return Display(
            shown.title,
            (*shown.tables, FigureTable(("variance recovered", "known rows", "main axes"), lines)),
            shown.sentences,
        )

    def as_json(self) -> dict[str, Any]:
        """Give the lines, and the shares of variance by column."""
        return {
            "attacks": [result.as_json() for result in self.results()],
            "columns": {
                name: {"by_known_rows": known, "by_main_axes": axes}
                for name, known, axes in zip(self.columns, self.by_known_rows, self.by_main_axes, strict=True)
            },
        }


def rotate(frame: Any, columns: Sequence[str] | None = None, *, seed: int | None = None) -> RotatedTable:
    """Standardize columns of numbers, rotate all rows by one secret random matrix, and shuffle them.

    Do not rely on it: distances stay, and a few known rows give all others away, as `RotatedTable.attack` shows.

    >>> generator = np.random.default_rng(5)
    >>> rotated = rotate({name: generator.gamma(2.0, size=500) for name in "abc"}, seed=1)
    >>> rotated.distance_error() < 1e-12
    True
    >>> attack = rotated.attack(known=4)
    >>> attack.known_success, attack.baseline < 0.1
    (1.0, True)
    """
    if columns is None:
        columns = list(frame) if isinstance(frame, dict) else outside_column_names(frame, {})
    if len(columns) < 2:
        raise InputError("a rotation needs at least two columns of numbers")
    values = read_number_columns(frame, columns, least=2)
    spread = values.std(axis=0)
    if (spread == 0).any():
        raise DataError(f"column {quote(columns[int(np.argmin(spread))])} has one value only; leave it out")
    randomness = Randomness(seed, "rotation")
    truth = ((values - values.mean(axis=0)) / spread)[randomness.permutation(len(values))]
    matrix = draw_orthogonal(len(columns), randomness)
    return RotatedTable(tuple(columns), truth @ matrix, matrix, truth)


def draw_orthogonal(size: int, randomness: Randomness) -> Floats:
    """Draw an orthogonal matrix, all being as likely (Haar): Q of a normal matrix, with R's diagonal made positive.

    >>> matrix = draw_orthogonal(4, Randomness(seed=2))
    >>> bool(np.allclose(matrix @ matrix.T, np.eye(4)))
    True
    """
    normal = GaussianNoise(1.0, (0.0, 1.0)).draw(size * size, randomness).reshape(size, size)
    orthogonal, upper = np.linalg.qr(normal)
    return np.asarray(orthogonal * np.sign(np.diag(upper)))


def undo_by_known_rows(rotated: Floats, known: Floats, known_rotated: Floats) -> Floats:
    """Guess all n true rows from m that are known, with the rotated row of each: float[n, d].

    Procrustes: with the singular values of known_rotatedᵀ known as U S Vᵀ, U Vᵀ is the orthogonal matrix that lays the
    rotated rows on the known ones best; d independent rows determine it. With fewer only the part of each row that lies
    among the known ones is guessed, and 0, the mean, for the rest.
    """
    left, strength, right = np.linalg.svd(known_rotated.T @ known)
    found = int((strength > 1e-9 * max(float(strength[0]), 1e-300)).sum())
    return np.asarray(rotated @ left[:, :found] @ right[:found])


def undo_by_main_axes(rotated: Floats, sample: Floats) -> Floats:
    """Guess all n true rows from a sample of other rows of the same distribution: float[n, d].

    A rotation turns the main axes of the data and leaves the variances along them. So axes of equal rank belong
    together, but for their sign, which is the one under which the values along both are distributed more alike (by
    their quantiles: an axis whose values are symmetric leaves it open).
    """
    _, theirs = np.linalg.eigh(np.cov(rotated, rowvar=False))
    _, ours = np.linalg.eigh(np.cov(sample, rowvar=False))
    levels = np.linspace(0.02, 0.98, 49)
    along_theirs = np.quantile((rotated - rotated.mean(axis=0)) @ theirs, levels, axis=0)
    along_ours = np.quantile((sample - sample.mean(axis=0)) @ ours, levels, axis=0)
    same = ((along_theirs - along_ours) ** 2).sum(axis=0)
    turned = ((-along_theirs[::-1] - along_ours) ** 2).sum(axis=0)
    return np.asarray(rotated @ (theirs * np.where(same <= turned, 1.0, -1.0)) @ ours.T)


def _recovered(guesses: Floats, truth: Floats) -> tuple[float, ...]:
    """Give the share of each column's variance that guesses explain."""
    left = ((guesses - truth) ** 2).mean(axis=0)
    return tuple((1 - left / np.maximum(truth.var(axis=0), 1e-300)).tolist())


def _share_near(guesses: Floats, truth: Floats) -> float:
    return float((np.abs(guesses - truth) < _NEAR).mean())
