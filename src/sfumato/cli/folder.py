"""A release folder, for commands that compare it with the original: its files, its manifest and its policy."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.errors import InputError, NotVerified
from sfumato.policy import Policy, load
from sfumato.verifier.accounts import check_manifest
from sfumato.verifier.release_files import read_json, table_path


@dataclass(frozen=True)
class Folder:
    """A complete release: its public part, its manifest, checked for form, and its policy."""

    public: Path
    manifest: dict[str, Any]
    policy: Policy


def opened(release: Path, policy: Path | None) -> Folder:
    """Open a release; its policy is the given one, or the one in the audit."""
    public, audit = release / "public", release / "private" / "audit.json"
    if not (public / "manifest.json").exists() or not audit.exists():
        raise InputError(f"{release} is not a complete release folder; name the folder that anonymize wrote")
    try:
        manifest, record = read_json(public / "manifest.json"), read_json(audit)
        check_manifest(manifest)
        for name in manifest["files"]:
            table_path(public, name)  # a name that leads elsewhere is refused before anything is read
    except NotVerified as error:
        raise InputError(str(error)) from None  # nothing was to be verified: the folder is bad input
    if policy is None and not {"policy", "folder"} <= record.keys():
        raise InputError("audit.json does not say what the policy was; give it with --policy")
    # what a ledger asked for besides does not go with every algorithm, and is no matter here
    rules = load(policy) if policy else Policy.read(record["policy"], folder=Path(record["folder"]), lenient=True)
    return Folder(public, manifest, rules)
