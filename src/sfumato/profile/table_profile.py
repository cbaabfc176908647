"""The profile of a table that nobody has described yet: how its file has to be read, and what each column holds.

The file is read as `sfumato anonymize` will read it. Its encoding and the texts that mean "missing" are found, so that
the policy can say them.
"""

import codecs
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Codes, narrow_codes
from sfumato.core.arrow import arrow_texts, numpy_numbers
from sfumato.core.keys import count_keys, pack_tuples
from sfumato.core.regular_file import open_regular_file
from sfumato.errors import DataError, UnreadableFile
from sfumato.policy import DataSource, Policy, load
from sfumato.profile.column_facts import ColumnFacts, describe_column, describe_unreadable_column
from sfumato.profile.column_values import ColumnValues
from sfumato.table import Table, column_names, read_table
from sfumato.table.csv_reader import find_wrong_byte
from sfumato.table.files import file_format
from sfumato.table.table import check_types


@dataclass(frozen=True, eq=False, repr=False)
class TableProfile:
    """A table with what was found of each column; `table` has the columns that can be read.

    `encoding` and `null` are what a policy has to say of the file, and nothing where the usual will do.
    """

    path: Path
    table: Table
    columns: tuple[ColumnFacts, ...]
    encoding: str | None = None
    null: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.table.rows

    @property
    def data_options(self) -> dict[str, Any]:
        """What [data] has to say besides the source."""
        return _data_options(self.encoding, self.null)

    def count_unique(self, names: list[str]) -> int:
        """Count the rows that no other row equals in these columns: whoever knows these values finds the row."""
        columns = [number_values(self.table.arrow.column(name)) for name in names]
        if not columns:
            return 0
        packed = pack_tuples([codes for codes, _ in columns], [width for _, width in columns])
        return int((count_keys(packed).counts == 1).sum())


def profile_table(path: Path) -> TableProfile:
    """Read a table and look at every column; a CSV file is read again where texts in it mean "missing"."""
    encoding = _find_encoding(path)
    names = column_names(path, DataSource(encoding=encoding or "utf-8"))
    is_csv = file_format(path).name == "CSV"
    table = read_table(path, _reading_policy(path, names, _data_options(encoding, ())))
    null = find_missing_texts(table.arrow) if is_csv else ()
    if null:
        table = read_table(path, _reading_policy(path, names, _data_options(encoding, null)))

    def describe(name: str) -> ColumnFacts:
        if name not in table.arrow.column_names:
            return describe_unreadable_column(name, table.rows)
        return describe_column(name, ColumnValues.from_arrow(table.arrow.column(name)))

    with ThreadPoolExecutor(2) as pool:  # Arrow works outside Python's lock
        columns = tuple(pool.map(describe, names))
    return TableProfile(path, table, columns, encoding, null)


def number_values(chunks: Any) -> tuple[Codes, int]:
    """Number the values of an Arrow column, NULL one of them; also returns how many numbers there are."""
    column = chunks.combine_chunks()
    encoded = column if hasattr(column, "dictionary") else column.dictionary_encode()
    width = len(encoded.dictionary) + 1
    return narrow_codes(numpy_numbers(encoded.indices.fill_null(width - 1)).astype(np.int64), width), width


def _data_options(encoding: str | None, null: tuple[str, ...]) -> dict[str, Any]:
    return ({"encoding": encoding} if encoding else {}) | ({"null": ["", *null]} if null else {})


def _reading_policy(path: Path, names: list[str], data: dict[str, Any]) -> Policy:
    """Make a policy that has every column read that can be."""
    schema = file_format(path).schema(path, DataSource(encoding=data.get("encoding", "utf-8")))

    def is_readable(name: str) -> bool:
        try:
            check_types(schema, [name])
        except DataError:
            return False
        return True

    twice = len(set(names)) < len(names)  # the reader will say so
    readable = [name for name in names if twice or is_readable(name)]
    if not readable:
        raise DataError(f"{path.name} has no column of text, numbers or dates; turn one into such a type")
    # plain columns are read without a dictionary, which is quicker where nearly all values differ
    roles = dict.fromkeys(names, "identifier") | dict.fromkeys(readable, "plain") | {readable[0]: "quasi"}
    columns = {name: {"role": role} for name, role in roles.items()}
    columns[readable[0]]["hierarchy"] = "suppress"
    return load({"data": data, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 1}]})


_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def _find_encoding(path: Path) -> str | None:
    """Find the encoding of a text file that is not UTF-8; ``None`` where it is, or where the file is something else."""
    with suppress(OSError, UnreadableFile):  # the reader will say so
        with open_regular_file(path) as file:
            mark = file.read(2)
        if not mark or file_format(path).name != "CSV":
            return None
        if mark in _UTF16_MARKS:
            return "utf-16"
        if find_wrong_byte(path, "utf-8") is None:
            return None
        return "latin-1" if find_wrong_byte(path, "cp1252") else "cp1252"
    return None


# Texts that mean "missing".

_SURELY = ("?", "NULL", "null", "Null", "N/A", "n/a", "#N/A", "NaN", "nan", "\\N")
"""Nobody writes these for anything but a missing value."""

_PERHAPS = ("NA", "na", "None", "none", "NONE", "-", "--", ".", "k.A.", "n.d.", "s/d", "nvt")
"""Taken for missing only beside numbers: NA is a country as well, and none an answer."""

_NUMBER_OR_DATE = r"^\s*[+-]?[0-9][0-9.,:/' -]*$"


def find_missing_texts(table: Any) -> tuple[str, ...]:
    """Find the texts that mean a missing value somewhere in an Arrow table of text.

    >>> find_missing_texts(pa.table({"age": ["7", "NA", "9"], "land": ["NA", "CH", "?"]}))
    ('?', 'NA')
    >>> find_missing_texts(pa.table({"land": ["NA", "CH"]}))
    ()
    """
    suspects = arrow_texts([*_SURELY, *_PERHAPS])
    # Only columns with one of the texts are looked at further.
    columns = [column.unique().cast(pa.large_string()) for column in table.columns if _has_any(column, suspects)]
    sure = [text for text in _SURELY if any(_has(column, text) for column in columns)]
    doubtful = [
        text for text in _PERHAPS if any(_has(column, text) and _is_of_numbers_otherwise(column) for column in columns)
    ]
    return (*sure, *doubtful)


def _has_any(column: Any, suspects: Any) -> bool:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return bool(pc.any(pc.is_in(column.cast(kind), value_set=suspects.cast(kind))).as_py())


def _has(column: Any, text: str) -> bool:
    return bool(pc.any(pc.equal(column, arrow_texts([text])[0])).as_py())


def _is_of_numbers_otherwise(column: Any) -> bool:
    """Tell whether all values that are not suspected of meaning "missing" are numbers or dates, and there are some."""
    suspects = arrow_texts([*_SURELY, *_PERHAPS, ""]).cast(pa.large_string())
    others = column.filter(pc.invert(pc.is_in(column, suspects))).drop_null()
    return len(others) > 0 and bool(pc.all(pc.match_substring_regex(others, _NUMBER_OR_DATE)).as_py())
