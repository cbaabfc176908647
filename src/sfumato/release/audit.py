"""The audit: the account that stays with the data holder.

It tells of rows that were not published, of the seed and of the input file.
"""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sfumato._version import __version__
from sfumato.publish.manifest import describe_search
from sfumato.publish.promise import ground_distances
from sfumato.publish.publication import Publication
from sfumato.release.verification import needs_of
from sfumato.report.assessment import Assessment
from sfumato.utility import Utility
from sfumato.verifier import Verdict

if TYPE_CHECKING:
    from sfumato.attack.all_attacks import Attacks


UNMEASURED = (
    "risk of the table as it came in",
    "correlation of columns",
    "errors of counting queries",
    "the minimality attack",
)
"""What is left out where lines are those of a coarse table."""


def draft_audit(publication: Publication, utility: Utility) -> dict[str, Any]:
    """The private account before the verifier has spoken: all that it needs besides the manifest, and further rows."""
    policy, encoded, linked = publication.policy, publication.encoded, publication.linked_releases
    needs, costs = needs_of(encoded.domains, policy), ground_distances(policy)
    content: dict[str, Any] = {
        "sfumato": __version__,
        "written": datetime.now(tz=UTC).isoformat(timespec="seconds"),
        "policy": policy.document,
        "folder": str(policy.folder.resolve()),
        "input": {"sha256": publication.input_digest, "rows": publication.input_rows},
        "seed": policy.search.seed,
        "randomness": "operating system" if policy.search.seed is None else "seed: for tests and papers only",
        "suppressed": {
            "rows": publication.suppressed,
            "reason": publication.why_suppressed,
        },
        "algorithm": publication.recoding.algorithm,
        **describe_search(publication.recoding),
        "utility": utility.as_json(),
        "needs": {name: column.as_json() for name, column in needs.items()},
        "costs": {name: [[a, b, cost] for (a, b), cost in pairs.items()] for name, pairs in costs.items()},
    }
    if policy.search.time_limit is not None:
        content["ended_early"] = publication.recoding.early
    if (why := encoded.why_unmeasured) is not None:
        content["not_measured"] = {"figures": list(UNMEASURED), "reason": why}
    if policy.matched:
        content["patterns"] = {pattern: list(columns) for pattern, columns in policy.matched.items()}
    if publication.masked:
        content["masking"] = publication.masked.state.as_json()
    if linked is not None and linked.earlier:
        content["previous"] = [
            {"name": earlier.name, "path": str(earlier.path.resolve())} for earlier in linked.earlier
        ]
    if (extension := publication.extension) is not None:
        content["extends"] = {
            "folders": [str(release.public.resolve()) for release in extension.releases if release.public is not None],
            "needs": {name: column.as_json() for name, column in needs_of(extension.domains, policy).items()},
            "left_out": extension.left_out.as_json(),
            "failing_alone": extension.failing_alone,
            "same_people": None if extension.same_people is None else dict(extension.same_people),
        }
    return content


def audit_findings(
    assessment: Assessment, verdict: Verdict, attacks: "Attacks", seconds: dict[str, float]
) -> dict[str, Any]:
    """What the audit says besides, once all is measured: findings, risk, attacks and seconds."""
    content: dict[str, Any] = {
        "privacy": [finding.as_json() for finding in verdict.privacy],
        "risk": assessment.risk.as_json(),
        "seconds": dict(seconds),
        "attacks": attacks.as_json(),
    }
    if assessment.persons:
        content["persons"] = assessment.persons.as_json()
    if assessment.masking:
        content["masked"] = assessment.masking.as_json()
    if assessment.ties:
        content["ties"] = {name: asdict(tie) for name, tie in assessment.ties.items()}
    return content
