"""Condensation: pseudo-rows in place of rows, drawn from the statistics of groups (Aggarwal and Yu 2004).

1. Rows are parted into groups of at least k (persons, where a column names them) that are near each other.
2. Of each group its mean and covariances are taken, of all columns, sensitive ones included.
3. Along the eigenvectors of the covariances, pseudo-rows are drawn: uniform, independent, with the variance of each
   axis, and centred so that the group keeps its mean.

A pseudo-row is nobody's. What it tells, it tells of a group of at least k. Three things keep it so where columns are no
plain numbers:

- Numbers beside atoms or NULL. In a group of ten of whom nine have no capital gain, the mean of the gains of the others
  is one person's. So where fewer than k rows of a group hold a number, their numbers are drawn from the mean and the
  spread of several such groups together, which have k; of persons, k different ones, since one may be in many groups.
- Categories that fewer than k hold are not published (see `mixed_columns`).
- Every statistic is of k rows at least: nothing is kept of a row by itself.

With `multiple`, each group gives so many pseudo-rows for each of its rows. With `neighbours`, so many groups that lie
near each other, or up to twice as many, are a *neighbourhood*: the covariances of all its rows together take the place
of those of each group, whose mean and counts stay what they are. Pseudo-rows of one group then lie among those of
others, so that the one nearest to a person is hardly ever drawn around the mean that the person has a part in. With
`noise`, each number gets uniform noise of so many standard deviations of its column besides, and so large a share of
the cells of each category changes places with one another, within a stratum.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sfumato.cluster.mdav import mdav, v_mdav
from sfumato.cluster.median_cuts import median_cuts
from sfumato.cluster.mixed_points import CategoryColumn, MixedPoints
from sfumato.condense.mixed_columns import NUMBER, MixedColumn, MixedTable
from sfumato.condense.pseudo_rows import (
    apportion,
    deal_categories,
    draw_along,
    find_spokes,
    settle_numbers,
    uniform_units,
)
from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.randomness import Randomness
from sfumato.core.segments import Segments, run_starts, sort_by_group, stable_order
from sfumato.errors import Infeasible
from sfumato.policy.options import AlgorithmOptions

Progress = Callable[[int, int], None]

_BLOCK = 1 << 21
"""So many coordinates are drawn at a time."""
_CATEGORY_WEIGHT = 1.0
"""What two different categories add to the squared distance of two rows; a number adds 2 on average."""


@dataclass(frozen=True, eq=False)
class DrawnColumn:
    """What was drawn of a column: a code for each pseudo-row, and where the code says so a number of the column."""

    codes: IntArray
    numbers: FloatArray | None

    def take(self, rows: IntArray) -> "DrawnColumn":
        """Select pseudo-rows."""
        # a column of numbers alone has the same code everywhere, which need not be looked up
        alike = self.numbers is not None and not self.codes.any()
        codes = np.zeros(len(rows), dtype=np.int64) if alike else self.codes.take(rows)
        return DrawnColumn(codes, None if self.numbers is None else self.numbers.take(rows))


@dataclass(frozen=True, eq=False, repr=False)
class Condensed:
    """Pseudo-rows, in the random order in which they are published, and the groups that they were drawn from.

    `columns` are those of the table, in its order. `group_of` is int[pseudo-rows], the group of each. `members` is
    int[rows], the group of each row that came in; `sizes` and `persons` are int[groups], its rows, and the different
    persons among them. `pools` has, for the place of each column with numbers beside atoms or NULL, int[groups]: groups
    of one number had their numbers drawn from the mean and spread of all of them, those of -1 from the whole column's.
    """

    columns: tuple[DrawnColumn, ...]
    group_of: IntArray
    members: IntArray
    sizes: IntArray
    persons: IntArray
    pools: Mapping[int, IntArray] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Number of pseudo-rows."""
        return len(self.group_of)


