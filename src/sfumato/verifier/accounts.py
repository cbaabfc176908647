"""The manifest and the audit as they were found, checked for form before anything is believed.

Both are JSON files that anybody may have changed. A missing key or a wrong type is a sentence, never a traceback.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sfumato.errors import InputError, NotVerified, quote
from sfumato.verifier.drawn_rows import DRAWN_FORMS
from sfumato.verifier.duckdb_tables import ENCODINGS
from sfumato.verifier.mask_checks import are_methods
from sfumato.verifier.numeric_bounds import BOUNDS, SPREAD
from sfumato.verifier.release_files import CHANGED, SUMMARY, JsonObject, check_layout, layout_keys
from sfumato.verifier.stated_promise import (
    TAXONOMY_ROOT,
    InputDistribution,
    MoveCosts,
    PriorRelease,
    Promise,
    StatedBound,
    StatedRequirement,
    objection,
)
from sfumato.verifier.uncertain_rows import UNCERTAIN_FORM

_BOUND = "bound"
_ROLES = frozenset({"individual", "quasi", "sensitive", "plain", "weight", _BOUND})


def read_promise(
    manifest: JsonObject, audit: JsonObject, requirements: Sequence[StatedRequirement] | None = None
) -> Promise:
    """Read the promise that the manifest states, with what the private audit adds to check it.

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
        _read_distributions(audit),
        _read_costs(audit),
        complete=manifest.get("suppression_limit") == 0,
        ordered=frozenset(column["name"] for column in manifest["columns"] if column.get("hierarchy")),
        previous=_read_previous(manifest, audit),
        taxonomies=manifest.get("taxonomies", {}),
        bounds=tuple(
            StatedBound(column["name"], column["of"], column[_BOUND], column["integers"])
            for column in manifest["columns"]
            if column["role"] == _BOUND
        ),
    )


def check_manifest(manifest: JsonObject) -> None:
    """Refuse a manifest that lacks something that verification needs.

    >>> check_manifest({})
    Traceback (most recent call last):
    sfumato.errors.NotVerified: manifest.json has no proper 'files': ...
    """
    for key, test in {**_MANIFEST_KEYS, **layout_keys(manifest)}.items():
        if (key in manifest or key not in _OPTIONAL_KEYS) and not test(manifest.get(key)):
            raise NotVerified(f"manifest.json has no proper '{key}': {CHANGED}")
    drawn = manifest.get("form") in DRAWN_FORMS
    uncertain = manifest.get("form") == UNCERTAIN_FORM
    _check_columns(manifest["columns"], drawn=drawn, bounds=(SPREAD,) if uncertain else BOUNDS)
    check_layout(manifest)
    persons = drawn or any(column["role"] == "individual" for column in manifest["columns"])
    for rule in manifest["promise"]:
        if wrong := objection(rule, persons=persons):
            raise NotVerified(f"manifest.json: {wrong}; {CHANGED}")


def _check_columns(columns: Sequence[JsonObject], *, drawn: bool = False, bounds: Sequence[str] = BOUNDS) -> None:
    names, roles = [column.get("name") for column in columns], [column.get("role") for column in columns]
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise NotVerified(f"manifest.json names its columns in no proper way: {CHANGED}")
    if any(not isinstance(role, str) or role not in _ROLES for role in roles):
        raise NotVerified(f"manifest.json gives a column a role that does not exist: {CHANGED}")
    if ("quasi" not in roles and not drawn) or roles.count("individual") > 1 or roles.count("weight") > 1:
        needs = "needs a quasi-identifier, and one individual column and one of weights at most"
        raise NotVerified(f"manifest.json {needs}: {CHANGED}")
    quasi = {name for name, role in zip(names, roles, strict=True) if role == "quasi"}
    for column in columns:
        if column["role"] == _BOUND and not _is_bound(column, quasi, bounds):
            raise NotVerified(
                f"manifest.json does not say properly what column {quote(column['name'])} is a number of: {CHANGED}"
            )
        labels = column.get("labels", [])
        texts = isinstance(labels, list) and all(label is None or isinstance(label, str) for label in labels)
        step = column.get("round", 1)
        rounded = isinstance(step, int | float) and not isinstance(step, bool) and 0 < step < float("inf")
        masked = "masked" not in column or are_methods(column["masked"])
        if not texts or not rounded or not masked or not isinstance(column.get("type", ""), str):
            raise NotVerified(f"manifest.json describes column {quote(column['name'])} in no proper way: {CHANGED}")


def _is_bound(column: JsonObject, quasi: set[Any], bounds: Sequence[str]) -> bool:
    """Whether a column of numbers says of which quasi-identifier it tells what, and whether numbers are whole."""
    of, bound = column.get("of"), column.get(_BOUND)
    known = isinstance(of, str) and of in quasi and isinstance(bound, str) and bound in bounds
    return known and isinstance(column.get("integers"), bool) and "table" not in column


# What the audit adds


def _read_distributions(audit: JsonObject) -> dict[str, InputDistribution]:
    try:
        needs = {column: InputDistribution.from_json(data) for column, data in audit.get("needs", {}).items()}
        sound = all(distribution.sound for distribution in needs.values())
    except (AttributeError, KeyError, TypeError):
        sound = False
    if not sound:
        raise NotVerified(f"audit.json does not describe the sensitive columns properly: {CHANGED}")
    return needs


