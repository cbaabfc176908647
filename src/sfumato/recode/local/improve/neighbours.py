"""Neighbours: which class a line would join most cheaply, for all lines and classes of a block at once.

What a row costs in a class that takes it in is a sum over attributes, each depending on the row's value and the class
alone. So per attribute there is a table, value by class, and a line's costs in all classes are some rows of such
tables added up: a few contiguous additions in place of a comparison per pair.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.recode.local.axes import Axis
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.problem import Hulls, Problem
from sfumato.recode.local.standing import Standing

_CELLS = 1 << 19
"""So many pairs of line and class are priced at a time: they stay in the processor's cache."""

_PAIRS, _SMALLEST, _LARGEST = 100_000_000, 256, 8192
"""Pairs that are priced in all, and how many classes a block has at least and at most."""

_BARRED = 4
"""Classes that a line remembers not to fit into."""

Costs = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Targets:
    """For each line the class that takes it in most cheaply, and what that adds to its cost; and classes that may not.

    `barred` are the last few classes of each line that turned out not to meet a requirement with it.
    """

    group: IntArray
    added: FloatArray
    barred: IntArray

    @classmethod
    def none(cls, lines: int) -> "Targets":
        """Nothing known."""
        barred = np.full((lines, _BARRED), -1)
        return cls(np.zeros(lines, dtype=np.int64), np.full(lines, np.inf), barred)

    def refuse(self, lines: IntArray) -> None:
        """Bar the targets of some lines."""
        self.barred[lines, 1:] = self.barred[lines, :-1]
        self.barred[lines, 0] = self.group[lines]
        self.added[lines] = np.inf

    def or_none(self, rows: IntArray, void: int) -> "Targets":
        """The same with no class at all, `void`, as the target of lines that cost less suppressed than anywhere."""
        dropped = self.added > rows
        return Targets(np.where(dropped, void, self.group), np.where(dropped, rows, self.added), self.barred)

    def put(self, lines: IntArray, other: "Targets") -> None:
        """Take over what was found for some lines."""
        self.group[lines], self.added[lines] = other.group, other.added

    def only(self, lines: IntArray) -> "Targets":
        """Those of some lines."""
        return Targets(self.group[lines], self.added[lines], self.barred[lines])


def seek(problem: Problem, standing: Standing, lines: Parts, targets: Targets) -> int:
    """Find the cheapest targets of lines among the open classes of their block; how many pairs were priced."""
    pairs = 0
    for classes, places in _blocks(standing, lines):
        if len(places) and len(classes) > 1:
            found = targets.only(places)
            _fill(problem, standing.only(classes), (classes, lines.only(places)), found)
            targets.put(places, found)
            pairs += len(classes) * (len(places) + _values(problem, lines.of[places]))
    return pairs


def _values(problem: Problem, lines: IntArray) -> int:
    """What the tables of these lines are worth in lines: their different values, each as long as its hull."""
    quasi = problem.encoded.tuples.quasi
    values = [min(len(lines), len(axis.single)) * axis.single.shape[1] for axis in problem.axes]
    return int(sum(values)) // len(quasi)


def _blocks(standing: Standing, lines: Parts) -> list[tuple[IntArray, IntArray]]:
    """Classes, and places of lines to compare with them: all with all, or those that stand together in order."""
    groups = len(standing.sizes)
    size = min(max(_PAIRS // max(len(lines), 1), _SMALLEST), _LARGEST)
    if groups <= size:
        return [(np.arange(groups), np.arange(len(lines)))]
    order = np.lexsort([hull[:, word] for hull in standing.hulls for word in range(hull.shape[1])])
    number = -(-groups // size)
    block = np.empty(groups, dtype=np.int64)
    block[order] = np.arange(groups) * number // groups
    places = np.argsort(block[lines.group], kind="stable")
    cuts = np.searchsorted(block[lines.group][places], np.arange(number + 1))
    classes = np.split(order, np.searchsorted(block[order], np.arange(1, number)))
    return [(classes[i], places[cuts[i] : cuts[i + 1]]) for i in range(number)]


def _fill(problem: Problem, standing: Standing, asked: tuple[IntArray, Parts], found: Targets) -> None:
    """Price the lines of one block, some at a time, and note the cheapest targets."""
    classes, lines = asked
    tables = _tables(problem, standing.hulls, lines.of)
    place = np.full(lines.groups + 1, len(classes))
    place[classes] = np.arange(len(classes))
    never = place[np.column_stack([lines.group, found.barred])]
    sizes, costs, rows = (part.astype(np.float32) for part in (standing.sizes, standing.costs, lines.rows))
    costs[~standing.open] = -np.inf
    for part in np.array_split(np.arange(len(lines)), -(-len(lines) * len(classes) // _CELLS)):
        row = _row_costs(problem, tables, lines.of[part], len(classes))
        added = np.full((len(part), len(classes) + 1), np.inf, dtype=np.float32)  # the last takes in what is nowhere
        np.subtract(problem.price.of(row, sizes + rows[part][:, None]), costs, out=added[:, :-1])
        np.put_along_axis(added, never[part], np.inf, axis=1)
        best = added.argmin(axis=1)
        found.group[part] = classes[np.minimum(best, len(classes) - 1)]
        found.added[part] = added[np.arange(len(part)), best]


def _tables(problem: Problem, hulls: Hulls, lines: IntArray) -> list[tuple[IntArray, Costs]]:
    """Per attribute, the place of each leaf among those that occur, and what a cell of it costs in each class."""
    tables = []
    for axis, codes, hull in zip(problem.axes, problem.encoded.tuples.quasi, hulls, strict=True):
        used = np.unique(codes[lines])
        place = np.zeros(len(axis.single), dtype=np.int64)
        place[used] = np.arange(len(used))
        tables.append((place, _table(axis, axis.single[used], hull)))
    return tables


def _table(axis: Axis, single: IntArray, hull: IntArray) -> Costs:
    """What a cell of each value costs in each class, some values at a time: hulls of sets may be long."""
    table = np.empty((len(single), len(hull)), dtype=np.float32)
    step = max(_CELLS // hull.size, 1)
    for start in range(0, len(single), step):
        joined = axis.join(single[start : start + step, None], hull[None])
        cost = axis.cells(joined.reshape(-1, hull.shape[1]))
        table[start : start + step] = cost.reshape(-1, len(hull))
    return table


def _row_costs(problem: Problem, tables: list[tuple[IntArray, Costs]], lines: IntArray, classes: int) -> Costs:
    cost = np.zeros((len(lines), classes), dtype=np.float32)
    for (place, table), codes in zip(tables, problem.encoded.tuples.quasi, strict=True):
        cost += table.take(place.take(codes.take(lines)), axis=0)
    return cost
