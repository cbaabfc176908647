"""Which values of the original a published label covers, and what share of them a query wants.

Labels overlap and may be many, and what they cover together may be much more than there are values. So what a label
covers is a run in a list of values: one list for each level of a tree, one in the order of numbers for ranges, and the
members of each set after those of the one before.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.encode import QuasiIdentifier
from sfumato.errors import DataError, listing
from sfumato.hierarchy import Ranges, Sets
from sfumato.hierarchy.base import ROOT
from sfumato.hierarchy.range_labels import read_range
from sfumato.hierarchy.set_labels import parse_set

Label = str | None
Run = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Cover:
    """The values that each label covers: codes in `order`, from `start` up to `end`; a code too many is no value.

    >>> Cover(np.array([2, 0, 1]), np.array([0, 0]), np.array([1, 3])).shares(np.array([True, False, True]))
    array([1.        , 0.66666667])
    """

    order: IntArray
    start: IntArray
    end: IntArray

    def shares(self, wanted: BoolArray) -> FloatArray:
        """The share of wanted ones among the values of each label."""
        sums = np.concatenate([[0], np.cumsum(np.append(wanted, False).take(self.order))])
        shares: FloatArray = (sums.take(self.end) - sums.take(self.start)) / (self.end - self.start)
        return shares


def cover(attribute: QuasiIdentifier, labels: Sequence[Label], level: int | None) -> Cover:
    """What labels of one level, or of any, cover of the values of a column; a sentence where one covers nothing."""
    order, find = _finder(attribute, labels, level)
    runs = [find(label) for label in labels]
    strange = [label for label, (start, end) in zip(labels, runs, strict=True) if start >= end]
    if strange:
        raise misfit(attribute.name, strange)
    start, end = np.array(runs, dtype=np.int64).reshape(-1, 2).T
    return Cover(order, start, end)


def misfit(name: str, labels: Iterable[Label]) -> DataError:
    """What is said of labels that do not come from the table at hand."""
    return DataError(
        f"column '{name}' of the release holds labels that the original does not lead to: {listing(labels)}; "
        "name the table that this release was made from"
    )


def _finder(
    attribute: QuasiIdentifier, labels: Sequence[Label], level: int | None
) -> tuple[IntArray, Callable[[Label], Run]]:
    """The list of values, and the run of a label in it, which is empty for a label that covers nothing."""
    if level is None and isinstance(attribute.spec, Ranges):
        return _numbers(attribute, attribute.spec)
    if level is None and isinstance(attribute.spec, Sets):
        return _members(attribute, labels)
    return _nodes(attribute, level)


def _nodes(attribute: QuasiIdentifier, level: int | None) -> tuple[IntArray, Callable[[Label], Run]]:
    """A tree; where several levels are looked at, the lowest that has a label says what it covers."""
    tree, runs, lists = attribute.hierarchy, dict[Label, Run](), list[IntArray]()
    for height in range(attribute.least, tree.height + 1) if level is None else [level]:
        codes, labels = tree.matrix[:, height], tree.labels[height]
        ends = len(codes) * len(lists) + np.cumsum(np.bincount(codes, minlength=len(labels)))
        starts = np.concatenate([[len(codes) * len(lists)], ends[:-1]])
        lists.append(np.argsort(codes, kind="stable"))
        for label, start, end in zip(labels, starts.tolist(), ends.tolist(), strict=True):
            if level is not None or label != ROOT or height == tree.height:  # a star says nothing, where levels mix
                runs.setdefault(label, (start, end))
    return np.concatenate(lists), lambda label: runs.get(label, (0, 0))


def _numbers(attribute: QuasiIdentifier, spec: Ranges) -> tuple[IntArray, Callable[[Label], Run]]:
    """Ranges of numbers, with NULL after the last."""
    found, scale = spec.numbers(attribute.column.texts, column=attribute.name)
    places = sorted(place for place in found if place is not None)

    def find(label: Label) -> Run:
        if label is None or label == ROOT:
            return len(places) if label is None else 0, len(found)
        try:
            bounds = read_range(label)
        except ValueError:
            return 0, 0
        end = (bisect_right if bounds.closed else bisect_left)(places, bounds.high * scale)
        return bisect_left(places, bounds.low * scale), end

    order = sorted(range(len(found)), key=lambda code: (found[code] is None, found[code]))
    return np.array(order, dtype=np.int64), find


def _members(attribute: QuasiIdentifier, labels: Sequence[Label]) -> tuple[IntArray, Callable[[Label], Run]]:
    """Sets of values; one that names a value which is not there covers nothing that can be told."""
    texts, runs, order = attribute.column.texts, dict[Label, Run](), list[int]()
    known = {text: code for code, text in enumerate(texts)}
    for label in labels:
        try:
            codes = [known[member] for member in parse_set(label) or texts]
        except (KeyError, ValueError):
            codes = []
        runs[label] = len(order), len(order) + len(codes)
        order += codes
    return np.array(order, dtype=np.int64), lambda label: runs[label]
