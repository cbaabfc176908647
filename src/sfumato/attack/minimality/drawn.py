"""A sample of the worlds of classes, of small classes more than of large ones."""

from functools import reduce

import numpy as np

from sfumato.attack.minimality.cells import Cells
from sfumato.attack.minimality.situation import Situation
from sfumato.attack.minimality.world import Limits, Worlds, joined, none
from sfumato.core.arrays import BoolArray, IntArray

_LEAST = 8
"""Fewer worlds of a class say nothing."""


def some(situation: Situation, cells: Cells, chosen: BoolArray, limits: Limits) -> Worlds:
    """Worlds of each class, of small classes more than of large ones; where that is too much, of some classes only."""
    chosen = _afforded(situation, chosen, limits)
    room = limits.slots // max(int(chosen.sum()), 1) // situation.sizes
    many = np.clip(room, _LEAST, max(limits.worlds, _LEAST))
    steps = 1 << np.log2(many).astype(np.int64)
    parts = [_drawn(situation, cells, chosen & (steps == step), int(step), limits) for step in np.unique(steps[chosen])]
    return reduce(joined, parts, none(situation))


def _drawn(situation: Situation, cells: Cells, chosen: BoolArray, times: int, limits: Limits) -> Worlds:
    """So many worlds of each class."""
    rows = situation.of_classes(chosen)
    owner, classes = (np.cumsum(chosen) - 1)[situation.class_of[rows]], int(chosen.sum())
    values: dict[str, IntArray] = {}
    for sheet in situation.sheets:
        order = rows[np.argsort(owner + limits.rng.random((times, len(rows))), axis=1)]
        values |= {name: situation.values[name][order].reshape(-1) for name in sheet}
    world = (np.arange(times)[:, None] * classes + owner).reshape(-1)
    home = np.tile(np.flatnonzero(chosen), times)
    persons = None if situation.persons is None else np.tile(situation.persons[rows], times)
    return Worlds(home, world, np.tile(cells.of[rows], times), values, persons, np.zeros_like(chosen), chosen)


def _afforded(situation: Situation, chosen: BoolArray, limits: Limits) -> BoolArray:
    """The chosen classes, or as many of them, drawn at random, as can have a few worlds each."""
    if situation.sizes[chosen].sum() * _LEAST <= limits.slots:
        return chosen
    drawn = limits.rng.permutation(np.flatnonzero(chosen))
    kept = np.zeros_like(chosen)
    kept[drawn[np.cumsum(situation.sizes[drawn]) * _LEAST <= limits.slots]] = True
    return kept
