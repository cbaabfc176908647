"""Possible worlds: the ways to deal the bag of each class out to its rows, each as likely as any other a priori.

Where classes can be looked at one by one, worlds are those of single classes (`deal_worlds`): all of them for classes
that have few, a sample for the others. Where classes pass or fail together, worlds are those of the whole table
(`TableWorlds`): all of them, or a sample.

A world is stored as *slots*, one for each of its rows: the world, the cell of the row, and the values it has there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations, pairwise
from math import factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.attack.minimality.adversary_knowledge import AdversaryKnowledge, RowCells
from sfumato.core.arrays import BoolArray, IntArray

MAX_CLASS_WORLDS = 2_000
"""All worlds of a class are looked at where there are no more than these."""

MAX_TABLE_WORLDS = 10_000
"""All worlds of a table are looked at where there are no more than these."""

_MAX_CLASS_ROWS = 64
"""Rows of the largest class whose worlds are counted."""

_MAX_TABLE_ROWS = 200
"""Rows of the largest table whose worlds are counted."""

_MAX_NODES = 2_000
"""Of a larger lattice, only the nodes below the published one are looked at."""

_MIN_SAMPLE = 8
"""Fewer worlds of a class say nothing."""


@dataclass(frozen=True, eq=False)
class WorldLimits:
    """The most worlds of a class, and the most slots in all; `rng` decides which worlds are drawn."""

    worlds: int
    slots: int
    rng: np.random.Generator


@dataclass(frozen=True, eq=False)
class PossibleWorlds:
    """Worlds of single classes.

    class_of:              int[w], the class of each world
    world, cell, persons:  int[s], the world, the cell and the individual (where rows name them) of each slot
    values:                int[s] by column, the values of each slot
    counted, sampled:      bool[g], the classes all of whose worlds are here, and those with a sample of them
    """

    class_of: IntArray
    world: IntArray
    cell: IntArray
    values: Mapping[str, IntArray]
    persons: IntArray | None
    counted: BoolArray
    sampled: BoolArray

    def __len__(self) -> int:
        return len(self.class_of)


def true_world(knowledge: AdversaryKnowledge, cells: RowCells) -> PossibleWorlds:
    """Take the true values of all classes as one world each."""
    none = np.zeros(knowledge.classes, dtype=np.bool_)
    return PossibleWorlds(
        np.arange(knowledge.classes),
        knowledge.class_of,
        cells.cell_of,
        knowledge.values,
        knowledge.persons,
        none,
        none,
    )


def deal_worlds(
    knowledge: AdversaryKnowledge, cells: RowCells, chosen: BoolArray, limits: WorldLimits
) -> PossibleWorlds:
    """Deal the bags of the chosen classes out: in all ways where there are few, else in ways drawn at random.

    Half of the slots at most are for the classes that are counted. All are sampled where rows name persons, or where
    sensitive columns are dealt out each by itself.
    """
    deals: list[_Deal] = []
    if knowledge.persons is None and len(knowledge.columns_together) == 1:
        deals = _affordable_deals(knowledge, cells, chosen, limits.slots // 2)
    rest = chosen.copy()
    rest[np.array([deal.number for deal in deals], dtype=np.int64)] = False
    counted = [_list_worlds(knowledge, deals)] if deals else []
    return _concatenate(knowledge, [*counted, *_sample_worlds(knowledge, cells, rest, limits)])


def _concatenate(knowledge: AdversaryKnowledge, parts: Sequence[PossibleWorlds]) -> PossibleWorlds:
    nothing, never = np.zeros(0, dtype=np.int64), np.zeros(knowledge.classes, dtype=np.bool_)
    offsets = np.cumsum([0, *(len(part) for part in parts)]).tolist()
    worlds = [part.world + offset for part, offset in zip(parts, offsets, strict=False)]
    persons = [part.persons for part in parts if part.persons is not None]
    return PossibleWorlds(
        np.concatenate([nothing, *(part.class_of for part in parts)]),
        np.concatenate([nothing, *worlds]),
        np.concatenate([nothing, *(part.cell for part in parts)]),
        {name: np.concatenate([nothing, *(part.values[name] for part in parts)]) for name in knowledge.columns},
        None if knowledge.persons is None else np.concatenate([nothing, *persons]),
        np.any([never, *(part.counted for part in parts)], axis=0),
        np.any([never, *(part.sampled for part in parts)], axis=0),
    )


# All worlds of classes that have few


@dataclass(frozen=True, eq=False)
class _Deal:
    """One class by its number, and how its worlds are listed: which symbols are moved, and which stay in place.

    Cells are dealt out to value tuples, or value tuples to cells (`moves_values`), whichever has fewer ways. `moved`
    are the different symbols to move, `counts` how often each occurs, `fixed` the symbols that stay.
    """

    number: int
    moved: IntArray
    counts: tuple[int, ...]
    fixed: IntArray
    moves_values: bool

    @cached_property
    def ways(self) -> int:
        """The number of worlds of the class."""
        return count_arrangements(self.counts)


def _affordable_deals(knowledge: AdversaryKnowledge, cells: RowCells, chosen: BoolArray, slots: int) -> list[_Deal]:
    """Find the chosen classes with few worlds, as far as the slots go."""
    deals = []
    for deal in _cheapest_deals(knowledge, cells, chosen):
        if deal.ways <= MAX_CLASS_WORLDS:
            slots -= deal.ways * len(deal.fixed)
            if slots < 0:
                break
            deals.append(deal)
    return deals


def _cheapest_deals(knowledge: AdversaryKnowledge, cells: RowCells, chosen: BoolArray) -> Iterator[_Deal]:
    ends = np.concatenate([[0], np.cumsum(knowledge.sizes)]).tolist()
    slices = [slice(start, end) for start, end in pairwise(ends)]
    for number in np.flatnonzero(chosen & (knowledge.sizes <= _MAX_CLASS_ROWS)).tolist():
        cell, values = cells.cell_of[slices[number]], knowledge.value_tuples[slices[number]]
        by_cell = _Deal(number, *_count_symbols(cell), values, moves_values=False)
        by_values = _Deal(number, *_count_symbols(values), cell, moves_values=True)
        yield min(by_cell, by_values, key=lambda deal: deal.ways)


def _count_symbols(symbols: IntArray) -> tuple[IntArray, tuple[int, ...]]:
    """List the different symbols, the most frequent first, and how often each occurs."""
    different, counts = np.unique(symbols, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return different[order], tuple(counts[order].tolist())


def _list_worlds(knowledge: AdversaryKnowledge, deals: list[_Deal]) -> PossibleWorlds:
    """List all worlds of some classes; those with equal counts have the same arrangements, and are done together.

    lines:         int[a, m], the a arrangements of a class of m rows
    moved, fixed:  int[d, a, m], the symbols of each slot, for d classes with equal counts
    """
    kinds: dict[tuple[bool, tuple[int, ...]], list[_Deal]] = {}
    for deal in deals:
        kinds.setdefault((deal.moves_values, deal.counts), []).append(deal)
    class_of, lengths, cells, value_tuples = [], [], [], []
    for (moves_values, counts), members in kinds.items():
        lines = list_arrangements(counts)
        moved = np.stack([deal.moved for deal in members])[:, lines]
        fixed = np.broadcast_to(np.stack([deal.fixed for deal in members])[:, None, :], moved.shape)
        class_of.append(np.repeat([deal.number for deal in members], len(lines)))
        lengths.append(np.full(len(class_of[-1]), lines.shape[1]))
        cells.append((fixed if moves_values else moved).reshape(-1))
        value_tuples.append((moved if moves_values else fixed).reshape(-1))
    numbers = np.concatenate(class_of)
    first = np.unique(knowledge.value_tuples, return_index=True)[1]  # a row with each value tuple
    rows = first[np.concatenate(value_tuples)]
    counted = np.zeros(knowledge.classes, dtype=np.bool_)
    counted[numbers] = True
    return PossibleWorlds(
        numbers,
        np.repeat(np.arange(len(numbers)), np.concatenate(lengths)),
        np.concatenate(cells),
        {name: codes[rows] for name, codes in knowledge.values.items()},
        None,
        counted,
        np.zeros_like(counted),
    )


def count_arrangements(counts: tuple[int, ...]) -> int:
    """Count the different sequences of so many of each symbol.

    >>> count_arrangements((2, 1))
    3
    """
    return factorial(sum(counts)) // prod(factorial(count) for count in counts)


@lru_cache(maxsize=64)
def list_arrangements(counts: tuple[int, ...]) -> NDArray[Any]:
    """List all different sequences of so many of each symbol, a line each.

    >>> list_arrangements((2, 1)).tolist()
    [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    """
    left = sum(counts)
    lines = np.full((1, left), -1, dtype=np.int64)
    for symbol, times in enumerate(counts):
        # every way to put this symbol on the places that are still free, for every line so far
        places = np.array(list(combinations(range(left), times)), dtype=np.int64).reshape(-1, times)
        free = np.nonzero(lines < 0)[1].reshape(len(lines), left)
        chosen = free[:, places].reshape(-1, times)
        lines = np.repeat(lines, len(places), axis=0)
        np.put_along_axis(lines, chosen, symbol, axis=1)
        left -= times
    return lines


# A sample of the worlds of classes


def _sample_worlds(
    knowledge: AdversaryKnowledge, cells: RowCells, chosen: BoolArray, limits: WorldLimits
) -> Iterator[PossibleWorlds]:
    """Draw worlds of each class, of small classes more than of large ones; of some classes only where it is too much.

    The number of worlds of a class is rounded down to a power of two, so that classes can be drawn together.
    """
    if knowledge.sizes[chosen].sum() * _MIN_SAMPLE > limits.slots:
        order = limits.rng.permutation(np.flatnonzero(chosen))
        chosen = np.zeros_like(chosen)
        chosen[order[np.cumsum(knowledge.sizes[order]) * _MIN_SAMPLE <= limits.slots]] = True
    room = limits.slots // max(int(chosen.sum()), 1) // knowledge.sizes
    times = 1 << np.log2(np.clip(room, _MIN_SAMPLE, max(limits.worlds, _MIN_SAMPLE))).astype(np.int64)
    for number in np.unique(times[chosen]).tolist():
        yield _shuffle_values(knowledge, cells, chosen & (times == number), number, limits.rng)


def _shuffle_values(
    knowledge: AdversaryKnowledge, cells: RowCells, chosen: BoolArray, times: int, rng: np.random.Generator
) -> PossibleWorlds:
    """Shuffle the values within each chosen class, so many times.

    rows:   int[m], places of the rows of these classes; class_of: int[m], their classes among the chosen ones
    order:  int[times, m], the rows whose values the rows get; sorted by class, and at random within it
    """
    rows = np.flatnonzero(chosen[knowledge.class_of])
    class_of, classes = (np.cumsum(chosen) - 1)[knowledge.class_of[rows]], int(chosen.sum())
    values: dict[str, IntArray] = {}
    for names in knowledge.columns_together:
        order = rows[np.argsort(class_of + rng.random((times, len(rows))), axis=1)]
        values |= {name: knowledge.values[name][order].reshape(-1) for name in names}
    return PossibleWorlds(
        np.tile(np.flatnonzero(chosen), times),
        (np.arange(times)[:, None] * classes + class_of).reshape(-1),
        np.tile(cells.cell_of[rows], times),
        values,
        None if knowledge.persons is None else np.tile(knowledge.persons[rows], times),
        np.zeros_like(chosen),
        chosen,
    )


# Worlds of the whole table


@dataclass(frozen=True, eq=False)
class TableWorlds:
    """Worlds of the whole table: `order` is int[w, n], the places of the rows whose values the n rows have there.

    `complete` says whether these are all worlds that there are.
    """

    order: IntArray
    complete: bool

    def by_class(self, knowledge: AdversaryKnowledge, cells: RowCells) -> PossibleWorlds:
        """Take each world of the table apart into a world of each class."""
        worlds, classes = len(self.order), knowledge.classes
        every_class = np.ones(classes, dtype=np.bool_)
        return PossibleWorlds(
            np.tile(np.arange(classes), worlds),
            (np.arange(worlds)[:, None] * classes + knowledge.class_of).reshape(-1),
            np.tile(cells.cell_of, worlds),
            {name: codes[self.order].reshape(-1) for name, codes in knowledge.values.items()},
            None,
            counted=every_class if self.complete else ~every_class,
            sampled=~every_class if self.complete else every_class,
        )


def can_list_table_worlds(knowledge: AdversaryKnowledge, limits: WorldLimits) -> bool:
    """Tell whether all worlds of a table can be looked at, and all nodes of its lattice."""
    plain = knowledge.is_whole and not knowledge.requirement.limit and knowledge.persons is None
    nodes = prod(quasi.hierarchy.height + 1 for quasi in knowledge.quasi)
    few = nodes <= _MAX_NODES and len(knowledge.rows) <= _MAX_TABLE_ROWS
    if not plain or len(knowledge.columns_together) != 1 or not few:
        return False
    worlds = prod(count_arrangements(counts) for _, counts in _value_counts(knowledge))
    return worlds <= MAX_TABLE_WORLDS and worlds * len(knowledge.rows) <= limits.slots


def list_table_worlds(knowledge: AdversaryKnowledge) -> TableWorlds:
    """List all worlds of a table: every arrangement of one class with every one of the others."""
    order = np.zeros((1, 0), dtype=np.int64)
    for place, counts in _value_counts(knowledge):
        lines = place[list_arrangements(counts)]
        order = np.hstack([np.repeat(order, len(lines), axis=0), np.tile(lines, (len(order), 1))])
    return TableWorlds(order, complete=True)


def sample_table_worlds(knowledge: AdversaryKnowledge, limits: WorldLimits) -> TableWorlds:
    """Draw worlds of a table: the values of each class in a random order."""
    worlds = min(limits.worlds, max(limits.slots // len(knowledge.rows), 1))
    keys = knowledge.class_of + limits.rng.random((worlds, len(knowledge.rows)))
    return TableWorlds(np.argsort(keys, axis=1), complete=False)


def _value_counts(knowledge: AdversaryKnowledge) -> Iterator[tuple[IntArray, tuple[int, ...]]]:
    """Find for each class a row with each different value tuple, and the number of rows that have it."""
    for number in range(knowledge.classes):
        rows = np.flatnonzero(knowledge.class_of == number)
        _, first, counts = np.unique(knowledge.value_tuples[rows], return_index=True, return_counts=True)
        yield rows[first], tuple(counts.tolist())
