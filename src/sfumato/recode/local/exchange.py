"""Exchange: rows change their class where that lowers the cost, and classes that cost too much are given up.

A proposal moves one line to another class, or all lines of a class to others, or lets two lines change places. All are
priced at once; those that promise most are chosen so that no class has part in two, carried out together, and each is
kept only if its own classes have become cheaper and satisfy the requirement. So a round never makes anything worse.

Where the requirement looks at sensitive values, it is asked beforehand which values each class may take in and give
away, so that only such moves are proposed; and lines change places with lines of the same kind, which leaves the
composition of both classes as it is.

Shapes below: n lines (so many rows of a tuple in a class, which stay whole), c classes, p proposals.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.deadline import is_over
from sfumato.core.segments import Segments, sort_by_group
from sfumato.recode.local.axes import AttributeAxis, TreeAxis
from sfumato.recode.local.compositions import Compositions
from sfumato.recode.local.partition import SUPPRESSED, Partition
from sfumato.recode.local.problem import Hulls, PricedGroups, Problem
from sfumato.recode.recoding import Progress

_GAIN = 1e-9
"""What a change has to save, in rows."""

_WORTH = 1e-6
"""What a change has to promise, in rows."""

_CHEAP = 0.25
"""Classes whose rows cost less than this share of an average row are not looked at."""

_SLOW = 0.985
"""Filling goes on while a round leaves at most so much of the rows that have no place."""

_ROUNDS = 100
"""Rounds at most."""

_BARREN = 3
"""Rounds running that bring little before it ends, where sensitive values may speak against a change."""

_WIDE = 32
"""Classes of more lines than this keep their labels when one line leaves, or so it is taken."""

_SWAPPED = 400_000
"""Pairs of lines that are tried for a swap at most: those of the dearest classes."""

_CELLS = 1 << 19
"""So many pairs of line and class are priced at a time: they stay in the processor's cache."""

_TURNS, _SMALLEST, _LARGEST = 3, 256, 8192
"""Rounds that the budget lasts for if all lines seek in each, and how many classes a block has at least and at most."""

_ASKED = 1 << 26
"""Counts that are looked at at most to ask all classes what they may take and give: a second or two."""

_BARRED = 4
"""Classes that a line remembers not to fit into."""

Costs = NDArray[np.float32]


