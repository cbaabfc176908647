"""Randomness that protects: orders and pseudonyms."""

from collections import Counter
from itertools import permutations

import pytest

from sfumato.core.randomness import Randomness


@pytest.mark.parametrize("count", [0, 1, 2, 3, 1000])
@pytest.mark.parametrize("seed", [None, 1])
def test_an_order_has_every_place_once(count: int, seed: int | None) -> None:
    """Nothing is lost or doubled by shuffling."""
    assert sorted(Randomness(seed).permutation(count).tolist()) == list(range(count))


def test_all_orders_are_equally_likely() -> None:
    """Of many shuffles of four things, each of the 24 orders comes up about as often (chi-squared, far out)."""
    draws, randomness = 12_000, Randomness()
    found = Counter(tuple(randomness.permutation(4).tolist()) for _ in range(draws))
    expected = draws / 24
    assert set(found) == set(permutations(range(4)))
    assert sum((count - expected) ** 2 / expected for count in found.values()) < 80


def test_a_seed_repeats_and_the_system_does_not() -> None:
    """The same seed gives the same order and names; without one no two are alike."""
    assert Randomness(1).permutation(100).tolist() == Randomness(1).permutation(100).tolist()
    assert Randomness(1).pseudonyms(5) == Randomness(1).pseudonyms(5)
    assert Randomness().permutation(100).tolist() != Randomness().permutation(100).tolist()
    assert not set(Randomness().pseudonyms(1000)) & set(Randomness().pseudonyms(1000))


def test_pseudonyms_are_different_from_one_another() -> None:
    """Every person has a name of their own."""
    assert len(set(Randomness().pseudonyms(10_000))) == 10_000
