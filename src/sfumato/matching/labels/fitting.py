"""Fitting: for labels of one column, which labels of another have a value in common with them."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.hierarchy.base import ROOT, Label
from sfumato.matching.labels.side import MASK, MEANS, VALUES, Side
from sfumato.matching.labels.spanned import spanned, spans_of

_SMALL = 1 << 20
"""Cells of a matrix that need not be sparse."""


class Fitting(Protocol):
    """Answers which labels of the other column fit some labels of the first, given by their places."""

    def rows(self, places: IntArray) -> BoolArray:
        """A line for each of these places, and a column for each label of the other column."""
        ...

    def only(self) -> IntArray | None:
        """For each label of the first column the one that fits it, -1 where none does; nothing where several may."""
        ...


def fitting(known: Side, shown: Side) -> Fitting | None:
    """How labels of two columns fit each other; nothing where nobody can say, and every label may fit every other.

    A label that its release does not explain fits all: that is never wrong, if it is more than could be known. So does
    a value that a release may lack because it must not tell it so exactly.

    >>> known = Side(["37", "52", None], {})
    >>> found = fitting(known, Side(["30-39", "*", None], {"integers": True}))
    >>> found.rows(np.arange(3)).tolist()
    [[True, True, False], [False, True, False], [False, True, True]]
    """
    kinds = {known.kind, shown.kind}
    if MEANS in kinds or len(kinds - {VALUES}) > 1:
        return None
    if kinds == {MASK} and known.entry["mask"]["side"] != shown.entry["mask"]["side"]:
        return None
    if kinds == {VALUES}:
        return _Listed(_under(known, shown), _under(shown, known))
    return spanned(known, shown)


def _under(side: Side, other: Side) -> list[Sequence[Label] | None]:
    """The values under each label; nothing for one of which the other side cannot say what it has it under."""
    if not other.coarse:
        return side.leaves()
    listed = {leaf for one in other.leaves() for leaf in one or ()}
    return [one if one and listed.issuperset(one) else None for one in side.leaves()]


def unexplained(side: Side) -> Label:
    """A label of which its release does not say what it stands for, or nothing; a star stands for any value.

    >>> unexplained(Side(["*", "30-39", "old"], {"integers": True})), unexplained(Side(["*", None, "f"], {}))
    ('old', None)
    """
    told: Sequence[object] = side.leaves() if side.kind == VALUES else spans_of(side)
    return next((one for one, found in zip(side.labels, told, strict=True) if found is None and one != ROOT), None)


class _Listed:
    """Labels that list their values."""

    def __init__(self, known: Sequence[Sequence[Label] | None], shown: Sequence[Sequence[Label] | None]) -> None:
        leaves = {leaf: place for place, leaf in enumerate({leaf: 0 for one in (*known, *shown) for leaf in one or ()})}
        small = max(len(known), len(shown)) * len(leaves) <= _SMALL
        self.known, self.shown = (_incidence(side, leaves, small=small) for side in (known, shown))
        self.shown = self.shown.T
        self.any_known, self.any_shown = (
            np.array([one is None for one in side], dtype=bool) for side in (known, shown)
        )

    def rows(self, places: IntArray) -> BoolArray:
        met = self.known[places] @ self.shown
        found: BoolArray = (met if isinstance(met, np.ndarray) else met.toarray()) > 0
        found |= self.any_known[places][:, np.newaxis]
        found |= self.any_shown
        return found

    def only(self) -> IntArray | None:
        if self.any_known.any() or self.any_shown.any():
            return None
        label, other = (self.known @ self.shown).nonzero()
        if len(np.unique(label)) < len(label):
            return None
        found = np.full(self.known.shape[0], -1)
        found[label] = other
        return found


def _incidence(side: Sequence[Sequence[Label] | None], leaves: dict[Label, int], *, small: bool) -> Any:
    """Which label has which leaf, as a matrix: a sparse one where it is not small."""
    counts = [len(one or ()) for one in side]
    places = np.array([leaves[leaf] for one in side for leaf in one or ()], dtype=np.int64)
    shape = (len(side), len(leaves))
    if small:
        whole = np.zeros(shape, dtype=np.float32)
        whole[np.repeat(np.arange(len(side)), counts), places] = 1
        return whole
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import, and every report looks labels up

    return csr_array((np.ones(len(places), dtype=np.int32), places, np.cumsum([0, *counts])), shape=shape)
