"""The manifest of a release, read and checked by somebody who has only the public files.

A manifest may have been changed after publication, so nothing in it is trusted: each key is checked for its form, and
the files that it names have to be plain files of the release itself. Whatever is wrong becomes a sentence.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.core.regular_file import LARGEST_MANIFEST, read_regular_file
from sfumato.errors import DataError, InputError, UnreadableFile, quote, shorten
from sfumato.labels.data_dictionary import Entry, is_valid_entry
from sfumato.table.several_files import find_parts

MANIFEST = "manifest.json"
AUDIT = "audit.json"

ONE_TABLE, TWO_TABLES = ("generalized",), ("lossy-join", "anatomy")
"""The forms of publication in one table, and in several."""
DENSITIES = ("uncertain",)
"""The form of records that are densities."""
SYNTHETIC_FORM = "synthetic"
"""The form whose rows are drawn, and nobody's."""

_SUFFIXES = (".csv", ".csv.gz", ".parquet")
_NOT_CSV = ".parquet"
_CHANGED = "it was changed after publication, or is of another version"


@dataclass(frozen=True)
class ReleaseManifest:
    """What the manifest says: the form, the tables in their order, and the entry of each column.

    The first table is the one with the quasi-identifiers; `class_id` is the column that joins the tables, where there
    are several. `null` is how a CSV file writes NULL. `promise` has the requirements that the release states to meet.
    `extends` counts the releases that it adds rows to.
    `bounds` are the columns of numbers beside labels: what they tell, the labels tell as well. `multiple` says how many
    rows were drawn for each of the original, where rows are drawn.
    """

    folder: Path
    form: str
    tables: tuple[str, ...]
    class_id: str | None
    columns: tuple[Entry, ...]
    null: str
    promise: tuple[Any, ...] = ()
    extends: int = 0
    bounds: tuple[Entry, ...] = ()
    multiple: int = 1

    @property
    def is_split(self) -> bool:
        """Whether quasi-identifiers and sensitive values are in different tables."""
        return self.class_id is not None

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths of the tables: files, or folders of several that are one table."""
        return tuple(self.folder / name for name in self.tables)

    def files_of(self, table: str) -> list[Path]:
        """Find the files of a table: itself, or the parts in the folder of its name."""
        return find_parts(self.folder / table) or [self.folder / table]

    def entries_of(self, table: str) -> tuple[Entry, ...]:
        """Select the entries of the columns of a table."""
        return tuple(entry for entry in self.columns if not self.is_split or entry["table"] == table)

    def as_mapping(self) -> dict[str, Any]:
        """Give the checked keys that a reader of the tables needs, in the form of the JSON file."""
        first, *others = self.tables
        tables = {"nss": first, "ss": others, "class_id": self.class_id} if self.is_split else {"table": first}
        csv = {} if self.files_of(first)[0].name.endswith(_NOT_CSV) else {"csv": {"null": self.null}}
        return {**tables, **csv, "columns": [{"role": "plain", **entry} for entry in (*self.columns, *self.bounds)]}


def read_manifest(folder: str | Path, *, densities: bool = False, drawn: bool = False) -> ReleaseManifest:
    """Read the manifest of a release, given its folder or the public part of it; private files are not read.

    One of densities has no labels, and one of `drawn` rows nobody's; they are refused unless these can be dealt with.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder} is not a release folder; name the folder that anonymize wrote")
    if (folder / "public").is_symlink():
        raise DataError("public is a link to another place; a release holds its files itself")
    public = folder / "public" if (folder / "public").is_dir() else folder
    if not (public / MANIFEST).exists():
        raise InputError(f"{folder} has no manifest.json; name the folder that anonymize wrote")
    manifest = _read_json(public / MANIFEST)
    form = manifest.get("form", "generalized")
    if form in DENSITIES and not densities:
        raise InputError(
            "a release of the form uncertain has densities, and no labels or classes to look at; what they hide and "
            "what they are worth is in its private report, and sfumato query answers from them"
        )
    known = {*ONE_TABLE, *TWO_TABLES, *DENSITIES, *([SYNTHETIC_FORM] if drawn else [])}
    if not isinstance(form, str) or form not in known:
        raise InputError(
            f"this works on rows that are people's, and {folder} is of the form {quote(form)}: its rows are no "
            "person's, so that there are no labels and classes to look anybody up by; analyze its table, or ask it by "
            "sfumato query"
        )
    split = form in TWO_TABLES
    tables = _table_names(manifest, ("nss", "ss") if split else ("table",))
    for name in tables:
        _check_table(public, name, manifest.get("files"))
    class_id = manifest.get("class_id") if split else None
    if split and not isinstance(class_id, str):
        raise DataError(f"manifest.json has no proper 'class_id': {_CHANGED}")
    csv, promise, added = manifest.get("csv", {}), manifest.get("promise"), manifest.get("extends", {})
    extended = added.get("releases") if isinstance(added, dict) else None
    entries = _entries(manifest, tables if split else ())
    multiple = manifest.get("multiple", 1)
    if not isinstance(multiple, int) or isinstance(multiple, bool) or multiple < 1:
        raise DataError(f"manifest.json has no proper 'multiple': {_CHANGED}")
    return ReleaseManifest(
        public.resolve(),
        form,
        tables,
        class_id,
        tuple(entry for entry in entries if entry.get("role") != "bound"),
        str(csv.get("null", "") if isinstance(csv, dict) else ""),
        tuple(promise) if isinstance(promise, list) else (),
        len(extended) if isinstance(extended, list) else 0,
        tuple(entry for entry in entries if entry.get("role") == "bound"),
        multiple,
    )


