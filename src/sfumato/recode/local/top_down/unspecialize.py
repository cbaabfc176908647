"""Un-specialize: rows that go back to the parent, so that what is left there passes too.

First come all rows of the branches that fail. If these fail together, other branches give back rows that they can
spare: those first that could be specialized least further down. Where that does not help, whole branches go back,
the smallest first, until the parent passes; with all of its rows it does, because it is an active group.
"""

from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.recode.local.top_down.give import given
from sfumato.recode.local.top_down.groups import Groups
from sfumato.recode.local.top_down.specialize import Judge
from sfumato.recode.local.top_down.split import Split


@dataclass(frozen=True, eq=False)
class Specialized:
    """What came of it: the rows of each line that went `back`, and per group the rows and branches specialized."""

    back: FloatArray
    rows: FloatArray
    branches: FloatArray


def specialized(judge: Judge, groups: Groups, attribute: IntArray) -> Specialized:
    """Each group specialized one level down in its attribute; parents and branches pass."""
    split = Split.of(judge, groups, attribute)
    back = split.failing
    left = groups.sums(back)
    chosen = np.flatnonzero((left > 0) & ~judge.passing(groups.of, back, groups.number, left))
    if len(chosen):
        lines = groups.lines(chosen)
        back[lines] = unspecialized(judge, split.only(chosen), back.take(lines))
    stays = split.branches.sums(groups.rows - back) > 0
    branches = np.add.reduceat(stays, split.branches.base[:-1], dtype=np.float64)
    return Specialized(back, groups.sizes - groups.sums(back), branches)


def unspecialized(judge: Judge, split: Split, back: FloatArray) -> FloatArray:
    """The rows of each line that go back, where those of failing branches fail in the parent."""
    found, helped = given(judge, split, back)
    rest = np.flatnonzero(~helped)
    if len(rest):
        lines = split.groups.lines(rest)
        found[lines] = pushed(judge, split.only(rest), back.take(lines))
    return found


def pushed(judge: Judge, split: Split, back: FloatArray) -> FloatArray:
    """With whole branches back, the smallest first, until the parent passes or nothing is specialized."""
    groups, owner, of = split.groups, split.branches.owner, split.branches.of
    place = _places(split)
    count = np.add.reduceat(split.passing, split.branches.base[:-1], dtype=np.int64)
    gone = np.zeros(len(groups), dtype=np.int64)
    pending, found = gone < count, back
    while pending.any():
        gone += pending
        found = np.where((place < gone[owner]).take(of), groups.rows, back)
        sizes = np.where(pending, groups.sums(found), 0.0)
        pending &= (gone < count) & ~judge.passing(groups.of, found, groups.number, sizes)
    return found


def _places(split: Split) -> IntArray:
    """The place of each branch among those of its group: passing ones first, smallest first."""
    owner = split.branches.owner
    order = np.lexsort([split.sizes, ~split.passing, owner])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place - split.branches.base[owner]
