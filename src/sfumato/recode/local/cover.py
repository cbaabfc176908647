"""Cover: take the cheapest classes first, wherever they are, until every row has one.

A candidate is a group of rows that agree at some node (a step per attribute) and satisfy the requirement together.
Nodes are in a queue by a bound on what a row costs there; the first is looked at, its groups that are no dearer than
the next bound become classes, and it goes back into the queue at the cost of its next group. So classes are taken in
the order of their cost per row over all nodes at once, and a row is only generalized as far as the cheapest group that
it finds company in. Work is bounded, and not by the clock, so that the result does not depend on the machine; rows that
are still alone then are left over.

Rows that agree at a node are found by sums of hashes, one per attribute and step: a look-up and an addition per column.
Should two different tuples collide, they are tried as one group under labels that cover both: dearer, never wrong,
since labels are always those of the members.
"""

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import BoolArray, Codes, FloatArray, IntArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.core.keys import mix_bits
from sfumato.core.segments import Segments
from sfumato.recode.local.partition import SUPPRESSED, Partition
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

_FEW, _MANY_NODES = 2000, 64
"""With fewer lines than this, so many nodes are looked at at a time, to see at which there is anything."""

_MANY_COLUMNS = 30
"""Nodes of more columns are charged by the square of their number, which is what they take."""

_SORTED = 1024
"""With fewer lines than this, sorting them is quicker than counting them roughly first."""

Hashes = NDArray[np.uint64]

CoverNode = str
"""A step per attribute, each a character: of hundreds of attributes, texts are copied, hashed and compared in an
instant, and in the order in which tuples are."""


def cover(problem: Problem, partition: Partition, budget: int, progress: Progress | None = None) -> Partition:
    """Group as many of the published rows as the budget, in lines, allows; each line of the rest is a group by itself.

    What groups the rows are in before does not matter; rows that are suppressed stay so. Progress is in rows: those
    that have a class, and all.
    """
    published = partition.published.merge(np.zeros(partition.groups, dtype=np.int64))
    search = _Search(problem, published, budget)
    group, groups, rows = np.full(len(problem.counts), SUPPRESSED), 0, int(published.rows.sum())
    while search.queue and len(search.unassigned) and search.budget > 0:
        lines, class_of = search.next_classes()
        if len(lines):
            group[search.unassigned.tuples[lines]] = groups + class_of
            groups += int(class_of[-1]) + 1
            search.unassigned = search.unassigned.without(lines)
        if progress:
            progress(rows - int(search.unassigned.rows.sum()), rows)
    left_over = search.unassigned
    group[left_over.tuples] = groups + np.arange(len(left_over))
    suppressed = partition.suppressed
    return Partition(
        np.concatenate([published.tuples, suppressed.tuples]),
        np.concatenate([published.rows, suppressed.rows]),
        np.concatenate([group[published.tuples], suppressed.group]),
        groups + len(left_over),
    )


class _Search:
    """The queue of nodes, what is known of them, and the tuples that have no class yet.

    Per attribute, for its steps from single values to all in one: `hashes` [steps, v] of each leaf, the same for leaves
    that are one at that step; `floors` what a cell costs there at least; `costs` what each leaf's costs, if known.
    """

    def __init__(self, problem: Problem, partition: Partition, budget: int) -> None:
        self.problem, self.budget = problem, budget
        self.unassigned = UnassignedTuples.from_partition(problem, partition)
        self.hashes = [
            np.stack([mix_bits(step, (number << 40) + (place << 32) + 1) for place, step in enumerate(axis.steps())])
            for number, axis in enumerate(problem.axes)
        ]
        self.floors = [axis.step_floors() for axis in problem.axes]
        self.costs = [axis.step_costs() for axis in problem.axes]
        bottom = chr(0) * len(problem.axes)
        self.queue: list[tuple[float, CoverNode]] = [(self._floor(bottom), bottom)]
        self.queued, self.crowded, self.expanded = {bottom}, {bottom}, set[CoverNode]()

    def next_classes(self) -> tuple[IntArray, IntArray]:
        """Look at the first node of the queue, which may go back into it.

        Returns the places of the lines that get a class there, class by class, and the class of each, both int[m].
        """
        bound, node = heapq.heappop(self.queue)
        if len(self.unassigned) < _FEW and node not in self.crowded:
            self._drop_empty_nodes((bound, node))
            return _NONE, _NONE
        self._expand(node)
        lines, runs = self._passing_groups(node)
        if not len(runs):
            return _NONE, _NONE
        cost = self._row_costs(node, lines, runs)
        good = cost <= max(bound, self.queue[0][0] if self.queue else np.inf) + _NEAR
        if not good.all():
            heapq.heappush(self.queue, (float(cost[~good].min()), node))
        chosen = np.flatnonzero(good)
        return lines.take(runs.places(chosen)), runs.select(chosen).group

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
        nodes = np.array([list(map(ord, node)) for _, node in front])
        crowded = self.unassigned.crowded_nodes(self.hashes, nodes, self.problem.requirement.least)
        for entry, some in zip(front, crowded, strict=True):
            if some:
                self.crowded.add(entry[1])
                heapq.heappush(self.queue, entry)
            else:
                self._expand(entry[1])

    def _passing_groups(self, node: CoverNode) -> tuple[IntArray, Segments]:
        """Find the groups at a node that satisfy the requirement: places of lines, group by group, and their runs."""
        problem, unassigned, least = self.problem, self.unassigned, self.problem.requirement.least
        self.budget -= _LOOK + len(unassigned)
        lines, runs = unassigned.group_by_node(self.hashes, node, least)
        if not len(runs):
            return lines, runs
        sizes = runs.sum(unassigned.rows.take(lines))
        large = np.flatnonzero(sizes >= least)
        lines, runs, sizes = lines.take(runs.places(large)), runs.select(large), sizes.take(large)
        if not len(runs):
            return lines, runs
        if problem.encoded.domains:
            self.budget -= _COUNT + _COUNTED * len(lines)
            tuples, rows = unassigned.tuples.take(lines), unassigned.rows.take(lines)
            passing = np.flatnonzero(problem.holds(Partition(tuples, rows, runs.group, len(runs))))
        else:
            passing = np.flatnonzero(problem.requirement.holds(EquivalenceClasses(sizes)))
        return lines.take(runs.places(passing)), runs.select(passing)

    def _row_costs(self, node: CoverNode, lines: IntArray, runs: Segments) -> FloatArray:
        """Price a row of each group at a node under its labels: float[g]."""
        cost, heads = np.zeros(len(runs)), lines.take(runs.starts)
        for axis, step, codes, leaf_costs in zip(
            self.problem.axes, map(ord, node), self.unassigned.codes, self.costs, strict=True
        ):
            if leaf_costs is not None:
                raw = step == 0 and not axis.attribute.hierarchy.below  # values as they came cost nothing
                cost += 0.0 if raw else leaf_costs[step].take(codes.take(heads))
            else:
                self.budget -= _COUNTED * len(lines) * axis.single.shape[1]
                single = axis.single.take(codes.take(lines), axis=0)
                cost += axis.cell_costs(axis.reduce(single, runs.starts))
        return cost


