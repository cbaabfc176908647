"""What masking changed, column by column, and what can be recovered of noise: for the data holder alone.

Figures compare the true values with the masked ones row by row, before anything is generalized or left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.errors import listing, quote
from sfumato.masking.grid_numbers import GridNumbers, read_grid_numbers
from sfumato.masking.mask_table import AppliedMasks, MaskedTable
from sfumato.masking.noise_addition import power_below, standard_deviation
from sfumato.page.wording import percent

if TYPE_CHECKING:
    from sfumato.masking.noise_recovery import RecoveredColumn

_EPOCH = date(1970, 1, 1)
_HARDLY = 0.5
"""Noise that changes fewer of the cells than this is smaller than the steps that values are written in."""


@dataclass(frozen=True)
class NumberChanges:
    """How the numbers or dates of a column differ before and after: figures of the rows that have a value.

    Of dates, means are dates and standard deviations are in days. `correlation` is that between before and after, and
    ``None`` where either does not vary; `distance` is Kolmogorov and Smirnov's between the two distributions;
    `displacement` is how far a value moves among the ranks on average, as a share of them.
    """

    mean: tuple[float | str, float | str]
    deviation: tuple[float, float]
    correlation: float | None
    distance: float
    displacement: float

    def as_json(self) -> dict[str, Any]:
        """Give the figures by their names."""
        return {
            "mean": list(self.mean),
            "standard_deviation": list(self.deviation),
            "correlation": self.correlation,
            "ks": self.distance,
            "rank_displacement": self.displacement,
        }


@dataclass(frozen=True)
class MaskedColumn:
    """One masked column: what was done with it, the share of its cells that changed, and how.

    `numbers` are there where it holds numbers or dates; `frequencies` is the total variation distance between the
    frequencies of its values before and after.
    """

    applied: AppliedMasks
    changed: float
    frequencies: float
    numbers: NumberChanges | None = None

    def as_json(self) -> dict[str, Any]:
        """Give it for ``anonymize --json`` and the audit."""
        content: dict[str, Any] = {
            "methods": self.applied.masks.methods(),
            "cells": self.applied.cells,
            "changed": self.changed,
            "frequencies": self.frequencies,
        }
        if self.numbers is not None:
            content |= self.numbers.as_json()
        found = {
            "noise_deviation": self.applied.deviation,
            "ranks": self.applied.reach,
            "values": self.applied.values,
            "epsilon": self.applied.epsilon,
        }
        return content | {key: value for key, value in found.items() if value is not None}


@dataclass(frozen=True)
class MaskingFigures:
    """What masking changed in a table, and what can be recovered of the noise of its columns."""

    columns: Mapping[str, MaskedColumn]
    recovery: "tuple[RecoveredColumn, ...]" = ()

    def __bool__(self) -> bool:
        return bool(self.columns)

    def as_json(self) -> dict[str, Any]:
        """Give it for ``anonymize --json`` and the audit: the columns, with what is recovered of those with noise."""
        recovered = {one.column: one.as_json() for one in self.recovery}
        return {
            name: column.as_json() | ({"recovery": recovered[name]} if name in recovered else {})
            for name, column in self.columns.items()
        }

    def warnings(self) -> list[str]:
        """Say which masks do little, a sentence each."""
        said = []
        applied = {name: one.applied for name, one in self.columns.items()}
        constant = [name for name, one in applied.items() if one.deviation == 0 and one.cells]
        if constant:
            said.append(
                f"noise is a share of the standard deviation of a column, which is 0 in {listing(constant)}: there is "
                "one value, and it is published as it is"
            )
        alone = [name for name, one in applied.items() if one.values == 1]
        if alone:
            said.append(f"post-randomization draws among the values of a column, and there is one in {listing(alone)}")
        for name, one in self.columns.items():
            if one.applied.deviation and one.changed < _HARDLY:
                said.append(
                    f"noise on {quote(name)} is smaller than the steps that its values are written in: "
                    f"{percent(1 - one.changed)} of its cells are as they came; raise the share"
                )
        if self.recovery:
            from sfumato.masking.noise_recovery import recovery_warnings  # noqa: PLC0415 - imports scipy

            said += recovery_warnings(self.recovery)
        return said


def measure_masking(masked: MaskedTable) -> MaskingFigures:
    """Compare the masked columns of a table with what they were.

    >>> from sfumato.masking.mask_table import mask_table
    >>> from sfumato.policy import Policy
    >>> from sfumato.table import Table
    >>> columns = {"age": {"role": "quasi", "hierarchy": "suppress", "top": 60}}
    >>> rules = Policy(columns=columns, privacy=[{"model": "k-anonymity", "k": 1}])
    >>> found = measure_masking(mask_table(Table(pa.table({"age": [70, 20, 50, 40]})), rules)).columns["age"]
    >>> found.changed, found.numbers.mean, found.numbers.distance
    (0.25, (45.0, 42.5), 0.25)
    """
    columns, truth, seen = {}, dict[str, FloatArray](), dict[str, FloatArray]()
    for name, applied in masked.columns.items():
        before, after = masked.original.arrow.column(name), masked.table.arrow.column(name)
        numbers = None
        if _has_numbers(applied):
            kind = masked.original.type_of(name)
            read = [read_grid_numbers(one, name, "masks", kind) for one in (before, after)]
            rows = [_row_numbers(one) for one in read]
            there = ~np.isnan(rows[0]) & ~np.isnan(rows[1])
            if there.any():
                numbers = compare_numbers(rows[0][there], rows[1][there], is_date=read[0].is_date)
            if applied.deviation:
                truth[name], seen[name] = rows[0], rows[1]
        changed, frequencies = _compare_cells(before, after)
        if numbers is not None:  # 1e300 and 1e+300 are one number
            changed = float((rows[0][there] != rows[1][there]).mean())
        columns[name] = MaskedColumn(applied, changed, frequencies, numbers)
    recovery: tuple[RecoveredColumn, ...] = ()
    if truth and masked.state.noise is not None:
        from sfumato.masking.noise_recovery import measure_recovery  # noqa: PLC0415 - imports scipy

        recovery = measure_recovery(truth, seen, masked.state.noise)
    return MaskingFigures(columns, recovery)


def compare_numbers(before: FloatArray, after: FloatArray, *, is_date: bool = False) -> NumberChanges:
    """Compare n numbers row by row, float[n] each.

    >>> found = compare_numbers(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))
    >>> found.distance, round(found.displacement, 4), round(found.correlation, 4)
    (0.0, 0.2222, 0.5)
    """
    ranks = [_average_ranks(one) for one in (before, after)]
    means = tuple(_write_mean(mean_of(one), is_date=is_date) for one in (before, after))
    return NumberChanges(
        (means[0], means[1]),
        (standard_deviation(before), standard_deviation(after)),
        _correlation(before, after),
        ks_distance(before, after),
        float(np.abs(ranks[0] - ranks[1]).mean() / len(before)),
    )


def ks_distance(first: FloatArray, second: FloatArray) -> float:
    """The largest difference between two cumulative distributions, of any numbers of values.

    >>> ks_distance(np.array([1.0, 2.0]), np.array([2.0, 3.0, 3.0]))
    0.6666666666666667
    """
    values = np.sort(np.concatenate([first, second]))  # looked up in order, which is much quicker
    below = [np.searchsorted(np.sort(one), values, side="right") / len(one) for one in (first, second)]
    return float(np.abs(below[0] - below[1]).max())


def _has_numbers(applied: AppliedMasks) -> bool:
    masks = applied.masks
    return any(one is not None for one in (masks.top, masks.bottom, masks.noise, masks.swap, masks.round))


def _row_numbers(numbers: GridNumbers) -> FloatArray:
    """The numbers of a column row by row, float[rows]; NaN where there is none."""
    rows = np.full(len(numbers.codes), np.nan)
    rows[numbers.there] = numbers.row_floats()
    return rows


def _compare_cells(before: Any, after: Any) -> tuple[float, float]:
    """The share of cells that changed, and the total variation distance between the frequencies of values."""
    both = pa.concat_arrays([_plain_cells(before), _plain_cells(after)]).dictionary_encode()
    codes = np.asarray(pc.fill_null(both.indices, -1)).astype(np.int64)
    first, second = np.split(codes, 2)
    there = first >= 0
    rows = int(there.sum())
    if not rows:
        return 0.0, 0.0
    counts = [np.bincount(one[there], minlength=len(both.dictionary)) for one in (first, second)]
    return float((first != second)[there].mean()), float(np.abs(counts[0] - counts[1]).sum() / (2 * rows))


def _plain_cells(column: Any) -> Any:
    whole = column.combine_chunks()
    return whole.dictionary_decode() if pa.types.is_dictionary(whole.type) else whole


def mean_of(values: FloatArray) -> float:
    """The mean of values of any size, without overflow.

    >>> mean_of(np.array([1.5e308, 1.5e308])) == 1.5e308
    True
    """
    unit = power_below(values)
    return float((values / unit).mean()) * unit


def _write_mean(mean: float, *, is_date: bool) -> float | str:
    return (_EPOCH + timedelta(days=round(mean))).isoformat() if is_date else mean


def _correlation(before: FloatArray, after: FloatArray) -> float | None:
    sides = []
    for one in (before, after):
        scaled = one / power_below(one)
        centred = scaled - scaled.mean()
        length = float(np.sqrt((centred**2).sum()))
        if length <= 1e-12 * np.sqrt(len(one)) or one.min() == one.max():
            return None
        sides.append(centred / length)
    return float(np.clip(sides[0] @ sides[1], -1.0, 1.0))


def _average_ranks(values: FloatArray) -> FloatArray:
    """The rank of each value from 0, equal ones all with the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends: IntArray = np.cumsum(counts)
    return np.asarray((ends - (counts + 1) / 2)[place.reshape(-1)])
