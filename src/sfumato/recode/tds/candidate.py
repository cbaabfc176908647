"""Candidate: a node that can be specialized, with what is known of it."""

from dataclasses import dataclass, field

from sfumato.recode.tds.axes import Split
from sfumato.recode.tds.view import Tried, View


@dataclass(eq=False, repr=False)
class Candidate:
    """A node of a cut that can be specialized, and what was found of it when it was last looked at."""

    place: int
    node: int
    split: Split
    gain: float
    fresh: bool = False
    weighed: bool = False
    tried: list[tuple[View, Tried]] = field(default_factory=list)

    def failing(self, limit: int) -> list[View]:
        """The views in which too many rows would fail."""
        return [view for view, tried in self.tried if view.failing + tried.change > limit]


def mends(candidate: Candidate) -> tuple[int, float, int, int]:
    """The order in which candidates are taken where too many rows fail."""
    return sum(tried.change for _, tried in candidate.tried), -candidate.gain, candidate.place, candidate.node
