"""A complete release folder, for what compares it with the original: its files, its manifest and its policy.

The manifest is checked by the verifier's own rules, and only what stands above both may know the verifier and policies.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.errors import InputError, NotVerified
from sfumato.labels.data_dictionary import is_valid_entry
from sfumato.policy import Policy, load
from sfumato.policy.options import DRAWN_FORMS
from sfumato.reading.release_reader import AUDIT, MANIFEST
from sfumato.settled_policy import settle_policy
from sfumato.verifier.accounts import check_manifest
from sfumato.verifier.release_files import listed_file, read_json


@dataclass(frozen=True)
class CompleteRelease:
    """A complete release: its public part, its manifest, checked for form, and its policy."""

    public: Path
    manifest: dict[str, Any]
    policy: Policy


def open_complete_release(
    release: Path,
    policy: str | os.PathLike[str] | Mapping[str, Any] | Policy | None,
    original: Any,
    *,
    drawn: bool = False,
) -> CompleteRelease:
    """Open a release; its policy is the given one, or the one in the audit, settled for the original table.

    A `Policy` that is given is that of the release itself, and no audit is needed. Only who says `drawn` can do with
    rows that have neither labels nor classes.
    """
    if not isinstance(release, Path):
        raise InputError(f"give a release, or the folder of one, not a {type(release).__name__}")
    public, audit = release / "public", release / "private" / AUDIT
    if not (public / MANIFEST).exists() or not (audit.exists() or isinstance(policy, Policy)):
        raise InputError(f"{release} is not a complete release folder; name the folder that anonymize wrote")
    try:
        manifest, record = read_json(public / MANIFEST), read_json(audit) if audit.exists() else {}
        check_manifest(manifest)
        for name in manifest["files"]:
            listed_file(public, name)  # a name that leads elsewhere is refused before anything is read
    except NotVerified as error:
        raise InputError(str(error)) from None  # nothing was to be verified: the folder is bad input
    if manifest["form"] in DRAWN_FORMS and not drawn:
        raise InputError(
            f"a release of the form {manifest['form']} has no labels or classes to compare; what it hides and what it "
            "is worth is in its private report and its audit.json"
        )
    if not all(map(is_valid_entry, manifest["columns"])):
        raise InputError("manifest.json has no proper 'columns': it was changed after publication")
    if policy is None and not (isinstance(record.get("policy"), dict) and isinstance(record.get("folder"), str)):
        raise InputError("audit.json does not say what the policy was; give it with --policy")
    # what a ledger asked for besides does not go with every algorithm, and is no matter here
    rules = load(policy) if policy else Policy.read(record["policy"], folder=Path(record["folder"]), lenient=True)
    return CompleteRelease(public, manifest, settle_policy(rules, original))
