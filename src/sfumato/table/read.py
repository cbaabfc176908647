"""Read a file, or say in a sentence what is wrong with it."""

import hashlib
from pathlib import Path

import pyarrow as pa

from sfumato.errors import DataError
from sfumato.policy import Policy, Source
from sfumato.table.base import Table, check_columns, check_rows, check_types, wanted
from sfumato.table.formats import Format, format_of


def read(path: Path, policy: Policy) -> Table:
    """The table in `path`, with the columns that `policy` publishes or looks at."""
    _check_file(path)
    kind = format_of(path)
    names = _names(path, kind, policy.source)
    check_columns(names, policy)
    try:
        arrow = kind.read(path, policy, wanted(policy, names))
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, kind, error) from None
    check_rows(arrow)
    check_types(arrow)
    return Table(arrow, digest=digest(path))


def column_names(path: Path, source: Source) -> list[str]:
    """The names of a file's columns, for those who have no policy for it yet."""
    _check_file(path)
    return _names(path, format_of(path), source)


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _names(path: Path, kind: Format, source: Source) -> list[str]:
    try:
        return kind.names(path, source)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, kind, error) from None


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise DataError(f"{path.name} is a folder; name a file")
    if not path.exists():
        raise DataError(f"{path.name} does not exist; check [data] source or --data")
    try:
        with path.open("rb") as file:
            empty = not file.read(1)
    except PermissionError:
        raise DataError(f"{path.name} may not be read; ask for permission to read it") from None
    if empty:
        raise DataError(f"{path.name} is empty; a table needs a header and rows")


def _unreadable(path: Path, kind: Format, error: Exception) -> DataError:
    """Arrow's reason without the data that it may quote: only its kind of error."""
    return DataError(
        f"{path.name} cannot be read as {kind.name} ({type(error).__name__}): it is damaged, or of another "
        "format than its name says"
    )
