"""Cover: take the cheapest classes first, wherever they are, until every row has one.

A candidate is a group of rows that agree at some node (a step per attribute) and meet the requirements together. Nodes
stand in a queue by a bound on what a row costs there; the first is looked at, its groups that are no dearer than the
next bound become classes, and it goes back into the queue at the cost of its next group. So classes are taken in the
order of their cost per row over all nodes at once, and a row is only generalized as far as the cheapest group that it
finds company in. Work is bounded; rows that are still alone then are left over.
"""

import heapq

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.recode.lattice import Node
from sfumato.recode.local.improve.waiting import Runs, Waiting, stacked
from sfumato.recode.local.parts import SUPPRESSED, Parts
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


class Cover:
    """The queue of nodes, and what is known of them."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.steps = [axis.steps() for axis in problem.axes]
        self.hashes = [stacked(steps, axis) for axis, steps in enumerate(self.steps)]
        self.floors = [axis.floors() for axis in problem.axes]
        self.costs = [axis.step_costs() for axis in problem.axes]
        bottom = (0,) * len(self.steps)
        self.queue: list[tuple[float, Node]] = [(self._floor(bottom), bottom)]
        self.seen, self.crowded, self.expanded = {bottom}, {bottom}, set[Node]()

    def take(self, parts: Parts, budget: int, progress: Progress | None = None) -> Parts:
        """Groups for as many rows as the budget, in lines, allows; each line of the rest is a group of its own."""
        kept = parts.only(parts.group >= 0).merged(np.zeros(parts.groups, dtype=np.int64))
        self.waiting, self.budget = Waiting.of_parts(self.problem, kept), budget
        group, groups, total = np.full(len(self.problem.counts), SUPPRESSED), 0, int(kept.rows.sum())
        while self.queue and len(self.waiting) and self.budget > 0:
            taken, owner = self._next()
            if len(taken):
                group[self.waiting.of[taken]] = groups + owner
                groups += int(owner[-1]) + 1
                self.waiting = self.waiting.without(taken)
            if progress:
                progress(total - int(self.waiting.rows.sum()), total)
        group[self.waiting.of] = groups + np.arange(len(self.waiting))
        lost = parts.only(parts.group < 0)
        return Parts(
            np.concatenate([kept.of, lost.of]),
            np.concatenate([kept.rows, lost.rows]),
            np.concatenate([group[kept.of], lost.group]),
            groups + len(self.waiting),
        )

    def _next(self) -> tuple[IntArray, IntArray]:
        """Lines that get a class at the first node of the queue, and which; the node may go back into the queue."""
        bound, node = heapq.heappop(self.queue)
        if len(self.waiting) < _FEW and node not in self.crowded:
            self._sift((bound, node))
            return _NONE
        self._expand(node)
        runs, cost = self._look(node)
        if not len(cost):
            return _NONE
        good = cost <= max(bound, self.queue[0][0] if self.queue else np.inf) + _NEAR
        if not good.all():
            heapq.heappush(self.queue, (float(cost[~good].min()), node))
        taken = runs.only(np.flatnonzero(good))
        return taken.lines, taken.owner

    def _floor(self, node: Node) -> float:
        return float(sum(floors[step] for floors, step in zip(self.floors, node, strict=True)))

    def _expand(self, node: Node) -> None:
        """Put the nodes one step above into the queue, the first time that a node is met."""
        if node in self.expanded:
            return
        self.expanded.add(node)
        self.budget -= _EXPANDED * len(self.steps)
        here = self._floor(node)
        for i, steps in enumerate(self.steps):
            above = (*node[:i], node[i] + 1, *node[i + 1 :])
            if above[i] < len(steps) and above not in self.seen:
                self.seen.add(above)
                floors = self.floors[i]
                heapq.heappush(self.queue, (here - floors[node[i]] + floors[above[i]], above))

    def _sift(self, first: tuple[float, Node]) -> None:
        """Drop nodes from the front of the queue at which no group has enough rows: a look at many at a time."""
        front = [first, *(heapq.heappop(self.queue) for _ in range(min(_MANY_NODES, len(self.queue))))]
        self.budget -= _LOOK + len(self.waiting) * len(front)
        nodes = np.array([node for _, node in front])
        least = self.problem.requirement.least
        for entry, some in zip(front, self.waiting.crowded(self.hashes, nodes, least), strict=True):
            if some:
                self.crowded.add(entry[1])
                heapq.heappush(self.queue, entry)
            else:
                self._expand(entry[1])

    def _look(self, node: Node) -> tuple[Runs, FloatArray]:
        """The groups at a node that meet the requirements, and what a row of each costs."""
        waiting, least = self.waiting, self.problem.requirement.least
        self.budget -= _LOOK + len(waiting)
        keys = waiting.keys(self.hashes, node)
        runs = waiting.runs(keys, waiting.near(keys, least))
        if not len(runs.lines):
            return _NOTHING
        sizes = np.add.reduceat(waiting.rows.take(runs.lines), runs.starts)
        enough = np.flatnonzero(sizes >= least)
        if not len(enough):
            return _NOTHING
        runs = runs.only(enough)
        runs = runs.only(np.flatnonzero(self._holds(runs, sizes.take(enough))))
        return runs, self._cost(runs, node)

    def _holds(self, runs: Runs, sizes: IntArray) -> BoolArray:
        if not self.problem.encoded.domains:
            return self.problem.requirement.holds(EquivalenceClasses(sizes))
        self.budget -= _COUNT + _COUNTED * len(runs.lines)
        of, rows = self.waiting.of.take(runs.lines), self.waiting.rows.take(runs.lines)
        return self.problem.holds(Parts(of, rows, runs.owner, len(sizes)))

    def _cost(self, runs: Runs, node: Node) -> FloatArray:
        """What a row of each group costs under its labels."""
        cost, heads = np.zeros(len(runs.starts)), runs.heads
        for axis, step, codes, known in zip(self.problem.axes, node, self.waiting.codes, self.costs, strict=True):
            if known is not None:
                raw = step == 0 and not axis.attribute.hierarchy.below  # values as they came cost nothing
                cost += 0.0 if raw else known[step].take(codes.take(heads))
            elif len(cost):
                self.budget -= _COUNTED * len(runs.lines) * axis.single.shape[1]
                single = axis.single.take(codes.take(runs.lines), axis=0)
                cost += axis.cells(axis.reduce(single, runs.starts))
        return cost


_NONE = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
_NOTHING = Runs(*_NONE, _NONE[0]), np.zeros(0)