def _read_costs(audit: JsonObject) -> Mapping[str, MoveCosts]:
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


def _read_previous(manifest: JsonObject, audit: JsonObject) -> tuple[PriorRelease, ...]:
    try:
        paths = {entry["name"]: entry["path"] for entry in audit.get("previous", [])}
        sound = all(isinstance(text, str) for pair in paths.items() for text in pair)
    except (AttributeError, KeyError, TypeError):
        sound = False
    if not sound:
        raise NotVerified(f"audit.json does not say properly where earlier releases are: {CHANGED}")
    return tuple(PriorRelease.from_json(entry, paths.get(entry["name"])) for entry in manifest.get("previous", []))


# The form of each key of the manifest


def are_taxonomies(value: Any) -> bool:
    """Whether a manifest's ``taxonomies`` are trees: each label has one path to the root.

    >>> are_taxonomies({"sex": [["Male", "*"], ["*"]]}), are_taxonomies({"sex": [["Male", "any"]]})
    (True, False)
    >>> are_taxonomies({"job": [["cook", "craft", "*"], ["craft", "trade", "*"]]})
    False
    """
    return isinstance(value, Mapping) and all(isinstance(name, str) and _is_tree(value[name]) for name in value)


def _is_tree(paths: Any) -> bool:
    if not isinstance(paths, list | tuple) or not all(map(_is_path, paths)):
        return False
    path_of: dict[str | None, tuple[str | None, ...]] = {}
    rests = (tuple(path[place:]) for path in paths for place in range(len(path)))
    return all(path_of.setdefault(rest[0], rest) == rest for rest in rests)


def _is_path(path: Any) -> bool:
    """Whether it goes from a label, or NULL, over other labels to the root."""
    if not isinstance(path, list | tuple) or not path or path[-1] != TAXONOMY_ROOT:
        return False
    texts = all(isinstance(label, str) for label in path[1:]) and isinstance(path[0], str | None)
    return texts and len(set(path)) == len(path)


def _are_previous(value: Any) -> bool:
    if not isinstance(value, list) or not all(isinstance(entry, dict) and _is_previous(entry) for entry in value):
        return False
    names = [entry["name"] for entry in value]
    return len(set(names)) == len(names)


def _is_extension(value: Any) -> bool:
    """Whether it names the releases that are extended by their hashes, and says what keeps the promise."""
    if not isinstance(value, dict) or value.get("promise") not in {"alone", "together"}:
        return False
    releases = value.get("releases")
    if not _are_objects(releases) or not releases or not _are_objects(value.get("privacy", [])):
        return False
    return all(_is_hash(entry.get(key)) for entry in releases for key in ("manifest_sha256", "sha256"))


def _is_hash(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


def _is_previous(entry: JsonObject) -> bool:
    """Whether an entry names its file, and says properly what its records are matched by."""
    if not all(isinstance(entry.get(key), str) and entry[key] for key in ("name", "table", "sha256")):
        return False
    if not _is_count(entry.get("rows", 0)) or not _is_dialect(entry.get("csv")):
        return False
    join: Any = entry.get("join")
    pairs = entry.get("inconsistent", [])
    if not _are_texts(join) or len(set(join)) < len(join) or not isinstance(pairs, list):
        return False
    return all(_are_texts(pair) and len(pair) == 2 and all("=" in side for side in pair) for pair in pairs)


def _is_dialect(csv: Any) -> bool:
    """Whether it says how a CSV is read; nothing is said where the file is none."""
    if csv is None:
        return True
    if not isinstance(csv, dict) or not _are_texts(csv.get("null")):
        return False
    separator, encoding = csv.get("separator", ","), csv.get("encoding", "utf-8")
    signs = isinstance(separator, str) and len(separator) == 1 and separator not in '"\r\n'
    return signs and isinstance(encoding, str) and encoding in ENCODINGS and isinstance(csv.get("guarded", False), bool)


def is_part(value: Any) -> bool:
    """Whether a manifest's ``part_of`` names a joint release, its parties, and one of them.

    >>> is_part({"release": "4f", "parties": ["a", "b"], "party": "a"}), is_part({"release": "4f", "parties": []})
    (True, False)
    """
    if not isinstance(value, dict) or not isinstance(value.get("release"), str):
        return False
    parties: Any = value.get("parties")
    named = isinstance(parties, list) and all(isinstance(name, str) for name in parties)
    return named and len(set(parties)) == len(parties) and value.get("party") in parties


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, dict) for entry in value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _has_hash(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("sha256"), str)


_MANIFEST_KEYS: dict[str, Callable[[Any], bool]] = {
    "files": lambda value: isinstance(value, dict) and all(map(_has_hash, value.values())),
    "columns": _are_objects,
    "promise": lambda value: isinstance(value, list) and bool(value),
    "rows": _is_count,
    "classes": _is_count,
    "csv": lambda value: isinstance(value, dict) and isinstance(value.get("null"), str),
    "privacy": _are_objects,
    "suppression_limit": _is_share,
    "previous": _are_previous,
    "taxonomies": are_taxonomies,
    "summary": lambda value: _has_hash(value) and value.get("file") == SUMMARY,
    "signed_by": _is_hash,
    "extends": _is_extension,
    "part_of": is_part,
}
_OPTIONAL_KEYS = frozenset(
    {"csv", "privacy", "suppression_limit", "previous", "taxonomies", "summary", "signed_by", "extends", "part_of"}
)
