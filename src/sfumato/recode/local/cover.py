"""Cover: take the cheapest classes first, wherever they are, until every row has one.

A candidate is a group of rows that agree at some node (a step per attribute) and satisfy the requirement together.
Nodes are in a queue by a bound on what a row costs there; the first is looked at, its groups that are no dearer than
the next bound become classes, and it goes back into the queue at the cost of its next group. So classes are taken in
the order of their cost per row over all nodes at once, and a row is only generalized as far as the cheapest group that
it finds company in. Work is bounded, and not by the clock, so that the result does not depend on the machine; rows that
are still alone then are left over.

Under a promise about sensitive values, few groups of rows that agree pass as they are. Of a group that fails, as many
rows are taken as make a composition that passes. What is left over must stay a composition that passes, too, or its
rows could find no company; so a class is the dearer, the more it takes of what is rare among the rows left, and the
cheaper, the more it takes of what has become too frequent there.

Rows that agree at a node are found by sums of hashes, one per attribute and step. Neighbouring columns of few values
share a table of such sums, so that it is a look-up and an addition for each few columns.
Should two different tuples collide, they are tried as one group under labels that cover both: dearer, never wrong,
since labels are always those of the members.
"""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import BoolArray, Codes, FloatArray, IntArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.core.deadline import is_over
from sfumato.core.keys import mix_bits
from sfumato.core.segments import Segments
from sfumato.recode.local.compositions import Compositions
from sfumato.recode.local.partition import Partition
from sfumato.recode.local.problem import Problem
from sfumato.recode.recoding import Progress

_LOOK = 2000
"""What looking at a node costs besides its lines, in lines."""

_EXPANDED = 50
"""What putting the nodes above a node into the queue costs, in lines for each attribute."""

_COUNT, _COUNTED = 20_000, 20
"""What counting sensitive values costs besides, in lines, and what each line counted does."""

_NEAR = 0.008
"""Groups that are dearer than the next bound by no more than this are taken at once: it saves looks."""

_NEAR_SHARE = 0.04
"""With compositions, groups that are dearer by no more than this share of the bound are taken at once."""

_HURRY = 0.4
"""How much more that is when half of the budget has been spent, twice over; and ever more to its end."""

_BALANCE = 10.0
"""What a row costs besides for making the rows left more unlike the table: so much times the square of the change."""

_FARTHER, _MANY_ROWS = np.array([4.0, 8.0, 16.0, 32.0]), 1_000_000
"""How much farther a drift is thought of, and in how many rows."""

_TRIMMED = 3
"""What each count of each kind that is looked at costs, in lines."""

_FEW, _MANY_NODES = 2000, 64
"""With fewer lines than this, so many nodes are looked at at a time, to see at which there is anything."""

_MANY_COLUMNS = 30
"""Nodes of more columns are charged by the square of their number, which is what they take."""

_SORTED = 1024
"""With fewer lines than this, sorting them is quicker than counting them roughly first."""

_JOINT, _JOINT_STEPS = 1 << 13, 64
"""Entries that a table of sums has at most, so that it is in the cache; and how many there are of a kind."""

CoverNode = str
"""A step per attribute, each a character: of hundreds of attributes, texts are copied, hashed and compared in an
instant, and in the order in which tuples are."""


