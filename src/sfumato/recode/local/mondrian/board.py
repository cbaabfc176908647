"""What Mondrian looks up, for all axes in one table: places of tuples, hulls in narrow words, children in trees."""

import numpy as np

from sfumato.core.arrays import Codes, FloatArray, IntArray
from sfumato.recode.local.axes import Tree
from sfumato.recode.local.axes.ranges import RangeAxis
from sfumato.recode.local.problem import Problem


class Board:
    """The tuples of a problem by axis, so that groups can be looked at each along an axis of its own at once."""

    def __init__(self, problem: Problem) -> None:
        self.axes, quasi = problem.axes, problem.encoded.tuples.quasi
        self.tuples = len(problem.encoded.tuples)
        self.span = max(len(axis.place) for axis in self.axes) + 1
        self.places = np.concatenate(
            [_narrow(axis.place).take(codes) for axis, codes in zip(self.axes, quasi, strict=True)]
        )
        self.words = [
            [_narrow(np.ascontiguousarray(word)).take(codes) for word in axis.single.T]
            for axis, codes in zip(self.axes, quasi, strict=True)
        ]
        self.nulls = np.array([axis.null if isinstance(axis, RangeAxis) else -1 for axis in self.axes])
        self.trees = np.array([isinstance(axis, Tree) for axis in self.axes])
        self._trees()

    def hulls(self, axis: int, of: IntArray, starts: IntArray) -> IntArray:
        """The hull of each run of lines on one axis."""
        join = self.axes[axis].join
        return np.stack([join.reduceat(word.take(of), starts) for word in self.words[axis]], axis=1, dtype=np.int64)

    def spread(self, of: IntArray, starts: IntArray) -> tuple[FloatArray, IntArray]:
        """For each axis and run of lines how wide it is, and below which level its values part (0 without levels)."""
        widths = np.empty((len(self.axes), len(starts)))
        levels = np.zeros((len(self.axes), len(starts)), dtype=np.int64)
        for place, axis in enumerate(self.axes):
            hulls = self.hulls(place, of, starts)
            widths[place] = axis.widths(hulls)
            if isinstance(axis, Tree):
                levels[place] = np.searchsorted(axis.offset, axis.nodes(hulls), side="right") - 1
        return widths, levels

    def order(self, of: IntArray) -> IntArray:
        """The rank of lines by their places on the first axis, then on the second, and so on."""
        places = self.places.reshape(len(self.axes), -1).take(of, axis=1)
        rank = np.empty(len(of), dtype=np.int64)
        rank[np.lexsort(places[::-1])] = np.arange(len(of))
        return rank

    def place(self, axis: IntArray, of: IntArray) -> Codes:
        """The place of tuples, each on an axis of its own."""
        return self.places.take(axis * self.tuples + of)

    def child(self, axis: IntArray, place: Codes, level: IntArray) -> IntArray:
        """The labels one level below, of places each in a tree of its own."""
        found: IntArray = self._labels.take(self._base.take(axis) + place * self._steps.take(axis) + (level - 1))
        return found

    def _trees(self) -> None:
        tables = [axis.sorted if isinstance(axis, Tree) else np.zeros((0, 1), dtype=np.int64) for axis in self.axes]
        self._labels = np.concatenate([table.reshape(-1) for table in tables])
        self._steps = np.array([table.shape[1] for table in tables])
        self._base = np.concatenate([[0], np.cumsum([table.size for table in tables])[:-1]])
        self.labels = max((int(table.max(initial=0)) for table in tables), default=0) + 1


def _narrow(values: IntArray) -> Codes:
    """In the smallest signed type that holds them: less to move."""
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    kinds = (np.int8, np.int16, np.int32)
    return values.astype(
        next((kind for kind in kinds if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max), np.int64)
    )
