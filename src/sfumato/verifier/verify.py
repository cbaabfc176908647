"""Verify a release: its files, what they are said to contain, and its promise.

A verdict has two parts. Findings say of each requirement whether it holds, counted from the tables alone. Problems say
what else is wrong: files, columns, labels or numbers that are not as the manifest states, or a manifest that does not
state what the policy in the audit asked for.
"""

import math
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.errors import InputError, NotVerified, listing, quote
from sfumato.verifier.accounts import read_promise
from sfumato.verifier.cell_intervals import CELL_FORM, check_cell_files, refuse_other_questions
from sfumato.verifier.checks import NO_ROWS, reach_verdict
from sfumato.verifier.counts import ClassCounts, count_release
from sfumato.verifier.drawn_rows import (
    DRAWN_FORMS,
    FROM_EVIDENCE,
    DrawnStatement,
    evidence_problems,
    verify_drawn_files,
)
from sfumato.verifier.duckdb_tables import TableView, open_files, register_tables
from sfumato.verifier.extension_checks import (
    StatedExtension,
    add_verdict_in_memory,
    add_verdict_together,
    read_extension,
)
from sfumato.verifier.joint_parts import refuse_lone_part, verify_parts
from sfumato.verifier.linkage.earlier_releases import (
    join_problems,
    locate_files,
    open_earlier,
    previous_problems,
    use_files,
    with_stated_files,
)
from sfumato.verifier.manifest_signature import TrustedKey, require_signature, signature_problems
from sfumato.verifier.mask_checks import (
    StatedMasks,
    differing_masks,
    drawn_mask_notes,
    mask_notes,
    mask_problems,
    policy_methods,
    stated_masks,
)
from sfumato.verifier.numeric_bounds import bound_problems
from sfumato.verifier.release_files import (
    CHANGED,
    SUMMARY,
    JsonObject,
    Layout,
    manifest_file_problems,
    other_file_problems,
    parse_json,
    public_folder,
    read_audit,
    read_bytes,
    read_layout,
    table_file_problems,
    table_paths,
)
from sfumato.verifier.stated_promise import Promise, RequestedPromise, objection
from sfumato.verifier.uncertain_rows import (
    TRUE_VALUES_FILE,
    UNCERTAIN_FORM,
    UNCERTAIN_MODEL,
    UncertainStatement,
    verify_uncertain_files,
)
from sfumato.verifier.verdict import Finding, FoundSignature, Verdict
from sfumato.verifier.working_space import working_space

_MOST_LISTED = 5
_MOST_LABELS = 10_000
"""Of a column with a list of labels in the data dictionary, not many more are looked at."""
_ROUNDING = 1e-6
_MODEL_KEYS = (
    *("model", "k", "alpha", "beta", "l", "c", "t", "linked_k", "distance"),
    *("column", "columns", "values", "refined", "x", "y"),
)


def verify(  # noqa: PLR0913 - what a release may be checked against, and what that may take
    folder: str | Path,
    *,
    asked: RequestedPromise | None = None,
    previous: Mapping[str, str | Path] | None = None,
    signed_by: str | Path | None = None,
    bases: Sequence[str | Path] = (),
    parts: Sequence[str | Path] = (),
    memory: int | None = None,
    threads: int | None = None,
    spill: str | Path | None = None,
) -> Verdict:
    """Re-check a published release from its files.

    `folder` is the release or its ``public`` part. What is `asked`, a policy, stands in place of what the manifest
    promises. `previous` names the files of earlier releases, in place of those that the private audit knows.
    `signed_by` is the file of a public key: whatever its owner has not signed is refused, every public file included.
    `bases` are the folders of the releases that this one adds rows to, where it does and the private audit does not
    know them. `parts` are the folders of the other parts, where several parties published one release together.

    Rows are read from the files as they are counted, and not held. With `memory`, in bytes, what is counted takes no
    more of it, nor more `threads`; what does not fit is moved to disk, into a folder within `spill` (or where the
    system keeps temporary files), which is removed in the end.

    Raises `NotVerified` where a file is missing, cannot be read or is not signed by that key, and `InputError` where a
    requirement cannot be checked with what is at hand, or with so much memory and disk.
    """
    if not isinstance(folder, str | os.PathLike):
        raise InputError(
            f"a {type(folder).__name__} has no files to be checked; name the folder of a release, which save wrote "
            "(a release in memory was verified when it was made)"
        )
    with working_space(memory, threads, spill):
        return _verify_folder(folder, asked, previous, signed_by, bases, parts)


