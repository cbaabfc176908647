"""(X, Y)-privacy over the join of the current table with earlier releases, counted without making the join.

Wang and Fung 2006, sections 4 and 5. A requirement on the join is bound to the history table once
(`bind_requirement`), which counts what the earlier releases have on X and Y for each combination of their groups
(`HistoryCounts`). In each state of the specialization, the current table is counted on X, group and Y
(`CurrentCounts`), and with what each group matches (`GroupMatches`) a judge gives the figure of every value on X:

- `AnonymityJudge`: how many different values on Y it is linked to, a_Y(x) of Definition 3.1;
- `LinkabilityJudge`: the largest share of a protected value on Y, l_y(x) of Definition 3.2.

Where X has every column that records are matched by, a value on X has one group of the current table and one line of
the history table, and the figure is a product: Case 1 of section 5.4. For all else there is one exact way, by products
of sparse matrices in blocks. The paper's Case 2 would count a value on Y twice where an earlier release is generalized
and so matches several groups of one x: it would find more people than there are.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sfumato.core.arrays import BoolArray, Codes, FloatArray, IntArray
from sfumato.core.keys import count_keys, find_first, mix_bits, number_tuples, pack_tuples
from sfumato.core.numbers import floor_times
from sfumato.core.segments import expand_ranges
from sfumato.encode import CodedColumn
from sfumato.errors import DataError, PolicyError, listing
from sfumato.models import ROW, Linkage, XYAnonymity, XYLinkability
from sfumato.policy import ColumnReference
from sfumato.previous.linked_releases import LinkedReleases
from sfumato.previous.release_join import GroupMatches, HistoryTable

_MOST_LINES = 50_000_000
"""Lines of the history table that are still looked at."""
_LARGEST_WEIGHT = 2.0**53
"""From here on a float does not hold every whole number."""
_EXACT_RECORDS = 9e9
"""Numbers of joined records below this are compared with their bound exactly."""
_SAFE = 1 - 1e-12
_BLOCK = 1 << 23
"""About so many entries of a product of matrices are looked at at a time."""
_CLOSE = 1 << 20


@dataclass(frozen=True, eq=False, repr=False)
class JoinRequirement:
    """A requirement, bound to the current table and the history table.

    `x` are its columns of X in the current table; `y` (int[rows]) is the number of each row's value on the columns of Y
    in the current table, and `ys` how many values there are. The judge compares counts with what is required.
    """

    entry: Linkage
    x: tuple[str, ...]
    y: IntArray
    ys: int
    judge: "AnonymityJudge | LinkabilityJudge"


def bind_requirement(history: HistoryTable, entry: Linkage) -> JoinRequirement:
    """Bind a requirement to the tables that it is about."""
    releases = history.releases
    x = tuple(each.column for each in releases.references(entry.x) if each.table is None)
    own_y = [each for each in releases.references(entry.y) if each.table is None]
    columns = [releases.exact_columns[each.column] for each in own_y if each.column != ROW]
    keyed = ColumnReference(ROW) in own_y
    # Case 1 of section 5.4: X contains all join attributes, of all tables.
    join_attributes = {*releases.matched_columns}
    for place, name in enumerate(releases.names):
        join_attributes |= {f"{name}.{column}" for column in releases.matched_columns_of(place)}
    complete = join_attributes <= set(entry.x)
    numbered = [] if keyed and isinstance(entry, XYAnonymity) else columns
    y, ys, codes = _number_values(
        [column.codes for column in numbered], [column.width for column in numbered], releases.encoded.lines
    )
    if isinstance(entry, XYAnonymity):
        counts = count_history(history, entry, records=False)
        return JoinRequirement(entry, x, y, ys, AnonymityJudge(counts, entry.k, complete, keyed, bool(columns)))
    assert isinstance(entry, XYLinkability)  # noqa: S101 - there are two; this tells the type checker
    counts = count_history(history, entry, records=True)
    own = [(column.name, column, each) for column, each in zip(columns, codes, strict=True)]
    return JoinRequirement(
        entry, x, y, ys, LinkabilityJudge(counts, _bounds(entry, releases, counts, own, ys), complete)
    )


@dataclass(frozen=True, eq=False, repr=False)
class CurrentCounts:
    """The current table as far as one requirement looks at it, in any state of its specialization.

    Arrays of equal length, a line for each different combination of a value on X, a group of records that match alike,
    and a value on Y; `rows` are the records of each. Values and groups are numbered from 0; `xs`, `groups` and `ys` are
    how many there are of each.
    """

    x: IntArray
    group: IntArray
    y: IntArray
    rows: IntArray
    xs: int
    groups: int
    ys: int

    @classmethod
    def from_lines(
        cls, x: IntArray, group: IntArray, y: IntArray, rows: IntArray, sizes: tuple[int, int, int]
    ) -> "CurrentCounts":
        """Add up equal lines, which may be in any order; `sizes` are the numbers of x, groups and y."""
        packed = pack_tuples([x, group, y], sizes)
        counted = count_keys(packed, rows)
        x, group, y = packed.unpack(counted.keys)
        return cls(x, group, y, counted.counts, *sizes)

    @property
    def group_of_x(self) -> IntArray:
        """The group of each value on X, where it has one only."""
        group = np.zeros(self.xs, dtype=np.int64)
        group[self.x] = self.group
        return group


class XYResult(NamedTuple):
    """For each value on X whether it passes, and its figure: different values on Y, or the largest share."""

    passes: BoolArray
    figure: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class AnonymityJudge:
    """Judges values on X by the number of different values on Y that they are linked to.

    `complete` says that X has all columns that records are matched by; `keyed` that Y has the row key of the current
    table, and `valued` that Y has columns of it. The figure of a value on X that is nowhere in the join is infinite.
    """

    history: "HistoryCounts"
    least: int
    complete: bool
    keyed: bool
    valued: bool

    @property
    def antimonotone(self) -> bool:
        """Whether figures can only get worse by specializing, if all records match (Lemma 4.1).

        Values on Y of the current table only get fewer. With values of the history table it is not so, whatever the
        lemma says: a specialization may undo the match with the poorest of them.
        """
        return self.complete and self.history.ys == 1

    def worst(self, figures: FloatArray) -> float:
        """Give the worst figure: A_Y(X) of Definition 3.1."""
        return float(np.min(figures))

    def privacy_loss(self, before: float, after: float) -> float:
        """Tell by how many different values fewer X is linked to (PrivLoss of section 5.2)."""
        return max(0.0, before - after) if np.isfinite(before) else 0.0

    def judge(self, current: CurrentCounts, matches: GroupMatches) -> XYResult:
        """Compute the figure of each value on X, given what each group matches."""
        figure = self._count_complete(current, matches) if self.complete else self._count_general(current, matches)
        return XYResult(figure >= self.least, figure)

    @cached_property
    def _fewest(self) -> FloatArray:
        """For each combination, the fewest different values on Y that one of its values on X has."""
        history = self.history
        packed = pack_tuples([history.combination, history.x], [history.combinations, history.xs])
        counted = count_keys(packed, history.weight)
        combination, _ = packed.unpack(counted.keys)
        return _least_by_group(combination, counted.counts.astype(np.float64), history.combinations)

    def _count_complete(self, current: CurrentCounts, matches: GroupMatches) -> FloatArray:
        """Case 1 of section 5.4: a_Y(x1 x2) = a_Y1(x1) × a_Y2(x2), the least over all x2 that x1 is matched with."""
        own = np.ones(current.xs)
        if self.keyed or self.valued:
            own = np.bincount(current.x, current.rows if self.keyed else None, current.xs).astype(np.float64)
        fewest = _least_by_group(matches.group, self._fewest[matches.combination], len(matches))
        return own * fewest[current.group_of_x]

    def _count_general(self, current: CurrentCounts, matches: GroupMatches) -> FloatArray:
        """Count different pairs of an own value on Y and one of the history table, for each value on X.

        Three incidence matrices are multiplied: atoms × groups, groups × combinations, combinations × pairs of a value
        on X and one on Y in the history table. An entry of the product that is not 0 says that an atom is joined with
        such a pair, in whatever ways; so each is counted once. Combinations that match the same groups are one, and so
        are pairs of one x that the same combinations have, with their weights added up.
        """
        history = self.history
        x_of_atom, weight, atoms = self._atoms(current)
        alike = AlikeCombinations.from_matches(matches, history.combinations)
        x_of_pair, pair_weight, incidence = self._history_incidence(alike)
        figure = np.full(current.xs, np.inf)
        for entries in _multiply_in_blocks(atoms @ alike.incidence(current.groups), incidence, x_of_atom):
            x = x_of_atom[entries.row] * history.xs + x_of_pair[entries.column]  # a value on all columns of X
            xs, place = _number_close_values(x)
            count = np.bincount(place, weight[entries.row] * pair_weight[entries.column], len(xs))
            np.minimum.at(figure, xs // history.xs, count)
        return figure

    def _history_incidence(self, alike: "AlikeCombinations") -> tuple[IntArray, FloatArray, Any]:
        """Find which kinds of combinations have which pairs of values, pairs that are alike as one.

        Returns the value on X of each pair, int[pairs], its weight float[pairs], and a sparse matrix, kinds × pairs.
        """
        history, pairs = self.history, self.history.pairs
        kind = alike.kind[history.combination]
        matched = np.flatnonzero(kind >= 0)
        packed = pack_tuples([pairs.pair_of_line[matched], kind[matched]], [len(pairs.x), max(alike.kinds, 1)])
        pair, kind = packed.unpack(np.unique(packed.keys))
        which, sets = number_sets(pair, kind, len(pairs.x))
        key, column = np.unique(pairs.x * sets + which, return_inverse=True)
        weight: FloatArray = np.bincount(column, pairs.weight, len(key)).astype(np.float64)
        return key // sets, weight, _incidence(kind, column[pair], (alike.kinds, len(key)))

    def _atoms(self, current: CurrentCounts) -> tuple[IntArray, FloatArray, Any]:
        """Divide what is counted of the current table for each value on X into atoms that match as a whole.

        Atoms are of three kinds, numbered in one range: `groups` + g are the rows of group g or, where Y has no row
        key, the values on Y that occur in no other group of this x, which count as many as they are; 2 `groups` + y is
        a value on Y that occurs in several groups of this x, which counts once; 0 where Y has nothing of the current
        table. Returns int[atoms], the x of each atom, ascending; float[atoms], how many it counts; and a sparse matrix
        atoms × groups, the groups it occurs in.
        """
        if self.keyed:
            kind = current.groups + current.group
        else:
            pair = np.unique(current.x * current.ys + current.y, return_inverse=True)[1]
            alone = np.bincount(pair)[pair] == 1
            elsewhere = 2 * current.groups + current.y if self.valued else 0
            kind = np.where(alone & self.valued, current.groups + current.group, elsewhere)
        packed = pack_tuples([current.x, kind], [current.xs, 2 * current.groups + current.ys])
        keys, atom, lines = np.unique(packed.keys, return_inverse=True, return_counts=True)
        x_of_atom, kind = packed.unpack(keys)
        of_group = (kind >= current.groups) & (kind < 2 * current.groups)
        weight: FloatArray = np.where(of_group, lines, 1).astype(np.float64)
        if self.keyed:
            weight = np.bincount(atom, current.rows, len(keys)).astype(np.float64)
        return x_of_atom, weight, _incidence(atom, current.group, (len(keys), current.groups))


@dataclass(frozen=True, eq=False, repr=False)
class LinkabilityJudge:
    """Judges values on X by the largest share of a protected value on Y among the joined records of X.

    `bounds` is a float[ys of the current table, ys of the history table], NaN where a pair of values is not protected.
    `complete` says that X has all columns that records are matched by. The figure of a value on X that is nowhere in
    the join is 0.
    """

    history: "HistoryCounts"
    bounds: FloatArray
    complete: bool

    @property
    def antimonotone(self) -> bool:
        """Whether shares can only rise by specializing, if all records match (Lemma 4.2, for Y of the current table).

        Where X lacks a column that records are matched by, a specialization may undo matches that gave a protected
        value more weight, and the lemma does not hold.
        """
        return self.complete and self.history.ys == 1

    def worst(self, figures: FloatArray) -> float:
        """Give the worst figure: L_Y(X) of Definition 3.2."""
        return float(np.max(figures))

    def privacy_loss(self, before: float, after: float) -> float:
        """Tell by how much the largest share rises (PrivLoss of section 5.2)."""
        return max(0.0, after - before)

    def judge(self, current: CurrentCounts, matches: GroupMatches) -> XYResult:
        """Compute the largest share for each value on X, and whether all shares keep to their bounds."""
        if self.complete and self.history.ys == 1:
            return self._share_in_current(current, matches)
        return self._share_general(current, matches)

    def _share_in_current(self, current: CurrentCounts, matches: GroupMatches) -> XYResult:
        """Take the shares in the current table: where all records of x match alike, the join preserves them.

        That is Case 1 in the proof of Lemma 4.2.
        """
        records = np.bincount(current.x, current.rows, current.xs)[current.x]
        bound = self.bounds[current.y, 0]
        within = within_bounds(current.rows, records, bound)
        share = np.where(np.isnan(bound), 0.0, current.rows / records)
        result = _worst_by_x(current.x, within, share, current.xs)
        matched = (matches.counts > 0)[current.group_of_x]
        return XYResult(result.passes | ~matched, np.where(matched, result.figure, 0.0))

    def _share_general(self, current: CurrentCounts, matches: GroupMatches) -> XYResult:
        """Add up the joined records of each x and y over all groups that match (step 2 of section 5.3).

        The matrices are those of `AnonymityJudge`, with numbers of records in place of ones, and with a line for each
        pair of own values on X and Y in place of atoms; so an entry of the product is a(x, y).
        """
        history, pairs = self.history, self.history.pairs
        alike = AlikeCombinations.from_matches(matches, history.combinations)
        key, line = np.unique(current.x * current.ys + current.y, return_inverse=True)
        own_x, own_y = np.divmod(key, current.ys)
        records = _incidence(line, current.group, (len(key), current.groups), current.rows)
        reach, united = records @ alike.incidence(current.groups), alike.unite() @ self._history_records
        passes, figure = np.ones(current.xs, dtype=np.bool_), np.zeros(current.xs)
        for entries in _multiply_in_blocks(reach, united, own_x):
            x = _number_close_values(own_x[entries.row] * history.xs + pairs.x[entries.column])[1]
            total = np.bincount(x, entries.value)[x]
            bound = self.bounds[own_y[entries.row], pairs.y[entries.column]]
            within = within_bounds(entries.value, total, bound)
            share = np.where(np.isnan(bound), 0.0, entries.value / total)
            result = _worst_by_x(own_x[entries.row], within, share, current.xs)
            passes, figure = passes & result.passes, np.maximum(figure, result.figure)
        return XYResult(passes, figure)

    @cached_property
    def _history_records(self) -> Any:
        """A sparse matrix, combinations × pairs of values: how many records of each pair a combination has."""
        history = self.history
        shape = (history.combinations, len(history.pairs.x))
        return _incidence(history.combination, history.pairs.pair_of_line, shape, history.weight)


def within_bounds(part: Any, whole: Any, bound: FloatArray) -> BoolArray:
    """Tell whether each part of a whole keeps to its bound, compared as whole numbers; NaN bounds nothing.

    Numbers of joined records that a float does not hold exactly have to keep a little below their bound.
    """
    within = np.isnan(bound)
    for value in np.unique(bound[~within]).tolist():
        lines = np.flatnonzero(bound == value)
        if float(whole[lines].max()) < _EXACT_RECORDS:
            within[lines] = part[lines] <= floor_times(value, whole[lines].astype(np.int64))
        else:
            within[lines] = part[lines] <= value * _SAFE * whole[lines]
    return within


def _worst_by_x(x: IntArray, within: BoolArray, share: FloatArray, xs: int) -> XYResult:
    """Give for each value on X whether all its lines keep to their bounds, and the largest share."""
    passes, figure = np.ones(xs, dtype=np.bool_), np.zeros(xs)
    passes[x[~within]] = False
    np.maximum.at(figure, x, share)
    return XYResult(passes, figure)


def _least_by_group(group: IntArray, values: FloatArray, groups: int) -> FloatArray:
    """Find the least value of each group, infinite where it has none."""
    least = np.full(groups, np.inf)
    np.minimum.at(least, group, values)
    return least


# Combinations that match alike.


@dataclass(frozen=True, eq=False, repr=False)
class AlikeCombinations:
    """Combinations of the history table by their kinds: those of a kind match the same groups of the current table.

    `kind` (int[combinations]) is the kind of each, -1 for those that match no group; `group` and `kind_of_pair` are the
    pairs of a group and a kind that it matches. As long as little is specialized there are few kinds, however many
    combinations there are.
    """

    kind: IntArray
    kinds: int
    group: IntArray
    kind_of_pair: IntArray

    @classmethod
    def from_matches(cls, matches: GroupMatches, combinations: int) -> "AlikeCombinations":
        """Find the kinds."""
        used, place = np.unique(matches.combination, return_inverse=True)
        number, kinds = number_sets(place, matches.group, len(used))
        kind = np.full(combinations, -1)
        kind[used] = number
        first = np.zeros(len(used), dtype=np.bool_)
        first[find_first(number, kinds)] = True
        kept = first[place]
        return cls(kind, kinds, matches.group[kept], number[place[kept]])

    def incidence(self, groups: int) -> Any:
        """A sparse matrix, groups × kinds: which groups match which."""
        return _incidence(self.group, self.kind_of_pair, (groups, self.kinds))

    def unite(self) -> Any:
        """A sparse matrix, kinds × combinations, that adds up what the combinations of a kind have."""
        matched = np.flatnonzero(self.kind >= 0)
        return _incidence(self.kind[matched], matched, (self.kinds, len(self.kind)))


def number_sets(owner: IntArray, member: IntArray, owners: int) -> tuple[IntArray, int]:
    """Number owners so that those with equal sets of members have one number; pairs of both are different.

    Sets are told apart by sums of hashes, and those with one sum are compared member by member: where two differ all
    the same, the second gets a number of its own.

    >>> numbers, sets = number_sets(np.array([0, 0, 1, 2, 2]), np.array([5, 7, 5, 7, 5]), 4)
    >>> sets, numbers[0] == numbers[2], len(set(numbers.tolist()))
    (3, np.True_, 3)
    """
    order = np.lexsort([member, owner])
    member, lengths = member[order], np.bincount(owner, minlength=owners)
    ends = np.cumsum(lengths)
    starts = ends - lengths
    total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(mix_bits(member, 1), dtype=np.uint64)])
    _, first, number = np.unique(total[ends] - total[starts], return_index=True, return_inverse=True)
    like = first[number]  # the first owner of the same sum
    as_long = lengths == lengths[like]
    shift = np.where(as_long, starts[like] - starts, 0).repeat(lengths)
    differs = ~as_long
    differs[owner[order][member[np.arange(len(member)) + shift] != member]] = True
    wrong = np.flatnonzero(differs)
    number[wrong] = len(first) + np.arange(len(wrong))
    return number, len(first) + len(wrong)


# What the history table has on X and Y.

HistoryColumn = tuple[str, CodedColumn, IntArray]
"""A column of Y by the name it has there, and its code (int[ys]) in each value on Y."""


class HistoryPairs(NamedTuple):
    """The different pairs of a value on X and one on Y in the history table, with their weights.

    `x`, `y` and `weight` have an entry per pair; `pair_of_line` (int[lines]) is the pair of each line.
    """

    x: IntArray
    y: IntArray
    weight: FloatArray
    pair_of_line: IntArray


@dataclass(frozen=True, eq=False, repr=False)
class HistoryCounts:
    """The history table as far as one requirement looks at it.

    Arrays of equal length, a line for each combination of groups, value on the columns of X and value on those of Y in
    the earlier releases. The weight of a line is how many different values on Y there are to count, or how many
    records. Where Y has the row key of a release, records of one group and x are alike: they are counted by weight, and
    need no number each. `combinations`, `xs` and `ys` are how many there are; `values` are the columns of Y.
    """

    combinations: int
    combination: IntArray
    x: IntArray
    y: IntArray
    weight: IntArray
    xs: int
    ys: int
    values: tuple[HistoryColumn, ...] = ()

    @cached_property
    def pairs(self) -> HistoryPairs:
        """The different pairs of a value on X and one on Y."""
        keys, first, pair = np.unique(self.x * self.ys + self.y, return_index=True, return_inverse=True)
        return HistoryPairs(keys // self.ys, keys % self.ys, self.weight[first].astype(np.float64), pair)


def count_history(history: HistoryTable, entry: Linkage, *, records: bool) -> HistoryCounts:
    """Count what the history table has on X and Y; `records` counts records, not different values on Y.

    Starts from a line per combination, and joins it with the lines of one release after the other.
    """
    size = len(history)
    nothing = np.zeros(size, dtype=np.int64)
    counts = HistoryCounts(size, np.arange(size), nothing, nothing, np.ones(size, dtype=np.int64), 1, 1)
    for place in range(len(history.releases.earlier)):
        counts = _join_lines(counts, history, place, _release_lines(history, place, entry, records=records))
    return counts


class _ReleaseLines(NamedTuple):
    """One release on X and Y, sorted by group: the lines of group g are those from ``first[g]`` to ``first[g + 1]``."""

    first: IntArray
    x: IntArray
    y: IntArray
    weight: IntArray
    xs: int
    ys: int
    values: tuple[HistoryColumn, ...]


def _release_lines(history: HistoryTable, place: int, entry: Linkage, *, records: bool) -> _ReleaseLines:
    """Count the different lines of group, value on X and value on Y in one earlier release.

    All arrays but `first` have an entry per line.
    """
    earlier, groups = history.releases.earlier[place], history.record_groups[place]
    named_x, named_y = (
        [each.column for each in history.releases.references(names) if each.table == earlier.name]
        for names in (entry.x, entry.y)
    )
    keyed = ROW in named_y
    x = [earlier.coded(column) for column in named_x if column != ROW]
    y = [] if keyed else [earlier.coded(column) for column in named_y]
    widths = [column.width for column in (*x, *y)]
    packed = pack_tuples([groups.group, *(column.codes for column in (*x, *y))], [groups.groups, *widths])
    counted = count_keys(packed)
    group, *codes = packed.unpack(counted.keys)
    x_number, xs, _ = _number_values(codes[: len(x)], widths[: len(x)], len(group))
    y_number, ys, y_codes = _number_values(codes[len(x) :], widths[len(x) :], len(group))
    if keyed:  # every line has records of its own
        y_number, ys = np.arange(len(group)), len(group)
    weight = counted.counts if keyed or records else np.ones(len(group), dtype=np.int64)
    first = np.searchsorted(group, np.arange(groups.groups + 1))
    values = tuple((f"{earlier.name}.{column.name}", column, each) for column, each in zip(y, y_codes, strict=True))
    return _ReleaseLines(first, x_number, y_number, weight, xs, ys, values)


def _join_lines(counts: HistoryCounts, history: HistoryTable, place: int, lines: _ReleaseLines) -> HistoryCounts:
    """Join each line so far with every line of one release more that is in the same combination.

    `left` and `right` have an entry per new line: the line so far, and the line of the release.
    """
    group = history.combinations[place][counts.combination]
    first, last = lines.first[group], lines.first[group + 1]
    if int((last - first).sum()) > _MOST_LINES:
        raise DataError(
            f"joined with {history.releases.earlier[place].name} the earlier releases have more than {_MOST_LINES:,} "
            "different values on x and y together; name fewer of their columns there"
        )
    left, right = expand_ranges(first, last)
    x, xs, _ = _number_values([counts.x[left], lines.x[right]], [counts.xs, lines.xs], len(left))
    y, ys, (y_so_far, y_here) = _number_values([counts.y[left], lines.y[right]], [counts.ys, lines.ys], len(left))
    if float(counts.weight.max(initial=0)) * float(lines.weight.max(initial=0)) >= _LARGEST_WEIGHT:
        raise DataError("the earlier releases have more records together than can be counted; look at fewer of them")
    weight = counts.weight[left] * lines.weight[right]
    values = [(name, column, codes[y_so_far]) for name, column, codes in counts.values]
    values += [(name, column, codes[y_here]) for name, column, codes in lines.values]
    return HistoryCounts(counts.combinations, counts.combination[left], x, y, weight, xs, ys, tuple(values))


def _number_values(codes: Sequence[Codes], widths: list[int], lines: int) -> tuple[IntArray, int, list[Codes]]:
    """Number the different values on some columns.

    Returns int[lines], the number of each line's value; how many values there are; and for each column the code of each
    value. Without columns there is one value.
    """
    if not codes or not lines:
        return np.zeros(lines, dtype=np.int64), 1, [np.zeros(1, dtype=np.int64) for _ in codes]
    numbers, count = number_tuples(pack_tuples(codes, widths))
    first = find_first(numbers, count)
    return numbers, count, [each[first] for each in codes]


# The bounds of (X, Y)-linkability.


def _bounds(
    entry: XYLinkability, releases: LinkedReleases, history: HistoryCounts, own: Sequence[HistoryColumn], ys: int
) -> FloatArray:
    """Look up the bound of each pair of an own value on Y and one of the history table: float[ys, history.ys]."""
    own_y, history_y = (part.ravel() for part in np.indices((ys, history.ys)))
    texts: dict[str, list[str | None]] = {}
    for columns, value in ((own, own_y), (history.values, history_y)):
        for name, column, codes in columns:
            texts[name] = [column.texts[code] for code in codes[value].tolist()]
    # A value on Y has its columns in the order in which the requirement names them.
    values = list(zip(*(texts[str(each)] for each in releases.references(entry.y)), strict=True))
    _check_values(entry, values)
    bounds = entry.bounds(values)
    return np.array([bounds.get(value, np.nan) for value in values], dtype=np.float64).reshape(ys, history.ys)


def _check_values(entry: XYLinkability, values: Iterable[tuple[str | None, ...]]) -> None:
    """Object to a protected value that does not occur where another spelling of it does: it would protect nothing."""
    occurring = set(values)
    folded = {tuple((cell or "").casefold().strip() for cell in value): value for value in occurring}
    for value in entry.named_bounds:
        near = folded.get(tuple((cell or "").casefold().strip() for cell in value))
        if near is not None and value not in occurring:
            raise PolicyError(f"{listing(value)} does not occur in y; did you mean {listing(near)}?", key="values")


# Products of sparse matrices.


class ProductEntries(NamedTuple):
    """The entries of a product of matrices that are not 0: line, column and value of each."""

    row: IntArray
    column: IntArray
    value: FloatArray


def _incidence(row: IntArray, column: IntArray, shape: tuple[int, int], weight: Any = None) -> Any:
    """Make a sparse matrix with an entry for each pair, 1 or its weight; those of equal pairs are added up."""
    from scipy import sparse  # noqa: PLC0415 - not needed where x has every column that is matched

    values = np.ones(len(row)) if weight is None else np.asarray(weight, dtype=np.float64)
    return sparse.csr_matrix((values, (row, column)), shape=shape)


def _multiply_in_blocks(left: Any, right: Any, x: IntArray) -> Iterator[ProductEntries]:
    """Multiply two sparse matrices, some lines of the left one at a time; lines of one x stay in one block.

    `x` (int[lines of left]) ascends. The cost of a line is the number of products it takes: for each of its entries,
    the entries in that line of the right matrix.
    """
    entries = np.diff(right.indptr)
    cost = np.add.reduceat(np.append(entries[left.indices], 0), np.minimum(left.indptr[:-1], len(left.indices)))
    cost[np.diff(left.indptr) == 0] = 0  # where a line is empty, reduceat takes the entry that follows
    first = np.flatnonzero(np.concatenate(([True], x[1:] != x[:-1])))
    work = np.add.reduceat(cost, first).cumsum() if len(x) else np.zeros(0)
    begin = 0
    while begin < len(first):
        done = work[begin - 1] if begin else 0
        end = max(int(np.searchsorted(work, done + _BLOCK, side="right")), begin + 1)
        start, stop = first[begin], first[end] if end < len(first) else len(x)
        product = (left[start:stop] @ right).tocoo()
        yield ProductEntries(product.row.astype(np.int64) + start, product.col.astype(np.int64), product.data)
        begin = end


def _number_close_values(values: IntArray) -> tuple[IntArray, IntArray]:
    """Give the different values in order, and the place of each among them; by counting where they are close."""
    low = int(values.min()) if len(values) else 0
    span = int(values.max()) - low + 1 if len(values) else 0
    if span > 4 * len(values) + _CLOSE:
        return np.unique(values, return_inverse=True)
    present = np.zeros(span, dtype=np.int64)
    present[values - low] = 1
    return np.flatnonzero(present) + low, (np.cumsum(present) - 1)[values - low]
