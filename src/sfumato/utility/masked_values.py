"""Masked columns of a release beside the original: distributions, since rows are shuffled and cannot be told apart.

What masking did row by row is in the audit, where it was measured when the release was made.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.arrays import FloatArray
from sfumato.core.arrow import arrow_texts
from sfumato.encode import CodedColumn, encode_column
from sfumato.errors import DataError
from sfumato.masking.grid_numbers import read_grid_numbers
from sfumato.masking.masking_figures import ks_distance, mean_of
from sfumato.masking.noise_addition import standard_deviation
from sfumato.page.wording import percent
from sfumato.split.two_tables import read_published_columns
from sfumato.table import Table


@dataclass(frozen=True)
class PublishedChanges:
    """How the published values of a masked column are distributed, beside the true ones.

    `frequencies` is the total variation distance between the frequencies of values. Of numbers and dates (in days)
    there are means and standard deviations, true and published, and `distance`, that of Kolmogorov and Smirnov.
    `correlation` is the largest change of a correlation with another masked column of numbers in the same table.
    """

    frequencies: float
    mean: tuple[float, float] | None = None
    deviation: tuple[float, float] | None = None
    distance: float | None = None
    correlation: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Give the figures by their names."""
        content: dict[str, Any] = {"frequencies": self.frequencies}
        if self.mean is not None and self.deviation is not None:
            moments = {"mean": list(self.mean), "standard_deviation": list(self.deviation)}
            content |= moments | {"ks": self.distance, "correlation_change": self.correlation}
        return content

    def in_words(self) -> str:
        """Say it in a line.

        >>> PublishedChanges(0.25).in_words()
        '25.0% of frequencies'
        """
        said = [f"{percent(self.frequencies)} of frequencies"]
        if self.mean is not None and self.deviation is not None:
            said = [f"mean {self.mean[0]:.4g} → {self.mean[1]:.4g}"]
            said.append(f"standard deviation {self.deviation[0]:.4g} → {self.deviation[1]:.4g}")
            said.append(f"KS {self.distance:.3f}")
        if self.correlation is not None:
            said.append(f"correlations within {self.correlation:.3f}")
        return ", ".join(said)


def compare_masked_columns(public: Path, manifest: Mapping[str, Any], original: Table) -> dict[str, PublishedChanges]:
    """Compare the masked columns of a release that are not generalized with those of the original."""
    masked = [column for column in manifest["columns"] if column.get("masked") and not column.get("generalized")]
    found: dict[str, PublishedChanges] = {}
    for file in dict.fromkeys(column.get("table", manifest.get("table")) for column in masked):
        names = [column["name"] for column in masked if column.get("table", manifest.get("table")) == file]
        class_id = [manifest["class_id"]] if "class_id" in manifest else []
        published = read_published_columns(public / file, manifest, [*names, *class_id])
        truth = {name: encode_column(original, name) for name in names}
        rows = {name: (_numbers(truth[name]), _numbers(published[name])) for name in names}
        numeric = {name: (true, seen) for name, (true, seen) in rows.items() if true is not None and seen is not None}
        for name in names:
            frequencies = _total_variation(truth[name], published[name])
            found[name] = PublishedChanges(frequencies)
            if name in numeric:
                true, seen = (side[~np.isnan(side)] for side in numeric[name])
                if len(true) and len(seen):
                    found[name] = PublishedChanges(
                        frequencies,
                        (mean_of(true), mean_of(seen)),
                        (standard_deviation(true), standard_deviation(seen)),
                        ks_distance(true, seen),
                        _correlation_change(name, numeric),
                    )
    return found


def _numbers(column: CodedColumn) -> FloatArray | None:
    """The numbers or dates of a column row by row, float[rows], NaN where there is none; none where it holds others."""
    texts = [text for text in column.texts if text is not None]
    try:
        numbers = read_grid_numbers(arrow_texts(texts), column.name, "masks")
    except DataError:
        return None
    values = np.full(len(column.texts), np.nan)
    values[[place for place, text in enumerate(column.texts) if text is not None]] = numbers.row_floats()
    return np.asarray(values[column.codes])


def _total_variation(first: CodedColumn, second: CodedColumn) -> float:
    """Half the sum of the differences between the shares of values, missing ones included."""
    shares = []
    for column in (first, second):
        rows = np.bincount(column.codes, minlength=column.width) / max(len(column.codes), 1)
        shares.append(Counter(dict(zip(column.texts, rows.tolist(), strict=True))))
    return float(sum(abs(shares[0][text] - shares[1][text]) for text in {*shares[0], *shares[1]}) / 2)


def _correlation_change(name: str, numeric: Mapping[str, tuple[FloatArray, FloatArray]]) -> float | None:
    """The largest change of the correlation with another column; none where there is no other, or one is constant."""
    changes = []
    for other in numeric:
        if other != name:
            both = [_correlation(*pair) for pair in zip(numeric[name], numeric[other], strict=True)]
            changes += [abs(both[0] - both[1])] if both[0] is not None and both[1] is not None else []
    return max(changes, default=None)


def _correlation(first: FloatArray, second: FloatArray) -> float | None:
    there = ~np.isnan(first) & ~np.isnan(second)
    sides = [side[there] for side in (first, second)]
    sizes = [standard_deviation(side) for side in sides]
    if not there.any() or not all(sizes):
        return None
    scaled = [(side / size) - mean_of(side / size) for side, size in zip(sides, sizes, strict=True)]
    return float(np.clip((scaled[0] * scaled[1]).mean(), -1.0, 1.0))
