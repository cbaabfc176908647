"""Every sequence of queries about a small table: whether the auditor gives a value away, and what it denies in vain.

``python -m benchmarks.query_search`` searches tables of up to six rows, each row a cell of its own, for sums alone, for
maxima and minima, and for all of them mixed, and writes results-query-search.json and RESULTS-query-search.md. It
shares no line with the auditor: what is known after some answers is worked out from the definitions.

**States.** What a sequence of answers tells does not depend on its order, and not on all of the values:

- of sums, which sums of rows follow from them: a space, known by the sets whose sums lie in it;
- of maxima, the bound of each row, of which only the order counts, and at each bound the least sets of which one row
  has it (`Extremes`); of minima the same, turned over.

So instead of one table all are searched at once: a maximum branches into every answer that agrees with earlier ones, at
a known bound, between two of them, below or above all. Of states that differ by the order of the rows one stands for
all. That leaves few thousand states, each reached by a path of answers that the auditor is given, and then asked every
sum, maximum and minimum of every set.

**The check.** A row is free if it may be as high, or as low, as one likes. The tables that agree with a state are a
union of polyhedra, one for each way to say which row attains each extreme. In a state where no sum of the rows of
extremes alone follows, none of them is empty, whatever the values are: so a row is free if it moves in the cone of
directions of one of them (`free_rows`). In every state that is reached all rows have to be free, so that none is
determined nor confined from both sides.

**Denials in vain.** A denial is needed if some answer that agrees with the earlier ones leaves a row that is not free.
Where maxima or minima and sums are of the same rows, what is looked at are tables with all rows at their bounds, which
leave rows the most freedom: where these would leave all rows free it is counted as in vain, so the true count is not
higher.

**Zeros and ones** are no part of that: with bounds, answers can tell a value, and the guide says so. How often is
measured by random sets of people of whom few have an illness, and an adversary who works out by linear programs which
values are possible: with the rule of least sizes, and with ``--alike``.
"""

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from sfumato.auditor.column_audit import ColumnAudit, SetQuery, SetRules
from sfumato.papers.experiment import describe_run, write_run
from sfumato.papers.markdown_tables import markdown_table, setting_line

NAME = "query-search"
HERE = Path(__file__).parent
PRIME = 1009
"""A 0/1 matrix of order six has no minor above 9, so none that is not 0 is 0 modulo this."""
RATIO = {n * pow(d, -1, PRIME) % PRIME: n / d for n in range(-9, 10) for d in range(1, 10)}
"""The ratio of two minors, by what it is modulo the prime: no two of these ratios are the same."""

KINDS = {"sums": ("sum",), "maxima and minima": ("max", "min"), "all of them": ("sum", "max", "min")}

Extremes = tuple[tuple[int, tuple[int, ...]], ...]
"""Bounds from the highest down: the rows that have each, and the least sets of which one row attains it, as bits."""


def reduce_vectors(vectors: Sequence[Sequence[int]]) -> list[list[int]]:
    """Bring vectors into reduced echelon form modulo the prime; those that follow from others are left out."""
    lines: list[list[int]] = []
    for vector in vectors:
        line = [value % PRIME for value in vector]
        for other in lines:
            at = next(place for place, value in enumerate(other) if value)
            line = [(a - line[at] * b) % PRIME for a, b in zip(line, other, strict=True)]
        at = next((place for place, value in enumerate(line) if value), -1)
        if at < 0:
            continue
        inverse = pow(line[at], -1, PRIME)
        line = [value * inverse % PRIME for value in line]
        lines = [[(a - other[at] * b) % PRIME for a, b in zip(other, line, strict=True)] for other in lines]
        lines.append(line)
    return lines


@dataclass(frozen=True)
class State:
    """What is known: sums that follow (a basis of sets), maxima, minima turned over; and a path of answers to it."""

    sums: tuple[int, ...] = ()
    high: Extremes = ()
    low: Extremes = ()
    path: tuple[tuple[str, int, int], ...] = ()
    levels: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())