_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class UnassignedTuples:
    """Lines that have no class yet: tuples int[n], rows int[n], and per attribute the codes [n] of their values."""

    tuples: IntArray
    rows: IntArray
    codes: list[Codes]

    def __len__(self) -> int:
        return len(self.tuples)

    @classmethod
    def from_partition(cls, problem: Problem, partition: Partition) -> "UnassignedTuples":
        """Take all lines of a partition."""
        # Wide codes: numpy looks up by machine words, and would widen narrow ones at every look.
        codes = [codes[partition.tuples].astype(np.intp) for codes in problem.encoded.tuples.quasi]
        return cls(partition.tuples, partition.rows, codes)

    def without(self, lines: IntArray) -> "UnassignedTuples":
        """Leave some lines out."""
        stay = np.ones(len(self), dtype=np.bool_)
        stay[lines] = False
        return UnassignedTuples(self.tuples[stay], self.rows[stay], [codes[stay] for codes in self.codes])

    def group_by_node(self, hashes: list[Hashes], node: CoverNode, least: int) -> tuple[IntArray, Segments]:
        """Group the lines that agree at a node, those left out that are surely in a group of fewer than `least` rows.

        Returns places of lines, group by group, int[m], and the runs of the groups.
        """
        keys: Hashes = hashes[0][ord(node[0])].take(self.codes[0])  # equal for lines that agree
        for table, step, codes in zip(hashes[1:], node[1:], self.codes[1:], strict=True):
            keys += table[ord(step)].take(codes)
        lines = np.arange(len(keys))
        if len(keys) >= _SORTED:
            # Hashes that share their first bits are counted together: an upper bound of the rows of each group.
            bits = len(keys).bit_length() + 1
            buckets = (keys >> np.uint64(64 - bits)).astype(np.int64)
            counts = np.bincount(buckets, weights=self.rows, minlength=1 << bits)
            lines = np.flatnonzero(counts.take(buckets) >= least)
        # Key and place share a word, which sorts quicker than places by key.
        shift = np.uint64(len(lines).bit_length())
        words = np.sort((keys.take(lines) >> shift << shift) | np.arange(len(lines), dtype=np.uint64))
        places = (words & ((np.uint64(1) << shift) - np.uint64(1))).astype(np.int64)
        return lines.take(places), Segments.from_sorted(words >> shift)

    def crowded_nodes(self, hashes: list[Hashes], nodes: IntArray, least: int) -> BoolArray:
        """Tell at which nodes, int[m, d], some group has enough rows: bool[m].

        A line counts as often as it has rows. In the sorted keys of a node, a group of enough rows is where a key is
        the same `least` - 1 places further on.
        """
        every = np.repeat(np.arange(len(self)), np.minimum(self.rows, least))
        if len(every) < least:
            return np.zeros(len(nodes), dtype=np.bool_)
        keys = np.zeros((len(nodes), len(self)), dtype=np.uint64)
        for table, steps, codes in zip(hashes, nodes.T, self.codes, strict=True):
            keys += table[steps].take(codes, axis=1)
        ordered = np.sort(keys.take(every, axis=1), axis=1)
        crowded: BoolArray = (ordered[:, least - 1 :] == ordered[:, : len(every) - least + 1]).any(axis=1)
        return crowded
