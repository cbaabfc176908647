"""Verify a release folder: its files, its shape, and its promise."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.errors import InputError, NotVerified
from sfumato.verifier.checks import CHECKS, Check, Counts
from sfumato.verifier.promise import Needs, Promise
from sfumato.verifier.sql import name, open_arrow, open_file, unguarded
from sfumato.verifier.verdict import Finding, Verdict

_SHOWN = 3


def verify(folder: str | Path, *, requirements: Sequence[Mapping[str, Any]] | None = None) -> Verdict:
    """Re-check a published release from its files.

    `folder` is the release or its ``public`` part. `requirements` (a policy's [[privacy]] tables) stand in place
    of what the manifest promises. Raises `NotVerified` where a file is missing or cannot be read.
    """
    public = _public(Path(folder))
    manifest = _json(public / "manifest.json")
    promise = promised(manifest, _audit(public), requirements)
    problems = list(_file_problems(public, manifest))
    table = public / manifest["table"]
    if not table.exists():
        raise NotVerified(f"{manifest['table']} is missing from the release")
    connection, columns = open_file(table, null=manifest.get("csv", {}).get("null", ""))
    problems += _column_problems(columns, [column["name"] for column in manifest["columns"]])
    if problems and set(columns) < {*promise.quasi, *promise.sensitive}:
        raise NotVerified("; ".join(problems))
    guarded = table.suffix == ".csv"
    verdict = examine(connection, promise, guarded=guarded)
    problems += _label_problems(connection, manifest, guarded=guarded)
    problems += _count_problems(verdict, manifest)
    return Verdict(verdict.rows, verdict.classes, verdict.privacy, tuple(problems))


def verify_table(table: Any, promise: Promise) -> Verdict:
    """The same checks over an Arrow table in memory, before anybody gets to see it."""
    connection, _ = open_arrow(table)
    return examine(connection, promise, guarded=False)


def examine(connection: Any, promise: Promise, *, guarded: bool) -> Verdict:
    """Count the classes of the view ``published`` and check every requirement."""
    counts = Counts(connection, promise, guarded=guarded)
    rows, classes = connection.execute("SELECT coalesce(sum(n), 0), count(*) FROM classes").fetchone()
    findings = tuple(_finding(counts, rule) for rule in promise.requirements)
    return Verdict(int(rows), int(classes), findings, () if rows else ("the table has no rows",))


def promised(
    manifest: Mapping[str, Any],
    audit: Mapping[str, Any],
    requirements: Sequence[Mapping[str, Any]] | None = None,
) -> Promise:
    """The promise as the manifest states it, with what the private audit adds to check it."""
    by_role: dict[str, list[str]] = {}
    for column in manifest["columns"]:
        by_role.setdefault(column["role"], []).append(column["name"])
    individual = by_role.get("individual", [None])[0]
    needs = {column: Needs.from_json(data) for column, data in audit.get("needs", {}).items()}
    costs = {column: {(a, b): cost for a, b, cost in lines} for column, lines in audit.get("costs", {}).items()}
    return Promise(
        tuple(by_role.get("quasi", ())),
        tuple(by_role.get("sensitive", ())),
        individual,
        tuple(manifest["promise"] if requirements is None else requirements),
        needs,
        costs,
    )


def _finding(counts: Counts, rule: Mapping[str, Any]) -> Finding:
    model = rule["model"]
    if model not in CHECKS:
        raise InputError(f"'{model}' is not a requirement that this version can verify")
    achieved: dict[str, Any] = {}
    failures: list[str] = []
    for make in CHECKS[model]:
        check = make(counts, rule)
        achieved |= _achieved(counts, check)
        failures += [f"{model}: {text}" for text in _failures(counts, check)]
    required = {key: value for key, value in rule.items() if key != "model"}
    return Finding(model, required, achieved, not failures, tuple(failures))


def _achieved(counts: Counts, check: Check) -> dict[str, Any]:
    figures = ", ".join(f"{aggregate} AS {name(key)}" for key, aggregate in check.achieved.items())
    row = counts.connection.execute(f"SELECT {figures} FROM ({check.query})").fetchone()
    return {key: _number(value) for key, value in zip(check.achieved, row, strict=True)}


def _number(value: Any) -> Any:
    return value if value is None or isinstance(value, int) else round(float(value), 12)


def _failures(counts: Counts, check: Check) -> list[str]:
    found = counts.connection.execute(
        f"SELECT id, {check.words}, count(*) OVER () FROM ({check.query}) "
        f"WHERE NOT coalesce(ok, false) ORDER BY id LIMIT {_SHOWN}"
    ).fetchall()
    sentences = [f"the class {counts.describe(identifier)} {words}" for identifier, words, _ in found]
    if found and found[0][2] > _SHOWN:
        sentences.append(f"{found[0][2] - _SHOWN} more classes fail")
    return sentences


def _public(folder: Path) -> Path:
    if not folder.is_dir():
        raise InputError(f"{folder} is not a release folder; name the folder that anonymize wrote")
    return folder / "public" if (folder / "public").is_dir() else folder


def _json(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise NotVerified(f"{path.name} is missing from the release")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise NotVerified(f"{path.name} is not JSON; it was changed after publication") from None
    if not isinstance(content, dict):
        raise NotVerified(f"{path.name} does not hold a JSON object; it was changed after publication")
    return content


def _audit(public: Path) -> dict[str, Any]:
    path = public.parent / "private" / "audit.json"
    return _json(path) if path.exists() else {}


def _file_problems(public: Path, manifest: Mapping[str, Any]) -> list[str]:
    problems = []
    for file, known in manifest["files"].items():
        path = public / file
        if not path.exists():
            raise NotVerified(f"{file} is missing from the release")
        with path.open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != known["sha256"]:
                problems.append(f"{file} is not the file that was published: its SHA-256 differs from the manifest's")
    expected = {*manifest["files"], "manifest.json"}
    extra = sorted(path.name for path in public.iterdir() if path.name not in expected)
    return problems + [f"{file} does not belong to the release" for file in extra]


def _column_problems(found: list[str], expected: list[str]) -> list[str]:
    return [] if found == expected else [f"the table has the columns {found} in place of {expected}"]


def _label_problems(connection: Any, manifest: Mapping[str, Any], *, guarded: bool) -> list[str]:
    """Labels that the data dictionary does not know."""
    problems = []
    for column in manifest["columns"]:
        labels = column.get("labels")
        if labels is None:
            continue
        found = connection.execute(
            f"SELECT DISTINCT CAST({name(column['name'])} AS VARCHAR) AS v FROM classes"
        ).fetchall()
        shown = [row[0] if row[0] is None or not guarded else unguarded(row[0]) for row in found]
        strange = sorted(str(label) for label in shown if label not in labels)
        if strange:
            problems.append(
                f"column '{column['name']}' holds labels that the data dictionary does not have: {strange[:5]}"
            )
    return problems


def _count_problems(verdict: Verdict, manifest: Mapping[str, Any]) -> list[str]:
    return [
        f"the table has {found:,} {what} where the manifest says {manifest[what]:,}"
        for what, found in (("rows", verdict.rows), ("classes", verdict.classes))
        if what in manifest and manifest[what] != found
    ]
