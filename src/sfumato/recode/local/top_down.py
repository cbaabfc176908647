"""Top-down local recoding: Algorithm 2 of Wong, Li, Fu and Wang 2006 and its extension to many attributes.

All rows begin fully generalized in one group (lines 1 to 3). In each round every active group is specialized one level
down in its best attribute (line 7): the one that specializes the most rows (criterion 1), among equals the one with the
fewest branches (criterion 2). Rows of branches that fail go back to the parent (line 8); if what is then in the parent
fails, more rows go back (lines 9 and 10). Branches are active in the next round (line 12), and so is what stays in the
parent, which another attribute may specialize; a group that no attribute can specialize is finished (line 14). With one
attribute what stays cannot be specialized again: there it is the paper's algorithm, line by line.

All groups are specialized at once. Shapes below: n lines (so many rows of a tuple in a group, sorted by group), g
groups, d attributes, b branches of all groups together. Rows are whole numbers kept as floats, which numpy adds up
without converting them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sfumato.core.arrays import BoolArray, Codes, FloatArray, IntArray
from sfumato.core.deadline import is_over
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.core.segments import Segments, stable_order
from sfumato.hierarchy import Hierarchy
from sfumato.recode.local.partition import Partition
from sfumato.recode.local.problem import Problem
from sfumato.recode.recoding import Progress

_SPARSE = 8
"""Branches are numbered anew where there are so many times more of them than lines."""

_FEW = 0.5
"""Groups are looked at apart from the others where they hold fewer lines than this share."""

_TRIES = 24
"""So often branches are asked for other rows."""

_NEAR = 0.125
"""Few enough rows have gone back, where this share of them fewer could be too little."""

_NEVER = 2.0**53
"""More rows than there are."""

_STEPS = 1 << 10
"""Shares are compared in so many steps; within a step, what could be specialized least goes first."""


def top_down(problem: Problem, progress: Progress | None = None) -> Partition:
    """Partition the rows of a problem into groups that pass; rows that are suppressed at the start stay so.

    All groups that can still be divided are specialized at once (the loop of Algorithm 2 over all of its queue).
    `back` float[n] are the rows of each line that go back to the undivided group, `attribute` int[g] what each group is
    specialized by. Progress is in rows: those of groups that are finished, and all. When the time is over, groups
    stay as they are.
    """
    finished: list[Partition] = []

    def finish(groups: ActiveGroups, rows: FloatArray) -> None:
        """Finish some rows of the lines of each group, maybe none."""
        lines = np.flatnonzero(rows > 0)
        used = groups.runs.sum(rows) > 0
        number = (np.cumsum(used) - 1).take(groups.group.take(lines))
        finished.append(Partition(groups.tuples.take(lines), rows.take(lines).astype(np.int64), number, used.sum()))

    groups, least = one_active_group(problem), problem.requirement.least
    while True:
        # No lower level has one label for all rows of a group, so it becomes two at least, and each has to pass.
        able = (groups.sizes >= 2 * least) & (groups.level > 0).any(axis=0) & (not is_over(progress))
        rest = groups.select(np.flatnonzero(~able))
        finish(rest, rest.rows)
        if progress:
            progress(sum(int(partition.rows.sum()) for partition in finished), int(problem.start.sizes.sum()))
        groups = groups.select(np.flatnonzero(able))
        if not len(groups):
            break
        attribute, back = choose_attributes(problem, groups)
        unspecialized = groups.spread(groups.runs.sum(back) == groups.sizes)
        finish(groups, np.where(unspecialized, back, 0.0))
        groups = _next_groups(groups, attribute, groups.rows - back, np.where(unspecialized, 0.0, back))
    return Partition.concatenate([*finished, problem.start.suppressed])


def choose_attributes(problem: Problem, groups: "ActiveGroups") -> tuple[IntArray, FloatArray]:
    """Choose the best attribute of each group, int[g], and the rows of each line that go back to the parent, float[n].

    What attributes offer is the most that they can do. The best one is carried out; if it comes to less than another
    offers, that is carried out next. All rows go back where no attribute specializes any.
    """
    offers = offer_attributes(problem, groups)
    wide = float(groups.ranks.width.max()) + 1  # more than the branches of a group
    score = offers.rows * wide - offers.branches  # float[d, g]: criterion 1, then criterion 2
    group, carried_out = np.arange(len(groups)), np.full(len(groups), -1)
    back = groups.rows.copy()
    while True:
        best = score.argmax(axis=0)
        todo = np.flatnonzero((best != carried_out) & (score[best, group] > 0))
        if not len(todo):
            break
        result = specialize_groups(problem, groups.select(todo), best[todo])
        score[best[todo], todo] = result.rows * wide - result.branches
        back[groups.runs.places(todo)] = result.back
        carried_out[todo] = best[todo]
    np.copyto(back, groups.rows, where=groups.spread(score[best, group] <= 0))
    return best, back


def _next_groups(groups: "ActiveGroups", attribute: IntArray, down: FloatArray, stay: FloatArray) -> "ActiveGroups":
    """Make groups of the branches, with the rows `down` of the lines, and of the parents, with those that `stay`."""
    branches = groups.branches_below(attribute)
    low, high = np.flatnonzero(down > 0), np.flatnonzero(stay > 0)
    group = np.concatenate([branches.branch.take(low), groups.group.take(high) + len(branches)])
    lines, rows = np.concatenate([low, high]), np.concatenate([down.take(low), stay.take(high)])
    order = stable_order(group)
    return groups.regroup(lines.take(order), group.take(order), rows.take(order))


# The active groups, their labels and their branches


@dataclass(frozen=True, eq=False)
class LabelRanks:
    """The hierarchies of all attributes as one table of numbers.

    Leaves are numbered by their `places` in depth-first order, so that every label covers a run of places. `rank` has,
    for an attribute, a level and a place, the number of the label there, counted along the places. It is flat: the line
    of an attribute's level begins at ``row(attribute, level)``. Children of a label are neighbours, so those of a group
    are numbered by taking off the first. Per attribute: `offset`, `width` (leaves) and `height`, int[d].

    >>> from sfumato.hierarchy.hierarchy import build
    >>> ranks = LabelRanks.from_hierarchies([build([["4351", "4362", "4352"], ["435*", "436*", "435*"]])])
    >>> ranks.places[0].tolist(), ranks.rank[ranks.row(0, 1) :].tolist()
    ([0, 2, 1], [0, 0, 1, 0, 0, 0])
    """

    rank: IntArray
    offset: IntArray
    width: IntArray
    height: IntArray
    places: tuple[IntArray, ...]

    @classmethod
    def from_hierarchies(cls, hierarchies: Sequence[Hierarchy]) -> "LabelRanks":
        """Number the labels of bound hierarchies."""
        orders = [np.lexsort(hierarchy.matrix.T) for hierarchy in hierarchies]
        ranks = []
        for hierarchy, order in zip(hierarchies, orders, strict=True):
            ordered = hierarchy.matrix[order]
            changes = np.cumsum(ordered[1:] != ordered[:-1], axis=0)  # a label per level, one more at each change
            ranks.append(np.vstack([np.zeros((1, ordered.shape[1]), dtype=np.int64), changes]).T.ravel())
        return cls(
            np.concatenate([np.zeros(0, dtype=np.int64), *ranks]),
            np.cumsum([0, *map(len, ranks)])[:-1],
            np.array([len(order) for order in orders], dtype=np.int64),
            np.array([hierarchy.height for hierarchy in hierarchies], dtype=np.int64),
            tuple(np.argsort(order) for order in orders),
        )

    def row(self, attribute: IntArray | int, level: IntArray | int) -> IntArray:
        """Find where the labels of an attribute's level begin in `rank`."""
        begin: IntArray = self.offset[attribute] + level * self.width[attribute]
        return begin

    def place_tuples(self, quasi: Sequence[Codes]) -> Codes:
        """Look up the places of tuples, [n, d], in the narrowest type for all attributes; codes [n] per attribute."""
        kind = np.min_scalar_type(int(self.width.max(initial=1)) - 1)
        places = np.empty((len(quasi[0]), len(quasi)), dtype=kind)
        for column, (codes, place) in enumerate(zip(quasi, self.places, strict=True)):
            places[:, column] = place.astype(kind).take(codes)
        return places

    def common_levels(self, first: IntArray, last: IntArray) -> IntArray:
        """Find the lowest level at which two places, and so all between, have one label: all int[d, g]."""
        attribute = np.arange(len(self.height))[:, None]
        common = np.broadcast_to(self.height[:, None], first.shape)
        for level in reversed(range(int(self.height.max(initial=0)))):
            row = self.row(attribute, np.minimum(level, self.height)[:, None])
            same = self.rank.take(row + first) == self.rank.take(row + last)
            common = np.where(same, np.minimum(level, common), common)
        return common


