"""Information loss of a recoding: how much of each attribute is left, and how coarse the classes are.

A suppressed row counts as a row of which nothing is left: every cell lost, its class the whole table. All losses are
between 0 (nothing lost) and 1; attributes count by their weight.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.encode import EncodedTable, QuasiIdentifier
from sfumato.labels.label_loss import count_rows_alike, count_rows_between, find_losses, loss_arrays
from sfumato.page.display import Display, FigureTable, Shown
from sfumato.page.wording import percent, plural
from sfumato.recode import Labels, Recoding
from sfumato.utility.aggregation_error import AggregationError


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
class Utility(Shown):
    """The losses of a release, in total and per attribute.

    `weighted_ncp` is there where rows have sampling weights: the NCP with each row counting for the people whom it
    stands for. `aggregation` is there where columns are published by means, medians and modes of classes.
    """

    distortion_ratio: float
    ncp: float
    precision: float
    entropy: float
    discernibility: int
    average_class_size: float
    suppressed_rows: int
    suppressed_cells: int
    attributes: dict[str, AttributeLoss]
    weighted_ncp: float | None = None
    aggregation: AggregationError | None = None

    def as_json(self) -> dict[str, Any]:
        """For ``--json`` and the audit; the weighted loss, and that of aggregates, only where there are any."""
        content = asdict(self)
        if self.weighted_ncp is None:
            del content["weighted_ncp"]
        if self.aggregation is None:
            del content["aggregation"]
        return content

    def display(self) -> Display:
        """Show the losses of each column and in total."""
        lines = [
            (name, percent(part.ncp), f"{part.labels:,}", f"{part.exact_cells:,}")
            for name, part in self.attributes.items()
        ]
        exact = sum(part.exact_cells for part in self.attributes.values())
        lines.append(("in total", percent(self.ncp), "", f"{exact:,}"))
        classes = f"{self.average_class_size:,.1f} rows per class on average"
        said = f"{plural(self.suppressed_rows, 'row')} suppressed; {classes}"
        return Display("what it cost", [FigureTable(("lost", "NCP", "labels", "cells exact"), lines)], (said,))


@dataclass(frozen=True, eq=False)
class PublishedAttribute:
    """How one attribute is published, as arrays with an entry for each label.

    `covered_rows` are the rows of the whole table that the label covers, `published_rows` the rows that have it. `loss`
    is the NCP of the label, `climbed` the levels that it is above the leaves. `verbatim` says that it reads as a value
    does and covers that alone, as the label of a group of one may.
    """

    attribute: QuasiIdentifier
    covered_rows: IntArray
    loss: FloatArray
    climbed: FloatArray
    published_rows: IntArray
    verbatim: BoolArray | bool = False


def measure(encoded: EncodedTable, recoding: Recoding) -> Utility:
    """Measure what was published against what came in."""
    attributes = []
    for attribute in encoded.quasi:
        labels = recoding.labels[attribute.name]
        covered = _count_covered_rows(attribute, labels, recoding)
        published, values = recoding.label_rows[attribute.name], frozenset(attribute.hierarchy.labels[0])
        verbatim = np.array([not attribute.least and text in values for text in labels.texts]) & (labels.loss == 0)
        attributes.append(PublishedAttribute(attribute, covered, labels.loss, labels.climbed, published, verbatim))
    total = total_losses(attributes, recoding.classes.sizes, encoded.rows)
    if encoded.weights is None:
        return total
    losses = []
    for attribute in encoded.quasi:
        labels = recoding.labels[attribute.name]
        lost: FloatArray = labels.loss.take(labels.codes)  # float[rows]
        losses.append(lost if recoding.published is None else np.where(recoding.published, lost, 1.0))
    assert encoded.line_weights is not None  # noqa: S101 - there are weights; this tells the type checker
    return replace(total, weighted_ncp=weigh_losses(losses, encoded.line_weights, encoded))


def weigh_losses(losses: list[FloatArray], people: FloatArray, encoded: EncodedTable) -> float:
    """Average the loss of rows by their sampling weights; what is left to the weights of the table is lost altogether.

    losses: float[rows] for each quasi-identifier; people: float[rows], the weights of those rows.
    """
    assert encoded.line_weights is not None  # noqa: S101 - whoever calls has looked; this tells the type checker
    total = max(float(encoded.line_weights.sum()), float(people.sum()))
    shares = [(float(lost @ people) + total - float(people.sum())) / total for lost in losses]
    return _weighted_mean(shares, np.array([attribute.weight for attribute in encoded.quasi]))


def total_losses(attributes: list[PublishedAttribute], sizes: IntArray, rows: int) -> Utility:
    """Add up the losses of attributes that are published this way, in classes of these sizes, of so many rows."""
    suppressed = rows - int(sizes.sum())
    losses = {one.attribute.name: _attribute_loss(one, suppressed, rows) for one in attributes}
    weights = np.array([one.attribute.weight for one in attributes])
    heights = weights * [one.attribute.hierarchy.height for one in attributes]
    bits = weights * [_entropy_bits(one.attribute.frequencies) for one in attributes]
    parts = list(losses.values())
    distortions = [part.distortion for part in parts]
    return Utility(
        distortion_ratio=_weighted_mean(distortions, heights),
        ncp=_weighted_mean([part.ncp for part in parts], weights),
        precision=1.0 - _weighted_mean(distortions, weights),
        entropy=_weighted_mean([part.entropy for part in parts], bits),
        discernibility=int((sizes**2).sum()) + suppressed * rows,
        average_class_size=float(sizes.mean()),
        suppressed_rows=suppressed,
        suppressed_cells=sum(part.suppressed_cells for part in parts),
        attributes=losses,
    )


def _count_covered_rows(attribute: QuasiIdentifier, labels: Labels, recoding: Recoding) -> IntArray:
    """Count the rows of the whole table that each label covers.

    A label that is a value and lost something is a mean, a median or a mode. It covers what is between the values that
    it was published for; where these have no order, the values themselves.
    """
    covered, loss, _ = loss_arrays(find_losses(attribute, labels.texts, labels.level))
    means = ((loss == 0) & (labels.loss > 0)) | (covered == 0)
    if not means.any():
        return covered
    rows = np.arange(len(labels.codes)) if recoding.published is None else np.flatnonzero(recoding.published)
    values, label_of = attribute.column.codes.take(rows), labels.codes.take(rows)
    if attribute.hierarchy.ranks is not None:
        return np.where(means, count_rows_between(attribute, values, label_of, len(covered)), covered)
    return np.where(means, count_rows_alike(attribute, values, label_of, len(covered)), covered)


def _attribute_loss(one: PublishedAttribute, suppressed: int, rows: int) -> AttributeLoss:
    height, published = one.attribute.hierarchy.height, one.published_rows
    return AttributeLoss(
        ncp=float((published * one.loss).sum() + suppressed) / rows,
        distortion=float((published * one.climbed).sum() / height + suppressed) / rows,
        entropy=_entropy_loss(one, rows),
        suppressed_cells=int(published[one.climbed >= height].sum()) + suppressed,
        exact_cells=int(published[(one.climbed == 0) | one.verbatim].sum()),
        labels=int(np.count_nonzero(published)),
    )


def _entropy_loss(one: PublishedAttribute, rows: int) -> float:
    """Compute one minus the share of bits left: log2(n / N(label)) for each published row."""
    before = _entropy_bits(one.attribute.frequencies)
    if before == 0:
        return 0.0
    used = one.published_rows > 0
    left = float((one.published_rows[used] * np.log2(rows / one.covered_rows[used])).sum()) / rows
    return max(0.0, 1.0 - left / before)  # rounding may put it below nothing


def _entropy_bits(frequencies: IntArray) -> float:
    shares = frequencies[frequencies > 0] / frequencies.sum()
    return float(-(shares * np.log2(shares)).sum())


def _weighted_mean(parts: list[float], weights: Any) -> float:
    return float(np.average(parts, weights=weights)) if np.sum(weights) > 0 else 0.0
