"""Groups: the active groups of a top-down search, each a run of lines, and their branches."""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import Codes, FloatArray, IntArray
from sfumato.core.segments import run_starts
from sfumato.recode.local.top_down.trees import Trees

Value = TypeVar("Value", np.int64, np.bool_)

_SPARSE = 8
"""Branches are numbered anew where there are so many times more of them than lines."""


@dataclass(frozen=True, eq=False)
class Branches:
    """Where lines go when groups specialize: a branch per line; those of a group are a run that begins at `base`."""

    of: IntArray
    base: IntArray

    def __len__(self) -> int:
        return int(self.base[-1])

    @cached_property
    def owner(self) -> IntArray:
        """The group of each branch."""
        return np.repeat(np.arange(len(self.base) - 1), np.diff(self.base))

    def sums(self, amounts: FloatArray) -> FloatArray:
        """The sum over the lines of each branch."""
        return np.asarray(np.bincount(self.of, weights=amounts, minlength=len(self)), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Groups:
    """Lines of active groups, sorted by group: `rows` rows of the tuple `of`, at the `places` of its values.

    `starts` is where each group begins, and where the last ends. Per attribute and group, `first` and `last` are the
    ends of the places in it, and `level` the lowest level at which all its rows have one label. Steps with a single
    branch are thus taken at once: they specialize all rows with the fewest branches, so both criteria put them first.
    """

    trees: Trees
    of: IntArray
    rows: FloatArray
    places: Codes
    starts: IntArray
    first: IntArray
    last: IntArray
    level: IntArray

    def __len__(self) -> int:
        return len(self.starts) - 1

    @classmethod
    def run(cls, trees: Trees, lines: tuple[IntArray, FloatArray, Codes], starts: IntArray) -> "Groups":
        """Groups from tuples, rows and places that are sorted by group; none is empty."""
        of, rows, places = lines
        first, last = (_ends(join, places, starts[:-1]) for join in (np.minimum, np.maximum))
        return cls(trees, of, rows, places, starts, first, last, trees.levels(first, last))

    @cached_property
    def lengths(self) -> IntArray:
        """Lines of each group."""
        return np.diff(self.starts)

    @cached_property
    def sizes(self) -> FloatArray:
        """Rows of each group."""
        return self.sums(self.rows)

    @cached_property
    def number(self) -> IntArray:
        """The group of each line."""
        return self.spread(np.arange(len(self)))

    def sums(self, amounts: FloatArray) -> FloatArray:
        """The sum over the lines of each group."""
        return np.add.reduceat(amounts, self.starts[:-1]) if len(self) else np.zeros(0)

    def spread(self, values: NDArray[Value]) -> NDArray[Value]:
        """A value per group, to the lines of the groups."""
        return np.repeat(values, self.lengths)

    def lines(self, chosen: IntArray) -> IntArray:
        """The lines of some groups, group by group."""
        lengths = self.lengths[chosen]
        begins = np.cumsum(lengths) - lengths
        lines: IntArray = np.arange(lengths.sum()) + np.repeat(self.starts[chosen] - begins, lengths)
        return lines

    def only(self, chosen: IntArray) -> "Groups":
        """Some of the groups, in the order given."""
        if len(chosen) == len(self):
            return self
        lines, starts = self.lines(chosen), np.concatenate([[0], np.cumsum(self.lengths[chosen])])
        ends = (ends.take(chosen, axis=1) for ends in (self.first, self.last, self.level))
        kept = (self.of.take(lines), self.rows.take(lines), self.places.take(lines, axis=0))
        return Groups(self.trees, *kept, starts, *ends)

    def regrouped(self, lines: IntArray, owner: IntArray, rows: FloatArray) -> "Groups":
        """Some rows of some lines in other groups; the lines are given sorted by the number of their owner."""
        begins = run_starts(owner) if len(owner) else owner
        kept = (self.of.take(lines), rows, self.places.take(lines, axis=0))
        return Groups.run(self.trees, kept, np.concatenate([begins, [len(lines)]]))

    def at(self, attribute: IntArray | int, level: IntArray) -> Branches:
        """The branches with each group at a level, given per group, of an attribute, given per group or for all."""
        row, group = self.trees.row(attribute, level), np.arange(len(self))
        low = self.trees.rank.take(row + self.first[attribute, group])
        high = self.trees.rank.take(row + self.last[attribute, group])
        base = np.concatenate([[0], np.cumsum(high - low + 1)])
        place = self._column(attribute) + self.spread(row)
        branch = self.trees.rank.take(place, out=place)
        branch += self.spread(base[:-1] - low)
        return _numbered(Branches(branch, base))

    def below(self, attribute: IntArray | int) -> Branches:
        """The branches one level down."""
        return self.at(attribute, np.maximum(self.level[attribute, np.arange(len(self))] - 1, 0))

    def _column(self, attribute: IntArray | int) -> Codes:
        """The place of each line in the attribute of its group."""
        if isinstance(attribute, int):
            return self.places[:, attribute]
        columns = self.places.shape[1]
        return self.places.ravel().take(self.spread(attribute) + np.arange(0, columns * len(self.of), columns))


def _ends(join: np.ufunc, places: Codes, starts: IntArray) -> IntArray:
    """The least or largest place of each group, a line per attribute."""
    return np.stack([join.reduceat(column, starts) for column in places.T]).astype(np.int64)


def _numbered(branches: Branches) -> Branches:
    """Branches that hold no line are left out where they are many."""
    if len(branches) <= _SPARSE * len(branches.of) + 1024:
        return branches
    known, of = np.unique(branches.of, return_inverse=True)
    return Branches(of, np.searchsorted(known, branches.base))
