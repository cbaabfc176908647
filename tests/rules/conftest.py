"""Small baskets, drawn anew for each case and the same in every run."""

import random
from collections.abc import Callable

import pytest

Draw = Callable[..., list[list[str]]]


@pytest.fixture
def draw() -> Draw:
    """Draw baskets: each item is in a basket with the same chance, and some baskets are empty."""

    def drawn(seed: int, baskets: int = 12, items: int = 5, chance: float = 0.5) -> list[list[str]]:
        source = random.Random(seed)
        names = [chr(ord("a") + place) for place in range(items)]
        return [[name for name in names if source.random() < chance] for _ in range(baskets)]

    return drawn
