"""Measure a recoding: how much of each attribute is left, and how coarse the classes are.

A suppressed row counts as a row of which nothing is left: every cell lost, its class the whole table. All
losses are between 0 (nothing lost) and 1; attributes count by their weight.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.encode import EncodedTable, QuasiIdentifier
from sfumato.labels.label_loss import count_rows_between, find_losses, loss_arrays
from sfumato.recode import Labels, Recoding


@dataclass(frozen=True)
class AttributeLoss:
    """The losses of one quasi-identifier.

    `ncp`: share of the other leaves that a label covers, on average. `distortion`: levels climbed, of its
    height (equal to one minus precision, for a single attribute). `entropy`: bits lost, of the bits there were.
    `suppressed_cells`: cells that show nothing any more, those of suppressed rows included. `exact_cells`: published
    cells that are not generalized. `labels`: how many different ones are published.
    """

    ncp: float
    distortion: float
    entropy: float
    suppressed_cells: int
    exact_cells: int
    labels: int


@dataclass(frozen=True)
class Utility:
    """The losses of a release, in total and per attribute."""

    distortion_ratio: float
    ncp: float
    precision: float
    entropy: float
    discernibility: int
    average_class_size: float
    suppressed_rows: int
    suppressed_cells: int
    attributes: dict[str, AttributeLoss]

    def as_json(self) -> dict[str, Any]:
        """For ``--json`` and the audit."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Shown:
    """How one attribute is published: per label, the rows of the whole table and the published rows that it covers.

    `loss` is the NCP of each label, `climbed` the levels that it stands above the leaves.
    """

    attribute: QuasiIdentifier
    every: IntArray
    loss: FloatArray
    climbed: FloatArray
    kept: IntArray


def measure(encoded: EncodedTable, recoding: Recoding) -> Utility:
    """Measure what was published against what came in."""
    shown = [_shown(attribute, recoding.labels[attribute.name], recoding) for attribute in encoded.quasi]
    return measured(shown, recoding.classes.sizes, encoded.rows)


def measured(shown: list[Shown], sizes: IntArray, rows: int) -> Utility:
    """The losses of attributes shown this way, in classes of these sizes, of a table with so many rows."""
    gone = rows - int(sizes.sum())
    parts = {one.attribute.name: _attribute(one, gone, rows) for one in shown}
    weights = np.array([one.attribute.weight for one in shown])
    heights = weights * [one.attribute.hierarchy.height for one in shown]
    bits = weights * [_bits(one.attribute.frequencies) for one in shown]
    losses = list(parts.values())
    climbed = [part.distortion for part in losses]
    return Utility(
        distortion_ratio=_mean(climbed, heights),
        ncp=_mean([part.ncp for part in losses], weights),
        precision=1.0 - _mean(climbed, weights),
        entropy=_mean([part.entropy for part in losses], bits),
        discernibility=int((sizes**2).sum()) + gone * rows,
        average_class_size=float(sizes.mean()),
        suppressed_rows=gone,
        suppressed_cells=sum(part.suppressed_cells for part in losses),
        attributes=parts,
    )


def _shown(attribute: QuasiIdentifier, labels: Labels, recoding: Recoding) -> Shown:
    rows = np.arange(len(labels.codes)) if recoding.published is None else np.flatnonzero(recoding.published)
    kept = np.bincount(labels.codes.take(rows), minlength=len(labels.texts))
    return Shown(attribute, _every(attribute, labels, rows), labels.loss, labels.climbed, kept)


def _every(attribute: QuasiIdentifier, labels: Labels, rows: IntArray) -> IntArray:
    """Rows of the whole table under each label; a number that lost something is a mean, and covers what it is of."""
    every, loss, _ = loss_arrays(find_losses(attribute, labels.texts, labels.level))
    means = (loss == 0) & (labels.loss > 0)
    if not means.any():
        return every
    values, names = attribute.column.codes.take(rows), labels.codes.take(rows)
    return np.where(means, count_rows_between(attribute, values, names, len(every)), every)


def _attribute(one: Shown, gone: int, rows: int) -> AttributeLoss:
    top = one.climbed >= one.attribute.hierarchy.height
    return AttributeLoss(
        ncp=float((one.kept * one.loss).sum() + gone) / rows,
        distortion=float((one.kept * one.climbed).sum() / one.attribute.hierarchy.height + gone) / rows,
        entropy=_entropy(one.attribute, one.every, one.kept, rows),
        suppressed_cells=int(one.kept[top].sum()) + gone,
        exact_cells=int(one.kept[one.climbed == 0].sum()),
        labels=int(np.count_nonzero(one.kept)),
    )


def _entropy(attribute: QuasiIdentifier, every: IntArray, kept: IntArray, rows: int) -> float:
    """One minus what the published labels still tell: log2(n / N(label)) for each published row."""
    before = _bits(attribute.frequencies)
    if before == 0:
        return 0.0
    used = kept > 0
    told = float((kept[used] * np.log2(rows / every[used])).sum()) / rows
    return max(0.0, 1.0 - told / before)  # rounding may put it below nothing


def _bits(frequencies: IntArray) -> float:
    shares = frequencies[frequencies > 0] / frequencies.sum()
    return float(-(shares * np.log2(shares)).sum())


def _mean(parts: list[float], weights: Any) -> float:
    return float(np.average(parts, weights=weights)) if np.sum(weights) > 0 else 0.0
