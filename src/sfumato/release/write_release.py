"""Write a release: tables and accounts into a hidden folder, the verdict on the files, the reports; then it appears."""

import hashlib
import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.core.memory import give_back_memory
from sfumato.publish import manifest
from sfumato.publish.database_tables import pending_tables
from sfumato.publish.pseudonyms import check_key_apart
from sfumato.publish.publication import Publication
from sfumato.publish.published_table import PublishedTable
from sfumato.publish.signing_key import SIGNATURE_FILE, SigningKey, check_signing_key_apart
from sfumato.publish.table_writer import write_table
from sfumato.reading.release_reader import MANIFEST
from sfumato.recode.saved_recoding import RECODING_FILE, SavedRecoding
from sfumato.release.audit import audit_findings, draft_audit
from sfumato.release.folder import Stage, flush_to_disk, staged
from sfumato.release.timing import timed
from sfumato.release.verification import require_passed, verify_publication
from sfumato.release.warnings import release_warnings
from sfumato.report.assessment import Assessment
from sfumato.table.files import file_digest
from sfumato.verifier import TrustedKey, Verdict, verify, verify_accounts
from sfumato.verifier.release_files import SUMMARY

if TYPE_CHECKING:
    from sfumato.attack.all_attacks import Attacks
    from sfumato.attack.result import AttackResult
    from sfumato.masking import MaskingFigures
    from sfumato.report.report_figures import ReportFigures


_VERIFYING, _LEAST_VERIFYING = 3, 400_000_000
"""The verifier takes this part of the memory that is allowed, and has so much in any case."""


def write_release(
    assessment: Assessment,
    target: Path,
    seconds: dict[str, float],
    *,
    force: bool = False,
    before: Callable[[Stage], object],
    key: SigningKey | None = None,
) -> "tuple[Verdict, Attacks]":
    """Write a release folder, whole and verified, or nothing; return what verifier and attacks found in the files.

    `before` is called when the folder is complete, before it appears under its name, and may still refuse it. The
    manifest is signed with the `key`, where there is one, and the verifier holds the signature against its public half.
    The time that writing and verifying take is added to `seconds`.

    Raises:
        NotVerified: the verifier does not pass what was written.
        OutputError: the folder, or a table in the policy's database, exists or cannot be written.
    """
    publication = assessment.publication
    check_key_apart(publication.policy, target)
    check_signing_key_apart(key, publication.policy, target, publication.source.path)
    with ExitStack() as databases, staged(target, force=force) as hidden, ThreadPoolExecutor(2) as pool:
        stage = hidden.path
        # attacks are tried and figures worked out by the way: writing and verifying leave a processor idle
        measuring = pool.submit(_measure, assessment)
        public, private = stage / "public", stage / "private"
        public.mkdir()
        private.mkdir(mode=0o700)
        with timed(seconds, "write"):
            files = {
                name: write_table(table, public / name, publication.policy)
                if publication.rows_elsewhere is None
                else publication.rows_elsewhere.write(name, public / name)
                for name, table in publication.tables.items()
            }
            # the disk takes the tables while they are verified
            flushing = [pool.submit(flush_to_disk, file.path) for table in files.values() for file in table.files]
            account = manifest.draft_manifest(publication, files)
            record = draft_audit(publication, assessment.utility)
            if not publication.split:  # the labels of two tables are the values themselves
                record["recoding"] = _write_recoding(publication, private / RECODING_FILE)
            write_json(public / MANIFEST, account)
            write_json(private / "audit.json", record)
        if publication.rows_elsewhere is not None:
            give_back_memory()  # what labelling and writing have freed, so that the verifier has it
        with timed(seconds, "verify"):
            verdict = require_passed(verify(stage, memory=_verifying_memory(publication), spill=stage))
        with timed(seconds, "write"):
            attacks = replace(measuring.result()[0], intersect=_intersect(publication, stage))
            warnings = release_warnings(publication, assessment.persons, assessment.masking)
            page = pool.submit(_private_page, assessment, verdict, attacks, warnings)
            if key is not None:
                account["signed_by"] = key.fingerprint
            _write_accounts(assessment, stage, verdict, attacks, seconds, account, record | {"warnings": warnings})
            if key is not None:
                (public / SIGNATURE_FILE).write_bytes(key.sign((public / MANIFEST).read_bytes()))
            (private / "report.html").write_text(page.result(), encoding="utf-8")
            for path in private.iterdir():
                path.chmod(0o600)  # so that a copy of a file alone stays private too
        trusted = None if key is None else TrustedKey.from_pem(key.public_pem, str(key.path))
        verdict = require_passed(verify_accounts(stage, verdict, key=trusted))
        for flushed in flushing:
            flushed.result()
        if publication.policy.publish.to is not None:
            with timed(seconds, "write"):
                commit = databases.enter_context(
                    pending_tables(publication.policy.publish.to, publication.tables, force=force)
                )
                verify_publication(publication)  # which is what the database holds, cell by cell
                hidden.last_steps.append(commit)
        before(hidden)
    return verdict, attacks


