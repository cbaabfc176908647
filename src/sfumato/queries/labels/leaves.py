"""Leaves: for each label of a column, the values that it stands for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.arrow import arrow_texts

Leaf = str | None

WHOLE = r"-?(0|[1-9][0-9]{0,17})"
"""A whole number in its plain form, which a machine word holds: 4350 is one, 04350 and +5 are codes."""

DECIMAL = r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,17})?"
"""A number in its plain form."""


@dataclass(frozen=True, eq=False)
class Leaves:
    """What the labels of a column stand for, one after the other: `owner` has the place of each leaf's label.

    `values` is an Arrow array of whole numbers, of floating numbers or of texts. `sampled` says that it has points of
    ranges that hold more numbers than that. `unclear` is a label of which nothing says what it stands for.
    """

    owner: IntArray
    values: Any
    number: bool
    sampled: bool = False
    unclear: str | None = None

    @property
    def sizes(self) -> IntArray:
        """For each leaf, how many its label has."""
        return np.bincount(self.owner)[self.owner]

    @property
    def exact(self) -> bool:
        """Whether every label stands for one value."""
        return self.unclear is None and bool((self.sizes == 1).all())


def of_texts(found: Sequence[Sequence[Leaf]]) -> Leaves:
    """Leaves from the texts of each label: numbers, where all are.

    >>> of_texts([["37"], ["38", "39", None]]).values.to_pylist(), of_texts([["04350"]]).number
    ([37, 38, 39, None], False)
    """
    owner = _owners([len(leaves) for leaves in found])
    flat = [leaf for leaves in found for leaf in leaves]
    kind = _kind(flat)
    if kind is None:
        return Leaves(owner, arrow_texts(flat), number=False)
    missing = np.array([leaf is None for leaf in flat], dtype=bool)
    typed = np.array(["0" if leaf is None else leaf for leaf in flat], dtype=np.str_).astype(kind)
    return Leaves(owner, _nullable(typed, missing), number=True)


def of_numbers(found: Sequence[NDArray[Any] | None], *, sampled: bool = False) -> Leaves:
    """Leaves from the numbers of each label; none where the label is NULL.

    >>> of_numbers([np.array([35, 36]), None]).values.to_pylist()
    [35, 36, None]
    """
    owner = _owners([1 if leaves is None else len(leaves) for leaves in found])
    flat = [np.zeros(1, dtype=np.int64) if leaves is None else leaves for leaves in found]
    missing = np.array([leaves is None for leaves in found], dtype=bool)[owner]
    return Leaves(owner, _nullable(np.concatenate(flat), missing), number=True, sampled=sampled)


def _owners(counts: Sequence[int]) -> IntArray:
    return np.repeat(np.arange(len(counts), dtype=np.int64), np.array(counts, dtype=np.int64))


def _kind(flat: Sequence[Leaf]) -> type[Any] | None:
    """The type of numbers that all texts are, or none."""
    known = {leaf for leaf in flat if leaf is not None}
    for form, kind in ((WHOLE, np.int64), (DECIMAL, np.float64)):
        if known and all(re.fullmatch(form, leaf) for leaf in known):
            return kind
    return None


def _nullable(values: NDArray[Any], missing: BoolArray) -> Any:
    """Numbers as an Arrow array, NULL where they are missing."""
    packed, valid = np.ascontiguousarray(values), np.packbits(~missing, bitorder="little")
    buffers = [pa.py_buffer(valid) if missing.any() else None, pa.py_buffer(packed)]
    return pa.Array.from_buffers(pa.from_numpy_dtype(packed.dtype), len(packed), buffers)