def condense(
    table: MixedTable, k: int, options: AlgorithmOptions, randomness: Randomness, progress: Progress | None = None
) -> Condensed:
    """Draw pseudo-rows for a table, from groups of at least k rows, or persons where a column names them.

    Raises `Infeasible` where there are fewer than k, in the table or in a stratum.
    """
    clustering = options.clustering or "mdav"
    members = group_rows(table, k, clustering, progress)
    groups = int(members.max()) + 1
    order, runs = sort_by_group(members, groups)
    around = None if options.neighbours == 1 else group_neighbours(table, members, options.neighbours, clustering)
    drawing = _Drawing(_Groups(table, k, order, runs), around, options, randomness)
    drawn = drawing.draw()
    group_of = np.repeat(np.arange(groups), runs.lengths * options.multiple)
    if options.noise:
        strata = table.strata[order[runs.starts]].take(group_of)
        pairs = zip(table.columns, drawn, strict=True)
        drawn = [_swap_cells(column, part, strata, options.noise, randomness) for column, part in pairs]
    shuffle = randomness.permutation(len(group_of))
    persons = runs.lengths if table.persons is None else _count_persons(members, table.persons, groups)
    columns = tuple(part.take(shuffle) for part in drawn)
    return Condensed(columns, group_of.take(shuffle), members, runs.lengths, persons, drawing.pools)


# ---------------------------------------------------------------------------------------------------------------------
# Groups

_Clustering = Callable[[MixedPoints, int, IntArray | None], IntArray]
"""From points, k and the person of each to the group of each."""
_CLUSTERINGS: dict[str, _Clustering] = {
    "mdav": mdav,
    "v-mdav": lambda points, k, persons: v_mdav(points, k, persons=persons),
    "mondrian": median_cuts,
}


def group_rows(table: MixedTable, k: int, clustering: str, progress: Progress | None = None) -> IntArray:
    """Part the rows of each stratum into groups of at least k that are near each other: int[rows]."""
    _require_enough(table, k)
    persons = table.persons
    return _cluster_strata(as_points(table), table.strata, k, _CLUSTERINGS[clustering], persons, progress)


def group_neighbours(table: MixedTable, members: IntArray, amount: int, clustering: str) -> IntArray:
    """Put groups of a stratum together whose middles are near each other, so many at least, or all where it has fewer.

    members: int[rows], the group of each row
    returns: int[groups], the neighbourhood of each group
    """
    order, runs = sort_by_group(members, int(members.max()) + 1)
    middles = _middles(as_points(table), order, runs)
    return _cluster_strata(middles, table.strata[order[runs.starts]], amount, _CLUSTERINGS[clustering])


def _cluster_strata(
    points: MixedPoints,
    strata: IntArray,
    k: int,
    cluster: _Clustering,
    persons: IntArray | None = None,
    progress: Progress | None = None,
) -> IntArray:
    """Cluster the points of each stratum, k or more at a time, or all of them where it has fewer: int[points]."""
    count = int(strata.max()) + 1
    if count == 1:
        return cluster(points, min(k, len(strata)), persons)
    order, runs = sort_by_group(strata, count)
    members: IntArray = np.empty(len(strata), dtype=np.int64)
    groups = 0
    for start, length in zip(runs.starts.tolist(), runs.lengths.tolist(), strict=True):
        rows = order[start : start + length]
        found = cluster(points.select(rows), min(k, length), None if persons is None else persons[rows])
        members[rows] = found + groups
        groups += int(found.max()) + 1
        if progress is not None:
            progress(start + length, len(strata))
    return members


def _middles(points: MixedPoints, order: IntArray, runs: Segments) -> MixedPoints:
    """Make a point of each group: the means of its numbers, and of categories the value that most of its rows have."""
    numbers = [runs.sum(column.take(order)) / runs.lengths for column in points.numbers.T]
    return MixedPoints(
        np.stack(numbers).T if numbers else np.zeros((len(runs), 0)),
        tuple(
            CategoryColumn(
                _most_frequent(one.codes.take(order).astype(np.int64), one.width, runs), one.width, one.weight
            )
            for one in points.categories
        ),
    )


