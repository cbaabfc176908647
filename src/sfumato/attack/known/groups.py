"""Rows of a raw table that agree in known values: groups, parted by one column after the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from sfumato.core.arrays import IntArray, narrow_codes
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.encode import CodedColumn


class Grouping(NamedTuple):
    """The group of each different row, and how many groups there are."""

    class_of: IntArray
    groups: int


@dataclass(frozen=True, eq=False)
class Groups:
    """Different rows, the number of rows that each stands for, and how many of these are targets."""

    columns: tuple[tuple[IntArray, int], ...]
    rows: IntArray
    targets: IntArray

    lasting: ClassVar[bool] = True

    @classmethod
    def of(cls, columns: Sequence[CodedColumn], targets: IntArray) -> "Groups":
        """From a table and the rows that are targets."""
        packed = pack_tuples([one.codes for one in columns], [one.width for one in columns])
        _, first, place, rows = np.unique(packed.keys, return_index=True, return_inverse=True, return_counts=True)
        different = tuple((narrow_codes(one.codes[first], one.width), one.width) for one in columns)
        return cls(different, rows, np.bincount(place[targets], minlength=len(rows)))

    @property
    def cost(self) -> int:
        """What parting once costs."""
        return len(self.rows)

    def start(self) -> Grouping:
        """Nothing is known: all rows are one group."""
        return Grouping(np.zeros(len(self.rows), dtype=np.int64), 1)

    def narrowed(self, state: Grouping, place: int) -> Grouping:
        """One more value is known."""
        codes, width = self.columns[place]
        return Grouping(*number_tuples(pack_tuples([state.class_of, codes], [state.groups, width])))

    def matches(self, state: Grouping) -> IntArray:
        """How many rows fit what is known of each different row."""
        held = np.bincount(state.class_of, weights=self.rows, minlength=state.groups).astype(np.int64)
        return held[state.class_of]
