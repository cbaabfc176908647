"""Extreme sets say what trying all values says: what is determined, and what an answer could disclose."""

from itertools import product

import numpy as np
import pytest

from sfumato.auditor.extreme_sets import ExtremeSets

Answered = list[tuple[tuple[int, ...], float]]


def consistent_tables(rows: int, answered: Answered) -> np.ndarray:
    """List tables that agree with answered maxima: every value at an answer, between two, below all and above all."""
    levels = sorted({answer for _, answer in answered})
    grid = sorted({*levels, *(level - 0.5 for level in levels), -100.0, 100.0})
    tables = np.array(list(product(grid, repeat=rows)))
    for members, answer in answered:
        tables = tables[tables[:, list(members)].max(axis=1) == answer]
    return tables


def is_determined(rows: int, answered: Answered) -> bool:
    """Tell whether all tables that agree have the same value somewhere."""
    tables = consistent_tables(rows, answered)
    return bool(len(tables)) and bool((tables == tables[0]).all(axis=0).any())


def could_disclose(rows: int, answered: Answered, members: tuple[int, ...]) -> bool:
    """Try every answer that some table gives: those at answers so far, and in between."""
    tables = consistent_tables(rows, answered)
    possible = sorted(set(tables[:, list(members)].max(axis=1).tolist()))
    return any(is_determined(rows, [*answered, (members, answer)]) for answer in possible)


@pytest.mark.parametrize("seed", range(12))
def test_decisions_are_those_of_trying_everything(seed: int) -> None:
    """Every table of a grid that agrees, and every answer that one of them gives."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(3, 5))
    table = rng.integers(0, 3, rows).astype(float)
    high, answered = ExtremeSets(np.ones(rows, np.int64)), list[tuple[tuple[int, ...], float]]()
    for _ in range(8):
        query = rng.random(rows) < 0.6
        if not query.any():
            continue
        members = tuple(np.flatnonzero(query).tolist())
        discloses = could_disclose(rows, answered, members)
        assert high.may_disclose([query]) == discloses
        if not discloses:
            answer = table[query].max()
            high.add(query, int(answer))
            if (members, answer) not in answered:
                answered.append((members, answer))
            assert not is_determined(rows, answered)
        if len({answer for _, answer in answered}) > 3 or len(answered) > 4:
            break


@pytest.mark.parametrize("seed", range(20))
def test_groups_that_are_asked_together_never_disclose(seed: int) -> None:
    """Whatever their answers are."""
    rng = np.random.default_rng(100 + seed)
    rows = 4
    table = rng.integers(0, 3, rows).astype(float)
    high, answered = ExtremeSets(np.ones(rows, np.int64)), list[tuple[tuple[int, ...], float]]()
    for _ in range(6):
        group = rng.integers(0, 2, rows)
        queries = [group == number for number in range(2) if (group == number).any()]
        if high.may_disclose(queries):
            continue
        for query in queries:
            high.add(query, int(table[query].max()))
            answered.append((tuple(np.flatnonzero(query).tolist()), table[query].max()))
        assert not is_determined(rows, answered)


def test_blocks_count_by_their_rows_and_part_in_two() -> None:
    """Those that have left count as well."""
    high = ExtremeSets(np.array([2, 1, 2]))
    high.add(np.array([True, True, False]), 9)
    assert not high.may_disclose([np.array([False, True, True])])  # two rows are left that may have the 9
    assert high.may_disclose([np.array([True, False, True])])  # one would be left
    high.split([0], np.array([1, 1, 2, 1]))
    assert not high.may_disclose([np.array([False, True, True, False])])  # one that is there and one that has left
    assert high.may_disclose([np.array([True, True, True, False])])  # only the one that has left
    again = ExtremeSets.from_arrays(high.as_arrays("h."), "h.", high.rows)
    assert again.may_disclose([np.array([True, True, True, False])])
