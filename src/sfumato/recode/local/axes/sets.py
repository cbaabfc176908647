"""The axis of a column of sets: a hull is the set of values that occur, as bits, published as ``{Bern, Thun}``."""

import numpy as np

from sfumato.core.arrays import Codes, FloatArray, IntArray
from sfumato.encode import QuasiIdentifier
from sfumato.errors import HierarchyError
from sfumato.hierarchy.hierarchy import ROOT, Label
from sfumato.hierarchy.open_ended import sort_members, write_member, write_members, write_single
from sfumato.recode.local.axes.axis import Axis, Shown

_WORD = 63
"""Bits of a word that are used, the sign's apart."""

_MOST = 64 * _WORD
"""Values of a column at most: a hull has a bit for each."""

_CELLS = 1 << 22
"""So many bits are looked at at a time when labels are written."""


class SetAxis(Axis):
    """A column of sets. What a set costs is (members - 1) / (values - 1).

    All values that are published, together, are ``*``, which says the same and is shorter. Bits are in the order of
    texts; places are in the order of frequency, the most frequent first, so that a cut at the median parts one or a
    few frequent values from the many rare ones, which makes small sets of most rows.
    """

    join = np.bitwise_or

    def __init__(self, attribute: QuasiIdentifier, share: float) -> None:
        super().__init__(attribute)
        values = attribute.hierarchy.labels[0]
        self.values = sort_members(values)
        _check_width(attribute.name, len(values))
        bit = {value: i for i, value in enumerate(self.values)}
        bits = np.array([bit[value] for value in values], dtype=np.int64)
        self.single = np.zeros((len(bits), max(-(-len(bits) // _WORD), 1)), dtype=np.int64)
        self.single[np.arange(len(bits)), bits // _WORD] = np.left_shift(1, bits % _WORD)
        self._width = np.arange(-1, len(bits)) / max(len(bits) - 1, 1)
        self._cost = share * self._width
        self.place = np.empty(len(bits), dtype=np.int64)
        self.place[np.lexsort([bits, -attribute.frequencies])] = np.arange(len(bits))

    def cells(self, hulls: IntArray) -> FloatArray:
        """By members."""
        return self._cost.take(_members(hulls))

    def widths(self, hulls: IntArray) -> FloatArray:
        """The share of the other values that a set has besides one."""
        return self._width.take(_members(hulls))

    def show(self, hulls: IntArray) -> Shown:
        """The sets that are in use, and their texts."""
        used, codes = _distinct(hulls)
        everything = (used == np.bitwise_or.reduce(used, axis=0)).all(axis=1) & (self.widths(used) > 0)
        loss = np.where(everything, 1.0, self.widths(used))
        texts = [ROOT if every else text for every, text in zip(everything, self._texts(used), strict=True)]
        return Shown(codes, tuple(texts), loss, loss)

    def _texts(self, hulls: IntArray) -> list[Label]:
        tokens, texts = [write_member(value) for value in self.values], []
        for block in np.array_split(hulls, max(len(hulls) * len(tokens) // _CELLS, 1)):
            owner, found = np.nonzero(_bits(block, len(tokens)))
            ends = np.cumsum(np.bincount(owner, minlength=len(block))).tolist()
            places = found.tolist()
            texts += [self._text(places[a:b], tokens) for a, b in zip([0, *ends], ends, strict=False)]
        return texts

    def _text(self, members: list[int], tokens: list[str]) -> Label:
        if len(members) == 1:
            return write_single(self.values[members[0]])
        return write_members([tokens[i] for i in members])


def _members(hulls: IntArray) -> Codes:
    """How many members each set has."""
    found = np.bitwise_count(hulls)
    return found[..., 0] if hulls.shape[-1] == 1 else found.sum(axis=-1, dtype=np.int64)


def _bits(hulls: IntArray, width: int) -> IntArray:
    """A line per hull, a column per value: 1 where it is a member."""
    place = np.arange(width)
    found: IntArray = (hulls[:, place // _WORD] >> (place % _WORD)) & 1
    return found


def _distinct(hulls: IntArray) -> tuple[IntArray, IntArray]:
    if hulls.shape[1] == 1:
        used, codes = np.unique(hulls[:, 0], return_inverse=True)
        return used[:, None], codes
    used, codes = np.unique(hulls, axis=0, return_inverse=True)
    return used, codes.reshape(-1)


def _check_width(column: str, width: int) -> None:
    if width > _MOST:
        raise HierarchyError(
            f"column {column!r}: {width:,} different values, and sets are of at most {_MOST:,}; "
            "give it a hierarchy file, a mask or intervals"
        )
