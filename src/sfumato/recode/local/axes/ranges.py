"""The axis of a column of ranges: a hull is a run of spans, published as one range.

How is the policy's choice. A partition shows cut points that were chosen for the whole column, a box the smallest and
the largest number of the class, a mean their mean. NULL stands behind the last span: a class of NULLs alone is
published as NULL, one of NULLs and numbers as ``*``.
"""

from copy import copy

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.encode import QuasiIdentifier
from sfumato.hierarchy import Ranges
from sfumato.hierarchy.hierarchy import ROOT, Label
from sfumato.hierarchy.intervals import policy_number, write_range
from sfumato.recode.local.axes.axis import Axis, Members, Shown
from sfumato.recode.local.axes.means import means
from sfumato.recode.local.axes.spans import Column, Span

_LEAST = 1e-9
"""The width of a range that has more than one number but no width, as far as a float can tell."""

_TABLE = 1 << 20
"""Up to so many runs of spans, the loss of each is looked up and not worked out."""


class RangeAxis(Axis):
    """A column of ranges; `least` is how many rows an elementary interval should have.

    What a range costs is its width over the domain's: 0 for one number, 1 for ``*``. A domain that is not declared is
    that of the data, for a partition without the lowest and the highest record: the choice of cuts must not depend on
    these either.
    """

    join = np.maximum

    def __init__(self, attribute: QuasiIdentifier, share: float, *, shown: str, least: int = 2) -> None:
        super().__init__(attribute)
        self.share, self.kind = share, shown
        assert isinstance(attribute.spec, Ranges)  # noqa: S101 - who makes it has looked; this tells the type checker
        self.whole = attribute.spec.is_whole
        values = attribute.hierarchy.labels[0]
        self.numbers, self.scale = attribute.spec.numbers(values, column=attribute.name)
        column = self._column(attribute.spec)
        spans, owner = _spans(column, shown, max(least, 2))
        self.spans: list[Span] = spans
        self.null = len(spans)
        self.place = self._places(column, owner)
        self.single = np.column_stack([-self.place, self.place])
        self._ends(column)
        size = self.null + 1
        self._table = self._losses(*np.divmod(np.arange(size**2), size)) if size**2 <= _TABLE else None

    def by_place(self, share: float) -> "RangeAxis":
        """The same for values that are coded by their places, with another weight."""
        other = copy(self)
        other.share = share
        other.place = np.arange(int(self.place.max(initial=0)) + 1)
        other.single = np.column_stack([-other.place, other.place])
        return other

    def cells(self, hulls: IntArray) -> FloatArray:
        """By width."""
        return self.share * self.losses(hulls)

    def losses(self, hulls: IntArray) -> FloatArray:
        """The NCP of each hull."""
        first, last = -hulls[..., 0], hulls[..., 1]
        return self._losses(first, last) if self._table is None else self._table.take(first * (self.null + 1) + last)

    def widths(self, hulls: IntArray) -> FloatArray:
        """By width, and 0 for what cannot be told apart any further."""
        many = -hulls[..., 0] < hulls[..., 1]
        return np.where(many, np.maximum(self.losses(hulls), _LEAST), 0.0)

    def show(self, hulls: IntArray) -> Shown:
        """Runs that are in use, and their texts."""
        key = -hulls[:, 0] * (self.null + 1) + hulls[:, 1]
        used, codes = np.unique(key, return_inverse=True)
        first, last = np.divmod(used, self.null + 1)
        texts = tuple(self.text(a, b) for a, b in zip(first.tolist(), last.tolist(), strict=True))
        loss = self.losses(np.column_stack([-first, last]))
        return Shown(codes, texts, loss, loss)

    def describe(self, hulls: IntArray, members: Members) -> Shown:
        """The means of the members, where those are asked for."""
        if self.kind != "means":
            return self.show(hulls)
        kinds = np.where(hulls[:, 1] < self.null, 0, np.where(-hulls[:, 0] < self.null, 1, 2))
        texts = means(self.numbers, self.scale, members, kinds)
        rows = np.bincount(members.group, members.rows, len(texts)).astype(np.float64)
        return _by_text(texts, self.losses(hulls), rows)

    def text(self, first: int, last: int) -> Label:
        """The label of a run of spans."""
        if last == self.null:
            return None if first == last else ROOT
        start, end = self.spans[first], self.spans[last]
        if first == last and start.value is not None:
            return write_range(start.value, start.value, scale=self.scale, closed=True)
        if self.kind == "partition" and first == 0 and last == self.null - 1:
            return ROOT
        return write_range(start.low, end.high, scale=self.scale, whole=self.whole, closed=end.closed)

    def _losses(self, first: IntArray, last: IntArray) -> FloatArray:
        wide = np.minimum(self.high.take(last) - self.low.take(first), 1.0)
        everything = (first == 0) & (last == self.null - 1) & (self.kind == "partition")
        return np.where(first == last, self.alone.take(first), np.where(everything, 1.0, wide))

    def _column(self, spec: Ranges) -> Column:
        rows: dict[int, int] = {}
        for known, count in zip(self.numbers, self.attribute.frequencies.tolist(), strict=True):
            if known is not None:
                rows[known] = rows.get(known, 0) + count
        domain = tuple(int(policy_number(end, "domain") * self.scale) for end in spec.domain or ())
        ordered = sorted(rows)
        return Column(ordered, [rows[n] for n in ordered], (domain[0], domain[1]) if domain else None, spec.is_whole)

    def _places(self, column: Column, owner: list[int]) -> IntArray:
        """The span of each leaf; NULL stands last."""
        place = dict(zip(column.numbers, owner, strict=True))
        return np.array([self.null if n is None else place[n] for n in self.numbers], dtype=np.int64)

    def _ends(self, column: Column) -> None:
        """Where spans begin and end, as shares of the domain, and what each costs alone."""
        low, high = column.domain or column.extent(inner=self.kind == "partition")
        width = max(high - low, 1)
        begin = [(max(span.low, low) - low) / width for span in self.spans]
        end = [(min(span.high - self.whole, high) - low) / width for span in self.spans]
        alone = [0.0 if span.value is not None else b - a for span, a, b in zip(self.spans, begin, end, strict=True)]
        if self.kind == "partition" and self.null == 1:
            alone = [1.0]  # one interval is all there is
        # a run that ends in NULL and holds numbers is as wide as can be
        self.low, self.high, self.alone = np.array([*begin, 1.0]), np.array([*end, 2.0]), np.array([*alone, 0.0])


def _spans(column: Column, shown: str, least: int) -> tuple[list[Span], list[int]]:
    if not column.numbers:
        return [], []
    return column.partition(least) if shown == "partition" else column.boxes()


def _by_text(texts: list[Label], losses: FloatArray, rows: FloatArray) -> Shown:
    """Labels of groups, where groups of different losses may have one label: it costs what its rows lose on average."""
    known = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    codes = np.array([known[text] for text in texts], dtype=np.int64)
    loss = np.bincount(codes, losses * rows, len(known)) / np.bincount(codes, rows, len(known))
    return Shown(codes, tuple(known), loss, loss)