@dataclass
class Found:
    """What a search met: states, decisions, and denials by whether they were needed."""

    rows: int
    kinds: tuple[str, ...]
    states: int = 0
    decided: int = 0
    denied: int = 0
    in_vain: int = 0
    reasons: Counter[str] = field(default_factory=Counter)


class QuerySearch:
    """The search over tables of some rows, by queries of some kinds."""

    def __init__(self, rows: int, kinds: Sequence[str] = ("sum", "max", "min")) -> None:
        self.rows, self.kinds = rows, tuple(kinds)
        self.whole = (1 << rows) - 1
        orders = list(permutations(range(rows)))
        moved = [[sum(1 << order[row] for row in bits_of(one)) for one in range(1 << rows)] for order in orders]
        self.moved = np.array(moved, np.int64)  # [permutations, sets]: where each set goes
        self.back = np.argsort(self.moved, axis=1)
        self.vectors = [[one >> row & 1 for row in range(rows)] for one in range(1 << rows)]
        self._implied: dict[tuple[int, ...], NDArray[np.bool_]] = {}
        self._free: dict[tuple[int, ...], bool] = {}

    def run(self) -> Found:
        """Reach every state, and ask everything there; fails where a row is not free."""
        found = Found(self.rows, self.kinds)
        start = State()
        waiting, seen, met = [start], {self.canonical(start)}, {self._name(start)}
        while waiting:
            state = waiting.pop()
            # both are what is searched for: a row that is not free, or a state of which that cannot be told so
            if not self.sums_leave_extremes_alone(state) or not self.all_free(state):
                raise AssertionError(state)
            found.states += 1
            audit = self._replay(state)
            for kind in self.kinds:
                for one in range(1, self.whole + 1):
                    after = list(self.answers(state, kind, one))
                    if all(self._name(state) == self._name(other) for other in after):
                        continue  # it says nothing new
                    query = SetQuery("x", kind, np.array(self.vectors[one], np.bool_))
                    objection = audit.find_objection([query])
                    found.decided += 1
                    if objection is not None:
                        found.denied += 1
                        needless = all(self.all_free(other) for other in after)
                        found.in_vain += needless
                        found.reasons[objection] += needless
                        continue
                    for other in after:
                        if self._name(other) in met:
                            continue
                        met.add(self._name(other))
                        key = self.canonical(other)
                        if key not in seen:
                            seen.add(key)
                            waiting.append(other)
        return found

    def _replay(self, state: State) -> ColumnAudit:
        audit = ColumnAudit(np.ones(self.rows, np.int64), SetRules())
        for kind, one, answer in state.path:
            audit.record(SetQuery("x", kind, np.array(self.vectors[one], np.bool_)), answer)
        return audit

    # What answers tell.

    def answers(self, state: State, kind: str, one: int) -> Iterator[State]:
        """Give the states after every answer to a query that agrees with what is known."""
        if kind == "sum":
            if not self.implied(state.sums)[one]:
                yield State((*state.sums, one), state.high, state.low, (*state.path, (kind, one, 0)), state.levels)
            return
        at_high = kind == "max"
        extremes, levels = (state.high, state.levels[0]) if at_high else (state.low, state.levels[1])
        for after, level, known in _extremes_after(extremes, levels, one):
            path = (*state.path, (kind, one, level if at_high else -level))
            if at_high:
                yield State(state.sums, after, state.low, path, (known, state.levels[1]))
            else:
                yield State(state.sums, state.high, after, path, (state.levels[0], known))

    def implied(self, sums: tuple[int, ...]) -> NDArray[np.bool_]:
        """Say which sets have a sum that follows from others: bool[sets]."""
        found = self._implied.get(sums)
        if found is None:
            basis = reduce_vectors([self.vectors[one] for one in sums])
            every = np.array(self.vectors, np.int64)
            for line in basis:
                at = next(place for place, value in enumerate(line) if value)
                every = (every - every[:, [at]] * np.array(line)) % PRIME
            found = self._implied[sums] = (every == 0).all(axis=1)
        return found

    def _name(self, state: State) -> tuple[Any, ...]:
        return self.implied(state.sums).tobytes(), state.high, state.low

    def canonical(self, state: State) -> tuple[int, ...]:
        """Give the same numbers for all states that differ by the order of the rows.

        Every part of a state is a family of sets, a word of bits with one bit for each set; of all orders of the rows
        the one with the lowest words is taken.
        """
        families = [self.implied(state.sums)]
        for extremes in (state.high, state.low):
            for members, sets in extremes:
                for some in ([members], list(sets)):
                    family = np.zeros(1 << self.rows, np.bool_)
                    family[some] = True
                    families.append(family)
        order, words = np.arange(len(self.back)), [len(state.high)]
        for family in families:
            packed = np.packbits(family[self.back[order]], axis=1)
            wide = np.zeros((len(order), 8), np.uint8)
            wide[:, 8 - packed.shape[1] :] = packed
            numbers = wide.view(">u8").ravel()
            order, words = order[numbers == numbers.min()], [*words, int(numbers.min())]
        return tuple(words)

    # Whether that gives a row away.

    def sums_leave_extremes_alone(self, state: State) -> bool:
        """Tell whether no sum follows that is of rows of maxima and minima alone: then these may have any values."""
        rows = bits_of(_union(members for extremes in (state.high, state.low) for members, _ in extremes))
        sums = [self.vectors[one] for one in state.sums]
        with_rows = reduce_vectors([*sums, *(self.vectors[1 << row] for row in rows)])
        return len(with_rows) == len(reduce_vectors(sums)) + len(rows)

    def all_free(self, state: State) -> bool:
        """Tell whether every row may be as high or as low as one likes; states of other orders of rows count alike."""
        # three ways not to be free need no cone: a sum is a value, a value is an extreme, or is between two
        single = [1 << row for row in range(self.rows)]
        sets = [one for extremes in (state.high, state.low) for _, some in extremes for one in some]
        above, below = (_union(members for members, _ in one) for one in (state.high, state.low))
        if above & below or self.implied(state.sums)[single].any() or not set(single).isdisjoint(sets):
            return False
        key = self.canonical(state)
        if key not in self._free:
            self._free[key] = self.free_rows(state) == self.whole
        return self._free[key]

    def free_rows(self, state: State) -> int:
        """Give the rows that move in some cone of directions, of tables with all rows at their bounds."""
        above, below = (_union(members for members, _ in one) for one in (state.high, state.low))
        sets = [one for extremes in (state.high, state.low) for _, some in extremes for one in some]
        free = 0
        for attaining in _least_hitting_sets(tuple(sorted(sets)), self.whole):
            free |= self._moving_rows(state.sums, above & ~attaining, below & ~attaining, above | below)
            if free == self.whole:
                break
        # a row that has both a highest and a lowest value moves between them at most
        return free & ~(above & below)

    def _moving_rows(self, sums: tuple[int, ...], falling: int, rising: int, held: int) -> int:
        """Give the rows that move where some may only fall, some only rise, and the others of `held` stay.

        Those that move at once are found by one linear program: directions add up. What the rows outside of `held` do
        is then any solution of the sums with the others at rest.
        """
        moving = falling ^ rising
        alone = self._sums_of_rows_alone(sums, held)
        if len(alone) == 1:
            # one equation: its rows move if one of them can make up for another
            signs = {row: np.sign(RATIO[alone[0][row]]) * (1 if rising >> row & 1 else -1) for row in bits_of(moving)}
            if set(signs.values()) >= {1, -1}:
                signs = {}
            moving &= ~_union(1 << row for row, sign in signs.items() if sign)
        elif alone:
            moving = self._moving_at_once(alone, moving, rising)
        still = tuple(1 << row for row in bits_of(held & ~moving))
        known = self.implied(tuple(sorted({*sums, *still})))
        return moving | _union(1 << row for row in bits_of(self.whole & ~held) if not known[1 << row])

    def _sums_of_rows_alone(self, sums: tuple[int, ...], held: int) -> list[list[int]]:
        """Give a basis of what follows from sums about some rows alone, modulo the prime."""
        order = [*bits_of(self.whole & ~held), *bits_of(held)]
        lines = reduce_vectors([[self.vectors[one][row] for row in order] for one in sums])
        others = self.rows - held.bit_count()
        place = {row: at for at, row in enumerate(order)}
        return [[line[place[row]] for row in range(self.rows)] for line in lines if not any(line[:others])]

    def _moving_at_once(self, alone: list[list[int]], moving: int, rising: int) -> int:
        """Find by a linear program which rows move where several equations hold: those with a positive share."""
        rows = bits_of(moving)
        signs = np.array([1.0 if rising >> row & 1 else -1.0 for row in rows])
        matrix = np.array([[RATIO[line[row]] for row in rows] for line in alone]) * signs
        # directions add up: as many rows as possible at least as far as a variable of their own, which is at most 1
        count = len(rows)
        solved: Any = linprog(
            np.r_[np.zeros(count), -np.ones(count)],
            np.hstack([-np.eye(count), np.eye(count)]),
            np.zeros(count),
            np.hstack([matrix, np.zeros_like(matrix)]),
            np.zeros(len(matrix)),
            [(0, None)] * count + [(0, 1)] * count,
        )
        return _union(1 << row for row, share in zip(rows, solved.x[count:], strict=True) if share > 0.5)


