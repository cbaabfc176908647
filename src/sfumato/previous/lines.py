"""Lines: what the current table has to say on one requirement, in any state of its specialization."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.keys import count_keys, pack_tuples


@dataclass(frozen=True, eq=False, repr=False)
class Lines:
    """Different lines of a value on x, a group of records that match alike, and a value on y; with their records.

    Values and groups are numbered from 0 to `xs` and `groups`; `ys` is how many values on y there are.
    """

    x: IntArray
    group: IntArray
    y: IntArray
    rows: IntArray
    xs: int
    groups: int
    ys: int

    @classmethod
    def counted(cls, x: IntArray, group: IntArray, y: IntArray, rows: IntArray, sizes: tuple[int, int, int]) -> "Lines":
        """From lines in any order, equal ones added up; `sizes` are those of x, group and y."""
        packed = pack_tuples([x, group, y], sizes)
        found = count_keys(packed, rows)
        first, second, third = packed.unpack(found.keys)
        return cls(first, second, third, found.counts, *sizes)


class Judged(NamedTuple):
    """For each value on x whether it passes, and its figure: the fewest different values on y, or the largest share."""

    passes: BoolArray
    figure: FloatArray


def own_group(lines: Lines) -> IntArray:
    """The group of each value on x, where it has one."""
    group = np.zeros(lines.xs, dtype=np.int64)
    group[lines.x] = lines.group
    return group
