"""Earlier releases: where their files are, whether they are the right ones, and their rows through DuckDB.

The manifest says which earlier releases the current one is joined with, and how; the policy in the audit says what was
meant. Where both are at hand they have to agree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.errors import InputError, NotVerified, listing, quote
from sfumato.verifier.duckdb_tables import ENCODINGS, CsvDialect, TableView, open_view
from sfumato.verifier.release_files import PART, JsonObject, paths_digest, public_folder, read_json
from sfumato.verifier.stated_promise import PriorRelease

_MATCHED_ROLES = frozenset({"quasi", "sensitive", "plain", "weight"})


def use_files(releases: Sequence[PriorRelease], paths: Mapping[str, str | Path] | None) -> tuple[PriorRelease, ...]:
    """Put files that the caller names, by release, in place of those that the audit knows."""
    known = {release.name for release in releases}
    unknown = [name for name in paths or {} if name not in known]
    if unknown:
        has = f"it has {listing(known)}" if known else "it has none"
        raise InputError(f"the release was made with no earlier release called {listing(unknown)}; {has}")
    return tuple(
        replace(release, path=Path((paths or {}).get(release.name, release.path or ""))) for release in releases
    )


def with_stated_files(asked: Sequence[PriorRelease], stated: Sequence[PriorRelease]) -> tuple[PriorRelease, ...]:
    """Give releases that are asked for without a file the stated file of the same name."""
    files = {release.name: release for release in stated}

    def complete(release: PriorRelease) -> PriorRelease:
        file = files.get(release.name)
        if release.path is not None or file is None:
            return release
        return replace(release, path=file.path, sha256=file.sha256, rows=file.rows, csv=file.csv)

    return tuple(map(complete, asked))


def locate_files(releases: Sequence[PriorRelease]) -> list[tuple[Path, ...]]:
    """Find the file or files of each earlier release, which have to be those that the current one was made with.

    Where the table is several files, their folder is named.
    """
    paths = []
    for release in releases:
        advice = f"name the file with --previous {release.name}=FILE"
        digest = f" with the SHA-256 {release.sha256}" if release.sha256 else ""
        path = release.path
        if path is None or not path.name:
            raise InputError(f"the table of the earlier release {quote(release.name)}{digest} is needed here; {advice}")
        files = _list_files(path)
        if not files:
            raise InputError(
                f"{path.name}, the earlier release {quote(release.name)}{digest}, is not there as a file; {advice}"
            )
        if release.sha256 not in {None, _digest(files, advice)}:
            raise NotVerified(
                f"{path.name} is not the earlier release {quote(release.name)} that this one was made with: its "
                f"SHA-256 is not {release.sha256}; {advice}"
            )
        paths.append(tuple(file.resolve() for file in files))
    return paths


def _list_files(path: Path) -> list[Path]:
    """List the files of a table, given its file, the folder of its parts, or that of its release; else none."""
    if path.is_dir() and any(stated.is_file() for stated in (path / "manifest.json", path / "public/manifest.json")):
        public = public_folder(path)
        path = public / str(read_json(public / "manifest.json").get("table"))
    if not path.is_dir():
        return [path] if path.is_file() else []  # a pipe or a device may never end
    inside = sorted(path.iterdir())
    return inside if all(PART.fullmatch(part.name) and part.is_file() for part in inside) else []


def _digest(files: Sequence[Path], advice: str) -> str:
    try:
        return paths_digest(files)
    except NotVerified as error:
        raise InputError(f"{error}; {advice}") from None


def open_earlier(connection: Any, releases: Sequence[PriorRelease], paths: Sequence[Sequence[Path]]) -> list[TableView]:
    """Open their files as views ``earlier_0``, ``earlier_1`` and so on, on a connection that may read these paths."""
    views = []
    for place, (release, files) in enumerate(zip(releases, paths, strict=True)):
        csv, dialect = release.csv, None
        if csv is not None:
            encoding = ENCODINGS[csv.get("encoding", "utf-8")]
            separator, guarded = csv.get("separator", ","), csv.get("guarded", False)
            dialect = CsvDialect(
                tuple(csv["null"]), separator, guarded, encoding, line_ends=None, packed=files[0].suffix == ".gz"
            )
        view = open_view(connection, f"earlier_{place}", files, dialect)
        views.append(replace(view, label=f"earlier release {quote(release.name)}"))
    return views


def previous_problems(manifest: JsonObject, audit: JsonObject) -> list[str]:
    """Say whether earlier releases, or rules of what does not match, are not those of the policy in the audit."""
    policy = audit.get("policy")
    if not isinstance(policy, Mapping):
        return []
    listed = policy.get("previous")
    asked = [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list) else []
    stated = manifest.get("previous", [])
    if [entry.get("name") for entry in asked] != [entry["name"] for entry in stated]:
        return ["the manifest does not name the earlier releases of the policy in the audit"]
    if _inconsistent_pairs(asked) != _inconsistent_pairs(stated):
        return ["the manifest does not rule out the matches that the policy in the audit rules out"]
    return []


def _inconsistent_pairs(previous: Sequence[Any]) -> list[str]:
    lists = (entry.get("inconsistent") for entry in previous)
    return sorted(repr(pair) for pairs in lists if isinstance(pairs, list) for pair in pairs)


def join_problems(
    releases: Sequence[PriorRelease], tables: Sequence[TableView], manifest: JsonObject, audit: JsonObject
) -> list[str]:
    """Name columns that two tables share and that are not joined on, though the policy in the audit gives them labels.

    Only columns of ranges or sets have none that two tables could have in common.
    """
    policy = audit.get("policy")
    columns = policy.get("columns") if isinstance(policy, Mapping) else None
    if not isinstance(columns, Mapping):
        return []

    def has_taxonomy(name: str) -> bool:
        column = columns.get(name)
        spec = column.get("hierarchy") if isinstance(column, Mapping) else None
        return not (spec == "sets" or (isinstance(spec, Mapping) and "ranges" in spec))

    own = [column["name"] for column in manifest["columns"] if column["role"] in _MATCHED_ROLES]
    problems = []
    for release, table in zip(releases, tables, strict=True):
        unjoined = [name for name in own if name in table.columns and name not in release.join]
        lost = [name for name in unjoined if has_taxonomy(name)]
        if lost:
            problems.append(f"{table.label} is not joined on columns that it shares: {listing(lost)}")
    return problems
