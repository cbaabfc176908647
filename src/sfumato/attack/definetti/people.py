"""Whom the attack is tried on: profiles, the cells they stand in, and which of them guesses are made about."""

from dataclasses import dataclass, replace

import numpy as np

from sfumato.attack.definetti.bins import binned
from sfumato.attack.definetti.sample import Limits, cells_of, lines_of, scrambled
from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.keys import pack_tuples
from sfumato.core.segments import sum_by_group
from sfumato.split import TwoTables

_FEW = 100
"""Fewer profiles than these say nothing of an accuracy."""


@dataclass(frozen=True, eq=False)
class People:
    """Cells: lines of one profile in one class.

    A profile is a combination of quasi-identifiers: whoever shares it cannot be told apart by the adversary. Of each
    cell its `profile`, its class in `owner`, its `lines`. Of each profile its `codes`, the same as the learner sees
    them in `known` (in bins where a column has many values, as many as `bins` says), and whether it is `guessed` about.
    """

    profile: IntArray
    class_of: IntArray
    lines: FloatArray
    codes: tuple[IntArray, ...]
    known: tuple[IntArray, ...]
    bins: tuple[int, ...]
    guessed: BoolArray

    @property
    def weight(self) -> FloatArray:
        """Lines of each profile; none where it is not guessed about."""
        return sum_by_group(self.profile, self.lines, len(self.guessed)) * self.guessed

    def only(self, chosen: BoolArray) -> "People":
        """Those whose class is chosen."""
        kept = chosen[self.class_of]
        return replace(self, profile=self.profile[kept], class_of=self.class_of[kept], lines=self.lines[kept])


def people(tables: TwoTables, limits: Limits, rng: np.random.Generator) -> People:
    """The people of two tables, or a sample of them."""
    order = scrambled(
        pack_tuples([each.codes for each in tables.quasi], [each.width for each in tables.quasi]).keys, rng
    )
    classes = lines_of(order, tables.class_of, tables.sizes)
    some = np.flatnonzero(classes.kept[tables.class_of])
    first, profile = np.unique(order[some], return_inverse=True)
    width = max(len(first), 1)
    keys, line, lines = np.unique(tables.class_of[some] * width + profile, return_index=True, return_counts=True)
    owner, profile = np.divmod(keys, width)
    cells = cells_of(profile, owner, limits)
    reached = min(cells.reached, int(np.searchsorted(first, classes.reached)))
    chosen = np.flatnonzero(cells.kept)
    numbers, place, own = np.unique(profile[chosen], return_index=True, return_inverse=True)
    seen = tuple(each.codes.take(some[line[chosen[place]]]).astype(np.int64) for each in tables.quasi)
    known, bins = _binned(tables, seen, limits.values)
    return People(own, owner[chosen], lines[chosen].astype(np.float64), seen, known, bins, _guessed(numbers, reached))


def _binned(tables: TwoTables, seen: tuple[IntArray, ...], values: int) -> tuple[tuple[IntArray, ...], tuple[int, ...]]:
    """Each column as the learner sees it, and of how many bins."""
    found = [binned(each.texts, codes, values * len(seen)) for each, codes in zip(tables.quasi, seen, strict=True)]
    known = tuple(bin_of.take(codes) for (bin_of, _), codes in zip(found, seen, strict=True))
    return known, tuple(width for _, width in found)


def _guessed(profiles: IntArray, reached: int) -> BoolArray:
    """Those of whom all classes are looked at; all, where they would be too few to say anything."""
    guessed: BoolArray = profiles < reached
    return guessed if guessed.sum() >= _FEW else np.ones(len(profiles), dtype=np.bool_)
