"""Mondrian multidimensional recoding (LeFevre, DeWitt and Ramakrishnan 2006).

Starts from one group and cuts every group along its widest attribute while all sides satisfy the requirement; where
that fails, along the next one. An attribute of ranges or sets is cut at the median of its order, one with a hierarchy
below the lowest label that covers the group, into its children. All groups are cut at once: a round is a few passes
over the tuples, not a loop over groups.

`mondrian` is strict: rows of one value stay together. `mondrian_relaxed` divides the rows of the median value into even
halves where no strict cut of an attribute passes; along a hierarchy it does what the strict one does.

Sizes, for k-anonymity, with m the largest number of rows that have the same intervals and values throughout, and d
attributes, all of ranges and sets:

- a group of `mondrian` has at most m + 2d(k - 1) rows. Where a group of more than 2k - 1 rows is not cut, less than k
  rows are before and less than k behind the median of each attribute; all others agree in all of them.
- a group of `mondrian_relaxed` has at most 2k - 1 rows, or agrees in every attribute: then dividing it changes no
  label. The same holds for `mondrian` where all rows differ in every attribute.
"""

from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import BoolArray, Codes, FloatArray, IntArray
from sfumato.core.deadline import is_over
from sfumato.core.keys import count_keys, number_tuples, pack_tuples
from sfumato.core.segments import Segments
from sfumato.recode.local.axes import TreeAxis
from sfumato.recode.local.partition import Partition
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.range_axis import RangeAxis
from sfumato.recode.recoding import Progress


def mondrian(problem: Problem, progress: Progress | None = None) -> Partition:
    """Partition by strict Mondrian; rows that are suppressed at the start stay so.

    Progress is in rows: those of groups that are finished, and all.
    """
    return _partition(problem, progress, relaxed=False)


def mondrian_relaxed(problem: Problem, progress: Progress | None = None) -> Partition:
    """Partition by relaxed Mondrian."""
    return _partition(problem, progress, relaxed=True)


def _partition(problem: Problem, progress: Progress | None, *, relaxed: bool) -> Partition:
    coordinates = Coordinates(problem)
    groups = problem.start.published
    if relaxed:  # rows that are divided are in the order of their places, whatever their values are called
        groups = groups.select(coordinates.lexical_order(groups.tuples))
    groups = groups.sort_by_group()
    finished, done, rows = list[Partition](), 0, int(groups.rows.sum())
    while len(groups):
        if is_over(progress):
            finished.append(groups)
            break
        uncut, groups = _cut_widest(groups, coordinates, relaxed=relaxed)
        finished += uncut
        if progress is not None:
            done += sum(int(partition.rows.sum()) for partition in uncut)
            progress(done, rows)
    return Partition.concatenate([*finished, problem.start.suppressed])


def _cut_widest(groups: Partition, coordinates: "Coordinates", *, relaxed: bool) -> tuple[list[Partition], Partition]:
    """Cut each group once, along its widest attribute that allows it; return the groups left whole, and the sides.

    The lines of `groups` are sorted by group, those of the result as well. With g groups that are large enough and d
    attributes: widths float[d, g], levels int[d, g], order int[d, g] the attributes from the widest to the narrowest.
    The i-th attribute of all groups is tried at the same time, of those that have not been cut by the ones before it.
    """
    large = Segments.from_sorted(groups.group).sum(groups.rows) >= 2 * coordinates.problem.requirement.least
    uncut, sides = [groups.select_groups(~large)], list[Partition]()
    groups = groups.select_groups(large)
    widths, levels = coordinates.spread(groups)
    order = np.argsort(-widths, axis=0, kind="stable")
    number = np.arange(groups.groups)  # of the groups that are left, their columns in these tables
    for ranked in order:
        attribute = ranked.take(number)
        wide = widths[attribute, number] > 0
        uncut.append(groups.select_groups(~wide))
        groups, number, attribute = groups.select_groups(wide), number[wide], attribute[wide]
        if not len(groups):
            break
        has_levels, cut = coordinates.has_levels.take(attribute), np.zeros(groups.groups, dtype=np.bool_)
        if has_levels.any():
            chosen = groups.select_groups(has_levels)
            level = levels[attribute, number][has_levels]
            new, cut[has_levels] = _cut_below_label(chosen, coordinates, attribute[has_levels], level)
            sides.append(new)
        if not has_levels.all():
            chosen = groups.select_groups(~has_levels)
            more, cut[~has_levels] = _cut_at_median(chosen, coordinates, attribute[~has_levels], relaxed=relaxed)
            sides += more
        groups, number = groups.select_groups(~cut), number[~cut]
    uncut.append(groups)
    return uncut, Partition.concatenate(sides).sort_by_group()


