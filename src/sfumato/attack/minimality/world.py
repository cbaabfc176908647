"""Worlds: ways to deal the bag of each class out to its rows, each as likely as any other."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sfumato.attack.minimality.cells import Cells
from sfumato.attack.minimality.situation import Situation
from sfumato.core.arrays import BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class Worlds:
    """Worlds of single classes: `home` is the class of each; slots are its rows, each with a cell and its values.

    `counted` are the classes all of whose worlds are here, `drawn` those with a sample of them.
    """

    home: IntArray
    world: IntArray
    cell: IntArray
    values: Mapping[str, IntArray]
    persons: IntArray | None
    counted: BoolArray
    drawn: BoolArray

    def __len__(self) -> int:
        return len(self.home)


@dataclass(frozen=True, eq=False)
class Limits:
    """The most worlds of a class, and the most slots in all; `rng` decides which worlds are drawn."""

    worlds: int
    slots: int
    rng: np.random.Generator


def truth(situation: Situation, cells: Cells) -> Worlds:
    """The world that is, of all classes."""
    home, none = np.arange(situation.classes), np.zeros(situation.classes, dtype=np.bool_)
    return Worlds(home, situation.class_of, cells.of, situation.values, situation.persons, none, none)


def none(situation: Situation) -> Worlds:
    """No world of any class."""
    nothing: IntArray = np.zeros(0, dtype=np.int64)
    never = np.zeros(situation.classes, dtype=np.bool_)
    persons = None if situation.persons is None else nothing
    return Worlds(nothing, nothing, nothing, dict.fromkeys(situation.columns, nothing), persons, never, never)


def joined(one: Worlds, other: Worlds) -> Worlds:
    """Two lots of worlds as one."""
    persons = None
    if one.persons is not None and other.persons is not None:
        persons = np.concatenate([one.persons, other.persons])
    return Worlds(
        np.concatenate([one.home, other.home]),
        np.concatenate([one.world, other.world + len(one)]),
        np.concatenate([one.cell, other.cell]),
        {name: np.concatenate([one.values[name], other.values[name]]) for name in one.values},
        persons,
        one.counted | other.counted,
        one.drawn | other.drawn,
    )
