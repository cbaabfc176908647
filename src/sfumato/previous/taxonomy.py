"""Taxonomy: the labels of a shared column in all tables, and which of them may be the same person's.

Labels are compared by their texts, as whoever has the published files does. Two labels are *consistent* if one is on
the other's path to the root: the consistency predicate of Wang and Fung 2006, section 3.3.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.errors import HierarchyError, listing, quote
from sfumato.hierarchy import Spec
from sfumato.hierarchy.hierarchy import ROOT, Label

Path = tuple[Label, ...]
"""A label, its parent and so on to the root."""


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """Labels by number, and the path of each as numbers.

    `paths` is an int[labels, levels]: the label itself comes first in its line, and -1 fills the line up.

    >>> sex = Taxonomy.from_paths([("Male", "*"), ("Female", "*"), ("*",)])
    >>> male, female, root = sex.numbers(["Male", "Female", "*"])
    >>> sex.consistent(np.array([male, male]), np.array([female, root]))
    array([False,  True])
    """

    number: dict[Label, int]
    paths: IntArray

    @classmethod
    def from_paths(cls, paths: Iterable[Path]) -> "Taxonomy":
        """Make the taxonomy that has these paths, and those of all labels on them."""
        path_of: dict[Label, Path] = {}
        for path in paths:
            for place, label in enumerate(path):
                path_of.setdefault(label, path[place:])
        number = {label: place for place, label in enumerate(path_of)}
        table = np.full((len(path_of), max(map(len, path_of.values()), default=1)), -1)
        for place, path in enumerate(path_of.values()):
            table[place, : len(path)] = [number[label] for label in path]
        return cls(number, table)

    def numbers(self, labels: Sequence[Label]) -> IntArray:
        """Give the number of each label."""
        return np.array([self.number[label] for label in labels], dtype=np.int64)

    def consistent(self, first: IntArray, second: IntArray) -> BoolArray:
        """Tell, pair by pair, whether one of two labels is on the other's path."""
        consistent: BoolArray = (self.paths[first] == second[..., None]).any(axis=-1)
        consistent |= (self.paths[second] == first[..., None]).any(axis=-1)
        return consistent

    @cached_property
    def depths(self) -> IntArray:
        """How many labels are on the path of each: int[labels]."""
        depths: IntArray = (self.paths >= 0).sum(axis=1)
        return depths

    def ancestors(self, labels: IntArray, depth: int) -> IntArray:
        """Give the label of this depth on the path of each label, which is no less deep itself."""
        ancestors: IntArray = self.paths[labels, self.depths[labels] - depth]
        return ancestors

    @cached_property
    def nested(self) -> bool:
        """Whether the path of whatever is on a path is the rest of that path.

        Then two labels are consistent where their ancestors of the lesser of their depths are one.
        """
        levels = self.paths.shape[1]
        for step in range(1, levels):
            here = np.flatnonzero(self.paths[:, step] >= 0)
            rest = np.full((len(here), levels), -1)
            rest[:, : levels - step] = self.paths[here, step:]
            if (self.paths[self.paths[here, step]] != rest).any():
                return False
        return True

    def is_below(self, labels: IntArray, value: Label) -> BoolArray:
        """Tell which labels are `value` or are below it."""
        if value not in self.number:
            return np.zeros(labels.shape, dtype=np.bool_)
        below: BoolArray = (self.paths[labels] == self.number[value]).any(axis=-1)
        return below

    def path(self, label: Label) -> list[Label]:
        """Give the path of a label, for the manifest."""
        return [self._labels[place] for place in self.paths[self.number[label]].tolist() if place >= 0]

    @cached_property
    def _labels(self) -> list[Label]:
        return list(self.number)


def label_paths(
    labels: Sequence[Label], spec: Spec | None, *, column: str, whose: str, nulls: Sequence[str]
) -> list[Path]:
    """Find the paths of labels in a column's hierarchy; without one, every label is a child of the root."""
    if spec is None:
        return [(label,) if label == ROOT else (label, ROOT) for label in labels]
    paths = spec.paths(labels, column=column, nulls=nulls)
    unknown = [label for label, path in zip(labels, paths, strict=True) if path is None]
    if unknown:
        raise HierarchyError(
            f"column {quote(column)} of {whose} has values that the hierarchy of [columns] does not know: "
            f"{listing(unknown)}; add them to it, or give the column the kind of hierarchy it had then"
        )
    return [path for path in paths if path is not None]
