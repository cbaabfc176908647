"""How much of a large release is looked at: profiles at random, with all classes in which they stand.

Training needs whole classes, or of very large ones a good part. Guessing about somebody needs all classes in which
their quasi-identifiers stand: with some of them the attack would look worse than it is. So profiles come in a random
order, and classes follow the first of their profiles.
"""

from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.classes import Histogram
from sfumato.core.segments import run_starts

SCORES = 200_000_000
"""The most pairs of a profile and any value, times quasi-identifiers."""

LINES = 2_000_000
"""The most lines that are sorted to draw from."""

LAST = np.iinfo(np.int64).max

_LEAST = 10
"""Of no class fewer cells are looked at than this, unless it has fewer."""


@dataclass(frozen=True, eq=False)
class Limits:
    """The most cells and links to look at, the links that a cell of each class has, and the values there are."""

    cells: int
    links: int
    cost: IntArray
    values: int

    @classmethod
    def of(cls, cells: int, links: int, quasi: int, bag: Histogram) -> "Limits":
        """Limits for so many quasi-identifiers, each of which is looked up at each link, and these bags."""
        values = len(bag.domain.values)
        most = max(min(cells, SCORES // (quasi * values)), 1)
        return cls(most, max(links // quasi, 1), np.bincount(bag.class_of), values)


@dataclass(frozen=True, eq=False)
class Drawn:
    """The classes or cells looked at, and the first profile, in the order drawn, of which not all are."""

    kept: BoolArray
    reached: int


def scrambled(keys: IntArray, rng: np.random.Generator) -> IntArray:
    """Another number for each key, equal for equal keys alone, in an order that says nothing of theirs."""
    factors = rng.integers(0, 1 << 62, 2).astype(np.uint64) * np.uint64(2) + np.uint64(1)
    mixed = keys.astype(np.uint64) * factors[0]
    mixed ^= mixed >> np.uint64(31)
    mixed *= factors[1]  # each step can be undone, so that no two keys meet
    order: IntArray = mixed.view(np.int64)
    return order


def lines_of(order: IntArray, owner: IntArray, sizes: IntArray) -> Drawn:
    """The classes of the first profiles, `LINES` lines at most; `order` is what profiles are ordered by."""
    if len(owner) <= LINES:
        return Drawn(np.ones(len(sizes), dtype=np.bool_), LAST)
    earliest = np.full(len(sizes), LAST)
    np.minimum.at(earliest, owner, order)
    return _first(earliest, [(sizes, LINES)])


def cells_of(profile: IntArray, owner: IntArray, limits: Limits) -> Drawn:
    """The cells to look at, of cells sorted by class and then by profile, which are numbered in the order drawn."""
    if len(profile) <= limits.cells and int(limits.cost[owner].sum()) <= limits.links:
        return Drawn(np.ones(len(profile), dtype=np.bool_), LAST)
    begins = run_starts(owner)
    cost, sizes = limits.cost[owner[begins]], np.diff(begins, append=len(owner))
    room = np.maximum(np.minimum(limits.cells, limits.links // cost) // len(begins), _LEAST)
    cells = np.minimum(sizes, room)
    classes = _first(profile[begins], [(cells, limits.cells), (cells * cost, limits.links)])
    inside, place = np.repeat(classes.kept, sizes), np.arange(len(owner)) - np.repeat(begins, sizes)
    kept = inside & (place < np.repeat(room, sizes))
    return Drawn(kept, min(classes.reached, int(profile[inside & ~kept].min(initial=LAST))))


def _first(earliest: IntArray, costs: list[tuple[IntArray, int]]) -> Drawn:
    """The classes whose first profile comes first, as many as every limit allows, but one at least."""
    order = np.argsort(earliest, kind="stable")
    fits = np.all([np.cumsum(cost[order]) <= most for cost, most in costs], axis=0)
    fits[0] = True
    kept = np.zeros(len(order), dtype=np.bool_)
    kept[order[fits]] = True
    return Drawn(kept, int(earliest[~kept].min(initial=LAST)))