@dataclass(frozen=True, eq=False)
class Branches:
    """Where lines go when groups are specialized: the branch of each line int[n], and the run of branches per group.

    A branch may have no line, but a group has a branch at least.
    """

    branch: IntArray
    runs: Segments

    def __len__(self) -> int:
        return int(self.runs.starts[-1] + self.runs.lengths[-1]) if len(self.runs) else 0

    @property
    def group(self) -> IntArray:
        """The group of each branch: int[b]."""
        return self.runs.group

    def sum(self, amounts: FloatArray) -> FloatArray:
        """Add up an amount per line for each branch: float[n] to float[b]."""
        return np.asarray(np.bincount(self.branch, weights=amounts, minlength=len(self)), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class ActiveGroups:
    """Groups that may be specialized further; none is empty, and lines are sorted by group.

    Line by line, `rows` float[n] rows of a tuple, `tuples` int[n], at the `places` [n, d] of its values. Per attribute
    and group, int[d, g]: `first` and `last` are the ends of the places in it, and `level` is the lowest level at which
    all its rows have one label. Steps with a single branch are thus taken at once: they specialize all rows with the
    fewest branches, so both criteria put them first.
    """

    ranks: LabelRanks
    tuples: IntArray
    rows: FloatArray
    places: Codes
    runs: Segments
    first: IntArray
    last: IntArray
    level: IntArray

    def __len__(self) -> int:
        return len(self.runs)

    @classmethod
    def from_lines(
        cls, ranks: LabelRanks, tuples: IntArray, rows: FloatArray, places: Codes, runs: Segments
    ) -> "ActiveGroups":
        """Make groups of lines that are sorted by group."""
        first, last = (
            np.stack([join.reduceat(column, runs.starts) for column in places.T]).astype(np.int64)
            for join in (np.minimum, np.maximum)
        )
        return cls(ranks, tuples, rows, places, runs, first, last, ranks.common_levels(first, last))

    @cached_property
    def sizes(self) -> FloatArray:
        """Rows of each group: float[g]."""
        return self.runs.sum(self.rows)

    @property
    def group(self) -> IntArray:
        """The group of each line: int[n]."""
        return self.runs.group

    def spread(self, values: BoolArray) -> BoolArray:
        """Repeat a value per group for each of its lines."""
        return self.runs.spread(values)

    def select(self, chosen: IntArray) -> "ActiveGroups":
        """Keep some of the groups, whose numbers are ascending."""
        if len(chosen) == len(self):
            return self
        lines = self.runs.places(chosen)
        ends = (ends.take(chosen, axis=1) for ends in (self.first, self.last, self.level))
        kept = (self.tuples.take(lines), self.rows.take(lines), self.places.take(lines, axis=0))
        return ActiveGroups(self.ranks, *kept, self.runs.select(chosen), *ends)

    def regroup(self, lines: IntArray, group: IntArray, rows: FloatArray) -> "ActiveGroups":
        """Put some rows of some lines into other groups; lines are given sorted by the number of their new group."""
        places = self.places.take(lines, axis=0)
        return ActiveGroups.from_lines(self.ranks, self.tuples.take(lines), rows, places, Segments.from_sorted(group))

    def branches_at(self, attribute: IntArray | int, level: IntArray) -> Branches:
        """Find the branches with each group at a level int[g] of an attribute, int[g] or one for all groups."""
        row, group = self.ranks.row(attribute, level), np.arange(len(self))
        low = self.ranks.rank.take(row + self.first[attribute, group])
        high = self.ranks.rank.take(row + self.last[attribute, group])
        runs = Segments.from_lengths(high - low + 1)
        if isinstance(attribute, int):
            place = self.places[:, attribute]
        else:  # of each line, the place in the attribute of its group
            columns = self.places.shape[1]
            line = np.arange(0, columns * len(self.tuples), columns)
            place = self.places.ravel().take(self.runs.spread(attribute) + line)
        place = place + self.runs.spread(row)
        branch = self.ranks.rank.take(place, out=place)
        branch += self.runs.spread(runs.starts - low)
        branches = Branches(branch, runs)
        if len(branches) <= _SPARSE * len(branch) + 1024:
            return branches
        # Branches that hold no line are left out where they are many.
        used, branch = np.unique(branch, return_inverse=True)
        starts = np.searchsorted(used, runs.starts)
        return Branches(branch, Segments(starts, np.diff(starts, append=len(used))))

    def branches_below(self, attribute: IntArray | int) -> Branches:
        """Find the branches one level below where each group is."""
        return self.branches_at(attribute, np.maximum(self.level[attribute, np.arange(len(self))] - 1, 0))


def one_active_group(problem: Problem) -> ActiveGroups:
    """Put all rows that take part into one group."""
    ranks = LabelRanks.from_hierarchies([attribute.hierarchy for attribute in problem.encoded.quasi])
    start = problem.start.published
    places = ranks.place_tuples([codes.take(start.tuples) for codes in problem.encoded.tuples.quasi])
    runs = Segments.from_sorted(np.zeros(len(start), dtype=np.int64))
    return ActiveGroups.from_lines(ranks, start.tuples, start.rows.astype(np.float64), places, runs)


# What attributes offer: the two criteria


class SpecializedCounts(NamedTuple):
    """The rows that are specialized and the branches that are made, each float[g], or float[d, g]."""

    rows: FloatArray
    branches: FloatArray


def offer_attributes(problem: Problem, groups: ActiveGroups) -> SpecializedCounts:
    """Bound what specializing each group in each attribute comes to: float[d, g]; no rows where it cannot be.

    Where rows have to be un-specialized, these are the most rows and the fewest branches; where only sizes count, they
    are exact. An attribute that specializes all rows with two branches cannot be beaten by a later one; those are not
    looked at.
    """
    rows, branches = (np.zeros(groups.level.shape) for _ in range(2))
    sizes, beatable = groups.sizes, np.ones(len(groups), dtype=np.bool_)
    for attribute, level in enumerate(groups.level):
        chosen = np.flatnonzero(beatable & (level > 0))
        if not len(chosen):
            continue
        if groups.runs.lengths[chosen].sum() < _FEW * len(groups.tuples):
            offer = _offer(problem, groups.select(chosen), attribute)
        else:  # to count a few others along is cheaper than to leave them out
            offer = SpecializedCounts(*(counts[chosen] for counts in _offer(problem, groups, attribute)))
        rows[attribute, chosen], branches[attribute, chosen] = offer
        beatable[chosen] = (offer.rows < sizes[chosen]) | (offer.branches > 2)
    return SpecializedCounts(rows, branches)


def _offer(problem: Problem, groups: ActiveGroups, attribute: int) -> SpecializedCounts:
    """Bound what specializing each group in one attribute comes to: float[g].

    `done` float[g] are the rows of branches that pass, `count` float[g] these branches.
    """
    branches, least, whole = groups.branches_below(attribute), problem.requirement.least, groups.sizes
    sizes = branches.sum(groups.rows)
    passing = problem.passes(groups.tuples, groups.rows, branches.branch, sizes)
    begin = branches.runs.starts
    done = np.add.reduceat(np.where(passing, sizes, 0.0), begin)
    count = np.add.reduceat(passing, begin, dtype=np.float64)
    if problem.only_sizes_count:
        # Rows go back up to `least` if branches can spare them, else the smallest branch does.
        smallest = np.minimum.reduceat(np.where(passing, sizes, np.inf), begin)
        left = whole - done
        fits = (left == 0) | (left >= least)
        spares = done - count * least >= least - left
        rows = np.where(fits, done, np.where(spares, whole - least, np.where(count > 1, done - smallest, 0.0)))
        made = np.where(fits | spares, count, count - 1)
    else:
        # What failing branches push back can stay in the parent where it is nothing, or passes.
        back = np.where(passing.take(branches.branch), 0.0, groups.rows)
        left = groups.runs.sum(back)
        fits = problem.passes(groups.tuples, back, groups.group, left) | (left == 0)
        rows = np.where(fits, done, np.minimum(done - 1, whole - least))
        made = np.where(fits, count, count - 1)
    return SpecializedCounts(np.where(count > 0, np.maximum(rows, 0.0), 0.0), np.maximum(made, 1.0))


# Specializing, and un-specializing


class SpecializedGroups(NamedTuple):
    """What came of specializing: rows of each line that went `back` float[n], per group rows and branches float[g]."""

    back: FloatArray
    rows: FloatArray
    branches: FloatArray


@dataclass(frozen=True, eq=False)
class GroupSplit:
    """Groups and their branches one level down in an attribute int[g]: rows float[b], and which pass bool[b]."""

    groups: ActiveGroups
    attribute: IntArray
    branches: Branches
    sizes: FloatArray
    passing: BoolArray

    @classmethod
    def from_groups(cls, problem: Problem, groups: ActiveGroups, attribute: IntArray) -> "GroupSplit":
        """Send the lines of each group to the branches of its attribute (line 7)."""
        branches = groups.branches_below(attribute)
        sizes = branches.sum(groups.rows)
        passing = problem.passes(groups.tuples, groups.rows, branches.branch, sizes)
        return cls(groups, attribute, branches, sizes, passing)

    @property
    def failing(self) -> FloatArray:
        """The rows of each line that are in a branch that fails: float[n]."""
        return np.where(self.passing.take(self.branches.branch), 0.0, self.groups.rows)

    def select(self, chosen: IntArray) -> "GroupSplit":
        """Keep some of the groups, whose numbers are ascending."""
        if len(chosen) == len(self.groups):
            return self
        runs, groups = self.branches.runs.select(chosen), self.groups.select(chosen)
        kept, lines = self.branches.runs.places(chosen), self.groups.runs.places(chosen)
        shift = groups.runs.spread(self.branches.runs.starts[chosen] - runs.starts)
        branches = Branches(self.branches.branch.take(lines) - shift, runs)
        return GroupSplit(groups, self.attribute[chosen], branches, self.sizes[kept], self.passing[kept])


def specialize_groups(problem: Problem, groups: ActiveGroups, attribute: IntArray) -> SpecializedGroups:
    """Specialize each group one level down in its attribute int[g]; parents and branches pass (lines 7 to 10).

    First all rows of the branches that fail go back. If these fail together, other branches give back rows that they
    can spare. Where that does not help, whole branches go back, the smallest first, until the parent passes; with all
    of its rows it does, because it is an active group.
    """
    split = GroupSplit.from_groups(problem, groups, attribute)
    back = split.failing
    left = groups.runs.sum(back)
    unfit = np.flatnonzero((left > 0) & ~problem.passes(groups.tuples, back, groups.group, left))
    if len(unfit):
        lines, part = groups.runs.places(unfit), split.select(unfit)
        failing = back.take(lines)
        gone_back, helped = give_back(problem, part, failing)
        rest = np.flatnonzero(~helped)
        if len(rest):
            own = part.groups.runs.places(rest)
            gone_back[own] = push_back(problem, part.select(rest), failing.take(own))
        back[lines] = gone_back
    specialized = split.branches.sum(groups.rows - back) > 0
    branches = np.add.reduceat(specialized, split.branches.runs.starts, dtype=np.float64)
    return SpecializedGroups(back, groups.sizes - groups.runs.sum(back), branches)


def push_back(problem: Problem, split: GroupSplit, back: FloatArray) -> FloatArray:
    """Push whole branches back, the smallest first, until the parent passes or nothing is specialized: float[n].

    `back` float[n] are the rows of failing branches.
    """
    groups, runs, branch = split.groups, split.branches.runs, split.branches.branch
    # The place of each branch among those of its group: passing ones first, smallest first.
    place = np.empty(len(split.sizes), dtype=np.int64)
    place[np.lexsort([split.sizes, ~split.passing, runs.group])] = np.arange(len(place))
    place -= runs.spread(runs.starts)
    count = np.add.reduceat(split.passing, runs.starts, dtype=np.int64)
    pushed = np.zeros(len(groups), dtype=np.int64)  # so many branches of each group
    pending, rows = pushed < count, back
    while pending.any():
        pushed += pending
        rows = np.where((place < runs.spread(pushed)).take(branch), groups.rows, back)
        sizes = np.where(pending, groups.runs.sum(rows), 0.0)
        pending &= (pushed < count) & ~problem.passes(groups.tuples, rows, groups.group, sizes)
    return rows


def give_back(problem: Problem, split: GroupSplit, back: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Take rows from passing branches for their parents, as few as are found to make these pass (line 10).

    `back` float[n] are the rows of failing branches. Returns the rows of each line that go back in all, float[n], and
    the groups for which that helps, bool[g].

    A branch that fails for what it gave is asked for half as much; where all gave but the parent still fails, more is
    asked for: by one row, then by two, by four. Between what was too little and what was enough, it is halved. Per
    group: `need` rows are asked for now, `little` were too few, `enough` made it pass. Per branch: `room` is the most
    that it may give.
    """
    groups, branches, least = split.groups, split.branches, problem.requirement.least
    room = np.where(split.passing, split.sizes - least, 0.0)
    need = np.maximum(least - groups.runs.sum(back), 1.0)
    little, enough, pending = need - 1, np.full(len(need), _NEVER), np.ones(len(need), dtype=np.bool_)
    queue, turn = _line_up(problem, split, back, room)
    result = back.copy()
    for attempt in range(_TRIES):
        taken = _take_rows(split, queue, turn, np.where(pending, need, 0.0), room, whole=problem.indivisible)
        pending &= groups.runs.sum(taken) >= need
        fits, failing = _check_taken(problem, split, back, taken, pending)
        spoilt = np.logical_or.reduceat(failing, branches.runs.starts)
        good = pending & fits & ~spoilt
        np.copyto(result, back + taken, where=groups.spread(good))
        enough = np.where(good, need, enough)
        little = np.where(good | (spoilt & (enough == _NEVER)), little, need)
        pending &= enough - little > np.maximum(enough * _NEAR, 1.0)
        if not pending.any():
            break
        room = np.where(failing, branches.sum(taken) // 2, room)
        need = np.where(enough < _NEVER, (little + enough) // 2, need + np.where(spoilt, 0, 2**attempt))
    return result, enough < _NEVER


def _check_taken(
    problem: Problem, split: GroupSplit, back: FloatArray, taken: FloatArray, pending: BoolArray
) -> tuple[BoolArray, BoolArray]:
    """Tell which pending parents pass, bool[g], and which branches fail for what they gave, bool[b]."""
    groups, branches = split.groups, split.branches
    gave = branches.sum(taken) > 0
    if problem.only_sizes_count:
        return pending, np.zeros_like(gave)
    # Parents and branches are judged in one go, the branches numbered behind the parents.
    parents, rest = back + taken, groups.rows - taken
    group = np.concatenate([groups.group, branches.branch + len(groups)])
    parent_sizes = np.where(pending, groups.runs.sum(parents), 0.0)
    sizes = np.concatenate([parent_sizes, np.where(gave, branches.sum(rest), 0.0)])
    passing = problem.passes(np.tile(groups.tuples, 2), np.concatenate([parents, rest]), group, sizes)
    return passing[: len(groups)], gave & ~passing[len(groups) :]


def _take_rows(
    split: GroupSplit, queue: IntArray, turn: IntArray, need: FloatArray, room: FloatArray, *, whole: bool
) -> FloatArray:
    """Take rows from lines in turn, as many as a group needs, none above what a branch has room for: float[n].

    queue int[q] are lines by branch and then in their turn, turn int[n], need float[g], room float[b]. Of tuples that
    stay whole, all rows or none: some more than are needed then, but no more than there is room for.
    """
    groups = split.groups.group
    branch, rows = split.branches.branch.take(queue), split.groups.rows.take(queue)
    space, wanted = room.take(branch), need.take(groups.take(queue))
    runs = Segments.from_sorted(branch)
    can, taken = np.zeros(len(groups)), np.zeros(len(groups))  # what each line could give, and what it gives
    if whole:
        fits = np.where(rows <= space, rows, 0.0)
        before = runs.sum_before(fits)
        can[queue] = np.where((before + fits <= space) & (before < wanted), fits, 0.0)
    else:
        can[queue] = np.clip(np.minimum(space, wanted) - runs.sum_before(rows), 0.0, rows)
    lines = np.flatnonzero(can > 0)
    lines = lines[stable_order(groups.take(lines) * _above(turn) + turn.take(lines))]
    rows, group = can.take(lines), groups.take(lines)
    left = need.take(group) - Segments.from_sorted(group).sum_before(rows)
    taken[lines] = np.where(left > 0, rows, 0.0) if whole else np.clip(left, 0.0, rows)
    return taken


def _line_up(problem: Problem, split: GroupSplit, back: FloatArray, room: FloatArray) -> tuple[IntArray, IntArray]:
    """Line up the lines of branches that have room, float[b]: by branch and then in their turn.

    Returns these lines, int[q], and the turn of each line of the groups, int[n], lowest first. Those are asked first
    that could be specialized least further down, as the paper advises. Where a requirement looks at values, rows of
    values that need no protection are asked for before that; of the others those that the parent has the smallest
    share of, so that its values come to be mixed as in the whole group, which passes.
    """
    branch = split.branches.branch
    lines = np.flatnonzero(room.take(branch) > 0)
    lines = lines[stable_order(branch.take(lines))]
    turn = np.zeros(len(back), dtype=np.int64)
    rows = split.groups.rows.take(lines)
    turn[lines] = _count_specializations(problem, split.groups.regroup(lines, branch.take(lines), rows))
    if not problem.only_sizes_count:
        turn += _above(turn) * _parent_shares(problem, split, back, turn)
    return lines[stable_order(branch.take(lines) * _above(turn) + turn.take(lines))], turn


def _count_specializations(problem: Problem, groups: ActiveGroups) -> IntArray:
    """Count how often each line could be specialized: int[n].

    These are the levels, over all attributes, at which rows enough share its label.
    """
    times = np.zeros(len(groups.tuples), dtype=np.int64)
    for attribute, level in enumerate(groups.level):
        for lower in (level - down for down in range(1, int(level.max(initial=0)) + 1)):
            branches = groups.branches_at(attribute, np.maximum(lower, 0))
            enough = branches.sum(groups.rows) >= problem.requirement.least
            times += enough.take(branches.branch) & groups.spread(lower >= 0)
    return times


def _parent_shares(problem: Problem, split: GroupSplit, back: FloatArray, turn: IntArray) -> IntArray:
    """Find the share that the parent has of each line's value in the group, lines before it in turn counted too.

    int[n], in steps from 1 on, the largest over all columns that are looked at; 0 for values that need no protection.
    """
    shares, groups = np.zeros(len(back), dtype=np.int64), split.groups
    for name, domain in problem.encoded.domains.items():
        value = problem.main_values(name).take(groups.tuples).astype(np.int64)
        pair, pairs = number_tuples(pack_tuples([groups.group, value], [len(groups), len(domain.values)]))
        in_parent, in_all = (np.bincount(pair, rows, pairs).take(pair) for rows in (back, groups.rows))
        order, before = stable_order(pair * _above(turn) + turn), np.empty(len(back))
        rows = np.where(back > 0, 0.0, groups.rows)
        before[order] = Segments.from_sorted(pair.take(order)).sum_before(rows.take(order))
        steps = ((in_parent + before) / in_all * _STEPS + 1).astype(np.int64)
        shares = np.maximum(shares, steps * problem.protected_values(name).take(value))
    return shares


def _above(turn: IntArray) -> int:
    """Find a number above any turn."""
    return int(turn.max(initial=0)) + 1
