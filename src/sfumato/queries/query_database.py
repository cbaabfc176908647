"""A database in memory that reads the files of one release, and nothing else.

The verifier has one of its own: it shares nothing with the rest, so that a fault here cannot be one there as well.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from sfumato.core.memory import find_memory_allowed
from sfumato.errors import DataError, InputError, is_lack_of_memory

_LEAST_MEGABYTES = 64


def connect_to_files(paths: Sequence[Path] = ()) -> Any:
    """Connect to a database that may read these files and no other, which no statement can change.

    >>> connect_to_files().execute("SELECT * FROM read_csv('other.csv')")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    duckdb.PermissionException: Permission Error: ...
    """
    connection = duckdb.connect(":memory:")
    allowed = [quote_text(text) for path in paths for text in (str(path), escape_pattern(path))]
    for setting in (
        "autoload_known_extensions = false",
        "autoinstall_known_extensions = false",
        "python_enable_replacements = false",
        "enable_progress_bar = false",
        "preserve_insertion_order = false",
        "temp_directory = ''",
        f"memory_limit = '{max(find_memory_allowed() >> 20, _LEAST_MEGABYTES)}MiB'",
        f"allowed_paths = [{', '.join(allowed)}]",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")
    return connection


def escape_pattern(path: Path) -> str:
    """Write a path so that it matches itself alone where DuckDB reads a path as a pattern.

    >>> escape_pattern(Path("/data/[1]*/nss.csv"))
    '/data/[[]1][*]/nss.csv'
    """
    return "".join(f"[{sign}]" if sign in "[*?" else sign for sign in str(path))


def quote_text(value: str) -> str:
    r"""Write a text as SQL does; a statement itself cannot hold NUL.

    >>> print(quote_text("it's"), quote_text("a\0b"))
    'it''s' ('a' || chr(0) || 'b')
    """
    parts = ["'" + part.replace("'", "''") + "'" for part in value.split("\0")]
    return parts[0] if len(parts) == 1 else f"({' || chr(0) || '.join(parts)})"


def quote_name(name: str) -> str:
    """Write a name as SQL does: in double quotes where it is not a plain word.

    >>> print(quote_name("age"), quote_name("salary-class"), quote_name('a"b'))
    age "salary-class" "a""b"
    """
    plain = name.isascii() and name.isidentifier()
    return name if plain else '"' + name.replace('"', '""') + '"'


@contextmanager
def report_file_errors(name: str) -> Iterator[None]:
    """Turn the errors of a file that cannot be read into a sentence that names it and quotes nothing of it."""
    try:
        yield
    except (duckdb.Error, OSError, ValueError) as error:
        if is_lack_of_memory(error):
            raise MemoryError from None
        raise DataError(f"{name} cannot be read: {_explain(error)}; it was changed after publication") from None


@contextmanager
def report_query_errors() -> Iterator[None]:
    """Turn the errors of a query that DuckDB cannot answer into a sentence."""
    try:
        yield
    except duckdb.Error as error:
        if is_lack_of_memory(error):
            raise MemoryError from None
        reason = next((words for kind, words in _QUERY_FAULTS.items() if isinstance(error, kind)), "it means nothing")
        raise InputError(f"the query cannot be answered: {reason}; write it differently") from None


_QUERY_FAULTS = {
    duckdb.OutOfRangeException: "a number in it becomes too large or too small",
    duckdb.ConversionException: "a value in it is not of the kind that it is compared with",
    duckdb.InvalidInputException: "a part of it means nothing, such as a pattern of LIKE that ends in \\",
}
_CSV_LINE = re.compile(r"CSV Error on Line: (\d+)")
_CSV_FAULTS = {
    r"Expected Number of Columns: (\d+) Found: (\d+)": "has {1} cells where the header has {0}",
    r"unterminated quote": "has a quote that is not closed, or text after one",
    r"(?i)maximum line size": "is longer than 200 MB",
    r"(?i)not utf-8": "is not UTF-8",
}


def _explain(error: Exception) -> str:
    r"""Say why a file cannot be read, in our words: a library's own may quote cells, names of ours, and statements.

    >>> _explain(duckdb.Error("CSV Error on Line: 3\nOriginal Line: 1\nExpected Number of Columns: 2 Found: 1"))
    'line 3 has 1 cells where the header has 2'
    """
    text = str(error)
    line = _CSV_LINE.search(text)
    if line:
        faults = ((re.search(pattern, text), words) for pattern, words in _CSV_FAULTS.items())
        found = next((words.format(*match.groups()) for match, words in faults if match), "is not as CSV is written")
        return f"line {line[1]} {found}"
    match error:
        case UnicodeError():
            return "it is not UTF-8"
        case duckdb.ConversionException():
            return "a cell does not hold a number of the kind that its column has"
        case OSError() if error.strerror:
            return error.strerror
    return "it is damaged, or of another format than its name says"
