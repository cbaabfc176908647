"""Taxonomy: the labels of a shared column in all tables, and which of them can be the same person's.

Labels are compared by their texts, as whoever has the published files does. Two labels are consistent if one stands on
the other's path to the root.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.errors import HierarchyError, listing
from sfumato.hierarchy import Spec
from sfumato.hierarchy.base import ROOT, Label

Path = tuple[Label, ...]


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """Labels by number, and for each the numbers on its path, itself first; -1 fills the line up.

    >>> sex = Taxonomy.of([("Male", "*"), ("Female", "*"), ("*",)])
    >>> male, female, root = sex.numbers(["Male", "Female", "*"])
    >>> sex.consistent(np.array([male, male]), np.array([female, root]))
    array([False,  True])
    """

    number: dict[Label, int]
    paths: IntArray

    @classmethod
    def of(cls, paths: Iterable[Path]) -> "Taxonomy":
        """The taxonomy that has these paths, and those of all labels on them."""
        known: dict[Label, Path] = {}
        for path in paths:
            for place, label in enumerate(path):
                known.setdefault(label, path[place:])
        number = {label: place for place, label in enumerate(known)}
        table = np.full((len(known), max(map(len, known.values()), default=1)), -1)
        for place, path in enumerate(known.values()):
            table[place, : len(path)] = [number[label] for label in path]
        return cls(number, table)

    def numbers(self, labels: Sequence[Label]) -> IntArray:
        """The number of each label."""
        return np.array([self.number[label] for label in labels], dtype=np.int64)

    def consistent(self, first: IntArray, second: IntArray) -> BoolArray:
        """Whether one of two labels is on the other's path, pair by pair."""
        found: BoolArray = (self.paths[first] == second[..., None]).any(axis=-1)
        found |= (self.paths[second] == first[..., None]).any(axis=-1)
        return found

    def below(self, labels: IntArray, value: Label) -> BoolArray:
        """Which labels are `value` or stand below it."""
        if value not in self.number:
            return np.zeros(labels.shape, dtype=np.bool_)
        found: BoolArray = (self.paths[labels] == self.number[value]).any(axis=-1)
        return found

    def path(self, label: Label) -> list[Label]:
        """The path of a label, for the manifest."""
        return [self._labels[place] for place in self.paths[self.number[label]].tolist() if place >= 0]

    @cached_property
    def _labels(self) -> list[Label]:
        return list(self.number)


def paths_of(
    labels: Sequence[Label], spec: Spec | None, *, column: str, whose: str, nulls: Sequence[str]
) -> list[Path]:
    """The paths of labels by a column's hierarchy; without one, a label stands below the root alone."""
    if spec is None:
        return [(label,) if label == ROOT else (label, ROOT) for label in labels]
    found = spec.paths(labels, column=column, nulls=nulls)
    unknown = [label for label, path in zip(labels, found, strict=True) if path is None]
    if unknown:
        raise HierarchyError(
            f"column {column!r} of {whose} has values that the hierarchy of [columns] does not know: "
            f"{listing(unknown)}; add them to it, or give the column the kind of hierarchy it had then"
        )
    return [path for path in found if path is not None]