def _verify_folder(
    folder: str | Path,
    asked: RequestedPromise | None,
    previous: Mapping[str, str | Path] | None,
    signed_by: str | Path | None,
    bases: Sequence[str | Path],
    parts: Sequence[str | Path],
) -> Verdict:
    key = None if signed_by is None else TrustedKey.read(Path(signed_by))
    public = public_folder(Path(folder))
    content, manifest = _read_manifest(public, key)
    audit = read_audit(public)
    if manifest.get("form") == CELL_FORM:
        refuse_other_questions(asked, previous, bases)
        return verify_cells(public, content, manifest, audit)[0]
    promise = _requested_promise(manifest, audit, asked)
    promise = replace(promise, previous=use_files(promise.previous, previous))
    _check_requirements(promise, str(manifest.get("form")))
    layout = read_layout(manifest)
    paths = [table_paths(public, manifest, name) for name in layout.files]
    extension = read_extension(manifest, audit, bases)
    if parts and "part_of" not in manifest:
        raise InputError("the release is no part of one that several parties published; leave out --part")
    problems = manifest_file_problems(content, audit)
    with ThreadPoolExecutor(1) as pool:  # hashing needs no lock of Python's, and reads what is counted meanwhile
        hashing = pool.submit(table_file_problems, public, manifest)
        try:
            others = other_file_problems(public, manifest, layout.files, complete=key is not None)
            others += promise_problems(manifest, audit) + previous_problems(manifest, audit)
            if manifest.get("form") == UNCERTAIN_FORM:
                verdict = _verify_uncertain(paths[0], public, promise, manifest, audit)
            elif manifest.get("form") in DRAWN_FORMS:
                verdict = _verify_drawn(paths[0], public, promise, manifest, audit)
            elif "part_of" in manifest:
                verdict = _verify_part(paths, public, promise, manifest, audit, parts)
            else:
                verdict = _verify_tables(paths, promise, manifest, audit)
            if extension is not None:
                verdict = add_verdict_together(verdict, paths[0], manifest, promise, extension)
        finally:  # of two errors, that of a file that cannot be read is the one to mend first
            problems += hashing.result()
    problems += others
    if "part_of" in manifest and not parts and not problems and not verdict.problems:
        raise refuse_lone_part(manifest)
    if asked is not None and asked.masks is not None:
        problems += _asked_mask_problems(manifest, asked.masks)
    if asked is None and "privacy" in manifest and (parts or "part_of" not in manifest):
        problems += figure_problems(verdict.privacy, manifest["privacy"]) + together_problems(verdict, manifest)
    problems += (wrong := signature_problems(public, content, manifest))
    signature = None if wrong else _found_signature(manifest, key)
    return replace(verdict, problems=(*problems, *verdict.problems), signature=signature)


def verify_cells(
    public: Path, content: bytes, manifest: JsonObject, audit: JsonObject
) -> tuple[Verdict, list[tuple[float, float]]]:
    """Re-check a cross-table from its files; return the intervals of its suppressed cells as well, in steps."""
    name, files = manifest.get("table"), manifest.get("files")
    hashed = isinstance(files, dict) and all(
        isinstance(entry, dict) and isinstance(entry.get("sha256"), str) for entry in files.values()
    )
    if not isinstance(name, str) or not isinstance(files, dict) or list(files) != [name] or not hashed:
        raise NotVerified(f"manifest.json has no hash of its table: {CHANGED}")
    page = manifest.get("summary")
    if page is not None and not (isinstance(page, dict) and page.get("file") == SUMMARY and "sha256" in page):
        raise NotVerified(f"manifest.json does not say properly which page it has: {CHANGED}")
    problems = manifest_file_problems(content, audit) + table_file_problems(public, manifest)
    problems += other_file_problems(public, manifest, [name])
    verdict, intervals = check_cell_files(public, manifest)
    return replace(verdict, problems=(*problems, *verdict.problems)), intervals


