"""The policy of a chosen line as a file: the original with these settings, and paths that still lead there."""

import os
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from sfumato.compare.edited import edited
from sfumato.compare.files import check_file, write_file
from sfumato.compare.outcome import Outcome
from sfumato.compare.plan import changed, planned
from sfumato.compare.settings import settings_of
from sfumato.errors import InputError, OutputError
from sfumato.policy import Policy, load
from sfumato.policy.toml_text import write_toml

_WORDS = ("suppress", "sets")


def check_written(target: Path, policy: Path, *, force: bool) -> None:
    """Refuse to replace a file without being told to, and the policy that is compared in any case."""
    if target.exists() and policy.exists() and target.samefile(policy):
        raise OutputError(f"{target} is the policy that is compared; choose another name for --write")
    check_file(target, "--write", force=force)


def write_chosen(policy: Path, outcome: Outcome, target: Path, *, data: Path | None = None) -> None:
    """Write the policy of an outcome to `target`."""
    write_file(target, chosen_policy(policy, outcome, target, data=data))


def chosen_policy(policy: Path, outcome: Outcome, target: Path, *, data: Path | None = None) -> str:
    """The policy file with the algorithm and the settings of an outcome, to be written to `target`.

    Comments stay where they are, as far as that can be had; relative paths are written from where `target` is. `data`
    is the table in place of the policy's own.
    """
    rules = load(policy)
    settings = settings_of(rules, {name: [value] for name, value in outcome.settings.items()})
    case = planned(rules, [outcome.algorithm], settings)[0]
    if case.policy is None:
        raise InputError(f"line {outcome.number} does not go with {policy} any more: {case.reason}")
    changes = dict(case.changes)
    if _named(rules) != outcome.algorithm:
        changes["algorithm", "name"] = outcome.algorithm
    wanted = changed(rules.document, changes)
    for key in case.dropped:
        del wanted["algorithm"][key]
    wanted = _moved(wanted, policy.parent, target.parent, data)
    text = policy.read_bytes().decode("utf-8-sig")
    found = edited(text, wanted)
    told = ", ".join(part for part in (outcome.algorithm, outcome.told) if part)
    found = f"# Chosen by sfumato compare: line {outcome.number} ({told}).\n" + (found or write_toml(wanted))
    _check(found, target.parent)
    return found


def _named(policy: Policy) -> object:
    search = policy.document.get("algorithm", {})
    return search.get("name", "auto") if isinstance(search, Mapping) else "auto"


def _check(text: str, folder: Path) -> None:
    """Read it once more as it will be read: what is written is a policy whose files are there."""
    import tomllib  # noqa: PLC0415 - only here

    Policy.read(tomllib.loads(text), folder=folder)


def _moved(document: Mapping[str, Any], old: Path, new: Path, data: Path | None) -> dict[str, Any]:
    """The document with its paths as they are written from another folder."""
    moved: Any = deepcopy(dict(document))
    if not _same(old, new):
        for table, key in _paths(moved):
            table[key] = _path(old / table[key], new) if not Path(table[key]).is_absolute() else table[key]
    if data is not None:
        source = str(data) if data.is_absolute() else _path(data, new)
        moved["data"] = {**moved.get("data", {}), "source": source}
    return dict(moved)


def _paths(document: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Every key that names a file, with the table it stands in."""
    columns = list(document["columns"].values())
    found = [(document.get("data", {}), "source")]
    found += [(one, "key") for one in columns]
    found += [
        (one, "hierarchy")
        for one in columns
        if isinstance(one.get("hierarchy"), str) and one["hierarchy"] not in _WORDS
    ]
    found += [(one, "costs") for one in document["privacy"]]
    found += [(one, "table") for one in document.get("previous", [])]
    return [(table, key) for table, key in found if key in table]


def _path(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path.parent.resolve() / path.name, folder.resolve())).as_posix()


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()
