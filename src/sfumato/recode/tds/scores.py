"""What a specialization gains: InfoGain of Wang and Fung 2006, section 5.2, and two gains of our own.

Classification (equation 2) and distortion (equation 3) are known from one column and the class column alone, whatever
else is specialized. Discernibility and the conditional score are known from the classes of the table, and change as
others are specialized; `TableGains` keeps count of them. For a range, `Score.cut_gains` says which cut has most of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import Codes, FloatArray, IntArray, count_codes
from sfumato.core.keys import count_keys, pack_tuples
from sfumato.encode import EncodedTable, QuasiIdentifier
from sfumato.policy.options import CLASSIFYING
from sfumato.recode.tds.refinement import Specialization, TupleGroups, touched_nodes


@dataclass(frozen=True, eq=False, repr=False)
class Score:
    """How specializations are scored: by `kind`, with the class of each row, int[rows], where it is classification.

    Where lines are counted, it is the class of each line, and `rows` are the rows of each.

    >>> bits = Score.entropy(np.array([[1, 1], [2, 0]]))
    >>> bits.tolist()
    [1.0, 0.0]
    """

    kind: str
    label: IntArray | None = None
    classes: int = 1
    rows: IntArray | None = None

    def gain(self, above: FloatArray, below: FloatArray, steps: IntArray) -> float:
        """Measure the gain of specializing a label into m others, given the class counts of each.

        above float[classes], below float[m, classes], steps int[m] how many levels below each is.
        """
        rows = below.sum(axis=1)
        if self.kind not in CLASSIFYING:
            return float((rows * steps).sum())
        rest = float((rows * self.entropy(below)).sum()) / max(float(above.sum()), 1.0)
        return max(float(self.entropy(above[None])[0]) - rest, 0.0)

    def cut_gains(
        self, counts: FloatArray, run: tuple[int, int], cuts: IntArray, widths: Sequence[FloatArray]
    ) -> FloatArray:
        """Measure the gain of cutting a run of places behind each of m places: float[m].

        counts float[places, classes], run its first and last place, cuts int[m]; `widths` are those of the whole and of
        the two halves, each float[m].
        """
        first, last = run
        sums = np.concatenate([np.zeros((1, counts.shape[1])), counts[first : last + 1].cumsum(axis=0)])
        left = sums[cuts - first + 1]
        right = sums[-1] - left
        rows, halves = sums[-1].sum(), (left.sum(axis=1), right.sum(axis=1))
        gain: FloatArray = rows**2 - halves[0] ** 2 - halves[1] ** 2
        if self.kind in CLASSIFYING:
            rest = halves[0] * self.entropy(left) + halves[1] * self.entropy(right)
            gain = self.entropy(sums[-1:])[0] - rest / max(rows, 1.0)
        if self.kind == "distortion":
            gain = rows * widths[0] - halves[0] * widths[1] - halves[1] * widths[2]
        return gain

    @staticmethod
    def entropy(counts: FloatArray) -> FloatArray:
        """Measure the entropy of each line of class counts, in bits: float[m, classes] to float[m]."""
        total = np.maximum(counts.sum(axis=1, keepdims=True), 1)
        share = counts / total
        bits: FloatArray = -(share * np.log2(np.where(share > 0, share, 1))).sum(axis=1) + 0.0
        return bits

    def count_classes(self, attribute: QuasiIdentifier, place: Codes, places: int) -> FloatArray:
        """Count the rows of each class at each place, float[places, classes], given the place of each value.

        There is one class where there is none to tell.
        """
        if self.label is None:
            return np.bincount(place, attribute.frequencies, places).astype(np.float64)[:, None]
        key = place.astype(np.int64)[attribute.column.codes] * self.classes + self.label
        counts = count_codes(key, places * self.classes, self.rows)
        return counts.reshape(places, self.classes).astype(np.float64)


class TableGains:
    """Gains that depend on what else is published: how far a specialization takes classes apart, or makes them pure.

    Discernibility falls by the pairs of rows that are told apart. The conditional score is the fall of the entropy of
    the class column within the classes of the table: what a column tells of it that the others have not told already. A
    column that says the same as another gains nothing once the other is specialized, which the paper's gain, that of
    the rows under one label, does not see; its score divides it by what privacy is lost over all columns.

    Holds the different rows on the quasi-identifiers and the class column, in groups by the cuts.
    """

    def __init__(self, encoded: EncodedTable, score: Score) -> None:
        self.score, self.table_rows = score, encoded.rows
        columns = [(attribute.column.codes, attribute.column.width) for attribute in encoded.quasi]
        label = np.zeros(encoded.lines, dtype=np.int64) if score.label is None else score.label
        packed = pack_tuples(
            [*(codes for codes, _ in columns), label], [*(width for _, width in columns), score.classes]
        )
        counted = count_keys(packed, encoded.counts)
        *leaves, self.label = packed.unpack(counted.keys)
        self.rows, self.leaves = counted.counts, dict(enumerate(leaves))
        self.groups = TupleGroups(np.zeros(len(self.rows), dtype=np.int64), 1)

    def gain(self, number: int, specialization: Specialization) -> float:
        """Measure what a specialization of a quasi-identifier, given by number, gains now."""
        refinement = self.groups.refine_by(specialization, self.leaves[number])
        before = np.unique(refinement.parent, return_inverse=True)[1][refinement.part]
        tuples = refinement.tuples
        return max(self._left_to_tell(before, tuples) - self._left_to_tell(refinement.part, tuples), 0.0)

    def apply(self, number: int, specialization: Specialization, cuts: Mapping[int, IntArray]) -> dict[int, IntArray]:
        """Carry a specialization out; returns the nodes of each quasi-identifier whose groups have changed."""
        refinement = self.groups.refine_by(specialization, self.leaves[number])
        self.groups.apply(refinement)
        return touched_nodes(refinement.tuples, self.leaves, cuts)

    def _left_to_tell(self, group: IntArray, tuples: IntArray) -> float:
        """Measure what is left to tell of tuples int[m] in groups int[m]: pairs that are alike, or bits per row."""
        groups, classes = int(group.max(initial=-1)) + 1, self.score.classes
        counts = np.bincount(group * classes + self.label[tuples], self.rows[tuples], groups * classes)
        table = counts.reshape(groups, classes).astype(np.float64)
        rows = table.sum(axis=1)
        if self.score.kind == "discernibility":
            return float((rows**2).sum())
        return float((rows * self.score.entropy(table)).sum()) / self.table_rows
