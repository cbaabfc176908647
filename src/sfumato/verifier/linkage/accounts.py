"""What the manifest says of earlier releases beside the policy in the audit, which says how it was meant."""

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.errors import listing
from sfumato.verifier.layout import Account
from sfumato.verifier.linkage.earlier import Earlier
from sfumato.verifier.published import Published

_MATCHED = frozenset({"quasi", "sensitive", "plain"})


def previous_problems(manifest: Account, audit: Account) -> list[str]:
    """Earlier releases, or rules of what does not match, that are not those of the policy in the audit."""
    policy = audit.get("policy")
    if not isinstance(policy, Mapping):
        return []
    listed = policy.get("previous")
    meant = [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []
    said = manifest.get("previous", [])
    if [each.get("name") for each in meant] != [each["name"] for each in said]:
        return ["the manifest does not name the earlier releases of the policy in the audit"]
    if _pairs(meant) != _pairs(said):
        return ["the manifest does not rule out the matches that the policy in the audit rules out"]
    return []


def join_problems(
    about: Sequence[Earlier], earlier: Sequence[Published], manifest: Account, audit: Account
) -> list[str]:
    """Columns that two tables share and that are not joined on, though the policy in the audit gives them labels.

    Only columns of ranges or sets have none that two tables could have in common.
    """
    policy = audit.get("policy")
    columns = policy.get("columns") if isinstance(policy, Mapping) else None
    if not isinstance(columns, Mapping):
        return []
    own = [column["name"] for column in manifest["columns"] if column["role"] in _MATCHED]
    problems = []
    for each, table in zip(about, earlier, strict=True):
        left = [name for name in own if name in table.columns and name not in each.join]
        lost = [name for name in left if not _has_no_tree(columns.get(name))]
        if lost:
            problems.append(f"{table.label} is not joined on columns that it shares: {listing(lost)}")
    return problems


def _pairs(previous: Sequence[Any]) -> list[str]:
    lists = (each.get("inconsistent") for each in previous)
    return sorted(repr(pair) for pairs in lists if isinstance(pairs, list) for pair in pairs)


def _has_no_tree(column: Any) -> bool:
    spec = column.get("hierarchy") if isinstance(column, Mapping) else None
    return spec == "sets" or (isinstance(spec, Mapping) and "ranges" in spec)
