"""Candidate: a release folder that is to be recorded, and what the ledger keeps of it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.errors import InputError, NotVerified
from sfumato.ledger.chain import line
from sfumato.ledger.earlier import found_tables, wanted_tables
from sfumato.ledger.objects import Source
from sfumato.ledger.verdict import verdict_on
from sfumato.verifier.accounts import check_manifest
from sfumato.verifier.release_files import public_folder, read_audit, read_bytes, read_json, read_layout, table_path

_KEPT = ("sfumato", "written", "policy", "folder", "input", "suppressed", "needs", "costs", "manifest_sha256")
"""What is kept of the audit: the policy, and what the verifier needs; neither the seed nor a figure of the report."""


@dataclass(frozen=True)
class Candidate:
    """A release, its accounts as they were read once, and where the earlier tables are that its promise speaks of."""

    folder: Path
    public: Path
    content: bytes
    manifest: Mapping[str, Any]
    audit: Mapping[str, Any]
    previous: Mapping[str, Path]

    @property
    def sha256(self) -> str:
        """Of the manifest, which has those of the tables: what makes this release this release."""
        return _sha256(self.content)

    @property
    def tables(self) -> dict[str, str]:
        """The SHA-256 of each table."""
        return {name: self.manifest["files"][name]["sha256"] for name in read_layout(self.manifest).files}

    @property
    def policy(self) -> dict[str, Any] | None:
        """The policy as it was used; unknown where there is no audit."""
        found = self.audit.get("policy")
        return found if isinstance(found, dict) else None

    @property
    def account(self) -> bytes | None:
        """What is kept of the audit."""
        if not self.audit:
            return None
        return line({key: self.audit[key] for key in _KEPT if key in self.audit}).encode()

    @property
    def files(self) -> dict[str, Source]:
        """What is kept of the release, in the shape of a release folder, so that it can be verified where it lies."""
        found = {"public/manifest.json": Source(self.content, self.sha256)}
        for name, sha256 in self.tables.items():
            found[f"public/{name}"] = Source(table_path(self.public, name), sha256)
        account = self.account
        return found | ({"private/audit.json": Source(account, _sha256(account))} if account is not None else {})

    def earlier(self, stored: Mapping[str, Path], objects: Path) -> tuple[dict[str, Source], dict[str, Path]]:
        """Earlier tables: those to keep besides, and where all of them will be; `stored` ones are not copied."""
        kept, places = dict[str, Source](), dict[str, Path]()
        for name, (file, sha256) in wanted_tables(self.manifest).items():
            places[name] = stored.get(sha256) or objects / self.sha256 / "previous" / name / file
            if sha256 not in stored:
                kept[f"previous/{name}/{file}"] = Source(self.previous[name], sha256)
        return kept, places

    def body(self, previous: Mapping[str, Path], objects: Path) -> dict[str, Any]:
        """What an entry says of the release; `previous` are the stored earlier tables."""
        account = self.account
        return {
            "manifest_sha256": self.sha256,
            "tables": self.tables,
            "account_sha256": None if account is None else _sha256(account),
            "rows": self.manifest["rows"],
            "promise": self.manifest["promise"],
            "policy": self.policy,
            "previous": {name: list(path.relative_to(objects).parts) for name, path in previous.items()},
        }

    def check(self) -> None:
        """Refuse a release that does not keep its promise."""
        verdict = verdict_on(self.folder, self.previous)
        if not verdict.satisfied:
            raise NotVerified(
                f"{self.folder} does not hold, so it was not recorded: {'; '.join(verdict.complaints)}; "
                "see sfumato verify"
            )


def read_candidate(folder: Path, stored: Mapping[str, Path], given: Mapping[str, Path] | None = None) -> Candidate:
    """Read the accounts of a release.

    Earlier tables are the `given` ones by name, those `stored` by SHA-256, or those that the audit names.
    """
    public = public_folder(folder)
    path = public / "manifest.json"
    content, manifest, audit = read_bytes(path), read_json(path), read_audit(public)
    if read_bytes(path) != content:
        raise InputError("manifest.json was changed while it was being recorded; run it again")
    check_manifest(manifest)
    return Candidate(folder, public, content, manifest, audit, found_tables(manifest, audit, stored, given or {}))


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
