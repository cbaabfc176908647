"""Sentences about the few values on x that are linked too closely."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.verifier.linkage.groups import Part
from sfumato.verifier.linkage.lines import decoded, run
from sfumato.verifier.linkage.plan import Plan
from sfumato.verifier.published import line

Numbers = Mapping[int, int]
"""The number of a value on x, or of a unit, by table."""


@dataclass(frozen=True)
class Words:
    """What a requirement calls things, from the numbers they have in the tables of groups."""

    plan: Plan
    parts: Sequence[Part]
    rule: Mapping[str, Any]

    def few(self, x: Numbers, figure: int) -> str:
        """An x that is linked to too few."""
        y = self.rule["y"]
        different = f"{figure:,} different {y[0]}" if len(y) == 1 else f"{figure:,} different values of {', '.join(y)}"
        return f"{self._x(x)} is linked to {different}, fewer than {self.rule['k']:,}"

    def close(self, x: Numbers, units: Numbers, share: float, allowed: float) -> str:
        """An x that is linked too closely."""
        return f"{self._x(x)} is linked to {self._y(units)} with a share of {round(share, 4)}, above {allowed:.12g}"

    def _x(self, x: Numbers) -> str:
        places = [self.plan.find(reference) for reference in self.rule["x"]]
        cells = [
            self._cell("xs", place.table, self.parts[place.table].x.index(str(place.column)), x) for place in places
        ]
        shown = [
            cell if place.column != self._hidden(place.table) else "…"
            for place, cell in zip(places, cells, strict=True)
        ]
        return line(self.rule["x"], shown)

    def _y(self, units: Numbers) -> str:
        """Values on y; rows and persons have no name."""
        said = []
        for reference in self.rule["y"]:
            place = self.plan.find(reference)
            part = self.parts[place.table]
            if part.keyed or place.column in {None, self._hidden(place.table)}:
                said.append(f"one {reference}")
                continue
            cell = self._cell("ys", place.table, part.y.index(str(place.column)), units)
            said.append(line([reference], [cell]))
        return ", ".join(said)

    def _hidden(self, table: int) -> str | None:
        return self.plan.hidden if table == 0 else None

    def _cell(self, kind: str, table: int, place: int, numbers: Numbers) -> str | None:
        found = run(self.plan.connection, f"SELECT k{place} FROM {kind}_{table} WHERE id = {numbers[table]}")
        return decoded(found[0][0])
