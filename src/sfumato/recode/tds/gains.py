"""Gains that depend on what else is told: how far a specialization takes classes apart, or makes them pure.

Discernibility falls by the pairs of rows that are told apart. The conditional score is the fall of the entropy of the
class column within the classes of the table: what a column tells of it that the others have not told already. A column
that says the same as another gains nothing once the other is specialized, which the paper's gain, measured on each
column by itself, does not see.
"""

from collections.abc import Mapping

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.core.keys import count_keys, pack_tuples
from sfumato.encode import EncodedTable
from sfumato.recode.tds.axes import Split
from sfumato.recode.tds.groups import Groups, Parted
from sfumato.recode.tds.score import Score


class Gains:
    """Different rows on the quasi-identifiers and the class column, in groups by the cuts."""

    def __init__(self, encoded: EncodedTable, score: Score) -> None:
        self.score, self.all = score, encoded.rows
        columns = [(one.column.codes, one.column.width) for one in encoded.quasi]
        label = np.zeros(encoded.rows, dtype=np.int64) if score.label is None else score.label
        packed = pack_tuples(
            [*(codes for codes, _ in columns), label], [*(width for _, width in columns), score.classes]
        )
        counted = count_keys(packed)
        *leaves, self.label = packed.unpack(counted.keys)
        self.rows, self.leaves = counted.counts, dict(enumerate(leaves))
        self.groups = Groups(np.zeros(len(self.rows), dtype=np.int64), 1)

    def of(self, place: int, split: Split) -> float:
        """What a specialization gains now."""
        parted = self._parted(place, split)
        before = np.unique(parted.old, return_inverse=True)[1][parted.part]
        return max(self._mixed(before, parted.tuples) - self._mixed(parted.part, parted.tuples), 0.0)

    def commit(self, place: int, split: Split, cuts: Mapping[int, IntArray]) -> dict[int, IntArray]:
        """Do it; returns the nodes of each quasi-identifier whose groups have changed."""
        parted = self._parted(place, split)
        self.groups.commit(parted)
        return {each: np.unique(cuts[each][codes[parted.tuples]]) for each, codes in self.leaves.items()}

    def _parted(self, place: int, split: Split) -> Parted:
        child = split.which[self.leaves[place]]
        tuples = np.flatnonzero(child >= 0)
        return self.groups.parted(tuples, child[tuples], len(split.children))

    def _mixed(self, group: IntArray, tuples: IntArray) -> float:
        """What is left to tell of some tuples in these groups: pairs that are alike, or bits of the class per row."""
        size, classes = int(group.max(initial=-1)) + 1, self.score.classes
        counts = np.bincount(group * classes + self.label[tuples], self.rows[tuples], size * classes)
        table = counts.reshape(size, classes).astype(np.float64)
        rows = table.sum(axis=1)
        if self.score.kind == "discernibility":
            return float((rows**2).sum())
        return float((rows * self.score.entropy(table)).sum()) / self.all