def _most_frequent(codes: IntArray, width: int, runs: Segments) -> IntArray:
    """Find the code below `width` that most lines of each run have, of several the lowest: int[runs].

    >>> _most_frequent(np.array([2, 0, 2, 1, 0]), 3, Segments.from_lengths(np.array([3, 2]))).tolist()
    [2, 0]
    """
    pairs = np.sort(runs.group * width + codes)
    starts = run_starts(pairs)
    amount, (group, code) = np.diff(starts, append=len(pairs)), np.divmod(pairs[starts], width)
    best = np.lexsort((code, -amount, group))
    first: IntArray = code[best[run_starts(group)]]  # group is in order already, and stays
    return first


def _require_enough(table: MixedTable, k: int) -> None:
    """Refuse a k that the table, or one of its strata, does not have."""
    unit = "rows" if table.persons is None else "people"
    amounts = (
        np.bincount(table.strata, minlength=table.count)
        if table.persons is None
        else _count_persons(table.strata, table.persons, table.count)
    )
    least = int(amounts.min())
    if least >= k:
        return
    if not table.strata_names:
        raise Infeasible(f"k = {k:,} cannot be met: the table has {least:,} {unit}; lower k", nearest={"k": least})
    few = int((amounts < k).sum())
    raise Infeasible(
        f"k = {k:,} cannot be met in {few:,} of {table.count:,} strata of {', '.join(table.strata_names)}: the "
        f"smallest has {least:,} {unit}; lower k, or leave a column out of strata",
        nearest={"k": least},
    )