def cover(
    problem: Problem, partition: Partition, budget: int, progress: Progress | None = None, *, whole: bool = False
) -> Partition:
    """Group as many of the published rows as the budget, in lines, allows; each line of the rest is a group by itself.

    Where sensitive values are looked at, the rest is one group; unless groups are taken `whole`, as they are or not at
    all. What groups the rows are in before does not matter; rows that are suppressed stay so. Progress is in rows:
    those that have a class, and all.
    """
    published = partition.published.merge(np.zeros(partition.groups, dtype=np.int64))
    compositions = None if whole or problem.indivisible else Compositions.from_problem(problem)
    search = (
        _Search(problem, published, budget)
        if compositions is None
        else _BalancedSearch(problem, published, budget, compositions)
    )
    classes, groups, rows = list[Partition](), 0, int(published.rows.sum())
    while search.queue and len(search.unassigned) and search.budget > 0 and not is_over(progress):
        found = search.next_classes()
        if len(found):
            classes.append(replace(found, group=found.group + groups, tuples=search.unassigned.tuples[found.tuples]))
            groups += found.groups
            search.unassigned = search.unassigned.without(found.tuples, found.rows)
        if progress:
            progress(rows - int(search.unassigned.rows.sum()), rows)
    left_over = search.unassigned
    number = np.zeros(len(left_over), dtype=np.int64) if compositions is not None else np.arange(len(left_over))
    alone = Partition(left_over.tuples, left_over.rows, groups + number, groups + int(number.max(initial=-1)) + 1)
    lines = [*classes, alone, partition.suppressed]
    tuples, rows_of, group = (
        np.concatenate([getattr(part, name) for part in lines]) for name in ("tuples", "rows", "group")
    )
    return Partition(tuples, rows_of, group, alone.groups)


