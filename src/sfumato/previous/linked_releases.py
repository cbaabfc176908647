"""Linked releases: the current table, the earlier releases that it can be joined with, and what ties their records.

The setting is the sequential release of Wang and Fung 2006, section 3.3: whoever has several releases about the same
people matches their records by the columns that they share, which may be generalized differently in each, and rules out
matches that common sense forbids. `link_releases` reads the earlier releases of a policy and finds out by which columns
records are matched; what is wrong with them is said in one sentence here, before anything is searched.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sfumato.core.regular_file import LARGEST_MANIFEST, read_regular_file
from sfumato.encode import CodedColumn, DividedLines, EncodedTable, encode_column
from sfumato.errors import DataError, InputError, PolicyError, UnreadableFile, did_you_mean, listing, quote
from sfumato.hierarchy import Spec
from sfumato.hierarchy.hierarchy import Label
from sfumato.labels.data_dictionary import is_aggregate
from sfumato.models import ROW, Linkage
from sfumato.policy import ColumnReference, DataSource, Policy, PreviousRelease, Role, ValueCondition, read_reference
from sfumato.previous.taxonomy import Taxonomy, label_paths
from sfumato.table import Table, column_names, read_table
from sfumato.table.csv_reader import read_csv_head
from sfumato.table.files import file_digest, file_format
from sfumato.table.formula_guard import unguard_formula
from sfumato.table.several_files import find_parts
from sfumato.table.unpacking import find_compression, unpacked

InconsistencyRule = tuple[ValueCondition, ValueCondition]
"""No record that meets the one condition belongs to the same person as one that meets the other."""

_FORMATS = ("CSV", "Parquet")
_PUBLISHED = {Role.QUASI, Role.SENSITIVE, Role.PLAIN, Role.WEIGHT}


@dataclass(frozen=True, eq=False, repr=False)
class EarlierRelease:
    """An earlier release: its name, where its table is, its rows, and its columns as codes.

    `csv` says how a CSV was read: its separator, the texts that are NULL, and whether texts carry the apostrophe of
    our rule against formulas; ``None`` for other formats.
    """

    name: str
    path: Path
    rows: int
    digest: str
    columns: tuple[str, ...]
    table: Table
    csv: Mapping[str, Any] | None

    def coded(self, column: str) -> CodedColumn:
        """Give a column as codes, its texts as they were before the rule against formulas."""
        coded = encode_column(self.table, column)
        if not (self.csv or {}).get("guarded"):
            return coded
        return replace(coded, texts=tuple(None if text is None else unguard_formula(text) for text in coded.texts))


@dataclass(frozen=True, eq=False, repr=False)
class LinkedReleases:
    """What an adversary has, and how records of different tables are matched.

    `join_columns` are for each earlier release the columns that it shares with the current table and is matched by;
    `unmatched_columns` are shared with some release but not matched, because they have no taxonomy. `rules` are pairs
    of values that rule a match out. `taxonomies` are those of all columns that records of some table are matched by,
    and `declared` are the columns among these that have a hierarchy in the policy. `exact_columns` are the columns of
    the current table that are published as they are, as far as matching or a requirement needs them.
    """

    encoded: EncodedTable
    earlier: tuple[EarlierRelease, ...]
    join_columns: tuple[tuple[str, ...], ...]
    unmatched_columns: tuple[str, ...]
    rules: tuple[InconsistencyRule, ...]
    taxonomies: Mapping[str, Taxonomy]
    exact_columns: Mapping[str, CodedColumn]
    declared: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of the earlier releases."""
        return [release.name for release in self.earlier]

    @property
    def matched_columns(self) -> tuple[str, ...]:
        """The columns of the current table that its records are matched by."""
        ruled = [side.reference.column for rule in self.rules for side in rule if side.reference.table is None]
        return tuple(dict.fromkeys([*(name for columns in self.join_columns for name in columns), *ruled]))

    def matched_columns_of(self, place: int) -> tuple[str, ...]:
        """List the columns of an earlier release that its records are matched by, with those of any other table."""
        name, own = self.earlier[place].name, self.earlier[place].columns
        others = {column for i, release in enumerate(self.earlier) if i != place for column in release.columns}
        shared = [column for column in own if column not in self.unmatched_columns and column in others]
        ruled = [side.reference.column for rule in self.rules for side in rule if side.reference.table == name]
        return tuple(dict.fromkeys([*self.join_columns[place], *shared, *ruled]))

    def select(self, names: Sequence[str] | None) -> "LinkedReleases":
        """Keep some of the earlier releases; all, where none is named."""
        if names is None:
            return self
        places = [place for place, name in enumerate(self.names) if name in names]
        rules = [rule for rule in self.rules if all(side.reference.table in {None, *names} for side in rule)]
        return replace(
            self,
            earlier=tuple(self.earlier[place] for place in places),
            join_columns=tuple(self.join_columns[place] for place in places),
            rules=tuple(rules),
        )

    def divide(self, divided: DividedLines | None) -> "LinkedReleases":
        """Give the same with the entries of divided lines in place of the lines of the current table."""
        if divided is None:
            return self
        exact = {
            name: replace(column, codes=column.codes.take(divided.line)) for name, column in self.exact_columns.items()
        }
        return replace(self, encoded=self.encoded.divide(divided), exact_columns=exact)

    def references(self, names: Sequence[str]) -> list[ColumnReference]:
        """Resolve the columns that an x or y names."""
        return [read_reference(name, self.names) for name in names]


