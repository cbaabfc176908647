"""What a reader sees of a release, as one value: read from its folder, from any file, or taken from memory.

A `ReleaseView` has the published columns, one code per row, with the data dictionary that says what labels cover.
`ReleaseView.lines` groups its rows by the columns that somebody may know: the `ReleaseLines` are what people are looked
up in, and what attacks count.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.arrays import BoolArray, Codes, IntArray, count_codes
from sfumato.core.classes import Histogram, count_values
from sfumato.core.keys import find_first, mix_bits, number_tuples, pack_tuples
from sfumato.core.segments import run_starts
from sfumato.encode import CodedColumn, EncodedTable, encode_column, value_totals
from sfumato.errors import DataError, InputError, quote
from sfumato.hierarchy.open_ended import write_set
from sfumato.labels.data_dictionary import Entry, entry_from_policy
from sfumato.policy import Policy, Role
from sfumato.reading.outside_table import (
    ReadOptions,
    check_column_names,
    original_read_options,
    outside_column_names,
    read_outside_table,
)
from sfumato.reading.release_reader import ReleaseManifest, find_release_folder, promised_k, read_manifest
from sfumato.recode import Recoding
from sfumato.recode.recoding import collapse_lines
from sfumato.split import tables_from_files, tables_from_recoding
from sfumato.split.two_tables import column_names_of_role, read_published_columns
from sfumato.table import describe_source

PUBLISHED_ROLES = ("quasi", "sensitive", "plain")
"""The roles of columns that are published, pseudonyms and sampling weights apart: nobody knows those of a person."""

LARGE = 100_000
"""In a release of more rows or lines in memory, columns that are published as they are take too long to look at."""


@dataclass(frozen=True, eq=False)
class ReleaseView:
    """Published columns, a code for each row of the table, or of the first of two.

    `class_of` and `bags` are there where sensitive values are in another table: the class of each row, and how often
    each class has which value. `individual` is the column of pseudonyms, where there is one. `k` is the size of classes
    that the release promises, where it promises one. `label_class` is the class of each row by the labels of its
    quasi-identifiers, where somebody has numbered them already, in the order of `Recoding.class_of`. Where lines are
    counted, what is said of each row is said of each line, and `counts` are its rows.
    """

    name: str
    manifest: ReleaseManifest
    k: int | None
    columns: Mapping[str, CodedColumn]
    class_of: IntArray | None = None
    bags: Mapping[str, Histogram] = field(default_factory=dict)
    individual: CodedColumn | None = None
    label_class: IntArray | None = None
    counts: IntArray | None = None

    @property
    def rows(self) -> int:
        """Rows of the table."""
        if self.counts is not None:
            return int(self.counts.sum())
        return len(self.class_of if self.class_of is not None else next(iter(self.columns.values())).codes)

    def with_role(self, *roles: str) -> list[str]:
        """List the columns of some roles, in their order."""
        return [entry["name"] for entry in self.manifest.columns if entry.get("role") in roles]

    def lines(self, on: Sequence[str], sensitive: Sequence[str] = ()) -> "ReleaseLines":
        """Group the rows into lines with equal values `on` these columns, with the bags of the sensitive columns.

        In one table the classes are the lines. In two tables a line is what rows of one class have in common, and
        somebody who is known by a sensitive value may be on any line of a class that has the value: the bag of the
        class is then a label like a set.

        first: int[lines], some row of each line (the first one); line_of: int[rows]; class_of: int[rows] below `sizes`
        """
        columns = {name: self.columns[name] if name in self.columns else self._bags_as_sets(name) for name in on}
        codes, widths = [one.codes for one in columns.values()], [one.width for one in columns.values()]
        if self.class_of is None:
            class_of, classes = self._number_rows(list(columns), codes, widths)
            sizes = count_codes(class_of, classes, self.counts)
            bags = {name: _count_bag(self.columns[name], class_of, self.counts) for name in sensitive}
            line_of, first = class_of, find_first(class_of, classes)
        else:
            class_of = self.class_of
            sizes = count_codes(class_of, int(class_of.max(initial=-1)) + 1, self.counts)
            bags = {name: self.bags[name] for name in sensitive}
            keys = pack_tuples([*codes, class_of], [*widths, len(sizes)]).keys
            _, first, line_of = np.unique(keys, return_index=True, return_inverse=True)
        entries = (
            entry if entry["name"] in self.columns or entry["name"] not in on else _set_entry(entry)
            for entry in self.manifest.columns
        )
        return ReleaseLines(
            self.name,
            replace(self.manifest, columns=tuple(entries)),
            self.k,
            {name: replace(one, codes=one.codes[first]) for name, one in columns.items()},
            line_of,
            class_of[first],
            sizes,
            bags,
            None if self.individual is None else self.individual.codes,
            self.counts,
        )

    def _number_rows(self, on: Sequence[str], codes: list[Codes], widths: list[int]) -> tuple[IntArray, int]:
        """Number the rows of one table by their values `on` some columns; also returns how many are different.

        codes: int[rows] each, below their widths. Classes by all quasi-identifiers are in the order of their labels, so
        where these come first in `on`, the class stands for all of them.
        """
        quasi = self.with_role("quasi")
        if self.label_class is None or list(on[: len(quasi)]) != quasi:
            return number_tuples(pack_tuples(codes, widths))
        classes = int(self.label_class.max(initial=-1)) + 1
        if len(on) == len(quasi):
            return self.label_class, classes
        return number_tuples(pack_tuples([self.label_class, *codes[len(quasi) :]], [classes, *widths[len(quasi) :]]))

    def _bags_as_sets(self, name: str) -> CodedColumn:
        """Make a column of another table: for each row, the set of the values that its class has.

        Sets are compared by sums of 128 bits, so that each is written once and not once a class.
        bag: lines sorted by class; first, last: int[classes], where the lines of each class begin and end
        """
        assert self.class_of is not None  # noqa: S101 - only then a column is not among the others
        bag = self.bags[name]
        first = run_starts(bag.class_of)
        last = np.append(first[1:], len(bag.class_of))
        sums = [np.add.reduceat(mix_bits(bag.value, salt), first) for salt in (1, 2)]
        hashes = np.array(sums).T.copy().view([("", np.uint64)] * 2).ravel()
        _, example, set_of = np.unique(hashes, return_index=True, return_inverse=True)
        values = bag.domain.values
        texts = tuple(write_set([values[i] for i in bag.value[first[c] : last[c]]]) for c in example.tolist())
        return CodedColumn(name, set_of[self.class_of], texts, None)


@dataclass(frozen=True, eq=False)
class ReleaseLines:
    """A release as somebody looks people up in it: different lines, the class of each, and the bag of each class.

    `quasi` has a code for each different line, `class_of` its class; `line_of` has the line of each row. In one table
    a class is one line of labels; in two tables it may have many lines of values. `persons` has a number for the
    person of each row, where rows have pseudonyms. `counts` are those of the view.
    """

    name: str
    manifest: ReleaseManifest
    k: int | None
    quasi: Mapping[str, CodedColumn]
    line_of: IntArray
    class_of: IntArray
    sizes: IntArray
    bags: Mapping[str, Histogram]
    persons: IntArray | None = None
    counts: IntArray | None = None

    @property
    def rows(self) -> int:
        """Rows of the release."""
        return len(self.line_of) if self.counts is None else int(self.counts.sum())

    @cached_property
    def line_rows(self) -> IntArray:
        """Rows of each different line."""
        return count_codes(self.line_of, len(self.class_of), self.counts)

    def entry(self, column: str) -> Entry:
        """Find a column in the data dictionary."""
        return next(entry for entry in self.manifest.columns if entry["name"] == column)


def open_view(path: Any, columns: Sequence[str], policy: Policy | None) -> ReleaseView:
    """Open a release folder, the table of one, a file or a frame; with these columns and those to learn of people."""
    folder = find_release_folder(path)
    if folder is None:
        options = original_read_options(policy, None)
        names = outside_column_names(path, options)
        policy = policy and policy.for_table(names, whole=False)
        sensitive = [one.name for one in policy.sensitive if one.name in names] if policy else []
        return view_file(path, list(dict.fromkeys([*columns, *sensitive])), policy, options)
    roles = {entry["name"]: entry.get("role") for entry in read_manifest(folder).columns}
    check_column_names(columns, list(roles), str(folder))
    pseudonyms = [name for name in columns if roles[name] == "individual"]
    if pseudonyms:
        raise InputError(
            f"column {quote(pseudonyms[0])} of {folder} has random pseudonyms, which nobody knows; leave it out"
        )
    return view_folder(folder, [one for one in dict.fromkeys(columns) if roles[one] not in {"quasi", "sensitive"}])


def published_columns(path: Any, policy: Policy | None) -> list[str]:
    """List all columns that are published: by the manifest of a release, or by the policy of a file."""
    folder = find_release_folder(path)
    if folder is not None:
        return [entry["name"] for entry in read_manifest(folder).columns if entry.get("role") in PUBLISHED_ROLES]
    if policy is None:
        raise InputError(
            f"which columns of {describe_source(path)} may be known? name them (--columns), or give a policy"
        )
    names = outside_column_names(path, original_read_options(policy, None))
    policy = policy.for_table(names, whole=False)
    columns = [one.name for one in policy.columns.values() if str(one.role) in PUBLISHED_ROLES and one.name in names]
    check_column_names([one.name for one in policy.quasi], names, describe_source(path))
    return columns


def read_release_lines(folder: Path) -> ReleaseLines:
    """Read a release from its folder or its public part, as lines of all its quasi-identifiers."""
    view = view_folder(folder)
    return view.lines(view.with_role("quasi"), view.with_role("sensitive"))


def view_folder(folder: Path, others: Sequence[str] = ()) -> ReleaseView:
    """Read a release from its folder or its public part; `others` are columns neither quasi nor sensitive."""
    manifest = read_manifest(folder)
    layout = manifest.as_mapping()
    quasi, sensitive, pseudonym = (column_names_of_role(layout, role) for role in ("quasi", "sensitive", "individual"))
    if not quasi:
        raise DataError(f"manifest.json of {folder} has no quasi-identifier; it was changed after publication")
    first = [*quasi, *([manifest.class_id] if manifest.class_id else sensitive), *others, *pseudonym]
    columns = read_published_columns(manifest.paths[0], layout, list(dict.fromkeys(first)))
    columns.pop(manifest.class_id or "", None)
    individual = columns.get(pseudonym[0]) if pseudonym else None
    view = ReleaseView(str(folder), manifest, promised_k(manifest.promise), columns, individual=individual)
    if not manifest.is_split:
        return view
    tables = tables_from_files(manifest.folder, layout)
    return replace(view, class_of=tables.class_of, bags=tables.bags)


def view_file(path: Any, columns: Sequence[str], policy: Policy | None, options: ReadOptions) -> ReleaseView:
    """Read columns of a file or frame, raw or published by somebody; the hierarchies of a policy say what labels cover.

    Without a policy a label is a value, and ``*`` covers all values.
    """
    names = outside_column_names(path, options)
    policy = policy and policy.for_table(names, whole=False)
    check_column_names(columns, names, describe_source(path))
    pseudonym = policy.individual.name if policy and policy.individual and policy.individual.name in names else None
    table = read_outside_table(path, list(dict.fromkeys([*columns, *([pseudonym] if pseudonym else [])])), options)
    coded = {name: encode_column(table, name) for name in columns}
    entries: list[Entry] = []
    for name in names:
        if policy is None or name not in policy.columns:
            entries.append({"name": name, "role": "plain"})
        elif name in coded and policy.columns[name].role is Role.QUASI:
            entries.append({**_role_entry(name, policy), **entry_from_policy(policy, name, coded[name].texts)})
        else:
            entries.append(_role_entry(name, policy))
    is_file = isinstance(path, Path)
    folder, files = (path.parent, (path.name,)) if is_file else (Path(), ())  # a frame is in no folder
    manifest = ReleaseManifest(folder, "file", files, None, tuple(entries), "")
    individual = encode_column(table, pseudonym) if pseudonym else None
    title = str(path) if is_file else describe_source(path)
    return ReleaseView(title, manifest, None, coded, individual=individual)


def view_recoding(encoded: EncodedTable, recoding: Recoding, policy: Policy) -> ReleaseView:
    """View a release before it is written: what its files will have, with rows in the order of the original.

    Of very many counted lines, those that are published alike are one, in an order of their own. Columns that are
    published as they are, which are not coded, are left out.
    """
    split = recoding.group is not None
    kept = recoding.published if recoding.group is None else recoding.group >= 0
    rows = slice(None) if kept is None else kept
    entries = tuple(_role_entry(n, policy) if split else _recoded_entry(n, recoding, policy) for n in policy.columns)
    manifest = ReleaseManifest(Path(), policy.publish.form, (), None, entries, "")
    requirements = policy.document.get("privacy")
    k = promised_k(requirements if isinstance(requirements, list) else [])
    if split:
        individual = None if encoded.individual is None else _select(encoded.individual, rows)
        tables = tables_from_recoding(encoded, recoding)
        columns = {one.name: one for one in tables.quasi}
        return ReleaseView(
            "release", manifest, k, columns, tables.class_of, tables.bags, individual, counts=tables.counts
        )
    if recoding.counts is not None and encoded.lines > LARGE:
        alike = collapse_lines(encoded, recoding)
        columns = {**alike.labels, **alike.sensitive}
        return ReleaseView("release", manifest, k, columns, individual=alike.individual, counts=alike.counts)
    labels = {name: CodedColumn(name, one.codes[rows], one.texts, None) for name, one in recoding.labels.items()}
    sensitive = {name: _select(one, rows) for name, one in encoded.sensitive.items()}
    individual = None if encoded.individual is None else _select(encoded.individual, rows)
    label_class = recoding.class_of[rows]
    counts = None if recoding.counts is None else recoding.counts[rows]
    return ReleaseView(
        "release", manifest, k, labels | sensitive, individual=individual, label_class=label_class, counts=counts
    )


def published_rows(recoding: Recoding) -> IntArray:
    """Find the rows, or counted lines, of the original that are published."""
    if recoding.group is not None:
        return np.flatnonzero(recoding.group >= 0)
    some = next(iter(recoding.labels.values())).codes
    return np.arange(len(some)) if recoding.published is None else np.flatnonzero(recoding.published)


def _select(column: CodedColumn, rows: BoolArray | slice) -> CodedColumn:
    return replace(column, codes=column.codes[rows])


def _count_bag(column: CodedColumn, class_of: IntArray, counts: IntArray | None) -> Histogram:
    return count_values(class_of, column.codes, counts, value_totals(column, counts))


def _set_entry(entry: Entry) -> Entry:
    return {"name": entry["name"], "form": "sets"}


def _role_entry(name: str, policy: Policy) -> Entry:
    return {"name": name, "role": str(policy.columns[name].role)}


def _recoded_entry(name: str, recoding: Recoding, policy: Policy) -> Entry:
    """Describe a column by what the policy declares of it, where the recoding has its labels; else by its role."""
    if name not in recoding.labels:
        return _role_entry(name, policy)
    labels = recoding.labels[name]
    aggregate = policy.aggregate_form(name)
    form = {"form": aggregate} if aggregate and recoding.levels is None else {}
    return {**_role_entry(name, policy), **entry_from_policy(policy, name, labels.texts, level=labels.level), **form}