class _Search:
    """The queue of nodes, what is known of them, and the tuples that have no class yet.

    `hashes` are equal for tuples that agree at a node. Per attribute, for its steps from single values to all in one,
    `floors` are what a cell costs there at least. `costs` are what a row costs in the attributes where its value alone
    tells, and `varying` are the others.
    """

    def __init__(self, problem: Problem, partition: Partition, budget: int) -> None:
        self.problem, self.budget = problem, budget
        steps = [axis.steps() for axis in problem.axes]
        self.hashes = NodeSums(
            [mix_bits(step, (number << 40) + (place << 32) + 1) for place, step in enumerate(each)]
            for number, each in enumerate(steps)
        )
        self.unassigned = UnassignedTuples.from_partition(problem, partition, self.hashes)
        self.floors = [axis.step_floors() for axis in problem.axes]
        costs = [axis.step_costs() for axis in problem.axes]
        for axis, each in zip(problem.axes, costs, strict=True):
            if each is not None and not axis.attribute.hierarchy.below:
                each[0] = np.zeros_like(each[0])  # values as they came cost nothing
        self.varying = [number for number, each in enumerate(costs) if each is None]
        self.costs = NodeSums(
            [np.zeros(len(step)) for step in of_axis] if each is None else each
            for of_axis, each in zip(steps, costs, strict=True)
        )
        bottom = chr(0) * len(problem.axes)
        self.queue: list[tuple[float, CoverNode]] = [(self._floor(bottom), bottom)]
        self.queued, self.crowded, self.expanded = {bottom}, {bottom}, set[CoverNode]()

    def next_classes(self) -> Partition:
        """Look at the first node of the queue, which may go back into it.

        Returns the classes found there, whose tuples are places of lines; no line is in two.
        """
        bound, node = heapq.heappop(self.queue)
        if self._needs_crowd(node):
            self._drop_empty_nodes((bound, node))
            return _NO_CLASSES
        self._expand(node)
        lines, runs = self._passing_groups(*self._large_groups(node))
        if not len(runs):
            return _NO_CLASSES
        cost = self._row_costs(node, lines, runs)
        good = cost <= max(bound, self._next_bound) + _NEAR
        self._put_back(node, cost[~good])
        lines, runs = _select_runs(lines, runs, good)
        return Partition(lines, self.unassigned.rows.take(lines), runs.group, len(runs))

    @property
    def _next_bound(self) -> float:
        """The bound of the first node of the queue."""
        return self.queue[0][0] if self.queue else np.inf

    def _needs_crowd(self, node: CoverNode) -> bool:
        """Tell whether so few lines are left that it should be seen first at which nodes there is anything."""
        return len(self.unassigned) < _FEW and node not in self.crowded

    def _put_back(self, node: CoverNode, costs: FloatArray) -> None:
        """Put a node back into the queue, at the lowest of the costs of groups that are still there."""
        lowest = float(costs.min(initial=np.inf))
        if lowest < np.inf:
            heapq.heappush(self.queue, (lowest, node))

    def _floor(self, node: CoverNode) -> float:
        return float(sum(floors[step] for floors, step in zip(self.floors, map(ord, node), strict=True)))

    def _expand(self, node: CoverNode) -> None:
        """Put the nodes one step above into the queue, the first time that a node is met."""
        if node in self.expanded:
            return
        self.expanded.add(node)
        # of very many columns, writing down the nodes above costs more than their number tells
        self.budget -= _EXPANDED * len(self.floors) * max(len(self.floors) // _MANY_COLUMNS, 1)
        here = self._floor(node)
        for i, floors in enumerate(self.floors):
            step = ord(node[i])
            if step + 1 == len(floors):
                continue
            above = node[:i] + chr(step + 1) + node[i + 1 :]
            if above not in self.queued:
                self.queued.add(above)
                heapq.heappush(self.queue, (here - floors[step] + floors[step + 1], above))

    def _drop_empty_nodes(self, first: tuple[float, CoverNode]) -> None:
        """Drop nodes from the front of the queue at which no group has enough rows: a look at many at a time."""
        front = [first, *(heapq.heappop(self.queue) for _ in range(min(_MANY_NODES, len(self.queue))))]
        self.budget -= _LOOK + len(self.unassigned) * len(front)
        nodes = [node for _, node in front]
        crowded = self.unassigned.crowded_nodes(self.hashes, nodes, self.problem.requirement.least)
        for entry, some in zip(front, crowded, strict=True):
            if some:
                self.crowded.add(entry[1])
                heapq.heappush(self.queue, entry)
            else:
                self._expand(entry[1])

    def _large_groups(self, node: CoverNode) -> tuple[IntArray, Segments]:
        """Find the groups at a node that have rows enough: places of lines, group by group, and their runs."""
        unassigned, least = self.unassigned, self.problem.requirement.least
        self.budget -= _LOOK + len(unassigned)
        lines, runs = unassigned.group_by_node(self.hashes, node, least)
        if not len(runs):
            return lines, runs
        return _select_runs(lines, runs, runs.sum(unassigned.rows.take(lines)) >= least)

    def _passing_groups(self, lines: IntArray, runs: Segments) -> tuple[IntArray, Segments]:
        """Keep the groups, which have rows enough, that satisfy the requirement as they are."""
        problem, unassigned = self.problem, self.unassigned
        if not len(runs) or problem.only_sizes_count:
            return lines, runs
        rows = unassigned.rows.take(lines)
        if problem.encoded.domains:
            self.budget -= _COUNT + _COUNTED * len(lines)
            passing = problem.holds(Partition(unassigned.tuples.take(lines), rows, runs.group, len(runs)))
        else:
            passing = problem.requirement.holds(EquivalenceClasses(runs.sum(rows)))
        return _select_runs(lines, runs, passing)

    def _row_costs(self, node: CoverNode, lines: IntArray, runs: Segments) -> FloatArray:
        """Price a row of each group at a node under its labels: float[g]."""
        heads = lines.take(runs.starts)
        cost: FloatArray = self.costs.sums([codes.take(heads) for codes in self.unassigned.joint], node)
        for number in self.varying:
            axis, codes = self.problem.axes[number], self.unassigned.codes[number]
            self.budget -= _COUNTED * len(lines) * axis.single.shape[1]
            single = axis.single.take(codes.take(lines), axis=0)
            cost += axis.cell_costs(axis.reduce(single, runs.starts))
        return cost


class _BalancedSearch(_Search):
    """A search that looks at sensitive values: it chooses rows of groups that pass, and leaves rows that can pass, too.

    `left` int[m] are the rows of each kind that have no class yet; they pass together, as all rows do. `drift` float[m]
    is how far their shares are from those of all rows, times what that matters now; `mean_drift` is that of a row left,
    and `spared` what a class may be cheaper than its labels at most.
    """

    def __init__(self, problem: Problem, partition: Partition, budget: int, compositions: Compositions) -> None:
        super().__init__(problem, partition, budget)
        self.compositions = compositions
        self.left = compositions.count(partition).sum(axis=0)
        self.whole_budget = budget
        self._follow_drift()

    def next_classes(self) -> Partition:
        """Look at the first node of the queue, which may go back into it.

        With g groups at the node, of m kinds: counts, taken int[g, m], price float[g]. A class with shares p makes the
        square of the drift grow by about 2 (left - p) drift per row, and is dearer by that. Where every group
        would leave rows without company, they are not looked at again here.
        """
        bound, node = heapq.heappop(self.queue)
        if self._needs_crowd(node):
            self._drop_empty_nodes((bound, node))
            return _NO_CLASSES
        self._expand(node)
        lines, runs = self._large_groups(node)
        if not len(runs):
            return _NO_CLASSES
        limit = max(bound, self._next_bound)
        spent = 1 - self.budget / self.whole_budget
        limit += max(_NEAR, (_NEAR_SHARE + _HURRY * spent**2 / (1.02 - spent)) * limit)
        cost = self._row_costs(node, lines, runs)
        near = cost <= limit + self.spared
        self._put_back(node, cost[~near] - self.spared)
        lines, runs = _select_runs(lines, runs, near)
        tuples, rows = self.unassigned.tuples.take(lines), self.unassigned.rows.take(lines)
        counts = self.compositions.count_lines(tuples, rows, runs.group, len(runs))
        worth = np.flatnonzero(self.compositions.worth_trimming(counts))
        self.budget -= _COUNT + _COUNTED * len(lines) + counts.size // 4
        self.budget -= _TRIMMED * self.compositions.candidates * len(worth)
        if not len(worth):
            return _NO_CLASSES
        taken = np.zeros_like(counts)
        taken[worth] = self.compositions.trim(counts[worth])
        sizes = taken.sum(axis=1)
        shares = taken / np.maximum(sizes, 1)[:, None]
        price = np.where(sizes > 0, cost[near] + self.mean_drift - shares @ self.drift, np.inf)
        good = np.flatnonzero(price <= limit)
        good = good[np.argsort(price[good], kind="stable")]
        chosen = np.sort(good[self._choose_with_company(taken[good])])
        if not len(chosen):
            self._put_back(node, price[price > limit])
            return _NO_CLASSES
        self._put_back(node, np.delete(price, chosen))
        self.left = self.left - taken[chosen].sum(axis=0)
        self._follow_drift()
        places, runs = runs.places(chosen), runs.select(chosen)
        pair = runs.group * self.compositions.kinds + self.compositions.kind_of.take(tuples.take(places))
        amount = _take_kinds(taken[chosen], rows.take(places), pair)
        some = amount > 0
        return Partition(lines.take(places)[some], amount[some], runs.group[some], len(runs))

    def _follow_drift(self) -> None:
        """Price the drift of the rows left: it matters wholly if twice as much would leave rows that fail together."""
        if not self.left.any():
            return
        left = self.left / self.left.sum()
        drift = left - self.compositions.shares
        farther = self.compositions.shares + np.outer(_FARTHER, drift)
        fails = ~self.compositions.holds((np.maximum(farther, 0.0) * _MANY_ROWS).astype(np.int64))
        urgency = _FARTHER[0] / float(_FARTHER[fails].min()) if fails.any() else 0.0
        self.drift = _BALANCE * urgency * drift
        self.mean_drift = float(left @ self.drift)
        self.spared = max(float(self.drift.max()) - self.mean_drift, 0.0)

    def _choose_with_company(self, taken: IntArray) -> slice:
        """Choose classes that leave rows that pass, or none: as many as can be from the first on, or a single one.

        taken int[g, m], the cheapest class first; returns the places of those that are chosen.
        """
        if not len(taken):
            return slice(0)
        left = self.left - np.cumsum(taken, axis=0)
        passing = self.compositions.holds(left) | ~left.any(axis=1)
        if passing.any():
            return slice(int(passing.nonzero()[0][-1]) + 1)
        left = self.left - taken
        passing = self.compositions.holds(left) | ~left.any(axis=1)
        first = int(passing.argmax())
        return slice(first, first + int(passing.any()))


def _take_kinds(taken: IntArray, rows: IntArray, pair: IntArray) -> IntArray:
    """Take of each line so many rows that each group has what is taken of each kind: the first lines give first.

    taken int[g, m], rows int[n], pair int[n] the number of group and kind of each line; returns int[n].
    """
    order = np.argsort(pair, kind="stable")
    rows, pair = rows.take(order), pair.take(order)
    amount = np.empty_like(rows)
    amount[order] = np.clip(taken.ravel().take(pair) - Segments.from_sorted(pair).sum_before(rows), 0, rows)
    return amount


_NONE = np.zeros(0, dtype=np.int64)
_NO_CLASSES = Partition(_NONE, _NONE, _NONE, 0)


def _select_runs(lines: IntArray, runs: Segments, chosen: BoolArray) -> tuple[IntArray, Segments]:
    """Keep the chosen runs, bool[runs], and their lines, which are run by run."""
    if chosen.all():
        return lines, runs
    places = np.flatnonzero(chosen)
    return lines.take(runs.places(places)), runs.select(places)


class NodeSums:
    """Sums over the attributes of tuples at nodes: of hashes, or of costs.

    `values` are those of each attribute, for its steps from single values to all in one: each [v], a value per leaf.
    Attributes are taken in runs of neighbours, whose *joint code* numbers the combinations of their values; the sums
    over a run are looked up in a table, which is made when a node first asks for it. Runs depend on the numbers of
    leaves and of steps alone.

    >>> sums = NodeSums([[np.array([1, 2]), np.array([0, 0])], [np.array([10, 20]), np.array([0, 0])]])
    >>> joint = sums.join_codes([np.array([0, 0, 1]), np.array([0, 1, 1])])
    >>> sums.sums(joint, chr(0) + chr(0)).tolist(), sums.sums(joint, chr(0) + chr(1)).tolist()
    ([11, 21, 22], [1, 1, 2])
    """

    def __init__(self, values: Iterable[list[NDArray[Any]]]) -> None:
        self._values = list(values)
        self._widths = [len(each[0]) for each in self._values]
        starts, width, tables = [0], 1, 1
        for number, each in enumerate(self._values):
            width, tables = width * self._widths[number], tables * len(each)
            if number and (width > _JOINT or tables > _JOINT_STEPS):
                starts.append(number)
                width, tables = self._widths[number], len(each)
        self._runs = [slice(start, end) for start, end in pairwise([*starts, len(self._values)])]
        self._tables: list[dict[CoverNode, NDArray[Any]]] = [{} for _ in self._runs]

    def join_codes(self, codes: list[Codes]) -> list[IntArray]:
        """Number the values of each run of attributes together: one array [n] per run.

        They are wide: numpy looks up by machine words, and would widen narrow ones at every look.
        """
        joint = []
        for run in self._runs:
            number = codes[run.start].astype(np.int64)
            for column, width in zip(codes[run][1:], self._widths[run][1:], strict=True):
                number = number * width + column
            joint.append(number)
        return joint

    def sums(self, joint: list[IntArray], node: CoverNode) -> NDArray[Any]:
        """Add up the values of each tuple at a node: [n], given its joint codes."""
        sums = self._table(0, node).take(joint[0])
        for number in range(1, len(joint)):
            sums += self._table(number, node).take(joint[number])
        return sums

    def _table(self, number: int, node: CoverNode) -> NDArray[Any]:
        """Look up the sums of a run at a node, by joint code."""
        run, tables = self._runs[number], self._tables[number]
        steps = node[run]
        if steps not in tables:
            first, *others = (values[ord(step)] for values, step in zip(self._values[run], steps, strict=True))
            for values in others:
                first = np.add.outer(first, values).ravel()
            tables[steps] = first
        return tables[steps]


@dataclass(frozen=True, eq=False)
class UnassignedTuples:
    """Lines that have no class yet: tuples int[n], rows int[n], and the codes of their values.

    `weights` float[n] are the rows again, as a bincount needs them. `codes` are those of each attribute, [n], and
    `joint` those of each run of attributes that is looked up together.
    """

    tuples: IntArray
    rows: IntArray
    weights: FloatArray
    codes: list[Codes]
    joint: list[IntArray]

    def __len__(self) -> int:
        return len(self.tuples)

    @classmethod
    def from_partition(cls, problem: Problem, partition: Partition, hashes: NodeSums) -> "UnassignedTuples":
        """Take all lines of a partition."""
        codes = [codes[partition.tuples] for codes in problem.encoded.tuples.quasi]
        weights = partition.rows.astype(np.float64)
        return cls(partition.tuples, partition.rows, weights, codes, hashes.join_codes(codes))

    def without(self, lines: IntArray, rows: IntArray) -> "UnassignedTuples":
        """Leave so many rows of some lines out; no line is named twice."""
        left = self.rows.copy()
        left[lines] -= rows
        stay = left > 0
        codes, joint = ([column[stay] for column in columns] for columns in (self.codes, self.joint))
        return UnassignedTuples(self.tuples[stay], left[stay], left[stay].astype(np.float64), codes, joint)

    def group_by_node(self, hashes: NodeSums, node: CoverNode, least: int) -> tuple[IntArray, Segments]:
        """Group the lines that agree at a node, those left out that are surely in a group of fewer than `least` rows.

        Returns places of lines, group by group, int[m], and the runs of the groups.
        """
        keys = hashes.sums(self.joint, node)
        lines = np.arange(len(keys))
        if len(keys) >= _SORTED:
            # Hashes that share their first bits are counted together: an upper bound of the rows of each group.
            bits = len(keys).bit_length() + 1
            buckets = (keys >> np.uint64(64 - bits)).view(np.int64)
            counts = np.bincount(buckets, weights=self.weights, minlength=1 << bits)
            lines = np.flatnonzero(counts.take(buckets) >= least)
        # Key and place share a word, which sorts quicker than places by key.
        shift = np.uint64(len(lines).bit_length())
        words = np.sort((keys.take(lines) >> shift << shift) | np.arange(len(lines), dtype=np.uint64))
        places = (words & ((np.uint64(1) << shift) - np.uint64(1))).view(np.int64)
        return lines.take(places), Segments.from_sorted(words >> shift)

    def crowded_nodes(self, hashes: NodeSums, nodes: list[CoverNode], least: int) -> BoolArray:
        """Tell at which of m nodes some group has enough rows: bool[m].

        A line counts as often as it has rows. In the sorted keys of a node, a group of enough rows is where a key is
        the same `least` - 1 places further on.
        """
        every = np.repeat(np.arange(len(self)), np.minimum(self.rows, least))
        if len(every) < least:
            return np.zeros(len(nodes), dtype=np.bool_)
        keys = np.stack([hashes.sums(self.joint, node) for node in nodes])
        ordered = np.sort(keys.take(every, axis=1), axis=1)
        crowded: BoolArray = (ordered[:, least - 1 :] == ordered[:, : len(every) - least + 1]).any(axis=1)
        return crowded
