"""What is wrong with a release besides its requirements: columns, labels and numbers that are not as stated."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.errors import listing
from sfumato.verifier.counts import Counts
from sfumato.verifier.layout import Account, Layout
from sfumato.verifier.verdict import Finding, Verdict

_SHOWN = 5
_KEPT = (
    *("model", "k", "alpha", "beta", "l", "c", "t", "linked_k", "distance"),
    *("column", "columns", "values", "refined", "x", "y"),
)
_ROUNDING = 1e-6


def column_problems(found: Sequence[str], expected: Sequence[str], table: str = "the table") -> list[str]:
    """Columns that are lacking, added, or in another order, in what a sentence calls the `table`.

    >>> column_problems(["a", "x"], ["a", "b"])
    ["the table lacks columns that the manifest has: 'b'", "the table has columns that the manifest lacks: 'x'"]
    """
    lacking = [name for name in expected if name not in set(found)]
    added = [name for name in found if name not in set(expected)]
    problems = [f"{table} lacks columns that the manifest has: {listing(lacking, most=_SHOWN)}"] if lacking else []
    if added:
        problems.append(f"{table} has columns that the manifest lacks: {listing(added, most=_SHOWN)}")
    if not problems and list(found) != list(expected):
        problems.append(f"the columns of {table} do not stand as the manifest says")
    return problems


def layout_problems(found: Sequence[Sequence[str]], layout: Layout) -> list[str]:
    """The same for each file of a release."""
    expected = layout.files.items()
    return [
        problem
        for columns, (file, names) in zip(found, expected, strict=True)
        for problem in column_problems(columns, names, layout.called(file))
    ]


def label_problems(counts: Counts, columns: Sequence[Account]) -> list[str]:
    """Labels that the data dictionary does not know, or lists in vain."""
    return [problem for column in columns if column["role"] == "quasi" for problem in _label_problems(counts, column)]


def number_problems(verdict: Verdict, manifest: Account, audit: Account) -> list[str]:
    """Rows and classes that are not as many as the manifest says, or than the audit lets be."""
    stated = {"rows": verdict.rows, "classes": verdict.classes}
    problems = [
        f"the table has {found:,} {what} where the manifest says {manifest[what]:,}"
        for what, found in stated.items()
        if manifest[what] != found
    ]
    kept = _number(audit, "input") - _number(audit, "suppressed")
    if not math.isnan(kept) and kept != verdict.rows:
        problems.append(f"the table has {verdict.rows:,} rows where the audit leaves {kept:,}")
    limit, gone = manifest.get("suppression_limit", 1), _number(audit, "suppressed")
    if not math.isnan(gone) and gone > limit * _number(audit, "input") + _ROUNDING:
        problems.append(f"{gone:,} rows were suppressed, more than the share of {limit} that the manifest allows")
    return problems


def promise_problems(manifest: Account, audit: Account) -> list[str]:
    """A promise, or roles, that are not those of the policy in the audit."""
    policy = audit.get("policy")
    if not isinstance(policy, dict):
        return []
    problems = []
    rules, columns = policy.get("privacy"), policy.get("columns")
    if isinstance(rules, list) and list(map(_kept, rules)) != list(map(_kept, manifest["promise"])):
        problems.append("the manifest does not promise what the policy in the audit asks for")
    roles = {column["name"]: column["role"] for column in manifest["columns"]}
    if isinstance(columns, dict) and {name: _role(value) for name, value in columns.items()} | roles != {
        name: _role(value) for name, value in columns.items()
    }:
        problems.append("the manifest does not give the columns the roles of the policy in the audit")
    return problems


def stated_problems(findings: Sequence[Finding], stated: Sequence[Account]) -> list[str]:
    """Figures of the manifest that are not those found."""
    if len(findings) != len(stated):
        return ["the manifest does not state one figure for each of its promises"]
    wrong = [finding.model for finding, said in zip(findings, stated, strict=True) if not _agrees(finding, said)]
    return [f"what the manifest states of {model} is not what the table holds" for model in wrong]


def _label_problems(counts: Counts, column: Account) -> list[str]:
    if "labels" not in column and "different_labels" not in column:
        return []
    found, labels = set(counts.labels(column["name"])), column.get("labels")
    if labels is None:
        return (
            []
            if column["different_labels"] == len(found)
            else [f"column '{column['name']}' has {len(found):,} labels, not as many as the data dictionary says"]
        )
    strange = sorted(str(label) for label in found if label not in labels)
    idle = sorted(str(label) for label in labels if label not in found)
    about = f"column '{column['name']}'"
    problems = [f"{about} holds labels that the data dictionary does not have: {listing(strange, most=_SHOWN)}"]
    vanished = [f"{about} lacks labels that the data dictionary has: {listing(idle, most=_SHOWN)}"]
    return (problems if strange else []) + (vanished if idle else [])


def _agrees(finding: Finding, said: Account) -> bool:
    figures = said.get("achieved", finding.achieved)
    if said.get("model") != finding.model or said.get("satisfied") is not finding.satisfied:
        return False
    if not isinstance(figures, dict) or _kept(said.get("required")) != _kept(finding.required):
        return False
    return figures.keys() == finding.achieved.keys() and all(
        _close(figures[key], found) for key, found in finding.achieved.items()
    )


def _close(said: Any, found: Any) -> bool:
    if not isinstance(said, int | float) or not isinstance(found, int | float):
        return said is found
    return math.isclose(said, found, rel_tol=1e-9, abs_tol=1e-9)


def _kept(rule: Any) -> dict[str, Any]:
    """The keys that say something, whatever is left at its default."""
    given = rule if isinstance(rule, Mapping) else {}
    found = {key: given[key] for key in _KEPT if given.get(key) not in (None, False)}
    return {key: _plain(value) for key, value in found.items()}


def _plain(value: Any) -> Any:
    """Lists as JSON has them, within lists as well."""
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _role(column: Any) -> Any:
    return column.get("role") if isinstance(column, dict) else column


def _number(audit: Account, key: str) -> float:
    part = audit.get(key)
    rows = part.get("rows") if isinstance(part, dict) else None
    return rows if isinstance(rows, int) else math.nan
