"""A database in memory that reads the files of one release, and nothing else.

The verifier has one of its own: it shares nothing with the rest, so that a fault here cannot be one there as well.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from sfumato.errors import DataError, InputError, is_lack_of_memory


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
    """Turn the errors of a file that cannot be read into a sentence that names it."""
    try:
        yield
    except (duckdb.Error, OSError, ValueError) as error:
        if is_lack_of_memory(error):
            raise MemoryError from None
        raise DataError(f"{name} cannot be read: {_first_line(error)}") from None


@contextmanager
def report_query_errors() -> Iterator[None]:
    """Turn the errors of a query that DuckDB cannot answer into a sentence with what it says."""
    try:
        yield
    except duckdb.Error as error:
        if is_lack_of_memory(error):
            raise MemoryError from None
        raise InputError(f"the query cannot be answered: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
