"""Attacks on columns whose values are known to be bounded: what they gain, and what keeps them from it.

The adversary knows the bounds and all answers, and works out the lowest and the highest value that each person may have
by linear programs; of zeros and ones also by trying every table.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import linprog

from sfumato.auditor.column_audit import ColumnAudit, SetQuery, SetRules
from sfumato.auditor.query_ledger import QueryLedger

from .conftest import Ledgers


@dataclass
class Adversary:
    """Asks a ledger about the column x of people with numbers, and works out what follows from answered sums."""

    ledger: QueryLedger
    people: int
    low: float | None = 0
    high: float | None = 1
    sets: list[list[int]] = field(default_factory=list)
    sums: list[float] = field(default_factory=list)

    def ask(self, people: Sequence[int], figure: str = "sum(x)", more: str = "") -> bool:
        """Ask about some people; sums, and counts of ones, are remembered."""
        listed = ", ".join(map(str, people))
        answer = self.ledger.ask(f"select {figure} where id in ({listed}){more}")
        if answer.answered and figure != "max(x)":
            self.sets.append(list(people))
            self.sums.append(float(answer.rows[0][0]))
        return answer.answered

    def intervals(self) -> np.ndarray:
        """Give the lowest and the highest value that each person may have: float[people, 2]."""
        return feasible_intervals(self.people, self.sets, self.sums, self.low, self.high)

    def learned(self) -> set[int]:
        """Give the people whose value follows."""
        found = self.intervals()
        return set(np.flatnonzero(found[:, 1] - found[:, 0] < 1e-6).tolist())


def feasible_intervals(
    people: int, sets: Sequence[Sequence[int]], sums: Sequence[float], low: float | None, high: float | None
) -> np.ndarray:
    """Solve two linear programs per person: float[people, 2]."""
    matrix = np.array([[float(n in one) for n in range(people)] for one in sets]).reshape(-1, people)
    known: dict[str, Any] = {"A_eq": matrix, "b_eq": list(sums)} if sets else {}
    ends = np.empty((people, 2))
    for person in range(people):
        for side, sign in enumerate((1.0, -1.0)):
            found = linprog(sign * np.eye(people)[person], bounds=[(low, high)] * people, **known)
            ends[person, side] = sign * found.fun if found.status == 0 else -sign * np.inf
    return ends


def people_with(values: Sequence[float]) -> dict[str, list[object]]:
    """People with numbers and values."""
    return {"id": list(range(len(values))), "x": list(values)}


# Who has the illness: 3, 8 and 13 of twenty.
ILL = [float(n in {3, 8, 13}) for n in range(20)]


def test_differencing_zeros_and_ones_gets_nothing(ledgers: Ledgers) -> None:
    """Everybody, and everybody but one to four: as sums, as counts with a condition, and as averages."""
    adversary = Adversary(ledgers(people_with(ILL), "x", "id"), 20)
    assert adversary.ask(range(20))
    for missing in [(3,), (3, 4), (3, 8, 13), (3, 8, 13, 4)]:
        rest = [n for n in range(20) if n not in missing]
        assert not adversary.ask(rest)
        assert not adversary.ask(rest, "avg(x)")
        assert not adversary.ask(rest, "count(*)", " and x = 1")
        assert not adversary.ask(list(missing), "count(*)", " and x = 1")
    assert not adversary.learned()


def test_counts_of_several_values_are_one_history(ledgers: Ledgers) -> None:
    """Of a text with three values: flu of all, and none or HIV of all but one, are the one's value."""
    said = ["flu", "none", "HIV", *(["flu", "none"] * 9)]
    table = {"id": list(range(21)), "ill": said}
    ledger = ledgers(table, "ill", "id")
    assert ledger.ask("select count(*) where ill = 'flu'").answered
    for condition in ("ill = 'none'", "ill in ('none', 'HIV')", "ill = 'flu'"):
        assert ledger.ask(f"select count(*) where {condition} and id <> 2").outcome == "denied"
        assert ledger.ask(f"select count(*) where {condition}").answered
    assert ledger.ask("select count(*) where ill = 'flu' and id < 21 and not id = 2").outcome == "denied"


