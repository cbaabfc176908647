"""The profile of a table that nobody has described yet: how its file has to be read, and what each column holds.

The file is read as `sfumato anonymize` will read it. Its encoding and the texts that mean "missing" are found, so that
the policy can say them.
"""

import codecs
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
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
from sfumato.policy.database_url import DatabaseUrl, TablePlace
from sfumato.policy.options import read_data_source
from sfumato.profile.column_facts import ColumnFacts, describe_column, describe_unreadable_column
from sfumato.profile.column_values import ColumnValues
from sfumato.table import Table, column_names, read_table
from sfumato.table.csv_reader import find_wrong_byte
from sfumato.table.files import file_format
from sfumato.table.several_files import find_files
from sfumato.table.table import check_types, open_table_file
from sfumato.table.unpacking import unpacked


@dataclass(frozen=True, eq=False, repr=False)
class TableProfile:
    """A table with what was found of each column; `table` has the columns that can be read.

    `encoding` and `null` are what a policy has to say of the file, and nothing where the usual will do. `chosen` says
    what was read of a workbook or a database, by the key of [data].
    """

    path: TablePlace
    table: Table
    columns: tuple[ColumnFacts, ...]
    encoding: str | None = None
    null: tuple[str, ...] = ()
    chosen: Mapping[str, str] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.table.rows

    @property
    def data_options(self) -> dict[str, Any]:
        """What [data] has to say besides the source."""
        return _data_options(self.encoding, self.null) | dict(self.chosen)

    def count_unique(self, names: list[str]) -> int:
        """Count the rows that no other row equals in these columns: whoever knows these values finds the row."""
        columns = [number_values(self.table.arrow.column(name)) for name in names]
        if not columns:
            return 0
        packed = pack_tuples([codes for codes, _ in columns], [width for _, width in columns])
        return int((count_keys(packed).counts == 1).sum())


def profile_table(path: TablePlace, chosen: Mapping[str, str] | None = None) -> TableProfile:
    """Read a table and look at every column; one of text is read again where texts in it mean "missing".

    `chosen` are keys of [data] that say what is read of a workbook or a database.
    """
    chosen = dict(chosen or {})
    encoding = _find_encoding(path)
    source = read_data_source(_data_options(encoding, ()) | chosen, folder=Path())
    names = column_names(path, source)
    has_null_texts = file_format(path).name in {"CSV", "a workbook"}
    table = read_table(path, _reading_policy(path, names, source, _data_options(encoding, ()) | chosen))
    null = find_missing_texts(_text_columns(table.arrow)) if has_null_texts else ()
    if null:
        table = read_table(path, _reading_policy(path, names, source, _data_options(encoding, null) | chosen))

    def describe(name: str) -> ColumnFacts:
        if name not in table.arrow.column_names:
            return describe_unreadable_column(name, table.rows)
        return describe_column(name, ColumnValues.from_arrow(table.arrow.column(name)))

    with ThreadPoolExecutor(2) as pool:  # Arrow works outside Python's lock
        columns = tuple(pool.map(describe, names))
    return TableProfile(path, table, columns, encoding, null, chosen)


def number_values(chunks: Any) -> tuple[Codes, int]:
    """Number the values of an Arrow column, NULL one of them; also returns how many numbers there are."""
    column = chunks.combine_chunks()
    encoded = column if hasattr(column, "dictionary") else column.dictionary_encode()
    width = len(encoded.dictionary) + 1
    return narrow_codes(numpy_numbers(encoded.indices.fill_null(width - 1)).astype(np.int64), width), width


def _data_options(encoding: str | None, null: tuple[str, ...]) -> dict[str, Any]:
    return ({"encoding": encoding} if encoding else {}) | ({"null": ["", *null]} if null else {})


def _reading_policy(path: TablePlace, names: list[str], source: DataSource, data: dict[str, Any]) -> Policy:
    """Make a policy that has every column read that can be."""
    schema = file_format(path).schema(path, source)

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


def _find_encoding(path: TablePlace) -> str | None:
    """Find the encoding of a text file that is not UTF-8; ``None`` where it is, or where the file is something else.

    Of several files the first tells that is not UTF-8.
    """
    with suppress(OSError, UnreadableFile):  # the reader will say so
        if isinstance(path, DatabaseUrl) or not _exists(path) or file_format(path).name != "CSV":
            return None
        for file in find_files(path) or [path]:
            with unpacked(file) as content:
                with open_table_file(content) as opened:
                    mark = opened.read(2)
                if mark in _UTF16_MARKS:
                    return "utf-16"
                if find_wrong_byte(content, "utf-8") is not None:
                    return "latin-1" if find_wrong_byte(content, "cp1252") else "cp1252"
    return None


def _exists(path: Path) -> bool:
    """Tell whether there is something to look at; the reader will say where there is not."""
    if find_files(path) is not None:
        return True
    with open_regular_file(path) as file:
        return bool(file.read(1))


# Texts that mean "missing".

_SURELY = ("?", "NULL", "null", "Null", "N/A", "n/a", "#N/A", "NaN", "nan", "\\N")
"""Nobody writes these for anything but a missing value."""

_PERHAPS = ("NA", "na", "None", "none", "NONE", "-", "--", ".", "k.A.", "n.d.", "s/d", "nvt")
"""Taken for missing only beside numbers: NA is a country as well, and none an answer."""

_NUMBER_OR_DATE = r"^\s*[+-]?[0-9][0-9.,:/' -]*$"


def _text_columns(table: Any) -> Any:
    """Select the columns of text, which are all of a CSV file and some of a workbook."""
    kinds = {field.name: getattr(field.type, "value_type", field.type) for field in table.schema}
    return table.select([name for name, kind in kinds.items() if pa.types.is_string(kind)])


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
