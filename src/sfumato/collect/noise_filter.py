"""What a filter recovers from the reports of a collection, as an adversary would who has them and the published noise.

The filter itself is in `channels.wiener_filter`; here it gets the columns of a file or a frame, and the covariance that
a `Noise` states.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.additive_noise import AdditiveNoise
from sfumato.channels.wiener_filter import (
    FilteredColumn,
    SpectralFilter,
    filter_rows,
    predict_filter,
    wiener_filter,
)
from sfumato.collect.noise import Noise
from sfumato.collect.number_columns import read_number_columns
from sfumato.errors import DataError, InputError, listing
from sfumato.reading.outside_table import outside_column_names

__all__ = [
    "FilteredColumn",
    "SpectralFilter",
    "additive_columns",
    "filter_rows",
    "filter_warnings",
    "noise_covariance",
    "predict_filter",
    "spectral_filter",
    "wiener_filter",
]

Floats = NDArray[np.float64]

_ROWS_PER_COLUMN = 10


def filter_warnings(reports: Any, noise: "Noise | Any") -> tuple[str, ...]:
    """Say what a filter over the columns of numbers recovers, where perturbed rows have several and it is much.

    >>> filter_warnings({"a": [1.0], "b": [2.0]}, {"format": "sfumato-noise/1", "columns": {
    ...     "a": {"kind": "gaussian", "sigma": 1, "domain": [0, 9]}}})
    ()
    """
    known = Noise.load(noise)
    there = outside_column_names(reports, {}) if not isinstance(reports, Mapping) else list(reports)
    chosen = [name for name, one in known.columns.items() if isinstance(one, AdditiveNoise) and name in there]
    try:
        return spectral_filter(reports, known, chosen).warnings() if len(chosen) > 1 else ()
    except DataError:  # too few rows to tell, or a cell in a column that nobody asked for
        return ()


def spectral_filter(reports: Any, noise: "Noise | Any", columns: Sequence[str] | None = None) -> SpectralFilter:
    """Filter the noise out of perturbed rows, as an adversary would who has them and the noise, and nothing else.

    `reports` is a file, a frame or a mapping of arrays; `columns` are all columns with additive noise if left out.
    Rows that lack one of them are left out.

    >>> from sfumato.channels.additive_noise import GaussianNoise
    >>> from sfumato.core.randomness import Randomness
    >>> wave = np.sin(np.arange(4000.0)) * 30 + 50
    >>> sensor = GaussianNoise(20.0, (0.0, 100.0))
    >>> noise = Noise({"a": sensor, "b": sensor, "c": sensor, "d": sensor})
    >>> rows = {name: sensor.perturb(wave, Randomness(seed)) for seed, name in enumerate("abcd")}
    >>> filtered = spectral_filter(rows, noise)
    >>> [round(one.joint, -2) for one in filtered.columns]  # of 400, the variance of the noise
    [100.0, 100.0, 100.0, 100.0]
    >>> len(filtered.warnings())
    4
    """
    noise = Noise.load(noise)
    chosen = additive_columns(noise, columns)
    rows = read_number_columns(reports, chosen, least=_ROWS_PER_COLUMN * len(chosen))
    return filter_rows(rows, noise_covariance(noise, chosen), chosen)


def additive_columns(noise: Noise, columns: Sequence[str] | None = None) -> list[str]:
    """Check that columns have additive noise; all that have, if none are named."""
    if columns is None:
        columns = [name for name, one in noise.columns.items() if isinstance(one, AdditiveNoise)]
    wrong = [name for name in columns if not isinstance(noise.column(name), AdditiveNoise)]
    if wrong:
        raise InputError(f"a filter needs columns with additive noise, and that of {listing(wrong)} is of another kind")
    if len(columns) < 2:
        raise InputError("a filter needs at least two columns with additive noise; one alone cannot be correlated")
    return list(columns)


def noise_covariance(noise: Noise, columns: Sequence[str]) -> Floats:
    """Give the covariance of the noise of d columns, float[d, d], with its correlation where the noise has one."""
    deviations = np.sqrt([one.variance for one in map(noise.column, columns) if isinstance(one, AdditiveNoise)])
    correlation = np.eye(len(columns))
    if noise.correlation is not None:
        place = {name: number for number, name in enumerate(columns)}
        shared = [(place[name], number) for number, name in enumerate(noise.correlation.columns) if name in place]
        ours, theirs = [pair[0] for pair in shared], [pair[1] for pair in shared]
        correlation[np.ix_(ours, ours)] = noise.correlation.as_array[np.ix_(theirs, theirs)]
    return np.asarray(deviations[:, None] * correlation * deviations)