def find_release_folder(path: Any) -> Path | None:
    """Find the folder of a release, given it or its first table; ``None`` for any other file, and for a frame."""
    if not isinstance(path, Path):
        return None
    if path.is_dir():
        if find_parts(path):
            return path.parent if (path.parent / MANIFEST).is_file() and path.name in {"table", "nss"} else None
        return None if _holds_parquet_files(path) else path
    beside = path.is_file() and (path.parent / MANIFEST).is_file()
    return path.parent if beside and path.name.partition(".")[0] in {"table", "nss"} else None


def is_synthetic_release(folder: Path) -> bool:
    """Tell whether a folder is a release whose rows were drawn, by its manifest; not whether it is in order."""
    if not (folder / "public" / MANIFEST).is_file():
        return False
    try:
        return _read_json(folder / "public" / MANIFEST).get("form") == SYNTHETIC_FORM
    except DataError:  # whoever reads it will say so
        return False


def _holds_parquet_files(folder: Path) -> bool:
    """Tell whether a folder is a table of several files, and no release."""
    if (folder / MANIFEST).exists() or (folder / "public").exists():
        return False
    try:
        return any(name.endswith((".parquet", ".pq")) for name in os.listdir(folder))  # noqa: PTH208 - names are enough
    except OSError:  # whoever reads it will say so
        return False


def read_audited_policy(manifest: ReleaseManifest) -> Mapping[str, Any]:
    """Read the policy that a release was made with from its private audit; empty where there is none to read."""
    if not manifest.tables:  # a table in memory is in no folder
        return {}
    try:
        path = manifest.folder.parent / "private" / AUDIT
        audit = json.loads(read_regular_file(path, most=LARGEST_MANIFEST, what="an audit"))
    except (UnreadableFile, ValueError, RecursionError):
        return {}
    policy = audit.get("policy") if isinstance(audit, dict) else None
    return policy if isinstance(policy, dict) else {}


