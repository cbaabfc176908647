"""Write the policy of a chosen line: the policy file with its settings, all comments, and paths that still lead there.

The file is edited in place where that is possible. An edit is tried where the key is written, read back, and kept only
if the document then says exactly what it should; where no edit does, the document is written anew.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sfumato.compare.comparison import RunOutcome
from sfumato.compare.output_files import write_file
from sfumato.compare.settings import KeyPath, change_document, find_settings, plan_runs
from sfumato.core.regular_file import check_new_file
from sfumato.errors import InputError, OutputError
from sfumato.policy import Policy, load
from sfumato.policy.policy import plain_tables, read_policy_file
from sfumato.policy.policy_file import move_paths
from sfumato.policy.toml_text import dotted_key, find_line, write_toml, write_value

_VALUE = re.compile(r"""=\s*("(?:\\.|[^"\\])*"|'[^']*'|[^\s,\]}#"']+)""")


def chosen_policy(policy: Path, outcome: RunOutcome, target: Path, *, data: str | Path | None = None) -> str:
    """Compose the policy file with the algorithm and the settings of an outcome, as it is to be at `target`.

    Comments stay where they are, as far as that can be had; relative paths are written from where `target` is. `data`
    is the table in place of the policy's own.
    """
    rules = load(policy)
    settings = find_settings(rules, {name: [value] for name, value in outcome.settings.items()})
    run = plan_runs(rules, [outcome.algorithm], settings)[0]
    if run.policy is None:
        raise InputError(f"line {outcome.number} does not go with {policy} any more: {run.reason}")
    changes = dict(run.changes)
    search = rules.document.get("algorithm", {})
    if (search.get("name", "auto") if isinstance(search, Mapping) else "auto") != outcome.algorithm:
        changes["algorithm", "name"] = outcome.algorithm
    wanted = change_document(rules.document, changes)
    for key in run.dropped:
        del wanted["algorithm"][key]
    wanted = move_paths(wanted, policy.parent, target.parent, data)
    text = edit_toml(read_policy_file(policy).decode("utf-8-sig"), wanted) or write_toml(wanted)
    settings_text = ", ".join(part for part in (outcome.algorithm, outcome.settings_text) if part)
    text = f"# Chosen by sfumato compare: line {outcome.number} ({settings_text}).\n{text}"
    # Read once more as it will be read: what is written is a policy whose files are there.
    Policy.read(tomllib.loads(text), folder=target.parent)
    return text


def write_chosen_policy(policy: Path, outcome: RunOutcome, target: Path, *, data: str | Path | None = None) -> None:
    """Write the policy of an outcome to `target`."""
    write_file(target, chosen_policy(policy, outcome, target, data=data))


def check_policy_target(target: Path, policy: Path, *, force: bool) -> None:
    """Refuse to replace a file unless `force` says so, and the policy that is compared in any case."""
    if target.exists() and policy.exists() and target.samefile(policy):
        raise OutputError(f"{target} is the policy that is compared; choose another name for --write")
    check_new_file(target, "--write", force=force)


# Edits in place.


def edit_toml(text: str, wanted: Mapping[str, Any]) -> str | None:
    r"""Change, add or leave out keys of a TOML document so that it says `wanted`; every comment and space stays.

    ``None`` where it cannot be done by small edits.

    >>> print(edit_toml("[algorithm]  # how\nname = 'auto'  # best", {"algorithm": {"name": "tds", "seed": 1}}))
    [algorithm]  # how
    seed = 1
    name = "tds"  # best
    """
    for path in _differences(_read_toml(text) or {}, wanted):
        goal = _change_one(_read_toml(text) or {}, wanted, path)
        edits = _candidate_edits(text, path, _value_at(wanted, path))
        edited = next((edit for edit in edits if _read_toml(edit) == goal), None)
        if edited is None:
            return None
        text = edited
    return text if _read_toml(text) == wanted else None


def _read_toml(text: str) -> dict[str, object] | None:
    try:
        return plain_tables(tomllib.loads(text))
    except ValueError:
        return None


def _differences(now: Any, wanted: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    """Find the places that differ: keys of a table, one by one, or a whole value."""
    if isinstance(now, dict) and isinstance(wanted, Mapping):
        for key in [*now, *(key for key in wanted if key not in now)]:
            inside = now.get(key, {} if isinstance(wanted.get(key), Mapping) else None)
            yield from _differences(inside, wanted.get(key), (*path, key))
    elif (
        isinstance(now, list)
        and isinstance(wanted, list)
        and len(now) == len(wanted)
        and all(isinstance(value, dict) for value in now)
    ):
        for place, (value, other) in enumerate(zip(now, wanted, strict=True)):
            yield from _differences(value, other, (*path, place))
    elif now != wanted:
        yield path


def _value_at(document: Any, path: KeyPath) -> Any:
    for part in path:
        document = document.get(part) if isinstance(document, Mapping) else document[part]
    return document


def _change_one(now: dict[str, object], wanted: Mapping[str, Any], path: KeyPath) -> dict[str, object]:
    """Give one place of a document the value that is wanted there, and leave the others as they are."""
    *outer, key = path
    table: Any = now
    for part in outer:
        table = table.setdefault(part, {}) if isinstance(table, dict) else table[part]
    table[key] = _value_at(wanted, path)
    if table[key] is None:
        del table[key]
    return now


def _candidate_edits(text: str, path: KeyPath, value: object) -> Iterator[str]:
    """Edit the document at each place where the key may belong: replace a value, add a line, or add a table."""
    dotted = "".join(f"[{part}]" if isinstance(part, int) else f".{dotted_key(part)}" for part in path).lstrip(".")
    number = find_line(text, dotted)
    lines, key = text.splitlines(keepends=True), dotted_key(str(path[-1]))
    if number is not None:
        before, line, after = "".join(lines[: number - 1]), lines[number - 1], "".join(lines[number:])
        if value is None:
            yield before + after
        else:
            for match in _VALUE.finditer(line):
                yield before + line[: match.start(1)] + write_value(value) + line[match.end(1) :] + after
            yield f"{before}{_end_line(line)}{key} = {write_value(value)}\n{after}"
    if value is not None and len(path) == 2:
        yield f"{_end_line(text)}\n[{dotted_key(str(path[0]))}]\n{key} = {write_value(value)}\n"


def _end_line(text: str) -> str:
    return text if text.endswith("\n") or not text else f"{text}\n"
