"""Tables of up to six rows, searched exhaustively: no sequence of answered queries determines a value.

The search is `benchmarks.query_search`, which says what its states are; six rows with all kinds of queries take minutes
and are kept in benchmarks/RESULTS-query-search.md. Here are smaller ones, and the search itself against linear programs
over tables with values.
"""

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from benchmarks.query_search import QuerySearch, State
from sfumato.auditor.column_audit import ColumnAudit, SetQuery, SetRules

Answered = list[tuple[str, tuple[int, ...], float]]


@pytest.mark.parametrize(
    ("rows", "kinds", "states", "decided", "in_vain"),
    [
        (4, ("sum",), 12, 154, 0),
        (5, ("sum",), 49, 1349, 0),
        (5, ("max", "min"), 46, 2506, 0),
        (3, ("sum", "max", "min"), 12, 236, 0),
        (4, ("sum", "max", "min"), 57, 2417, 39),
        pytest.param(6, ("sum",), 358, 20667, 0, marks=pytest.mark.slow),
        pytest.param(5, ("sum", "max", "min"), 392, 34792, 1064, marks=pytest.mark.slow),
    ],
)
def test_no_sequence_determines_or_confines_a_value(
    rows: int, kinds: tuple[str, ...], states: int, decided: int, in_vain: int
) -> None:
    """Every state is reached and everything asked there; only where kinds are mixed are some denials in vain."""
    found = QuerySearch(rows, kinds).run()
    assert (found.states, found.decided, found.in_vain) == (states, decided, in_vain)
    assert 0 < found.denied < found.decided


def test_the_search_finds_an_auditor_that_gives_values_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that answers everything about two rows or more does not get far."""
    monkeypatch.setattr(ColumnAudit, "find_objection", lambda _, asked: "no" if asked[0].blocks.sum() < 2 else None)
    for kinds in (("sum",), ("max", "min"), ("sum", "max")):
        with pytest.raises(AssertionError):
            QuerySearch(3, kinds).run()


def compute(kind: str, values: np.ndarray) -> float:
    """Answer a query."""
    return float(values.sum() if kind == "sum" else values.max() if kind == "max" else values.min())


def is_free(rows: int, answered: Answered) -> bool:
    """Tell whether every value may be as high or as low as one likes, by linear programs.

    Each maximum and minimum is attained by one of its rows: the tables that agree are the union over who that is.
    """
    sums = [(members, answer) for kind, members, answer in answered if kind == "sum"]
    extremes = [(kind, members, answer) for kind, members, answer in answered if kind != "sum"]
    low, high = np.full(rows, -np.inf), np.full(rows, np.inf)
    for kind, members, answer in extremes:
        for row in members:
            if kind == "max":
                high[row] = min(high[row], answer)
            else:
                low[row] = max(low[row], answer)
    left = {row for row in range(rows) if np.isinf(low[row]) or np.isinf(high[row])}
    if len(left) < rows:
        return False
    for attained in sorted(set(product(*(members for _, members, _ in extremes)))):
        equal = [*sums, *(((row,), answer) for row, (_, _, answer) in zip(attained, extremes, strict=True))]
        matrix = np.array([[float(row in members) for row in range(rows)] for members, _ in equal]).reshape(-1, rows)
        fixed: dict[str, Any] = {"A_eq": matrix, "b_eq": [answer for _, answer in equal]} if equal else {}
        for row in sorted(left):
            for sign in (1.0, -1.0):
                goal = sign * (np.arange(rows) == row)
                if linprog(goal, bounds=list(zip(low, high, strict=True)), **fixed).status == 3:  # without bound
                    left.discard(row)
                    break
        if not left:
            return True
    return False


def agrees(known: dict[int, float], step: tuple[str, int, int], answer: float) -> bool:
    """Tell whether an answer of the search stands to earlier ones as the true one does to true ones."""
    kind, _, given = step
    return kind == "sum" or all(np.sign(given - other) == np.sign(answer - true) for other, true in known.items())


@pytest.mark.parametrize("seed", range(8))
def test_the_search_agrees_with_linear_programs_over_values(seed: int) -> None:
    """Random answers about six rows, allowed or not: where no sum is of rows of extremes alone, both find the same.

    Where there is one, values matter: with all rows at their bounds, as the search has it, rows are the freest.
    """
    rng = np.random.default_rng(seed)
    search, state = QuerySearch(6), State()
    known: dict[str, dict[int, float]] = {"sum": {}, "max": {}, "min": {}}  # answers of the search, and true ones
    values = rng.integers(0, 4, 6).astype(float)
    answered: Answered = []
    for _ in range(int(rng.integers(2, 6))):
        one, kind = int(rng.integers(1, 64)), str(rng.choice(["sum", "max", "min"]))
        members = tuple(row for row in range(6) if one >> row & 1)
        answer = compute(kind, values[list(members)])
        after = [other for other in search.answers(state, kind, one) if agrees(known[kind], other.path[-1], answer)]
        if after:
            (state,) = after  # of all answers that are searched, the true one is one
            answered.append((kind, members, answer))
            known[kind][state.path[-1][2]] = answer
    free = search.free_rows(state) == search.whole
    if search.sums_leave_extremes_alone(state):
        assert is_free(6, answered) == free
    else:
        assert free or not is_free(6, answered)


@pytest.mark.parametrize("seed", range(6))
def test_random_sequences_of_all_kinds_confine_nobody(seed: int) -> None:
    """More rows, some sequences."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(4, 7))
    values = rng.integers(0, 4, rows).astype(float)
    audit, answered = ColumnAudit(np.ones(rows, np.int64), SetRules()), Answered()
    for _ in range(25):
        blocks, kind = rng.random(rows) < 0.6, str(rng.choice(["sum", "max", "min"]))
        query = SetQuery("x", kind, blocks)
        if not blocks.any() or audit.find_objection([query]) is not None:
            continue
        answer = compute(kind, values[blocks])
        audit.record(query, int(answer))
        answered.append((kind, tuple(np.flatnonzero(blocks).tolist()), answer))
        if len([one for one in answered if one[0] != "sum"]) > 3:
            break
    assert answered
    assert is_free(rows, answered)