def _count_persons(group: IntArray, persons: IntArray, groups: int) -> IntArray:
    """Count the different persons of each group: int[groups]."""
    width = int(persons.max(initial=0)) + 1
    return np.bincount(np.unique(group * width + persons) // width, minlength=groups)


def as_points(table: MixedTable) -> MixedPoints:
    """Rows as points: standardized numbers, and categories that differ or do not; strata are the same for all."""
    numbers = [np.nan_to_num(column.numbers) for column in table.columns if column.numbers is not None]
    marked = [column for column in table.columns if column.has_marks and column.name not in table.strata_names]
    return MixedPoints(
        np.stack(numbers).T if numbers else np.zeros((table.rows, 0)),  # column by column in memory, as they are cut
        # what a row does not tell is a value of its own here
        tuple(CategoryColumn(column.codes + 1, column.width + 1, _CATEGORY_WEIGHT) for column in marked),
    )


# ---------------------------------------------------------------------------------------------------------------------
# Drawing


@dataclass(frozen=True, eq=False)
class _Groups:
    """The rows of a table by group: those of all groups one behind the other (int[rows]), and where each group is."""

    table: MixedTable
    k: int
    order: IntArray
    runs: Segments

    @cached_property
    def marks(self) -> list[slice]:
        """Which coordinates of a point are the codes of each column; that of its number stands before them."""
        marks, width = [], 0
        for column in self.table.columns:
            width += column.numbers is not None
            marks.append(slice(width, width + (column.width if column.has_marks else 0)))
            width = marks[-1].stop
        return marks

    @cached_property
    def holding(self) -> list[IntArray]:
        """How many rows of each group hold a number in each column: int[groups] each."""
        return [
            self.runs.sum((column.codes[self.order] == NUMBER).astype(np.int64))
            if column.numbers is not None and column.has_marks
            else self.runs.lengths
            for column in self.table.columns
        ]

    @cached_property
    def holders(self) -> list[IntArray]:
        """How many rows of each group, or persons, hold a number in each column: int[groups] each."""
        if self.table.persons is None:
            return self.holding
        found = []
        for column in self.table.columns:
            if column.numbers is None or not column.has_marks:
                found.append(self.runs.lengths)
                continue
            held = column.codes[self.order] == NUMBER
            persons = self.table.persons[self.order][held]
            found.append(_count_persons(self.runs.group[held], persons, len(self.runs)))
        return found

    def blocks_of_one_size(self, among: IntArray, least: int = 0) -> list[IntArray]:
        """List the places of groups of one size together, as many as may be drawn at a time: int[g] each.

        among: int[any], groups; `least` coordinates are needed for each, besides those of its points
        """
        lengths, width = self.runs.lengths[among], self.marks[-1].stop
        by_size = stable_order(lengths)
        blocks = []
        for same in np.split(by_size, np.flatnonzero(np.diff(lengths[by_size])) + 1):
            size = int(lengths[same[0]])
            most = max(_BLOCK // max(size * max(width, size), least), 1)
            blocks += [same[start : start + most] for start in range(0, len(same), most)]
        return blocks

    def rows_of(self, groups: IntArray) -> IntArray:
        """The rows of groups of one size: int[g, n]."""
        places = self.runs.starts[groups][:, None] + np.arange(int(self.runs.lengths[groups[0]]))
        return self.order.take(places)

    def coordinates(self, groups: IntArray) -> FloatArray:
        """Make points of the rows of groups of one size: int[g] to float[g, n, d].

        What a row does not tell has the mean of what the others of its group tell, and so no part in covariances. A
        number that fewer than k of a group hold has none in those of that group.
        """
        rows = self.rows_of(groups)
        points = np.zeros((*rows.shape, self.marks[-1].stop))
        for number, (column, marks) in enumerate(zip(self.table.columns, self.marks, strict=True)):
            if not column.has_marks and column.numbers is not None:
                points[:, :, marks.start - 1] = column.numbers.take(rows)
                continue
            codes = column.codes.take(rows)
            if column.numbers is not None:
                held, few = codes == NUMBER, (self.holders[number][groups] < self.k)[:, None]
                values = np.where(held, column.numbers.take(rows), 0.0)
                mean = values.sum(axis=1, keepdims=True) / np.maximum(held.sum(axis=1, keepdims=True), 1)
                points[:, :, marks.start - 1] = np.where(few, 0.0, np.where(held, values, mean))
            told = codes >= 0
            each = (codes[:, :, None] == np.arange(column.width)).astype(np.float64)
            shares = each.sum(axis=1, keepdims=True) / np.maximum(told.sum(axis=1), 1)[:, None, None]
            points[:, :, marks] = np.where(told[:, :, None], each, shares)
        return points

    def dilution(self, number: int) -> FloatArray:
        """How many rows of each group there are for each that holds a number in a column: float[groups]."""
        diluted: FloatArray = self.runs.lengths / np.maximum(self.holding[number], 1)
        return diluted


@dataclass(frozen=True, eq=False)
class _Drawing:
    """All that rows are drawn from: groups, the neighbourhood of each (int[groups]) if they have any, and how."""

    groups: _Groups
    around: IntArray | None
    options: AlgorithmOptions
    randomness: Randomness

    def draw(self) -> list[DrawnColumn]:
        """Draw all columns of all groups, groups of one size at a time; pseudo-rows come group by group."""
        columns, runs, multiple = self.groups.table.columns, self.groups.runs, self.options.multiple
        total = len(self.groups.order) * multiple
        codes = [np.zeros(total, dtype=np.int64) for _ in columns]
        numbers = [np.zeros(0) if column.numbers is None else np.empty(total) for column in columns]
        means = [np.zeros(0) if column.numbers is None else np.empty(len(runs)) for column in columns]
        for groups, points, spokes in self._spoked_groups():
            rows = self.groups.rows_of(groups)
            amount = rows.shape[1] * multiple
            places = multiple * runs.starts[groups][:, None] + np.arange(amount)  # int[g, m]
            drawn = draw_along(points.mean(axis=1, keepdims=True), spokes, amount, self.randomness)
            for number, (column, marks) in enumerate(zip(columns, self.groups.marks, strict=True)):
                if column.has_marks:
                    codes[number][places] = _deal(column, column.codes[rows], drawn[:, :, marks], multiple)
                if column.numbers is not None:
                    line = drawn[:, :, marks.start - 1]
                    means[number][groups] = points[:, :, marks.start - 1].mean(axis=1)
                    numbers[number][places] = _widen(line, self._dilution(number)[groups]) if column.has_marks else line
        return [
            DrawnColumn(
                codes[number],
                None if column.numbers is None else self._settle(number, codes[number], line, means[number]),
            )
            for number, (column, line) in enumerate(zip(columns, numbers, strict=True))
        ]

    def _spoked_groups(self) -> Iterator[tuple[IntArray, FloatArray, FloatArray]]:
        """All groups, those of one size together: int[g], their points float[g, n, d], their spokes float[g, r, d].

        Spokes are those of a group itself, or of its neighbourhood, which are found once for all groups in it.
        """
        everything = np.arange(len(self.groups.runs))
        if self.wide is None or self.around is None:
            for groups in self.groups.blocks_of_one_size(everything):
                points = self.groups.coordinates(groups)
                yield groups, points, find_spokes(points)
            return
        listed, inside = sort_by_group(self.around, len(self.wide.runs))
        for wide in self.wide.blocks_of_one_size(np.arange(len(self.wide.runs))):
            spokes = find_spokes(self.wide.coordinates(wide))  # float[w, r, d]
            among, place = listed[inside.places(wide)], inside.select(wide).group
            for chosen in self.groups.blocks_of_one_size(among, spokes[0].size):
                yield among[chosen], self.groups.coordinates(among[chosen]), spokes[place[chosen]]

    @cached_property
    def wide(self) -> _Groups | None:
        """The neighbourhoods, as groups themselves."""
        if self.around is None:
            return None
        members = np.empty(len(self.groups.order), dtype=np.int64)
        members[self.groups.order] = self.groups.runs.spread(self.around)
        return _Groups(self.groups.table, self.groups.k, *sort_by_group(members, int(self.around.max()) + 1))

    def _dilution(self, number: int) -> FloatArray:
        """How many rows there are for each with a number, where the spread of each group is from: float[groups]."""
        if self.wide is None or self.around is None:
            return self.groups.dilution(number)
        return self.wide.dilution(number)[self.around]

    def _settle(self, number: int, codes: IntArray, drawn: FloatArray, means: FloatArray) -> FloatArray:
        """Numbers of a column as they are published; NaN where the code says something else.

        Each group keeps the mean of its numbers, each pool of groups in which fewer than k hold one that of the pool.

        codes, drawn: what was drawn, int and float[pseudo-rows]; the numbers are standardized
        means: float[groups], of the numbers of each group, where every row holds one
        """
        column, options = self.groups.table.columns[number], self.options
        assert column.numbers is not None  # noqa: S101 - whoever asks knows; this tells the type checker
        runs = Segments.from_lengths(self.groups.runs.lengths * options.multiple)  # of pseudo-rows
        if options.noise:
            noise = options.noise * uniform_units(self.randomness, drawn.shape)
        if not column.has_marks:  # all hold a number, and the groups are runs as they stand
            drawn = drawn + noise if options.noise else drawn
            return _settle_runs(column, drawn, runs, means)
        pool, shown = self.pools[number], np.flatnonzero(codes == NUMBER)
        means, spreads = self._pool_moments(number, pool, np.nan_to_num(column.numbers[self.groups.order]))
        pool_of = runs.spread(pool)[shown]
        few = np.flatnonzero(runs.spread(self.groups.holders[number] < self.groups.k)[shown])
        drawn = drawn[shown]
        drawn[few] = means[pool_of[few]] + spreads[pool_of[few]] * uniform_units(self.randomness, few.shape)
        drawn = drawn + noise[shown] if options.noise else drawn
        by_pool = stable_order(pool_of + 1)  # that of no pool is -1
        together = Segments.from_sorted(pool_of[by_pool])
        settled = np.full(len(codes), np.nan)
        settled[shown[by_pool]] = _settle_runs(
            column, drawn[by_pool], together, means[pool_of[by_pool[together.starts]]]
        )
        return settled

    @cached_property
    def pools(self) -> dict[int, IntArray]:
        """Put groups together in which few hold a number, for each column with numbers beside atoms or NULL.

        Groups whose numbers are too few even together have -1: theirs are drawn like those of the whole column.
        """
        runs, k = self.groups.runs, self.groups.k
        strata = self.groups.table.strata[self.groups.order[runs.starts]]
        pools = {}
        for number, column in enumerate(self.groups.table.columns):
            if column.numbers is None or not column.has_marks:
                continue
            held = column.codes[self.groups.order] == NUMBER
            amount = runs.sum(held.astype(np.float64))
            means = runs.sum(np.nan_to_num(column.numbers[self.groups.order])) / np.maximum(amount, 1)
            few = np.flatnonzero((self.groups.holders[number] > 0) & (self.groups.holders[number] < k))
            people = None
            if self.groups.table.persons is not None:
                persons = self.groups.table.persons[self.groups.order]
                people = {
                    group: persons[start : start + length][held[start : start + length]].tolist()
                    for group, start, length in zip(
                        few.tolist(), runs.starts[few].tolist(), runs.lengths[few].tolist(), strict=True
                    )
                }
            pools[number] = _pool_groups(self.groups.holders[number], means, strata, k, people)
        return pools

    def _pool_moments(self, number: int, pool: IntArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The mean and the spread of each pool of groups, float[groups + 1]; the last is that of pool -1.

        values: float[rows], the numbers in the order of the groups, 0 where there is none
        """
        runs, pools = self.groups.runs, len(self.groups.runs) + 1
        held = runs.sum((self.groups.table.columns[number].codes[self.groups.order] == NUMBER).astype(np.float64))
        place = np.where(pool < 0, len(runs), pool)
        amount = np.maximum(np.bincount(place, weights=held, minlength=pools), 1)
        means = np.bincount(place, weights=runs.sum(values), minlength=pools) / amount
        variances = np.bincount(place, weights=runs.sum(values**2), minlength=pools) / amount - means**2
        means[-1], variances[-1] = 0.0, 1.0  # of the whole column, which is standardized
        return means, np.sqrt(np.maximum(variances, 0))


def _settle_runs(column: MixedColumn, drawn: FloatArray, runs: Segments, means: FloatArray) -> FloatArray:
    """Put the standardized numbers of runs, float[n], back on the column's scale, each run with its mean: float[g]."""
    assert column.scale is not None  # noqa: S101 - whoever asks knows; this tells the type checker
    targets = np.clip(column.restore(means), column.low, column.high)
    return settle_numbers(column.restore(drawn), runs, targets, column.low, column.high, column.scale.step)


def _deal(column: MixedColumn, codes: IntArray, coordinates: FloatArray, multiple: int) -> IntArray:
    """Give each pseudo-row its code in a column: int[g, m], from codes int[g, n] and coordinates float[g, m, c]."""
    groups, size = codes.shape
    flat = (np.arange(groups)[:, None] * column.width + codes)[codes >= 0]
    counts = np.bincount(flat, minlength=groups * column.width).reshape(groups, column.width) * multiple
    if (codes < 0).any():
        usual = np.bincount(column.codes[column.codes >= 0], minlength=column.width)
        counts = apportion(counts, np.full(groups, size * multiple), usual)
    return deal_categories(coordinates, counts)


def _widen(drawn: FloatArray, dilution: FloatArray) -> FloatArray:
    """Give numbers the spread of those who hold one: rows without a number had a share of the variance, and no part.

    drawn: float[g, m]; dilution: float[g], rows for each that holds a number
    """
    mean = drawn.mean(axis=1, keepdims=True)
    widened: FloatArray = mean + (drawn - mean) * np.sqrt(dilution)[:, None]
    return widened


def _pool_groups(
    holders: IntArray,
    means: FloatArray,
    strata: IntArray,
    k: int,
    people: Mapping[int, Sequence[int]] | None = None,
) -> IntArray:
    """Put groups in which fewer than k hold a number together, until k do: int[groups], the pool of each.

    Those of a stratum with like means come together. A group with k holders is a pool of its own. What is left of a
    stratum goes into its last pool, or where it has none into one with what is left of others. -1 stands for no pool:
    of a group without a number, and where what is left has fewer than k as well.

    holders, means: int and float[groups], how many hold a number and what it is on average
    people: who they are, of each group with fewer than k; one who holds numbers in several groups counts once

    >>> _pool_groups(np.array([9, 2, 1, 2]), np.array([0.0, 4, 0, 4.5]), np.zeros(4, dtype=np.int64), 3).tolist()
    [0, 2, 2, 2]
    >>> alone = {0: [7], 1: [7], 2: [7]}
    >>> _pool_groups(np.ones(3, dtype=np.int64), np.zeros(3), np.zeros(3, dtype=np.int64), 3, alone).tolist()
    [-1, -1, -1]
    """
    pool = np.where(holders > 0, np.arange(len(holders)), -1)
    few = np.flatnonzero((holders > 0) & (holders < k))
    few = few[np.lexsort([means[few], strata[few]])]
    left_over: list[int] = []
    for stratum in np.split(few, np.flatnonzero(np.diff(strata[few])) + 1):
        left = _amounts_from(stratum, holders, people)
        name, total, met = -1, k, set[int]()  # of the last pool of the stratum: its number, and the holders in it
        for place, group in enumerate(stratum.tolist()):
            if total >= k and (name < 0 or left[place] >= k):
                name, total, met = group, 0, set()
            pool[group] = name
            if people is None:
                total += int(holders[group])
            else:
                met.update(people[group])
                total = len(met)
        if total < k:
            left_over += stratum.tolist()
    if left_over:
        rest = np.array(left_over)
        pool[rest] = rest[0] if _amounts_from(rest, holders, people)[0] >= k else -1
    return pool


def _amounts_from(groups: IntArray, holders: IntArray, people: Mapping[int, Sequence[int]] | None) -> list[int]:
    """Count who holds a number in each group and those after it: rows, or different people."""
    if people is None:
        return [int(amount) for amount in np.cumsum(holders[groups][::-1])[::-1]]
    met, amounts = set[int](), list[int]()
    for group in reversed(groups.tolist()):
        met.update(people[group])
        amounts.append(len(met))
    return amounts[::-1]


# ---------------------------------------------------------------------------------------------------------------------
# Noise of categories


def _swap_cells(
    column: MixedColumn, drawn: DrawnColumn, strata: IntArray, share: float, randomness: Randomness
) -> DrawnColumn:
    """Let a share of the cells of a category change places with one another, within a stratum."""
    if column.numbers is not None:
        return drawn
    chosen: BoolArray = uniform_units(randomness, strata.shape) < (2 * share - 1) * np.sqrt(3.0)
    places = np.flatnonzero(chosen)
    places = places[stable_order(strata[places])]
    mixed = randomness.permutation(len(places))
    mixed = mixed[np.argsort(strata[places[mixed]], kind="stable")]
    codes = drawn.codes.copy()
    codes[places] = drawn.codes[places[mixed]]
    return DrawnColumn(codes, None)