def link_releases(encoded: EncodedTable, policy: Policy) -> LinkedReleases:
    """Read the earlier releases of a policy and link them with the table, at its lowest permitted levels."""
    encoded = encoded.permitted
    earlier = tuple(read_earlier_release(previous, policy.source) for previous in policy.previous)
    published = [name for name, column in policy.columns.items() if column.role in _PUBLISHED]
    # Ranges and sets have no taxonomy that two tables could have in common, nor do means, medians and modes of classes.
    specs = {name: policy.columns[name].hierarchy for name in published}
    levelless = [
        name
        for name, spec in specs.items()
        if spec is not None and (not spec.levelled or policy.aggregate_form(name) is not None)
    ]
    matched = [name for name in published if name not in levelless]
    join_columns = tuple(tuple(name for name in matched if name in release.columns) for release in earlier)
    for previous, shared in zip(policy.previous, join_columns, strict=True):
        _refuse_aggregates(previous, shared)
    unmatched = tuple(name for name in levelless if any(name in release.columns for release in earlier))
    rules = tuple(rule for previous in policy.previous for rule in previous.inconsistent)
    # The columns of the current table that matching, the requirements and the rules need.
    names = [previous.name for previous in policy.previous]
    references = [read_reference(name, names) for entry in policy.linkage for name in (*entry.x, *entry.y)]
    references += [side.reference for rule in rules for side in rule]
    needed = {name for columns in join_columns for name in columns}
    needed |= {each.column for each in references if each.table is None and each.column != ROW}
    exact = {name: encoded.coded(name) for name in policy.columns if name in needed and name not in encoded.names}
    releases = LinkedReleases(encoded, earlier, join_columns, unmatched, rules, {}, exact)
    _check_columns(releases, policy)
    _check_individual(releases, policy)
    columns = [*releases.matched_columns]
    for place in range(len(earlier)):
        columns += releases.matched_columns_of(place)
    specs = {name: specs[name] if name in matched else None for name in columns}
    taxonomies = {name: _taxonomy(releases, name, spec, policy.source.null) for name, spec in specs.items()}
    _check_rules(releases, taxonomies, specs)
    declared = tuple(name for name, spec in specs.items() if spec is not None)
    return replace(releases, taxonomies=taxonomies, declared=declared)


