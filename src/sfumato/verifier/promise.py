"""What a release promises, as plain data: all that the verifier knows besides the files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Needs:
    """A sensitive column in the whole input table, for distances that compare with it.

    It stays with the data holder: it counts rows that may not have been published.
    """

    values: tuple[str | None, ...]
    totals: tuple[int, ...]
    ranks: tuple[int, ...] | None = None
    places: int = 0
    ancestors: tuple[tuple[int, ...], ...] | None = None

    def as_json(self) -> dict[str, Any]:
        """For the private audit."""
        return {
            "values": list(self.values),
            "totals": list(self.totals),
            "ranks": None if self.ranks is None else list(self.ranks),
            "places": self.places,
            "ancestors": None if self.ancestors is None else [list(line) for line in self.ancestors],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Needs":
        """Back from the private audit."""
        ranks, ancestors = data["ranks"], data["ancestors"]
        return cls(
            tuple(data["values"]),
            tuple(data["totals"]),
            None if ranks is None else tuple(ranks),
            data["places"],
            None if ancestors is None else tuple(tuple(line) for line in ancestors),
        )


@dataclass(frozen=True)
class Promise:
    """Which columns are the quasi-identifier, and what must hold of the classes they form.

    `requirements` are the policy's [[privacy]] tables. `costs` are the ground distances of a general earth
    mover's distance, by column: (value, value) to cost.
    """

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    individual: str | None
    requirements: tuple[Mapping[str, Any], ...]
    needs: Mapping[str, Needs] = field(default_factory=dict)
    costs: Mapping[str, Mapping[tuple[str, str], float]] = field(default_factory=dict)