def _cut_below_label(
    groups: Partition, coordinates: "Coordinates", attribute: IntArray, level: IntArray
) -> tuple[Partition, BoolArray]:
    """Cut each group into the children of the label that covers it; return the sides, and which groups were cut.

    Where every child passes, each is a group of its own. Children that fail stay together as the rest of their group,
    which keeps its label; where the rest fails too, the smallest child that passes joins it. (Cutting only where all
    children pass loses about twice as much on Adult at k = 5.)

    With n lines, g groups and c children of them in all: attribute int[g], level int[g] of the covering label, child
    int[n] number of each line's child, parent int[c] its group, into int[c] the child that each becomes part of.
    """
    problem, tuples, rows = coordinates.problem, groups.tuples, groups.rows
    label = coordinates.labels_below(attribute.take(groups.group), tuples, level.take(groups.group))
    child, children = number_tuples(pack_tuples([groups.group, label], [groups.groups, coordinates.labels]))
    parent = np.empty(children, dtype=np.int64)
    parent[child] = groups.group
    sizes = np.bincount(child, rows, children)
    passing = problem.passes(tuples, rows, child, sizes)
    good = np.bincount(parent[passing], minlength=groups.groups)
    cut: BoolArray = np.bincount(parent[~passing], minlength=groups.groups) == 0
    rest = np.full(groups.groups, -1)  # one of the failing children of each group, which stands for all of them
    rest[parent[~passing]] = np.flatnonzero(~passing)
    into = np.where(passing, np.arange(children), rest.take(parent))

    def rest_passes(chosen: BoolArray) -> BoolArray:
        number = np.full(children, -1)
        number[rest[chosen]] = np.arange(int(chosen.sum()))
        group = number.take(into).take(child)
        lines = np.flatnonzero(group >= 0)
        amounts, group = rows.take(lines), group.take(lines)
        return problem.passes(tuples.take(lines), amounts, group, np.bincount(group, amounts, int(chosen.sum())))

    open_groups = ~cut & (good >= 1)
    if open_groups.any():
        cut[open_groups] = rest_passes(open_groups)
    open_groups = ~cut & (good >= 2)
    if open_groups.any():
        largest_first = np.argsort(-sizes, kind="stable")
        largest_first = largest_first[passing.take(largest_first)]
        smallest = np.full(groups.groups, -1)
        smallest[parent.take(largest_first)] = largest_first  # the last assignment stays
        into[smallest[open_groups]] = rest[open_groups]
        cut[open_groups] = rest_passes(open_groups)
    used = np.zeros(children, dtype=np.bool_)
    used[into[cut.take(parent)]] = True
    side = (np.cumsum(used) - 1).take(into)
    lines = np.flatnonzero(cut.take(groups.group))
    group = side.take(child.take(lines))
    return Partition(tuples.take(lines), rows.take(lines), group, int(used.sum())), cut


def _cut_at_median(
    groups: Partition, coordinates: "Coordinates", attribute: IntArray, *, relaxed: bool
) -> tuple[list[Partition], BoolArray]:
    """Cut each group in two, NULLs from numbers first of all, else at the median of its attribute, int[g].

    Returns the halves, and which groups were cut, bool[g]. Strict cuts are tried before rows of one value are divided:
    values that stay together make tighter labels. By sizes alone, the less even of two strict cuts fails where the
    other does.
    """
    problem = coordinates.problem
    place = coordinates.places_on(attribute.take(groups.group), groups.tuples)
    median = Median.from_lines(groups.group, place, groups.rows, span=coordinates.span)
    halves, cut = list[Partition](), np.zeros(groups.groups, dtype=np.bool_)
    strict = median.strict()
    every = np.ones(groups.groups, dtype=np.bool_)
    ways = [median.before_nulls(coordinates.nulls.take(attribute)), (strict[0], every)]
    if not problem.only_sizes_count:
        ways.append((strict[1], every))
    if relaxed:
        ways.append((median.even(), every))
    for cuts, applies in ways:
        open_groups = applies & ~cut
        if open_groups.any():
            chosen, at = groups.select_groups(open_groups), place[open_groups.take(groups.group)]
            new, cut[open_groups] = _cut_in_two(problem, chosen, at, cuts.select(open_groups))
            halves.append(new)
    return halves, cut