def _extremes_after(
    extremes: Extremes, levels: tuple[int, ...], one: int
) -> Iterator[tuple[Extremes, int, tuple[int, ...]]]:
    """Give what maxima tell after one more of a set of rows, for every answer that agrees, with the answer."""
    for place in range(len(extremes) + 1):
        higher = tuple((members & ~one, _least(part & ~one for part in sets)) for members, sets in extremes[:place])
        if any(0 in sets for _, sets in higher):
            return  # one of the set has a bound above, so no answer is lower
        below = extremes[place:]
        # between the bound before and this one
        reached = one & ~_union(members for members, _ in below)
        if reached:
            level = _level_between(levels, place)
            yield (*higher, (reached, (reached,)), *below), level, (*levels[:place], level, *levels[place:])
        if not below:
            return
        # at this one
        members, sets = below[0]
        reached = one & ~_union(lower for lower, _ in below[1:])
        if reached:
            yield (*higher, (members | reached, _least([*sets, reached])), *below[1:]), levels[place], levels


def _level_between(levels: tuple[int, ...], place: int) -> int:
    if not levels:
        return 0
    if place == 0:
        return levels[0] + (1 << 40)
    return levels[-1] - (1 << 40) if place == len(levels) else (levels[place - 1] + levels[place]) // 2


