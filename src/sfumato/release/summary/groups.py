"""Classes as anybody can count them in what is published: rows with equal labels, or with the same class number."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.core.classes import EquivalenceClasses, SensitiveDomain, count_values
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.release.cells import Cells

Columns = Mapping[str, Cells | Any]


@dataclass(frozen=True, eq=False)
class Groups:
    """The classes of a release, and how many people there are in all, where rows carry pseudonyms."""

    classes: EquivalenceClasses
    people: int | None

    @property
    def by(self) -> str:
        """What sizes are counted in."""
        return "rows" if self.people is None else "people"

    @property
    def smallest(self) -> int:
        """The size of the smallest class."""
        return int(self.classes.persons.min())


def groups_of(manifest: Mapping[str, Any], tables: Mapping[str, Columns]) -> Groups:
    """The classes of the first table, which has the quasi-identifiers."""
    first = next(iter(tables.values()))
    owner = _owner([first[name] for name in _keys(manifest)])
    person = next((one["name"] for one in manifest["columns"] if one["role"] == "individual"), None)
    if person is None:
        return Groups(EquivalenceClasses(np.bincount(owner)), None)
    cells = first[person]
    people = len(cells.values)
    domain = SensitiveDomain(("",) * people, np.bincount(cells.codes, minlength=people))
    ones: IntArray = np.ones(len(owner), dtype=np.int64)
    lines = count_values(owner, cells.codes.astype(np.int64), ones, domain)
    return Groups(EquivalenceClasses(np.bincount(owner), individuals=lines), people)


def _keys(manifest: Mapping[str, Any]) -> list[str]:
    if "class_id" in manifest:
        return [manifest["class_id"]]
    return [one["name"] for one in manifest["columns"] if one["role"] == "quasi"]


def _owner(columns: list[Cells]) -> IntArray:
    return number_tuples(pack_tuples([one.codes for one in columns], [len(one.values) for one in columns]))[0]
