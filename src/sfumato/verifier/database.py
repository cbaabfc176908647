"""A database in memory that loads nothing, writes nothing, and reads a few files if any."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from sfumato.verifier.sql import text


def connect(*paths: str) -> Any:
    """A connection that may touch these paths and no other, and on which no statement can change that.

    >>> connect().execute("SELECT * FROM read_csv('other.csv')")
    Traceback (most recent call last):
    _duckdb.PermissionException: Permission Error: ...
    """
    connection = duckdb.connect(":memory:")
    for setting in _settings(paths):
        connection.execute(f"SET {setting}")
    return connection


def _settings(paths: Sequence[str]) -> tuple[str, ...]:
    return (
        "autoload_known_extensions = false",
        "autoinstall_known_extensions = false",
        "python_enable_replacements = false",  # a table is what we register, never a variable of that name
        "enable_progress_bar = false",  # by itself it is on, and on standard output, under python -c
        "preserve_insertion_order = false",
        "temp_directory = ''",
        f"allowed_paths = [{', '.join(text(path) for path in paths)}]",
        "enable_external_access = false",
        "lock_configuration = true",
    )


def pattern(path: Path) -> str:
    """A path that matches itself alone where DuckDB reads a path as a pattern.

    >>> pattern(Path("/data/[1]*/table.csv"))
    '/data/[[]1][*]/table.csv'
    """
    return "".join(f"[{sign}]" if sign in "[*?" else sign for sign in str(path))