def verify_accounts(folder: Path, verdict: Verdict, *, key: TrustedKey | None = None) -> Verdict:
    """Re-check the accounts of a release after figures were added to them; the table is the one of the verdict.

    `key` is the public one of the key that signed them, where they are signed.
    """
    public = public_folder(folder)
    content, manifest = _read_manifest(public, key)
    audit = read_audit(public)
    read_promise(manifest, audit)  # refuses accounts that are not well-formed
    tables, complete = read_layout(manifest).files, key is not None
    problems = manifest_file_problems(content, audit) + promise_problems(manifest, audit)
    problems += other_file_problems(public, manifest, tables, complete=complete) + previous_problems(manifest, audit)
    if manifest.get("form") not in DRAWN_FORMS:
        problems += number_problems(verdict, manifest, audit)
    problems += figure_problems(verdict.privacy, manifest["privacy"])
    problems += together_problems(verdict, manifest)
    problems += (wrong := signature_problems(public, content, manifest))
    signature = None if wrong else _found_signature(manifest, key)
    return replace(verdict, problems=(*verdict.problems, *problems), signature=signature)


def _read_manifest(public: Path, key: TrustedKey | None) -> tuple[bytes, JsonObject]:
    """Read a manifest once, as bytes and as JSON; where there is a key, not before its signature holds."""
    content = read_bytes(public / "manifest.json")
    if key is not None:
        require_signature(public, content, key)
    return content, parse_json(content, "manifest.json")


def _found_signature(manifest: JsonObject, key: TrustedKey | None) -> FoundSignature | None:
    """Say who signed a release whose signature fits; a key that was given is the one, or it would have been refused."""
    stated = manifest.get("signed_by")
    return None if stated is None else FoundSignature(stated, trusted=key is not None)


def verify_table(table: Any, promise: Promise, masks: Sequence[StatedMasks] = ()) -> Verdict:
    """Check the promise of an Arrow table in memory, and the masks of its columns, before anybody gets to see it."""
    return _verify_in_memory({"the table": table}, promise, None, masks)


def verify_extension(
    table: Any, promise: Promise, stated: StatedExtension, bases: Sequence[Any], masks: Sequence[StatedMasks] = ()
) -> Verdict:
    """Check that of a table which adds rows to `bases`, public folders of releases or Arrow tables, with these."""
    return add_verdict_in_memory(verify_table(table, promise, masks), table, promise, stated, bases)


def verify_tables(
    nss: Any, ss: Sequence[Any], promise: Promise, class_id: str, masks: Sequence[StatedMasks] = ()
) -> Verdict:
    """Check that of two tables that share a column of class ids; `ss` may be several, one for each sensitive column."""
    names = ["ss"] if len(ss) == 1 else [f"ss {i}" for i in range(1, len(ss) + 1)]
    return _verify_in_memory({"nss": nss, **dict(zip(names, ss, strict=True))}, promise, class_id, masks)


def _verify_in_memory(
    tables: Mapping[str, Any], promise: Promise, class_id: str | None, masks: Sequence[StatedMasks]
) -> Verdict:
    _check_requirements(promise)
    layout = Layout({name: tuple(table.column_names) for name, table in tables.items()}, class_id)
    others = locate_files(promise.joined_releases)
    needed = {*promise.needed_columns, *promise.join_columns, *(one.column for one in promise.bounds)}
    needed |= {one.column for one in masks}
    views = register_tables(
        tables, needed, [class_id] if class_id else [], [path for files in others for path in files]
    )
    with closing(views[0].connection):
        earlier = open_earlier(views[0].connection, promise.joined_releases, others)
        verdict = reach_verdict(count_release(views, promise, layout), earlier)
        problems = [*bound_problems(views[0], promise.bounds), *mask_problems(views, masks)]
        return replace(verdict, problems=(*verdict.problems, *problems))


def _verify_tables(
    paths: Sequence[Sequence[Path]], promise: Promise, manifest: JsonObject, audit: JsonObject
) -> Verdict:
    """Check the promise of the written table or tables, and what does not fit the manifest."""
    layout, types = read_layout(manifest), {column["name"]: column.get("type", "") for column in manifest["columns"]}
    sources = {f"published_{i}": files for i, files in enumerate(paths)}
    others = locate_files(promise.joined_releases)
    null, readable = manifest.get("csv", {}).get("null", ""), [path for files in others for path in files]
    views = open_files(sources, null=null, types=types, others=readable)
    with closing(views[0].connection):
        problems = [
            problem
            for view, (file, columns) in zip(views, layout.files.items(), strict=True)
            for problem in column_problems(view.columns, columns, layout.describe(file))
        ]
        counts = count_release(views, promise, layout)
        earlier = open_earlier(views[0].connection, promise.joined_releases, others)
        verdict = reach_verdict(counts, earlier)
        problems += join_problems(promise.joined_releases, earlier, manifest, audit)
        problems += label_problems(counts, manifest["columns"]) + number_problems(verdict, manifest, audit)
        problems += [] if problems else bound_problems(views[0], promise.bounds)
        problems += weight_problems(views[0], manifest["columns"])
        problems += mask_problems(views, stated_masks(manifest["columns"]))
        notes = (*verdict.notes, *mask_notes(manifest["columns"]))
        return replace(verdict, problems=(*verdict.problems, *problems), notes=notes)


