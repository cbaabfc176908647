"""Read a file, or say in a sentence what is wrong with it."""

import hashlib
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import DataError
from sfumato.policy import DataSource, Policy
from sfumato.table.base import Table, check_columns, check_rows, check_types, plain_text, wanted
from sfumato.table.formats import Format, format_of

_DAMAGED = (pa.ArrowException, OSError, UnicodeDecodeError)


def read(path: Path, policy: Policy) -> Table:
    """The table in `path`, with the columns that `policy` publishes or looks at."""
    _check_file(path)
    kind = format_of(path)
    schema = _schema(path, kind, policy.source)
    check_columns(schema.names, policy)
    columns = wanted(policy, schema.names)
    check_types(schema, columns)
    try:
        arrow = plain_text(kind.read(path, policy, columns).replace_schema_metadata())
        arrow.validate(full=True)  # a damaged file may hold text that is none
    except _DAMAGED as error:
        raise _unreadable(path, kind, error) from None
    check_rows(arrow)
    return Table(arrow, path=path, schema=schema)


def column_names(path: Path, source: DataSource) -> list[str]:
    """The names of a file's columns, for those who have no policy for it yet."""
    _check_file(path)
    return list(_schema(path, format_of(path), source).names)


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _schema(path: Path, kind: Format, source: DataSource) -> Any:
    try:
        schema = kind.schema(path, source)
        list(schema.names)  # which may be no text, in a damaged file
    except _DAMAGED as error:
        raise _unreadable(path, kind, error) from None
    return schema


def _check_file(path: Path) -> None:
    name = path.name or str(path)
    try:
        if path.is_dir():
            raise DataError(f"{name} is a folder; name a file")
        if not path.exists():
            raise DataError(f"{name} does not exist; check [data] source, or the path on the command line")
        if not path.is_file():  # a pipe or a device may never end
            raise DataError(f"{name} is not a regular file; save the table in one")
        with path.open("rb") as file:
            empty = not file.read(1)
    except PermissionError:
        raise DataError(f"{name} may not be read; ask for permission to read it") from None
    except OSError as error:
        raise DataError(f"{name} cannot be read: {error.strerror}") from None
    if empty:
        raise DataError(f"{name} is empty; a table needs a header and rows")


def _unreadable(path: Path, kind: Format, error: Exception) -> DataError:
    """Arrow's reason without the data that it may quote: only its kind of error."""
    return DataError(
        f"{path.name} cannot be read as {kind.name} ({type(error).__name__}): it is damaged, or of another "
        "format than its name says"
    )
