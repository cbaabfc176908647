"""What a label costs: the rows of the original that it covers, its NCP, and the levels that it is above the values.

Local recodings mix labels of all levels in one column. A text means one thing in a column, whatever its level, so that
its loss is found from the text alone, for a release in memory and for its files alike.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sfumato.core.arrays import Codes, FloatArray, IntArray
from sfumato.encode import QuasiIdentifier
from sfumato.hierarchy import Ranges, Sets
from sfumato.hierarchy.hierarchy import ROOT, Label
from sfumato.hierarchy.intervals import read_range
from sfumato.hierarchy.open_ended import extent, read_set
from sfumato.labels.covered_values import NumberLine, find_members, find_tree_labels


class LabelLoss(NamedTuple):
    """Of a label: the rows of the whole table that it covers, its NCP, and the levels that it is above the values.

    Ranges and sets have no levels; they are their NCP of the one step from the values to ``*``.
    """

    rows: int
    ncp: float
    levels: float


def find_losses(
    attribute: QuasiIdentifier, labels: Sequence[Label], level: int | None, *, form: str = "partition"
) -> list[LabelLoss | None]:
    """Find the loss of each label, at a level or at any; ``None`` for one that no value of the column leads to.

    `form` is that of `[publish] ranges`, for columns of ranges.
    """
    if level is None and isinstance(attribute.spec, Ranges):
        return list(_range_losses(attribute, attribute.spec, labels, form))
    if level is None and isinstance(attribute.spec, Sets):
        return list(_set_losses(attribute, labels))
    tree, places = attribute.hierarchy, find_tree_labels(attribute, level)
    rows, ncp, climbed = dict[int, list[float]](), dict[int, list[float]](), dict[int, list[float]]()
    for height in {height for height, _ in places.values()}:
        rows[height] = np.bincount(tree.matrix[:, height], attribute.frequencies, len(tree.labels[height])).tolist()
        ncp[height] = tree.loss[height].tolist()
        climbed[height] = np.maximum(tree.climbed[height], attribute.least).tolist()
    losses: list[LabelLoss | None] = []
    for label in labels:
        height, code = places.get(label, (-1, -1))
        known = height >= 0
        losses.append(LabelLoss(round(rows[height][code]), ncp[height][code], climbed[height][code]) if known else None)
    return losses


def loss_arrays(losses: Sequence[LabelLoss | None]) -> tuple[IntArray, FloatArray, FloatArray]:
    """Give the rows, the NCP and the levels of labels as arrays; labels without a loss count for nothing.

    >>> [part.tolist() for part in loss_arrays([LabelLoss(7, 0.5, 1.0), None])]
    [[7, 0], [0.5, 0.0], [1.0, 0.0]]
    """
    rows, penalty, levels = zip(*[loss or LabelLoss(0, 0.0, 0.0) for loss in losses], strict=True)
    return np.array(rows, dtype=np.int64), np.array(penalty), np.array(levels)


def _set_losses(attribute: QuasiIdentifier, labels: Sequence[Label]) -> Iterator[LabelLoss | None]:
    """The NCP of a set is the share of the other values that are members too; it may name some that no row holds."""
    frequencies, others = attribute.frequencies.tolist(), max(attribute.column.width - 1, 1)
    for label, codes in zip(labels, find_members(attribute, labels), strict=True):
        named = len(read_set(label)) if codes and label != ROOT else len(codes)
        loss = min((named - 1) / others, 1.0)
        yield LabelLoss(sum(frequencies[code] for code in codes), loss, loss) if codes else None


def _range_losses(
    attribute: QuasiIdentifier, spec: Ranges, labels: Sequence[Label], form: str
) -> Iterator[LabelLoss | None]:
    """The NCP of a range is its share of the domain.

    Where no domain is declared, it is found: by the numbers of the column, and for a partition, which must not show
    them, by all but the lowest and the highest record.
    """
    line, step = NumberLine(attribute, spec), int(spec.is_whole)
    counts = attribute.frequencies[line.order].tolist()
    sums = [0, *np.cumsum(counts).tolist()]  # rows before each value of the line
    numbers_only = counts[: len(line.numbers)]
    domain = spec.scaled_domain(line.scale) or extent(line.numbers, numbers_only, inner=form == "partition")
    lowest, highest = domain
    for label in labels:
        if label is None or label == ROOT:
            start, end = line.find_run(label)
            loss = 0.0 if label is None else 1.0
        else:
            try:
                limits = read_range(label)
            except ValueError:
                yield None
                continue
            start, end = line.find_range(limits)
            last = limits.high * line.scale - (0 if limits.closed else step)
            width = min(last, highest) - max(limits.low * line.scale, lowest)
            loss = min(float(width / max(highest - lowest, 1)), 1.0)
        rows = sums[end] - sums[start]
        yield LabelLoss(rows, loss, loss) if rows > 0 else None


def count_rows_between(attribute: QuasiIdentifier, codes: Codes, labels: Codes, width: int) -> IntArray:
    """Count the rows from the lowest to the highest value under each label, given the cells that it was published for.

    So a mean is measured, whose text does not say what it covers.

    codes, labels:  int[cells], the value of each cell, and which of `width` labels it was published under
    Returns int[width]: rows of the whole table between the extremes of each label; 0 for a label without cells
    """
    ranks = attribute.hierarchy.ranks
    assert ranks is not None  # noqa: S101 - numbers have an order; this tells the type checker
    ordered = np.bincount(ranks, weights=attribute.frequencies)
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    low, high = np.full(width, len(ordered)), np.full(width, -1)
    np.minimum.at(low, labels, ranks[codes])
    np.maximum.at(high, labels, ranks[codes])
    rows: IntArray = (sums[high + 1] - sums[np.minimum(low, high + 1)]).astype(np.int64)
    return rows


def count_rows_alike(attribute: QuasiIdentifier, codes: Codes, labels: Codes, width: int) -> IntArray:
    """Count the rows of all values under each label, given the cells that it was published for.

    So a mode is measured, whose text does not say what it covers. Shapes are those of `count_rows_between`.
    """
    pairs = np.unique(labels.astype(np.int64) * attribute.column.width + codes)
    label, value = np.divmod(pairs, attribute.column.width)
    rows: IntArray = np.bincount(label, attribute.frequencies.take(value), width).astype(np.int64)
    return rows
