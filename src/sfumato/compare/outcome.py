"""Outcome: what one line of a comparison came to, measured on a verified release, or why there is none."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from sfumato.release import Release
from sfumato.split import Tie


@dataclass(frozen=True)
class Figures:
    """The figures of a release.

    `tie_lost` is there for two tables: what is lost of the tie between rows and sensitive values, from 0 (each row gets
    its own value back) to 1 (no better than over the whole table), on average over the sensitive columns; these tables
    generalize nothing, so that their `ncp` is what suppressed rows cost. `highest` and `average` are prosecutor risks;
    `search` and `total` are seconds, reading left out.
    """

    found_by: str
    rows: int
    suppressed: int
    classes: int
    ncp: float
    distortion_ratio: float
    discernibility: int
    average_class_size: float
    tie_lost: float | None
    highest: float
    average: float
    search: float
    total: float
    privacy: tuple[Mapping[str, Any], ...]

    @property
    def measure(self) -> str:
        """What loss is measured by: ``ncp``, or ``tie`` for two tables."""
        return "ncp" if self.tie_lost is None else "tie"

    @property
    def loss(self) -> float:
        """The loss by that measure."""
        return self.ncp if self.tie_lost is None else self.tie_lost

    def as_json(self) -> dict[str, Any]:
        """For ``--json`` and ``compare.json``."""
        return {**asdict(self), "privacy": list(self.privacy), "measure": self.measure, "loss": self.loss}


@dataclass(frozen=True)
class Outcome:
    """A line: the algorithm and settings that were asked for, and its figures, or the `reason` why it has none."""

    number: int
    algorithm: str
    settings: Mapping[str, object]
    dropped: tuple[str, ...] = ()
    figures: Figures | None = None
    reason: str = ""

    @property
    def told(self) -> str:
        """The settings in a few words.

        >>> Outcome(1, "auto", {"k": 5, "refined": True, "form": "lossy-join"}).told
        'k = 5, refined = true, form = lossy-join'
        """
        return ", ".join(f"{name} = {plain(value)}" for name, value in self.settings.items())

    def as_json(self) -> dict[str, Any]:
        """For ``--json`` and ``compare.json``."""
        asked = {"line": self.number, "algorithm": self.algorithm, "settings": dict(self.settings)}
        asked |= {"dropped": list(self.dropped)} if self.dropped else {}
        return asked | (self.figures.as_json() if self.figures else {"reason": self.reason})


def figures_of(release: Release, total: float) -> Figures:
    """The figures of a release that the verifier has passed; `total` are the seconds it took to make and verify."""
    utility, risk = release.utility, release.risk
    return Figures(
        found_by=release.recoding.algorithm,
        rows=release.rows,
        suppressed=release.suppressed,
        classes=len(release.recoding.classes),
        ncp=utility.ncp,
        distortion_ratio=utility.distortion_ratio,
        discernibility=utility.discernibility,
        average_class_size=utility.average_class_size,
        tie_lost=_lost(release.ties) if release.policy.publish.split else None,
        highest=risk.highest,
        average=risk.average,
        search=round(release.seconds["search"], 4),
        total=round(total, 4),
        privacy=tuple(release.privacy),
    )


def _lost(ties: Mapping[str, Tie]) -> float:
    """The share of the tie that is lost; nothing can be lost of a column that has one value."""
    return fmean(1 - (tie.kept - tie.chance) / (1 - tie.chance) if tie.chance < 1 else 0.0 for tie in ties.values())


def plain(value: object) -> str:
    """A value of a setting as a policy has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
