"""Exact hiding: an integer program over the revised border, solved by HiGHS (Gkoulalas-Divanis and Verykios 2006).

First it is asked whether rules can be hidden without losing a protected set, and with how few items removed. Where that
is proved impossible, the program minimizes the lost sets, and then the items. It starts from a hiding that is known,
and only looks for a better one: what it returns is never worse.

The textbook has a variable for each item of each basket and products of them for sets. Here baskets that hold the same
rules and the same sets at risk are one class, and a variable counts how many baskets of a class are treated in the same
way. A treatment is a set of items to remove, none of which could stay with the same rules hidden in the basket: any
other is dominated. So there are no products, and a hundred thousand baskets become a few hundred columns. A basket that
has more treatments than that, because it holds very many rules, gets a variable for each item.

Sets enter the program when a solution harms them, so that a program is never larger than it has to be, and each is
a relaxation of the whole: its bounds hold, and where it has no solution, there is none.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.rules.baskets import Baskets
from sfumato.rules.hiding_problem import ChangingBaskets, CodedRule, HidingProblem, found_rules, take_back
from sfumato.rules.integer_program import IntegerProgram, ProgramSolution

_MOST_TREATMENTS = 128
_MOST_ROUNDS = 50
_SMALL = 1e-6


@dataclass(frozen=True, eq=False)
class ExactHiding:
    """The best hiding that was found, and what is proved.

    lossless:     whether hiding without loss exists; None where the time did not do for the proof
    bound:        no hiding loses fewer sets
    items_bound:  none that loses as few removes fewer items; None where nothing is known
    timed_out:    whether the time ended before all was proved
    """

    left: ChangingBaskets
    lossless: bool | None
    bound: int
    items_bound: int | None
    timed_out: bool


def exact_hiding(problem: HidingProblem, start: ChangingBaskets, time_limit: float = 60.0) -> ExactHiding:
    """Find the hiding that loses fewest sets, and of these one that removes fewest items, from a known one on."""
    deadline = time.monotonic() + time_limit
    best, best_lost = start, len(problem.lost(start.removed))
    if not start.removed.any():
        return ExactHiding(start, True, 0, 0, False)
    lossless: bool | None = True if best_lost == 0 else None
    # without loss: every border set keeps its support, and the fewest items go
    tracked = [items for items, _ in problem.at_risk(problem.border)]
    outcome = _minimize(problem, tracked, deadline, cutoff=int(best.removed.sum()) - 1 if best_lost == 0 else None)
    if outcome.left is not None:
        best, best_lost, lossless = outcome.left, 0, True
    if lossless:
        items = int(best.removed.sum())
        bound = items if outcome.proved else max(outcome.bound, 0)
        return ExactHiding(best, True, 0, min(bound, items), not outcome.proved)
    if not outcome.proved:
        return ExactHiding(best, None, 0, None, True)
    # it is proved that some set is lost: as few as possible, then as few items as possible
    # where few are lost, few sets could be among them, so that it is asked for 1, 3, 7 and so on
    above = _count_above(problem)
    bound, most, proved = 1, 1, best_lost <= 1
    while not proved and bound < best_lost:
        most = min(most, best_lost - 1)
        tracked, firm = _losable(above, most)
        outcome = _minimize(problem, tracked, deadline, losing=True, firm=firm, cutoff=most)
        bound = max(bound, outcome.bound)
        if outcome.left is not None:
            best = outcome.left
            best_lost = len(problem.lost(best.removed))
            proved = outcome.proved
        elif not outcome.proved:
            break
        most = 2 * most + 1
    if bound < best_lost and not proved:
        return ExactHiding(best, False, bound, None, True)
    tracked, firm = _losable(above, best_lost)
    cutoff = int(best.removed.sum()) - 1
    outcome = _minimize(problem, tracked, deadline, firm=firm, allowance=best_lost, cutoff=cutoff)
    if outcome.left is not None:
        best = outcome.left
    items = int(best.removed.sum())
    return ExactHiding(
        best, False, best_lost, items if outcome.proved else min(max(outcome.bound, 0), items), not outcome.proved
    )


def _count_above(problem: HidingProblem) -> dict[tuple[int, ...], int]:
    """Count for each set at risk the protected sets that contain it, itself included."""
    every = Baskets.of(items for sets in problem.protected.members for items in sets.tolist())
    code = {int(name): place for place, name in enumerate(every.items)}
    risky = (items for items, _ in problem.at_risk(problem.protected))
    return {items: len(every.holders(code[item] for item in items)) for items in risky}


def _losable(above: dict[tuple[int, ...], int], most: int) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Part the sets at risk into those that may be lost where at most so many are, and the largest of the others.

    With a set, all protected sets that contain it are lost: a set with more of these than `most` must be kept.
    """
    losable = [items for items, number in above.items() if number <= most]
    firm = [items for items, number in above.items() if number > most]
    inside = Baskets.of(firm)
    largest = [items for items in firm if len(inside.holders(inside.find_item(str(item)) for item in items)) == 1]
    return losable, largest


