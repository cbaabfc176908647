"""The join of the current table with earlier releases, kept as pairs of groups of records and never made.

A group is the records of a table that agree in all columns that matter for matching: a partition of the paper's Tree1
or Tree2 (Wang and Fung 2006, section 5.3). There are few of them, however many records there are. The earlier releases
are joined with one another beforehand into the paper's *history table* (section 7), as combinations of groups, one of
each release. The join with the current table is then a list of pairs: a group of the current table, and a combination
that it matches.

With every quasi-identifier of the current table at its root, nearly everything matches. Each specialization divides
groups of the current table, and each part keeps those of its parent's matches that are still consistent (Observation
1); only pairs of groups that have changed are looked at again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.keys import find_first, number_tuples, pack_tuples
from sfumato.core.segments import expand_ranges
from sfumato.errors import DataError
from sfumato.previous.linked_releases import InconsistencyRule, LinkedReleases
from sfumato.previous.taxonomy import Taxonomy

_MOST_COMBINATIONS = 20_000_000
"""Combinations of groups that are still looked at."""
_BLOCK = 1 << 22
_MOST_DIVISIONS = 1000
"""So many pairs of divisions by depth are looked at; further columns do not divide."""


@dataclass(frozen=True, eq=False, repr=False)
class RecordGroups:
    """The groups of one release: `group` (int[records]), how many there are, and `labels` by column.

    ``labels[column]`` (int[groups]) has the number of each group's label in the taxonomy of the column.
    """

    group: IntArray
    groups: int
    labels: Mapping[str, IntArray]


@dataclass(frozen=True, eq=False, repr=False)
class HistoryTable:
    """The earlier releases joined with one another: all combinations of groups that match.

    `combinations` has an int[combinations] for each release: its group in each combination. Without earlier releases
    there is one combination, of nothing.
    """

    releases: LinkedReleases
    record_groups: tuple[RecordGroups, ...]
    combinations: tuple[IntArray, ...]

    def __len__(self) -> int:
        return len(self.combinations[0]) if self.combinations else 1

    @cached_property
    def labels(self) -> dict[tuple[int, str], IntArray]:
        """For each release and column an int[combinations]: the number of the label that each combination has there."""
        pairs = zip(self.record_groups, self.combinations, strict=True)
        return {
            (place, name): labels[group]
            for place, (groups, group) in enumerate(pairs)
            for name, labels in groups.labels.items()
        }


def join_history(releases: LinkedReleases) -> HistoryTable:
    """Join the earlier releases with one another."""
    groups = tuple(_group_records(releases, place) for place in range(len(releases.earlier)))
    combinations: list[IntArray] = [np.arange(groups[0].groups)] if groups else []
    for place in range(1, len(groups)):
        combinations = _join_release(releases, groups, combinations, place)
    return HistoryTable(releases, groups, tuple(combinations))


def _group_records(releases: LinkedReleases, place: int) -> RecordGroups:
    """Group the records of an earlier release by the columns that they are matched by."""
    earlier, names = releases.earlier[place], releases.matched_columns_of(place)
    if not names:
        return RecordGroups(np.zeros(earlier.rows, dtype=np.int64), 1, {})
    columns = [earlier.coded(name) for name in names]
    packed = pack_tuples([column.codes for column in columns], [column.width for column in columns])
    group, groups = number_tuples(packed)
    first = find_first(group, groups)
    labels = {
        column.name: releases.taxonomies[column.name].numbers(column.texts)[column.codes[first]] for column in columns
    }
    return RecordGroups(group, groups, labels)


def _join_release(
    releases: LinkedReleases, groups: tuple[RecordGroups, ...], combinations: list[IntArray], place: int
) -> list[IntArray]:
    """Join the combinations so far with every group of one release more that they match.

    The result has one array more than `combinations`, and its arrays have as many entries as there are pairs that
    match, in the order of the combinations so far, and then of the groups.
    """
    size, total = groups[place].groups, 0
    matching = [np.zeros(0, dtype=np.int64)]  # the combination so far, times the groups, and the group of each pair
    for left, right in _candidate_pairs(releases, groups, combinations, place):
        fits = _last_fits(releases, groups, [*(each[left] for each in combinations), right])
        total += int(fits.sum())
        if total > _MOST_COMBINATIONS:
            raise DataError(
                f"the earlier releases {', '.join(releases.names)} match one another in more than "
                f"{_MOST_COMBINATIONS:,} ways; join them beforehand into one table, or look at fewer of them at a time"
            )
        matching.append(left[fits] * size + right[fits])
    left, right = np.divmod(np.sort(np.concatenate(matching)), size)
    return [*(each[left] for each in combinations), right]


def _candidate_pairs(
    releases: LinkedReleases, groups: tuple[RecordGroups, ...], combinations: list[IntArray], place: int
) -> Iterator[tuple[IntArray, IntArray]]:
    """List pairs of a combination and a group of one release more, among them all that match; some at a time.

    Labels of a column are consistent where their ancestors of the lesser of their depths are one. So combinations and
    groups are divided by the depths of their labels, of which there are few, and of each division of both those that
    agree in all ancestors are found by sorting. Columns whose depths would make too many divisions are left to whoever
    looks at the pairs.
    """
    size, so_far = groups[place].groups, len(combinations[0])
    left_division, right_division = np.zeros(so_far, dtype=np.int64), np.zeros(size, dtype=np.int64)
    divisions, columns = (1, 1), list[tuple[Taxonomy, IntArray, IntArray]]()
    for i, name in _shared_columns(releases, groups, place):
        taxonomy, own = releases.taxonomies[name], groups[place].labels[name]
        others = groups[i].labels[name][combinations[i]]
        most = taxonomy.paths.shape[1] + 1
        lefts, rights = (
            number_tuples(pack_tuples([division, taxonomy.depths[labels]], [count, most]))
            for division, count, labels in (
                (left_division, divisions[0], others),
                (right_division, divisions[1], own),
            )
        )
        if taxonomy.nested and lefts[1] * rights[1] <= _MOST_DIVISIONS:
            left_division, right_division, divisions = lefts[0], rights[0], (lefts[1], rights[1])
            columns.append((taxonomy, others, own))
    left_runs, right_runs = (
        np.split(np.argsort(division, kind="stable"), np.cumsum(np.bincount(division, minlength=count))[:-1])
        for division, count in zip((left_division, right_division), divisions, strict=True)
    )
    for left in left_runs:
        for right in right_runs:
            if len(left) and len(right):
                yield from _equal_ancestors(columns, left, right)


def _equal_ancestors(
    columns: Sequence[tuple[Taxonomy, IntArray, IntArray]], left: IntArray, right: IntArray
) -> Iterator[tuple[IntArray, IntArray]]:
    """List the pairs of some combinations and some groups that agree in all columns, some combinations at a time.

    `columns` have the taxonomy of each, its labels in all combinations and in all groups. Those of `left` have labels
    of one depth in each column, and so have those of `right`.
    """
    keys = np.zeros(len(left) + len(right), dtype=np.int64)
    for taxonomy, others, own in columns:
        depth = int(min(taxonomy.depths[others[left[0]]], taxonomy.depths[own[right[0]]]))
        ancestors = np.concatenate([taxonomy.ancestors(others[left], depth), taxonomy.ancestors(own[right], depth)])
        keys = np.unique(keys * len(taxonomy.paths) + ancestors, return_inverse=True)[1]
    of_left, of_right = keys[: len(left)], keys[len(left) :]
    order = np.argsort(of_right, kind="stable")
    ordered, right = of_right[order], right[order]
    first, last = (np.searchsorted(ordered, of_left, side=side) for side in ("left", "right"))
    pairs, start = np.cumsum(last - first), 0
    while start < len(left):
        done = pairs[start - 1] if start else 0
        end = max(int(np.searchsorted(pairs, done + _BLOCK, side="right")), start + 1)
        which, where = expand_ranges(first[start:end], last[start:end])
        yield left[start:end][which], right[where]
        start = end


def _shared_columns(
    releases: LinkedReleases, groups: tuple[RecordGroups, ...], place: int
) -> Iterator[tuple[int, str]]:
    """List the columns that a release is matched by with those before it: the other release, and the column."""
    for i in range(place):
        for name in sorted(groups[i].labels.keys() & groups[place].labels.keys()):
            shared = all(name in releases.earlier[each].columns for each in (i, place))
            if shared and name not in releases.unmatched_columns:
                yield i, name


def _last_fits(releases: LinkedReleases, groups: tuple[RecordGroups, ...], combinations: list[IntArray]) -> BoolArray:
    """Tell of each combination whether its last group matches all the others, by both predicates."""
    last = len(combinations) - 1
    fits = np.ones(len(combinations[last]), dtype=np.bool_)
    for i, name in _shared_columns(releases, groups, last):
        first, second = groups[i].labels[name][combinations[i]], groups[last].labels[name][combinations[last]]
        fits &= releases.taxonomies[name].consistent(first, second)
    for rule in releases.rules:
        fits &= ~_ruled_out(releases, groups, combinations, rule)
    return fits


def _ruled_out(
    releases: LinkedReleases,
    groups: tuple[RecordGroups, ...],
    combinations: list[IntArray],
    rule: InconsistencyRule,
) -> BoolArray:
    """Tell of each combination whether its last group and one of the others are what a rule forbids."""
    ruled_out = np.ones(len(combinations[-1]), dtype=np.bool_)
    places = [releases.names.index(side.reference.table) for side in rule if side.reference.table is not None]
    if len(places) < len(rule) or max(places) != len(combinations) - 1:
        return ~ruled_out
    for side, place in zip(rule, places, strict=True):
        labels = groups[place].labels[side.reference.column][combinations[place]]
        ruled_out &= releases.taxonomies[side.reference.column].is_below(labels, side.value)
    return ruled_out


@dataclass(frozen=True, eq=False, repr=False)
class GroupMatches:
    """For each group of the current table, the combinations of the history table that it matches.

    Group g matches ``combination[first[g]:first[g + 1]]``: `first` is an int[groups + 1], `combination` an int[pairs]
    in the order of the groups.
    """

    first: IntArray
    combination: IntArray

    def __len__(self) -> int:
        return len(self.first) - 1

    @classmethod
    def from_pairs(cls, group: IntArray, combination: IntArray, groups: int) -> "GroupMatches":
        """Take pairs of a group and a combination, in the order of their groups."""
        return cls(np.searchsorted(group, np.arange(groups + 1)), combination)

    @cached_property
    def group(self) -> IntArray:
        """The group of each pair."""
        return np.repeat(np.arange(len(self)), self.counts)

    @property
    def counts(self) -> IntArray:
        """How many combinations each group matches."""
        return np.diff(self.first)

    def select(self, groups: IntArray) -> "GroupMatches":
        """Take some of the groups, renumbered by their places in `groups`; a group may be taken twice."""
        counts = self.counts[groups]
        first = np.concatenate(([0], np.cumsum(counts)))
        pairs = np.arange(first[-1]) + np.repeat(self.first[groups] - first[:-1], counts)
        return GroupMatches(first, self.combination[pairs])

    def keep(self, chosen: BoolArray) -> "GroupMatches":
        """Keep some of the pairs, for the same groups; `chosen` has a flag per pair."""
        return GroupMatches.from_pairs(self.group[chosen], self.combination[chosen], len(self))

    def append(self, more: "GroupMatches") -> "GroupMatches":
        """Add further groups behind these."""
        first = np.concatenate([self.first, self.first[-1] + more.first[1:]])
        return GroupMatches(first, np.append(self.combination, more.combination))


@dataclass(frozen=True, eq=False, repr=False)
class RecordMatcher:
    """Decides which combinations of the history table match groups of the current table with given labels."""

    history: HistoryTable

    @property
    def start(self) -> GroupMatches:
        """One group that matches everything."""
        return GroupMatches(np.array([0, len(self.history)]), np.arange(len(self.history)))

    def keep_consistent(self, matches: GroupMatches, column: str, labels: IntArray) -> GroupMatches:
        """Keep the pairs that are consistent when each group has this label in a column: the consistency predicate.

        `labels` (int[groups]) are numbers in the column's taxonomy.
        """
        releases = self.history.releases
        consistent = np.ones(len(matches.combination), dtype=np.bool_)
        own = labels[matches.group]
        for place, columns in enumerate(releases.join_columns):
            if column in columns:
                other = self.history.labels[place, column][matches.combination]
                consistent &= releases.taxonomies[column].consistent(own, other)
        return matches if consistent.all() else matches.keep(consistent)

    def drop_inconsistent(self, matches: GroupMatches, labels: dict[str, IntArray]) -> GroupMatches:
        """Drop the pairs that a rule excludes: the inconsistency predicate.

        ``labels[column]`` (int[groups]) has the labels of each group, for the columns that rules name.
        """
        releases = self.history.releases
        allowed = np.ones(len(matches.combination), dtype=np.bool_)
        for rule in releases.rules:
            if all(side.reference.table is not None for side in rule):
                continue  # the history table was joined by it
            own, other = sorted(rule, key=lambda side: side.reference.table is not None)
            place = releases.names.index(str(other.reference.table))
            theirs = self.history.labels[place, other.reference.column][matches.combination]
            excluded = releases.taxonomies[other.reference.column].is_below(theirs, other.value)
            column = own.reference.column
            excluded &= releases.taxonomies[column].is_below(labels[column], own.value)[matches.group]
            allowed &= ~excluded
        return matches if allowed.all() else matches.keep(allowed)