class Exchange:
    """A partition that is being improved.

    Classes that fail are emptied first; nothing else changes before that. Where rows may still be suppressed, that is
    a way out too: it costs what a row costs of which nothing is left. `void` is the class of these rows, the last one,
    which has no members of its own. The budget is in pairs of line and class.
    """

    def __init__(self, problem: Problem, partition: Partition, budget: int, progress: Progress | None = None) -> None:
        self.progress = progress
        self.problem, self.budget, self._reach = problem, budget, budget // _TURNS
        self._partition = partition.without_empty_groups().combine_lines()
        self._published = np.flatnonzero(self._partition.group >= 0)
        lines = self._partition.select(self._published)
        self.void = lines.groups
        self.tuples, self.rows, self.group, self.groups = lines.tuples, lines.rows, lines.group, lines.groups + 1
        self.may_suppress = problem.requirement.limit - int(self._partition.rows.sum() - self.rows.sum())
        self.classes = self._price_classes(np.arange(self.groups), self.group)
        self.targets = Targets.unknown(len(lines))
        self.stale = np.ones(len(lines), dtype=np.bool_)  # lines whose targets have to be sought anew
        self.balance = Balance.of_classes(problem, self._lines, self.classes)
        self.partners = Targets.unknown(len(lines))  # classes of lines of the same kind, which may change places

    @property
    def result(self) -> Partition:
        """The partition as it is now."""
        group = np.full(len(self._partition), SUPPRESSED)
        group[self._published] = np.where(self.group == self.void, SUPPRESSED, self.group)
        partition = self._partition
        changed = Partition(partition.tuples, partition.rows, group, partition.groups)
        return changed.without_empty_groups().combine_lines()

    @property
    def rows_without_place(self) -> int:
        """Rows of classes that fail."""
        return int(self.classes.sizes[self._failing].sum())

    @property
    def _failing(self) -> BoolArray:
        failing: BoolArray = ~self.classes.passing & (self.classes.sizes > 0)
        return failing

    @property
    def cost(self) -> float:
        """What all classes cost, failing ones included."""
        return float(self.classes.costs.sum())

    def improve(self, little: float) -> "Exchange":
        """Run rounds until they save little, as a share of the cost."""

        def helps() -> bool:
            enough = little * abs(self.cost)
            return self.move() > enough or self.swap() > enough

        return self._repeat(helps)

    def fill(self) -> "Exchange":
        """Run rounds until no class fails, or few more rows find a place."""

        def fewer() -> bool:
            if before := self.rows_without_place:
                self.move()
            return self.rows_without_place < _SLOW * before

        return self._repeat(fewer)

    def _repeat(self, helps: Callable[[], bool]) -> "Exchange":
        """Go on while it helps, with some patience: what was refused once may fit elsewhere."""
        barren, done, patience = 0, 0, _BARREN if self.problem.encoded.domains and self.balance is None else 1
        while barren < patience and done < _ROUNDS and self.budget > 0 and not is_over(self.progress):
            barren, done = 0 if helps() else barren + 1, done + 1
        return self

    def move(self) -> float:
        """Run a round in which lines move and classes are given up; return what that saved."""
        self._seek_targets()
        targets = self.targets.or_suppressed(self.rows, self.void) if self.may_suppress > 0 else self.targets
        return self._carry_out(propose_moves(self.problem, self.classes, self._lines, targets, self.balance))

    def swap(self) -> float:
        """Run a round in which two lines change places, where neither class could do with fewer rows."""
        self._seek_targets()
        targets = self.targets
        if self.balance is not None:
            self._seek(self.partners, self._dear_lines(np.ones(len(self.group), dtype=np.bool_)), self.balance.holds)
            targets = self.partners
        return self._carry_out(propose_swaps(self.problem, self.classes, self._lines, targets, self.balance))

    @property
    def _lines(self) -> Partition:
        return Partition(self.tuples, self.rows, self.group, self.groups)

    def _seek_targets(self) -> None:
        """Seek targets anew for lines whose class or target has changed, where there is anything to gain."""
        lines = self._dear_lines(self.stale)
        self._seek(self.targets, lines, None if self.balance is None else self.balance.takes)
        self.stale[lines] = False

    def _dear_lines(self, chosen: BoolArray) -> IntArray:
        """List those of the chosen lines, bool[n], whose classes fail, or if none does, cost much."""
        dear = self._failing
        if not dear.any():
            sizes, costs = self.classes.sizes, self.classes.costs
            dear = costs > (_GAIN + _CHEAP * max(self.cost, 0.0) / sizes.sum()) * sizes
        return np.flatnonzero(chosen & dear[self.group])

    def _seek(self, targets: "Targets", lines: IntArray, open_to: BoolArray | None) -> None:
        """Seek targets of lines among the classes that are open to their kinds, bool[c, m]."""
        kinds = None
        if self.balance is not None and open_to is not None:
            kinds = OpenClasses(self.balance.compositions.kind_of.take(self.tuples), open_to)
        self.budget -= targets.seek(self.problem, self.classes, self._lines, lines, self._reach, kinds)

    def _carry_out(self, proposals: "Proposals") -> float:
        """Choose from the proposals, carry them out, and take back those that do not help; return what that saved.

        `part` int[c] is the proposal that each class has part in, -1 for none; no class has part in two. Saved float[p]
        is what the classes of each proposal cost less, and less for each row that is suppressed.
        """
        chosen = proposals.choose(self.void, self.rows, self.may_suppress)
        if not len(chosen):
            return 0.0
        proposal, suppressed = chosen.runs.group, chosen.target == self.void
        part = np.full(self.groups, -1)
        part[chosen.target], part[chosen.source] = proposal, np.arange(len(chosen))
        part[self.void] = -1
        touched = np.flatnonzero(part >= 0)
        moved = self.group.copy()
        moved[chosen.lines] = chosen.target
        after = self._price_classes(touched, moved)
        saved = np.bincount(part[touched], weights=self.classes.penalized[touched] - after.penalized)
        saved -= np.bincount(proposal[suppressed], self.rows[chosen.lines[suppressed]], len(saved))

        good = saved > _GAIN
        changed, lines = good[part[touched]], good[proposal]
        self.classes.replace(touched[changed], after.select(np.flatnonzero(changed)))
        self.group[chosen.lines[lines]] = chosen.target[lines]
        if self.balance is not None:
            self.balance.recount(touched[changed], self._lines, self.classes)
        self.may_suppress -= int(self.rows[chosen.lines[lines & suppressed]].sum())
        # Lines whose class or target has changed seek anew; those that were refused seek another class.
        anew = np.zeros(self.groups, dtype=np.bool_)
        anew[touched[changed]] = True
        self.stale |= anew[self.group] | anew[self.targets.group]
        self.targets.refuse(chosen.lines[~lines])
        self.stale[chosen.lines[~lines]] = True
        return float(saved[good].sum())

    def _price_classes(self, classes: IntArray, group: IntArray) -> PricedGroups:
        """Price some classes, given the class of each line, int[n]; an empty one costs nothing and fails."""
        place = np.full(self.groups, -1)
        place[classes] = np.arange(len(classes))
        lines = np.flatnonzero(place[group] >= 0)
        partition = Partition(self.tuples[lines], self.rows[lines], place[group[lines]], len(classes))
        priced = PricedGroups.empty(self.problem, len(classes))
        occupied = np.flatnonzero(partition.sizes > 0)
        if len(occupied):
            priced.replace(occupied, PricedGroups.from_partition(self.problem, partition.without_empty_groups()))
        return priced