def _verify_part(
    paths: Sequence[Sequence[Path]],
    public: Path,
    promise: Promise,
    manifest: JsonObject,
    audit: JsonObject,
    parts: Sequence[str | Path],
) -> Verdict:
    """Check that a part is what its manifest says, and the promise of all parts where they are given."""
    alone = _verify_tables(paths, replace(promise, requirements=()), manifest, audit)
    own = tuple(problem for problem in alone.problems if alone.rows or problem != NO_ROWS)  # a part may be empty
    if not parts:
        return replace(alone, problems=own)
    together = verify_parts(public, manifest, promise, parts)
    return replace(together, problems=(*own, *together.problems), notes=(*alone.notes, *together.notes))


def _verify_drawn(
    paths: Sequence[Path], public: Path, promise: Promise, manifest: JsonObject, audit: JsonObject
) -> Verdict:
    """Check a table of drawn rows against the evidence in the private part, and what does not fit the manifest."""
    statement = DrawnStatement.from_manifest(manifest, promise.requirements)
    null = manifest.get("csv", {}).get("null", "")
    verdict = verify_drawn_files(paths, public.resolve().parent / "private", statement, null)
    problems = [
        f"the table has {number:,} {what} where the manifest says {manifest[what]:,}"
        for what, number in (("rows", verdict.rows), ("classes", verdict.classes))
        if manifest[what] != number
    ]
    came = audit.get("input")
    rows = came.get("rows") if isinstance(came, dict) else None
    if isinstance(rows, int) and rows * statement.multiple != verdict.rows:
        problems.append(f"the table has {verdict.rows:,} rows where the audit says that {rows:,} came in")
    problems += evidence_problems(public.resolve().parent / "private", audit)
    notes = (*verdict.notes, FROM_EVIDENCE, *drawn_mask_notes(manifest["columns"]))
    return replace(verdict, problems=(*verdict.problems, *problems), notes=notes)


def _verify_uncertain(
    paths: Sequence[Path], public: Path, promise: Promise, manifest: JsonObject, audit: JsonObject
) -> Verdict:
    """Check a table of densities against the true values in the private part, and what does not fit the manifest."""
    statement = UncertainStatement.from_manifest(manifest, promise.requirements)
    null = manifest.get("csv", {}).get("null", "")
    private = public.resolve().parent / "private"
    verdict = verify_uncertain_files(paths, private, statement, null)
    problems = number_problems(verdict, manifest, audit) + evidence_problems(private, audit, [TRUE_VALUES_FILE])
    notes = (*verdict.notes, *drawn_mask_notes(manifest["columns"]))
    return replace(verdict, problems=(*verdict.problems, *problems), notes=notes)


def _requested_promise(manifest: JsonObject, audit: JsonObject, asked: RequestedPromise | None) -> Promise:
    """Decide what is to be checked: the manifest's promise, or what is asked of a release with the same roles."""
    if asked is None:
        return read_promise(manifest, audit)
    promise = read_promise(manifest, audit, asked.requirements)
    drawn = manifest.get("form") in DRAWN_FORMS
    differing = asked.differing_columns(manifest["columns"], drawn=drawn) if asked.roles else []
    if differing:
        raise InputError(
            f"the policy gives other roles than the release has to {listing(differing)}; "
            "a release is checked under the roles it was made with"
        )
    return replace(
        promise,
        costs=asked.costs or promise.costs,
        previous=with_stated_files(asked.previous, promise.previous) or promise.previous,
        taxonomies=asked.taxonomies or promise.taxonomies,
    )


