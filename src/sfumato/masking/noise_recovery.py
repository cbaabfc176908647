"""What can be recovered of values that noise was added to, by a filter over the columns and by Bayes' rule.

The adversary has the masked rows and knows how large the noise is. A filter (`channels.wiener_filter`) uses that
columns go together and independent noise does not. Bayes' rule uses how a column is distributed, which the masked
values tell (Agrawal and Srikant 2000): a value that many people share, such as no income at all, shows through the
noise. The data holder has the truth, so errors are measured here and not only predicted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.channels.additive_noise import GaussianNoise
from sfumato.channels.channel import BinnedChannel
from sfumato.channels.expectation_maximization import MixtureLikelihood, maximize_likelihood
from sfumato.channels.wiener_filter import filter_rows, informed_errors
from sfumato.core.arrays import FloatArray
from sfumato.errors import listing, quote
from sfumato.masking.noise_addition import NoiseShape, standard_deviation
from sfumato.page.wording import percent

_TAKEN_OFF = 0.75
"""Noise is taken off where a guess has at most so much of the squared error that the column's own value leaves."""
_LEFT_OPEN = 0.2
"""Noise hides little where at most so much of the variance of the true values is left unknown."""
_WIDEST = 200.0
"""Bayes' rule looks at so many standard deviations of the noise at most, those with the most values."""
_BINS_PER_DEVIATION = 3
_STEPS = 90
_ROWS_PER_COLUMN = 10


@dataclass(frozen=True)
class RecoveredColumn:
    """How far an adversary's guesses of one column are off: mean squared errors in units of the column's variance.

    `masked` is that of taking the masked value for the true one; `filtered` that of the filter, ``None`` where one
    column alone has noise; `bayes` that of Bayes' rule; `informed` that of somebody who also knows the true value of
    another column with noise, the one that tells most, as predicted.
    """

    column: str
    masked: float
    filtered: float | None
    bayes: float
    informed: float | None

    @property
    def alone(self) -> float:
        """The error of the best linear guess from the column's own masked value: v n / (v + n), with v = 1."""
        return self.masked / (1 + self.masked)

    @property
    def least(self) -> float:
        """The error of the best guess of somebody who knows no true value."""
        return min(error for error in (self.masked, self.filtered, self.bayes, 1.0) if error is not None)

    @property
    def recovered(self) -> float:
        """The share of the variance of the true values that the best guess recovers, from 0 to 1."""
        return 1 - self.least

    @property
    def is_taken_off(self) -> bool:
        """Whether a guess is much better than the best linear one from the masked value itself."""
        return self.masked > 0 and self.least <= _TAKEN_OFF * self.alone

    def as_json(self) -> dict[str, Any]:
        """Give the figures by their names."""
        errors = {"masked": self.masked, "filtered": self.filtered, "bayes": self.bayes, "informed": self.informed}
        return {**errors, "recovered": self.recovered}


def measure_recovery(
    truth: Mapping[str, FloatArray], masked: Mapping[str, FloatArray], shape: NoiseShape
) -> tuple[RecoveredColumn, ...]:
    """Measure what is recovered of d columns with noise of a shape.

    truth, masked: float[rows] for each column, NaN where a value is missing

    >>> from sfumato.core.randomness import Randomness
    >>> size = GaussianNoise(1.0, (0.0, 1.0))
    >>> true = size.draw(4000, Randomness(1))
    >>> noisy = {name: true + 0.5 * size.draw(4000, Randomness(1, name)) for name in "ab"}
    >>> shape = NoiseShape(("a", "b"), (0.5, 0.5), ((1.0, 0.0), (0.0, 1.0)))
    >>> found = measure_recovery({"a": true, "b": true}, noisy, shape)[0]
    >>> [round(20 * error) for error in (found.masked, found.filtered, found.bayes)]  # 1 / 4, 1 / 9 and 1 / 5
    [5, 2, 4]
    """
    names = list(truth)
    units = np.array([standard_deviation(one[~np.isnan(one)]) or 1.0 for one in truth.values()])
    true_rows = np.column_stack([truth[name] / unit for name, unit in zip(names, units, strict=True)])
    seen_rows = np.column_stack([masked[name] / unit for name, unit in zip(names, units, strict=True)])
    noise = shape.covariance(dict(zip(names, units.tolist(), strict=True)))
    filtered = _filter_errors(true_rows, seen_rows, noise, names)
    informed = _informed(true_rows, noise)
    found = []
    for place, name in enumerate(names):
        there = ~np.isnan(true_rows[:, place]) & ~np.isnan(seen_rows[:, place])
        true, seen = true_rows[there, place], seen_rows[there, place]
        deviation = float(np.sqrt(noise[place, place]))
        guesses = bayes_guesses(seen, deviation) if deviation > 0 else seen  # beside coded values it may vanish
        found.append(
            RecoveredColumn(
                name,
                float(((seen - true) ** 2).mean()),
                None if filtered is None else float(filtered[place]),
                float(((guesses - true) ** 2).mean()),
                None if informed is None else float(informed[place]),
            )
        )
    return tuple(found)