def _refuse_aggregates(previous: PreviousRelease, columns: Sequence[str]) -> None:
    """Refuse to match by columns of an earlier release that are means, medians or modes of classes.

    Such a cell reads as a value, and stands for others; what it does not fit may be its person's all the same. That it
    is one, the manifest beside the table says.
    """
    try:
        entries = _read_manifest(find_published_table(previous.path).parent)["columns"]
        aggregated = [one["name"] for one in entries if is_aggregate(one) and one["name"] in columns]
    except (UnreadableFile, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return  # there is none, as beside a table that somebody else published
    if aggregated:
        raise InputError(
            f"{quote(previous.name)} has means, medians or modes of classes in {listing(aggregated)}, which records "
            "cannot be matched by; publish these columns in the same way, or leave them out"
        )


def _taxonomy(releases: LinkedReleases, name: str, spec: Spec | None, nulls: Sequence[str]) -> Taxonomy:
    """Make the taxonomy of a column over the labels that it has, or may get, in all tables."""
    labels: list[tuple[str, Sequence[Label]]] = []
    if name in releases.exact_columns and name not in releases.unmatched_columns:
        labels.append(("the table", releases.exact_columns[name].texts))
    elif name in releases.encoded.names and name not in releases.unmatched_columns:
        attribute = releases.encoded.quasi[releases.encoded.names.index(name)]
        levels = attribute.hierarchy.labels
        labels.append(("the table", tuple(dict.fromkeys(label for level in levels for label in level))))
    for place, release in enumerate(releases.earlier):
        if name in releases.matched_columns_of(place):
            labels.append((release.name, release.coded(name).texts))
    return Taxonomy.from_paths(
        path for whose, texts in labels for path in label_paths(texts, spec, column=name, whose=whose, nulls=nulls)
    )


def _check_columns(releases: LinkedReleases, policy: Policy) -> None:
    """Object to columns of earlier releases that are not there, and to a shared column that x has on one side only."""
    for place, entry in enumerate(policy.stated):
        if not isinstance(entry, Linkage):
            continue
        for key in ("x", "y"):
            for named in releases.references(getattr(entry, key)):
                if named.column != ROW:
                    _check_has(releases, named, f"privacy[{place}].{key}")
        _check_sides(releases.select(entry.releases), entry, f"privacy[{place}].x")
    for condition in (side for rule in releases.rules for side in rule):
        if (table := condition.reference.table) is not None:
            _check_has(releases, condition.reference, f"previous[{releases.names.index(table)}].inconsistent")


def _check_has(releases: LinkedReleases, named: ColumnReference, key: str) -> None:
    """Object where a policy names a column that the earlier release does not have."""
    if named.table is None:
        return
    release = releases.earlier[releases.names.index(named.table)]
    if named.column not in release.columns:
        hint = did_you_mean(named.column, release.columns) or f"; it has {listing(release.columns)}"
        raise PolicyError(f"{release.name} has no column {quote(named.column)}{hint}", key=key)


def _check_sides(releases: LinkedReleases, entry: Linkage, key: str) -> None:
    """Object to a shared column that x has of some tables only, unless y has the others.

    One of the tables may tell more of it than another, so that X should have both (end of section 3.3).
    """
    for named in releases.references(entry.x):
        sides = [named.column] if named.column in releases.matched_columns else []
        for place, name in enumerate(releases.names):
            if named.column in releases.matched_columns_of(place):
                sides.append(f"{name}.{named.column}")
        lacking = [side for side in sides if side not in {*entry.x, *entry.y}]
        if lacking and str(named) in sides:
            why = f"{quote(str(named))} is shared, and one table may tell more of it than another"
            raise PolicyError(f"{why}; add {listing(lacking)}, or leave it out on all sides", key=key)


def _check_individual(releases: LinkedReleases, policy: Policy) -> None:
    """Object to pseudonyms under one key in two releases: they tie them together person by person."""
    person = policy.individual
    for release in releases.earlier:
        if person is not None and person.key is not None and person.name in release.columns:
            raise PolicyError(
                f"{quote(person.name)} has pseudonyms under a key, and {release.name} has a column of that name: "
                "whoever joins them has the same persons' rows; leave the key out",
                key=f"columns.{person.name}.key",
            )


def _check_rules(
    releases: LinkedReleases, taxonomies: Mapping[str, Taxonomy], specs: Mapping[str, Spec | None]
) -> None:
    """Object to a rule on a value that there cannot be: it never applies, and lets more records match than can."""
    for condition in (side for rule in releases.rules for side in rule):
        column, value = condition.reference.column, condition.value
        labels, spec = [label for label in taxonomies[column].number if label is not None], specs[column]
        if value in labels or (spec is not None and spec.paths([value], column=column)[0] is not None):
            continue
        alike = [label for label in labels if label.casefold().strip() == value.casefold().strip()]
        if spec is not None or alike:
            near = f"; did you mean {alike[0]}?" if alike else did_you_mean(value, labels)
            hint = near or "; write it as the tables or the hierarchy do"
            raise PolicyError(
                f"{quote(str(condition.reference))} never is {quote(value)}{hint}", key="previous.inconsistent"
            )


def read_earlier_release(previous: PreviousRelease, source: DataSource) -> EarlierRelease:
    """Read the table of an earlier release, as the current one is read or as its own manifest or the policy says."""
    path, key = find_published_table(previous.path), f"the table of {previous.name}"
    if not path.exists():
        raise DataError(f"{path.name} does not exist; check {key} under [[previous]]")
    files = find_parts(path) or [path]
    if files[0].is_dir():
        raise DataError(f"{path.name} is a folder; name {key} in it, such as public/table.csv")
    own_null = _null_by_manifest(path)
    guarded = own_null is not None
    null = own_null or (source.null if previous.null is None else previous.null)
    encoding = previous.encoding or ("utf-8" if guarded else source.encoding)
    plain = DataSource(path, previous.separator, null, encoding)
    names = column_names(path, plain)
    kind = file_format(path).name
    if find_compression(files[0]) not in {None, "gzip"}:
        raise DataError(f"{path.name} is compressed; save {key} as CSV or Parquet, as it was published")
    if kind not in _FORMATS:
        raise DataError(f"{path.name} is {kind}; save {key} as CSV or Parquet, as it was published")
    try:
        table = read_table(path, _policy_for_all(names, plain))
    except DataError as error:
        raise DataError(f"{key}: {error}") from None
    if table.warnings:
        raise DataError(f"{key} has a column without a name in {path.name}; name it there")
    if guarded:
        names = [unguard_formula(name) for name in names]
        table = replace(table, arrow=table.arrow.rename_columns(names))
    csv = None
    if kind == "CSV":
        with unpacked(files[0]) as content:
            separator = read_csv_head(content, plain).separator
        csv = {"separator": separator, "null": list(null), "guarded": guarded}
        csv |= {} if plain.encoding == "utf-8" else {"encoding": plain.encoding}
    return EarlierRelease(previous.name, path, table.rows, file_digest(path), tuple(names), table, csv)


def find_published_table(path: Path) -> Path:
    """Find the table of a release of one table, given its folder; whatever else is named is a table itself.

    The table may be a folder as well, with several files that are one table.
    """
    public = path / "public" if (path / "public").is_dir() else path
    try:
        name = _read_manifest(public)["table"]
    except (UnreadableFile, ValueError, RecursionError, KeyError, TypeError):
        return path
    inside = isinstance(name, str) and name not in {"", ".", ".."} and not any(sign in name for sign in "/\\\0")
    return public / name if inside else path


def _read_manifest(public: Path) -> Any:
    return json.loads(read_regular_file(public / "manifest.json", most=LARGEST_MANIFEST, what="a manifest"))


def _null_by_manifest(path: Path) -> tuple[str, ...] | None:
    """Give the text that is NULL in a table that one of our own manifests describes; nothing for other tables."""
    try:
        manifest = _read_manifest(path.parent)
        described = any(name == path.name or name.startswith(f"{path.name}/") for name in manifest["files"])
        null = manifest["csv"].get("null")
    except (UnreadableFile, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return (null,) if described and isinstance(null, str) else None


def _policy_for_all(names: list[str], source: DataSource) -> Policy:
    """Make a policy under which all columns are read as text with few different values."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(f"column names stand twice in {source.path and source.path.name}: {listing(twice)}")
    data: dict[str, Any] = {"null": list(source.null), "encoding": source.encoding}
    if source.separator:
        data["separator"] = source.separator
    columns = {name: {"role": "quasi", "hierarchy": "suppress"} for name in names}
    return Policy.read({"data": data, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 1}]})
