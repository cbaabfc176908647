"""A database in memory that reads the files of one release, and nothing else.

The verifier has one of its own: it shares nothing with the rest, so that a fault here cannot be one there as well.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from sfumato.errors import DataError, InputError


def connect(paths: Sequence[Path] = ()) -> Any:
    """A connection that may touch these files and no other, and on which no statement can change that.

    >>> connect().execute("SELECT * FROM read_csv('other.csv')")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    duckdb.PermissionException: Permission Error: ...
    """
    connection = duckdb.connect(":memory:")
    allowed = [quoted(text) for path in paths for text in (str(path), pattern(path))]
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


def pattern(path: Path) -> str:
    """A path that matches itself alone where DuckDB reads a path as a pattern.

    >>> pattern(Path("/data/[1]*/nss.csv"))
    '/data/[[]1][*]/nss.csv'
    """
    return "".join(f"[{sign}]" if sign in "[*?" else sign for sign in str(path))


def quoted(value: str) -> str:
    r"""A text as SQL writes it; a statement itself cannot hold NUL.

    >>> print(quoted("it's"), quoted("a\0b"))
    'it''s' ('a' || chr(0) || 'b')
    """
    parts = ["'" + part.replace("'", "''") + "'" for part in value.split("\0")]
    return parts[0] if len(parts) == 1 else f"({' || chr(0) || '.join(parts)})"


@contextmanager
def reading(name: str) -> Iterator[None]:
    """A file that cannot be read is a sentence that names it."""
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise MemoryError from None
    except (duckdb.Error, OSError, ValueError) as error:
        raise DataError(f"{name} cannot be read: {_line(error)}") from None


@contextmanager
def answering() -> Iterator[None]:
    """A query that DuckDB cannot answer is a sentence with what it says."""
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise MemoryError from None
    except duckdb.Error as error:
        raise InputError(f"the query cannot be answered: {_line(error)}") from None


def _line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