@dataclass(frozen=True, eq=False)
class _Outcome:
    """A better hiding, or none; whether it, or that there is none, is proved; and a bound of what is minimized."""

    left: ChangingBaskets | None
    proved: bool
    bound: int


def _minimize(  # noqa: PLR0913 - one program, asked in three ways
    problem: HidingProblem,
    tracked: list[tuple[int, ...]],
    deadline: float,
    *,
    firm: Sequence[tuple[int, ...]] = (),
    losing: bool = False,
    allowance: int = 0,
    cutoff: int | None = None,
) -> _Outcome:
    """Minimize removed items, with at most `allowance` sets lost, or, `losing`, the lost sets; at most `cutoff`.

    Sets of `tracked` may be lost where that is allowed, those of `firm` never. Sets that a solution loses without being
    asked are tracked from then on, and the program is solved again. What is found is checked by counting, so that no
    rounding of the solver gets out.
    """
    bound, tracked = 0, list(tracked)
    for _ in range(_MOST_ROUNDS):
        if time.monotonic() > deadline:  # making the program takes seconds, too
            break
        program = _Program(problem, tracked, firm, may_lose=losing or allowance > 0)
        if losing:
            program.add(
                program.loss_columns, np.ones(len(program.loss_columns)), high=np.inf if cutoff is None else cutoff
            )
        else:
            program.add(program.loss_columns, np.ones(len(program.loss_columns)), high=allowance)
            if cutoff is not None:
                program.add(program.item_columns, program.item_costs, high=cutoff)
        solution = program.solve(deadline, losing=losing)
        bound = max(bound, int(solution.bound))
        if solution.values is None:
            if solution.infeasible:
                return _Outcome(None, True, bound if cutoff is None else cutoff + 1)
            return _Outcome(None, False, bound)
        left = take_back(problem, program.apply(solution.values))
        lost = [items for items, _ in problem.lost(left.removed)]
        counted = len(lost) if losing else int(left.removed.sum())
        fits = (cutoff is None or counted <= cutoff) and (losing or len(lost) <= allowance)
        if fits and not found_rules(problem, left):
            return _Outcome(left, solution.proved and counted <= solution.bound, bound)
        known = {*tracked, *firm}
        new = [items for items in lost if items not in known]
        if not new or time.monotonic() > deadline:
            return _Outcome(None, False, bound)
        tracked += new
    return _Outcome(None, False, bound)


