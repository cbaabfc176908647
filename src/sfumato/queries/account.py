"""The account that goes with a release: which files there are, and what their columns hold."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.errors import DataError, InputError
from sfumato.labels.data_dictionary import Entry, is_valid_entry

ONE_TABLE, TWO_TABLES = ("generalized",), ("lossy-join", "anatomy")
_KINDS = frozenset({".csv", ".parquet"})
_CHANGED = "it was changed after publication, or is of another version"


@dataclass(frozen=True)
class Account:
    """What the manifest says: the form, the tables in their order, and an entry for each column.

    The first table is the one with the quasi-identifiers; `class_id` is the column that ties tables together, where
    there are several. `null` is how a CSV file writes NULL.
    """

    folder: Path
    form: str
    tables: tuple[str, ...]
    class_id: str | None
    columns: tuple[Entry, ...]
    null: str

    @property
    def split(self) -> bool:
        """Whether quasi-identifiers and sensitive values stand in different tables."""
        return self.class_id is not None

    @property
    def paths(self) -> tuple[Path, ...]:
        """Where the tables are."""
        return tuple(self.folder / name for name in self.tables)

    def within(self, table: str) -> tuple[Entry, ...]:
        """The entries of the columns of a table."""
        return tuple(entry for entry in self.columns if not self.split or entry["table"] == table)


def read_account(folder: str | Path) -> Account:
    """The account of a release, whose folder or public part is named; private files are not looked at."""
    public = _public(Path(folder))
    manifest = _json(public / "manifest.json")
    form = manifest.get("form", "generalized")
    if form not in {*ONE_TABLE, *TWO_TABLES}:
        raise InputError(f"this version answers no queries from a release of the form {form!r}")
    split = form in TWO_TABLES
    tables = _names(manifest, ("nss", "ss") if split else ("table",))
    for name in tables:
        _check_file(public, name)
    class_id = _text(manifest, "class_id") if split else None
    null = manifest.get("csv", {}).get("null", "") if isinstance(manifest.get("csv", {}), dict) else ""
    return Account(public.resolve(), form, tables, class_id, _columns(manifest, tables if split else ()), str(null))


def _public(folder: Path) -> Path:
    if not folder.is_dir():
        raise InputError(f"{folder} is not a release folder; name the folder that anonymize wrote")
    public = folder / "public" if (folder / "public").is_dir() else folder
    if not (public / "manifest.json").is_file():
        raise InputError(f"{folder} has no manifest.json; name the folder that anonymize wrote")
    return public


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path.name} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise DataError(f"{path.name} is not JSON; it was changed after publication") from None
    if not isinstance(content, dict):
        raise DataError(f"{path.name} does not hold a JSON object; it was changed after publication")
    return content


def _names(manifest: Entry, keys: Sequence[str]) -> tuple[str, ...]:
    """The files that stand under these keys, one or a list under each."""
    found: list[str] = []
    for key in keys:
        value = manifest.get(key)
        names = value if isinstance(value, list) else [value]
        texts = [name for name in names if isinstance(name, str)]
        if not texts or len(texts) < len(names):
            raise DataError(f"manifest.json has no proper '{key}': {_CHANGED}")
        found += texts
    return tuple(found)


def _text(manifest: Entry, key: str) -> str:
    value = manifest.get(key)
    if not isinstance(value, str):
        raise DataError(f"manifest.json has no proper '{key}': {_CHANGED}")
    return value


def _check_file(public: Path, name: str) -> None:
    """Refuse what is not a plain file of the release itself."""
    path = public / name
    if name in {"", ".", ".."} or any(sign in name for sign in "/\\\0") or path.is_symlink():
        raise DataError(f"manifest.json names {name!r}, which is not a file of the release")
    if not path.is_file():
        raise DataError(f"{name} is missing from the release")
    if path.suffix not in _KINDS:
        raise DataError(f"{name} is no table that this version can read; it reads CSV and Parquet")


def _columns(manifest: Entry, tables: Sequence[str]) -> tuple[Entry, ...]:
    entries = manifest.get("columns")
    if not isinstance(entries, list) or not all(map(is_valid_entry, entries)):
        raise DataError(f"manifest.json has no proper 'columns': {_CHANGED}")
    names = [entry["name"] for entry in entries]
    if len(set(names)) < len(names):
        raise DataError(f"manifest.json has a column twice: {_CHANGED}")
    if tables and not all(entry.get("table") in tables for entry in entries):
        raise DataError(f"manifest.json does not say in which table each column stands: {_CHANGED}")
    return tuple(entries)