def _verifying_memory(publication: Publication) -> int | None:
    """How much the verifier may take, beside what is held; nothing is said where rows are in memory anyway."""
    elsewhere = publication.rows_elsewhere
    return None if elsewhere is None else max(elsewhere.memory // _VERIFYING, _LEAST_VERIFYING)


def _write_recoding(publication: Publication, path: Path) -> dict[str, str]:
    """Save the recoding for further rows; the audit gets its hash."""
    if publication.extension is not None:  # further rows after these may be of any class that is published
        saved = publication.extension.recoding
    else:
        saved = SavedRecoding.from_recoding(publication.encoded, publication.recoding, publication.policy)
    path.write_bytes(text := saved.as_text())
    return {"file": path.name, "sha256": hashlib.sha256(text).hexdigest()}


def _measure(assessment: Assessment) -> "tuple[Attacks, ReportFigures, MaskingFigures]":
    return assessment.attacks, assessment.figures, assessment.masking


def _intersect(publication: Publication, stage: Path) -> "tuple[AttackResult, ...]":
    """Try the intersection with earlier releases, on the files."""
    from sfumato.attack.all_attacks import intersect_with_earlier  # noqa: PLC0415 - not before a release is written

    return intersect_with_earlier(publication, stage)


def _private_page(assessment: Assessment, verdict: Verdict, attacks: "Attacks", warnings: list[str]) -> str:
    from sfumato.report.private_report import private_report  # noqa: PLC0415 - not before a release is written

    return private_report(assessment, verdict, attacks, warnings)


def _write_accounts(  # noqa: PLR0913, PLR0917 - all that is known of a release comes together here
    assessment: Assessment,
    stage: Path,
    verdict: Verdict,
    attacks: "Attacks",
    seconds: dict[str, float],
    account: dict[str, Any],
    record: dict[str, Any],
) -> None:
    """Add what verifier and attacks found to the accounts, and write the public summary.

    The summary is made of the manifest as it is then and of what is published; the manifest gets its hash, and the
    audit that of the manifest.
    """
    publication, public, private = assessment.publication, stage / "public", stage / "private"
    findings = [finding.as_json() for finding in verdict.privacy]
    account["privacy"] = manifest.public_findings(findings, publication)
    if (together := verdict.together) is not None:
        stated = [finding.as_json() for finding in together.privacy]
        figures = {"rows": together.rows, "classes": together.classes}
        account["extends"] |= figures | {"privacy": manifest.public_findings(stated, publication)}
    account["summary"] = write_summary(publication.tables, public / SUMMARY, account)
    write_json(public / MANIFEST, account)
    record = record | audit_findings(assessment, verdict, attacks, seconds)
    write_json(private / "audit.json", record | {"manifest_sha256": file_digest(public / MANIFEST)})


def write_summary(tables: Mapping[str, PublishedTable], path: Path, account: Mapping[str, Any]) -> dict[str, str]:
    """Write the page for readers; it gets the manifest and the published columns, and nothing else."""
    from sfumato.report.public_summary import public_summary  # noqa: PLC0415 - not before a release is written

    page = public_summary(account, {name: table.columns for name, table in tables.items()})
    path.write_text(page, encoding="utf-8")
    return {"file": path.name, "sha256": file_digest(path)}


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write an account."""
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
