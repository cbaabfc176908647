"""Apart: rows of one person dealt to different buckets of Anatomy, where chance put them into one.

A bucket of l different values hides nobody if several of its rows are one person's. So such a row changes places with a
row of the same value in another bucket: the values of all buckets stay as they are. Which row it is, is drawn at
random, as everything about buckets is.
"""

import numpy as np

from sfumato.core.arrays import BoolArray, Codes, IntArray
from sfumato.core.randomness import Randomness
from sfumato.core.segments import run_starts

_ROUNDS = 64
"""So often rows that still stand together try another place."""


def apart(group: IntArray, person: Codes, value: Codes, randomness: Randomness) -> IntArray:
    """The bucket of each row (-1 where it has none) after rows of one person in one bucket have changed places.

    Where somebody has more rows of a value than there are buckets to go to, some stay where they are.

    >>> apart(np.array([0, 0, 1, 1]), np.array([7, 7, 8, 9]), np.array([0, 1, 0, 1]), Randomness(1)).tolist()
    [0, 1, 1, 0]
    """
    group, people = group.copy(), person.astype(np.int64)
    width = int(people.max(initial=0)) + 1
    rows = np.flatnonzero(group >= 0)
    rows = rows[np.argsort(value[rows], kind="stable")]
    for _ in range(_ROUNDS):
        again = _again(group[rows] * width + people[rows])
        if not again.any():
            break
        here = rows[again]
        there = _partners(rows, value, here, randomness)
        fits = _fits(group, people, (here, there), width)
        group[here[fits]], group[there[fits]] = group[there[fits]], group[here[fits]]
    return group


def _again(keys: IntArray) -> BoolArray:
    """Which keys have stood before."""
    again = np.ones(len(keys), dtype=np.bool_)
    again[np.unique(keys, return_index=True)[1]] = False
    return again


def _partners(rows: IntArray, value: Codes, here: IntArray, randomness: Randomness) -> IntArray:
    """For each row one of the same value, at random; rows stand value by value."""
    held = value[rows]
    first = run_starts(held)
    length = np.diff(first, append=len(rows))
    place = np.searchsorted(held[first], value[here])
    drawn: IntArray = rows[first[place] + randomness.permutation(len(rows))[: len(here)] % length[place]]
    return drawn


def _fits(group: IntArray, people: IntArray, pairs: tuple[IntArray, IntArray], width: int) -> BoolArray:
    """Which pairs can change places so that nobody comes to stand beside themselves; no bucket has part in two."""
    here, there = pairs
    known = np.unique(group * width + people)
    clash = np.isin(group[there] * width + people[here], known) | np.isin(group[here] * width + people[there], known)
    fits: BoolArray = ~clash & (group[here] != group[there])
    touched = np.column_stack([group[here], group[there]])[fits].ravel()
    first = np.zeros(len(touched), dtype=np.bool_)
    first[np.unique(touched, return_index=True)[1]] = True
    fits[fits] = first.reshape(-1, 2).all(axis=1)
    return fits
