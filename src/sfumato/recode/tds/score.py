"""What a specialization gains: of a class to be told apart, of distortion, or of discernibility.

Distortion and the paper's classification are known from one column and the class alone, whatever else is specialized.
Discernibility and the conditional score are known from the classes of the table (`gains`); here is only which cut of a
range has most of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import Codes, FloatArray, IntArray
from sfumato.encode import QuasiIdentifier
from sfumato.policy.options import CLASSIFYING


@dataclass(frozen=True, eq=False, repr=False)
class Score:
    """How specializations are scored: by `kind`, with the class of each row where it is classification.

    >>> bits = Score.entropy(np.array([[1, 1], [2, 0]]))
    >>> bits.tolist()
    [1.0, 0.0]
    """

    kind: str
    label: IntArray | None = None
    classes: int = 1

    def gain(self, above: FloatArray, below: FloatArray, steps: IntArray) -> float:
        """The gain of specializing a label into others, given the class counts of each and how far below they stand."""
        rows = below.sum(axis=1)
        if self.kind not in CLASSIFYING:
            return float((rows * steps).sum())
        rest = float((rows * self.entropy(below)).sum()) / max(float(above.sum()), 1.0)
        return max(float(self.entropy(above[None])[0]) - rest, 0.0)

    def of_cuts(
        self, counts: FloatArray, run: tuple[int, int], cuts: IntArray, widths: Sequence[FloatArray]
    ) -> FloatArray:
        """The gain of cutting a run of places behind each of some; `widths` are those of the whole and the halves."""
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
        """The entropy of each line of class counts, in bits."""
        total = np.maximum(counts.sum(axis=1, keepdims=True), 1)
        share = counts / total
        bits: FloatArray = -(share * np.log2(np.where(share > 0, share, 1))).sum(axis=1) + 0.0
        return bits

    def counts(self, attribute: QuasiIdentifier, place: Codes, places: int) -> FloatArray:
        """Rows of each class at each place, given the place of each value; one class where there is none to tell."""
        if self.label is None:
            return np.bincount(place, attribute.frequencies, places).astype(np.float64)[:, None]
        key = place.astype(np.int64)[attribute.column.codes] * self.classes + self.label
        return np.bincount(key, minlength=places * self.classes).reshape(places, self.classes).astype(np.float64)