def _least(sets: Any) -> tuple[int, ...]:
    """Leave out sets that contain another."""
    every = set(sets)
    return tuple(sorted(one for one in every if not any(other != one and other & one == other for other in every)))


@cache
def _least_hitting_sets(sets: tuple[int, ...], whole: int) -> tuple[int, ...]:
    """Give the least sets of rows that have a row of each: with these at their bounds every extreme is attained."""
    return _least(one for one in range(whole + 1) if all(one & other for other in sets))


def _union(sets: Any) -> int:
    found = 0
    for one in sets:
        found |= one
    return found


def bits_of(number: int) -> list[int]:
    """List the rows of a set.

    >>> bits_of(0b101)
    [0, 2]
    """
    return [row for row in range(number.bit_length()) if number >> row & 1]


def attack_zeros_and_ones(people: int, ill: int, rules: SetRules, seed: int, asked: int = 100) -> dict[str, int]:
    """Ask for counts of ill people in random sets, and work out whose illness follows by linear programs."""
    rng = np.random.default_rng(seed)
    values = np.zeros(people)
    values[rng.choice(people, ill, replace=False)] = 1
    audit = ColumnAudit(np.ones(people, np.int64), rules)
    answered: list[NDArray[np.bool_]] = []
    for _ in range(asked):
        blocks = rng.random(people) < rng.choice([0.3, 0.5, 0.7])
        query = SetQuery("x", "sum", blocks)
        if audit.find_objection([query]) is None:
            audit.record(query, 0)
            answered.append(blocks)
    matrix = np.array(answered, float).reshape(-1, people)
    known = 0
    healthy = 0
    for person in range(people):
        goal = np.eye(people)[person]
        both: list[Any] = [
            linprog(sign * goal, A_eq=matrix, b_eq=matrix @ values, bounds=[(0, 1)] * people) for sign in (1.0, -1.0)
        ]
        ends = both[0].fun, -both[1].fun
        known += ends[1] - ends[0] < 1e-6
        healthy += ends[1] < 1e-6
    return {"answered": len(answered), "known": int(known), "known_healthy": int(healthy)}


