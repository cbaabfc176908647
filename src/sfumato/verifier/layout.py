"""The form of a release: which files its manifest names, and which columns stand in each.

``generalized`` is one table. ``lossy-join`` and ``anatomy`` are two: NSS with what is not sensitive, the class id
last, and SS with the class id first, or one SS for each sensitive column.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.errors import NotVerified

Account = Mapping[str, Any]

CHANGED = "it was changed after publication, or is of another version"


@dataclass(frozen=True)
class Layout:
    """The columns of each file, in order; the quasi-identifiers stand in the first.

    `class_id` is the column that links the files, where there are several.
    """

    files: Mapping[str, tuple[str, ...]]
    class_id: str | None = None

    @property
    def published(self) -> set[str]:
        """All columns but the class id."""
        return {column for columns in self.files.values() for column in columns} - {self.class_id}

    @property
    def beside(self) -> set[str]:
        """Where there are several files, the columns that stand with the quasi-identifiers."""
        return set() if self.class_id is None else set(next(iter(self.files.values()))) - {self.class_id}

    @property
    def apart(self) -> set[str]:
        """The columns of the other files."""
        return {column for columns in list(self.files.values())[1:] for column in columns} - {self.class_id}

    def called(self, file: str) -> str:
        """What a sentence calls a file."""
        return "the table" if self.class_id is None else file


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_text, value)) and len(set(value)) == len(value)


_ONE: dict[str, Callable[[Any], bool]] = {"table": _is_text}
_TWO: dict[str, Callable[[Any], bool]] = {"nss": _is_text, "ss": _are_names, "class_id": _is_text}
_FORMS = {"generalized": _ONE, "lossy-join": _TWO, "anatomy": _TWO}


def keys(manifest: Account) -> Mapping[str, Callable[[Any], bool]]:
    """What the manifest of such a form must have, with a test of each.

    >>> list(keys({"form": "anatomy"}))
    ['nss', 'ss', 'class_id']
    """
    form = manifest.get("form", "generalized")
    if not isinstance(form, str) or form not in _FORMS:
        raise NotVerified(f"this version cannot verify a release of the form {form!r}")
    return _FORMS[form]


def check_layout(manifest: Account) -> None:
    """Raise where files have no hash, or where columns do not stand in the file where they belong."""
    tables = _tables(manifest)
    if any(table not in manifest["files"] for table in tables):
        raise NotVerified(f"manifest.json has no hash of its table: {CHANGED}")
    if "class_id" not in keys(manifest):
        return
    if len(set(tables)) < len(tables):
        raise NotVerified(f"manifest.json names {manifest['nss']!r} as both of its tables: {CHANGED}")
    if manifest["class_id"] in {column["name"] for column in manifest["columns"]}:
        raise NotVerified(f"manifest.json calls the class id like a column of the table: {CHANGED}")
    for column in manifest["columns"]:
        _check_place(column, tables)
    idle = [table for table in tables if table not in {column["table"] for column in manifest["columns"]}]
    if idle:
        raise NotVerified(f"manifest.json puts no column into {idle[0]!r}: {CHANGED}")


def layout_of(manifest: Account) -> Layout:
    """The files and columns that a manifest names, after it was checked."""
    if "class_id" not in keys(manifest):
        return Layout({manifest["table"]: tuple(column["name"] for column in manifest["columns"])})
    class_id, (nss, *ss) = manifest["class_id"], _tables(manifest)

    def names(table: str) -> tuple[str, ...]:
        return tuple(column["name"] for column in manifest["columns"] if column["table"] == table)

    return Layout({nss: (*names(nss), class_id), **{each: (class_id, *names(each)) for each in ss}}, class_id)


def _tables(manifest: Account) -> list[str]:
    return [manifest["table"]] if "table" in keys(manifest) else [manifest["nss"], *manifest["ss"]]


def _check_place(column: Account, tables: Sequence[str]) -> None:
    """A column stands in a file of the release: in one with sensitive columns if it is one, and else in the first."""
    name, table = column["name"], column.get("table")
    if table not in tables:
        raise NotVerified(f"manifest.json puts column '{name}' into {table!r}, no table of the release: {CHANGED}")
    if (column["role"] == "sensitive") is (table == tables[0]):
        raise NotVerified(f"manifest.json puts the {column['role']} column '{name}' into {table!r}: {CHANGED}")
