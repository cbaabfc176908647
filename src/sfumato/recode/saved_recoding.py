"""A saved recoding: the labels and the classes of a release, as a JSON file, for further rows to be given the same.

It says which labels each quasi-identifier is published under and which combinations of them are classes: as much as
there are labels and classes, however many rows there were. What a label covers is said by the hierarchies of the
policy; of a hierarchy file the lines that were used are kept, so that a file which has changed since is noticed.

The file stays with the data holder, and the audit has its hash. It is JSON and nothing else: whoever reads it runs
nothing.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato._version import __version__
from sfumato.core.arrays import IntArray
from sfumato.core.keys import find_first
from sfumato.encode import EncodedTable
from sfumato.errors import DataError, InputError, listing, quote
from sfumato.hierarchy import File
from sfumato.hierarchy.hierarchy import Label
from sfumato.policy import Policy
from sfumato.recode.recoding import Recoding

RECODING_FILE = "recoding.json"
"""What it is called in the private part of a release."""

_KIND, _VERSION = "sfumato-recoding", 1
_CHANGED = f"{RECODING_FILE} is not as it was written; restore it from a copy of the release"


@dataclass(frozen=True)
class SavedColumn:
    """A quasi-identifier: the labels that are published, and the lines of its hierarchy file that values came from.

    `lines` are of the values that are published; there are none where the hierarchy is no file.
    """

    name: str
    labels: tuple[Label, ...]
    lines: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, eq=False)
class SavedRecoding:
    """The labels of each quasi-identifier, and the classes: int[classes, columns], the place of each class's labels.

    `algorithm` found it, or what was `improved`. `levels` and `cut` are those of `Recoding`: in a full-domain recoding
    and in one of cuts each value has one label, in others labels of a column may overlap.
    """

    algorithm: str
    columns: tuple[SavedColumn, ...]
    classes: IntArray
    levels: Mapping[str, int] | None = None
    improved: bool = False
    cut: bool = False

    @classmethod
    def from_recoding(cls, encoded: EncodedTable, recoding: Recoding, policy: Policy) -> "SavedRecoding":
        """Take what a recoding decided, leaving out what it decided of which row.

        With c classes: `example` int[c] is some row of each, used int[l] the labels of a column that are published.
        """
        # the last place is that of -1, which is no class
        example = find_first(recoding.class_of, len(recoding.classes) + 1)[:-1]
        columns, places = [], []
        for attribute in encoded.quasi:
            labels = recoding.labels[attribute.name]
            used, place = np.unique(labels.codes.take(example), return_inverse=True)
            texts = tuple(labels.texts[code] for code in used.tolist())
            spec, lines = attribute.spec, tuple[tuple[str, ...], ...]()
            if isinstance(spec, File):  # of values that are published: the others have no label to keep
                rows_of = recoding.count_published(attribute.column.codes, attribute.frequencies)
                values = [attribute.column.texts[code] for code in np.flatnonzero(rows_of).tolist()]
                lines = spec.lines_of(values, policy.source.null)
            columns.append(SavedColumn(attribute.name, texts, lines))
            places.append(place)
        classes = np.column_stack(places).astype(np.int64)
        return cls(recoding.algorithm, tuple(columns), classes, recoding.levels, recoding.improved, recoding.cut)

    @classmethod
    def from_text(cls, text: bytes) -> "SavedRecoding":
        """Read the text of a file; whatever is not as it was written is an error, never a guess."""
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            raise DataError(_CHANGED) from None
        kind, _, version = str(content.get("format") if isinstance(content, dict) else None).partition("/")
        if kind == _KIND and version.isdecimal() and int(version) > _VERSION:
            raise InputError(f"{RECODING_FILE} was written by a later version of sfumato; use that version or a later")
        if (kind, version) != (_KIND, str(_VERSION)) or not _is_sound(content):
            raise DataError(_CHANGED)
        columns = tuple(
            SavedColumn(column["name"], tuple(column["labels"]), tuple(map(tuple, column.get("lines", []))))
            for column in content["columns"]
        )
        return cls(
            content["algorithm"],
            columns,
            np.array(content["classes"], dtype=np.int64).reshape(-1, len(columns)),
            content.get("levels"),
            content.get("improved", False),
            content.get("cut", False),
        )

    def place_of(self, name: str) -> int:
        """Find the place of a column among the columns."""
        return next(place for place, column in enumerate(self.columns) if column.name == name)

    def level_of(self, name: str) -> int | None:
        """Give the level of all labels of a column; ``None`` where they may be of several."""
        return None if self.levels is None else self.levels[name]

    def as_text(self) -> bytes:
        """Write it as the text of a file: one line for each column and for each class."""
        columns = [
            {"name": column.name, "labels": list(column.labels)}
            | ({"lines": [list(line) for line in column.lines]} if column.lines else {})
            for column in self.columns
        ]
        head: dict[str, Any] = {
            "format": f"{_KIND}/{_VERSION}",
            "sfumato": __version__,
            "algorithm": self.algorithm,
            "levels": None if self.levels is None else dict(self.levels),
            "improved": self.improved,
            "cut": self.cut,
        }
        lines = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items()]
        for key, entries in (("columns", columns), ("classes", self.classes.tolist())):
            parts = ",\n  ".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
            lines.append(f"{json.dumps(key)}: [\n  {parts}\n ]")
        return ("{\n " + ",\n ".join(lines) + "\n}\n").encode("utf-8", "surrogatepass")

    def check_hierarchies(self, policy: Policy) -> None:
        """Raise where a hierarchy file gives a value of the table other labels than it had; it may have new values."""
        for column in self.columns:
            spec = policy.columns[column.name].hierarchy
            if not column.lines or not isinstance(spec, File):
                continue
            known = set(spec.lines_of([line[0] for line in column.lines], ()))
            changed = [line[0] for line in column.lines if line not in known]
            if changed:
                raise InputError(
                    f"{spec.path.name} does not say any more what it said of {len(changed):,} values of "
                    f"{quote(column.name)} when the release was made; put their lines back: {listing(changed, most=5)}"
                )


def _is_sound(content: Mapping[str, Any]) -> bool:
    """Tell whether a parsed file has all its parts, each of the right form."""
    columns, classes, levels = content.get("columns"), content.get("classes"), content.get("levels")
    if not isinstance(content.get("algorithm"), str) or not isinstance(columns, list) or not columns:
        return False
    if not all(isinstance(column, dict) and _is_column(column) for column in columns):
        return False
    names = [column["name"] for column in columns]
    if len(set(names)) < len(names) or not all(type(content.get(key, False)) is bool for key in ("improved", "cut")):
        return False
    if levels is not None and not (isinstance(levels, dict) and set(levels) == set(names)):
        return False
    if any(type(level) is not int or level < 0 for level in (levels or {}).values()):
        return False
    widths = [len(column["labels"]) for column in columns]
    if not isinstance(classes, list) or not classes:
        return False
    return all(
        isinstance(places, list)
        and len(places) == len(widths)
        and all(type(place) is int and 0 <= place < width for place, width in zip(places, widths, strict=True))
        for places in classes
    ) and len({tuple(places) for places in classes}) == len(classes)


def _is_column(column: Mapping[str, Any]) -> bool:
    name, labels, lines = column.get("name"), column.get("labels"), column.get("lines", [])
    if not isinstance(name, str) or not isinstance(labels, list) or not isinstance(lines, list):
        return False
    texts = all(label is None or isinstance(label, str) for label in labels) and len(set(labels)) == len(labels)
    return texts and all(
        isinstance(line, list) and line and all(isinstance(cell, str) for cell in line) for line in lines
    )