def bayes_guesses(seen: FloatArray, deviation: float) -> FloatArray:
    """Guess true values from n masked ones by Bayes' rule, with the distribution that the masked ones tell.

    The line is cut into bins of a third of the noise's standard deviation, and their shares are fitted by expectation
    maximization; a guess is the mean of the posterior. Where values are spread over more than 200 standard deviations,
    only the window of that width with the most values is looked at, and the others are guessed to be as they look.

    >>> seen = np.concatenate([np.linspace(-0.3, 0.3, 50), np.linspace(9.7, 10.3, 50)])
    >>> bool(np.abs(bayes_guesses(seen, 0.2) - np.repeat([0.0, 10.0], 50)).max() < 0.2)
    True
    """
    order = np.sort(seen)
    low, high = float(order[0]), float(order[-1])
    if high - low > _WIDEST * deviation:
        ends = np.searchsorted(order, order + _WIDEST * deviation, side="right")
        first = int(np.argmax(ends - np.arange(len(order))))
        low, high = float(order[first]), float(order[first]) + _WIDEST * deviation
    low, high = low - deviation, high + deviation
    noise = GaussianNoise(deviation, (low, high))
    channel = BinnedChannel.of(noise, int(np.ceil((high - low) / deviation * _BINS_PER_DEVIATION)))
    inside = (seen >= low) & (seen <= high)
    cells = channel.observe(seen[inside].copy())
    counts = np.bincount(cells, minlength=channel.matrix.shape[0]).astype(np.float64)
    fitted = maximize_likelihood(MixtureLikelihood(channel.matrix, counts[None, None, :]), evaluations=_STEPS)
    joint = channel.matrix * fitted.shares[0, 0]  # float[cells, bins]
    middles = (channel.edges[:-1] + channel.edges[1:]) / 2
    means = (joint @ middles) / np.maximum(joint.sum(axis=1), 1e-300)
    guesses = seen.copy()
    guesses[inside] = means[cells]
    return guesses


def recovery_warnings(columns: Sequence[RecoveredColumn]) -> list[str]:
    """Say of which columns noise can be taken off, and of which it hides little, a sentence each."""
    said = []
    off = [one for one in columns if one.is_taken_off]
    if off:
        worst = min(off, key=lambda one: one.least / one.alone)
        part = percent(1 - worst.least / worst.alone)
        by, way = "Bayes' rule", "raise the share, or code and round what many people share"
        if worst.filtered == worst.least:
            by, way = "a filter over the columns", "leave correlated at true, or raise the share"
        said.append(
            f"noise can be taken off {listing([one.column for one in off])}: of that on {quote(worst.column)} {by} "
            f"removes {part} of the squared error; {way}"
        )
    little = [one for one in columns if one.least <= _LEFT_OPEN and one not in off]
    if little:
        most = max(little, key=lambda one: one.least)
        said.append(
            f"noise on {listing([one.column for one in little])} hides exact values and little else: who takes a "
            f"masked value for the true one knows at least {percent(most.recovered)} of what values vary by; raise the "
            "share where that is too much"
        )
    return said


def _filter_errors(truth: FloatArray, seen: FloatArray, noise: FloatArray, names: list[str]) -> FloatArray | None:
    """Measure the errors of the filter over rows that have all columns, float[d]; none where it cannot be made."""
    whole = ~np.isnan(truth).any(axis=1) & ~np.isnan(seen).any(axis=1)
    if len(names) < 2 or int(whole.sum()) < _ROWS_PER_COLUMN * len(names):
        return None
    try:
        guesses = filter_rows(seen[whole], _regular(noise), names).guesses
    except np.linalg.LinAlgError:
        return None
    return np.asarray(((guesses - truth[whole]) ** 2).mean(axis=0))


def _informed(truth: FloatArray, noise: FloatArray) -> tuple[float, ...] | None:
    """Predict the errors of somebody who knows another value, float[d]; none for one column or too few rows."""
    whole = truth[~np.isnan(truth).any(axis=1)]
    if truth.shape[1] < 2 or len(whole) < _ROWS_PER_COLUMN * truth.shape[1]:
        return None
    try:
        return informed_errors(_regular(np.cov(whole, rowvar=False)), _regular(noise))
    except np.linalg.LinAlgError:
        return None


def _regular(matrix: FloatArray) -> FloatArray:
    """Bring a covariance a little away from being singular, as that of columns which follow from one another is."""
    return np.asarray(matrix + np.eye(len(matrix)) * max(1e-9 * float(np.trace(matrix)) / len(matrix), 1e-300))
