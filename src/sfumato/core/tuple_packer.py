"""Keys of tuples that come a batch at a time: packed apart from any rows, and counted as they come."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.core.arrays import Codes, IntArray
from sfumato.core.keys import LARGEST_SPAN, KeyCounts, PackedTuples, count_keys

_FEW_KEYS = 1 << 22
"""So many keys that were counted apart wait to be counted together."""


@dataclass(frozen=True, eq=False)
class TuplePacker:
    """How tuples are packed, apart from any rows: for rows that come a batch at a time.

    `stages` are those of `PackedTuples`, and keys are below `span`. What is packed so far is numbered densely, by the
    known keys, before a stage that would exceed a word; so all tuples have to be known up to there beforehand.

    >>> packer = TuplePacker.first_stage([2, 3])
    >>> packer.pack([np.array([0, 1, 1]), np.array([2, 0, 0])]), packer.columns
    (array([2, 3, 3]), 2)
    """

    stages: tuple[tuple[IntArray | None, tuple[int, ...]], ...]
    span: int

    @classmethod
    def first_stage(cls, widths: Sequence[int]) -> "TuplePacker":
        """Pack as many of the columns of these widths as fit into a word; `columns` tells how many did."""
        return cls((), 1).add_stage(None, widths)

    def next_stage(self, known: IntArray, widths: Sequence[int]) -> "TuplePacker":
        """Number the keys so far by the known ones (ascending), and pack as many more of the columns as fit.

        `widths` are those of all columns.
        """
        return replace(self, span=len(known)).add_stage(known, widths)

    def add_stage(self, known: IntArray | None, widths: Sequence[int]) -> "TuplePacker":
        """Pack as many more of the columns as fit behind what is packed, numbered by the known keys."""
        packed, span = [], self.span
        for width in widths[self.columns :]:
            if span * width > LARGEST_SPAN:
                break
            span *= width
            packed.append(width)
        return TuplePacker((*self.stages, (known, tuple(packed))), span)

    @property
    def columns(self) -> int:
        """How many columns it packs."""
        return sum(len(widths) for _, widths in self.stages)

    def pack(self, columns: Sequence[Codes]) -> IntArray:
        """Pack columns of codes into one key per row: int[rows]. What is not packed is not looked at."""
        keys: IntArray = np.zeros(len(columns[0]) if columns else 0, dtype=np.int64)
        place = 0
        for known, widths in self.stages:
            if known is not None:
                keys = find_sorted(known, keys)
            for codes, width in zip(columns[place : place + len(widths)], widths, strict=True):
                keys *= width
                keys += codes
            place += len(widths)
        return keys

    def packed(self, keys: IntArray) -> PackedTuples:
        """Keys that were packed so, as tuples that can be taken apart."""
        return PackedTuples(keys, self.span, self.stages)


def find_sorted(known: IntArray, keys: IntArray) -> IntArray:
    """Find the place of each key among known ones, which are ascending: int[keys]. All keys are known.

    The keys are looked up in ascending order, so that neighbours are near each other in memory.

    >>> find_sorted(np.array([2, 5, 9]), np.array([9, 2, 9]))
    array([2, 0, 2])
    """
    order = np.argsort(keys)
    places = np.empty(len(keys), dtype=np.int64)
    places[order] = np.searchsorted(known, keys.take(order))
    return places


class KeyCounter:
    """Counts keys that come a batch at a time; what it holds grows with the different keys alone.

    >>> counter = KeyCounter(span=10)
    >>> counter.add(np.array([7, 3, 7])), counter.add(np.array([3]))
    (None, None)
    >>> found = counter.counted()
    >>> found.keys.tolist(), found.counts.tolist()
    ([3, 7], [2, 2])
    """

    def __init__(self, span: int) -> None:
        self.span = span
        self._counted = KeyCounts(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        self._waiting: list[KeyCounts] = []

    def add(self, keys: IntArray) -> None:
        """Count the keys of a batch."""
        self.merge(count_keys(PackedTuples(keys, self.span, ())))

    def merge(self, counts: KeyCounts) -> None:
        """Add keys that were counted elsewhere."""
        self._waiting.append(counts)
        # so that every key is sorted again only as often as their number doubles
        if sum(len(part.keys) for part in self._waiting) > max(_FEW_KEYS, len(self._counted.keys)):
            self._unite()

    def counted(self) -> KeyCounts:
        """The different keys so far, ascending, and how often each came."""
        if self._waiting:
            self._unite()
        return self._counted

    def _unite(self) -> None:
        parts = [self._counted, *self._waiting]
        self._waiting = []
        keys, counts = (np.concatenate([getattr(part, name) for part in parts]) for name in ("keys", "counts"))
        del parts
        self._counted = KeyCounts(keys[:0], counts[:0])
        self._counted = count_keys(PackedTuples(keys, self.span, ()), counts)
