"""The page: parts in the order in which a data steward asks."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sfumato._version import __version__
from sfumato.page.document import document
from sfumato.page.markup import Markup, join, tag
from sfumato.release.report import two_tables
from sfumato.release.report.attacks import attacks
from sfumato.release.report.cost import cost
from sfumato.release.report.distributions import distributions
from sfumato.release.report.limits import limits
from sfumato.release.report.opening import opening, rows
from sfumato.release.report.promise import promise
from sfumato.release.report.queries import queries
from sfumato.release.report.risk import risk
from sfumato.release.report.sensitive import sensitive
from sfumato.release.report.suppressed import suppressed
from sfumato.release.report.together import together
from sfumato.release.seen.raw import raw_classes
from sfumato.risk import measure_prosecutor_risk

if TYPE_CHECKING:
    from sfumato.release.release import Release


def report(release: "Release") -> str:
    """The report as one HTML page that loads nothing, for the data holder's eyes."""
    raw = raw_classes(release.encoded)
    before, split = measure_prosecutor_risk(raw), release.policy.publish.split
    columns = release.figures.columns
    return document(
        "Release report",
        opening(release, before),
        promise(release),
        rows(release),
        *([two_tables.tables(release)] if split else []),
        risk(release, raw, before),
        sensitive(release),
        distributions(release, columns),
        two_tables.cost(release) if split else cost(release),
        together(release.figures),
        queries(release),
        suppressed(release, columns),
        attacks(release),
        *([_learner(release)] if split else []),
        limits(release),
        _footer(),
    )


def _learner(release: "Release") -> Markup:
    from sfumato.release.report.learner import learner  # noqa: PLC0415 - only two tables are attacked by one

    return learner(release)


def _footer() -> Markup:
    made = f"sfumato {__version__}, {datetime.now(tz=UTC):%Y-%m-%d %H:%M} UTC. "
    return tag("footer", join([made, "The same figures for programs, and the policy as used: audit.json."]))
