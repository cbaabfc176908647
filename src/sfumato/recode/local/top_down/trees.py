"""Trees: the hierarchies of all quasi-identifiers as one table of numbers, for specializing all groups at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import Codes, IntArray
from sfumato.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class Trees:
    """Leaves are numbered by their `places` in depth-first order, so that every label covers a run of places.

    `rank` holds, for an attribute, a level and a place, the number of the label there, counted along the places; it
    is flat: the line of an attribute's level begins at ``row(attribute, level)``. Children of a label are
    neighbours, so those of a group are numbered by taking off the first.

    >>> from sfumato.hierarchy.hierarchy import build
    >>> trees = Trees.of([build([["4351", "4362", "4352"], ["435*", "436*", "435*"]])])
    >>> trees.places[0].tolist(), trees.rank[trees.row(0, 1) :].tolist()
    ([0, 2, 1], [0, 0, 1, 0, 0, 0])
    """

    rank: IntArray
    offset: IntArray
    width: IntArray
    height: IntArray
    places: tuple[IntArray, ...]

    @classmethod
    def of(cls, hierarchies: Sequence[Hierarchy]) -> "Trees":
        """From bound hierarchies."""
        orders = [np.lexsort(one.matrix.T) for one in hierarchies]
        ranks = [_ranks(one.matrix[order]) for one, order in zip(hierarchies, orders, strict=True)]
        return cls(
            np.concatenate([np.zeros(0, dtype=np.int64), *ranks]),
            np.cumsum([0, *map(len, ranks)])[:-1],
            np.array([len(order) for order in orders], dtype=np.int64),
            np.array([one.height for one in hierarchies], dtype=np.int64),
            tuple(np.argsort(order) for order in orders),
        )

    def row(self, attribute: IntArray | int, level: IntArray | int) -> IntArray:
        """Where the labels of an attribute's level begin in `rank`."""
        begin: IntArray = self.offset[attribute] + level * self.width[attribute]
        return begin

    def placed(self, quasi: Sequence[Codes]) -> Codes:
        """Tuples as places, a line per tuple and a column per attribute, in the narrowest type for all."""
        kind = np.min_scalar_type(int(self.width.max(initial=1)) - 1)
        found = np.empty((len(quasi[0]), len(quasi)), dtype=kind)
        for column, (codes, place) in enumerate(zip(quasi, self.places, strict=True)):
            found[:, column] = place.astype(kind).take(codes)
        return found

    def levels(self, first: IntArray, last: IntArray) -> IntArray:
        """The lowest level at which two places, and so all between, have one label; a line per attribute."""
        lines = np.arange(len(self.height))[:, None]
        found = np.broadcast_to(self.height[:, None], first.shape)
        for level in reversed(range(int(self.height.max(initial=0)))):
            row = self.row(lines, np.minimum(level, self.height)[:, None])
            same = self.rank.take(row + first) == self.rank.take(row + last)
            found = np.where(same, np.minimum(level, found), found)
        return found


def _ranks(ordered: Codes) -> IntArray:
    """For each level, the number of each place's label."""
    changes = np.cumsum(ordered[1:] != ordered[:-1], axis=0)
    return np.vstack([np.zeros((1, ordered.shape[1]), dtype=np.int64), changes]).T.ravel()
