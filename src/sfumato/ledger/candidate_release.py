"""A candidate: a release folder that is to be recorded, and what the ledger stores of it.

A ledger stores the public files and an extract of the audit, in the shape of a release folder, so that the copy can be
verified where it is. If the promise of the release is about a join with earlier releases, their tables are needed as
well: they are stored beside it, unless the ledger has them as releases of its own.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.errors import InputError, NotVerified, quote
from sfumato.ledger.entries import is_file_name
from sfumato.ledger.event_chain import event_text
from sfumato.ledger.stored_copies import CopySource, file_sha256
from sfumato.previous.linked_releases import find_published_table
from sfumato.reading.release_reader import MANIFEST
from sfumato.table.several_files import find_parts
from sfumato.verifier import Verdict, verify
from sfumato.verifier.accounts import check_manifest
from sfumato.verifier.release_files import (
    SIGNATURE,
    SUMMARY,
    files_of_table,
    listed_file,
    public_folder,
    read_audit,
    read_bytes,
    read_json,
    read_layout,
    stated_digest,
)

_ACCOUNT = (
    *("sfumato", "written", "policy", "folder", "input", "suppressed", "needs", "costs", "extends"),
    "manifest_sha256",
)
"""What is stored of the audit: the policy, and what the verifier needs; neither the seed nor a figure of the report."""


@dataclass(frozen=True)
class CandidateRelease:
    """A release, its manifest and audit as they were read once, and where its earlier tables are, by name.

    `content` is the text of the manifest.
    """

    folder: Path
    public: Path
    content: bytes
    manifest: Mapping[str, Any]
    audit: Mapping[str, Any]
    previous: Mapping[str, Path]

    @property
    def sha256(self) -> str:
        """The hash of the manifest, which has those of the tables: it identifies the release."""
        return _sha256(self.content)

    @property
    def tables(self) -> dict[str, str]:
        """The SHA-256 of each table, that of the list of its files where it is several."""
        return {name: stated_digest(self.manifest, name) for name in read_layout(self.manifest).files}

    @property
    def signed_files(self) -> dict[str, str]:
        """The SHA-256 of the signature of a signed release, and of the page that it covers besides; else nothing."""
        names = [SIGNATURE, SUMMARY] if "signed_by" in self.manifest else []
        found = {name: file_sha256(self.public / name) for name in names}
        return {name: sha256 for name, sha256 in found.items() if sha256 is not None}

    @property
    def account(self) -> bytes | None:
        """The extract of the audit that is stored; ``None`` where there is no audit."""
        if not self.audit:
            return None
        return event_text({key: self.audit[key] for key in _ACCOUNT if key in self.audit}).encode()

    @property
    def files(self) -> dict[str, CopySource]:
        """What is stored of the release itself, by its path in the copy."""
        files = {f"public/{MANIFEST}": CopySource(self.content, self.sha256)}
        for table in self.tables:
            for name in files_of_table(self.manifest, table):
                sha256 = self.manifest["files"][name]["sha256"]
                files[f"public/{name}"] = CopySource(listed_file(self.public, name), sha256)
        for name, sha256 in self.signed_files.items():
            files[f"public/{name}"] = CopySource(self.public / name, sha256)
        if (account := self.account) is not None:
            files["private/audit.json"] = CopySource(account, _sha256(account))
        return files

    def earlier_tables(self, stored: Mapping[str, Path], copies: Path) -> tuple[dict[str, CopySource], dict[str, Path]]:
        """List the earlier tables to store besides, and where in the ledger each of them will be.

        `stored` are the tables that the ledger has, by SHA-256; these are not copied again.
        """
        files, places = dict[str, CopySource](), dict[str, Path]()
        for name, (file, sha256) in _named_tables(self.manifest).items():
            places[name] = stored.get(sha256) or copies / self.sha256 / "previous" / name / file
            if sha256 in stored:
                continue
            if parts := find_parts(self.previous[name]):
                copied = {part: file_sha256(part) or "" for part in parts}
                files |= {f"previous/{name}/{file}/{part.name}": CopySource(part, one) for part, one in copied.items()}
            else:
                files[f"previous/{name}/{file}"] = CopySource(self.previous[name], sha256)
        return files, places

    def entry_body(self, previous: Mapping[str, Path], copies: Path) -> dict[str, Any]:
        """Write what an event says of the release; `previous` are the stored earlier tables."""
        account, policy = self.account, self.audit.get("policy")
        return {
            "manifest_sha256": self.sha256,
            "tables": self.tables,
            "signed_files": self.signed_files,
            "account_sha256": None if account is None else _sha256(account),
            "rows": self.manifest["rows"],
            "promise": self.manifest["promise"],
            "policy": policy if isinstance(policy, dict) else None,
            "previous": {name: list(path.relative_to(copies).parts) for name, path in previous.items()},
        }

    def check(self) -> None:
        """Raise `NotVerified` where the release does not keep its promise."""
        verdict = verify_release(self.folder, self.previous)
        if not verdict.satisfied:
            raise NotVerified(
                f"{self.folder} does not hold, so it was not recorded: {'; '.join(verdict.complaints)}; "
                "see sfumato verify"
            )


def read_candidate(
    folder: Path, stored: Mapping[str, Path], given: Mapping[str, Path] | None = None
) -> CandidateRelease:
    """Read the manifest and the audit of a release, and find its earlier tables.

    These are the `given` ones by name, those `stored` in the ledger by SHA-256, or those whose path the audit has.
    """
    public = public_folder(folder)
    path = public / MANIFEST
    content, manifest, audit = read_bytes(path), read_json(path), read_audit(public)
    if read_bytes(path) != content:
        raise InputError("manifest.json was changed while it was being recorded; run it again")
    check_manifest(manifest)
    previous = _find_tables(manifest, audit, stored, given or {})
    return CandidateRelease(folder, public, content, manifest, audit, previous)


def verify_release(folder: Path, previous: Mapping[str, Path], bases: Sequence[Path] = ()) -> Verdict:
    """Verify a release or the copy of one; `previous` are the tables of earlier releases that its promise names.

    `bases` are the folders of the releases that it adds rows to, where they are not where its account says.
    """
    return verify(folder, previous=dict(previous) or None, bases=bases)


def _find_tables(
    manifest: Mapping[str, Any], audit: Mapping[str, Any], stored: Mapping[str, Path], given: Mapping[str, Path]
) -> dict[str, Path]:
    named = _named_tables(manifest)
    try:
        of_audit = {release["name"]: Path(release["path"]) for release in audit.get("previous", [])}
    except (KeyError, TypeError):
        of_audit = {}
    for name in given:
        if name not in named:
            raise InputError(f"the release has no earlier release {quote(name)}; leave out --previous {name}")
    places: dict[str, Path] = {}
    for name, (_, sha256) in named.items():
        path = find_published_table(given[name]) if name in given else stored.get(sha256) or of_audit.get(name)
        if path is None or file_sha256(path) != sha256:
            raise InputError(
                f"the table of the earlier release {quote(name)} as it was published is needed to verify this one; "
                f"give it with --previous {name}=FILE"
            )
        places[name] = path
    return places


def _named_tables(manifest: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Read the file name and SHA-256 of the table of each earlier release in the manifest."""
    try:
        named = {release["name"]: (release["table"], release["sha256"]) for release in manifest.get("previous", [])}
        sound = all(is_file_name(part) for name, table in named.items() for part in (name, *table))
    except (KeyError, TypeError):
        sound = False
    if not sound:
        raise NotVerified("manifest.json does not name its earlier releases properly; it was changed after publication")
    return named


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
