"""A table that nobody has described yet: its encoding, the texts that mean "missing", and its columns."""

import codecs
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrow import arrow_texts
from sfumato.errors import DataError
from sfumato.policy import DataSource, Policy, load
from sfumato.table import Table, column_names, read
from sfumato.table.base import check_types
from sfumato.table.encoding import first_wrong_byte
from sfumato.table.formats import format_of

_WIDE = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_SURELY = ("?", "NULL", "null", "Null", "N/A", "n/a", "#N/A", "NaN", "nan", "\\N")
"""Nobody writes these for anything but a missing value."""

_PERHAPS = ("NA", "na", "None", "none", "NONE", "-", "--", ".", "k.A.", "n.d.", "s/d", "nvt")
"""Taken for missing only beside numbers: NA is a country as well, and none an answer."""

_FORMED = r"^\s*[+-]?[0-9][0-9.,:/' -]*$"


@dataclass(frozen=True, eq=False, repr=False)
class Opened:
    """The columns of a table that can be read, all of its column names, and how the file has to be read.

    `encoding` and `null` are what the policy has to say of them, and nothing where the usual will do.
    """

    table: Table
    names: tuple[str, ...]
    encoding: str | None = None
    null: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.table.rows

    def readable(self, name: str) -> bool:
        """Whether the column holds a type that can be looked at."""
        return name in self.table.arrow.column_names

    def data(self) -> dict[str, Any]:
        """What [data] has to say besides the source."""
        null = {"null": ["", *self.null]} if self.null else {}
        return ({"encoding": self.encoding} if self.encoding else {}) | null


def opened(path: Path) -> Opened:
    """Read a file without a policy; texts that mean "missing" are found and read as such."""
    encoding = _encoding(path)
    names = column_names(path, DataSource(encoding=encoding or "utf-8"))
    kind = format_of(path)
    plain = Opened(_read(path, names, {"encoding": encoding} if encoding else {}), tuple(names), encoding)
    null = _missing(plain.table.arrow) if kind.name == "CSV" else ()
    if not null:
        return plain
    found = Opened(plain.table, plain.names, encoding, null)
    return Opened(_read(path, names, found.data()), plain.names, encoding, null)


def _encoding(path: Path) -> str | None:
    """The encoding of a text file that is not UTF-8; nothing where it is, or where the file is something else."""
    with suppress(OSError):
        if not path.is_file() or not path.stat().st_size or format_of(path).name != "CSV":
            return None
        with path.open("rb") as file:
            mark = file.read(2)
        if mark in _WIDE:
            return _WIDE[mark]
        if first_wrong_byte(path, "utf-8") is None:
            return None
        return "latin-1" if first_wrong_byte(path, "cp1252") else "cp1252"
    return None


def _read(path: Path, names: list[str], data: dict[str, Any]) -> Table:
    return read(path, _rules(path, names, data))


def _rules(path: Path, names: list[str], data: dict[str, Any]) -> Policy:
    """A policy that has every column read that can be."""
    schema = format_of(path).schema(path, DataSource(encoding=data.get("encoding", "utf-8")))
    twice = len(set(names)) < len(names)  # the reader will say so
    known = [name for name in names if twice or _known(schema, name)]
    if not known:
        raise DataError(f"{path.name} has no column of text, numbers or dates; turn one into such a type")
    # plain columns are read without a dictionary, which is quicker where nearly all values differ
    roles = dict.fromkeys(names, "identifier") | dict.fromkeys(known, "plain") | {known[0]: "quasi"}
    columns = {name: {"role": role} for name, role in roles.items()}
    columns[known[0]]["hierarchy"] = "suppress"
    return load({"data": data, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 1}]})


def _known(schema: Any, name: str) -> bool:
    try:
        check_types(schema, [name])
    except DataError:
        return False
    return True


def _missing(table: Any) -> tuple[str, ...]:
    """The texts that stand for a missing value somewhere in the table.

    >>> _missing(pa.table({"age": ["7", "NA", "9"], "land": ["NA", "CH", "?"]}))
    ('?', 'NA')
    >>> _missing(pa.table({"land": ["NA", "CH"]}))
    ()
    """
    suspects = arrow_texts([*_SURELY, *_PERHAPS])
    wide = [column.unique().cast(pa.large_string()) for column in table.columns if _has_any(column, suspects)]
    sure = [text for text in _SURELY if any(_holds(column, text) for column in wide)]
    doubtful = [text for text in _PERHAPS if any(_beside_numbers(column, text) for column in wide)]
    return (*sure, *doubtful)


def _has_any(column: Any, suspects: Any) -> bool:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return bool(pc.any(pc.is_in(column.cast(kind), value_set=suspects.cast(kind))).as_py())


def _holds(column: Any, text: str) -> bool:
    return bool(pc.any(pc.equal(column, arrow_texts([text])[0])).as_py())


def _beside_numbers(column: Any, text: str) -> bool:
    """Whether the text stands among values that are otherwise numbers or dates."""
    if not _holds(column, text):
        return False
    others = column.filter(pc.invert(pc.is_in(column, arrow_texts([*_SURELY, *_PERHAPS, ""]).cast(pa.large_string()))))
    others = others.drop_null()
    return len(others) > 0 and bool(pc.all(pc.match_substring_regex(others, _FORMED)).as_py())
