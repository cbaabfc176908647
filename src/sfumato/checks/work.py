"""Earth mover's distances as their papers write them, for one class at a time."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate

import numpy as np

Shares = Mapping[str | None, float]
Path = tuple[str | None, ...]
Costs = Mapping[tuple[str, str], float]


def in_order(part: Shares, whole: Shares, order: Sequence[str | None]) -> float:
    """Li et al., Section 5.1: the sum of absolute cumulative differences, over the number of gaps.

    >>> in_order({"1": 1.0}, {"1": 0.5, "3": 0.5}, ["1", "2", "3"])
    0.5
    """
    differences = accumulate(part.get(value, 0.0) - whole.get(value, 0.0) for value in order)
    return sum(map(abs, differences)) / max(len(order) - 1, 1)


def in_tree(part: Shares, whole: Shares, paths: Mapping[str | None, Path]) -> float:
    """Li et al., Section 5.2: what is exchanged between the children of each node, times the node's height.

    >>> in_tree({"a": 1.0}, {"a": 0.5, "b": 0.5}, {"a": ("a", "x", "*"), "b": ("b", "x", "*")})
    0.25
    """
    height, total = len(next(iter(paths.values()))) - 1, 0.0
    for level in range(1, height + 1):
        extra: dict[tuple[str | None, str | None], float] = {}
        for value, path in paths.items():
            edge = path[level], path[level - 1]
            extra[edge] = extra.get(edge, 0.0) + part.get(value, 0.0) - whole.get(value, 0.0)
        for node in {parent for parent, _ in extra}:
            children = [surplus for (parent, _), surplus in extra.items() if parent == node]
            gives, takes = sum(max(one, 0.0) for one in children), sum(max(-one, 0.0) for one in children)
            total += level / height * min(gives, takes)
    return total


def cheapest(part: Shares, whole: Shares, costs: Costs) -> float:
    """The chapter's linear program: flows between all values, third ones included, of least cost.

    >>> round(cheapest({"a": 1.0}, {"a": 0.5, "b": 0.5}, {("a", "b"): 3.0}), 9)
    1.5
    """
    surplus = tuple(part.get(value, 0.0) - whole[value] for value in whole)
    prices = tuple(_cost(one or "", other or "", costs) for one in whole for other in whole)
    return _program(surplus, prices)


def _cost(one: str, other: str, costs: Costs) -> float:
    return 0.0 if one == other else costs.get((one, other), costs.get((other, one), float("nan")))


@lru_cache(maxsize=4096)
def _program(surplus: tuple[float, ...], prices: tuple[float, ...]) -> float:
    from scipy import optimize  # noqa: PLC0415 - takes a while to import, and few come here

    size = len(surplus)
    leaves = np.kron(np.eye(size), np.ones(size)) - np.kron(np.ones(size), np.eye(size))
    plan = optimize.linprog(prices, A_eq=leaves, b_eq=surplus)
    if plan.fun is None:
        raise ValueError(f"no plan: {plan.message}")
    return float(plan.fun)