def _asked_mask_problems(manifest: JsonObject, masks: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """Say which columns the policy has masked in another way than the release states."""
    differing = differing_masks(manifest["columns"], masks)
    if not differing:
        return []
    return [f"the policy masks {listing(differing, most=_MOST_LISTED)} in another way than the release states"]


def _check_requirements(promise: Promise, form: str = "generalized") -> None:
    """Refuse requirements that nobody can check; where rows are drawn, persons are in the evidence."""
    persons = form in DRAWN_FORMS or promise.individual is not None
    for rule in promise.requirements:
        if rule.get("model") == UNCERTAIN_MODEL and form != UNCERTAIN_FORM:
            raise InputError(f"{UNCERTAIN_MODEL} is of densities, and a release of the form {form} has none")
        if wrong := objection(rule, persons=persons):
            raise InputError(wrong)


# The tables beside the manifest


def column_problems(columns: Sequence[str], stated: Sequence[str], table: str = "the table") -> list[str]:
    """Name columns that are lacking, added, or in another order, in what a sentence calls the `table`.

    >>> column_problems(["a", "x"], ["a", "b"])
    ["the table lacks columns that the manifest has: 'b'", "the table has columns that the manifest lacks: 'x'"]
    """
    lacking = [name for name in stated if name not in set(columns)]
    added = [name for name in columns if name not in set(stated)]
    problems = []
    if lacking:
        problems.append(f"{table} lacks columns that the manifest has: {listing(lacking, most=_MOST_LISTED)}")
    if added:
        problems.append(f"{table} has columns that the manifest lacks: {listing(added, most=_MOST_LISTED)}")
    if not problems and list(columns) != list(stated):
        problems.append(f"the columns of {table} do not stand as the manifest says")
    return problems


def label_problems(counts: ClassCounts, columns: Sequence[JsonObject]) -> list[str]:
    """Name labels that the data dictionary does not have, or has in vain."""
    problems = []
    for column in columns:
        name, stated = column["name"], column.get("labels")
        if column["role"] != "quasi" or ("labels" not in column and "different_labels" not in column):
            continue
        if stated is None:
            if column["different_labels"] != (number := counts.count_labels(name)):
                problems.append(f"column {quote(name)} has {number:,} labels, not as many as the data dictionary says")
            continue
        # what has far more labels than were stated is wrong, whatever they are
        labels = set(found := counts.labels(name, most=(enough := 2 * len(stated) + _MOST_LABELS)))
        unknown = sorted(str(label) for label in labels if label not in stated)
        if unknown:
            most = listing(unknown, most=_MOST_LISTED)
            problems.append(f"column {quote(name)} holds labels that the data dictionary does not have: {most}")
        unused = sorted(str(label) for label in stated if label not in labels) if len(found) < enough else []
        if unused:
            most = listing(unused, most=_MOST_LISTED)
            problems.append(f"column {quote(name)} lacks labels that the data dictionary has: {most}")
    return problems


def weight_problems(view: TableView, columns: Sequence[JsonObject]) -> list[str]:
    """Name sampling weights that are no numbers of 0 or more, or not rounded as the data dictionary says."""
    problems = []
    for column in columns:
        if column["role"] != "weight" or column["name"] not in view.columns:
            continue
        step = column.get("round")
        unit = format(float(step or 1), ".17g")
        times = f"x / {unit} - round(x / {unit})" if step else "0"
        # DuckDB leaves a cast alone to its CSV reader, which then stops at a cell that is no number.
        cell = f"concat({view.column(column['name'])})"
        view.read(
            "CREATE OR REPLACE TABLE weights AS SELECT "
            "count(*) FILTER (WHERE x IS NULL OR NOT isfinite(x) OR x < 0) AS bad, "
            f"count(*) FILTER (WHERE abs({times}) > 1e-6) AS uneven "
            f"FROM (SELECT TRY_CAST({cell} AS DOUBLE) AS x FROM {view.source})"
        )
        ((bad, uneven),) = view.connection.execute("SELECT bad, uneven FROM weights").fetchall()
        if bad:
            problems.append(f"column {quote(column['name'])} has {bad:,} weights that are no numbers of 0 or more")
        elif uneven:
            problems.append(f"column {quote(column['name'])} has {uneven:,} weights that are no multiples of {step:g}")
    return problems


def number_problems(verdict: Verdict, manifest: JsonObject, audit: JsonObject) -> list[str]:
    """Say where rows and classes are not as many as the manifest states, or as the audit leaves."""
    problems = [
        f"the table has {number:,} {what} where the manifest says {manifest[what]:,}"
        for what, number in (("rows", verdict.rows), ("classes", verdict.classes))
        if manifest[what] != number
    ]

    def audited_rows(key: str) -> float:
        part = audit.get(key)
        rows = part.get("rows") if isinstance(part, dict) else None
        return rows if isinstance(rows, int) else math.nan

    total, suppressed = audited_rows("input"), audited_rows("suppressed")
    left = total - suppressed
    if not math.isnan(left) and left != verdict.rows:
        problems.append(f"the table has {verdict.rows:,} rows where the audit leaves {left:,}")
    if "part_of" in manifest:  # the limit is on the rows of all parties
        total, suppressed = audited_rows("all_rows"), audited_rows("all_suppressed")
    limit = manifest.get("suppression_limit", 1)
    if not math.isnan(suppressed) and suppressed > limit * total + _ROUNDING:
        problems.append(f"{suppressed:,} rows were suppressed, more than the share of {limit} that the manifest allows")
    return problems


def figure_problems(findings: Sequence[Finding], stated: Sequence[JsonObject]) -> list[str]:
    """Say which figures of the manifest are not those that were found."""
    if len(findings) != len(stated):
        return ["the manifest does not state one figure for each of its promises"]
    return [
        f"what the manifest states of {finding.model} is not what the table holds"
        for finding, figures in zip(findings, stated, strict=True)
        if not _agrees(finding, figures)
    ]


def together_problems(verdict: Verdict, manifest: JsonObject) -> list[str]:
    """Say which figures of the manifest on the table and those that it extends are not those that were found."""
    stated = manifest.get("extends", {})
    if verdict.together is None or "privacy" not in stated:
        return []
    counts = {"rows": verdict.together.rows, "classes": verdict.together.classes}
    problems = [
        f"the tables together have {number:,} {what}, not as many as the manifest says"
        for what, number in counts.items()
        if stated.get(what) != number
    ]
    return problems + figure_problems(verdict.together.privacy, stated["privacy"])


def _agrees(finding: Finding, stated: JsonObject) -> bool:
    figures = stated.get("achieved", finding.achieved)
    if stated.get("model") != finding.model or stated.get("satisfied") is not finding.satisfied:
        return False
    if not isinstance(figures, dict) or _plain_keys(stated.get("required")) != _plain_keys(finding.required):
        return False
    return figures.keys() == finding.achieved.keys() and all(
        _is_close(figures[key], figure) for key, figure in finding.achieved.items()
    )


def _is_close(stated: Any, figure: Any) -> bool:
    if not isinstance(stated, int | float) or not isinstance(figure, int | float):
        return stated is figure
    return math.isclose(stated, figure, rel_tol=1e-9, abs_tol=1e-9)


# The manifest beside the policy in the audit


def promise_problems(manifest: JsonObject, audit: JsonObject) -> list[str]:
    """Say whether the promise, or roles, are not those of the policy in the audit."""
    policy = audit.get("policy")
    if not isinstance(policy, dict):
        return []
    problems = []
    rules, columns = policy.get("privacy"), policy.get("columns")
    if isinstance(rules, list) and list(map(_plain_keys, rules)) != list(map(_plain_keys, manifest["promise"])):
        problems.append("the manifest does not promise what the policy in the audit asks for")
    if isinstance(columns, dict):
        masks = {name: policy_methods(spec) for name, spec in columns.items()}
        differing = differing_masks(manifest["columns"], masks)
        if differing:
            named = listing(differing, most=_MOST_LISTED)
            problems.append(f"the manifest does not mask {named} as the policy in the audit does")
        roles = {name: spec.get("role") if isinstance(spec, dict) else spec for name, spec in columns.items()}
        stated = {column["name"]: column["role"] for column in manifest["columns"] if column["role"] != "bound"}
        if roles | stated != roles:
            problems.append("the manifest does not give the columns the roles of the policy in the audit")
    return problems


def _plain_keys(rule: Any) -> dict[str, Any]:
    """Select the keys of a requirement that say something, whatever is left at its default, with lists as in JSON."""

    def plain(value: Any) -> Any:
        return [plain(part) for part in value] if isinstance(value, list | tuple) else value

    given = rule if isinstance(rule, Mapping) else {}
    return {key: plain(given[key]) for key in _MODEL_KEYS if given.get(key) not in (None, False)}
