"""The runs of the identity-reserved experiment: the table of a point, its release, and the figures of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.datasets import repeated
from sfumato.datasets.repeated import PERSON_COLUMN
from sfumato.papers.identity.points import COMMON, Point
from sfumato.papers.occupations import SENSITIVE, Occupations
from sfumato.release import Release, anonymize

PEOPLE = 40_000


@dataclass(frozen=True)
class Experiment:
    """The Adult table, and how many of its rows are people."""

    adult: Occupations
    people: int = PEOPLE

    def table(self, rpi: float) -> Any:
        """The paper's table of so many rows per individual."""
        return repeated(self.adult.frame, rpi, people=self.people, sensitive=SENSITIVE)

    def document(self, model: Mapping[str, Any], search: Mapping[str, Any]) -> dict[str, Any]:
        """A policy; common k-anonymity does not know of the individuals."""
        role = "identifier" if model["model"] == COMMON else "individual"
        columns = {PERSON_COLUMN: {"role": role}, **self.adult.columns}
        return {"columns": columns, "privacy": [dict(model)], "algorithm": dict(search)}

    def measured(self, point: Point) -> dict[str, Any]:
        """The figures of a point's verified release."""
        table = self.table(point.rpi)
        release = anonymize(table, self.document(point.privacy, point.method.search))
        rows, persons = groups_of(release.recoding.class_of, table.column(PERSON_COLUMN).to_numpy())
        k = dict(point.keys).get("k", 0)
        return {
            **point.said,
            "rows": release.encoded.rows,
            "suppressed": release.suppressed,
            "classes": len(rows),
            "vulnerable": int(np.count_nonzero((rows >= k) & (persons < k))),
            "single": int(np.count_nonzero(persons == 1)),
            "distortion": release.utility.distortion_ratio,
            "published": _published(release),
            "ncp": release.utility.ncp,
        }


def groups_of(owner: IntArray, ids: IntArray) -> tuple[IntArray, IntArray]:
    """How many rows each class has, and of how many people; rows of class -1 are in none.

    >>> groups_of(np.array([0, 0, 1, 1, -1]), np.array([7, 7, 7, 8, 9]))
    (array([2, 2]), array([1, 2]))
    """
    kept, people = owner[owner >= 0], ids[owner >= 0]
    width = int(ids.max(initial=0)) + 1
    return np.bincount(kept), np.bincount(np.unique(kept * width + people) // width)


def _published(release: Release) -> float:
    """The distortion ratio of published rows alone, where the other one counts a suppressed row as lost."""
    rows, gone = release.encoded.rows, release.suppressed
    return (release.utility.distortion_ratio * rows - gone) / (rows - gone)
