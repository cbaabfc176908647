"""Axes of microaggregation: a group is published as the mean, the median or the mode of its values.

A hull still says what a group covers, so that groups are priced and merged as with labels: a mean of 30 that stands for
20 to 40 loses as much as a range from 20 to 40 does. Only the label is another one. A mode that 9 of 10 rows hold loses
what the tenth does.

Arithmetic is exact. Numbers are whole steps of the grid that the column lies on (whole ages, prices with two decimals,
days), and means and medians are rounded to that grid, halves to the even step: so they read as values of the column do,
and have no digits that only certain values could have left. Groups of equal labels can be united without another label:
a mean, a median or a mode of both is one of each.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.numbers import write_decimal
from sfumato.core.segments import run_starts
from sfumato.encode import QuasiIdentifier
from sfumato.errors import DataError, quote
from sfumato.hierarchy import Dates, Intervals, Ranges, Sets, Suppress
from sfumato.hierarchy.hierarchy import ROOT, Label
from sfumato.hierarchy.intervals import policy_number, read_numbers
from sfumato.recode.local.axes import (
    LEAST_WIDTH,
    MOST_MEMBERS,
    AttributeAxis,
    AxisLabels,
    GroupMembers,
    SetAxis,
    TreeAxis,
)
from sfumato.recode.recoding import number_texts
from sfumato.table.number_scale import read_date_values

_SAFE = 1 << 62
"""Sums below this fit into machine words."""


def make_aggregate_axis(
    attribute: QuasiIdentifier, aggregate: str, share: float, cells: list[FloatArray]
) -> AttributeAxis:
    """Make the axis of a column that is published by its mean, median or mode; `cells` are its costs by level."""
    spec = attribute.spec
    if aggregate != "mode" or isinstance(spec, Intervals | Ranges):
        return GridAxis(attribute, share, aggregate)
    if isinstance(spec, Sets | Suppress) and attribute.column.width <= MOST_MEMBERS:
        return SetModeAxis(attribute, share)
    return TreeModeAxis(attribute, cells)


@dataclass(frozen=True, eq=False)
class GridValues:
    """The values of a column of numbers or dates: `steps` of a grid, None for NULL; and how steps are written again.

    `domain` are the lowest and the highest step there can be, as declared or else as they occur.
    """

    steps: Sequence[int | None]
    write: Callable[[Sequence[int]], Sequence[str]]
    domain: tuple[float, float]


def read_grid(attribute: QuasiIdentifier) -> GridValues:
    """Read the values of a quasi-identifier of intervals, ranges or dates."""
    spec, name = attribute.spec, attribute.name
    if isinstance(spec, Dates):
        return _read_dates(attribute, spec)
    assert isinstance(spec, Intervals | Ranges)  # noqa: S101 - the policy has checked it; this tells the type checker
    texts = attribute.hierarchy.labels[0]
    ratios = read_numbers(texts, column=name, whole=spec.is_whole, form="bins")
    # Prices such as 1.50 lie on a grid of two decimals, and have all of them.
    decimals = {len(text.partition(".")[2]) for text in texts if text is not None and text.strip("+-.0123456789") == ""}
    scale = 10 ** max(decimals, default=0)
    while any(scale % ratio[1] for ratio in ratios if ratio):
        scale *= 10  # the least power of ten that all of them divide
    steps = [ratio and ratio[0] * (scale // ratio[1]) for ratio in ratios]
    ends = None
    if spec.domain is not None:
        low, high = (policy_number(end, "domain") * scale for end in spec.domain)
        ends = (_as_float(low.numerator, low.denominator), _as_float(high.numerator, high.denominator))
    padding = max(decimals) if len(decimals) == 1 else 0

    def write(numbers: Sequence[int]) -> list[str]:
        texts = [write_decimal(number, scale) for number in numbers]
        if not padding:
            return texts
        parts = (text.partition(".") for text in texts)
        return [f"{whole}.{fraction.ljust(padding, '0')}" for whole, _, fraction in parts]

    return GridValues(steps, write, ends or _extent(steps))


def _read_dates(attribute: QuasiIdentifier, spec: Dates) -> GridValues:
    read = read_date_values(attribute.column.values, spec, column=attribute.name)
    if read is None:
        if any(text is not None for text in attribute.column.texts):
            raise DataError(
                f"column {quote(attribute.name)} has dates that are written in several ways, so that it is not known "
                'how to write their mean; write them alike, or give the column aggregate = "mode" or "ancestor"'
            )
        return GridValues([None] * attribute.column.width, lambda _: [], (0.0, 0.0))
    scale, numbers = read.scale, read.numbers
    steps = [None if np.isnan(number) else round(number / scale.step) for number in numbers.tolist()]

    def write(numbers: Sequence[int]) -> Sequence[str]:
        written = scale.write(np.array(numbers, dtype=np.float64) * scale.step)
        texts: list[str] = written.cast(pa.string()).to_pylist()
        return texts

    return GridValues(steps, write, _extent(steps))


def _extent(steps: Sequence[int | None]) -> tuple[float, float]:
    known = [step for step in steps if step is not None] or [0]
    return _as_float(min(known)), _as_float(max(known))


def _as_float(numerator: int, denominator: int = 1) -> float:
    try:
        return numerator / denominator
    except OverflowError:  # on a very fine grid, the number of steps may be more than a float holds
        return np.inf if numerator > 0 else -np.inf


class GridAxis(AttributeAxis):
    """A column of numbers or dates that is published by its mean, median or mode.

    A hull is a run of the s different values in order, with NULL behind them (`null`, which is s). Its loss is its
    width over that of the domain; numbers with NULL are ``*`` and lose all. NULL alone stays NULL. `shares` float[s]
    is where each value lies in the domain, from 0 to 1.
    """

    join = np.maximum

    def __init__(self, attribute: QuasiIdentifier, share: float, aggregate: str) -> None:
        super().__init__(attribute)
        self.share, self.aggregate = share, aggregate
        self.grid = read_grid(attribute)
        known = sorted({step for step in self.grid.steps if step is not None})
        rank = {step: place for place, step in enumerate(known)}
        self.null = len(known)
        self.place = np.array([self.null if n is None else rank[n] for n in self.grid.steps], dtype=np.int64)
        self.single = np.column_stack([-self.place, self.place])
        self._steps = known
        self.shares = _shares_of_domain(known, self.grid.domain)

    @property
    def numbers(self) -> FloatArray:
        """Each value as a number between 0 and 1, NaN for NULL: float[v]."""
        return np.append(self.shares, np.nan).take(self.place)

    def losses(self, hulls: IntArray) -> FloatArray:
        """Measure the NCP of each hull."""
        first, last = -hulls[..., 0], hulls[..., 1]
        shares = np.append(self.shares, 0.0)
        return np.where(last == self.null, (first < last) * 1.0, np.abs(shares.take(last) - shares.take(first)))

    def cell_costs(self, hulls: IntArray) -> FloatArray:
        """Price a cell by what its group covers."""
        return self.share * self.losses(hulls)

    def widths(self, hulls: IntArray) -> FloatArray:
        """Measure a group by what it covers; 0 for one value."""
        return np.where(-hulls[..., 0] < hulls[..., 1], np.maximum(self.losses(hulls), LEAST_WIDTH), 0.0)

    def label_hulls(self, hulls: IntArray) -> AxisLabels:
        """Refuse: an aggregate is of the members of a group, and its hull does not tell them."""
        raise NotImplementedError("an aggregate needs the members of a group")

    def label_groups(self, hulls: IntArray, members: GroupMembers) -> AxisLabels:
        """Give each group its mean, median or mode."""
        if self.aggregate == "mode":
            return label_modes(self.attribute, members, self._losses_apart)
        mixed, empty = hulls[:, 1] == self.null, -hulls[:, 0] == self.null
        steps = self._means(members, len(hulls)) if self.aggregate == "mean" else self._medians(members, len(hulls))
        texts: list[Label] = [None if alone else ROOT for alone in empty.tolist()]
        known = np.flatnonzero(~mixed).tolist()
        for group, text in zip(known, self.grid.write([steps[group] for group in known]), strict=True):
            texts[group] = text
        return price_labels(texts, self.losses(hulls), members, self.attribute.hierarchy.height)

    def _losses_apart(self, leaf: IntArray, other: IntArray) -> FloatArray:
        low, high = np.sort([self.place.take(leaf), self.place.take(other)], axis=0)
        return self.losses(np.column_stack([-low, high]))

    def _means(self, members: GroupMembers, groups: int) -> list[int]:
        """Round the mean of each group to the grid; NULL counts as 0."""
        amounts = [n or 0 for n in self.grid.steps]
        most = max(map(abs, amounts), default=0) * int(members.rows.sum())
        values = np.array(amounts, dtype=np.int64 if most < _SAFE else object)
        sums = np.zeros(groups, dtype=values.dtype)
        np.add.at(sums, members.group, values[members.leaf] * members.rows)
        rows = np.bincount(members.group, members.rows, groups).astype(np.int64)
        return [round_half_even(int(total), count) for total, count in zip(sums, rows.tolist(), strict=True)]

    def _medians(self, members: GroupMembers, groups: int) -> list[int]:
        """Find the value in the middle of each group, or round the middle between the two that are; NULL comes last."""
        place = self.place.take(members.leaf)
        order = np.lexsort([place, members.group])
        ends = np.cumsum(members.rows[order])
        sizes = np.bincount(members.group, members.rows, groups).astype(np.int64)
        first = np.cumsum(sizes) - sizes
        places = [
            place[order[np.searchsorted(ends, first + row, side="right")]] for row in ((sizes - 1) // 2, sizes // 2)
        ]
        steps = [*self._steps, 0]
        return [
            round_half_even(steps[low] + steps[high], 2)
            for low, high in zip(*map(np.ndarray.tolist, places), strict=True)
        ]


def round_half_even(numerator: int, denominator: int) -> int:
    """Round a quotient to a whole number, halves to the even one; the denominator is above 0.

    >>> [round_half_even(n, 2) for n in (3, 5, -1, 4)]
    [2, 2, 0, 2]
    """
    whole, rest = divmod(numerator, denominator)
    return whole + (2 * rest > denominator or (2 * rest == denominator and whole % 2))


def _shares_of_domain(steps: Sequence[int], domain: tuple[float, float]) -> FloatArray:
    """Place numbers in their domain, from 0 to 1; where floats do not hold them, by their order."""
    low, high = domain
    width = high - low
    if not 0 < width < np.inf:
        return np.linspace(0.0, 1.0, len(steps)) if len(steps) > 1 else np.zeros(len(steps))
    return np.clip([(float(step) - low) / width for step in steps], 0.0, 1.0)


class SetModeAxis(SetAxis):
    """A column without levels that is published by the most frequent value of a group: others than that are lost."""

    def label_groups(self, hulls: IntArray, members: GroupMembers) -> AxisLabels:
        """Give each group its mode."""
        del hulls
        return label_modes(self.attribute, members, lambda leaf, other: (leaf != other).astype(np.float64))


class TreeModeAxis(TreeAxis):
    """A column with levels that is published by the most frequent value of a group.

    Another value loses what the lowest label that covers it and the mode loses.
    """

    def label_groups(self, hulls: IntArray, members: GroupMembers) -> AxisLabels:
        """Give each group its mode."""
        del hulls
        return label_modes(self.attribute, members, self._losses_apart)

    def _losses_apart(self, leaf: IntArray, other: IntArray) -> FloatArray:
        low, high = np.sort([self.place.take(leaf), self.place.take(other)], axis=0)
        return np.where(low == high, 0.0, self.widths(np.column_stack([-low, high])))


def label_modes(
    attribute: QuasiIdentifier, members: GroupMembers, losses_apart: Callable[[IntArray, IntArray], FloatArray]
) -> AxisLabels:
    """Label each group by its most frequent value, NULL being one; of several, by that of most rows in the table.

    So a value that hardly anybody has is told only of groups in which no other is as frequent. Where the table has as
    many rows of both, it is the first in the order of texts. What a group loses is the average over its rows of
    `losses_apart`, the loss of a value (int[n]) that is told as another one (int[n]).

    >>> from sfumato.encode import CodedColumn
    >>> from sfumato.hierarchy import Suppress
    >>> texts = ("Bern", "Thun")
    >>> column = CodedColumn("town", np.array([0, 1, 1]), texts, None)
    >>> attribute = QuasiIdentifier(column, Suppress().bind(texts, column="town"), 1.0, Suppress())
    >>> members = GroupMembers(np.array([0, 1]), np.array([1, 1]), np.array([0, 0]))
    >>> labels = label_modes(attribute, members, lambda leaf, other: (leaf != other) * 1.0)
    >>> labels.texts, labels.loss.tolist()
    (('Thun',), [0.5])
    """
    width = attribute.column.width
    pairs, rows = members.group * width + members.leaf, members.rows
    order = np.argsort(pairs, kind="stable")
    starts = run_starts(pairs[order])
    group, leaf = np.divmod(pairs[order[starts]], width)
    count = np.add.reduceat(rows[order], starts)
    best = np.lexsort([leaf, -attribute.frequencies.take(leaf), -count, group])
    modes = leaf[best[run_starts(group[best])]]
    texts = [attribute.column.texts[mode] for mode in modes.tolist()]
    lost = losses_apart(members.leaf, modes.take(members.group)) * rows
    losses = np.bincount(members.group, lost, len(modes)) / np.bincount(members.group, rows, len(modes))
    return price_labels(texts, losses, members, attribute.hierarchy.height)


def price_labels(texts: Sequence[Label], losses: FloatArray, members: GroupMembers, height: int) -> AxisLabels:
    """Number the texts of groups; groups of one text, which may lose more or less, lose their rows' average.

    texts and losses: one for each of g groups. A label is as many levels above the values as it loses of the height;
    one that is not ``*`` still says something, and is below the last level.
    """
    codes, shown = number_texts(texts)
    rows = np.bincount(members.group, members.rows, len(texts)).astype(np.float64)
    loss = np.bincount(codes, losses * rows, len(shown)) / np.bincount(codes, rows, len(shown))
    said = [texts[group] for group in shown.tolist()]
    star = np.array([text == ROOT for text in said], dtype=np.bool_)
    climbed = np.where(star, loss, np.minimum(loss, 1 - LEAST_WIDTH)) * height
    return AxisLabels(codes, tuple(said), loss, climbed)
