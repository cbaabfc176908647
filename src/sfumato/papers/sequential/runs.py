"""The runs of the sequential-release experiment: what removal costs, each release, and the figures of it."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.errors import Infeasible
from sfumato.papers.sequential.loss import distortion, groups, short_of_keys
from sfumato.papers.sequential.points import KA, LINK, Grid, Point
from sfumato.papers.sequential.sets import (
    CATEGORICAL,
    CONTINUOUS,
    EARLIER,
    IMMIGRATION,
    SETS,
    SHARED,
    DataSet,
    People,
    write,
)
from sfumato.papers.sequential.tree import error
from sfumato.release import anonymize

BASE, NO_JOIN, NO_Y = "BL", "RJ", "RS"
"""Unmodified, without the join attributes, without the attributes of Y."""


@dataclass(frozen=True)
class Experiment:
    """The people, and the file of the earlier release."""

    people: People
    earlier: Path

    @classmethod
    @contextmanager
    def of(cls, people: People) -> Iterator["Experiment"]:
        """With T2 in a folder that is gone afterwards."""
        with tempfile.TemporaryDirectory(prefix="sfumato-") as folder:
            yield cls(people, write(people.immigration, Path(folder, f"{EARLIER}.csv")))

    def document(self, point: Point) -> dict[str, Any]:
        """The policy of a release of T1."""
        previous = [] if point.method == KA else [{"name": EARLIER, "table": str(self.earlier)}]
        table = self.people.taxation(point.of)
        return {
            "columns": {name: self._column(name, point) for name in table.column_names},
            **({"previous": previous} if previous else {}),
            "privacy": point.privacy(table),
            "algorithm": point.search,
        }

    def _column(self, name: str, point: Point) -> dict[str, Any]:
        """What is not in X is published as it is; a shared column has its taxonomy all the same."""
        if name not in point.quasi:
            return {"role": "sensitive" if name in point.y else "plain"}
        ranges = name in CONTINUOUS
        hierarchy = {"ranges": True, "domain": list(CONTINUOUS[name])} if ranges else self.people.hierarchies[name]
        return {"role": "quasi", "hierarchy": hierarchy}

    def measured(self, point: Point) -> dict[str, Any]:
        """The figures of a point's verified release, or the sentence that says why there is none."""
        start = time.perf_counter()
        try:
            release = anonymize(self.people.taxation(point.of), self.document(point))
        except Infeasible as none:
            return {**point.said, "infeasible": str(none)}
        seconds = time.perf_counter() - start
        table = release.table
        every = [name for name in point.quasi if name in SHARED]
        return {
            **point.said,
            "error": error(table, point.of.attributes),
            **distortion(table, point.quasi, self.people.paths),
            "join": sum(table[name].unique().to_pylist() == ["*"] for name in every),
            "achieved": [one["achieved"] for one in release.privacy],
            "seconds": seconds,
            **({} if point.method in {KA, LINK} else self._keys(point, table)),
        }

    def _keys(self, point: Point, table: Any) -> dict[str, Any]:
        """How many x values have fewer than k rows of T1."""
        ours = groups(table, [*SHARED, *(name for name in point.quasi if name not in SHARED)])
        theirs = groups(self.people.immigration, IMMIGRATION)
        short, every = short_of_keys(ours, theirs, self.people.paths, k=int(point.k))
        return {"classes": len(ours), "short": short, "x": every}

    def removed(self, data: str, grid: Grid) -> Iterator[dict[str, Any]]:
        """The error of unmodified data, and of what is left without some attributes."""
        of = SETS[data]
        yield {"data": data, "method": BASE, "top": 0, "error": self._without(of, ())}
        yield {"data": data, "method": NO_JOIN, "top": 0, "error": self._without(of, SHARED)}
        for top in grid.links:
            yield {"data": data, "method": NO_Y, "top": top, "error": self._without(of, CATEGORICAL[:top])}

    def _without(self, data: DataSet, gone: Sequence[str]) -> float:
        return error(self.people.taxation(data), [name for name in data.attributes if name not in gone])
