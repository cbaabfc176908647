"""Parts of one release, published by several parties: only all parts together keep the promise.

A part is a release whose manifest has ``part_of``: the id of the joint release, the names of its parties, and which of
them this part is of. By itself a part can be checked for its files, labels and numbers. Its promise is checked of the
union of all parts, as a stranger can do it who has all of them (`verify_parts`), or by the parties themselves before
anything appears: each counts its written file by `count_part`, the counts are added up in secret, and `judge_sums`
holds the sums against the definitions.
"""

from array import array
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import InputError, listing, quote
from sfumato.verifier.accounts import is_part
from sfumato.verifier.checks import reach_verdict
from sfumato.verifier.counts import ClassCounts, count_release
from sfumato.verifier.duckdb_tables import Files, as_paths, describe_cells, open_files
from sfumato.verifier.extension_checks import UNITED, open_tables, read_table_file, unite_tables
from sfumato.verifier.release_files import (
    JsonObject,
    Layout,
    public_folder,
    read_layout,
    table_file_problems,
)
from sfumato.verifier.sql import connect
from sfumato.verifier.stated_promise import Promise, StatedRequirement
from sfumato.verifier.verdict import Verdict

ClassLabels = tuple[str | None, ...]
"""The labels of a class, in the order of the quasi-identifiers of its promise."""


# ---------------------------------------------------------------------------------------------------------------------
# Counting a part, and judging the sums of all


@dataclass(frozen=True)
class PartCounts:
    """What a written part holds: the rows of each class, and of each value in a class by sensitive column."""

    classes: Mapping[ClassLabels, int]
    values: Mapping[str, Mapping[tuple[ClassLabels, str | None], int]]


def count_part(files: Files, manifest: JsonObject, promise: Promise) -> PartCounts:
    """Count the classes of a written table and their values, from the file alone."""
    types = {column["name"]: column.get("type", "") for column in manifest["columns"]}
    views = open_files({"published": files}, null=manifest.get("csv", {}).get("null", ""), types=types)
    with closing(views[0].connection):
        counts, view = count_release(views, promise, read_layout(manifest)), views[0]
        names = ", ".join(view.column(name) for name in promise.quasi)
        lines = counts.connection.sql(f"SELECT id, n, {names} FROM classes").to_arrow_table()
        labels = zip(*(view.texts(name, lines.column(i + 2)) for i, name in enumerate(promise.quasi)), strict=True)
        label_of = dict(zip(lines.column("id").to_pylist(), labels, strict=True))
        sizes = dict(zip(label_of.values(), lines.column("n").to_pylist(), strict=True))
        values = {}
        for column in promise.checked_columns:
            pairs = counts.connection.execute(f"SELECT id, v, r FROM {counts.pairs(column)}").fetchall()
            values[column] = {(label_of[identifier], value): rows for identifier, value, rows in pairs}
    return PartCounts(sizes, values)


def judge_sums(promise: Promise, counts: PartCounts) -> Verdict:
    """Hold the summed counts of all parts against the promise."""
    with closing(connect()) as connection:
        return reach_verdict(_SummedCounts(promise, connection, counts))


class _SummedCounts(ClassCounts):
    """Counts that were added up elsewhere, as the tables that checks know."""

    order = "c.id"

    def __init__(self, promise: Promise, connection: Any, counts: PartCounts) -> None:
        super().__init__(promise, connection)
        self._labels = list(counts.classes)
        numbers = {labels: place for place, labels in enumerate(self._labels)}
        self._register("classes", id=list(numbers.values()), n=list(counts.classes.values()))
        connection.execute("CREATE VIEW persons AS SELECT id, n AS persons FROM classes")
        for column in promise.checked_columns:
            lines = [
                (numbers[labels], counts.classes[labels], value, rows)
                for (labels, value), rows in counts.values[column].items()
                if rows
            ]
            ids, sizes, values, rows = zip(*lines, strict=True) if lines else ((), (), (), ())
            self._register(self.pairs(column), id=ids, n=sizes, v=pa.array(values, pa.string()), r=rows)

    def _register(self, name: str, **columns: Any) -> None:
        arrays = {
            # whole numbers as bytes, since pyarrow would import pandas to ask whether it knows a list of them
            key: part
            if isinstance(part, pa.Array)
            else pa.Array.from_buffers(pa.int64(), len(part), [None, pa.py_buffer(array("q", part))])
            for key, part in columns.items()
        }
        self.connection.register(f"{name}_sums", pa.table(arrays))
        self.connection.execute(f"CREATE TABLE {name} AS SELECT * FROM {name}_sums")

    def labels(self, column: str, most: int | None = None) -> list[str | None]:
        """List the different labels of a quasi-identifier; so many of them at the most."""
        place = self.promise.quasi.index(column)
        return list({labels[place] for labels in self._labels})[:most]

    def count_labels(self, column: str) -> int:
        """Count the different labels of a quasi-identifier."""
        return len(self.labels(column))

    def describe(self, identifier: int) -> str:
        """Name a class by its labels."""
        return f"the class {describe_cells(self.promise.quasi, self._labels[identifier])}"

    def join_failures(self, rule: StatedRequirement) -> list[str]:  # noqa: ARG002 - every kind of release is asked
        """Say nothing: whoever is looked up is in one class."""
        return []

    def problems(self) -> list[str]:
        """Say nothing: a row is in the class that its labels make."""
        return []


# ---------------------------------------------------------------------------------------------------------------------
# All parts, for whoever has them


def refuse_lone_part(manifest: JsonObject) -> InputError:
    """Say what was checked of a part by itself, and what it takes to check the rest."""
    stated = manifest["part_of"]
    others = [name for name in stated["parties"] if name != stated["party"]]
    return InputError(
        f"the files, labels and numbers of this part are as its manifest says; its promise is of {len(others) + 1} "
        f"parts together, and was not checked: name the folders of the other parts, of {listing(others)}, with --part, "
        "once for each"
    )


def verify_parts(folder: Path, manifest: JsonObject, promise: Promise, others: Sequence[str | Path]) -> Verdict:
    """Check the promise of all parts of a joint release together, as they are in their files."""
    stated = manifest["part_of"]
    folders = [folder, *(public_folder(Path(other)) for other in others)]
    tables = [read_table_file(public) for public in folders]
    parties: dict[str, Path] = {}
    problems: list[str] = []
    for public, table in zip(folders, tables, strict=True):
        part: Any = table.manifest.get("part_of")
        if not is_part(part) or (part["release"], part["parties"]) != (stated["release"], stated["parties"]):
            raise InputError(f"{public} is no part of the same release; leave it out, or name the part that is")
        if part["party"] in parties:
            raise InputError(f"{public} and {parties[part['party']]} are the part of one party; name each part once")
        parties[part["party"]] = public
        if table.manifest["promise"] != manifest["promise"]:
            problems.append(f"the part of {quote(part['party'])} promises something else than this one")
        if public != folder:
            wrong = table_file_problems(public, table.manifest)
            problems += [f"of the part of {quote(part['party'])}, {problem}" for problem in wrong]
    lacking = [name for name in stated["parties"] if name not in parties]
    if lacking:
        raise InputError(f"the parts of {listing(lacking)} are missing; name their folders with --part, once for each")
    names = promise.needed_columns
    with closing(connect([path for table in tables for path in as_paths(table.paths)])) as connection:
        united = unite_tables(open_tables(connection, tables, names), names)
        verdict = reach_verdict(count_release([united], promise, Layout({UNITED: tuple(names)})))
    return replace(verdict, problems=(*problems, *verdict.problems))
