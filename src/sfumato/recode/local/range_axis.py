"""The axis of a column of numbers: a hull is a run of elementary intervals, published as one range.

How it is published is the policy's choice. A *partition* shows cut points that were chosen for the whole column, a
*box* the smallest and the largest number of the class, a *mean* their mean. NULL is placed behind the last interval: a
class of NULLs alone is published as NULL, one of NULLs and numbers as ``*``.

Every range is a run of elementary intervals, which are chosen once for the whole column. For boxes they are the numbers
themselves. For a partition their cut points do not depend on the extremes in the data: the lowest and the highest
record are left out when cuts are chosen, and the outermost intervals reach to the declared domain or are open. So
moving an extreme record further out changes no label.
"""

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.numbers import write_decimal
from sfumato.encode import QuasiIdentifier
from sfumato.hierarchy import Ranges
from sfumato.hierarchy.hierarchy import ROOT, Label
from sfumato.hierarchy.intervals import Bound, policy_number, write_range
from sfumato.recode.local.axes import LEAST_WIDTH, AttributeAxis, AxisLabels, GroupMembers
from sfumato.recode.recoding import number_texts

_TABLE = 1 << 20
"""Up to so many runs of intervals, the loss of each is looked up in a table."""

_SAFE = 1 << 62
"""Sums below this fit into machine words."""


class RangeAxis(AttributeAxis):
    """A column of ranges; `form` is how they are published, `least` how many rows an elementary interval should have.

    What a range costs is its width over the domain's: 0 for one number, 1 for ``*``. A domain that is not declared is
    that of the data, for a partition without the lowest and the highest record: the choice of cuts must not depend on
    these either.

    With s intervals, numbered in order and s itself for NULL (`null`): `low` and `high` float[s + 1] are where each
    begins and ends, as shares of the domain, and `alone` float[s + 1] is what each costs by itself.
    """

    join = np.maximum

    def __init__(self, attribute: QuasiIdentifier, share: float, *, form: str, least: int = 2) -> None:
        super().__init__(attribute)
        self.share, self.form = share, form
        spec = attribute.spec
        assert isinstance(spec, Ranges)  # noqa: S101 - who makes it has looked; this tells the type checker
        self.whole = spec.is_whole
        self.numbers, self.scale = spec.numbers(attribute.hierarchy.labels[0], column=attribute.name)
        rows: dict[int, int] = {}
        for value, count in zip(self.numbers, attribute.frequencies.tolist(), strict=True):
            if value is not None:
                rows[value] = rows.get(value, 0) + count
        ordered = sorted(rows)
        domain = tuple(int(policy_number(end, "domain") * self.scale) for end in spec.domain or ())
        column = NumericColumn(
            ordered, [rows[value] for value in ordered], (domain[0], domain[1]) if domain else None, whole=spec.is_whole
        )
        self.intervals, interval_of = column.intervals(form, least)
        self.null = len(self.intervals)
        interval = dict(zip(ordered, interval_of, strict=True))
        self.place = np.array([self.null if n is None else interval[n] for n in self.numbers], dtype=np.int64)
        self.single = np.column_stack([-self.place, self.place])
        self._measure_intervals(column)
        size = self.null + 1
        self._table = self._run_losses(*np.divmod(np.arange(size**2), size)) if size**2 <= _TABLE else None

    def _measure_intervals(self, column: "NumericColumn") -> None:
        low, high = column.domain or column.extent(inner=self.form == "partition")
        width = max(high - low, 1)
        begin = [(max(interval.low, low) - low) / width for interval in self.intervals]
        end = [(min(interval.high - self.whole, high) - low) / width for interval in self.intervals]
        alone = [
            0.0 if interval.value is not None else last - first
            for interval, first, last in zip(self.intervals, begin, end, strict=True)
        ]
        if self.form == "partition" and self.null == 1:
            alone = [1.0]  # one interval is all there is
        # A run that ends in NULL and holds numbers is as wide as can be.
        self.low, self.high, self.alone = np.array([*begin, 1.0]), np.array([*end, 2.0]), np.array([*alone, 0.0])

    def by_place(self, share: float) -> "RangeAxis":
        """Make the same axis for values that are coded by their places, with another weight."""
        axis = copy(self)
        axis.share = share
        axis.place = np.arange(int(self.place.max(initial=0)) + 1)
        axis.single = np.column_stack([-axis.place, axis.place])
        return axis

    def cell_costs(self, hulls: IntArray) -> FloatArray:
        """Price a cell by the width of its range."""
        return self.share * self.losses(hulls)

    def widths(self, hulls: IntArray) -> FloatArray:
        """Measure a range by its width; 0 for what cannot be told apart any further."""
        many = -hulls[..., 0] < hulls[..., 1]
        return np.where(many, np.maximum(self.losses(hulls), LEAST_WIDTH), 0.0)

    def losses(self, hulls: IntArray) -> FloatArray:
        """Measure the NCP of each hull."""
        first, last = -hulls[..., 0], hulls[..., 1]
        return (
            self._run_losses(first, last) if self._table is None else self._table.take(first * (self.null + 1) + last)
        )

    def _run_losses(self, first: IntArray, last: IntArray) -> FloatArray:
        """Measure the NCP of runs of intervals, given the first and the last of each."""
        wide = np.minimum(self.high.take(last) - self.low.take(first), 1.0)
        everything = (first == 0) & (last == self.null - 1) & (self.form == "partition")
        return np.where(first == last, self.alone.take(first), np.where(everything, 1.0, wide))

    def label_hulls(self, hulls: IntArray) -> AxisLabels:
        """List the runs that are in use, and their texts; the many runs that end in NULL, and all numbers, are ``*``.

        With r runs and l labels: first, last and loss are [r]; number int[r] is the label of each run, and shown int[l]
        a run with each label. Runs with one label have one loss, that of ``*``.
        """
        key = -hulls[:, 0] * (self.null + 1) + hulls[:, 1]
        used, codes = np.unique(key, return_inverse=True)
        first, last = np.divmod(used, self.null + 1)
        texts = [self.text(start, end) for start, end in zip(first.tolist(), last.tolist(), strict=True)]
        number, shown = number_texts(texts)
        loss = self.losses(np.column_stack([-first, last]))[shown]
        return AxisLabels(number[codes], tuple(texts[run] for run in shown.tolist()), loss, loss)

    def text(self, first: int, last: int) -> Label:
        """Write the label of a run of intervals."""
        if last == self.null:
            return None if first == last else ROOT
        start, end = self.intervals[first], self.intervals[last]
        if first == last and start.value is not None:
            return write_range(start.value, start.value, scale=self.scale, closed=True)
        if self.form == "partition" and first == 0 and last == self.null - 1:
            return ROOT
        return write_range(start.low, end.high, scale=self.scale, whole=self.whole, closed=end.closed)

    def label_groups(self, hulls: IntArray, members: GroupMembers) -> AxisLabels:
        """Give each group its label; the mean of its members, where means are published.

        Groups of different losses may have one mean: such a label costs what its rows lose on average.
        """
        if self.form != "means":
            return self.label_hulls(hulls)
        has_null, only_null = hulls[:, 1] == self.null, -hulls[:, 0] == self.null
        means = group_means(self.numbers, self.scale, members, len(hulls))
        texts = [
            mean if not mixed else None if empty else ROOT
            for mean, mixed, empty in zip(means, has_null.tolist(), only_null.tolist(), strict=True)
        ]
        codes, shown = number_texts(texts)
        rows = np.bincount(members.group, members.rows, len(texts)).astype(np.float64)
        loss = np.bincount(codes, self.losses(hulls) * rows, len(shown)) / np.bincount(codes, rows, len(shown))
        return AxisLabels(codes, tuple(texts[group] for group in shown.tolist()), loss, loss)


