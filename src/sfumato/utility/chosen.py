"""What ranges and sets mean: labels that an algorithm chose for a column without levels."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from sfumato.core.arrays import Codes, IntArray
from sfumato.encode import QuasiIdentifier
from sfumato.hierarchy import Ranges
from sfumato.hierarchy.base import ROOT
from sfumato.hierarchy.exact import number
from sfumato.hierarchy.range_labels import Bounds, read_range
from sfumato.hierarchy.set_labels import parse_set
from sfumato.recode.local.axes.spans import Column

Label = str | None


class Told(NamedTuple):
    """Of a label: the rows of the whole table that it covers, its NCP, and the levels that it climbed."""

    every: int
    loss: float
    climbed: float


def set_reader(attribute: QuasiIdentifier) -> Callable[[Label], Told | None]:
    """Reads labels of a column of sets; the loss is the share of the other values that are members too."""
    rows = dict(zip(attribute.column.texts, attribute.frequencies.tolist(), strict=True))
    whole, others = sum(rows.values()), max(len(rows) - 1, 1)

    def read(label: Label) -> Told | None:
        try:
            members = parse_set(label) or tuple(rows)
            covered, loss = sum(rows[member] for member in members), (len(members) - 1) / others
        except (KeyError, ValueError):
            return None
        return Told(whole if label == ROOT else covered, loss, loss)

    return read


class Line:
    """A column of ranges in a form of `[publish] ranges`; the loss of a label is its share of the domain.

    Where no domain is declared, it is found: by the numbers of the column, and for a partition, which must not show
    them, by all but the lowest and the highest record.
    """

    def __init__(self, attribute: QuasiIdentifier, spec: Ranges, form: str) -> None:
        numbers, self.scale = spec.numbers(attribute.column.texts, column=attribute.name)
        found = zip(numbers, attribute.frequencies.tolist(), strict=True)
        known: dict[int, int] = {}
        for place, rows in found:
            if place is not None:
                known[place] = known.get(place, 0) + rows
        self.places = sorted(known)
        counts = [known[place] for place in self.places]
        self.sums, self.rows, self.whole = [0, *accumulate(counts)], int(attribute.frequencies.sum()), spec.whole
        domain = [int(number(end, "domain") * self.scale) for end in spec.domain or ()]
        self.low, self.high = domain or Column(self.places, counts).extent(inner=form == "partition")

    def read(self, label: Label) -> Told | None:
        """What a label means; nothing where no row of the column is under it."""
        if label is None:
            missing = self.rows - self.sums[-1]
            return Told(missing, 0.0, 0.0) if missing else None
        if label == ROOT:
            return Told(self.rows, 1.0, 1.0)
        try:
            return self._range(read_range(label))
        except ValueError:
            return None

    def _range(self, bounds: Bounds) -> Told | None:
        low, high = bounds.low * self.scale, bounds.high * self.scale
        end = (bisect_right if bounds.closed else bisect_left)(self.places, high)
        rows = self.sums[end] - self.sums[bisect_left(self.places, low)]
        last = high if bounds.closed else high - self.whole
        loss = float((min(last, self.high) - max(low, self.low)) / max(self.high - self.low, 1))
        return Told(rows, min(loss, 1.0), min(loss, 1.0)) if rows > 0 else None


def reach(attribute: QuasiIdentifier, codes: Codes, labels: Codes, width: int) -> IntArray:
    """The rows from the lowest to the highest value that each label stands for, given the cells that it stands for.

    So a mean is measured, whose text does not say what it covers. `codes` are the values of cells, and `labels` the
    codes of their labels, of which there are `width`.
    """
    ranks = attribute.hierarchy.ranks
    assert ranks is not None  # noqa: S101 - numbers have an order; this tells the type checker
    ordered = np.bincount(ranks, weights=attribute.frequencies)
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    low, high = np.full(width, len(ordered)), np.full(width, -1)
    np.minimum.at(low, labels, ranks[codes])
    np.maximum.at(high, labels, ranks[codes])
    found: IntArray = (sums[high + 1] - sums[np.minimum(low, high + 1)]).astype(np.int64)
    return found
