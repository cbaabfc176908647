"""A table whose rows were added to those of releases before it: all of them together have to keep the promise.

Labels are compared as they are written, so that a class of one table and the class of the same labels in another are
one. The tables are united as they are in their files and counted like one table. Besides, each class of the table has
to be one of those that were published before: further rows get no labels of their own.
"""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import InputError, NotVerified, listing
from sfumato.verifier.accounts import check_manifest
from sfumato.verifier.checks import reach_verdict
from sfumato.verifier.counts import count_release
from sfumato.verifier.duckdb_tables import TableView, arrow_types, as_paths, as_text, open_view, own_dialect
from sfumato.verifier.release_files import (
    CHANGED,
    JsonObject,
    Layout,
    parse_json,
    paths_digest,
    public_folder,
    read_bytes,
    stated_digest,
    table_paths,
)
from sfumato.verifier.sql import connect
from sfumato.verifier.stated_promise import InputDistribution, Promise, is_xy
from sfumato.verifier.verdict import Verdict

_TOGETHER = "together with what it extends, "
UNITED = "united"
_NOT_CHECKED = "what holds together with the releases that it extends was not checked: name their folders with --base"


@dataclass(frozen=True)
class ExtendedTable:
    """A release that rows are added to: the hashes that the manifest has of it, and its public folder where known."""

    manifest_sha256: str
    sha256: str
    public: Path | None = None


@dataclass(frozen=True)
class StatedExtension:
    """What a manifest says of the releases that its table extends.

    `together` says that only all tables together keep the promise. `distributions` are those of sensitive columns over
    the inputs of all of them, for distances that compare with it.
    """

    together: bool
    releases: tuple[ExtendedTable, ...]
    distributions: Mapping[str, InputDistribution] = field(default_factory=dict)


def read_extension(manifest: JsonObject, audit: JsonObject, given: Sequence[str | Path]) -> StatedExtension | None:
    """Read what a checked manifest says of the releases it extends; nothing where it extends none.

    Their folders are those that are `given`, or those that the audit knows, told apart by the hash of the manifest.
    """
    stated = manifest.get("extends")
    if stated is None:
        if given:
            raise InputError("the release extends no other; leave out --base")
        return None
    private = audit.get("extends", {})
    try:
        needs = {name: InputDistribution.from_json(data) for name, data in private.get("needs", {}).items()}
        folders = [Path(folder) for folder in private.get("folders", [])]
        sound = all(distribution.sound for distribution in needs.values())
    except (AttributeError, KeyError, TypeError):
        sound = False
    if not sound:
        raise NotVerified(f"audit.json does not describe the releases that it extends properly: {CHANGED}")
    places: dict[str, Path] = {}
    for folder in folders:
        if (digest := _manifest_digest(folder)) is not None:
            places[digest] = folder
    for folder in map(Path, given):
        public = public_folder(folder)
        digest = _manifest_digest(public)
        if digest is None or digest not in {release["manifest_sha256"] for release in stated["releases"]}:
            raise InputError(f"{folder} is no release that this one extends; leave it out, or name the one it was")
        places[digest] = public
    releases = tuple(
        ExtendedTable(release["manifest_sha256"], release["sha256"], places.get(release["manifest_sha256"]))
        for release in stated["releases"]
    )
    return StatedExtension(stated["promise"] == "together", releases, needs)


def _manifest_digest(public: Path) -> str | None:
    """Hash the manifest in a public folder; nothing where there is none."""
    try:
        return hashlib.sha256(read_bytes(public / "manifest.json")).hexdigest()
    except NotVerified:
        return None


def add_verdict_together(
    verdict: Verdict, paths: Sequence[Path], manifest: JsonObject, promise: Promise, stated: StatedExtension
) -> Verdict:
    """Add to the verdict on a written table what holds of it together with the releases that it extends.

    Where these are not at hand, that is noted of a table that keeps the promise by itself; one that does not promise it
    cannot be verified.
    """
    if any(release.public is None for release in stated.releases):
        if stated.together:
            raise InputError(
                "the promise is of this table together with the releases that it extends; name their folders with "
                "--base, once for each"
            )
        return replace(verdict, notes=(*verdict.notes, _NOT_CHECKED))
    bases = [_read_base(release) for release in stated.releases]
    problems = [problem for base in bases for problem in base.problems]
    table = TableFile(tuple(paths), manifest)
    together = _judge_together([table, *bases], promise, stated)
    return _combine(verdict, replace(together, problems=(*problems, *together.problems)), stated)


def add_verdict_in_memory(
    verdict: Verdict, table: Any, promise: Promise, stated: StatedExtension, bases: Sequence[Any]
) -> Verdict:
    """Do the same for an Arrow table; `bases` are public folders of releases, or Arrow tables."""
    opened = [read_table_file(base) if isinstance(base, Path) else base for base in bases]
    return _combine(verdict, _judge_together([table, *opened], promise, stated), stated)


@dataclass(frozen=True)
class TableFile:
    """The table of a release in its files, with its manifest, and what is wrong with the files."""

    paths: tuple[Path, ...]
    manifest: JsonObject
    problems: tuple[str, ...] = ()


def _read_base(release: ExtendedTable) -> TableFile:
    assert release.public is not None  # noqa: S101 - the caller has looked; this tells the type checker
    base = read_table_file(release.public)
    digest, stated = paths_digest(base.paths), stated_digest(base.manifest, base.manifest["table"])
    same = {digest, stated} == {release.sha256} and _manifest_digest(release.public) == release.manifest_sha256
    wrong = f"{base.manifest['table']} of a release that it extends is not the file that was published: it was changed"
    return base if same else replace(base, problems=(wrong,))


