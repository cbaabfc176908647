"""Rank swapping: each value changes places with one whose rank is at most so many ranks away (Moore 1996).

Every value is published, in another row: the distribution of the column stays exactly as it was, and what is lost is
how it goes with the other columns. Whoever finds a person's row sees the value of somebody at most w ranks away. The
values themselves stay what they are, so an extreme one is still there to be recognized, though beside other labels.

Pairs are formed in rounds, for all ranks at once: every rank that is still free proposes one of those above it within
reach, at random, and of proposals that touch each other the one with the lowest lot is taken. What is left in the end
is farther apart than w; such a rank goes round in a circle with a pair near it, where there is one, and else stays.
"""

import numpy as np

from sfumato.channels.category_noise import draw_uniform
from sfumato.core.arrays import IntArray
from sfumato.core.numbers import floor_times
from sfumato.core.randomness import Randomness


def reach_of_share(share: float, count: int) -> int:
    """The number of ranks that a share of `count` of them is, rounded down.

    >>> reach_of_share(0.05, 100), reach_of_share(0.05, 10)
    (5, 0)
    """
    return int(floor_times(share, np.array([count]))[0])


def swap_ranks(values: IntArray, reach: int, randomness: Randomness) -> IntArray:
    """Say for each of n values which of them stands in its place afterwards: a permutation of their places, int[n].

    values:  any numbers in the order of what is ranked, int[n]; equal ones are ranked at random
    reach:   how many ranks a value may move by, w

    >>> swapped = swap_ranks(np.array([10, 40, 20, 30]), 1, Randomness(1))
    >>> sorted(swapped.tolist())
    [0, 1, 2, 3]
    """
    count = len(values)
    order = np.lexsort((randomness.words(count), values))  # places by rank
    partner = pair_ranks(count, reach, randomness)
    place: IntArray = np.empty(count, dtype=np.int64)
    place[order] = order[partner]
    return place


def pair_ranks(count: int, reach: int, randomness: Randomness) -> IntArray:
    """Give each of `count` ranks the one whose value it gets, at most `reach` away: a permutation, int[count]."""
    partner: IntArray = np.arange(count, dtype=np.int64)
    free = partner.copy()
    while reach > 0 and len(free) > 1:
        # the free ranks k + 1 … last[k] are within reach above the k-th free one
        last = np.searchsorted(free, free + reach, side="right") - 1
        proposing = np.flatnonzero(last > np.arange(len(free)))
        if not len(proposing):
            break
        width = last[proposing] - proposing
        chosen = proposing + 1 + _below(width, randomness)
        lots = randomness.words(len(proposing))
        lowest = np.full(len(free), np.iinfo(np.uint64).max, dtype=np.uint64)
        np.minimum.at(lowest, proposing, lots)
        np.minimum.at(lowest, chosen, lots)
        taken = (lots == lowest[proposing]) & (lots == lowest[chosen])
        low, high = free[proposing[taken]], free[chosen[taken]]
        partner[low], partner[high] = high, low
        left = np.ones(len(free), dtype=np.bool_)
        left[proposing[taken]] = False
        left[chosen[taken]] = False
        free = free[left]
    _join_circles(partner, free, reach)
    return partner


def _below(widths: IntArray, randomness: Randomness) -> IntArray:
    """Draw a whole number from 0 and below each width."""
    chances = draw_uniform((len(widths),), randomness)
    return np.minimum((chances * widths).astype(np.int64), widths - 1)


def _join_circles(partner: IntArray, free: IntArray, reach: int) -> None:
    """Let each rank that found no partner go round with a pair within its reach, in place.

    They are more than `reach` apart from one another, so there are few of them.
    """
    for rank in free.tolist():
        near = np.arange(max(rank - reach, 0), min(rank + reach + 1, len(partner)))
        mates = partner[near]
        paired = near[(mates != near) & (partner[mates] == near) & (np.abs(mates - rank) <= reach) & (near < mates)]
        if len(paired):
            first = int(paired[len(paired) // 2])
            second = int(partner[first])
            partner[rank], partner[first], partner[second] = first, second, rank
