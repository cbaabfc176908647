"""Read an earlier release: its table as it was published, every column as codes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sfumato.encode import CodedColumn, encode_column
from sfumato.errors import DataError, listing
from sfumato.policy import DataSource, Policy, PreviousRelease
from sfumato.table import Table, column_names, read
from sfumato.table.formats import format_of
from sfumato.table.guard import unguarded
from sfumato.table.head import head_of
from sfumato.table.read import digest

_READ = ("CSV", "Parquet")


@dataclass(frozen=True, eq=False, repr=False)
class Earlier:
    """An earlier release: its name, where its table is, its rows, and its columns as codes.

    `delimited` says how a CSV was read: its separator, the texts that are NULL, and whether texts carry the apostrophe
    of our rule against formulas; ``None`` for other formats.
    """

    name: str
    path: Path
    rows: int
    digest: str
    columns: tuple[str, ...]
    table: Table
    delimited: Mapping[str, Any] | None

    def coded(self, column: str) -> CodedColumn:
        """A column as codes, its texts as they were before the rule against formulas."""
        found = encode_column(self.table, column)
        if not (self.delimited or {}).get("guarded"):
            return found
        texts = tuple(None if text is None else unguarded(text) for text in found.texts)
        return CodedColumn(found.name, found.codes, texts, found.values)


def read_earlier(previous: PreviousRelease, source: DataSource) -> Earlier:
    """The table of an earlier release; it is read as the current one is, or as its own manifest or the policy says."""
    path, key = previous.path, f"the table of {previous.name}"
    if path.is_dir():
        raise DataError(f"{path.name} is a folder; name {key} in it, such as public/table.csv")
    if not path.exists():
        raise DataError(f"{path.name} does not exist; check {key} under [[previous]]")
    guarded, null = _published(path, source.null if previous.null is None else previous.null)
    encoding = previous.encoding or ("utf-8" if guarded else source.encoding)
    plain = DataSource(path, previous.separator, null, encoding)
    names = column_names(path, plain)
    kind = format_of(path).name
    if kind not in _READ:
        raise DataError(f"{path.name} is {kind}; save {key} as CSV or Parquet, as it was published")
    try:
        table = read(path, _everything(names, plain))
    except DataError as error:
        raise DataError(f"{key}: {error}") from None
    if guarded:
        names = [unguarded(name) for name in names]
        table = replace(table, arrow=table.arrow.rename_columns(names))
    delimited = None
    if kind == "CSV":
        delimited = {"separator": head_of(path, plain).separator, "null": list(null), "guarded": guarded}
        delimited |= {} if plain.encoding == "utf-8" else {"encoding": plain.encoding}
    return Earlier(previous.name, path, table.rows, digest(path), tuple(names), table, delimited)


def _everything(names: list[str], source: DataSource) -> Policy:
    """A policy that reads all columns as text with few different values."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(f"column names stand twice in {source.path and source.path.name}: {listing(twice)}")
    document = {
        "data": {
            "null": list(source.null),
            "encoding": source.encoding,
            **({"separator": source.separator} if source.separator else {}),
        },
        "columns": {name: {"role": "quasi", "hierarchy": "suppress"} for name in names},
        "privacy": [{"model": "k-anonymity", "k": 1}],
    }
    return Policy.read(document)


def _published(path: Path, null: tuple[str, ...]) -> tuple[bool, tuple[str, ...]]:
    """Whether one of our own manifests describes the table, and the text that is NULL in it then."""
    try:
        manifest = json.loads((path.parent / "manifest.json").read_text(encoding="utf-8"))
        named, rules = path.name in manifest["files"], manifest["csv"]
    except (OSError, ValueError, KeyError, TypeError):
        return False, null
    return (True, (str(rules["null"]),)) if named and isinstance(rules.get("null"), str) else (False, null)