def test_trackers_on_zeros_and_ones_get_nothing(ledgers: Ledgers) -> None:
    """Schlörer's and Denning's, with counts: C or T and C or not T, less T and not T, are C."""
    adversary = Adversary(ledgers(people_with(ILL), "x", "id"), 20)
    tracker, others = list(range(10)), list(range(10, 20))
    for target in range(20):
        padded = [sorted({target, *tracker}), sorted({target, *others}), tracker, others]
        assert False in [adversary.ask(one, "count(*)", " and x = 1") for one in padded]
    assert not adversary.learned()


def test_sums_below_the_least_size_are_not_told_by_cells(ledgers: Ledgers) -> None:
    """By four overlapping sets a cell of three would follow, though no two of them differ by so few."""
    table = {"g": list("a" * 3 + "b" * 6 + "c" * 6 + "d" * 6), "x": [1, 0, 1, *([0, 1, 0] * 6)]}
    ledger = ledgers(table, "x", "g")
    answered = [
        cells for cells in ("abc", "abd", "bd", "ac", "bcd", "cd", "abcd", "ab")
        if ledger.ask(f"select sum(x) where g in ({', '.join(map(repr, cells))})").answered
    ]  # fmt: skip
    matrix = np.array([[float(g in cells) for g in "abcd"] for cells in answered])
    assert len(answered) > 2
    assert np.linalg.matrix_rank(np.vstack([matrix, [1, 0, 0, 0]])) > np.linalg.matrix_rank(matrix)


def test_a_sum_at_its_bound_tells_everybody_as_the_guide_says(ledgers: Ledgers) -> None:
    """Nobody can prevent it: five without the illness; five at the highest pay; and seven that a difference is of."""
    adversary = Adversary(ledgers(people_with(ILL), "x", "id"), 20)
    assert adversary.ask([14, 15, 16, 17, 18])
    assert adversary.learned() == {14, 15, 16, 17, 18}
    paid = Adversary(
        ledgers(people_with([9, 9, 9, 9, 9, 1, 2, 3, 4, 5]), "x", "id", bounds={"x": ("1", "9")}, name="b.db"), 10, 1, 9
    )
    assert paid.ask(range(5))
    assert paid.learned() == {0, 1, 2, 3, 4}
    assert paid.ask(range(10))
    assert paid.learned() == {0, 1, 2, 3, 4}
    apart = Adversary(ledgers(people_with([5] * 6 + [0] * 7), "x", "id", bounds={"x": ("0", None)}, name="c.db"), 13)
    apart.high = None
    assert apart.ask(range(6))
    assert not apart.learned()
    assert apart.ask(range(13))
    assert apart.learned() == set(range(6, 13))


def test_extremes_at_a_bound_tell_everybody_as_the_guide_says(ledgers: Ledgers) -> None:
    """A maximum at the lower bound; but of four rows, or told from another by four, none is answered."""
    ledger = ledgers(people_with(ILL), "x", "id")
    adversary = Adversary(ledger, 20)
    assert ledger.ask("select max(x) where id between 14 and 19").rows == ((0,),)
    assert not adversary.ask([14, 15, 16, 17], "max(x)")
    assert not adversary.ask(range(13, 20), "max(x)")
    assert not adversary.ask(range(14, 20), "min(x)")  # not both of the same rows
    assert not adversary.ask(range(14, 20))


def test_a_combination_of_four_sets_is_of_two_people(ledgers: Ledgers) -> None:
    """No two of them differ by fewer than five: it is answered, and tells who of the two is ill; --alike denies it."""
    u, v, w, common = ([*range(at, at + 5)] for at in (4, 9, 14, 19))
    one, other = 0, 1  # the first set less the second, plus the third less the fourth, is one less the other
    sets = [[one, *u, *common], [other, *v, *common], [*v, *w], [*u, *w]]
    for first, second in combinations(sets, 2):
        assert min(len(set(first) - set(second)), len(set(second) - set(first))) >= 5
    values = [float(n in {one, 2, 6, 11, 16, 21}) for n in range(24)]
    adversary = Adversary(ledgers(people_with(values), "x", "id"), 24)
    assert [adversary.ask(people) for people in sets] == [True] * 4
    assert adversary.learned() == {one, other}
    protected = Adversary(ledgers(people_with(values), "x", "id", alike=5, name="alike.db"), 24)
    assert False in [protected.ask(people) for people in sets]
    assert not protected.learned()