def _attack(people: int, ill: int, name: str, rules: SetRules, runs: int) -> dict[str, Any]:
    found = [attack_zeros_and_ones(people, ill, rules, seed) for seed in range(runs)]
    said = {key: sum(one[key] for one in found) / runs for key in ("answered", "known", "known_healthy")}
    return {"people": people, "ill": ill, "rule": name, "runs": runs} | said


def main(arguments: Sequence[str] | None = None) -> None:
    """Search, attack, and keep a page and the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=6, choices=range(2, 7))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--out", type=Path, default=HERE)
    asked = parser.parse_args(arguments)
    cases = []
    for rows in range(2, asked.rows + 1):
        for name, kinds in KINDS.items():
            start = time.process_time()
            found = QuerySearch(rows, kinds).run()
            cases.append(
                {
                    "rows": rows,
                    "kinds": name,
                    "states": found.states,
                    "decided": found.decided,
                    "denied": found.denied,
                    "in_vain": found.in_vain,
                    "reasons": {reason: count for reason, count in found.reasons.items() if count},
                    "seconds": time.process_time() - start,
                }
            )
    rules = {"sets and differences of 5": SetRules(5, compared=True), "`--alike 5`": SetRules(5, True, None, 5)}
    attacks = [
        _attack(people, ill, name, rule, asked.runs)
        for people, ill in ((30, 3), (30, 9), (60, 6))
        for name, rule in rules.items()
    ]
    run = describe_run(cases, full=asked.rows == 6) | {"attacks": attacks}
    print(write_run(asked.out, NAME, run, page(run)))


def page(run: dict[str, Any]) -> str:
    """Write the page on a run."""
    searched = [
        (
            str(case["rows"]),
            case["kinds"],
            f"{case['states']:,}",
            f"{case['decided']:,}",
            f"{case['denied']:,}",
            f"{case['in_vain']:,}",
            f"{case['in_vain'] / case['decided']:.1%}",
            f"{case['seconds']:.1f}",
        )
        for case in run["cases"]
    ]
    attacked = [
        (
            str(case["people"]),
            str(case["ill"]),
            case["rule"],
            f"{case['answered']:.1f}",
            f"{case['known']:.1f}",
            f"{case['known'] - case['known_healthy']:.1f}",
        )
        for case in run["attacks"]
    ]
    about_search = (
        "In no state that a sequence of answered queries reaches is a value determined, or confined from both sides: "
        "the search ends where one is. All tables are searched at once, with every order and every tie of values; "
        "states that differ by the order of rows, or of answers, are one. `in vain`: denials where no answer was found "
        "that would have told something, so at most that many are needless."
    )
    about_attack = (
        "People of whom some are ill, a hundred random sets asked for the number of ill; means of "
        f"{run['attacks'][0]['runs']} runs. `known`: whose value follows, by linear programs; `known ill`: of the ill."
    )
    head = ("rows", "queries", "states", "decisions", "denied", "in vain", "of decisions", "cpu s")
    return "\n\n".join(
        [
            "# Every sequence of queries about a small table",
            f"`python -m benchmarks.query_search`. {setting_line(run)}",
            about_search,
            markdown_table(head, searched),
            "## Zeros and ones",
            about_attack,
            markdown_table(("people", "ill", "rule", "answered", "known", "known ill"), attacked),
            "",
        ]
    )


if __name__ == "__main__":
    main()
