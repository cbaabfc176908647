"""Which published labels cover which values of a table, by the hierarchy that is bound to these values.

The data holder knows the hierarchies, so nothing is left to the data dictionary: a label covers exactly the values that
the hierarchy puts under it. Labels come from a release and values from another table, so that there may be labels
that cover none of the values, and values that no label covers.
"""

from collections.abc import Sequence

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.encode import QuasiIdentifier
from sfumato.hierarchy import Ranges, Sets
from sfumato.hierarchy.hierarchy import ROOT, Label, refuse_ambiguous_labels
from sfumato.hierarchy.open_ended import read_set
from sfumato.labels.covered_values import NumberLine, find_tree_labels

_PAIRS = 1 << 24
"""Pairs of value and label that are compared together."""


class HierarchyOverlap:
    """The labels of a release beside the values of a quasi-identifier; a `LabelOverlap`.

    `level` is that of all labels; where it is ``None`` they may be of any. ``*`` covers every value.

    For v values and n labels:
    span:   int[n, 2] or None; label i covers the values whose place is from ``span[i, 0]`` up to ``span[i, 1]``
    place:  int[v] the place of each value on the line of numbers
    node:   int[n, 2] or None; level and code of each label in the tree, -1 where no value leads to it
    member: bool[v, n] or None; which value is a member of which set
    """

    def __init__(self, attribute: QuasiIdentifier, labels: Sequence[Label], level: int | None) -> None:
        self.values, self.labels = attribute.column.width, len(labels)
        self.span: IntArray | None = None
        self.node: IntArray | None = None
        self.member: BoolArray | None = None
        if level is None and isinstance(attribute.spec, Ranges):
            line = NumberLine(attribute, attribute.spec)
            self.place = np.empty(self.values, dtype=np.int64)
            self.place[line.order] = np.arange(self.values)
            self.span = np.array([line.find_run(label) for label in labels], dtype=np.int64).reshape(-1, 2)
        elif level is None and isinstance(attribute.spec, Sets):
            self.member = _find_set_members(attribute.column.texts, labels)
        else:
            self.matrix = attribute.hierarchy.matrix
            if level is None:
                refuse_ambiguous_labels(attribute.hierarchy, column=attribute.name)
            places = find_tree_labels(attribute, level)
            self.node = np.array([places.get(label, (-1, -1)) for label in labels], dtype=np.int64).reshape(-1, 2)

    def overlaps(self, places: IntArray) -> BoolArray:
        """Give a line for each of these values, with a column for each label: whether it covers the value."""
        if self.span is not None:
            at = self.place[places][:, None]
            return (self.span[:, 0] <= at) & (at < self.span[:, 1])
        if self.node is not None:
            found: BoolArray = self.matrix[places][:, self.node[:, 0]] == self.node[:, 1]
            return found & (self.node[:, 0] >= 0)
        assert self.member is not None  # noqa: S101 - one of the three; this tells the type checker
        members: BoolArray = self.member[places]
        return members

    def single_overlap(self) -> IntArray | None:
        """For each value find the one label that covers it, -1 where none does; ``None`` where several do."""
        single = np.full(self.values, -1)
        step = max(_PAIRS // max(self.labels, 1), 1)
        for start in range(0, self.values, step):
            covered = self.overlaps(np.arange(start, min(start + step, self.values)))
            counts = covered.sum(axis=1)
            if (counts > 1).any():
                return None
            line, label = np.nonzero(covered)
            single[start + line] = label
        return single


def _find_set_members(values: Sequence[Label], labels: Sequence[Label]) -> BoolArray:
    """Find which values are members of which sets: bool[values, labels].

    >>> _find_set_members(["Bern", "Chur"], ["{Bern, Thun}", "*", "Chur"]).tolist()
    [[True, True, False], [False, True, True]]
    """
    code_of = {value: code for code, value in enumerate(values)}
    member = np.zeros((len(values), len(labels)), dtype=np.bool_)
    for place, label in enumerate(labels):
        codes = [code_of[value] for value in read_set(label) if value in code_of]
        member[codes, place] = True
        if label == ROOT:
            member[:, place] = True
    return member