@dataclass(eq=False)
class _Program:
    """The integer program: columns with upper limits, rows as sparse lines with limits, built for one list of sets."""

    problem: HidingProblem
    tracked: Sequence[tuple[int, ...]]
    firm: Sequence[tuple[int, ...]]
    may_lose: bool
    limits: list[float] = field(default_factory=list)
    lines: list[tuple[IntArray, FloatArray, float, float]] = field(default_factory=list)
    treatments: list[tuple[int, tuple[int, ...], int]] = field(default_factory=list)
    singles: list[tuple[int, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        problem, rules = self.problem, self.problem.pressing
        self._maps = problem.affected_maps()
        antecedents = [rule.antecedent for rule in rules]
        everything = [rule.items for rule in rules] + antecedents + [*self.tracked, *self.firm]
        # what every affected basket holds: bool[rules + antecedents + sets, baskets]
        holds = np.stack([self._held(items) for items in everything]) if everything else np.zeros((0, 0), bool)
        # rows of the program that columns count for: K rules lowered, D antecedents and sets harmed
        self._terms: list[list[tuple[int, float]]] = [[] for _ in everything]
        self._sets = [frozenset(items) for items in everything]
        packed = np.packbits(holds, axis=0).T
        _, first, class_of = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        lengths = problem.baskets.lengths[problem.affected]
        order = np.lexsort([np.arange(len(lengths)), lengths])
        self.classes: list[IntArray] = []
        ordered = class_of.ravel()[order]
        grouped = order[np.argsort(ordered, kind="stable")]
        edges = np.concatenate([[0], np.cumsum(np.bincount(ordered, minlength=len(first)))])
        for number in range(len(first)):
            members = problem.affected[grouped[edges[number] : edges[number + 1]]]
            self.classes.append(members)
            self._add_class(number, np.flatnonzero(holds[:, first[number]]).tolist())
        self.item_columns = np.array([t[2] for t in self.treatments] + [s[2] for s in self.singles], dtype=np.int64)
        self.item_costs = np.array([float(len(t[1])) for t in self.treatments] + [1.0] * len(self.singles))
        self._add_rules(rules)
        self.loss_columns = self._add_sets(holds[2 * len(rules) :].sum(axis=1))

    def _held(self, items: Sequence[int]) -> BoolArray:
        """Tell which affected baskets hold items; what has no items to harm is held by none."""
        count = len(self.problem.affected)
        if not items:
            return np.zeros(count, dtype=bool)
        words = np.bitwise_and.reduce(self._maps[self.problem.map_rows(items)], axis=0)
        return np.unpackbits(words.view(np.uint8), bitorder="little")[:count].astype(bool)

    def _column(self, most: float) -> int:
        self.limits.append(most)
        return len(self.limits) - 1

    def add(self, columns: Any, factors: Any, *, low: float = -np.inf, high: float = np.inf) -> None:
        """Add a row: low <= sum of factor times column <= high."""
        self.lines.append((np.asarray(columns, np.int64), np.asarray(factors, np.float64), low, high))

    def _add_class(self, number: int, held: list[int]) -> None:
        """Add the columns of a class of baskets that hold the rules, antecedents and sets of these places."""
        problem, rules = self.problem, len(self.problem.pressing)
        lowered = [place for place in held if place < rules]
        allowed = sorted(frozenset().union(*(problem.allowed[place] for place in lowered)))
        treatments = _treatments([problem.allowed[place] for place in lowered], allowed)
        size = len(self.classes[number])
        if treatments is None:
            for member in range(size):
                self._add_single(number, member, held, allowed)
            return
        columns = []
        for items in treatments:
            column = self._column(size)
            columns.append(column)
            self.treatments.append((number, items, column))
            for place in held:
                if not self._sets[place].isdisjoint(items):
                    self._terms[place].append((column, 1.0))
        if len(columns) > 1:
            self.add(columns, np.ones(len(columns)), high=size)

    def _add_single(self, number: int, member: int, held: list[int], allowed: list[int]) -> None:
        """Add a column for each item of one basket, and one for each rule or set that it then no longer holds."""
        column_of = {}
        for item in allowed:
            column_of[item] = self._column(1)
            self.singles.append((int(self.classes[number][member]), item, column_of[item]))
        for place in held:
            own = [column_of[item] for item in allowed if item in self._sets[place]]
            if not own:
                continue
            hit = self._column(1)
            self._terms[place].append((hit, 1.0))
            if place < len(self.problem.pressing):  # counts as lowered only where one of its items goes
                self.add([hit, *own], [1.0, *([-1.0] * len(own))], high=0)
            else:  # counts as harmed as soon as one goes
                for column in own:
                    self.add([hit, column], [1.0, -1.0], low=0)

    def _add_rules(self, rules: Sequence[CodedRule]) -> None:
        """Every rule is hidden by its support or, where that can be, by its confidence."""
        problem = self.problem
        for place, rule in enumerate(rules):
            whole, base = problem.supports[place]
            lowered = self._terms[place]
            columns, factors = [c for c, _ in lowered], [f for _, f in lowered]
            # the antecedent only gets rarer, so that this holds in any case; and is all where it stays as it is
            self.add(columns, factors, low=whole - problem.most(rule, base))
            if problem.most(rule, base) < problem.hide or not self._terms[len(rules) + place]:
                continue
            excess = whole - problem.hide + 1
            by_confidence = self._column(1)
            self.add([*columns, by_confidence], [*factors, float(excess)], low=excess)
            # q (whole - lowered) - p (base - harmed) <= -1, or anything where it is not by confidence
            top, bottom = problem.thresholds.confidence.numerator, problem.thresholds.confidence.denominator
            harmed = self._terms[len(rules) + place]
            slack = bottom * whole + 1
            self.add(
                [*columns, *(c for c, _ in harmed), by_confidence],
                [*(-bottom * f for f in factors), *(top * f for _, f in harmed), float(slack)],
                high=-1 - bottom * whole + top * base + slack,
            )

    def _add_sets(self, held: IntArray) -> IntArray:
        """No tracked set falls below what is needed, unless it is lost; give the columns that say so."""
        problem, losses = self.problem, []
        first = 2 * len(problem.pressing)
        column_of: dict[frozenset[int], int] = {}
        for line, items in enumerate([*self.tracked, *self.firm]):
            support = problem.itemsets.support_of[tuple(items)]
            columns, factors = [c for c, _ in self._terms[first + line]], [f for _, f in self._terms[first + line]]
            spare, most = support - problem.keep, int(held[line])
            if most <= spare or not columns:
                continue
            most = min(most, self._most_harm(items))
            if most <= spare:
                continue
            if not self.may_lose or line >= len(self.tracked):
                self.add(columns, factors, high=spare)
                continue
            lost = self._column(1)
            losses.append(lost)
            column_of[frozenset(items)] = lost
            self.add([*columns, lost], [*factors, float(spare - most)], high=spare)
        for whole, lost in column_of.items():  # what contains a lost set is lost
            for item in whole:
                below = column_of.get(whole - {item})
                if below is not None:
                    self.add([lost, below], [1.0, -1.0], low=0)
        return np.asarray(losses, dtype=np.int64)

    def _most_harm(self, items: tuple[int, ...]) -> int:
        """Bound the baskets in which a set is harmed, in a hiding of which nothing can be taken back.

        There each removal is the only one that lowers some rule in its basket, and the rule would be found without it;
        so its support is not more than one below `hide`, and it is lowered in that many baskets at most.
        """
        return sum(
            whole - self.problem.hide + 1
            for allowed, (whole, _) in zip(self.problem.allowed, self.problem.supports, strict=True)
            if not allowed.isdisjoint(items)
        )

    def solve(self, deadline: float, *, losing: bool) -> ProgramSolution:
        """Minimize the lost sets or the removed items with HiGHS."""
        columns = len(self.limits)
        seconds = deadline - time.monotonic()
        if any(low > 0 and not len(own) for own, _, low, _ in self.lines):
            return ProgramSolution(None, infeasible=True, proved=True, bound=0)  # a rule that nothing lowers
        if not columns:
            return ProgramSolution(np.zeros(0), infeasible=False, proved=True, bound=0)
        if seconds <= 0:
            return ProgramSolution(None, infeasible=False, proved=False, bound=0)
        cost = np.zeros(columns)
        if losing:
            cost[self.loss_columns] = 1.0
        else:
            cost[self.item_columns] = self.item_costs
        lines = [line for line in self.lines if len(line[0])]
        row = np.repeat(np.arange(len(lines)), [len(line[0]) for line in lines])
        program = IntegerProgram(
            cost,
            np.asarray(self.limits),
            row,
            np.concatenate([line[0] for line in lines]),
            np.concatenate([line[1] for line in lines]),
            np.array([line[2] for line in lines]),
            np.array([line[3] for line in lines]),
        )
        found = program.solve(seconds)
        # what is minimized is a whole number
        return replace(found, bound=max(int(np.ceil(found.bound - _SMALL)), 0))

    def apply(self, values: FloatArray) -> ChangingBaskets:
        """Treat baskets as a solution says: those of a class in turn, the shortest first."""
        left = ChangingBaskets(self.problem.baskets)
        used = np.zeros(len(self.classes), dtype=np.int64)
        for number, items, column in self.treatments:
            count = int(values[column])
            if count > 0:
                chosen = np.sort(self.classes[number][used[number] : used[number] + count])
                used[number] += count
                for item in items:
                    left.remove(item, chosen)
        for basket, item, column in self.singles:
            if values[column] > 0.5:
                left.remove(item, np.array([basket]))
        return left


def _treatments(rules: list[frozenset[int]], allowed: list[int]) -> list[tuple[int, ...]] | None:
    """List the sets of items to remove from a basket that holds these rules, or None where there are too many.

    Each item of a treatment is the only one to lower some rule; else it could stay.

    >>> _treatments([frozenset({1, 2}), frozenset({2, 3})], [1, 2, 3])
    [(1,), (2,), (3,), (1, 3)]
    """
    found: list[tuple[int, ...]] = [()]
    for item in allowed:
        for items in list(found):
            longer = (*items, item)
            if all(any(rule & set(longer) == {one} for rule in rules) for one in longer):
                found.append(longer)
                if len(found) > _MOST_TREATMENTS:
                    return None
    return sorted(found[1:], key=lambda items: (len(items), items))
