"""Earlier: a release that was published before, as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Taxonomies = Mapping[str, Sequence[Sequence[str | None]]]
"""By column: the path of each label, from itself to the root."""

TOP = "*"
ENCODINGS = {"utf-8": "utf-8", "iso8859-1": "latin-1", "latin-1": "latin-1", "utf-16": "utf-16"}
"""The encodings of earlier files, as this library and DuckDB call them."""


@dataclass(frozen=True)
class Earlier:
    """An earlier release: its file, how to read it, and how it is joined with the current table.

    `path` is None where nobody has said where the file is, `sha256` and `rows` are None where any file will do.
    `csv` has the ``separator``, the texts that are ``null``, whether texts are ``guarded`` by the formula rule, and
    the ``encoding``; a file without it is Parquet. `join` are the columns that it shares with the current table, and
    `inconsistent` pairs of ``column=value`` that never match.
    """

    name: str
    path: Path | None = None
    sha256: str | None = None
    rows: int | None = None
    csv: Mapping[str, Any] | None = None
    join: tuple[str, ...] = ()
    inconsistent: tuple[tuple[str, str], ...] = ()

    @classmethod
    def from_json(cls, data: Mapping[str, Any], path: str | None) -> "Earlier":
        """From an entry of the manifest that was checked, and the path in the audit."""
        pairs = tuple((one, other) for one, other in data.get("inconsistent", []))
        where = None if path is None else Path(path)
        return cls(data["name"], where, data["sha256"], data.get("rows"), data.get("csv"), tuple(data["join"]), pairs)


def are_previous(value: Any) -> bool:
    """Whether a manifest's ``previous`` has the form it should have."""
    if not isinstance(value, list) or not all(isinstance(each, dict) and _is_entry(each) for each in value):
        return False
    names = [each["name"] for each in value]
    return len(set(names)) == len(names)


def are_taxonomies(value: Any) -> bool:
    """Whether a manifest's ``taxonomies`` are trees: each label has one way to the root.

    >>> are_taxonomies({"sex": [["Male", "*"], ["*"]]}), are_taxonomies({"sex": [["Male", "any"]]})
    (True, False)
    >>> are_taxonomies({"job": [["cook", "craft", "*"], ["craft", "trade", "*"]]})
    False
    """
    return isinstance(value, Mapping) and all(isinstance(name, str) and _is_tree(value[name]) for name in value)


def _is_tree(paths: Any) -> bool:
    if not isinstance(paths, list | tuple) or not all(map(_is_path, paths)):
        return False
    ways: dict[str | None, tuple[str | None, ...]] = {}
    rests = (tuple(path[place:]) for path in paths for place in range(len(path)))
    return all(ways.setdefault(rest[0], rest) == rest for rest in rests)


def _is_path(path: Any) -> bool:
    """From a label, or NULL, over other labels to the root."""
    if not isinstance(path, list | tuple) or not path or path[-1] != TOP:
        return False
    texts = all(isinstance(label, str) for label in path[1:]) and isinstance(path[0], str | None)
    return texts and len(set(path)) == len(path)


def _is_entry(entry: Mapping[str, Any]) -> bool:
    texts = all(isinstance(entry.get(key), str) and entry[key] for key in ("name", "table", "sha256"))
    rows = entry.get("rows", 0)
    counted = isinstance(rows, int) and not isinstance(rows, bool) and rows >= 0
    return texts and counted and _is_reading(entry.get("csv")) and _is_joined(entry)


def _is_joined(entry: Mapping[str, Any]) -> bool:
    join: Any = entry.get("join")
    pairs = entry.get("inconsistent", [])
    if not _are_texts(join) or len(set(join)) < len(join) or not isinstance(pairs, list):
        return False
    return all(_are_texts(pair) and len(pair) == 2 and all("=" in side for side in pair) for pair in pairs)


def _is_reading(csv: Any) -> bool:
    """Rules that say how a CSV is read, or nothing, where it is none."""
    if csv is None:
        return True
    if not isinstance(csv, dict) or not _are_texts(csv.get("null")):
        return False
    separator, encoding = csv.get("separator", ","), csv.get("encoding", "utf-8")
    signs = isinstance(separator, str) and len(separator) == 1 and separator not in '"\r\n'
    return signs and isinstance(encoding, str) and encoding in ENCODINGS and isinstance(csv.get("guarded", False), bool)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