def _cut_in_two(problem: Problem, groups: Partition, place: Codes, cuts: "Cuts") -> tuple[Partition, BoolArray]:
    """Carry a cut of each group out where both sides pass; place [n] is that of each line."""
    side, rows, lines = assign_sides(cuts, groups.group, place, groups.rows, whole=problem.indivisible)
    tuples, group = groups.tuples, groups.group
    if len(lines) > len(groups):
        tuples, group = tuples[lines], group[lines]
    side += 2 * group
    passing = problem.passes(tuples, rows, side, np.bincount(side, rows, 2 * groups.groups))
    cut: BoolArray = passing[0::2] & passing[1::2]
    cut_lines = np.flatnonzero(cut.take(group))
    number = np.cumsum(np.repeat(cut, 2)) - 1
    half = number.take(side.take(cut_lines))
    return Partition(tuples.take(cut_lines), rows.take(cut_lines), half, 2 * int(cut.sum())), cut


@dataclass(frozen=True, eq=False)
class Cuts:
    """A cut of each of g groups along an order, all int[g] or bool[g].

    What is before the `place` goes to one side, what is behind it to the other. Of the rows at the place, `quota` go
    with those before; where that is neither none nor all of them, the cut is `partial`. A strict cut is not.
    """

    place: IntArray
    quota: IntArray
    partial: BoolArray

    def select(self, chosen: BoolArray) -> "Cuts":
        """Keep the cuts of some groups."""
        return Cuts(self.place[chosen], self.quota[chosen], self.partial[chosen])


