"""Bottom-up local recoding: Algorithm 2 of the identity-reserved paper, for every model, with and without persons.

1. Rows with equal quasi-identifiers that pass as a group are marked (line 2). Then an attribute is generalized by one
   level for all rows that are not, and what passes now is marked, until all rows are or all attributes are at their top
   (line 3).
2. What is left are orphans: together, fully generalized, they fail. Groups that can spare rows lend them some, until
   these and the orphans pass as one more group (line 4).
3. Or each orphan is merged into the group that this makes dearer the least (line 5); those that fit into none are lent
   rows, or take whole groups in.

The paper lends wherever that is possible, and merges else. Here the cheapest way is taken, and merging between equals,
since it leaves all other groups as they are. Every group passes at the end where the models are monotone; `settle` sees
to the others.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.deadline import is_over
from sfumato.core.segments import Segments, sort_by_group, stable_order
from sfumato.recode.local.exchange import Exchange
from sfumato.recode.local.partition import Partition
from sfumato.recode.local.problem import Problem
from sfumato.recode.local.progressive import UnassignedRows, bisect_last
from sfumato.recode.local.settle import settle
from sfumato.recode.recoding import Progress

_LITTLE = 1e-3
"""Rows that every step counts as marking: between steps that mark none, the cheapest is taken."""

_FREE = 1e-9
"""What a step costs at least, in rows."""

_PAIRS = 100_000_000
"""Pairs of orphan and group that are priced at most, a fraction of a second."""

_MANY = 20_000
"""Where more tuples fit in nowhere, they take no groups in if they can be lent rows: that would take minutes."""

_SAME = 6
"""Costs that agree in so many places, in rows, are the same."""

_SINGLE = 16
"""So many rows of a tuple are offered one by one; the others as many at a time as were offered before."""

_REFUSED = 4
"""A group that cannot do without so many lines in turn is not asked for more."""

_ROUNDS = 40
"""Rounds of asking at most; lines are asked for in ever larger numbers, so that few groups need as many."""


def bottom_up(problem: Problem, progress: Progress | None = None) -> Partition:
    """Partition into groups that pass, marked as early as they can be; rows suppressed at the start stay so.

    Progress is in rows: those that have a group, and all. When the time is over, those that have none are one group.
    """
    groups, rows = [problem.start.suppressed], int(problem.start.sizes.sum())
    for step in steps(problem):
        groups.append(step.marked)
        orphans = step.unassigned.partition
        if progress:
            progress(rows - int(orphans.rows.sum()), rows)
        if is_over(progress):
            return Partition.concatenate([*groups, orphans.as_one_group()])
    if not len(orphans):
        return Partition.concatenate(groups)
    adopted = adopt_orphans(problem, Partition.concatenate(groups), orphans)
    if progress:
        progress(rows, rows)
    return adopted


# Marking (lines 2 and 3)


@dataclass(frozen=True, eq=False)
class Step:
    """What was marked in a step, as groups that pass, and the rows that are still unmarked."""

    marked: Partition
    unassigned: UnassignedRows


def steps(problem: Problem) -> Iterator[Step]:
    """Mark what passes as it is, and then after each step, until no row is left or all attributes are at their top.

    The paper does not say which attribute is generalized next. Here every attribute that is not at its top is tried one
    level up, and the one is taken that marks the most rows for what it adds to the cost of the unmarked. Where no step
    marks any, that is the cheapest one; of equals the first.
    """
    step = _mark(UnassignedRows.from_problem(problem))
    yield step
    heights = [attribute.hierarchy.height for attribute in problem.encoded.quasi]
    while len(step.unassigned.partition):
        unassigned = step.unassigned
        open_ = [i for i, height in enumerate(heights) if unassigned.levels[i] < height]
        if not open_:
            break
        candidates = [(_mark(unassigned.generalize(i)), _added_cost(unassigned, i)) for i in open_]
        step, _ = max(candidates, key=lambda pair: (int(pair[0].marked.rows.sum()) + _LITTLE) / max(pair[1], _FREE))
        yield step


def _added_cost(unassigned: UnassignedRows, attribute: int) -> float:
    """Price what all rows cost more where an attribute is one level higher."""
    level, codes, sizes = unassigned.levels[attribute], unassigned.labels[attribute], unassigned.partition.sizes
    problem = unassigned.problem
    matrix, cells = problem.encoded.quasi[attribute].hierarchy.matrix, problem.metric.cells(attribute)
    rows = np.bincount(codes, weights=sizes, minlength=len(cells[level]))
    above = np.zeros(len(rows), dtype=np.int64)
    above[matrix[:, level]] = matrix[:, level + 1]
    return float((rows * (cells[level + 1].take(above) - cells[level])).sum())


def _mark(unassigned: UnassignedRows) -> Step:
    """Mark the groups that pass.

    Where `linked_k` bounds what pseudonyms link, a person is marked with all rows at once, at the first levels at which
    they agree: so nobody is in several classes.
    """
    problem, partition = unassigned.problem, unassigned.partition
    rows = partition.rows
    if problem.requirement.linked > 1:
        person = problem.persons.take(partition.tuples)
        low = np.full(int(person.max(initial=0)) + 1, partition.groups)
        high = np.full_like(low, -1)
        np.minimum.at(low, person, partition.group)
        np.maximum.at(high, person, partition.group)
        rows = np.where((low == high).take(person), rows, 0)
    marked: IntArray = np.where(passing_groups(problem, replace(partition, rows=rows)).take(partition.group), rows, 0)
    groups = replace(partition, rows=marked).select(marked > 0).without_empty_groups()
    return Step(groups, unassigned.without(marked))


def passing_groups(problem: Problem, partition: Partition, chosen: BoolArray | None = None) -> BoolArray:
    """Tell which groups pass with the rows that they have, maybe none: bool[g]; of the chosen ones, bool[g], if any."""
    sizes = np.bincount(partition.group, weights=partition.rows, minlength=partition.groups)
    if chosen is not None:
        sizes = np.where(chosen, sizes, 0.0)
    return problem.passes(partition.tuples, partition.rows, partition.group, sizes)


# Orphans (lines 4 and 5)


def adopt_orphans(problem: Problem, groups: Partition, orphans: Partition) -> Partition:
    """Put the orphans into groups, by merging, by lending, or by lending to those that fit in nowhere."""
    merged = merge_orphans(problem, groups, orphans)
    fits = problem.holds(merged).take(merged.group) | (merged.group < 0)
    loans = [lend(problem, groups, orphans)]
    if not fits.all():
        loans.append(lend(problem, merged.select(fits).without_empty_groups(), merged.select(~fits)))
    ways = [loan for loan in loans if loan is not None]
    if not ways or (~fits).sum() <= _MANY:
        ways.insert(0, merged)
    return min((settle(problem, way) for way in ways), key=lambda way: round(problem.cost(way), _SAME))


def merge_orphans(problem: Problem, groups: Partition, orphans: Partition) -> Partition:
    """Put each orphan into the group that it makes dearer the least, of those that pass with it, or leave it alone."""
    alone = Partition(orphans.tuples, orphans.rows, np.arange(len(orphans)), len(orphans))
    unsuppressed = replace(problem, requirement=replace(problem.requirement, limit=0))  # no orphan is suppressed
    return Exchange(unsuppressed, Partition.concatenate([groups, alone]), _PAIRS).fill().result


def lend(problem: Problem, groups: Partition, orphans: Partition) -> Partition | None:
    """Move rows from groups to the orphans, which become one more group; nothing where no loan makes that pass.

    Each lender passes without what it lends, and so does the new group. As few rows are lent as are found to be enough.
    """
    loan = Loan(problem, offered_lines(groups, whole=problem.indivisible), orphans)
    lent = [lines for queue in loan.queues() if (lines := loan.fewest(queue)) is not None]
    ways = [loan.carry_out(groups.suppressed, lines) for lines in lent]
    return min(ways, key=problem.cost, default=None)


def offered_lines(groups: Partition, *, whole: bool) -> Partition:
    """Cut the lines that groups have into what is offered at a time.

    >>> offered_lines(Partition.one_group(np.array([1, 20])), whole=False).rows.tolist()
    [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4]
    """
    groups = groups.published
    if whole or not (groups.rows > 1).any():
        return groups
    doubling = _SINGLE << np.arange(max(int(groups.rows.max()) // _SINGLE, 1).bit_length() + 1)
    pieces = np.diff(np.minimum(np.concatenate([np.arange(_SINGLE), doubling]), groups.rows[:, None]))
    line, piece = np.nonzero(pieces)
    return Partition(groups.tuples[line], pieces[line, piece], groups.group[line], groups.groups)


class Loan:
    """Lines that groups offer, and the orphans, all in one group, who need some of them."""

    def __init__(self, problem: Problem, lines: Partition, orphans: Partition) -> None:
        self.problem, self.lines = problem, lines
        self.orphans = replace(orphans, group=np.zeros(len(orphans), dtype=np.int64), groups=1)

    def queues(self) -> list[IntArray]:
        """Make orders of all lines to ask for them in, each int[n].

        What makes orphans pass depends on the model: more rows, other persons, other values, or a better mix of values.
        So lines are asked for in three orders, and whichever comes out cheapest is taken. In all of them rows of
        persons who are not among the orphans come first, and of equals the cheapest:

        - any value but the one that the orphans have too much of: enough where size or persons are required;
        - values that the orphans have least of, so that they come to be even: for diversity and bounds on shares;
        - values that the orphans have least of for their share of the table: for closeness to it.
        """
        problem, lines, person = self.problem, self.lines, self.problem.encoded.individual
        columns = [name for name in problem.encoded.domains if person is None or name != person.name]
        prices = self._prices()
        cheapest = np.argsort(prices, kind="stable")
        same_person = np.zeros(len(lines)) if person is None else self._rows_before(person.name, cheapest)
        too_frequent, even, as_in_table = (np.zeros(len(lines)) for _ in range(3))
        counted = problem.count(self.orphans).sensitive
        for name in columns:
            protected, histogram = problem.protected_values(name), counted[name]
            guarded = protected.take(histogram.value)
            if guarded.any():
                worst = int(histogram.value[np.where(guarded, histogram.count, 0).argmax()])
                too_frequent += problem.has_value(name, worst).take(lines.tuples)
            value = problem.main_values(name).take(lines.tuples)
            had = (self._rows_before(name, cheapest) + 1) * protected.take(value)
            np.maximum(even, had, out=even)
            np.maximum(as_in_table, had / problem.encoded.domains[name].totals.take(value), out=as_in_table)
        turns = [too_frequent, even, as_in_table] if columns else [too_frequent]
        return [np.lexsort([prices, turn, same_person]) for turn in turns]

    def _prices(self) -> FloatArray:
        """Price what it adds to the cost if a line is lent, each by itself, float[n]; lenders keep their labels."""
        problem, lines, needy = self.problem, self.lines, self.problem.hulls(self.orphans)
        joined = problem.join_hulls(problem.hulls_of_tuples(lines.tuples), needy)
        taken = problem.costs(joined, self.orphans.sizes + lines.rows) - problem.costs(needy, self.orphans.sizes)
        sizes, row = lines.sizes.take(lines.group), problem.row_costs(problem.hulls(lines)).take(lines.group)
        group_costs = problem.metric.group_costs
        prices: FloatArray = np.round(taken - (group_costs(row, sizes) - group_costs(row, sizes - lines.rows)), 9)
        return prices

    def _rows_before(self, name: str, order: IntArray) -> FloatArray:
        """Count the rows of each line's value that the orphans have or that come before it in an order: float[n]."""
        codes, domain = self.problem.main_values(name).astype(np.int64), self.problem.encoded.domains[name]
        had = np.bincount(codes.take(self.orphans.tuples), self.orphans.rows, len(domain.values))
        value, before = codes.take(self.lines.tuples), np.empty(len(self.lines))
        order = order[stable_order(value.take(order))]
        rows = self.lines.rows.take(order).astype(np.float64)
        before[order] = Segments.from_sorted(value.take(order)).sum_before(rows)
        return had.take(value) + before

    def fewest(self, queue: IntArray) -> BoolArray | None:
        """Choose the lines that are lent, bool[n]: the first in the queue that can be spared, as few as are enough."""
        offered = queue[spare(self.problem, self.lines, queue).take(queue)]

        def too_little(size: int) -> bool:
            return self._lend_first(offered[:size]) is None

        sizes = np.unique(np.minimum(1 << np.arange(len(offered).bit_length() + 1), len(offered)))
        enough = next((int(size) for size in sizes if not too_little(int(size))), None)
        return None if enough is None else self._lend_first(offered[: bisect_last(too_little, enough) + 1])

    def _lend_first(self, offered: IntArray) -> BoolArray | None:
        """Lend these lines, but those whose group would fail without them; nothing where the orphans still fail.

        A group that can do without two lines may need the one where the other stays.
        """
        lines = self.lines
        lent, lenders = np.zeros(len(lines), dtype=np.bool_), np.zeros(lines.groups, dtype=np.bool_)
        lent[offered] = True
        lenders[lines.group[offered]] = True
        lent &= passing_groups(self.problem, lines.select(~lent), lenders).take(lines.group)
        loan = replace(lines.select(lent), group=np.zeros(int(lent.sum()), dtype=np.int64), groups=1)
        return lent if self.problem.holds(_stack(self.orphans, loan)).all() else None

    def carry_out(self, suppressed: Partition, lent: BoolArray) -> Partition:
        """Make the groups after a loan, the orphans' the last, and the rows that are suppressed."""
        last = self.lines.groups
        lines = replace(self.lines, group=np.where(lent, last, self.lines.group), groups=last + 1)
        orphans = replace(self.orphans, group=np.full(len(self.orphans), last))
        return _stack(lines, orphans, suppressed).combine_lines()


