"""Integer programs that are solved in time, in a process of their own or not."""

import time

import numpy as np
import pytest

from sfumato.rules import integer_program
from sfumato.rules.integer_program import IntegerProgram


def knapsack(seed: int, low: float) -> IntegerProgram:
    """Make a program of twelve columns: of weights at least `low`, as cheap as can be."""
    rng = np.random.default_rng(seed)
    columns, ones = np.arange(12), np.ones(12)
    weights, cost = rng.integers(1, 30, 12).astype(float), rng.integers(1, 30, 12).astype(float)
    return IntegerProgram(cost, ones, np.zeros(12, int), columns, weights, np.array([low]), np.array([np.inf]))


@pytest.mark.parametrize("apart", [False, True])
def test_it_finds_what_trying_all_finds(apart: bool) -> None:
    """And says so where there is nothing."""
    program = knapsack(1, 60)
    every = np.array(np.meshgrid(*[[0, 1]] * 12)).reshape(12, -1)
    best = (program.cost @ every)[program.factor @ every >= 60].min()
    found = program.solve(30, apart=apart)
    assert found.values is not None
    assert (found.proved, found.bound, program.cost @ found.values) == (True, best, best)
    assert program.factor @ found.values >= 60
    none = knapsack(1, 1e6).solve(30, apart=apart)
    assert (none.values, none.infeasible) == (None, True)


def test_a_step_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the solver does then; and nothing is said to be proved."""
    monkeypatch.setattr(integer_program, "_CHILD", "import time; time.sleep(60)")
    monkeypatch.setattr(integer_program, "_GRACE", 0.1)
    start = time.monotonic()
    found = knapsack(1, 60).solve(0.1, apart=True)
    assert (found.values, found.infeasible, found.proved, found.bound) == (None, False, False, 0)
    assert time.monotonic() - start < 50


def test_a_process_that_dies_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one does for which memory is too small."""
    monkeypatch.setattr(integer_program, "_CHILD", "import os; os._exit(9)")
    found = knapsack(1, 60).solve(10, apart=True)
    assert (found.values, found.infeasible, found.proved) == (None, False, False)
