"""Table: Arrow columns together with the object they came from, and the checks that every source has to pass."""

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrow import arrow_numbers
from sfumato.core.regular_file import open_regular_file
from sfumato.errors import DataError, UnreadableFile, did_you_mean, listing, quote, shorten
from sfumato.policy import Policy, Role
from sfumato.policy.database_url import TablePlace


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """The columns that a policy may use, as Arrow, and the object they came from.

    `kind` is ``file``, ``arrow``, ``pandas``, ``polars`` or ``duckdb``. `native` is what the caller handed in, ``None``
    for a table that was read from a `place`. `schema` has the types of the source where `arrow` holds its text as
    codes. `warnings` are what its holder should know of how it was read, a sentence each.
    """

    arrow: Any
    kind: str = "file"
    native: Any = None
    place: TablePlace | None = None
    schema: Any = None
    warnings: tuple[str, ...] = ()

    @property
    def path(self) -> Path | None:
        """The file, folder or pattern that it was read from; ``None`` where it was not."""
        return self.place if isinstance(self.place, Path) else None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.arrow.num_rows)

    def type_of(self, name: str) -> Any:
        """Look up the Arrow type that a column has in the source."""
        return (self.schema or self.arrow.schema).field(name).type


@dataclass(frozen=True)
class UnpackedFile:
    """What a compressed file holds, in memory under an open descriptor; stands where the path of a file stands.

    `name` is that of the compressed file, for sentences, and `suffix` the ending of what is in it.
    """

    name: str
    suffix: str
    descriptor: int


@dataclass(frozen=True)
class PackedFile:
    """A compressed file that is unpacked while it is read, from its beginning on; stands where its path stands.

    `name` is that of the compressed file, `suffix` the ending of what is in it.
    """

    name: str
    suffix: str
    opener: Callable[[], BufferedReader]


TableFile = Path | UnpackedFile | PackedFile
"""A file that can be opened any number of times."""


def open_table_file(path: TableFile) -> BufferedReader:
    """Open the file of a table; what is no regular file that may be read is refused."""
    if isinstance(path, UnpackedFile):  # anew, so that each reader has a place of its own in it
        return os.fdopen(os.open(f"/proc/self/fd/{path.descriptor}", os.O_RDONLY | os.O_CLOEXEC), "rb")
    if isinstance(path, PackedFile):
        return path.opener()
    try:
        return open_regular_file(path)
    except UnreadableFile as error:
        ways = {
            "missing": "check [data] source, or the path on the command line",
            "folder": "name a file",
            "special": "save the table in one",
            "forbidden": "ask for permission to read it",
        }
        way = ways.get(error.fault, "name another file")
        raise DataError(f"{path.name or path} {error.reason}; {way}") from None


def arrow_file(file: BufferedReader) -> Any:
    """Give an open file to Arrow as one of its own, which its threads read without Python's lock.

    The descriptor is opened anew by its number, not by a path that may lead elsewhere by now.
    """
    again = Path(f"/proc/self/fd/{file.fileno()}")
    return pa.OSFile(str(again)) if again.exists() else file


def columns_to_read(policy: Policy, names: list[str]) -> list[str]:
    """List the columns that are read at all, in the table's order: identifiers are never read."""
    return [name for name in names if policy.columns[name].role is not Role.IDENTIFIER]


def cast_text_views(table: Any) -> Any:
    """Turn Arrow's views of text into text, which more of Arrow's functions accept."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string_view(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(pa.large_string()))
    return table


def check_columns(names: list[str], policy: Policy) -> None:
    """Refuse a table whose columns are not exactly those that the policy gives a role."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"column names stand twice in the table: {listing(twice)}; rename one of each")
    missing = [name for name in policy.columns if name not in names]
    if missing:
        hint = did_you_mean(missing[0], names) or "; name the table that the policy is for"
        raise DataError(f"columns of the policy are not in the table: {listing(missing)}{hint}")
    unlisted = [name for name in names if name not in policy.columns]
    if unlisted:
        raise DataError(
            f"columns without a role: {listing(unlisted)}; give each one in [columns], "
            'role = "identifier" to leave it out'
        )


def check_types(schema: Any, columns: list[str]) -> None:
    """Refuse columns whose type has no text of its own, such as lists and objects, or cannot be written."""
    for name in columns:
        kind = schema.field(name).type
        values = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not _is_publishable(values):
            raise DataError(
                f"column {quote(name)} holds {kind}, which cannot be published; "
                "turn it into text, numbers or dates, or give it the role identifier"
            )
        if pa.types.is_timestamp(values) and not _has_known_zone(values):
            raise DataError(
                f"column {quote(name)} is in a time zone that this machine does not know, {shorten(str(kind))}; "
                "write it in UTC or in another zone, or install the tz database (tzdata)"
            )


def _is_publishable(kind: Any) -> bool:
    types = pa.types
    if types.is_float16(kind) or types.is_interval(kind):
        return False
    is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    return bool(is_text or types.is_primitive(kind) or types.is_decimal(kind) or types.is_null(kind))


def _has_known_zone(kind: Any) -> bool:
    """Tell whether times of a type can be printed.

    >>> [_has_known_zone(pa.timestamp("s", zone)) for zone in ("Europe/Zurich", None, "Mars/Base")]
    [True, True, False]
    """
    try:
        arrow_numbers(np.zeros(1, dtype=np.int64)).cast(kind).cast(pa.string())
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return False
    return True


_PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_EPOCH = date(1970, 1, 1).toordinal()


def check_calendar(table: Any) -> None:
    """Refuse dates and times beyond the years 1 to 9999, which nobody can write, such as a database's infinity.

    >>> check_calendar(pa.table({"until": pa.array([2**31 - 1], pa.int32()).cast(pa.date32())}))
    Traceback (most recent call last):
    sfumato.errors.DataError: column 'until' holds dates beyond the years 1 to 9999, such as the infinity of a database;
    make them missing (in SQL, nullif)
    """
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        if not pa.types.is_date(kind) and not pa.types.is_timestamp(kind):
            continue
        per_day = _PER_DAY["ms"] if pa.types.is_date64(kind) else 1 if pa.types.is_date(kind) else _PER_DAY[kind.unit]
        ends = pc.min_max(column.cast(pa.int32()) if pa.types.is_date32(kind) else column.cast(pa.int64())).as_py()
        if ends["min"] is None:
            continue
        first, last = ((day.toordinal() - _EPOCH) for day in (date.min, date.max))
        if ends["min"] < first * per_day or ends["max"] >= (last + 1) * per_day:
            raise DataError(
                f"column {quote(name)} holds dates beyond the years 1 to 9999, such as the infinity of a database; "
                "make them missing (in SQL, nullif)"
            )


def check_rows(table: Any) -> None:
    """Refuse an Arrow table without rows."""
    if table.num_rows == 0:
        raise no_rows_error()


def no_rows_error() -> DataError:
    """Say that a table has no rows."""
    return DataError("the table has no rows; there is nothing to publish")