# Which class a line would join most cheaply


@dataclass(frozen=True, eq=False)
class Targets:
    """For each line the class that takes it in most cheaply, int[n], and what that adds to its cost, float[n].

    `barred` int[n, 4] are the last few classes of each line that turned out not to satisfy the requirement with it.
    """

    group: IntArray
    added: FloatArray
    barred: IntArray

    @classmethod
    def unknown(cls, lines: int) -> "Targets":
        """Begin with nothing known."""
        return cls(np.zeros(lines, dtype=np.int64), np.full(lines, np.inf), np.full((lines, _BARRED), -1))

    def refuse(self, lines: IntArray) -> None:
        """Bar the targets of some lines."""
        self.barred[lines, 1:] = self.barred[lines, :-1]
        self.barred[lines, 0] = self.group[lines]
        self.added[lines] = np.inf

    def or_suppressed(self, rows: IntArray, void: int) -> "Targets":
        """Take no class at all, `void`, as the target of lines that cost less suppressed than anywhere."""
        dropped = self.added > rows
        return Targets(np.where(dropped, void, self.group), np.where(dropped, rows, self.added), self.barred)

    def seek(
        self,
        problem: Problem,
        classes: PricedGroups,
        lines: Partition,
        chosen: IntArray,
        reach: int,
        kinds: "OpenClasses | None" = None,
    ) -> int:
        """Find the cheapest targets of chosen lines, int[m], among the passing classes of their block.

        A block is all lines and classes, or those that are near when classes are sorted by their hulls, so many that
        about `reach` pairs are priced. Returns how many pairs of line and class were priced, tables counted in.
        """
        pairs, group = 0, lines.group[chosen]
        groups = len(classes.sizes)
        size = min(max(reach // max(len(chosen), 1), _SMALLEST), _LARGEST)
        blocks = [(np.arange(groups), chosen)]
        if groups > size:
            order = np.lexsort([hull[:, word] for hull in classes.hulls for word in range(hull.shape[1])])
            number = -(-groups // size)
            block = np.empty(groups, dtype=np.int64)
            block[order] = np.arange(groups) * number // groups
            places, runs = sort_by_group(block[group], number)
            parts = np.split(order, np.searchsorted(block[order], np.arange(1, number)))
            blocks = list(zip(parts, np.split(chosen[places], runs.starts[1:]), strict=True))
        for members, movers in blocks:
            if len(movers) and len(members) > 1:
                self._seek_in_block(problem, classes.select(members), members, lines, movers, kinds)
                leaves = [min(len(movers), len(axis.single)) * axis.single.shape[1] for axis in problem.axes]
                pairs += len(members) * (len(movers) + int(sum(leaves)) // len(leaves))
        return pairs

    def _seek_in_block(
        self,
        problem: Problem,
        classes: PricedGroups,
        members: IntArray,
        lines: Partition,
        movers: IntArray,
        kinds: "OpenClasses | None",
    ) -> None:
        """Price lines that may move, int[m], in all classes of a block int[b], some at a time; note the cheapest.

        What a row costs in a class that takes it in is a sum over attributes, each depending on the row's value and the
        class alone. So per attribute there is a table, value by class, and a line's costs in all classes are some rows
        of such tables added up: a few contiguous additions in place of a comparison per pair.
        """
        tuples, width = lines.tuples[movers], len(members)
        tables = _cost_tables(problem, classes.hulls, tuples)
        place = np.full(lines.groups + 1, width)  # of each class in the block; those outside come to a last column
        place[members] = np.arange(width)
        barred = place[np.column_stack([lines.group[movers], self.barred[movers]])]
        sizes, costs, rows = (part.astype(np.float32) for part in (classes.sizes, classes.costs, lines.rows[movers]))
        costs[~classes.passing] = -np.inf
        shut = None if kinds is None else np.where(kinds.open_to[members].T, 0.0, np.inf).astype(np.float32)
        for part in np.array_split(np.arange(len(movers)), -(-len(movers) * width // _CELLS)):
            row_costs = np.zeros((len(part), width), dtype=np.float32)
            for (row_of, table), codes in zip(tables, problem.encoded.tuples.quasi, strict=True):
                row_costs += table.take(row_of.take(codes.take(tuples[part])), axis=0)
            added = np.full((len(part), width + 1), np.inf, dtype=np.float32)
            taken_in = problem.metric.group_costs(row_costs, sizes + rows[part][:, None])
            np.subtract(taken_in, costs, out=added[:, :-1])
            if kinds is not None and shut is not None:
                added[:, :-1] += shut[kinds.kind[movers[part]]]
            np.put_along_axis(added, barred[part], np.inf, axis=1)
            best = added.argmin(axis=1)
            self.group[movers[part]] = members[np.minimum(best, width - 1)]
            self.added[movers[part]] = added[np.arange(len(part)), best]


@dataclass(frozen=True, eq=False)
class OpenClasses:
    """The kind of each line, int[n], and the kinds that each class is open to, bool[c, m]."""

    kind: IntArray
    open_to: BoolArray


@dataclass(frozen=True, eq=False)
class Balance:
    """What the classes hold of each kind, int[c, m], and which rows they may take in and give away, bool[c, m]."""

    compositions: Compositions
    counts: IntArray
    takes: BoolArray
    gives: BoolArray

    @classmethod
    def of_classes(cls, problem: Problem, lines: Partition, classes: PricedGroups) -> "Balance | None":
        """Ask about all classes; those that fail may give everything, and take nothing.

        Nothing where rows have no kinds, or so many that to ask takes longer than to try.
        """
        compositions = None if problem.indivisible else Compositions.from_problem(problem)
        if compositions is None or lines.groups * compositions.kinds**2 > _ASKED:
            return None
        shape = lines.groups, compositions.kinds
        none = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
        balance = cls(compositions, *none)
        balance.recount(np.arange(lines.groups), lines, classes)
        return balance

    @property
    def holds(self) -> BoolArray:
        """Tell which kinds each class has rows of."""
        return self.counts > 0

    def recount(self, changed: IntArray, lines: Partition, classes: PricedGroups) -> None:
        """Ask anew about classes that have changed, int[p], in place."""
        place = np.full(lines.groups, -1)
        place[changed] = np.arange(len(changed))
        on = np.flatnonzero(place[lines.group] >= 0)
        counts = self.compositions.count_lines(lines.tuples[on], lines.rows[on], place[lines.group[on]], len(changed))
        passing = classes.passing[changed][:, None]
        self.counts[changed] = counts
        self.takes[changed] = self.compositions.may_take(counts) & passing
        self.gives[changed] = self.compositions.may_give(counts) | ~passing


def _cost_tables(problem: Problem, hulls: Hulls, tuples: IntArray) -> list[tuple[IntArray, Costs]]:
    """Make per attribute a table of what a cell of each value costs in each class that takes it in.

    Returns the table's row of each leaf, int[v], and the table [values that occur, classes].
    """
    tables = []
    for axis, codes, hull_of_class in zip(problem.axes, problem.encoded.tuples.quasi, hulls, strict=True):
        used = np.unique(codes[tuples])
        row_of = np.zeros(len(axis.single), dtype=np.int64)
        row_of[used] = np.arange(len(used))
        hull, number = _different_hulls(axis, hull_of_class)
        single, table = axis.single[used], np.empty((len(used), len(hull)), dtype=np.float32)
        step = max(_CELLS // hull.size, 1)  # some values at a time: hulls of sets may be long
        for start in range(0, len(used), step):
            joined = axis.join(single[start : start + step, None], hull[None])
            cost = axis.cell_costs(joined.reshape(-1, hull.shape[1]))
            table[start : start + step] = cost.reshape(-1, len(hull))
        tables.append((row_of, table if number is None else table.take(number, axis=1)))
    return tables


def _different_hulls(axis: AttributeAxis, hulls: IntArray) -> tuple[IntArray, IntArray | None]:
    """Give hulls of the different nodes among hulls, int[c, 2], and which of them each class has, int[c].

    What a value costs with a hull depends on its node alone. All hulls are given where most nodes differ, or where
    columns have no nodes.
    """
    if not isinstance(axis, TreeAxis):
        return hulls, None
    _, first, number = np.unique(axis.nodes(hulls), return_index=True, return_inverse=True)
    return (hulls, None) if 2 * len(first) > len(hulls) else (hulls[first], number)


# What could change, and which changes go together


@dataclass(frozen=True, eq=False)
class Proposals:
    """Changes to choose from: what each promises to save float[p], its class int[p], and its lines with their targets.

    Lines and targets, both int[m], are proposal by proposal, in `runs`.
    """

    gain: FloatArray
    source: IntArray
    runs: Segments
    lines: IntArray
    target: IntArray

    def __len__(self) -> int:
        return len(self.gain)

    def choose(self, void: int, rows: IntArray, may_suppress: int) -> "Proposals":
        """Choose the best proposals of which no two touch the same class, and that suppress no more rows than may be.

        Greedily, the one that promises most first. rows int[n] are those of all lines.
        """
        dropped = np.where(self.target == void, rows[self.lines], 0)
        gone = np.bincount(self.runs.group, weights=dropped, minlength=len(self)).tolist()
        starts, ends = self.runs.starts.tolist(), (self.runs.starts + self.runs.lengths).tolist()
        source, target = self.source.tolist(), self.target.tolist()
        touched, picked = bytearray(void + 1), []
        for i in np.argsort(-self.gain, kind="stable").tolist():
            classes = {source[i], *target[starts[i] : ends[i]]} - {void}
            if gone[i] <= may_suppress and not any(touched[each] for each in classes):
                picked.append(i)
                may_suppress -= gone[i]
                for each in classes:
                    touched[each] = 1
        chosen = np.array(picked, dtype=np.int64)
        places = self.runs.places(chosen)
        runs = self.runs.select(chosen)
        return Proposals(self.gain[chosen], self.source[chosen], runs, self.lines[places], self.target[places])


def propose_moves(
    problem: Problem, classes: PricedGroups, lines: Partition, targets: Targets, balance: Balance | None = None
) -> Proposals:
    """Propose all moves of one line, and all classes to be given up, that promise to save something.

    A line moves to its target; where a class is given up, each of its lines does. A line that a class cannot give away
    stays.
    """
    members = ClassMembers.from_lines(lines)
    moves = _move_gains(problem, classes, members, targets.added)
    if balance is not None:
        gives = balance.gives[lines.group, balance.compositions.kind_of.take(lines.tuples)]
        moves[~gives & (lines.rows == 1)] = -np.inf  # of several rows it is not known
    single = np.flatnonzero(moves > _WORTH)
    saved = classes.penalized - _dissolve_costs(problem, classes, lines, targets)
    dissolved = np.flatnonzero((saved > _WORTH) & (members.runs.lengths > 0))
    lengths = np.concatenate([np.ones(len(single), dtype=np.int64), members.runs.lengths[dissolved]])
    moved = np.concatenate([single, members.list_lines(dissolved)])
    gain, source = np.concatenate([moves[single], saved[dissolved]]), np.concatenate([lines.group[single], dissolved])
    return Proposals(gain, source, Segments.from_lengths(lengths), moved, targets.group[moved])


def _move_gains(problem: Problem, classes: PricedGroups, members: "ClassMembers", added: FloatArray) -> FloatArray:
    """Price what moving each line to its target saves: float[n]; minus infinity where it cannot leave its class."""
    lines, sizes = members.lines, classes.sizes
    left, length = sizes[lines.group] - lines.rows, members.runs.lengths[lines.group]
    movable = (left >= problem.requirement.least) & (length > 1)
    row = np.divide(classes.costs, np.maximum(sizes, 1))
    gain = np.where(movable, row[lines.group] * lines.rows - added, -np.inf)  # if labels stay as they are
    exact = np.flatnonzero(movable & (length <= _WIDE) & np.isfinite(added))
    if len(exact):
        rest = problem.costs(members.hulls_without(problem, exact), left[exact])
        gain[exact] = classes.costs[lines.group[exact]] - rest - added[exact]
    return gain


def _dissolve_costs(problem: Problem, classes: PricedGroups, lines: Partition, targets: Targets) -> FloatArray:
    """Price what giving up each class adds to others: float[c].

    Lines of a class that go to the same target go there together, which may cost less or more than each by itself.
    """
    target, added = targets.group, targets.added
    spent = np.bincount(lines.group, weights=added, minlength=lines.groups).astype(np.float64)
    open_ = np.flatnonzero(np.isfinite(added) & classes.passing[target])
    pair = lines.group[open_] * lines.groups + target[open_]
    order = np.argsort(pair, kind="stable")
    pairs = Segments.from_sorted(pair[order])
    shared = np.flatnonzero(pairs.lengths > 1)
    if not len(shared):
        return spent
    members, runs = open_[order[pairs.places(shared)]], pairs.select(shared)
    source, into = lines.group[members[runs.starts]], target[members[runs.starts]]
    own = problem.hulls_of_runs(lines.tuples[members], runs.starts)
    hulls = problem.join_hulls(own, [hull[into] for hull in classes.hulls])
    together = problem.costs(hulls, classes.sizes[into] + runs.sum(lines.rows[members])) - classes.costs[into]
    spent += np.bincount(source, weights=together - runs.sum(added[members]), minlength=lines.groups)
    return spent


def propose_swaps(
    problem: Problem, classes: PricedGroups, lines: Partition, targets: Targets, balance: Balance | None = None
) -> Proposals:
    """Propose for each line the member of its target class with which changing places saves most, if anything.

    Where the requirement looks at sensitive values, lines of the same kind and as many rows change places.

    Lines may move that have a target, in classes of few lines: those that cost most, as many as there is time for.
    With m pairs of such a line and a member of its target: mine int[m], theirs int[m], gain float[m].
    """
    members = ClassMembers.from_lines(lines)
    group, lengths = lines.group, members.runs.lengths
    narrow = lengths <= _WIDE
    has_target = np.isfinite(targets.added) & classes.passing[targets.group]
    movers = np.flatnonzero(has_target & narrow[group] & narrow[targets.group] & (targets.group != group))
    row = (classes.costs / np.maximum(classes.sizes, 1))[group[movers]]
    movers = movers[np.argsort(-row, kind="stable")]
    longest = max(axis.single.shape[1] for axis in problem.axes)
    movers = np.sort(movers[np.cumsum(lengths[targets.group[movers]]) <= _SWAPPED // longest])

    pairs = Segments.from_lengths(lengths[targets.group[movers]])
    mine, theirs = pairs.spread(movers), members.list_lines(targets.group[movers])
    if balance is None:
        gain = _swap_gains(problem, classes, members, mine, theirs)
    else:
        kind = balance.compositions.kind_of.take(lines.tuples)
        alike = np.flatnonzero((kind[mine] == kind[theirs]) & (lines.rows[mine] == lines.rows[theirs]))
        gain = np.full(len(mine), -np.inf)
        gain[alike] = _swap_gains(problem, classes, members, mine[alike], theirs[alike])
    best = np.maximum.reduceat(gain, pairs.starts) if len(movers) else gain
    chosen = np.flatnonzero(gain == pairs.spread(np.where(best > _WORTH, best, np.inf)))
    chosen = chosen[np.unique(mine[chosen], return_index=True)[1]]
    swapped = np.column_stack([mine[chosen], theirs[chosen]])
    runs = Segments.from_lengths(np.full(len(chosen), 2))
    return Proposals(gain[chosen], group[mine[chosen]], runs, swapped.ravel(), group[swapped[:, ::-1]].ravel())


def _swap_gains(
    problem: Problem, classes: PricedGroups, members: "ClassMembers", mine: IntArray, theirs: IntArray
) -> FloatArray:
    """Price what each pair of lines saves by changing places: float[m]; minus infinity where a class gets too small."""
    lines, least = members.lines, problem.requirement.least
    here, there = lines.group[mine], lines.group[theirs]
    more = lines.rows[theirs] - lines.rows[mine]
    sizes = classes.sizes[here] + more, classes.sizes[there] - more
    needed, place = np.unique(np.concatenate([mine, theirs]), return_inverse=True)
    rest, single = members.hulls_without(problem, needed), problem.hulls_of_tuples(lines.tuples[needed])
    first, second = place[: len(mine)], place[len(mine) :]

    def costs(left: IntArray, comes: IntArray, sizes: IntArray) -> FloatArray:
        joined = problem.join_hulls([hull[left] for hull in rest], [hull[comes] for hull in single])
        return problem.costs(joined, sizes)

    after = costs(first, second, sizes[0])
    after += costs(second, first, sizes[1])
    gain = classes.costs[here] + classes.costs[there] - after
    return np.where((sizes[0] >= least) & (sizes[1] >= least), gain, -np.inf)


@dataclass(frozen=True, eq=False)
class ClassMembers:
    """Lines in the order of their classes: the line at each place, int[n], and the run of each class, maybe empty."""

    lines: Partition
    order: IntArray
    runs: Segments

    @classmethod
    def from_lines(cls, lines: Partition) -> "ClassMembers":
        """Find the members of all classes."""
        return cls(lines, *sort_by_group(lines.group, lines.groups))

    def list_lines(self, classes: IntArray) -> IntArray:
        """List the lines of some classes, one class after the other."""
        return self.order[self.runs.places(classes)]

    def hulls_without(self, problem: Problem, lines: IntArray) -> Hulls:
        """Find for each of some lines, int[m], the hulls of its class without it; classes are of few lines.

        With k classes of up to w lines: `members` int[k, w] is a table of their lines, filled up at the end, `inside`
        bool[k, w, 1] what is not filled up. In each row of hulls, the join of all but one is that of what is before it
        and of what is behind it.
        """
        classes, row = np.unique(self.lines.group[lines], return_inverse=True)
        starts, lengths = self.runs.starts[classes][:, None], self.runs.lengths[classes][:, None]
        columns = np.arange(int(lengths.max(initial=1)))
        members = self.order[np.minimum(starts + columns, len(self.order) - 1)]
        inside = (columns < lengths)[..., None]
        column = np.argmax(members[row] == lines[:, None], axis=1)
        tuples = self.lines.tuples[members]
        return [
            _join_others(axis, np.where(inside, axis.single[codes[tuples]], axis.empty))[row, column]
            for axis, codes in zip(problem.axes, problem.encoded.tuples.quasi, strict=True)
        ]


def _join_others(axis: AttributeAxis, hulls: IntArray) -> IntArray:
    """Join in each row of hulls, int[k, w, words], all but one, for each one: same shape."""
    none = np.full((len(hulls), 1, hulls.shape[2]), axis.empty)
    before = np.concatenate([none, axis.join.accumulate(hulls, axis=1)[:, :-1]], axis=1)
    behind = np.concatenate([axis.join.accumulate(hulls[:, ::-1], axis=1)[:, -2::-1], none], axis=1)
    others: IntArray = axis.join(before, behind)
    return others
