"""How far counts of ranges are off that are worked out from densities: expected values beside the truth."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sfumato.core.arrays import FloatArray
from sfumato.uncertain.uncertain_records import DrawnDensities, UncertainColumn, UncertainTable

_QUERIES = 100
_SHARE = 0.1
"""The share of rows that a range holds of each of its columns, but for atoms and ties."""


@dataclass(frozen=True)
class RangeCounts:
    """The relative error of so many counts of rows in random ranges of one column, and of two, at the median.

    `one` and `two` are relative to the true count, or to a hundredth of the rows where that is larger; `two` is None
    where there are not two columns.
    """

    one: float
    two: float | None
    asked: int

    def as_json(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        return asdict(self)


def measure_range_counts(table: UncertainTable, drawn: DrawnDensities) -> RangeCounts:
    """Count rows in random ranges by expected value, and compare with the truth; which ranges, is drawn by a seed."""
    rng = np.random.default_rng(1)  # what is asked, and protects nobody
    least = max(table.rows / 100, 1.0)
    errors: dict[int, list[float]] = {1: [], 2: []}
    for number in (1, 2):
        if len(table.columns) < number:
            continue
        for _ in range(_QUERIES):
            chance, true = np.ones(table.rows), np.ones(table.rows, dtype=bool)
            for place in rng.choice(len(table.columns), number, replace=False).tolist():
                column = table.columns[place]
                share = _SHARE ** (1 / number)
                start = rng.random() * (1 - share)
                known = column.numbers[~np.isnan(column.numbers)]
                low, high = np.quantile(known, [start, start + share]).tolist()
                true &= (column.numbers >= low) & (column.numbers <= high)
                chance *= range_chances(column, drawn, place, low, high)
            errors[number].append(abs(float(chance.sum()) - int(true.sum())) / max(int(true.sum()), least))
    medians = {number: float(np.median(found)) if found else None for number, found in errors.items()}
    return RangeCounts(medians[1] or 0.0, medians[2], _QUERIES)


def range_chances(column: UncertainColumn, drawn: DrawnDensities, place: int, low: float, high: float) -> FloatArray:
    """Give the chance that each record lies in a range, its ends included, by its density: float[rows]."""
    from scipy.special import ndtr  # noqa: PLC0415 - takes a while

    center, half = drawn.centers[place], column.step / 2  # a value of the grid stands for all that is rounded to it
    spread = np.nan_to_num(drawn.spreads[place]) * column.per_unit
    told = spread == 0
    with np.errstate(invalid="ignore"):
        exact = (center >= low) & (center <= high)
    width = np.where(told, 1.0, spread)

    def below(end: float) -> FloatArray:
        off = (end - np.nan_to_num(center)) / width
        found: FloatArray = np.clip((off + 1) / 2, 0, 1) if drawn.density.name == "uniform" else ndtr(off)
        return found

    whole: FloatArray = np.ones(len(center))
    if column.bounds is not None:
        first, last = column.bounds
        low, high = max(low, first), min(high, last)
        inside = below(last + half) - below(first - half)
        whole = np.where(inside > 1e-12, inside, 1.0)
    chance = np.clip(below(high + half) - below(low - half), 0, None) / whole
    return np.where(told | np.isnan(center), exact, np.minimum(chance, 1.0))
