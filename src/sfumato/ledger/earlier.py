"""The tables of earlier releases that a promise speaks of: which they are, and where they are found."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sfumato.errors import InputError, NotVerified
from sfumato.ledger.entry import Entry, is_plain
from sfumato.ledger.objects import digest


def stored_tables(entries: Iterable[Entry]) -> dict[str, Path]:
    """The tables that a ledger has, by SHA-256."""
    return {sha256: path for entry in entries for path, sha256 in zip(entry.paths, entry.tables.values(), strict=True)}


def found_tables(
    manifest: Mapping[str, Any], audit: Mapping[str, Any], stored: Mapping[str, Path], given: Mapping[str, Path]
) -> dict[str, Path]:
    """Where they are: the `given` ones by name, those `stored` by SHA-256, or those that the audit names."""
    wanted, named = wanted_tables(manifest), _named(audit)
    for name in given:
        if name not in wanted:
            raise InputError(f"the release has no earlier release '{name}'; leave out --previous {name}")
    places = {name: given.get(name) or stored.get(sha256) or named.get(name) for name, (_, sha256) in wanted.items()}
    for name, path in places.items():
        if path is None or digest(path) != wanted[name][1]:
            raise InputError(
                f"the table of the earlier release '{name}' as it was published is needed to verify this one; "
                f"give it with --previous {name}=FILE"
            )
    return {name: path for name, path in places.items() if path is not None}


def wanted_tables(manifest: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """The file name and SHA-256 of the table of each earlier release."""
    try:
        found = {one["name"]: (one["table"], one["sha256"]) for one in manifest.get("previous", [])}
        sound = all(is_plain(part) for name, line in found.items() for part in (name, *line))
    except (KeyError, TypeError):
        sound = False
    if not sound:
        raise NotVerified("manifest.json does not name its earlier releases properly; it was changed after publication")
    return found


def _named(audit: Mapping[str, Any]) -> dict[str, Path]:
    try:
        return {one["name"]: Path(one["path"]) for one in audit.get("previous", [])}
    except (KeyError, TypeError):
        return {}
