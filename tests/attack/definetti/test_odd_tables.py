"""Odd tables: one line, one value, nothing in common, much in common, tiny limits; figures stay within their bounds."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sfumato.attack.bound import Bound
from sfumato.attack.definetti import DefinettiEffort, definetti

Makes = Callable[..., Any]


@pytest.mark.parametrize("seed", range(60))
def test_figures_stay_within_their_bounds(makes: Makes, seed: int) -> None:
    """Whatever the table and however little is looked at, accuracies are shares, and counts add up."""
    draw = np.random.default_rng(seed)
    rows, classes = int(draw.integers(1, 60)), int(draw.integers(1, 12))
    values = np.array([*(str(one) for one in range(int(draw.integers(1, 130)))), None], dtype=object)
    quasi = {name: draw.choice(values, rows).tolist() for name in "abc"[: int(draw.integers(1, 4))]}
    owner = np.unique(draw.integers(0, classes, rows), return_inverse=True)[1]
    made = makes(quasi, {"s": draw.choice(values[: int(draw.integers(1, 9))], rows).tolist()}, owner.tolist())
    effort = DefinettiEffort(
        cells=int(draw.integers(1, 80)), links=int(draw.integers(1, 500)), held_out=int(draw.integers(1, 6))
    )
    found = definetti(made.tables, made.original, {"s": Bound(0.5)}, effort=effort).columns["s"]
    shares = (found.largest_share, found.blind, found.random, found.bag, found.attack, found.without_bag)
    assert all(0 <= share <= 1 + 1e-9 for share in (*shares, found.largest_posterior, found.outside or 0.0))
    assert 0 < found.sampled.guessed <= found.sampled.trained <= found.lines == rows
    assert 0 <= found.beyond_bound.lines <= found.sampled.guessed
    assert (found.beyond_bound.right is None) is (found.beyond_bound.lines == 0)


def test_one_line_is_no_secret(makes: Makes) -> None:
    """A table of one line gives its value away, and nobody is left outside."""
    found = definetti(*_of(makes({"q": ["a"]}, {"s": ["x"]}, [0])), {}).columns["s"]
    assert (found.largest_share, found.attack, found.bag, found.outside) == (1.0, 1.0, 1.0, None)


def _of(made: Any) -> tuple[Any, Any]:
    return made.tables, made.original