def group_means(numbers: Sequence[int | None], scale: int, members: GroupMembers, groups: int) -> list[str]:
    """Write the mean of each group, rounded half up to one digit more than the numbers have.

    Arithmetic is exact: the same members give the same text, in whatever order they come. `numbers` are the leaves', in
    steps of ``1 / scale``; NULL counts as 0. No group is empty.

    >>> members = GroupMembers(np.array([0, 1, 1]), np.array([1, 1, 1]), np.array([0, 0, 1]))
    >>> group_means([1, 2], 1, members, 2)
    ['1.5', '2']
    """
    amounts = [n or 0 for n in numbers]
    most = max(map(abs, amounts), default=0) * int(members.rows.sum())
    values = np.array(amounts, dtype=np.int64 if most < _SAFE else object)
    sums = np.zeros(groups, dtype=values.dtype)
    np.add.at(sums, members.group, values[members.leaf] * members.rows)
    rows = np.bincount(members.group, members.rows, groups).astype(np.int64)
    return [
        write_decimal((20 * int(total) + count) // (2 * count), 10 * scale)
        for total, count in zip(sums, rows.tolist(), strict=True)
    ]


@dataclass(frozen=True)
class ElementaryInterval:
    """From `low` to `high`, which is part of it where it is `closed`; `value` where it is published as one number."""

    low: Bound
    high: Bound
    closed: bool = False
    value: int | None = None


@dataclass(frozen=True)
class NumericColumn:
    """The different numbers of a column in order, and how many rows have each; `domain` as declared, if it is.

    Numbers are whole multiples of a small step. `whole` says that they are integers, and the step is 1.
    """

    numbers: Sequence[int]
    rows: Sequence[int]
    domain: tuple[int, int] | None = None
    whole: bool = False

    def intervals(self, form: str, least: int) -> tuple[list[ElementaryInterval], list[int]]:
        """Choose the elementary intervals for a way of publishing ranges, and say which one each number is in."""
        if not self.numbers:
            return [], []
        return self.partition(max(least, 2)) if form == "partition" else self.boxes()

    def boxes(self) -> tuple[list[ElementaryInterval], list[int]]:
        """Make an interval of each number.

        >>> NumericColumn([17, 19], [1, 5]).boxes()[0][0]
        ElementaryInterval(low=17, high=17, closed=True, value=17)
        """
        intervals = [ElementaryInterval(n, n + self.whole, closed=not self.whole, value=n) for n in self.numbers]
        return intervals, list(range(len(intervals)))

    def partition(self, least: int) -> tuple[list[ElementaryInterval], list[int]]:
        """Make intervals of at least so many rows each, as far as there are as many; and say where each number is.

        >>> intervals, place = NumericColumn([1, 20, 21, 22, 23, 90], [1, 2, 2, 1, 1, 1]).partition(2)
        >>> [(interval.low, interval.high, interval.value) for interval in intervals], place
        ([(-inf, 21, None), (21, 22, 21), (22, inf, None)], [0, 0, 1, 2, 2, 2])
        """
        numbers, rows = self._inner()
        starts = interval_starts(rows, least)
        cuts = [roundest(numbers[start - 1], numbers[start]) for start in starts[1:]]
        lowest, highest = self.domain or (-math.inf, math.inf)
        lows, highs = [lowest, *cuts], [*cuts, highest + self.whole]
        intervals = [ElementaryInterval(low, high) for low, high in zip(lows, highs, strict=True)]
        for i, (start, end) in enumerate(pairwise(starts[1:]), 1):
            if end == start + 1:  # never the outermost ones: they hold the extremes as well
                intervals[i] = ElementaryInterval(lows[i], highs[i], value=numbers[start])
        if self.domain and not self.whole:
            intervals[-1] = ElementaryInterval(lows[-1], highest, closed=True)
        places, place = [], 0
        for value in self.numbers:
            while place < len(cuts) and value >= cuts[place]:
                place += 1
            places.append(place)
        return intervals, places

    def extent(self, *, inner: bool) -> tuple[int, int]:
        """Find the lowest and the highest number, with `inner` those without the lowest and the highest record.

        >>> NumericColumn([1, 20, 22, 90], [1, 1, 1, 1]).extent(inner=True)
        (20, 22)
        """
        numbers = (self._inner()[0] if inner and self.numbers else self.numbers) or [0]
        return numbers[0], numbers[-1]

    def _inner(self) -> tuple[list[int], list[int]]:
        """Leave the lowest and the highest record out: the numbers and their rows."""
        rows = list(self.rows)
        rows[0] -= 1
        rows[-1] -= 1
        inner = [i for i, count in enumerate(rows) if count > 0]
        return [self.numbers[i] for i in inner], [rows[i] for i in inner]


def interval_starts(rows: Sequence[int], least: int) -> list[int]:
    """Find where intervals start: each has at least so many rows, and a number that has as many itself is alone.

    The lowest and the highest record are not among these rows; each counts in its outermost interval. What is left over
    between two frequent numbers, or at the end, goes to the interval before, if there is one.

    >>> interval_starts([1, 1, 1, 9, 1, 9, 1], least=3)
    [0, 3, 5]
    """
    starts, size = [0], 1
    for place, count in enumerate(rows):
        if size >= least or (count >= least and len(starts) > 1):
            if size < least:
                starts.pop()
            starts.append(place)
            size = 0
        size += count
    if size + 1 < least and len(starts) > 1:
        starts.pop()
    return starts


def roundest(above: int, upto: int) -> int:
    """Find the roundest number above the one and at most the other: so a cut rarely is somebody's number.

    >>> roundest(17, 23), roundest(1721, 1729), roundest(-3, 4), roundest(36, 37)
    (20, 1725, 0, 37)
    """
    step: int = 10 ** len(str(max(abs(above), abs(upto))))
    while True:
        for multiple in (5, 2, 1):
            candidate = upto - upto % (step * multiple)
            if candidate > above:
                return candidate
        step //= 10
