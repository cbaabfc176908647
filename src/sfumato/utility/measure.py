"""Measure a recoding: how much of each attribute is left, and how coarse the classes are.

A suppressed row counts as a row of which nothing is left: every cell lost, its class the whole table. All
losses are between 0 (nothing lost) and 1; attributes count by their weight.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sfumato.classes import IntArray
from sfumato.encode import Attribute, Encoded
from sfumato.recode import Labels, Recoding


@dataclass(frozen=True)
class AttributeLoss:
    """The losses of one quasi-identifier.

    `ncp`: share of the other leaves that a label covers, on average. `distortion`: levels climbed, of its
    height (equal to one minus precision, for a single attribute). `entropy`: bits lost, of the bits there were.
    `suppressed_cells`: cells that show nothing any more, those of suppressed rows included.
    """

    ncp: float
    distortion: float
    entropy: float
    suppressed_cells: int


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


def measure(encoded: Encoded, recoding: Recoding) -> Utility:
    """Measure what was published against what came in."""
    parts = {
        attribute.name: _attribute(attribute, recoding.labels[attribute.name], recoding, encoded.rows)
        for attribute in encoded.quasi
    }
    weights = np.array([attribute.weight for attribute in encoded.quasi])
    heights = weights * [attribute.hierarchy.height for attribute in encoded.quasi]
    bits = weights * [_bits(attribute.frequencies) for attribute in encoded.quasi]
    losses = list(parts.values())
    climbed = [part.distortion for part in losses]
    sizes = recoding.classes.sizes
    return Utility(
        distortion_ratio=_mean(climbed, heights),
        ncp=_mean([part.ncp for part in losses], weights),
        precision=1.0 - _mean(climbed, weights),
        entropy=_mean([part.entropy for part in losses], bits),
        discernibility=int((sizes**2).sum()) + recoding.suppressed * encoded.rows,
        average_class_size=float(sizes.mean()),
        suppressed_rows=recoding.suppressed,
        suppressed_cells=sum(part.suppressed_cells for part in losses),
        attributes=parts,
    )


def _attribute(attribute: Attribute, labels: Labels, recoding: Recoding, rows: int) -> AttributeLoss:
    width = len(labels.texts)
    every = np.bincount(labels.codes, minlength=width)
    kept = every if recoding.kept is None else np.bincount(labels.codes[recoding.kept], minlength=width)
    gone = recoding.suppressed
    nothing = labels.loss >= 1.0
    return AttributeLoss(
        ncp=float((kept * labels.loss).sum() + gone) / rows,
        distortion=float((kept * labels.climbed).sum() / attribute.hierarchy.height + gone) / rows,
        entropy=_entropy(attribute, every, kept, rows),
        suppressed_cells=int(kept[nothing].sum()) + gone,
    )


def _entropy(attribute: Attribute, every: IntArray, kept: IntArray, rows: int) -> float:
    """One minus what the published labels still tell: log2(n / N(label)) for each published row."""
    before = _bits(attribute.frequencies)
    if before == 0:
        return 0.0
    used = kept > 0
    told = float((kept[used] * np.log2(rows / every[used])).sum()) / rows
    return 1.0 - told / before


def _bits(frequencies: IntArray) -> float:
    shares = frequencies[frequencies > 0] / frequencies.sum()
    return float(-(shares * np.log2(shares)).sum())


def _mean(parts: list[float], weights: Any) -> float:
    return float(np.average(parts, weights=weights)) if np.sum(weights) > 0 else 0.0
