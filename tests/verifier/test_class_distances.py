"""The dual of the transport problem against the primal, and the bounds that save programs."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from sfumato.errors import InputError
from sfumato.verifier import InputDistribution
from sfumato.verifier.class_distances import cost_matrix, dual_distance, transport_distances

SEEDS = range(25)
Vector = NDArray[np.float64]


def primal(costs: Vector, difference: Vector) -> float:
    """Flows between any two values that turn one distribution into the other, at least cost."""
    number = len(difference)
    balance = np.zeros((number, number, number))
    for i in range(number):
        balance[i, i, :] += 1
        balance[i, :, i] -= 1
    return float(linprog(costs.ravel(), A_eq=balance.reshape(number, -1), b_eq=difference).fun or 0.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_dual_is_the_primal(seed: int) -> None:
    """For any costs, of both directions, with chains that are cheaper than the straight way."""
    draw = np.random.default_rng(seed)
    number = int(draw.integers(2, 8))
    costs: Vector = draw.integers(0, 50, (number, number)) * 10.0 ** float(draw.integers(-3, 4))
    np.fill_diagonal(costs, 0)
    part, whole = draw.dirichlet(np.ones(number)), draw.dirichlet(np.ones(number))
    assert dual_distance(costs, part - whole) == pytest.approx(
        primal(costs, part - whole), rel=1e-8, abs=1e-9 * costs.max()
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_bounds_change_neither_the_farthest_nor_who_is_too_far(seed: int) -> None:
    """A class that is not computed is neither the farthest nor beyond the limit."""
    draw = np.random.default_rng(seed)
    values, totals = tuple("abcd"), tuple(draw.integers(1, 9, 4).tolist())
    costs = {(a, b): float(draw.integers(1, 9)) for a in values for b in values if a != b}
    shares = [(list(range(4)), (row / row.sum()).tolist()) for row in draw.integers(1, 9, (30, 4))]
    whole = np.array(totals) / sum(totals)
    exact = [dual_distance(cost_matrix(values, costs), np.array(parts) - whole) for _, parts in shares]
    for limit in (0.0, float(np.median(exact)), 9.0):
        found = transport_distances(InputDistribution(values, totals), costs, shares, limit)
        assert max(found) == pytest.approx(max(exact))
        assert [figure > limit for figure in found] == [figure > limit for figure in exact]


def test_a_cost_that_is_missing_is_a_sentence() -> None:
    """Every two values need one; NULL and empty text are one value to costs."""
    assert cost_matrix(["", None], {}).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    with pytest.raises(InputError, match="no cost of 'a' and 'b'"):
        cost_matrix(["a", "b"], {})