@dataclass(frozen=True, eq=False)
class Median:
    """Where the middle row of each group is: its place, rows before that, rows there, and rows in all, each int[g].

    `last` is the place of the last row, `at_last` how many rows are there.
    """

    place: IntArray
    before: IntArray
    there: IntArray
    rows: IntArray
    last: IntArray
    at_last: IntArray

    @classmethod
    def from_lines(cls, group: IntArray, place: Codes, rows: IntArray, *, span: int) -> "Median":
        """Find the medians of groups, whose lines are sorted by group and which are numbered without gaps.

        Line by line: group int[n], place [n] below `span`, rows int[n].

        >>> median = Median.from_lines(np.array([0, 0, 0]), np.array([4, 7, 9]), np.array([1, 5, 2]), span=10)
        >>> median.place, median.before, median.there, median.rows
        (array([7]), array([1]), array([5]), array([8]))
        """
        # Rows are counted by group and place; then the median is the first cell with half of the rows up to it.
        cells = count_keys(pack_tuples([group, place], [int(group[-1]) + 1, span]), rows)
        runs = Segments.from_sorted(cells.keys // span)
        before = runs.sum_before(cells.counts)
        last = runs.starts + runs.lengths - 1
        total = before[last] + cells.counts[last]
        below_half = 2 * (before + cells.counts) < runs.spread(total)
        median = runs.starts + np.add.reduceat(below_half, runs.starts)
        at, end = cells.keys[median] % span, cells.keys[last] % span
        return cls(at, before[median], cells.counts[median], total, end, cells.counts[last])

    def strict(self) -> tuple[Cuts, Cuts]:
        """Cut right before and right behind the median place, the more even cut first."""
        before = self.rows - 2 * self.before <= 2 * (self.before + self.there) - self.rows
        never = np.zeros(len(before), dtype=np.bool_)
        more_even, less_even = np.where(before, 0, self.there), np.where(before, self.there, 0)
        return Cuts(self.place, more_even, never), Cuts(self.place, less_even, never)

    def even(self) -> Cuts:
        """Divide the rows of the median place so that halves are as even as can be."""
        quota = self.rows // 2 - self.before
        return Cuts(self.place, quota, (quota > 0) & (quota < self.there))

    def before_nulls(self, null: IntArray) -> tuple[Cuts, BoolArray]:
        """Cut before the NULLs, whose place is `null` or -1; also returns which groups have NULLs and others."""
        mixed = (self.last == null) & (self.at_last < self.rows)
        return Cuts(null, np.zeros_like(null), np.zeros(len(null), dtype=np.bool_)), mixed


def assign_sides(
    cuts: Cuts, group: IntArray, place: Codes, rows: IntArray, *, whole: bool
) -> tuple[IntArray, IntArray, IntArray]:
    """Assign the lines of groups to the two sides of their cuts; lines are sorted by group.

    Line by line: group int[n], place [n], rows int[n]. Returns side (0 or 1), rows and line, each int[n + m]: first the
    lines as they were, then the rest of each of the m lines that go both ways. There are none where lines stay whole:
    such a line goes where it comes nearer to the quota.
    """
    at, quota = cuts.place.take(group), cuts.quota.take(group)
    side = ((place > at) | ((place == at) & (quota == 0))).astype(np.int64)
    lines = np.arange(len(group))
    if not cuts.partial.any():
        return side, rows, lines
    tied = np.flatnonzero((place == at) & cuts.partial.take(group))
    here, quota = rows[tied], quota[tied]
    before = Segments.from_sorted(group[tied]).sum_before(here)
    if whole:
        side[tied] = 2 * before + here >= 2 * quota
        return side, rows, lines
    side[tied] = before >= quota
    both = (before < quota) & (before + here > quota)
    over, rows = (before + here - quota)[both], rows.copy()
    rows[tied[both]] -= over
    return (
        np.concatenate([side, np.ones(len(over), dtype=np.int64)]),
        np.concatenate([rows, over]),
        np.concatenate([lines, tied[both]]),
    )


class Coordinates:
    """The tuples of a problem by attribute, so that each group can be looked at along an attribute of its own.

    `span` is more than any place, `labels` more than any label code of a tree. Per attribute, `has_levels` bool[d], and
    `nulls` int[d] the place of NULL in ranges, where it is apart from numbers, or -1.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, axes, quasi = problem, problem.axes, problem.encoded.tuples.quasi
        self.tuples = len(problem.encoded.tuples)
        self.span = max(len(axis.place) for axis in axes) + 1
        self.has_levels = np.array([isinstance(axis, TreeAxis) for axis in axes])
        self.nulls = np.array([axis.null if isinstance(axis, RangeAxis) else -1 for axis in axes])
        # By attribute, then by tuple: its place. By attribute, word and tuple: its hull.
        self._places = np.concatenate(
            [_narrow(axis.place).take(codes) for axis, codes in zip(axes, quasi, strict=True)]
        )
        self._words = [
            [_narrow(np.ascontiguousarray(word)).take(codes) for word in axis.single.T]
            for axis, codes in zip(axes, quasi, strict=True)
        ]
        # By attribute, place and level: the code of the label.
        no_levels = np.zeros((0, 1), dtype=np.int64)
        trees = [axis.labels_by_place if isinstance(axis, TreeAxis) else no_levels for axis in axes]
        self._label = np.concatenate([labels.reshape(-1) for labels in trees])
        self._levels = np.array([labels.shape[1] for labels in trees])
        self._first_label = np.concatenate([[0], np.cumsum([labels.size for labels in trees])[:-1]])
        self.labels = max((int(labels.max(initial=0)) for labels in trees), default=0) + 1

    def places_on(self, attribute: IntArray, tuples: IntArray) -> Codes:
        """Look up the place of each tuple, each on an attribute of its own: both int[n]."""
        return self._places.take(attribute * self.tuples + tuples)

    def labels_below(self, attribute: IntArray, tuples: IntArray, level: IntArray) -> IntArray:
        """Look up the label of each tuple one level below `level`, each in a tree of its own: all int[n]."""
        place = self.places_on(attribute, tuples)
        first = self._first_label.take(attribute)
        label: IntArray = self._label.take(first + place * self._levels.take(attribute) + (level - 1))
        return label

    def lexical_order(self, tuples: IntArray) -> IntArray:
        """Find what sorts tuples by their places on the first attribute, then on the second, and so on."""
        return np.lexsort(self._places.reshape(-1, self.tuples).take(tuples, axis=1)[::-1])

    def spread(self, groups: Partition) -> tuple[FloatArray, IntArray]:
        """Measure each group on each attribute; lines are sorted by group.

        Returns its width, float[d, g], and the level of the label that covers it, int[d, g], 0 without levels.
        """
        axes, starts = self.problem.axes, Segments.from_sorted(groups.group).starts
        widths, levels = np.empty((len(axes), len(starts))), np.zeros((len(axes), len(starts)), dtype=np.int64)
        for number, (axis, words) in enumerate(zip(axes, self._words, strict=True)):
            hulls = np.stack(
                [axis.join.reduceat(word.take(groups.tuples), starts) for word in words], 1, dtype=np.int64
            )
            widths[number] = axis.widths(hulls)
            if isinstance(axis, TreeAxis):
                levels[number] = np.searchsorted(axis.offset, axis.nodes(hulls), side="right") - 1
        return widths, levels


def _narrow(values: IntArray) -> Codes:
    """Convert to the smallest signed type that holds the values: less to move."""
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    kinds = (np.int8, np.int16, np.int32)
    return values.astype(
        next((kind for kind in kinds if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max), np.int64)
    )
