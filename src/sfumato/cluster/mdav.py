"""MDAV and V-MDAV: groups of near rows, those at the edge first.

MDAV (Domingo-Ferrer and Torra 2005): the row r farthest from the centroid of all rows left, with its k - 1 nearest, is
a group; so is the row s farthest from r with its k - 1 nearest; and again, with the rows left. What is left in the end,
k to 2k - 1 rows, is the last group.

V-MDAV (Solanas and Martínez-Ballesté 2006): the row farthest from the centroid of the table, with its k - 1 nearest, is
a group, which then grows: the row nearest to the group joins it if it is nearer to the group than γ times its distance
to the nearest of the other rows left. So dense clusters of k to 2k - 1 rows stay whole. What is left in the end, fewer
than k rows, goes to the nearest groups.

Both take passes over all rows left, two or three for each pair of groups, so that time grows with the square of the
rows. A table of more than 50,000 rows is first cut into blocks of fewer by `median_cuts`, and each block is grouped by
itself.

**Ties.** Of rows at equal distances the one comes first whose content does, the first number first. Equal rows are
interchangeable, and are worked on as one point that has a number of rows. So groups depend on the contents of rows and
not on where they stand.

**Persons.** Where it is known whose row each is, a group takes the nearest rows until they are of k persons, and a
person's equal rows stay together.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from sfumato.cluster.median_cuts import check_enough, median_cuts
from sfumato.cluster.mixed_points import Centroid, MixedPoints
from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.deadline import is_over

Report = Callable[[int, int], None]
"""What is called while groups are formed: with the rows that have a group, and all rows."""

_BLOCK = 50_000
"""Tables of more rows are cut into blocks."""

_SAMPLE = 16
"""The k nearest are looked for among those that are nearer than the k-th of every 16th point."""


def mdav(points: MixedPoints, k: int, persons: IntArray | None = None, progress: Report | None = None) -> IntArray:
    """Put rows into groups of k to 2k - 1 by MDAV; return the group of each row, int[n].

    With `persons` int[n], whose row it is, each group has rows of at least k persons, and may have more rows. Groups
    are numbered as they are formed. Raises `Infeasible` where there are fewer than k rows, or persons.

    >>> mdav(MixedPoints(np.array([[1.0], [9.0], [2.0], [10.0], [20.0], [21.0]])), 2)
    array([1, 2, 1, 2, 0, 0])
    """
    return _group_blocks(points, k, persons, progress, _mdav)


def v_mdav(
    points: MixedPoints,
    k: int,
    gamma: float = 0.2,
    persons: IntArray | None = None,
    progress: Report | None = None,
) -> IntArray:
    """Put rows into groups of k to 2k - 1 by V-MDAV; return the group of each row, int[n].

    `gamma` says how readily groups grow, 0 for never; 0.2 is the authors' choice for scattered rows, and about 1.1 that
    for clustered ones. A group grows only while at least k rows are left besides, so that what is left in the end fits
    into groups of at most 2k - 1 rows. With `persons`, a group may grow to twice the rows that it took to have k of
    them.

    >>> v_mdav(MixedPoints(np.array([[1.0], [2.0], [2.1], [8.0], [9.0], [15.0]])), 2, gamma=1.1)
    array([1, 1, 1, 0, 0, 0])
    """
    return _group_blocks(points, k, persons, progress, partial(_v_mdav, gamma=gamma))


def _mdav(left: "PointsLeft", k: int) -> None:
    while left.rows_left:
        if left.is_over():
            left.form_last_group()
            break
        edge = left.farthest(left.measure(left.centroid()))
        distances = left.measure(edge)
        places, rows = left.nearest_rows(distances, k)
        everything = len(places) == left.size and int(rows.sum()) == left.rows_left
        opposite = -1 if everything else left.farthest(distances, without=places[rows == left.rows[places]])
        left.form_group(places, rows)
        if not everything:
            left.form_group(*left.nearest_rows(left.measure(opposite), k))


def _v_mdav(left: "PointsLeft", k: int, gamma: float) -> None:
    from_middle = left.points.distances_to(left.centroid())
    far_first = np.argsort(-from_middle)
    # A centroid is rounded: so equal is nearly equal, as in `farthest`.
    tied = np.cumsum(np.diff(from_middle[far_first], prepend=np.inf) < -left.slack)
    for point in far_first[np.lexsort([far_first, tied])].tolist():
        while left.rows_of(point) and left.can_fill(k):
            if left.is_over():
                left.form_last_group()
                break
            distances = left.measure(point)
            places, rows = left.nearest_rows(distances, k, leave=0)
            left.form_group(*left.grow(places, rows, distances, k, gamma))
    left.give_to_nearest(k)


def _group_blocks(
    points: MixedPoints,
    k: int,
    persons: IntArray | None,
    progress: Report | None,
    form_groups: Callable[["PointsLeft", int], None],
) -> IntArray:
    """Form groups in each block of the table, and number them one behind the other."""
    check_enough(len(points), k, persons)
    total = len(points)
    small = total <= _BLOCK
    block = np.zeros(total, dtype=np.int64) if small else median_cuts(points, k, persons, size=max(_BLOCK // 2, k))
    group = np.empty(total, dtype=np.int64)
    groups = done = 0
    for number in range(int(block.max()) + 1):
        rows = np.flatnonzero(block == number)
        report = None if progress is None else partial(_report_block, progress, done, total)
        left = PointsLeft(points.select(rows), None if persons is None else persons[rows], report)
        left.is_over = partial(is_over, progress)
        form_groups(left, k)
        group[rows] = groups + left.group_of_rows()
        groups += left.groups
        done += len(rows)
    return group


def _report_block(progress: Report, before: int, total: int, done: int) -> None:
    progress(before + done, total)


@dataclass(frozen=True, eq=False)
class DistancePass:
    """Squared distances of all points left to a centre, which has d numbers and a table per category.

    `rough` float[size], by place, is less `square`, the squared length of the centre, and may be wrong by `slack`.
    """

    numbers: FloatArray
    tables: list[FloatArray]
    square: float
    rough: FloatArray


class PointsLeft:
    """The rows that have no group yet, as distinct points with a number of rows each.

    Points are numbered in the order of their contents, and then of persons. Of m points, the first `size` places of
    the arrays hold those that have rows left, in no order: a point that is used up is replaced by the last one, so that
    every pass goes over neighbouring memory and little is copied. `columns` float[d, m], `codes` int[m] per category,
    `squares` float[m] the squared lengths, `rows` int[m], `number` int[m] which point is at a place, and `place` int[m]
    where a point is.

    Passes are products of a vector and a matrix, |x|² - 2·c·x, which are quick and round differently on different
    processors. So what is nearest or farthest is decided among those within `slack` of it, by sums of squared
    differences, and then by number.
    """

    def __init__(self, points: MixedPoints, persons: IntArray | None, report: Callable[[int], None] | None) -> None:
        self.order = points.content_order(persons)
        starts = points.distinct_starts(self.order, persons)
        self.points = points.select(self.order[starts])
        self.person = None if persons is None else np.unique(persons[self.order[starts]], return_inverse=True)[1]
        self.size = len(starts)
        self.rows = np.diff(starts, append=len(self.order))
        self.columns = np.array(self.points.numbers.T, order="C")  # a copy, since points are moved in it
        self.codes = [column.codes.copy() for column in self.points.categories]
        self.squares = (self.columns**2).sum(axis=0)
        self.number, self.place = np.arange(self.size), np.arange(self.size)
        self.rows_left = len(self.order)
        self.points_of_person = None if self.person is None else np.bincount(self.person)
        self.persons_left = 0 if self.points_of_person is None else len(self.points_of_person)
        self._sums = (self.columns * self.rows).sum(axis=1)
        self._counts = [
            np.bincount(codes, self.rows, column.width)
            for codes, column in zip(self.codes, self.points.categories, strict=True)
        ]
        weights = sum(column.weight for column in self.points.categories)
        terms = len(self.columns) + len(self.codes) + 8
        self.slack = terms * 2.0**-51 * (4.0 * float(self.squares.max(initial=0.0)) + weights)
        self._lines: list[tuple[IntArray, IntArray]] = []  # of each group: its points, and how many rows of each
        self._report = report
        self.is_over: Callable[[], bool] = bool

    @property
    def groups(self) -> int:
        """How many groups are formed so far."""
        return len(self._lines)

    def centroid(self) -> Centroid:
        """Find the middle of the rows left."""
        return Centroid(self._sums / self.rows_left, tuple(counts / self.rows_left for counts in self._counts))

    def rows_of(self, point: int) -> int:
        """Tell how many rows of a point are left."""
        place = self.place[point]
        return int(self.rows[place]) if place < self.size and self.number[place] == point else 0

    def can_fill(self, k: int, *, without: IntArray | None = None, rows: int = 0) -> bool:
        """Tell whether there are k rows left besides so many; or k persons, besides the points at these places."""
        if self.person is None or self.points_of_person is None:
            return self.rows_left - rows >= k
        if without is None:
            return self.persons_left >= k
        persons, points = np.unique(self.person[self.number[without]], return_counts=True)
        return self.persons_left - int((points == self.points_of_person[persons]).sum()) >= k

    def measure(self, centre: Centroid | int) -> DistancePass:
        """Measure the squared distance of each point left to a centroid, or to the point of this number."""
        categories = self.points.categories
        if isinstance(centre, Centroid):
            numbers = centre.numbers
            tables = [of.distances_to_shares(shares) for of, shares in zip(categories, centre.shares, strict=True)]
        else:
            numbers = self.points.numbers[centre]
            tables = [of.distances_to_value(int(of.codes[centre])) for of in categories]
        rough: FloatArray = (-2.0 * numbers) @ self.columns[:, : self.size]
        rough += self.squares[: self.size]
        for codes, table in zip(self.codes, tables, strict=True):
            rough += table.take(codes[: self.size])
        return DistancePass(numbers, tables, float((numbers**2).sum()), rough)

    def exactly(self, distances: DistancePass, places: IntArray) -> FloatArray:
        """Give the squared distances of the points at some places, the same on every machine."""
        exact = np.zeros(len(places))
        for column, number in zip(self.columns, distances.numbers, strict=True):
            exact += (column.take(places) - number) ** 2
        for codes, table in zip(self.codes, distances.tables, strict=True):
            exact += table.take(codes.take(places))
        return exact

    def farthest(self, distances: DistancePass, *, without: IntArray | None = None) -> int:
        """Find the point farthest from a centre, those at some places left out: its number."""
        rough = distances.rough
        if without is not None:
            rough[without] = -np.inf
        places = np.flatnonzero(rough >= rough.max() - 2 * self.slack)
        if len(places) == 1:
            return int(self.number[places[0]])
        exact, number = self.exactly(distances, places), self.number.take(places)
        return int(number[exact >= exact.max() - self.slack].min())  # a centroid is rounded: so equal is nearly equal

    def nearest(self, distances: DistancePass, count: int) -> IntArray:
        """List the places of so many points, the nearest first."""
        count = min(count, self.size)
        rough = distances.rough
        sample = rough[::_SAMPLE]
        # The count-th of a few is at least the count-th of all; most points are ruled out by one comparison.
        if len(sample) > count:
            near = np.flatnonzero(rough <= np.partition(sample, count - 1)[count - 1] + 2 * self.slack)
        else:
            near = np.arange(self.size)
        values = rough.take(near)
        near = near[values <= np.partition(values, count - 1)[count - 1] + 2 * self.slack]
        order = np.lexsort([self.number.take(near), self.exactly(distances, near)])
        places: IntArray = near[order[:count]]
        return places

    def nearest_rows(self, distances: DistancePass, k: int, *, leave: int | None = None) -> tuple[IntArray, IntArray]:
        """Choose the k nearest rows, or the nearest rows of k persons: places of points, and rows of each.

        All rows left are chosen where the rest would not make a group, of k rows or persons, or of as many as it is to
        `leave`.
        """
        leave = k if leave is None else leave
        everything = np.arange(self.size), self.rows[: self.size].copy()
        if self.person is None:
            if not self.can_fill(leave, rows=k):
                return everything
            places = self.nearest(distances, k)
            before = np.cumsum(self.rows[places]) - self.rows[places]
            places = places[before < k]
            return places, np.minimum(self.rows[places], k - before[before < k])
        count = k
        while True:  # as many points as it takes
            places = self.nearest(distances, count)
            first = np.sort(np.unique(self.person[self.number[places]], return_index=True)[1])
            if len(first) >= k:
                break
            count *= 2
        places = places[: first[k - 1] + 1]
        return (places, self.rows[places]) if self.can_fill(leave, without=places) else everything

    def grow(
        self, places: IntArray, rows: IntArray, distances: DistancePass, k: int, gamma: float
    ) -> tuple[IntArray, IntArray]:
        """Let the nearest rows join a group as long as they are nearer to it than to others: its places and rows.

        A row joins if its distance to the nearest row of the group is less than `gamma` times that to the nearest other
        row left; not beyond 2s - 1 rows, where the group has s at first, and while k rows, or persons, are left.

        The group lies around the point that `distances` are of, within a radius r; let a row at distance D be the
        nearest to that point. The row nearest to the group is at most D from it, and so at most r + D from the point.
        """
        most = 2 * int(rows.sum()) - 1
        free = self.rows[: self.size].copy()
        free[places] -= rows
        rough = np.where(free > 0, distances.rough, np.inf)
        while int(rows.sum()) < most and self.can_fill(k, without=places, rows=int(rows.sum()) + 1):
            radius = np.sqrt(self.exactly(distances, places).max())
            reach = radius + np.sqrt(max(rough.min() + distances.square + self.slack, 0.0))
            near = np.flatnonzero(rough <= reach**2 * (1 + 1e-9) - distances.square + self.slack)
            to_group = self._between(near, places).min(axis=1)
            nearest = near[to_group == to_group.min()]
            joins = nearest[self.number[nearest].argmin()]
            others = self.measure(int(self.number[joins]))
            others.rough[free == 0] = np.inf
            if self.person is not None or free[joins] == 1:
                others.rough[joins] = np.inf
            close = np.flatnonzero(others.rough <= others.rough.min() + 2 * self.slack)
            if not to_group.min() < gamma**2 * self.exactly(others, close).min():
                break
            joining = 1 if self.person is None else int(free[joins])
            free[joins] -= joining
            if free[joins] == 0:
                rough[joins] = np.inf
            if joins in places:
                rows = np.where(places == joins, rows + joining, rows)
            else:
                places, rows = np.append(places, joins), np.append(rows, joining)
            if self.person is not None and not self.can_fill(k, without=places):
                return places[:-1], rows[:-1]
        return places, rows

    def _between(self, places: IntArray, others: IntArray) -> FloatArray:
        """Give the squared distances between points at some places and at others: float[places, others]."""
        between = np.zeros((len(places), len(others)))
        for column in self.columns:
            between += (column.take(places)[:, None] - column.take(others)) ** 2
        for codes, column in zip(self.codes, self.points.categories, strict=True):
            for label in column.labels:
                differ = label.take(codes.take(places))[:, None] != label.take(codes.take(others))
                between += differ * (column.weight / len(column.labels))
        return between

    def form_last_group(self) -> None:
        """Take all rows that are left out, as a group: the time is over."""
        self.form_group(np.arange(self.size), self.rows[: self.size].copy())

    def form_group(self, places: IntArray, rows: IntArray) -> None:
        """Take rows of the points at some places out, as a group."""
        self._lines.append((self.number[places], rows))
        self.rows_left -= int(rows.sum())
        self._sums -= (self.columns[:, places] * rows).sum(axis=1)
        for codes, counts in zip(self.codes, self._counts, strict=True):
            np.subtract.at(counts, codes[places], rows)
        if self.person is not None and self.points_of_person is not None:
            whose = self.person[self.number[places]]
            np.subtract.at(self.points_of_person, whose, 1)
            self.persons_left -= int((self.points_of_person[np.unique(whose)] == 0).sum())
        self.rows[places] -= rows
        gone = places[self.rows[places] == 0]
        # The last points move to the places of those that are gone.
        size = self.size - len(gone)
        holes = gone[gone < size]
        stays = np.ones(len(gone), dtype=np.bool_)
        stays[gone[gone >= size] - size] = False
        movers = size + np.flatnonzero(stays)
        for array in (self.columns.T, self.squares, self.rows, self.number, *self.codes):
            array[holes] = array[movers]
        self.place[self.number[holes]] = holes
        self.size = size
        if self._report is not None and self.groups % 64 == 0:
            self._report(len(self.order) - self.rows_left)

    def give_to_nearest(self, k: int) -> None:
        """Give each row left to the group that has the row nearest to it, of groups that still have fewer than 2k - 1.

        With persons, groups may have any number of rows.
        """
        if not self.rows_left:
            return
        point = np.concatenate([line[0] for line in self._lines])
        group = np.repeat(np.arange(self.groups), [len(line[0]) for line in self._lines])
        sizes = np.array([int(line[1].sum()) for line in self._lines])
        for number in np.sort(self.number[: self.size]).tolist():
            distances = self.points.distances_to_row(number).take(point)
            together = self.rows_of(number) if self.person is not None else 1
            for _ in range(self.rows_of(number) // together):
                room = np.ones(len(group), dtype=np.bool_) if self.person is not None else sizes[group] < 2 * k - 1
                least = np.flatnonzero(room & (distances == distances[room].min()))
                chosen = int(group[least[np.lexsort([group[least], point[least]])[0]]])
                points, rows = self._lines[chosen]
                self._lines[chosen] = np.append(points, number), np.append(rows, together)
                sizes[chosen] += together
        self.size = self.rows_left = 0

    def group_of_rows(self) -> IntArray:
        """Give the group of each row, in the order in which the rows came: int[n]."""
        point = np.concatenate([line[0] for line in self._lines])
        rows = np.concatenate([line[1] for line in self._lines])
        group = np.repeat(np.arange(self.groups), [len(line[0]) for line in self._lines])
        by_point = np.argsort(point, kind="stable")
        result = np.empty(len(self.order), dtype=np.int64)
        result[self.order] = np.repeat(group[by_point], rows[by_point])
        return result