def read_table_file(public: Path) -> TableFile:
    """Find the table of a release in its public folder, and read its manifest."""
    manifest = parse_json(read_bytes(public / "manifest.json"), "manifest.json")
    check_manifest(manifest)
    if "table" not in manifest:
        raise NotVerified(f"a release that is read with others is not of one table: {CHANGED}")
    return TableFile(table_paths(public, manifest, manifest["table"]), manifest)


def _judge_together(tables: Sequence[Any], promise: Promise, stated: StatedExtension) -> Verdict:
    """Count written tables and Arrow tables as one, and check every requirement that is about classes.

    The first is the table with the further rows. Requirements on the join with other releases are of that one by
    itself, and not looked at here.
    """
    names = promise.needed_columns
    with closing(
        connect([path for table in tables if isinstance(table, TableFile) for path in as_paths(table.paths)])
    ) as connection:
        views = open_tables(connection, tables, names)
        united = unite_tables(views, names)
        keys = ", ".join(united.column(name) for name in promise.quasi)
        united.read(
            f"CREATE TABLE added AS (SELECT DISTINCT {keys} FROM {UNITED} WHERE part = 0) EXCEPT "
            f"(SELECT DISTINCT {keys} FROM {UNITED} WHERE part > 0)"
        )
        added = int(connection.execute("SELECT count(*) FROM added").fetchall()[0][0])
        rules = tuple(rule for rule in promise.requirements if not is_xy(rule))
        distributions = dict(stated.distributions)
        whole = replace(promise, requirements=rules, distributions=distributions, previous=(), complete=False)
        verdict = reach_verdict(count_release([united], whole, Layout({UNITED: tuple(names)})))
    findings = tuple(
        replace(finding, failures=tuple(f"{_TOGETHER}{text}" for text in finding.failures))
        for finding in verdict.privacy
    )
    strange = [f"{added:,} classes of the table are in no release that it extends"] if added else []
    return replace(verdict, privacy=findings, problems=(*strange, *verdict.problems))


def open_tables(connection: Any, tables: Sequence[Any], names: Sequence[str]) -> list[TableView]:
    """Open each table as a view, and refuse one that does not have each of these columns once.

    A column of an Arrow table keeps its type where it has that type in all tables; else it is text, as printed.
    """
    views: dict[int, TableView] = {}
    for place, table in enumerate(tables):
        if isinstance(table, TableFile):
            declared = {column["name"]: column.get("type", "") for column in table.manifest["columns"]}
            null = table.manifest.get("csv", {}).get("null", "")
            dialect = own_dialect(table.paths, null)
            views[place] = open_view(connection, f"part_{place}", table.paths, dialect, declared)
    kinds = {
        place: dict(views[place].types) if place in views else arrow_types(table) for place, table in enumerate(tables)
    }
    for place, table in enumerate(tables):
        held = views[place].columns if place in views else table.column_names
        lacking = [name for name in names if list(held).count(name) != 1]
        if lacking:
            raise NotVerified(f"a table that is read with others lacks, or has twice, the columns {listing(lacking)}")
        if place not in views:
            alike = {name for name in names if len({str(of.get(name)) for of in kinds.values()}) == 1}
            types = {name: kind for name, kind in kinds[place].items() if name in alike}
            columns = [table.column(name) if name in types else as_text(table.column(name)) for name in names]
            connection.register(f"part_{place}", pa.table(columns, [f"c{i}" for i in range(len(names))]))
            views[place] = TableView(connection, tuple(names), types, f"part_{place}")
    return [views[place] for place in range(len(tables))]


def unite_tables(views: Sequence[TableView], names: Sequence[str]) -> TableView:
    """Make one view of tables, with these columns and the number of the table as ``part``.

    A column keeps its type where it has that type in all tables. Else it is compared as text, and so are floating
    numbers, by their digits. Texts are without the apostrophe of the formula rule.
    """
    types = {
        name: views[0].types[name]
        for name in names
        if name in views[0].types and len({str(view.types.get(name)) for view in views}) == 1
    }
    parts = []
    for part, view in enumerate(views):
        cells = []
        for place, name in enumerate(names):
            cell = view.column(name)
            if name not in types or pa.types.is_floating(types[name]):
                cell = f"CAST({cell} AS VARCHAR)"
            cells.append(f"{cell if name in view.types else view.text_sql(cell)} AS c{place}")
        parts.append(f"SELECT {', '.join(cells)}, {part} AS part FROM {view.source}")
    connection = views[0].connection
    connection.execute(f"CREATE VIEW {UNITED} AS {' UNION ALL '.join(parts)}")

    def statement(long: bool) -> str:
        return "; ".join(view.statement(long) for view in views if view.statement is not None)

    return TableView(connection, tuple(names), types, UNITED, "the tables together", statement=statement)


def _combine(verdict: Verdict, together: Verdict, stated: StatedExtension) -> Verdict:
    """Say of each requirement what the promise is about: the table, or all tables; what fails besides is a problem."""
    problems = (*verdict.problems, *together.problems)
    if not stated.together:
        failures = (text for finding in together.privacy for text in finding.failures)
        return replace(verdict, problems=(*problems, *failures), together=together)
    of_classes = iter(together.privacy)
    findings = [finding if is_xy({"model": finding.model}) else next(of_classes) for finding in verdict.privacy]
    return replace(verdict, privacy=tuple(findings), problems=problems, together=together)
