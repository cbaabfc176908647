"""Densities as values that are equally likely, and what their smoothness does to an answer.

A record says of a column: about this centre, give or take this spread. If nothing else is known of the value (a flat
prior), it is distributed as the density around the centre says. So a cell stands for as many points, each equally
likely: quantiles of its density, cut off at the bounds that the data dictionary declares, and rounded to the grid that
true values lie on. An answer is then an expected value like that of labels, and whatever can be asked of labels can be
asked of densities.

Centres are drawn around true values, and points around centres: so an answer is as smooth as the truth with the noise
of two draws on it. What one draw does can be seen, by asking the same of centres alone: D, the difference between the
two answers, is what the second draw did. The first did about as much to the truth, so that the answer is off by about
2·D. That goes into the standard error.

True values come in lumps: many people work 40 hours, and none of them 39.7. Of a lump that a condition just takes in,
or just leaves out, about half counts, so that all records whose densities the condition cuts are off in the same
direction. With V the variance of a count, the sum of p(1 - p), that is 3·V: the chances p of a lump at the end of a
range are even between 0 and 1, so that each is off by 1/2 and has 1/6 of V. Assumed is less, the fewer share a value:
V is multiplied with `LEAST_TOGETHER` to `MOST_TOGETHER`. A condition that is narrower than densities may take in a
whole lump and see next to nothing of it: V is as much as the count C then, of records that are densities; those that
are told as they are, since enough others are equal, count fully, and say nothing of this. A record shares its value
with the share `ties` of others, on average; so (V/C)⁴ · `ties` are added for each of the records that are densities.
The data dictionary has `ties`, how likely two records share a value (`add_smoothing_error`).
`benchmarks/RESULTS-uncertain.md` has how often two standard errors hold the truth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import BoolArray, FloatArray
from sfumato.core.arrow import arrow_flags, arrow_numbers, arrow_texts
from sfumato.errors import DataError, quote
from sfumato.labels.covered_values import CoveredValues
from sfumato.labels.data_dictionary import Entry

SEPARATOR = " ± "
"""What stands between a centre and its spread where both are one text."""
LEAST_TOGETHER, BY_TIES, MOST_TOGETHER = 0.3, 8.0, 2.0
"""What V is multiplied with: without ties, how much ties add, and at most."""
_DAY = 86_400_000_000.0
_MOST, _FEWEST, _IN_ALL = 128, 8, 4_000_000
"""Points of a density: at most, at least, and how many there are of all different densities together."""


def find_density_points(entry: Entry, labels: Sequence[str | None], *, centered: bool = False) -> CoveredValues:
    """List the points of each density, a text of its centre and its spread; or its centre alone.

    >>> entry = {"name": "age", "kind": "number", "density": "uniform", "step": 1, "bounds": [0, 120]}
    >>> points = find_density_points(entry, ["3.2 ± 4", None, "50 ± 0"])
    >>> int(pa.compute.min(points.values).as_py()), int(points.label_of.max()), points.values.to_pylist()[-2:]
    (0, 2, [None, 50.0])
    """
    densities = _Densities.read(entry, labels)
    wide = (densities.spreads > 0) & densities.there
    number = 1 if centered else max(min(_MOST, _IN_ALL // max(int(wide.sum()), 1)), _FEWEST)
    sizes = np.where(wide, number, 1)
    label_of = np.repeat(np.arange(len(labels), dtype=np.int64), sizes)
    values = np.empty(len(label_of))
    values[~wide[label_of]] = densities.centers[~wide]
    if number == 1:
        values[wide[label_of]] = densities.centers[wide]
    else:
        values[wide[label_of]] = densities.points(wide, number).ravel()
    values[wide[label_of]] = densities.on_grid(values[wide[label_of]])
    there = densities.there[label_of]
    return CoveredValues(
        label_of, densities.write(values, there), number=densities.kind == "number", sampled=bool(wide.any())
    )


@dataclass(frozen=True, eq=False)
class _Densities:
    """Centres and spreads of different densities, float[n] each, and whether there is a value at all, bool[n]."""

    kind: str
    uniform: bool
    step: float
    bounds: tuple[float, float]
    centers: FloatArray
    spreads: FloatArray
    there: BoolArray

    @classmethod
    def read(cls, entry: Entry, labels: Sequence[str | None]) -> "_Densities":
        """Read texts by the entry of their column; anybody may have changed either."""
        kind, step, bounds = entry.get("kind"), entry.get("step", 0), entry.get("bounds", [-np.inf, np.inf])
        density = entry.get("density")
        sound = kind in {"number", "date"} and density in {"gaussian", "uniform"} and isinstance(bounds, list)
        numbers = [step, *(bounds if isinstance(bounds, list) else [])]
        sound = sound and len(numbers) == 3 and all(isinstance(one, int | float) for one in numbers)
        pairs = [(label or SEPARATOR).split(SEPARATOR) for label in labels]
        there = np.array([label is not None for label in labels], dtype=bool)
        try:
            spreads = np.array([float(pair[1] or 0) for pair in pairs])
            if kind == "date":
                moments = np.array([pair[0] or "1970-01-01" for pair in pairs], dtype="datetime64[us]")
                centers = moments.astype(np.int64).astype(np.float64)
            else:
                centers = np.array([float(pair[0] or 0) for pair in pairs])
        except (ValueError, IndexError):
            sound, centers, spreads = False, np.zeros(0), np.zeros(0)
        if not sound or not (np.isfinite(centers).all() and (spreads >= 0).all() and np.isfinite(spreads).all()):
            raise DataError(
                f"column {quote(entry['name'])} does not hold densities as manifest.json says; it was changed after "
                "publication"
            )
        per_unit = _DAY if kind == "date" else 1.0
        low, high = float(numbers[1]), float(numbers[2])
        return cls(str(kind), density == "uniform", float(step), (low, high), centers, spreads * per_unit, there)

    def points(self, wide: BoolArray, number: int) -> FloatArray:
        """Give so many points of densities, each equally likely: float[densities, number]."""
        from scipy.special import ndtr, ndtri  # noqa: PLC0415 - takes a while

        center, spread = self.centers[wide, None], self.spreads[wide, None]
        even = (np.arange(number) + 0.5) / number
        # a value of the grid stands for all numbers that are rounded to it, at the bounds as well
        low, high = ((end + half - center) / spread for end, half in zip(self.bounds, self._halves, strict=True))
        if self.uniform:
            low, high = np.clip(low, -1, 1), np.clip(high, -1, 1)
            return np.asarray(center + spread * (low + (high - low) * even))
        below, above = ndtr(low), ndtr(high)
        found = np.asarray(center + spread * ndtri(below + (above - below) * even))
        return np.where(above - below > 1e-12, found, center)

    @property
    def _halves(self) -> tuple[float, float]:
        return -self.step / 2, self.step / 2

    def on_grid(self, values: FloatArray) -> FloatArray:
        """Round to the grid of true values, within the bounds."""
        if self.step >= 1:
            values = np.round(values / self.step) * self.step
        elif self.step > 0:
            values = np.round(values, round(-np.log10(self.step)))
        return np.clip(values, *self.bounds)

    def write(self, values: FloatArray, there: BoolArray) -> Any:
        """Write numbers as they are, and moments as texts in ISO form, days without the time."""
        if self.kind == "number":
            written = arrow_numbers(values)
        else:
            moments = values.astype(np.int64).astype("datetime64[us]")
            form = "datetime64[D]" if self.step >= _DAY else "datetime64[s]"
            different, place = np.unique(moments.astype(form), return_inverse=True)
            texts = [str(text).replace("T", " ") for text in np.datetime_as_string(different)]
            written = arrow_texts(texts).take(arrow_numbers(place.astype(np.int64)))
        if there.all():
            return written
        return pa.compute.if_else(arrow_flags(there), written, pa.scalar(None, written.type))


def add_smoothing_error(
    covariances: Mapping[tuple[int, int], float],
    sums: Sequence[float],
    centered: Sequence[float],
    ties: float,
    blurred: int,
    *,
    sure: float = 0.0,
) -> dict[tuple[int, int], float]:
    """Add to the covariances of sums what smoothing and lumps have them off by.

    `centered` are the same sums of centres alone; the last of both is the plain count. `ties` is the largest chance, of
    columns that conditions are about, that two records hold the same value; `blurred` how many records are densities in
    one of these columns, and `sure` what of the count is of others.

    >>> add_smoothing_error({(0, 0): 9.0}, [100.0], [95.0], 0.0, 500)[0, 0] == 9 + 4 * 25 + (LEAST_TOGETHER * 9) ** 2
    True
    """
    cut = covariances[len(sums) - 1, len(sums) - 1]
    together = min(LEAST_TOGETHER + BY_TIES * ties, MOST_TOGETHER)
    if cut > 0 and ties > 0:
        unsure = max(sums[-1] - sure, cut)
        # where densities barely reach into a condition, there is hardly a lump that it could take in
        narrow = max((cut / max(sums[-1], cut)) ** 4, (cut / unsure) ** 4 * min(2 * unsure, 1.0))
        together += narrow * ties * blurred / cut
    own = [float(np.sqrt(max(covariances[place, place] * cut, 0.0))) * together for place in range(len(sums))]
    off = [2 * (here - there) for here, there in zip(sums, centered, strict=True)]
    return {(k, m): float(value + off[k] * off[m] + own[k] * own[m]) for (k, m), value in covariances.items()}
