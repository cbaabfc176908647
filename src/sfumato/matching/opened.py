"""A release, or a file of anybody's, opened by the columns that are wanted of it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.errors import InputError
from sfumato.matching.outside import Options, check_names, names_of
from sfumato.matching.shown import Shown
from sfumato.matching.sources import file_shown, read_shown
from sfumato.policy import Policy
from sfumato.queries.account import Account, read_account

PUBLISHED = ("quasi", "sensitive", "plain")
"""The roles of columns that are published, pseudonyms apart."""


def opened(path: Path, wanted: Sequence[str], policy: Policy | None) -> Shown:
    """A release folder, the table of one, or a file; with the columns that are wanted and those to learn of people."""
    folder = folder_of(path)
    if folder is None:
        names = names_of(path, options_of(policy, None))
        sensitive = [one.name for one in policy.sensitive if one.name in names] if policy else []
        return file_shown(path, list(dict.fromkeys([*wanted, *sensitive])), policy, options_of(policy, None))
    roles = {entry["name"]: entry.get("role") for entry in read_account(folder).columns}
    check_names(wanted, list(roles), str(folder))
    named = [name for name in wanted if roles[name] == "individual"]
    if named:
        raise InputError(f"column '{named[0]}' of {folder} has random pseudonyms, which nobody knows; leave it out")
    return read_shown(folder, [one for one in dict.fromkeys(wanted) if roles[one] not in {"quasi", "sensitive"}])


def published(path: Path, policy: Policy | None) -> list[str]:
    """All columns that are published: by the manifest of a release, or by the policy of a file."""
    folder = folder_of(path)
    if folder is not None:
        return [entry["name"] for entry in read_account(folder).columns if entry.get("role") in PUBLISHED]
    if policy is None:
        raise InputError(f"which columns of {path.name} may be known? name them (--columns), or give a policy")
    names = names_of(path, options_of(policy, None))
    found = [one.name for one in policy.columns.values() if str(one.role) in PUBLISHED and one.name in names]
    check_names([one.name for one in policy.quasi], names, path.name)
    return found


def folder_of(path: Path) -> Path | None:
    """The folder of a release, where this is one or its table; nothing for a file of anybody's."""
    if path.is_dir():
        return path
    beside = path.is_file() and (path.parent / "manifest.json").is_file()
    return path.parent if beside and path.stem in {"table", "nss"} else None


def options_of(policy: Policy | None, account: Account | None) -> dict[str, Any]:
    """How a table is read: as the policy says, or the one that a release was made with, or with its text for NULL."""
    data = audited(account).get("data") if account is not None and policy is None else None
    if policy is not None:
        data = policy.document.get("data")
    if isinstance(data, Mapping):
        return {key: value for key, value in data.items() if key != "source"}
    return {} if account is None else {"null": list(dict.fromkeys([account.null, ""]))}


def outside_options(policy: Policy | None, account: Account) -> Options:
    """How a table from elsewhere is read: its separator is its own."""
    return {key: value for key, value in options_of(policy, account).items() if key != "separator"}


def audited(account: Account) -> Mapping[str, Any]:
    """The policy that a release was made with, from the private account beside it; nothing where that is not there."""
    try:
        record = json.loads((account.folder.parent / "private" / "audit.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    policy = record.get("policy") if isinstance(record, dict) else None
    return policy if isinstance(policy, dict) else {}
