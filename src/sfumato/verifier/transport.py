"""The general earth mover's distance in its dual form, for the verifier alone."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

Vector = NDArray[np.float64]

Costs = Mapping[tuple[str, str], float]
"""(value, value) to cost; one direction stands for both; NULL is empty text."""


def dual_cost(
    values: Sequence[str | None],
    whole: Sequence[float],
    costs: Costs,
    shares: Sequence[tuple[list[int], list[float]]],
) -> list[float]:
    """For each class, the most that potentials can differ which differ by at most the cost of each move.

    >>> dual_cost(["a", "b"], [0.5, 0.5], {("a", "b"): 2.0}, [([0], [1.0])])
    [1.0]
    """
    pairs = [(i, j) for i in range(len(values)) for j in range(len(values)) if i != j]
    moves = np.zeros((len(pairs), len(values)))
    limits = np.zeros(len(pairs))
    for row, (i, j) in enumerate(pairs):
        moves[row, i], moves[row, j] = 1.0, -1.0
        one, other = values[i] or "", values[j] or ""
        limits[row] = costs[one, other] if (one, other) in costs else costs[other, one]
    known: dict[tuple[tuple[int, ...], tuple[float, ...]], float] = {}
    for codes, parts in shares:
        key = (tuple(codes), tuple(parts))
        if key not in known:
            known[key] = _solve(moves, limits, _difference(codes, parts, whole))
    return [known[tuple(codes), tuple(parts)] for codes, parts in shares]


def _difference(codes: Sequence[int], parts: Sequence[float], whole: Sequence[float]) -> Vector:
    difference = -np.asarray(whole, dtype=np.float64)
    difference[list(codes)] += parts
    return difference


def _solve(moves: Vector, limits: Vector, difference: Vector) -> float:
    if len(difference) == 1:
        return 0.0
    bounds = [(0.0, 0.0)] + [(None, None)] * (len(difference) - 1)  # potentials count only by difference
    found = linprog(-difference, A_ub=moves, b_ub=limits, bounds=bounds, method="highs")
    return max(0.0, -float(found["fun"]))
