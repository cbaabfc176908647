"""Write a release of drawn rows: table, accounts and evidence into a hidden folder, the verdict; then it appears."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sfumato._version import __version__
from sfumato.publish.database_tables import pending_tables
from sfumato.publish.drawn_publication import DrawnPublication, draft_drawn_manifest
from sfumato.publish.signing_key import SIGNATURE_FILE, SigningKey, check_signing_key_apart
from sfumato.publish.table_writer import write_table
from sfumato.publish.written_table import WrittenTable
from sfumato.reading.release_reader import AUDIT, MANIFEST
from sfumato.release.folder import Stage, flush_to_disk, staged
from sfumato.release.timing import timed
from sfumato.release.verification import require_passed
from sfumato.release.write_release import write_json, write_summary
from sfumato.report.drawn_assessment import DrawnAssessment
from sfumato.table.files import file_digest
from sfumato.verifier import TrustedKey, Verdict, verify, verify_accounts
from sfumato.verifier.drawn_rows import GROUPS_FILE, STATISTICS_FILE
from sfumato.verifier.release_files import SUMMARY


@dataclass(frozen=True)
class Accounts:
    """How a kind of release is accounted for.

    `measure` works out all figures, `evidence` gives the private tables by their file, `manifest` and `audit` what is
    said before the verifier has spoken, `findings` what is said after, and `page` the private report.
    """

    measure: Callable[[Any], object]
    evidence: Callable[[Any], Mapping[str, Any]]
    manifest: Callable[[Any, Mapping[str, WrittenTable]], dict[str, Any]]
    audit: Callable[[Any], dict[str, Any]]
    findings: Callable[[Any, Verdict, Mapping[str, float]], dict[str, Any]]
    page: Callable[[Any, Verdict], str]


def write_drawn_release(  # noqa: PLR0913 - what, how and where
    assessment: Any,
    accounts: Accounts,
    target: Path,
    seconds: dict[str, float],
    *,
    force: bool = False,
    before: Callable[[Stage], object],
    key: SigningKey | None = None,
) -> Verdict:
    """Write a release folder, whole and verified, or nothing; return what the verifier found in the files.

    `before` is called when the folder is complete, before it appears under its name, and may still refuse it.

    Raises:
        NotVerified: the verifier does not pass what was written.
        OutputError: the folder, or a table in the policy's database, exists or cannot be written.
    """
    publication = assessment.publication
    policy = publication.policy
    check_signing_key_apart(key, policy, target, publication.source.path)
    with ExitStack() as databases, staged(target, force=force) as hidden, ThreadPoolExecutor(2) as pool:
        public, private = hidden.path / "public", hidden.path / "private"
        measuring = pool.submit(accounts.measure, assessment)
        public.mkdir()
        private.mkdir(mode=0o700)
        with timed(seconds, "write"):
            files = {name: write_table(table, public / name, policy) for name, table in publication.tables.items()}
            flushing = [pool.submit(flush_to_disk, file.path) for table in files.values() for file in table.files]
            evidence = _write_evidence(accounts.evidence(publication), private)
            account = accounts.manifest(publication, files)
            record = accounts.audit(publication) | {"evidence": evidence}
            write_json(public / MANIFEST, account)
            write_json(private / AUDIT, record)
        with timed(seconds, "verify"):
            verdict = require_passed(verify(hidden.path, spill=hidden.path))
        with timed(seconds, "write"):
            measuring.result()
            account["privacy"] = [finding.as_json() for finding in verdict.privacy]
            if key is not None:
                account["signed_by"] = key.fingerprint
            account["summary"] = write_summary(publication.tables, public / SUMMARY, account)
            write_json(public / MANIFEST, account)
            record |= accounts.findings(assessment, verdict, seconds)
            write_json(private / AUDIT, record | {"manifest_sha256": file_digest(public / MANIFEST)})
            if key is not None:
                (public / SIGNATURE_FILE).write_bytes(key.sign((public / MANIFEST).read_bytes()))
            (private / "report.html").write_text(accounts.page(assessment, verdict), encoding="utf-8")
            for path in private.iterdir():
                path.chmod(0o600)
        trusted = None if key is None else TrustedKey.from_pem(key.public_pem, str(key.path))
        verdict = require_passed(verify_accounts(hidden.path, verdict, key=trusted))
        for flushed in flushing:
            flushed.result()
        if policy.publish.to is not None:
            with timed(seconds, "write"):
                commit = databases.enter_context(pending_tables(policy.publish.to, publication.tables, force=force))
                hidden.last_steps.append(commit)
        before(hidden)
    return verdict


def _write_evidence(evidence: Mapping[str, Any], private: Path) -> dict[str, str | None]:
    """Write what is needed of the original by whoever verifies it again, in tables.

    Returns the SHA-256 of each file, by which the audit knows them.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415 - only where rows are drawn

    for name, table in evidence.items():
        pq.write_table(table, private / name)
    return {name: file_digest(private / name) for name in evidence}


def draft_drawn_audit(publication: Any) -> dict[str, Any]:
    """The private account before the verifier has spoken."""
    policy = publication.policy
    return {
        "sfumato": __version__,
        "written": datetime.now(tz=UTC).isoformat(timespec="seconds"),
        "policy": policy.document,
        "folder": str(policy.folder.resolve()),
        "input": {"sha256": publication.input_digest, "rows": publication.source.rows},
        "seed": policy.search.seed,
        "randomness": "operating system" if policy.search.seed is None else "seed: for tests and papers only",
        "suppressed": {"rows": 0, "reason": None},
        "algorithm": policy.recoder,
        **({"patterns": {name: list(became) for name, became in policy.matched.items()}} if policy.matched else {}),
    }


def drawn_findings(assessment: DrawnAssessment, verdict: Verdict, seconds: Mapping[str, float]) -> dict[str, Any]:
    """What the audit says besides, once all is measured."""
    sizes = assessment.publication.condensed.persons
    return {
        "privacy": [finding.as_json() for finding in verdict.privacy],
        "groups": {"number": len(sizes), "smallest": int(sizes.min()), "largest": int(sizes.max())},
        "utility": assessment.likeness.as_json(),
        "risk": None if assessment.closest is None else assessment.closest.as_json(),
        "warnings": assessment.warnings,
        **({"masked": assessment.masking.as_json()} if assessment.masking else {}),
        "seconds": dict(seconds),
    }


def _private_page(assessment: DrawnAssessment, verdict: Verdict) -> str:
    from sfumato.report.drawn_report import drawn_report  # noqa: PLC0415 - not before a release is written

    return drawn_report(assessment, verdict)


def _evidence(publication: DrawnPublication) -> Mapping[str, Any]:
    """Which group each row was drawn for, and the statistics of groups."""
    return {GROUPS_FILE: publication.groups, STATISTICS_FILE: publication.statistics}


def _measure(assessment: DrawnAssessment) -> object:
    return assessment.likeness, assessment.closest, assessment.masking


DRAWN_ACCOUNTS = Accounts(_measure, _evidence, draft_drawn_manifest, draft_drawn_audit, drawn_findings, _private_page)
"""Those of drawn rows."""
