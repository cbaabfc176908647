"""A run as statements read it: errors in percent, of the releases made by one of the scores; and lines of verdicts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.papers.claims import NOT_MEASURED, Claim, Run, judged
from sfumato.papers.sequential.figures import ERROR, mean, tops, values
from sfumato.papers.sequential.points import CLASSIFICATION, KA, LINK, ROW, XY
from sfumato.papers.sequential.runs import BASE, NO_JOIN, NO_Y

Place = tuple[str, str]
"""The figure and the set that a statement is about."""
_FLAT = (BASE, NO_JOIN, KA)
"""What does not depend on TopN."""


@dataclass(frozen=True)
class Reading:
    """The errors of a run, those of releases by `score`."""

    run: Run
    score: str = CLASSIFICATION

    def error(self, data: str, method: str, top: int | None = None) -> float:
        """Averaged over the thresholds, and over TopN where none is asked for.

        >>> case = {"data": "A", "method": "XY", "score": "classification", "top": 3, "error": 0.2}
        >>> Reading({"cases": [case, case | {"score": "conditional", "error": 0.1}]}).error("A", "XY")
        20.0
        """
        chosen = {"data": data, "method": method} | ({} if top is None or method in _FLAT else {"top": top})
        scored = {"score": self.score} if method in {XY, ROW, KA, LINK} else {}
        return 100 * mean(self.run, ERROR, **chosen, **scored)

    def loss(self, data: str, method: str) -> list[float]:
        """How much larger the error of every case is than that of unmodified data."""
        return [one - self.error(data, BASE) for one in self._errors(data, method)]

    def less(self, data: str, other: str, method: str) -> list[float]:
        """How much smaller the error of every case is than another way's."""
        return [self.error(data, other) - one for one in self._errors(data, method)]

    def by_top(self, data: str, other: str, method: str) -> list[float]:
        """The same, of averages for each TopN."""
        places = tops(self.run, data, method)
        return [self.error(data, other, top) - self.error(data, method, top) for top in places]

    def kept(self, data: str) -> list[float]:
        """The same for linkability and the removal of the attributes in Y."""
        return self.by_top(data, NO_Y, LINK)

    def _errors(self, data: str, method: str) -> list[float]:
        return [100 * one for one in values(self.run, ERROR, data=data, method=method, score=self.score)]


def benefit(place: Place, what: str, paper: tuple[float, float], ours: Sequence[float]) -> Claim:
    """Holds where none of ours is less than the least of the paper's."""
    return measured(place, what, f"from {paper[0]:g} to {paper[1]:g} %", (ours, least(ours) >= paper[0]))


def measured(place: Place, what: str, paper: str, ours: tuple[Sequence[float], bool], unit: str = "%") -> Claim:
    """A line with figures: the only one, or the least and the most."""
    figures, holds = ours
    if math.isnan(least(figures)):
        return Claim(place[0], what, place[1], paper, "", NOT_MEASURED)
    ends = f"{least(figures):.2f}" if len(figures) == 1 else f"{least(figures):.2f} to {most(figures):.2f}"
    return said(place, what, paper, (f"{ends} {unit}", holds))


def said(place: Place, what: str, paper: str, ours: tuple[str, bool]) -> Claim:
    """A line with what ours is, and whether what is stated holds of it."""
    return Claim(place[0], what, place[1], paper, ours[0], judged(ours[1]))


def least(found: Sequence[float]) -> float:
    """The least of all, NaN if there are none or one is missing: nothing holds of it then."""
    return math.nan if any(map(math.isnan, found)) else min(found, default=math.nan)


def most(found: Sequence[float]) -> float:
    """The most of all, NaN likewise."""
    return -least([-one for one in found])
