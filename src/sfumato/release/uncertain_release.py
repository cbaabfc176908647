"""A release of records as densities: read, find spreads, draw centres, publish; then write, verify, appear."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sfumato.core.arrow import arrow_numbers
from sfumato.core.randomness import Randomness
from sfumato.masking import MaskedTable
from sfumato.page.display import Display, FigureTable
from sfumato.page.wording import keys, plural
from sfumato.policy import Policy
from sfumato.publish.promise import state_requirements
from sfumato.publish.uncertain_publication import (
    UncertainPublication,
    describe_uncertain_columns,
    draft_uncertain_manifest,
    publish_densities,
    uncertain_k,
)
from sfumato.release.assessed_release import AssessedRelease
from sfumato.release.timing import timed
from sfumato.release.verification import require_passed
from sfumato.release.write_drawn import Accounts, draft_drawn_audit
from sfumato.report.uncertain_assessment import UncertainAssessment
from sfumato.table import find_repeated_identifiers
from sfumato.table.files import file_digest
from sfumato.uncertain.uncertain_records import draw_densities, read_records
from sfumato.verifier import Verdict
from sfumato.verifier.uncertain_rows import TRUE_VALUES_FILE, UncertainStatement, verify_uncertain_tables

if TYPE_CHECKING:
    from sfumato.risk.density_linkage import DensityLinkage
    from sfumato.utility.likeness import Likeness

Progress = Callable[[int, int], None]


def blur_records(
    masked: MaskedTable, policy: Policy, seconds: dict[str, float], progress: Progress | None = None
) -> "UncertainRelease":
    """Make densities of a table that was read and masked; nobody has verified them yet.

    Raises `Infeasible` where some record cannot have the expected anonymity that is asked for.
    """
    k, table = uncertain_k(policy), masked.table
    with ThreadPoolExecutor(2) as pool:  # hashing and counting need no lock of Python's
        digest = pool.submit(file_digest, table.path) if table.path else None
        repeated = pool.submit(find_repeated_identifiers, masked.original, policy)
        with timed(seconds, "read"):
            records = read_records(table, policy, k)
        with timed(seconds, "search"):
            drawn = draw_densities(records, k, policy.publish, Randomness(policy.search.seed, "centres"), progress)
        with timed(seconds, "recode"):
            order = Randomness(policy.search.seed, "order of densities").permutation(table.rows)
            published = publish_densities(table, records, drawn, order)
        found = digest.result() if digest else None
        publication = UncertainPublication(
            policy, table, records, drawn, order, published, found, seconds, repeated.result(), masked
        )
    return UncertainRelease(publication)


def uncertain_findings(
    assessment: UncertainAssessment, verdict: Verdict, seconds: Mapping[str, float]
) -> dict[str, Any]:
    """What the audit says of densities, once all is measured."""
    return {
        "privacy": [finding.as_json() for finding in verdict.privacy],
        "spreads": assessment.spread_figures(),
        "utility": assessment.likeness.as_json() | {"range_counts": assessment.counts.as_json()},
        "risk": assessment.linkage.as_json(),
        "warnings": assessment.warnings,
        **({"masked": assessment.masking.as_json()} if assessment.masking else {}),
        "seconds": dict(seconds),
    }


def _measure(assessment: UncertainAssessment) -> object:
    return assessment.linkage, assessment.counts, assessment.likeness, assessment.masking


def _evidence(publication: UncertainPublication) -> Mapping[str, Any]:
    return {TRUE_VALUES_FILE: publication.truth}


def _page(assessment: UncertainAssessment, verdict: Verdict) -> str:
    from sfumato.report.uncertain_report import uncertain_report  # noqa: PLC0415 - not before a release is written

    return uncertain_report(assessment, verdict)


class UncertainRelease(AssessedRelease):
    """Records that are densities, and the account of them: `uncertain` is of the kind of table that came in."""

    accounts = Accounts(_measure, _evidence, draft_uncertain_manifest, draft_drawn_audit, uncertain_findings, _page)

    def __init__(self, publication: UncertainPublication, verdict: Verdict | None = None) -> None:
        super().__init__(publication, UncertainAssessment(publication), verdict)

    def __repr__(self) -> str:
        """In one line, and without a row: what is printed or logged may go anywhere."""
        return f"<UncertainRelease of {self.rows:,} records as {self.policy.publish.density} densities>"

    def display(self) -> Display:
        """Show what was promised, what holds, who is found and what it is worth: figures, and no row."""
        findings = [
            (one["model"], keys(one["required"]), keys(one["achieved"]), "yes" if one["satisfied"] else "no")
            for one in self.privacy
        ]
        title = f"{plural(self.rows, 'record')} as {self.policy.publish.density} densities"
        figures = FigureTable(("densities", ""), self.assessment.lines())
        return Display(title, [FigureTable(("promise", "asked", "holds", "met"), findings), figures], self.warnings)

    @cached_property
    def uncertain(self) -> Any:
        """The densities: centres under the names of columns, and their spreads, as the kind of table that came in."""
        return self.native()

    def _look(self) -> Verdict:
        return verify_densities(self.publication)

    @property
    def utility(self) -> "Likeness":
        """How like the true values the centres are."""
        found: Likeness = self.assessment.likeness
        return found

    @property
    def risk(self) -> "DensityLinkage":
        """How often densities are matched with their own record."""
        found: DensityLinkage = self.assessment.linkage
        return found


def verify_densities(publication: UncertainPublication) -> Verdict:
    """Let the verifier look at densities in memory, and at the true values beside the rows that came in.

    Raises:
        NotVerified: it does not pass them.
    """
    policy = publication.policy
    stated = {
        "columns": describe_uncertain_columns(publication),
        "density": policy.publish.density,
        "strata": list(policy.search.strata),
    }
    statement = UncertainStatement.from_manifest(stated, state_requirements(policy))
    came = publication.source.arrow.take(arrow_numbers(publication.order))
    return require_passed(verify_uncertain_tables(publication.table.arrow, publication.truth, statement, came))