def _stack(first: Partition, *others: Partition) -> Partition:
    """Put the lines of all behind one another, their groups numbered as they are."""
    partitions = (first, *others)
    tuples, rows, group = (
        np.concatenate([getattr(partition, name) for partition in partitions]) for name in ("tuples", "rows", "group")
    )
    return Partition(tuples, rows, group, first.groups)


def spare(problem: Problem, lines: Partition, queue: IntArray) -> BoolArray:
    """Choose lines that their groups can do without, all of them together: bool[n].

    Each group is asked for its lines in the order of the queue, int[n]. One that can do without a line is asked for the
    next two, then for four; one that cannot is asked for half as many, and at last for the line after it. All groups
    are asked at once. Per group, int[g]: it is asked for `step` lines from the place `at` on, before `end`; `refused`
    counts single lines refused in turn.
    """
    order, runs = sort_by_group(lines.group[queue], lines.groups)
    place = np.empty(len(lines), dtype=np.int64)  # of each line in the queue of its group, groups one after the other
    place[queue[order]] = np.arange(len(lines))
    at, end = runs.starts.copy(), runs.starts + runs.lengths
    step, refused, spared = np.ones_like(at), np.zeros_like(at), np.zeros(len(lines), dtype=np.bool_)
    large, group = lines.sizes > problem.requirement.least, lines.group
    for _ in range(_ROUNDS):
        active = large & (at < end) & (refused < _REFUSED)
        if not active.any():
            break
        wanted = active.take(group) & (place >= at.take(group)) & (place < (at + step)[group])
        good = passing_groups(problem, lines.select(~(spared | wanted)), active)
        spared |= wanted & good.take(group)
        single = active & ~good & (step == 1)
        at += np.where(good | single, step, 0)
        refused = np.where(good, 0, refused + single)
        step = np.where(good, step * 2, np.maximum(step // 2, 1))
    return spared
