"""Offers: the rows that groups might lend to orphans, what each would cost, and the orders to ask for them in.

What makes orphans pass depends on the model: more rows, other persons, other values, or a better mix of values. So
rows are asked for in three orders, and whichever comes out cheapest is taken. In all of them rows of persons who are
not among the orphans come first, and of equals the cheapest:

- any value but the one that the orphans have too much of: enough where size or persons are required;
- values that the orphans have least of, so that they come to be even: for diversity and bounds on shares;
- values that the orphans have least of for their share of the table: for closeness to it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.recode.local.parts import Parts
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.top_down.turn import ahead, in_order, protected

_SINGLE = 16
"""So many rows of a tuple are offered one by one; the others as many at a time as were offered before."""


def pieces(parts: Parts, *, whole: bool) -> Parts:
    """The lines that groups have, cut into what is offered at a time.

    >>> pieces(Parts.together(np.array([1, 20])), whole=False).rows.tolist()
    [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4]
    """
    parts = parts.only(parts.group >= 0)
    if whole or not (parts.rows > 1).any():
        return parts
    doubling = _SINGLE << np.arange(max(int(parts.rows.max()) // _SINGLE, 1).bit_length() + 1)
    cuts = np.diff(np.minimum(np.concatenate([np.arange(_SINGLE), doubling]), parts.rows[:, None]))
    line, piece = np.nonzero(cuts)
    return Parts(parts.of[line], cuts[line, piece], parts.group[line], parts.groups)


@dataclass(frozen=True, eq=False)
class Offers:
    """Lines that groups have, and orphans, all in one group, who need some of them."""

    problem: Problem
    lines: Parts
    orphans: Parts

    @cached_property
    def prices(self) -> FloatArray:
        """What it adds to the cost if a line is lent, each by itself; lenders keep their labels."""
        problem, lines, needy = self.problem, self.lines, self.problem.hulls(self.orphans)
        single = [
            axis.single.take(codes.take(lines.of), axis=0)
            for axis, codes in zip(problem.axes, problem.encoded.tuples.quasi, strict=True)
        ]
        joined = problem.joined(single, needy)
        taken = problem.costs(joined, self.orphans.sizes + lines.rows) - problem.costs(needy, self.orphans.sizes)
        return np.round(taken - self._saved(), 9)

    def _saved(self) -> FloatArray:
        """What a group costs less without a line."""
        lines, sizes = self.lines, self.lines.sizes.take(self.lines.group)
        row = self.problem.row_cost(self.problem.hulls(lines)).take(lines.group)
        saved: FloatArray = self.problem.price.of(row, sizes) - self.problem.price.of(row, sizes - lines.rows)
        return saved

    def queues(self) -> list[IntArray]:
        """Orders of all lines to ask for them in."""
        cheap, columns = np.argsort(self.prices, kind="stable"), self._columns
        late, turns = self._persons(cheap), [self._frequent(columns)]
        if columns:
            turns += [self._counted(columns, cheap, even=even) for even in (True, False)]
        return [np.lexsort([self.prices, turn, late]) for turn in turns]

    @property
    def _columns(self) -> list[str]:
        """The sensitive columns that are looked at."""
        person = self.problem.encoded.individual
        return [name for name in self.problem.encoded.domains if person is None or name != person.name]

    def _persons(self, order: IntArray) -> FloatArray:
        """Rows of the person of each line that the orphans have or that come before it."""
        person = self.problem.encoded.individual
        if person is None:
            return np.zeros(len(self.lines))
        return self._had(person.name, order)

    def _frequent(self, columns: list[str]) -> FloatArray:
        """Whether a line holds the value that the orphans have most of, in how many columns."""
        found, counted = np.zeros(len(self.lines)), self.problem.count(self.orphans).sensitive
        for name in columns:
            guarded = protected(self.problem, name).take(counted[name].value)
            if guarded.any():
                worst = int(counted[name].value[np.where(guarded, counted[name].count, 0).argmax()])
                found += self.problem.holding(name, worst).take(self.lines.of)
        return found

    def _counted(self, columns: list[str], order: IntArray, *, even: bool) -> FloatArray:
        """Rows of each line's value that are had before it, the most of all columns; unless `even`, for the table's."""
        found = np.zeros(len(self.lines))
        for name in columns:
            value = self.problem.main(name).take(self.lines.of)
            had = (self._had(name, order) + 1) * protected(self.problem, name).take(value)
            np.maximum(found, had if even else had / self.problem.encoded.domains[name].totals.take(value), out=found)
        return found

    def _had(self, name: str, order: IntArray) -> FloatArray:
        """Rows of each line's value that the orphans have or that come before it in an order."""
        codes, problem = self.problem.main(name).astype(np.int64), self.problem
        held = np.bincount(codes.take(self.orphans.of), self.orphans.rows, len(problem.encoded.domains[name].values))
        value, before = codes.take(self.lines.of), np.empty(len(self.lines))
        order = order[in_order(value.take(order))]
        before[order] = ahead(self.lines.rows.take(order).astype(np.float64), value.take(order))
        return held.take(value) + before
