"""Verify a release: its files, its shape, and its promise."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.errors import InputError, listing
from sfumato.verifier.accounts import promised
from sfumato.verifier.counting import counted
from sfumato.verifier.examine import check_rules, examine
from sfumato.verifier.files import (
    beside_problems,
    file_problems,
    manifest_problems,
    public_folder,
    read_audit,
    read_json,
    table_path,
)
from sfumato.verifier.layout import Account, Layout, layout_of
from sfumato.verifier.linkage.accounts import join_problems, previous_problems
from sfumato.verifier.linkage.files import completed, given, located, open_earlier
from sfumato.verifier.memory import in_memory
from sfumato.verifier.opening import open_files
from sfumato.verifier.problems import (
    label_problems,
    layout_problems,
    number_problems,
    promise_problems,
    stated_problems,
)
from sfumato.verifier.promise import Asked, Promise
from sfumato.verifier.verdict import Verdict


def verify(
    folder: str | Path, *, asked: Asked | None = None, previous: Mapping[str, str | Path] | None = None
) -> Verdict:
    """Re-check a published release from its files.

    `folder` is the release or its ``public`` part. What is `asked`, a policy, stands in place of what the manifest
    promises. `previous` names the files of earlier releases, in place of those that the private audit knows.
    Raises `NotVerified` where a file is missing or cannot be read, and `InputError` where a requirement cannot be
    checked with what is at hand.
    """
    public = public_folder(Path(folder))
    manifest, audit = read_json(public / "manifest.json"), read_audit(public)
    promise = _promise(manifest, audit, asked)
    promise = replace(promise, previous=given(promise.previous, previous))
    check_rules(promise)
    tables = layout_of(manifest).files
    paths = [table_path(public, name) for name in tables]
    problems = manifest_problems(public, audit) + file_problems(public, manifest, tables)
    problems += promise_problems(manifest, audit) + previous_problems(manifest, audit)
    verdict = _examined(paths, promise, manifest, audit)
    if asked is None and "privacy" in manifest:
        problems += stated_problems(verdict.privacy, manifest["privacy"])
    return replace(verdict, problems=(*problems, *verdict.problems))


def verify_accounts(folder: Path, verdict: Verdict) -> Verdict:
    """The accounts of a release once more, after figures were added to them; the table is the one of the verdict."""
    public = public_folder(folder)
    manifest, audit = read_json(public / "manifest.json"), read_audit(public)
    promised(manifest, audit)
    problems = manifest_problems(public, audit) + promise_problems(manifest, audit)
    problems += beside_problems(public, manifest, layout_of(manifest).files) + previous_problems(manifest, audit)
    problems += number_problems(verdict, manifest, audit) + stated_problems(verdict.privacy, manifest["privacy"])
    return replace(verdict, problems=(*verdict.problems, *problems))


def _promise(manifest: Account, audit: Account, asked: Asked | None) -> Promise:
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
    return replace(
        promise,
        costs=asked.costs or promise.costs,
        previous=completed(asked.previous, promise.previous) or promise.previous,
        taxonomies=asked.taxonomies or promise.taxonomies,
    )


def verify_table(table: Any, promise: Promise) -> Verdict:
    """The same checks over an Arrow table in memory, before anybody gets to see it."""
    return _verified({"the table": table}, promise, None)


def verify_tables(nss: Any, ss: Sequence[Any], promise: Promise, class_id: str) -> Verdict:
    """The same over two tables that share a column of class ids; `ss` may be several, one for each sensitive column."""
    names = ["ss"] if len(ss) == 1 else [f"ss {i}" for i in range(1, len(ss) + 1)]
    return _verified({"nss": nss, **dict(zip(names, ss, strict=True))}, promise, class_id)


def _verified(tables: Mapping[str, Any], promise: Promise, class_id: str | None) -> Verdict:
    check_rules(promise)
    layout = Layout({name: tuple(table.column_names) for name, table in tables.items()}, class_id)
    beside = located(promise.joined)
    files = in_memory(tables, {*promise.needed, *promise.named}, [class_id] if class_id else [], beside)
    with closing(files[0].connection):
        earlier = open_earlier(files[0].connection, promise.joined, beside)
        return examine(counted(files, promise, layout), earlier)


def _examined(paths: Sequence[Path], promise: Promise, manifest: Account, audit: Account) -> Verdict:
    """The verdict on the table or tables, with what does not fit the manifest."""
    layout, types = layout_of(manifest), {column["name"]: column.get("type", "") for column in manifest["columns"]}
    sources = {f"published_{i}": path for i, path in enumerate(paths)}
    beside = located(promise.joined)
    files = open_files(sources, null=manifest.get("csv", {}).get("null", ""), types=types, beside=beside)
    with closing(files[0].connection):
        problems = layout_problems([file.columns for file in files], layout)
        counts = counted(files, promise, layout)
        earlier = open_earlier(files[0].connection, promise.joined, beside)
        verdict = examine(counts, earlier)
        problems += join_problems(promise.joined, earlier, manifest, audit)
        problems += label_problems(counts, manifest["columns"]) + number_problems(verdict, manifest, audit)
        return replace(verdict, problems=(*verdict.problems, *problems))
