"""Witnesses: one small class that fails tells of the whole lattice.

Where no row may be suppressed, a node is out as soon as one class is smaller than any class that passes. The size of
one tuple's class at *every* node follows from a single pass over the tuples: each tuple joins it at the nodes that lie
above the levels at which the two first agree, so counting tuples by those levels and adding up along each axis of the
lattice gives all sizes at once.
"""

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.encode import EncodedTable
from sfumato.recode.lattice import Lattice, Node

_BLOCK = 1 << 16


class Witnesses:
    """Turns classes that are too small into nodes that are out."""

    def __init__(self, encoded: EncodedTable, lattice: Lattice, least: int) -> None:
        self.tuples, self.lattice, self.least = encoded.tuples, lattice, least
        self.matrices = [attribute.hierarchy.matrix for attribute in encoded.quasi]

    def rule_out(self, node: Node, labels: tuple[int, ...]) -> BoolArray:
        """The nodes at which the class of some tuple is too small; the tuple has these labels at this node."""
        return self.sizes(self._locate(node, labels)) < self.least

    def sizes(self, witness: int) -> IntArray:
        """The size of one tuple's class at every node."""
        steps = self._steps(witness)
        counted = np.zeros(self.lattice.size)
        for start in range(0, len(self.tuples), _BLOCK):  # a block stays in the processor's cache
            part = slice(start, start + _BLOCK)
            place = sum(step.take(codes[part]) for step, codes in zip(steps, self.tuples.quasi, strict=True))
            counted += np.bincount(place, weights=self.tuples.counts[part], minlength=len(counted))
        sizes = counted.reshape(self.lattice.shape)
        for axis in range(sizes.ndim):
            sizes = sizes.cumsum(axis=axis)
        return sizes.astype(np.int64)

    def _steps(self, witness: int) -> list[IntArray]:
        """Per attribute and value, the first level at which it agrees with the witness, as a step in the lattice."""
        strides = np.cumprod((1, *self.lattice.shape[:0:-1]))[::-1]
        return [
            (matrix == matrix[codes[witness]]).argmax(axis=1) * stride
            for matrix, codes, stride in zip(self.matrices, self.tuples.quasi, strides, strict=True)
        ]

    def _locate(self, node: Node, labels: tuple[int, ...]) -> int:
        """A tuple of the class with these labels at this node."""
        rows: IntArray | None = None
        for matrix, codes, level, label in zip(self.matrices, self.tuples.quasi, node, labels, strict=True):
            under = matrix[:, level] == label
            rows = np.flatnonzero(under[codes]) if rows is None else rows[under[codes[rows]]]
        assert rows is not None  # noqa: S101 - there is at least one quasi-identifier; this tells the type checker
        return int(rows[0])
