"""Sets of columns, one column after the other: all sets where they are few, else the beginnings of random orders."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import comb
from typing import Any, ClassVar, Protocol

import numpy as np

from sfumato.attack.known.found import Point
from sfumato.core.arrays import IntArray

Progress = Callable[[int, int], None]


class Engine(Protocol):
    """Something that knows which rows fit what is known of targets, one value after the other."""

    lasting: ClassVar[bool]
    """Whether a target who is the only match stays one when more is known: so it is where its row is in the table."""

    @property
    def targets(self) -> IntArray:
        """How many targets each count is about."""
        ...

    @property
    def cost(self) -> int:
        """What one step costs."""
        ...

    def start(self) -> Any:
        """The state where nothing is known."""
        ...

    def narrowed(self, state: Any, place: int) -> Any:
        """The state where a value of one more column is known."""
        ...

    def matches(self, state: Any) -> IntArray:
        """How many rows fit."""
        ...


@dataclass(frozen=True)
class Effort:
    """How much is tried: at most so many `targets`, `sets` of columns one by one, or else `orders` of all columns.

    Both stop where `work` is reached. The seed decides on targets and orders; it protects nothing.
    """

    targets: int | None = None
    sets: int = 1_024
    orders: int = 64
    work: int = 1 << 26
    seed: int = 1


@dataclass(eq=False)
class Tally:
    """Shares of targets by the number of known values, summed over sets of columns."""

    weights: IntArray
    sums: dict[int, Any] = field(default_factory=dict)
    sets: dict[int, int] = field(default_factory=dict)

    def add(self, known: int, matches: IntArray) -> bool:
        """Count a set of so many columns; whether every target is the only match."""
        weights, some = self.weights, matches > 0
        chances = np.divide(1.0, matches, out=np.zeros(len(matches)), where=some)
        shares = np.array([weights[matches == 1].sum(), (weights * chances).sum(), weights[~some].sum()])
        self.sums[known] = self.sums.get(known, 0.0) + shares / weights.sum()
        self.sets[known] = self.sets.get(known, 0) + 1
        return bool((matches[weights > 0] == 1).all())

    def points(self) -> tuple[Point, ...]:
        """The averages over sets of columns."""
        found = []
        for known, sets in sorted(self.sets.items()):
            only, chance, none = (self.sums[known] / sets).tolist()
            found.append(Point(known, only, chance, none, sets))
        return tuple(found)


def walk(
    engine: Engine, places: Sequence[int], most: int, *, effort: Effort, progress: Progress | None = None
) -> tuple[tuple[Point, ...], bool]:
    """Success over the number of known values up to `most`, and whether all sets of columns were tried."""
    tally, most = Tally(engine.targets), min(most, len(places))
    sets = sum(comb(len(places), known) for known in range(1, most + 1))
    if sets <= effort.sets and sets * engine.cost <= effort.work:
        _all(engine, places, most, tally)
        return tally.points(), True
    orders = int(np.clip(effort.work // (engine.cost * most), 4, effort.orders))
    rng = np.random.default_rng(effort.seed)
    for done in range(orders):
        _order(engine, rng.permutation(places)[:most].tolist(), tally)
        if progress is not None:
            progress(done + 1, orders)
    return tally.points(), False


def _all(engine: Engine, places: Sequence[int], most: int, tally: Tally) -> None:
    """Every set once: each is parted by a column that comes after all of its own."""
    start = engine.start()
    waiting = [(start, place, 1) for place in range(len(places))]
    while waiting:
        before, place, known = waiting.pop()
        state = engine.narrowed(before, places[place])
        tally.add(known, engine.matches(state))
        if known < most:
            waiting += [(state, after, known + 1) for after in range(place + 1, len(places))]


def _order(engine: Engine, places: Sequence[int], tally: Tally) -> None:
    """The first, the first two, ... of some columns; once every target is the only match, so it stays."""
    state, alone = engine.start(), False
    found: IntArray = np.ones(len(engine.targets), dtype=np.int64)
    for known, place in enumerate(places, start=1):
        if not alone:
            state = engine.narrowed(state, place)
            found = engine.matches(state)
        alone = tally.add(known, found) and engine.lasting
