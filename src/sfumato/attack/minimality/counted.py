"""All worlds of classes that have few of them.

A world deals cells out to contents, or contents to cells; whichever has fewer ways is gone through. Classes with equal
counts have the same ways, and are looked at together.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sfumato.attack.minimality.arrange import arrangements, arrangements_of
from sfumato.attack.minimality.cells import Cells
from sfumato.attack.minimality.situation import Situation
from sfumato.attack.minimality.world import Worlds
from sfumato.core.arrays import BoolArray, IntArray

EVERY = 2_000
"""All worlds of a class are looked at where there are no more than these."""

_LARGEST = 64
"""Rows of the largest class whose worlds are counted."""

Counts = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Class:
    """One class by its number: the symbols that are moved, how often each is there, and those that stay."""

    place: int
    moved: IntArray
    counts: Counts
    still: IntArray
    contents: bool

    @property
    def ways(self) -> int:
        """How many worlds it has."""
        return arrangements_of(self.counts)


def few(situation: Situation, cells: Cells, chosen: BoolArray, slots: int) -> list[_Class]:
    """The chosen classes with few worlds, as far as the slots go."""
    found = []
    for one in _classes(situation, cells, chosen):
        slots -= one.ways * len(one.still) if one.ways <= EVERY else 0
        if slots < 0:
            break
        found += [one] if one.ways <= EVERY else []
    return found


def every(situation: Situation, found: list[_Class]) -> Worlds:
    """All worlds of these classes."""
    kinds: dict[tuple[bool, Counts], list[_Class]] = {}
    for one in found:
        kinds.setdefault((one.contents, one.counts), []).append(one)
    parts = [_worlds(members) for members in kinds.values()]
    home, cell, content = (np.concatenate([part[i] for part in parts]) for i in range(3))
    lengths = np.concatenate([np.full(len(part[0]), len(part[1]) // len(part[0])) for part in parts])
    first = np.unique(situation.contents, return_index=True)[1]
    values = {name: codes[first][content] for name, codes in situation.values.items()}
    counted = np.zeros(situation.classes, dtype=np.bool_)
    counted[home] = True
    world = np.repeat(np.arange(len(home)), lengths)
    return Worlds(home, world, cell, values, None, counted, np.zeros_like(counted))


def _classes(situation: Situation, cells: Cells, chosen: BoolArray) -> Iterator[_Class]:
    ends = np.concatenate([[0], np.cumsum(situation.sizes)]).tolist()
    slices = [slice(start, end) for start, end in pairwise(ends)]
    for place in np.flatnonzero(chosen & (situation.sizes <= _LARGEST)).tolist():
        cell, content = cells.of[slices[place]], situation.contents[slices[place]]
        by_cell, by_content = (
            _Class(place, *_counts(cell), content, False),
            _Class(place, *_counts(content), cell, True),
        )
        yield min(by_cell, by_content, key=lambda one: one.ways)


def _counts(symbols: IntArray) -> tuple[IntArray, Counts]:
    """The different symbols, the most frequent first, and how often each is there."""
    known, counts = np.unique(symbols, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return known[order], tuple(counts[order].tolist())


def _worlds(members: list[_Class]) -> tuple[IntArray, IntArray, IntArray]:
    """The class of each world, and cell and content of each slot, for classes with equal counts."""
    lines = arrangements(members[0].counts)
    moved = np.stack([one.moved for one in members])[:, lines]
    still = np.broadcast_to(np.stack([one.still for one in members])[:, None, :], moved.shape)
    home = np.repeat([one.place for one in members], len(lines))
    cell, content = (still, moved) if members[0].contents else (moved, still)
    return home, cell.reshape(-1), content.reshape(-1)
