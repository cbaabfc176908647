"""The manifest and the audit as they were found, checked for form before anything is believed.

Both are JSON files that anybody may have changed. A missing key or a wrong type is a sentence, never a traceback.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sfumato.errors import InputError, NotVerified
from sfumato.verifier.files import SUMMARY
from sfumato.verifier.layout import CHANGED, Account, check_layout, keys
from sfumato.verifier.linkage.earlier import Earlier, are_previous, are_taxonomies
from sfumato.verifier.promise import Needs, Promise
from sfumato.verifier.rules import objection

_ROLES = frozenset({"individual", "quasi", "sensitive", "plain"})


def _is_hash(known: Any) -> bool:
    return isinstance(known, dict) and isinstance(known.get("sha256"), str)


def _is_page(value: Any) -> bool:
    return _is_hash(value) and value.get("file") == SUMMARY


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _are_tables(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


_KEYS: dict[str, Callable[[Any], bool]] = {
    "files": lambda value: isinstance(value, dict) and all(map(_is_hash, value.values())),
    "columns": _are_tables,
    "promise": lambda value: isinstance(value, list) and bool(value),
    "rows": _is_count,
    "classes": _is_count,
    "csv": lambda value: isinstance(value, dict) and isinstance(value.get("null"), str),
    "privacy": _are_tables,
    "suppression_limit": _is_share,
    "previous": are_previous,
    "taxonomies": are_taxonomies,
    "summary": _is_page,
}
_OPTIONAL = frozenset({"csv", "privacy", "suppression_limit", "previous", "taxonomies", "summary"})


def check_manifest(manifest: Account) -> None:
    """Raise where the manifest lacks something that verification needs.

    >>> check_manifest({})
    Traceback (most recent call last):
    sfumato.errors.NotVerified: manifest.json has no proper 'files': ...
    """
    _check_keys(manifest)
    _check_columns(manifest["columns"])
    check_layout(manifest)
    persons = any(column["role"] == "individual" for column in manifest["columns"])
    for rule in manifest["promise"]:
        if found := objection(rule, persons=persons):
            raise NotVerified(f"manifest.json: {found}; {CHANGED}")


def promised(manifest: Account, audit: Account, requirements: Sequence[Mapping[str, Any]] | None = None) -> Promise:
    """The promise as the manifest states it, with what the private audit adds to check it.

    `requirements` replace those of the manifest.
    """
    check_manifest(manifest)
    if requirements is not None and not requirements:
        raise InputError("there is no requirement to verify; give one at least")
    by_role: dict[str, list[str]] = {role: [] for role in _ROLES}
    for column in manifest["columns"]:
        by_role[column["role"]].append(column["name"])
    return Promise(
        tuple(by_role["quasi"]),
        tuple(by_role["sensitive"]),
        next(iter(by_role["individual"]), None),
        tuple(manifest["promise"] if requirements is None else requirements),
        _needs(audit),
        _costs(audit),
        complete=manifest.get("suppression_limit") == 0,
        ordered=frozenset(column["name"] for column in manifest["columns"] if column.get("hierarchy")),
        previous=_previous(manifest, audit),
        taxonomies=manifest.get("taxonomies", {}),
    )


def _check_keys(manifest: Account) -> None:
    for key, test in {**_KEYS, **keys(manifest)}.items():
        if (key in manifest or key not in _OPTIONAL) and not test(manifest.get(key)):
            raise NotVerified(f"manifest.json has no proper '{key}': {CHANGED}")


def _check_columns(columns: Sequence[Account]) -> None:
    names, roles = [column.get("name") for column in columns], [column.get("role") for column in columns]
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise NotVerified(f"manifest.json names its columns in no proper way: {CHANGED}")
    if any(not isinstance(role, str) or role not in _ROLES for role in roles):
        raise NotVerified(f"manifest.json gives a column a role that does not exist: {CHANGED}")
    if "quasi" not in roles or roles.count("individual") > 1:
        raise NotVerified(f"manifest.json needs a quasi-identifier, and one individual column at most: {CHANGED}")
    for column in columns:
        if not isinstance(column.get("labels", []), list) or not isinstance(column.get("type", ""), str):
            raise NotVerified(f"manifest.json describes column '{column['name']}' in no proper way: {CHANGED}")


def _previous(manifest: Account, audit: Account) -> tuple[Earlier, ...]:
    try:
        paths = {entry["name"]: entry["path"] for entry in audit.get("previous", [])}
        sound = all(isinstance(text, str) for pair in paths.items() for text in pair)
    except (AttributeError, KeyError, TypeError):
        sound = False
    if not sound:
        raise NotVerified(f"audit.json does not say properly where earlier releases are: {CHANGED}")
    return tuple(Earlier.from_json(entry, paths.get(entry["name"])) for entry in manifest.get("previous", []))


def _needs(audit: Account) -> dict[str, Needs]:
    try:
        needs = {column: Needs.from_json(data) for column, data in audit.get("needs", {}).items()}
        sound = all(each.sound for each in needs.values())
    except (AttributeError, KeyError, TypeError):
        sound = False
    if not sound:
        raise NotVerified(f"audit.json does not describe the sensitive columns properly: {CHANGED}")
    return needs


def _costs(audit: Account) -> dict[str, dict[tuple[str, str], float]]:
    try:
        costs = {
            column: {(str(a), str(b)): float(cost) for a, b, cost in lines}
            for column, lines in audit.get("costs", {}).items()
        }
        sound = all(math.isfinite(cost) and cost >= 0 for pairs in costs.values() for cost in pairs.values())
    except (AttributeError, TypeError, ValueError):
        sound = False
    if not sound:
        raise NotVerified(f"audit.json does not list costs properly: {CHANGED}")
    return costs
