"""Worlds of a whole table, where its classes stand and fall together: all of them, or a sample."""

from dataclasses import dataclass
from math import prod

import numpy as np

from sfumato.attack.minimality.arrange import arrangements, arrangements_of
from sfumato.attack.minimality.cells import Cells
from sfumato.attack.minimality.counted import Counts
from sfumato.attack.minimality.judge import Weighed
from sfumato.attack.minimality.situation import Situation
from sfumato.attack.minimality.world import Limits, Worlds
from sfumato.core.arrays import BoolArray, IntArray

_WORLDS = 10_000
"""All worlds of a table are looked at where there are no more than these."""

_NODES = 2_000
"""Of a larger lattice, only the nodes below the published one are looked at."""

_LARGEST = 200
"""Rows of a table whose worlds may be few enough to count."""


@dataclass(frozen=True, eq=False)
class Lot:
    """Worlds of the whole table: a line each, of the places of rows whose values the rows have there."""

    order: IntArray
    whole: bool


def countable(situation: Situation, limits: Limits) -> bool:
    """Whether all worlds of a table can be looked at, and all nodes of its lattice."""
    plain = situation.whole and not situation.requirement.limit and situation.persons is None
    nodes = prod(one.hierarchy.height + 1 for one in situation.quasi)
    if not plain or len(situation.sheets) != 1 or nodes > _NODES or len(situation.rows) > _LARGEST:
        return False
    worlds = prod(arrangements_of(counts) for _, counts in _dealt(situation))
    return worlds <= _WORLDS and worlds * len(situation.rows) <= limits.slots


def every_lot(situation: Situation) -> Lot:
    """All worlds of a table: each line is of the places of rows whose values stand there."""
    found = np.zeros((1, 0), dtype=np.int64)
    for place, counts in _dealt(situation):
        lines = place[arrangements(counts)]
        found = np.hstack([np.repeat(found, len(lines), axis=0), np.tile(lines, (len(found), 1))])
    return Lot(found, whole=True)


def some_lot(situation: Situation, limits: Limits) -> Lot:
    """A sample of the worlds of a table."""
    number_of = min(limits.worlds, max(limits.slots // len(situation.rows), 1))
    keys = situation.class_of + limits.rng.random((number_of, len(situation.rows)))
    return Lot(np.argsort(keys, axis=1), whole=False)


def flat(situation: Situation, cells: Cells, lot: Lot, fits: BoolArray) -> tuple[Worlds, Weighed]:
    """Worlds of the table as worlds of its classes, those that fit with all the weight."""
    order, classes = lot.order, situation.classes
    home = np.tile(np.arange(classes), len(order))
    world = (np.arange(len(order))[:, None] * classes + situation.class_of).reshape(-1)
    values = {name: codes[order].reshape(-1) for name, codes in situation.values.items()}
    every_class = np.ones(classes, dtype=np.bool_)
    counted, drawn = (every_class, ~every_class) if lot.whole else (~every_class, every_class)
    found = Worlds(home, world, np.tile(cells.of, len(order)), values, None, counted, drawn)
    return found, Weighed.of(np.repeat(fits.astype(np.float64), classes), home, classes)


def _dealt(situation: Situation) -> list[tuple[IntArray, Counts]]:
    """For each class a row of each different content, and how many rows have it."""
    found = []
    for one in range(situation.classes):
        rows = np.flatnonzero(situation.class_of == one)
        _, first, counts = np.unique(situation.contents[rows], return_index=True, return_counts=True)
        found.append((rows[first], tuple(counts.tolist())))
    return found
