"""One attempt at a table: its rows looked for in itself, or rows of the original in a release."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.attack.known.bits import Bits, Lines
from sfumato.attack.known.found import Known, Over
from sfumato.attack.known.groups import Groups
from sfumato.attack.known.walk import Effort, Engine, Progress, walk
from sfumato.attack.known.words import assumed, noted
from sfumato.core.arrays import IntArray
from sfumato.encode import CodedColumn
from sfumato.matching.fits import Fits
from sfumato.matching.opened import PUBLISHED
from sfumato.matching.people import drawn, people_drawn
from sfumato.matching.shown import Shown

TARGETS = 1_000
"""So many rows of the original are looked for in a release, where nobody says how many."""

FAMILIES = {"quasi-identifiers": PUBLISHED[:1], "sensitive columns": PUBLISHED[1:2], "all columns": PUBLISHED}


@dataclass(frozen=True, eq=False)
class Attempt:
    """A table, the most values that are known, and how much is tried."""

    shown: Shown
    most: int | None
    effort: Effort
    progress: Progress | None = None

    def within(self, names: Sequence[str]) -> Known:
        """Targets are rows of the table itself: as many as asked for, or all."""
        rows = drawn(np.arange(self.shown.rows), self.effort.targets or self.shown.rows, self.effort.seed)
        engine = Groups.of([self.shown.columns[name] for name in names], rows)
        return self._known(self._series(engine, names), len(rows))

    def of_original(self, true: Mapping[str, CodedColumn], rows: IntArray) -> Known:
        """Targets are some of these rows of the original with their true values, looked for in a release."""
        release = self.shown.released(list(true))
        lines = Lines.of(release)
        many = min(self.effort.targets or TARGETS, lines.most_targets(len(true)))
        people = people_drawn(true, drawn(rows, many, self.effort.seed))
        fits = Fits(people, release)
        series = self._series(Bits.of(people, fits, lines), list(fits.columns))
        return self._known(series, people.persons, fits)

    def _series(self, engine: Engine, names: Sequence[str]) -> tuple[Over, ...]:
        found = []
        for label, places in families(self.shown, names).items():
            most = self.most or len(places)
            points, exact = walk(engine, places, most, effort=self.effort, progress=self.progress)
            found.append(Over(label, tuple(names[place] for place in places), exact, points))
        return tuple(found)

    def _known(self, series: tuple[Over, ...], targets: int, fits: Fits | None = None) -> Known:
        shown, released = self.shown, fits is not None
        return Known(
            shown.name,
            shown.rows,
            targets,
            released,
            self.effort.seed,
            baseline=1 / shown.rows,
            assumes=assumed(released=released),
            series=series,
            notes=noted(shown, fits),
        )


def families(shown: Shown, names: Sequence[str]) -> dict[str, list[int]]:
    """Which of the columns may be known, by what they are to people; a set that another has as well stands once."""
    roles = {entry["name"]: entry.get("role") for entry in shown.account.columns}
    found: dict[str, list[int]] = {}
    for label, wanted in FAMILIES.items():
        places = [place for place, name in enumerate(names) if roles.get(name, "plain") in wanted]
        if places and places not in found.values():
            found[label] = places
    return found