def promised_k(requirements: Iterable[Any]) -> int | None:
    """Find the largest number of rows or persons that a requirement asks of a class; ``None`` where none does.

    >>> promised_k([{"model": "k-anonymity", "k": 3}, {"model": "xy-anonymity", "k": 40}, {"model": "t-closeness"}])
    3
    """
    of_classes = [one for one in requirements if isinstance(one, dict) and not str(one.get("model")).startswith("xy-")]
    return max((one["k"] for one in of_classes if isinstance(one.get("k"), int)), default=None)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(read_regular_file(path, most=LARGEST_MANIFEST, what="a manifest"))
    except UnreadableFile as error:
        raise DataError(f"{path.name} {error.reason}; it was changed after publication") from None
    except (ValueError, RecursionError):
        raise DataError(f"{path.name} is not JSON; it was changed after publication") from None
    if not isinstance(content, dict):
        raise DataError(f"{path.name} does not hold a JSON object; it was changed after publication")
    return content


def _table_names(manifest: Entry, keys: Sequence[str]) -> tuple[str, ...]:
    """List the files named under these keys, one or a list under each."""
    tables: list[str] = []
    for key in keys:
        value = manifest.get(key)
        names = value if isinstance(value, list) else [value]
        texts = [name for name in names if isinstance(name, str)]
        if not texts or len(texts) < len(names):
            raise DataError(f"manifest.json has no proper '{key}': {_CHANGED}")
        tables += texts
    return tuple(tables)


def _check_table(public: Path, name: str, files: Any) -> None:
    """Refuse a table that is no plain file of the release, nor a folder with all the files of its name and no other."""
    stated = [file for file in files if file.startswith(f"{name}/")] if isinstance(files, dict) else []
    if not stated or name in files:
        _check_file(public, name)
        return
    path = public / name
    inside = name not in {".", ".."} and not any(sign in name for sign in "/\\\0")
    if not inside or os.path.islink(path) or not os.path.isdir(path):  # noqa: PTH112, PTH114 - they never raise
        raise DataError(f"manifest.json names {quote(name)}, which is not a folder of the release")
    found = {f"{name}/{file}" for file in os.listdir(path)}  # noqa: PTH208 - names are enough
    lacking, added = sorted({*stated} - found), sorted(found - {*stated})
    if lacking:
        raise DataError(f"{shorten(lacking[0])} is missing from the release")
    if added:
        raise DataError(f"{shorten(added[0])} does not belong to the release; see sfumato verify")
    if len(find_parts(path)) < len(stated) or any((public / file).is_symlink() for file in stated):
        raise DataError(f"manifest.json does not name the files of {quote(name)} properly: {_CHANGED}")


def _check_file(public: Path, name: str) -> None:
    """Refuse what is not a plain file of the release itself."""
    path = public / name
    link = os.path.islink(path)  # noqa: PTH114 - Path's own raises for some names
    if name in {"", ".", ".."} or any(sign in name for sign in "/\\\0") or link:
        raise DataError(f"manifest.json names {quote(name)}, which is not a file of the release")
    if not os.path.isfile(path):  # noqa: PTH113 - never raises, whatever a name is
        raise DataError(f"{shorten(name)} is missing from the release")
    if not name.endswith(_SUFFIXES):
        raise DataError(f"{name} is no table that this version can read; it reads CSV and Parquet")


def _entries(manifest: Entry, tables: Sequence[str]) -> tuple[Entry, ...]:
    """Check the data dictionary; with several `tables`, each column has to say which of them it is in."""
    entries = manifest.get("columns")
    if not isinstance(entries, list) or not all(map(is_valid_entry, entries)):
        raise DataError(f"manifest.json has no proper 'columns': {_CHANGED}")
    names = [entry["name"] for entry in entries]
    if len(set(names)) < len(names):
        raise DataError(f"manifest.json has a column twice: {_CHANGED}")
    if tables and not all(entry.get("table") in tables for entry in entries):
        raise DataError(f"manifest.json does not say in which table each column stands: {_CHANGED}")
    return tuple(entries)
