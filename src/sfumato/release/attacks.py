"""The attacks that are tried on every release before it leaves, with little effort; `sfumato attack` takes more."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sfumato.attack.bound import bounds
from sfumato.attack.homogeneity import Homogeneity, Skewness, gain_bounds, homogeneity, skewness
from sfumato.attack.known import KnownValuesResult, known_in_memory
from sfumato.attack.link import LinkageResult, link_in_memory
from sfumato.attack.minimality import MinimalityResult, minimality
from sfumato.attack.result import AttackResult
from sfumato.attack.sensitive_columns import SensitiveColumns, sensitive_columns_from_recoding
from sfumato.release.earlier import unwritten
from sfumato.split import tables_from_recoding

if TYPE_CHECKING:
    from sfumato.attack.definetti import DefinettiResult
    from sfumato.release.release import Release


@dataclass(frozen=True, eq=False)
class Attacks:
    """What each attack found; the learner's only where two tables are published.

    `earlier` are the lines of the intersection with earlier releases, which is tried on files, once they are there.
    """

    link: LinkageResult
    known: KnownValuesResult
    homogeneity: Homogeneity
    skewness: Skewness
    minimality: MinimalityResult
    definetti: "DefinettiResult | None"
    earlier: tuple[AttackResult, ...]

    @property
    def tried(self) -> tuple[AttackResult, ...]:
        """All of them, a line each, and a line for each column where an attack is about columns."""
        learner = () if self.definetti is None else self.definetti.results()
        return (
            *self.link.results(),
            *self.known.results(),
            *self.homogeneity.results(),
            *self.skewness.results(),
            *self.minimality.results(),
            *learner,
            *self.earlier,
        )

    def as_json(self) -> list[dict[str, Any]]:
        """For the audit."""
        return [one.as_json() for one in self.tried]


def attacked(release: "Release") -> Attacks:
    """Try every attack on the release as it stands in memory."""
    whole = (release.encoded, release.recoding, release.policy)
    told = sensitive_columns_from_recoding(*whole)
    promised = bounds(release.policy, SensitiveColumns(told))
    return Attacks(
        link_in_memory(*whole),
        known_in_memory(*whole),
        homogeneity(told, promised),
        skewness(told, promised=gain_bounds(release.policy)),
        minimality(*whole),
        _learner(release) if release.policy.publish.split else None,
        unwritten(release),
    )


def _learner(release: "Release") -> "DefinettiResult":
    from sfumato.attack.definetti import QUICK, Original, definetti  # noqa: PLC0415 - only of two tables

    tables = tables_from_recoding(release.encoded, release.recoding)
    return definetti(tables, Original.of_encoded(release.encoded), bounds(release.policy, tables), effort=QUICK)
