"""Groups: which tuples stand together, as their columns are specialized; only what is split is numbered anew."""

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.core.arrays import IntArray
from sfumato.core.keys import number_tuples, pack_tuples

Kind = TypeVar("Kind", np.int64, np.float64)


class Parted(NamedTuple):
    """Tuples whose groups are parted: the tuples, the number of the part of each, and the old group of each part."""

    tuples: IntArray
    part: IntArray
    old: IntArray


class Groups:
    """The group of each tuple, numbered without gaps."""

    def __init__(self, of: IntArray, count: int) -> None:
        self.of, self.count = of.copy(), count

    def parted(self, tuples: IntArray, child: IntArray, children: int) -> Parted:
        """Some tuples, parted by their groups and a number each."""
        packed = pack_tuples([self.of[tuples], child], [self.count, max(children, 1)])
        part, parts = number_tuples(packed)
        keys = np.empty(parts, dtype=np.int64)
        keys[part] = packed.keys
        return Parted(tuples, part, packed.unpack(keys)[0])

    def commit(self, parted: Parted) -> IntArray:
        """Part them for good: the first part of a group keeps its number. Returns the number of each part."""
        first = np.concatenate(([True], parted.old[1:] != parted.old[:-1]))
        numbers = np.where(first, parted.old, self.count - 1 + np.cumsum(~first))
        self.of[parted.tuples] = numbers[parted.part]
        self.count += int((~first).sum())
        return numbers


def renewed(values: NDArray[Kind], numbers: IntArray, new: NDArray[Kind], count: int) -> NDArray[Kind]:
    """Figures by group after some were parted: those of the parts in their places, the others as they were."""
    grown: NDArray[Kind] = np.concatenate([values, np.zeros(count - len(values), dtype=values.dtype)])
    grown[numbers] = new
    return grown