def atoms_of(people: int, sets: Sequence[Sequence[int]]) -> list[list[int]]:
    """List the people that stand in the same sets."""
    found: dict[tuple[bool, ...], list[int]] = {}
    for person in range(people):
        found.setdefault(tuple(person in one for one in sets), []).append(person)
    return list(found.values())


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, None), (2, 7)])
def test_with_alike_nobody_is_told_from_four_others(low: int, high: int | None, ledgers: Ledgers) -> None:
    """Random sets, to the end of what is answered: all of an atom have one interval, which holds all its values."""
    rng = np.random.default_rng(low + 5)
    values = rng.integers(low, (high or 9) + 1, 24).tolist()
    bounds = {} if high == 1 else {"x": (str(low), None if high is None else str(high))}
    adversary = Adversary(ledgers(people_with(values), "x", "id", alike=5, bounds=bounds), 24, low, high)
    for _ in range(60):
        middle = np.sort(rng.choice(25, 2, replace=False))
        adversary.ask(range(*middle.tolist()) or [0])
        adversary.ask(rng.permutation(24)[: int(rng.integers(5, 20))].tolist())
    assert len({tuple(one) for one in adversary.sets}) > 1
    intervals = adversary.intervals()
    for atom in atoms_of(24, adversary.sets):
        assert len(atom) >= 5
        assert np.ptp(intervals[atom], axis=0).max() < 1e-6 or np.isinf(intervals[atom]).any()
        assert intervals[atom][:, 0].max() <= min(values[person] for person in atom) + 1e-6
        assert intervals[atom][:, 1].min() >= max(values[person] for person in atom) - 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_with_alike_no_table_of_zeros_and_ones_is_told_from_its_permutations(seed: int) -> None:
    """Every table of twelve zeros and ones that answers alike is tried: who is known is known with all of an atom."""
    rng = np.random.default_rng(seed)
    values = (rng.random(12) < 0.3).astype(int)
    audit = ColumnAudit(np.ones(12, np.int64), SetRules(3, compared=True, least_alike=3))
    every = (np.arange(1 << 12)[:, None] >> np.arange(12)) & 1
    answered: list[np.ndarray] = []
    for _ in range(200):
        blocks, kind = rng.random(12) < 0.5, ("sum", "max", "min")[int(rng.integers(3))]
        query = SetQuery("x", kind, blocks)
        if not blocks.any() or audit.find_objection([query]) is not None:
            continue
        compute: Any = {"sum": np.sum, "max": np.max, "min": np.min}[kind]
        answer = int(compute(values[blocks]))
        audit.record(query, answer)
        every = every[compute(every[:, blocks], axis=1) == answer]
        answered.append(blocks)
    assert answered
    known = every.min(0) == every.max(0)
    for atom in atoms_of(12, [np.flatnonzero(one).tolist() for one in answered]):
        assert len(atom) >= 3
        assert known[atom].all() or not known[atom].any()
        assert not known[atom].any() or len(set(values[atom].tolist())) == 1


def test_alike_outlives_updates_and_files(ledgers: Ledgers) -> None:
    """The sets that were answered count in a ledger that is opened anew, and after somebody moved."""
    table = {"k": list(range(20)), "g": list("aaaaaaabbbbbbbcccccc"), "x": ILL}
    ledger = ledgers(table, "x", "g", key="k", alike=5)
    assert ledger.ask("select sum(x) where g = 'a'").answered
    moved = table | {"g": list("baaaaaabbbbbbbcccccc")}
    ledger.update(pa.table(moved))
    for one in (ledger, QueryLedger(ledger._path)):
        said = one.ask("select sum(x) where g = 'b'")
        assert said.reason == (
            "column 'x': this answer and earlier ones together would tell fewer than 5 rows from all others"
        )
        assert one.ask("select sum(x) where g = 'c'").answered
    one.close()
