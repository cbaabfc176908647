"""Rank swapping: who stands in whose place, and never from farther away than was said."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core.randomness import Randomness
from sfumato.masking.rank_swapping import pair_ranks, reach_of_share, swap_ranks


@settings(deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=60), st.integers(1, 20), st.integers(0, 999))
def test_every_value_stays_within_reach(values: list[int], reach: int, seed: int) -> None:
    """By brute force: the ranks that a row's new value can have are within reach of those that its own can have."""
    place = swap_ranks(np.array(values), reach, Randomness(seed))
    assert sorted(place.tolist()) == list(range(len(values)))
    for own, source in enumerate(place.tolist()):
        mine, new = values[own], values[source]
        lowest, highest = sorted((mine, new))
        # between the last rank of the lower and the first rank of the higher one are so many
        between = sum(lowest < value < highest for value in values)
        assert mine == new or between + 1 <= reach


@settings(deadline=None)
@given(st.integers(1, 80), st.integers(1, 30), st.integers(0, 999))
def test_ranks_are_paired_within_reach(count: int, reach: int, seed: int) -> None:
    """All but few get another rank: of those left, no two are near enough to change places."""
    partner = pair_ranks(count, reach, Randomness(seed))
    assert sorted(partner.tolist()) == list(range(count))
    assert np.abs(partner - np.arange(count)).max() <= reach
    left = np.flatnonzero(partner == np.arange(count))
    assert count == 1 or len(left) < count
    assert len(left) < 2 or np.diff(left).min() > reach


def test_nearly_everybody_gets_the_value_of_somebody_else() -> None:
    """In a thousand ranks with a reach of fifty nobody is left, and the mean distance is about half the reach."""
    partner = pair_ranks(1000, 50, Randomness(1))
    moved = np.abs(partner - np.arange(1000))
    assert (moved > 0).all()
    assert 15 < moved.mean() < 35


def test_partners_are_drawn_all_over_the_reach() -> None:
    """Every distance up to the reach occurs, over some draws."""
    seen = {
        int(one)
        for seed in range(20)
        for one in np.abs(pair_ranks(400, 10, Randomness(seed)) - np.arange(400)).tolist()
    }
    assert set(range(1, 11)) <= seen


def test_ties_are_broken_at_random() -> None:
    """Of equal values none is nearer to the end because it came first."""
    values = np.array([0] * 10 + [1])
    sources = {int(swap_ranks(values, 1, Randomness(seed))[10]) for seed in range(200)}
    assert sources >= set(range(10))


@pytest.mark.parametrize(("share", "count", "reach"), [(0.1, 30, 3), (0.05, 19, 0), (1.0, 7, 7)])
def test_a_share_of_ranks_is_exact(share: float, count: int, reach: int) -> None:
    """A tenth of thirty is three, though 0.1 · 30 is a little more than 3 in binary."""
    assert reach_of_share(share, count) == reach
