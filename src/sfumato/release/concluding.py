"""The end of writing a release: what was measured meanwhile, and the accounts with what the verifier found."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.release import manifest
from sfumato.release.earlier import intersected
from sfumato.table.files import file_digest
from sfumato.verifier.release_files import SUMMARY

if TYPE_CHECKING:
    from sfumato.release.release import Release

Account = dict[str, Any]


def get_ready() -> None:
    """Import what a release is concluded with: a command can do so while it waits for its table."""
    from sfumato.release import attacks, report, summary  # noqa: F401, PLC0415 - not before a release is written
    from sfumato.release.seen import figures  # noqa: F401, PLC0415 - same


def measure_all(release: "Release") -> None:
    """Try the attacks and work out the figures, which the release keeps; and import what writes them down."""
    get_ready()
    release.attacks  # noqa: B018 - asked for, it is there
    release.figures  # noqa: B018


def conclude(release: "Release", stage: Path, account: Account, record: Account) -> None:
    """Add what the verifier found to the accounts, and write the page for readers and the report.

    The page is made of the manifest as it is then and of what is published; the manifest gets its hash, and the audit
    that of the manifest.
    """
    from sfumato.release.report import report  # noqa: PLC0415 - see above

    public, private = stage / "public", stage / "private"
    release.__dict__["attacks"] = replace(release.attacks, earlier=intersected(release, stage))
    account["privacy"] = manifest.public_findings(release.verdict, release.recoding)
    account["summary"] = _page(release, public / SUMMARY, account)
    write_json(public / "manifest.json", account)
    found = _found(release) | {"manifest_sha256": file_digest(public / "manifest.json")}
    write_json(private / "audit.json", record | found)
    (private / "report.html").write_text(report(release), encoding="utf-8")
    for path in private.iterdir():
        path.chmod(0o600)  # so that a copy of a file alone stays private too


def _page(release: "Release", path: Path, account: Account) -> dict[str, str]:
    """Write the page for readers; it gets the manifest and the published columns, and nothing else."""
    from sfumato.release.summary import summary  # noqa: PLC0415 - see above

    columns = [table.columns for table in release.tables.values()]
    page = summary(account, dict(zip(account["files"], columns, strict=True)))
    path.write_text(page, encoding="utf-8")
    return {"file": path.name, "sha256": file_digest(path)}


def _found(release: "Release") -> Account:
    """What the audit says besides: findings, risk, attacks, warnings and seconds."""
    found: Account = {"privacy": release.privacy, "risk": release.risk.as_json(), "seconds": dict(release.seconds)}
    found |= {"warnings": release.warnings, "attacks": release.attacks.as_json()}
    found |= {"persons": release.persons.as_json()} if release.persons else {}
    return found | ({"ties": {name: asdict(tie) for name, tie in release.ties.items()}} if release.ties else {})


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write an account."""
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
