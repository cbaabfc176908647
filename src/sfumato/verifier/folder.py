"""Verify a release: its files, its shape, and its promise."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.errors import InputError, NotVerified, listing
from sfumato.verifier.accounts import promised
from sfumato.verifier.examine import all_needed, check_rules, examine
from sfumato.verifier.files import file_problems, manifest_problems, public_folder, read_audit, read_json, table_path
from sfumato.verifier.opening import open_file
from sfumato.verifier.problems import (
    column_problems,
    label_problems,
    number_problems,
    promise_problems,
    stated_problems,
)
from sfumato.verifier.promise import Asked, Promise
from sfumato.verifier.published import in_memory
from sfumato.verifier.verdict import Verdict


def verify(folder: str | Path, *, asked: Asked | None = None) -> Verdict:
    """Re-check a published release from its files.

    `folder` is the release or its ``public`` part. What is `asked`, a policy, stands in place of what the manifest
    promises. Raises `NotVerified` where a file is missing or cannot be read, and
    `InputError` where a requirement cannot be checked with what is at hand.
    """
    public = public_folder(Path(folder))
    manifest, audit = read_json(public / "manifest.json"), read_audit(public)
    promise = _promise(manifest, audit, asked)
    check_rules(promise.requirements)
    path = table_path(public, manifest["table"])
    problems = manifest_problems(public, audit) + file_problems(public, manifest["files"])
    problems += promise_problems(manifest, audit)
    verdict = _examined(path, promise, manifest, audit)
    if asked is None and "privacy" in manifest:
        problems += stated_problems(verdict.privacy, manifest["privacy"])
    return replace(verdict, problems=(*problems, *verdict.problems))


def verify_accounts(folder: Path, verdict: Verdict) -> Verdict:
    """The accounts of a release once more, after figures were added to them; the table is the one of the verdict."""
    public = public_folder(folder)
    manifest, audit = read_json(public / "manifest.json"), read_audit(public)
    promised(manifest, audit)
    problems = manifest_problems(public, audit) + promise_problems(manifest, audit)
    problems += number_problems(verdict, manifest, audit) + stated_problems(verdict.privacy, manifest["privacy"])
    return replace(verdict, problems=(*verdict.problems, *problems))


def _promise(manifest: Mapping[str, Any], audit: Mapping[str, Any], asked: Asked | None) -> Promise:
    """What is to be checked: the manifest's promise, or what is asked of a release with the same roles."""
    if asked is None:
        return promised(manifest, audit)
    promise = promised(manifest, audit, asked.requirements)
    differing = asked.differing(manifest["columns"]) if asked.roles else []
    if differing:
        raise InputError(
            f"the policy gives other roles than the release has to {listing(differing)}; "
            "a release is checked under the roles it was made with"
        )
    return replace(promise, costs=asked.costs) if asked.costs else promise


def verify_table(table: Any, promise: Promise) -> Verdict:
    """The same checks over an Arrow table in memory, before anybody gets to see it."""
    check_rules(promise.requirements)
    published = in_memory(table, all_needed(promise))
    with closing(published.connection):
        return examine(published, promise)[1]


def _examined(path: Path, promise: Promise, manifest: Mapping[str, Any], audit: Mapping[str, Any]) -> Verdict:
    """The verdict on the table, with what does not fit the manifest."""
    types = {column["name"]: column.get("type", "") for column in manifest["columns"]}
    published = open_file(path, null=manifest.get("csv", {}).get("null", ""), types=types)
    with closing(published.connection):
        expected = [column["name"] for column in manifest["columns"]]
        problems = column_problems(published.columns, expected)
        _check_needed(published.columns, promise, expected)
        counts, verdict = examine(published, promise)
        problems += label_problems(counts, manifest["columns"]) + number_problems(verdict, manifest, audit)
        return replace(verdict, problems=(*verdict.problems, *problems))


def _check_needed(found: Sequence[str], promise: Promise, expected: Sequence[str]) -> None:
    """Refuse a table in which a column that matters is not there once."""
    strange = [column for column in all_needed(promise) if found.count(column) != 1]
    asked = [column for column in strange if column not in expected]
    if asked:
        raise InputError(f"a requirement is about columns that the release does not have: {listing(asked)}")
    if strange:
        raise NotVerified(f"the table does not have each of these columns once: {listing(strange)}; it was changed")
