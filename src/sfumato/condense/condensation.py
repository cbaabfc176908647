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

With `multiple`, each group gives so many pseudo-rows for each of its rows. With `noise`, each number gets uniform noise
of so many standard deviations of its column besides, and so large a share of the cells of each category changes places
with one another, within a stratum.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sfumato.cluster.mdav import mdav, v_mdav
from sfumato.cluster.median_cuts import median_cuts
from sfumato.cluster.mixed_points import CategoryColumn, MixedPoints
from sfumato.condense.mixed_columns import NUMBER, MixedColumn, MixedTable
from sfumato.condense.pseudo_rows import apportion, deal_categories, draw_coordinates, settle_numbers, uniform_units
from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.randomness import Randomness
from sfumato.core.segments import Segments, sort_by_group, stable_order
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
    members = group_rows(table, k, options.clustering or "mdav", progress)
    groups = int(members.max()) + 1
    order, runs = sort_by_group(members, groups)
    drawing = _Drawing(table, order, runs, k, options, randomness)
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
    cluster = _CLUSTERINGS[clustering]
    _require_enough(table, k)
    points = as_points(table)
    if table.count == 1:
        return cluster(points, k, table.persons)
    order, runs = sort_by_group(table.strata, table.count)
    members: IntArray = np.empty(table.rows, dtype=np.int64)
    groups = 0
    for start, length in zip(runs.starts.tolist(), runs.lengths.tolist(), strict=True):
        rows = order[start : start + length]
        persons = None if table.persons is None else table.persons[rows]
        found = cluster(points.select(rows), k, persons)
        members[rows] = found + groups
        groups += int(found.max()) + 1
        if progress is not None:
            progress(start + length, table.rows)
    return members


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
class _Drawing:
    """All that rows are drawn from: a table, its rows by group (int[rows]), where each group is among them, and how."""

    table: MixedTable
    order: IntArray
    runs: Segments
    k: int
    options: AlgorithmOptions
    randomness: Randomness

    def draw(self) -> list[DrawnColumn]:
        """Draw all columns of all groups, groups of one size at a time; pseudo-rows come group by group."""
        columns, multiple = self.table.columns, self.options.multiple
        total = len(self.order) * multiple
        codes = [np.zeros(total, dtype=np.int64) for _ in columns]
        numbers = [np.zeros(0) if column.numbers is None else np.empty(total) for column in columns]
        means = [np.zeros(0) if column.numbers is None else np.empty(len(self.runs)) for column in columns]
        for groups in self._blocks_of_one_size():
            size = int(self.runs.lengths[groups[0]])
            rows = self.order[self.runs.starts[groups][:, None] + np.arange(size)]  # int[g, n]
            places = multiple * self.runs.starts[groups][:, None] + np.arange(size * multiple)  # int[g, m]
            points = self._coordinates(groups, rows)
            drawn = draw_coordinates(points, size * multiple, self.randomness)
            for number, column in enumerate(columns):
                if column.has_marks:
                    codes[number][places] = _deal(
                        column, column.codes[rows], drawn[:, :, self._marks[number]], multiple
                    )
                if column.numbers is not None:
                    line = drawn[:, :, self._marks[number].start - 1]
                    means[number][groups] = points[:, :, self._marks[number].start - 1].mean(axis=1)
                    numbers[number][places] = _widen(line, column.codes[rows]) if column.has_marks else line
        return [
            DrawnColumn(
                codes[number],
                None if column.numbers is None else self._settle(number, codes[number], line, means[number]),
            )
            for number, (column, line) in enumerate(zip(columns, numbers, strict=True))
        ]

    @cached_property
    def _marks(self) -> list[slice]:
        """Which coordinates of a point are the codes of each column; that of its number stands before them."""
        marks, width = [], 0
        for column in self.table.columns:
            width += column.numbers is not None
            marks.append(slice(width, width + (column.width if column.has_marks else 0)))
            width = marks[-1].stop
        return marks

    def _blocks_of_one_size(self) -> list[IntArray]:
        """List groups of one size together, as many as may be drawn at a time."""
        by_size, width = stable_order(self.runs.lengths), self._marks[-1].stop
        blocks = []
        for same in np.split(by_size, np.flatnonzero(np.diff(self.runs.lengths[by_size])) + 1):
            size = int(self.runs.lengths[same[0]])
            most = max(_BLOCK // (size * max(width, size)), 1)
            blocks += [same[start : start + most] for start in range(0, len(same), most)]
        return blocks

    @cached_property
    def _holders(self) -> list[IntArray]:
        """How many rows of each group, or persons, hold a number in each column: int[groups] each."""
        groups = len(self.runs)
        everybody = self.runs.lengths
        found = []
        for column in self.table.columns:
            if column.numbers is None or not column.has_marks:
                found.append(everybody)
                continue
            held = column.codes[self.order] == NUMBER
            if self.table.persons is None:
                found.append(self.runs.sum(held.astype(np.int64)))
            else:
                found.append(_count_persons(self.runs.group[held], self.table.persons[self.order][held], groups))
        return found

    def _coordinates(self, groups: IntArray, rows: IntArray) -> FloatArray:
        """Make points of the rows of some groups: int[g] and int[g, n] to float[g, n, d].

        What a row does not tell has the mean of what the others of its group tell, and so no part in covariances. A
        number that fewer than k of a group hold has none in those of that group.
        """
        points = np.zeros((*rows.shape, self._marks[-1].stop))
        for number, (column, marks) in enumerate(zip(self.table.columns, self._marks, strict=True)):
            if not column.has_marks and column.numbers is not None:
                points[:, :, marks.start - 1] = column.numbers.take(rows)
                continue
            codes = column.codes.take(rows)
            if column.numbers is not None:
                held, few = codes == NUMBER, (self._holders[number][groups] < self.k)[:, None]
                values = np.where(held, column.numbers.take(rows), 0.0)
                mean = values.sum(axis=1, keepdims=True) / np.maximum(held.sum(axis=1, keepdims=True), 1)
                points[:, :, marks.start - 1] = np.where(few, 0.0, np.where(held, values, mean))
            told = codes >= 0
            each = (codes[:, :, None] == np.arange(column.width)).astype(np.float64)
            shares = each.sum(axis=1, keepdims=True) / np.maximum(told.sum(axis=1), 1)[:, None, None]
            points[:, :, marks] = np.where(told[:, :, None], each, shares)
        return points

    def _settle(self, number: int, codes: IntArray, drawn: FloatArray, means: FloatArray) -> FloatArray:
        """Numbers of a column as they are published; NaN where the code says something else.

        Each group keeps the mean of its numbers, each pool of groups in which fewer than k hold one that of the pool.

        codes, drawn: what was drawn, int and float[pseudo-rows]; the numbers are standardized
        means: float[groups], of the numbers of each group, where every row holds one
        """
        column, options = self.table.columns[number], self.options
        assert column.numbers is not None  # noqa: S101 - whoever asks knows; this tells the type checker
        runs = Segments.from_lengths(self.runs.lengths * options.multiple)  # of pseudo-rows
        if options.noise:
            noise = options.noise * uniform_units(self.randomness, drawn.shape)
        if not column.has_marks:  # all hold a number, and the groups are runs as they stand
            drawn = drawn + noise if options.noise else drawn
            return _settle_runs(column, drawn, runs, means)
        pool, shown = self.pools[number], np.flatnonzero(codes == NUMBER)
        means, spreads = self._pool_moments(number, pool, np.nan_to_num(column.numbers[self.order]))
        pool_of = runs.spread(pool)[shown]
        few = np.flatnonzero(runs.spread(self._holders[number] < self.k)[shown])
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
        runs, k = self.runs, self.k
        strata = self.table.strata[self.order[runs.starts]]
        pools = {}
        for number, column in enumerate(self.table.columns):
            if column.numbers is None or not column.has_marks:
                continue
            held = column.codes[self.order] == NUMBER
            amount = runs.sum(held.astype(np.float64))
            means = runs.sum(np.nan_to_num(column.numbers[self.order])) / np.maximum(amount, 1)
            few = np.flatnonzero((self._holders[number] > 0) & (self._holders[number] < k))
            people = None
            if self.table.persons is not None:
                persons = self.table.persons[self.order]
                people = {
                    group: persons[start : start + length][held[start : start + length]].tolist()
                    for group, start, length in zip(
                        few.tolist(), runs.starts[few].tolist(), runs.lengths[few].tolist(), strict=True
                    )
                }
            pools[number] = _pool_groups(self._holders[number], means, strata, k, people)
        return pools

    def _pool_moments(self, number: int, pool: IntArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The mean and the spread of each pool of groups, float[groups + 1]; the last is that of pool -1.

        values: float[rows], the numbers in the order of the groups, 0 where there is none
        """
        runs, pools = self.runs, len(self.runs) + 1
        held = runs.sum((self.table.columns[number].codes[self.order] == NUMBER).astype(np.float64))
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


def _widen(drawn: FloatArray, codes: IntArray) -> FloatArray:
    """Give numbers the spread of those who hold one: rows without a number had a share of the variance, and no part.

    drawn: float[g, m]; codes: int[g, n]
    """
    amount = (codes == NUMBER).sum(axis=1, keepdims=True)
    mean = drawn.mean(axis=1, keepdims=True)
    widened: FloatArray = mean + (drawn - mean) * np.sqrt(codes.shape[1] / np.maximum(amount, 1))
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
