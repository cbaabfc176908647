"""The verifier's intervals against brute force, against a textbook, and against tables that were tampered with."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from sfumato.verifier.cell_intervals import (
    CellEvidence,
    CellStatement,
    PublishedCells,
    _Attacker,
    _find_sums,
    _Move,
    check_cells,
    published_cells,
)


def _statement(*, counted: bool = True, p: float = 10.0, min_count: int = 3) -> CellStatement:
    return CellStatement(
        ("r",), ("c",), "nested", "count", counted, 0, "Total", "x", min_count, p, None, individual=False
    )


def _publish(inner: np.ndarray, hidden: set[tuple[int, int]], statement: CellStatement) -> PublishedCells:
    """The lines of a table with marginals, suppressed where it is said; the last row and column are totals."""
    whole = np.vstack([inner, inner.sum(axis=0)])
    whole = np.hstack([whole, whole.sum(axis=1, keepdims=True)])
    names = [[*map(str, range(size - 1)), "Total"] for size in whole.shape]
    lines = [
        (names[0][i], names[1][j], "x" if (i, j) in hidden else str(whole[i, j]))
        for i in range(whole.shape[0])
        for j in range(whole.shape[1])
    ]
    return published_cells(lines, statement)


def test_the_example_of_fischetti_and_salazar() -> None:
    """Investments by activity and region: with four cells suppressed, 22 is known to be between 5 and 30."""
    inner = np.array([[20, 50, 10], [8, 19, 22], [17, 32, 12]])
    statement = _statement(counted=False)
    hidden = {(1, 0), (1, 2), (2, 0), (2, 2)}
    verdict, intervals = check_cells(_publish(inner, hidden, statement), statement, None)
    assert verdict.satisfied
    assert np.allclose(intervals, [(0, 25), (5, 30), (0, 25), (4, 29)])


@pytest.mark.parametrize("seed", range(12))
def test_intervals_are_those_of_all_tables_of_whole_numbers(seed: int) -> None:
    """Every table of counts that is published alike is listed: the bounds of each suppressed cell are the same."""
    draw = np.random.default_rng(seed)
    inner, statement = draw.integers(0, 5, (2, 3)), _statement()
    occupied = [(i, j) for i in range(2) for j in range(3) if inner[i, j]]
    hidden = {occupied[i] for i in draw.permutation(len(occupied))[:4]}
    whole = np.vstack([inner, inner.sum(axis=0)])
    whole = np.hstack([whole, whole.sum(axis=1, keepdims=True)])
    hidden |= {(2, int(draw.integers(0, 3)))} if seed % 3 == 0 else set()
    hidden = {one for one in hidden if whole[one]}
    _, intervals = check_cells(_publish(inner, hidden, statement), statement, None)
    inside, most = sorted(one for one in hidden if one[0] < 2), 16
    values = np.indices((most,) * len(inside)).reshape(len(inside), -1) + 1  # one column for each table
    tables = np.repeat(inner[None], values.shape[1], axis=0)
    for one, column in zip(inside, values, strict=True):
        tables[:, one[0], one[1]] = column
    tables = np.concatenate([tables, tables.sum(axis=1, keepdims=True)], axis=1)
    tables = np.concatenate([tables, tables.sum(axis=2, keepdims=True)], axis=2)
    published = np.array([[(i, j) not in hidden for j in range(4)] for i in range(3)])
    alike = tables[(tables[:, published] == whole[published]).all(axis=1)]
    for one, (low, high) in zip(sorted(hidden), intervals, strict=True):
        assert low == pytest.approx(alike[:, one[0], one[1]].min())
        assert high == pytest.approx(highest := alike[:, one[0], one[1]].max()) or highest >= most


def _evidence(inner: np.ndarray, sole: dict[tuple[int, int], int] | None = None) -> CellEvidence:
    whole = np.vstack([inner, inner.sum(axis=0)])
    whole = np.hstack([whole, whole.sum(axis=1, keepdims=True)])
    alone = np.full(whole.shape, -1)
    for place, who in (sole or {}).items():
        alone[place] = who
    values = whole.ravel().tolist()
    return CellEvidence(values, values, [[1, 1]] * len(values), alone.ravel().tolist())


def test_a_primary_cell_that_is_published_is_found() -> None:
    """A count of 2 where 3 are asked for."""
    inner, statement = np.array([[2, 9], [9, 9]]), _statement()
    verdict, _ = check_cells(_publish(inner, set(), statement), statement, _evidence(inner))
    assert not verdict.satisfied
    assert "r = 0, c = 0 is published, and gives somebody away" in verdict.problems[0]


def test_a_suppressed_cell_that_can_be_worked_out_is_found() -> None:
    """Alone in its row, it is the total less the others."""
    inner, statement = np.array([[2, 9], [9, 9]]), _statement()
    verdict, intervals = check_cells(_publish(inner, {(0, 0)}, statement), statement, _evidence(inner))
    assert np.allclose(intervals, [(2, 2)])
    assert not verdict.satisfied
    assert "can be bounded within 10 %" in verdict.complaints[0]


def test_a_narrow_interval_is_found_with_the_evidence() -> None:
    """2 may be 1 to 4, but it has to be possible that there are 5 or more."""
    inner, statement = np.array([[2, 3, 20], [3, 3, 20]]), _statement(min_count=5)
    hidden = {(i, j) for i in range(2) for j in range(2)}
    assert check_cells(_publish(inner, hidden, statement), statement, None)[0].satisfied
    verdict, _ = check_cells(_publish(inner, hidden, statement), statement, _evidence(inner))
    assert "narrower than the rules ask" in verdict.complaints[0]


def test_who_is_alone_in_a_cell_sees_through_a_pair() -> None:
    """Two cells of a row: who knows one knows the other, whatever an outsider makes of it."""
    inner = np.array([[50, 60, 400], [300, 300, 400]])
    hidden = {(0, 0), (0, 1), (1, 0), (1, 1)}
    statement = CellStatement(("r",), ("c",), "nested", "sum", False, 0, "Total", "x", 3, 10, None, False)
    evidence = _evidence(inner)
    contributors = [1 if value in {50, 60} else 9 for value in evidence.values]
    largest = [[value, 0] if value in {50, 60} else [value // 9] * 2 for value in evidence.values]
    alone = [{50: 0, 60: 1}.get(value, -1) for value in evidence.values]
    told = CellEvidence(evidence.values, contributors, largest, alone)
    verdict, _ = check_cells(_publish(inner, hidden, statement), statement, told)
    assert "who is alone in another suppressed cell can bound r = 0, c = 0 too closely" in verdict.complaints
    outsider = CellEvidence(evidence.values, contributors, largest, [-1] * len(alone))
    assert check_cells(_publish(inner, hidden, statement), statement, outsider)[0].satisfied


@pytest.mark.parametrize("change", ["sum", "missing", "twice", "negative"])
def test_tables_that_do_not_hold_together_are_refused(change: str) -> None:
    """Sums that are none, lines that are missing or stand twice, and amounts that no table has."""
    inner, statement = np.array([[4, 9], [9, 9]]), _statement()
    whole = _publish(inner, set() if change != "negative" else {(0, 0), (0, 1), (1, 0), (1, 1)}, statement)
    labels, values = list(whole.labels), list(whole.values)
    if change == "sum":
        values[0] = 5
    elif change == "missing":
        del labels[0], values[0]
    elif change == "twice":
        labels[0] = labels[1]
    else:
        values[labels.index(("0", "Total"))] = 1  # two counts of at least 1 each
        values[labels.index(("1", "Total"))] = 30
    verdict, _ = check_cells(PublishedCells(tuple(labels), tuple(values)), statement, None)
    assert not verdict.satisfied
    assert verdict.problems


def _attacker(seed: int, sides: tuple[int, ...]) -> tuple[_Attacker, dict[int, float]]:
    """A random table of that many sides with all marginals, cells and some totals of it suppressed, and the truth."""
    draw = np.random.default_rng(seed)
    whole = draw.integers(0, 30, sides) * draw.integers(0, 2, sides)
    for axis in range(len(sides)):
        whole = np.concatenate([whole, whole.sum(axis=axis, keepdims=True)], axis=axis)
    names = [[*map(str, range(size)), "Total"] for size in sides]
    labels = [tuple(names[axis][i] for axis, i in enumerate(place)) for place in np.ndindex(*whole.shape)]
    chance = [0.08 if "Total" in one else 0.5 for one in labels]
    hidden = draw.random(len(labels)) < chance
    values = tuple(None if gone else int(value) for gone, value in zip(hidden, whole.ravel(), strict=True))
    cells = PublishedCells(tuple(labels), values)
    truth = {line: float(whole.ravel()[line]) for line in np.flatnonzero(hidden).tolist()}
    return _Attacker(cells, _find_sums(cells, "Total"), 0.0), truth


@pytest.mark.parametrize(("seed", "sides"), [(0, (6, 7)), (1, (7, 6)), (2, (5, 5)), (3, (3, 3, 3)), (4, (4, 3, 2))])
def test_intervals_are_those_of_two_programs_for_each_cell(seed: int, sides: tuple[int, ...]) -> None:
    """Solutions that attain what an equation allows spare programs, and change no interval."""
    attacker, truth = _attacker(seed, sides)
    matrix, rest = attacker.matrix.toarray(), attacker.rest
    for place, (low, high) in enumerate(attacker.intervals()):
        goal = np.eye(len(attacker.lines))[place]
        found: list[Any] = [linprog(sign * goal, A_eq=matrix, b_eq=rest) for sign in (1.0, -1.0)]
        assert low == pytest.approx(found[0].fun, abs=1e-4)
        assert high == (np.inf if found[1].status else pytest.approx(-found[1].fun, abs=1e-4))
        assert low - 1e-4 <= truth[attacker.lines[place]] <= high + 1e-4


@pytest.mark.parametrize(("seed", "sides"), [(0, (6, 7)), (1, (9, 8)), (2, (3, 3, 3))])
def test_a_route_is_a_set_of_moves_that_programs_find_as_well(seed: int, sides: tuple[int, ...]) -> None:
    """It keeps every sum, leaves what is fixed, and takes no cell below 0; three sides are left to programs."""
    attacker, truth = _attacker(seed, sides)
    draw, found = np.random.default_rng(seed), 0
    for line in attacker.lines:
        others = [one for one in attacker.lines if one != line]
        question = _Move(
            line, float(draw.choice([-1, 1]) * draw.integers(1, 9)), tuple(draw.choice(others, 3).tolist())
        )
        moved = attacker.route(question, truth)
        if question.step < 0 and truth[line] < -question.step:
            continue  # nobody asks that
        if moved is None:
            continue
        found += 1
        assert moved[line] == question.step
        assert not set(question.fixed) & set(moved)
        by = np.array([moved.get(one, 0.0) for one in attacker.lines])
        assert not (attacker.matrix @ by).any()
        assert all(truth[one] + moved.get(one, 0.0) >= 0 for one in attacker.lines)
        assert attacker.moves([question], truth)[0] is not None
    assert (found > 5) == (len(sides) == 2)
