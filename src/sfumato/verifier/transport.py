"""The general earth mover's distance in its dual form, for the verifier alone."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from sfumato.errors import InputError
from sfumato.verifier.promise import Needs

Vector = NDArray[np.float64]
Shares = tuple[Sequence[int], Sequence[float]]
"""Which values a class holds, and the share of each."""

Costs = Mapping[tuple[str, str], float]
"""(value, value) to cost; one direction stands for both; NULL is empty text."""

_TIGHT: Any = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def farthest(needs: Needs, costs: Costs, shares: Sequence[Shares], limit: float) -> list[float]:
    """The distance of each class, exact for the farthest and for all beyond `limit`.

    A class that an upper bound shows to be neither gets the bound: rows that all travel as if they did not know
    where they come from are a way to move, if not the cheapest.

    >>> needs = Needs(("a", "b"), (1, 1))
    >>> farthest(needs, {("a", "b"): 2.0}, [([0], [1.0]), ([0, 1], [0.5, 0.5])], 0.0)
    [1.0, 0.0]
    """
    table, whole = matrix(needs.values, costs), np.array(needs.totals) / sum(needs.totals)
    dense = [_dense(line, len(whole)) for line in shares]
    figures = [float(min(part @ table @ whole, np.maximum(part - whole, 0).sum() * table.max())) for part in dense]
    known: dict[bytes, float] = {}
    far = 0.0
    for i in np.argsort(np.negative(figures), kind="stable").tolist():
        if figures[i] > min(limit, far):
            name = dense[i].tobytes()
            known[name] = known[name] if name in known else dual(table, dense[i] - whole)
            figures[i] = known[name]
            far = max(far, figures[i])
    return figures


def matrix(values: Sequence[str | None], costs: Costs) -> Vector:
    """The cost of each move, as it was given."""
    texts = [value or "" for value in values]
    return np.array([[_cost(costs, one, other) for other in texts] for one in texts], dtype=np.float64)


def dual(costs: Vector, difference: Vector) -> float:
    """The most that potentials can gain which differ between two values by at most the cost of the move.

    >>> dual(np.array([[0.0, 2.0], [2.0, 0.0]]), np.array([0.5, -0.5]))
    1.0
    """
    scale, number = float(costs.max(initial=0.0)), len(difference)
    if scale == 0 or not np.abs(difference).max() > 1e-15:
        return 0.0
    one, other = np.nonzero(~np.eye(number, dtype=np.bool_))
    lines = np.arange(len(one))
    gains = np.concatenate([np.ones(len(one)), -np.ones(len(one))])
    moves: Any = sparse.csr_array((gains, (np.tile(lines, 2), np.concatenate([one, other]))), shape=(len(one), number))
    bounds = [(0.0, 0.0)] + [(None, None)] * (number - 1)  # potentials count only by difference
    limits = costs[one, other] / scale
    found = linprog(-difference, A_ub=moves, b_ub=limits, bounds=bounds, method="highs-ds", options=_TIGHT)
    if found.status:  # potentials of 0 are feasible and finite costs bound them, so there is always a solution
        raise RuntimeError(f"the linear program of a distance has no solution ({found.message})")
    return max(0.0, -float(found.fun or 0.0)) * scale


def _dense(line: Shares, number: int) -> Vector:
    part = np.zeros(number)
    part[list(line[0])] = line[1]
    return part


def _cost(costs: Costs, one: str, other: str) -> float:
    if one == other:
        return 0.0
    found = costs.get((one, other), costs.get((other, one)))
    if found is None:
        raise InputError(f"the audit has no cost of '{one}' and '{other}'; it was changed")
    return found
