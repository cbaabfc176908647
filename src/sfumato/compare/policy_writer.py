"""Write the policy of a chosen line: the policy file with its settings, all comments, and paths that still lead there.

The file is edited in place where that is possible. An edit is tried where the key is written, read back, and kept only
if the document then says exactly what it should; where no edit does, the document is written anew.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from sfumato.compare.comparison import RunOutcome
from sfumato.compare.output_files import write_file
from sfumato.compare.settings import change_document, find_settings, plan_runs
from sfumato.core.regular_file import check_new_file
from sfumato.errors import InputError, OutputError
from sfumato.policy import Policy, load
from sfumato.policy.policy import read_policy_file
from sfumato.policy.policy_edits import edit_toml
from sfumato.policy.policy_file import move_paths
from sfumato.policy.toml_text import write_toml


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
