"""What a published label means: how many rows it covers, and what it cost to say no more.

Local recodings mix labels of all levels in one column. A text means one thing in a column, whatever its level, so it
can be told from the text alone, from a release's recoding and from its files alike.
"""

from collections.abc import Callable, Sequence

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.encode import QuasiIdentifier
from sfumato.hierarchy import Ranges, Sets
from sfumato.hierarchy.base import ROOT
from sfumato.utility.chosen import Label, Line, Told, set_reader

__all__ = ["Told", "columns", "meant"]


def meant(
    attribute: QuasiIdentifier, labels: Sequence[Label], level: int | None, *, form: str = "partition"
) -> list[Told | None]:
    """What each label means, at a level or at any; nothing for one that no value of the column leads to.

    `form` is that of `[publish] ranges`, for columns of ranges.
    """
    return list(map(_reader(attribute, level, form), labels))


def _reader(attribute: QuasiIdentifier, level: int | None, form: str) -> Callable[[Label], Told | None]:
    if level is None and isinstance(attribute.spec, Ranges):
        return Line(attribute, attribute.spec, form).read
    if level is None and isinstance(attribute.spec, Sets):
        return set_reader(attribute)
    return _nodes(attribute, level).get


def _nodes(attribute: QuasiIdentifier, level: int | None) -> dict[Label, Told]:
    """The labels of a tree; where several levels are looked at, the lowest that has a label says what it means."""
    tree, found = attribute.hierarchy, dict[Label, Told]()
    for height in range(attribute.least, tree.height + 1) if level is None else [level]:
        labels = tree.labels[height]
        covered = np.bincount(tree.matrix[:, height], weights=attribute.frequencies, minlength=len(labels))
        for label, rows, loss in zip(labels, covered.tolist(), tree.loss[height].tolist(), strict=True):
            if level is not None or label != ROOT or height == tree.height:  # a star says nothing, where levels mix
                found.setdefault(label, Told(round(rows), loss, float(height)))
    return found


def columns(found: Sequence[Told | None]) -> tuple[IntArray, FloatArray, FloatArray]:
    """What labels mean, measure by measure; labels that mean nothing count for nothing."""
    told = [one or Told(0, 0.0, 0.0) for one in found]
    every, loss, climbed = zip(*told, strict=True)
    return np.array(every, dtype=np.int64), np.array(loss), np.array(climbed)
