"""Open published files: their columns from their own header or schema, their rows through DuckDB."""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from sfumato.errors import NotVerified
from sfumato.verifier.database import connect, pattern
from sfumato.verifier.published import Published
from sfumato.verifier.reading import Reading
from sfumato.verifier.sql import text, unguarded

_LINE, _LONG_LINE = 2_000_000, 200_000_000


def open_file(path: Path, *, null: str = "", types: Mapping[str, str] | None = None) -> Published:
    """The written file as view ``published``.

    `null` is how a CSV writes NULL; `types` are the types that the data dictionary names, for what Parquet does
    not keep (it has no timestamps in seconds).
    """
    return open_files({"published": path}, null=null, types=types)[0]


def open_files(
    paths: Mapping[str, Path], *, null: str = "", types: Mapping[str, str] | None = None, beside: Sequence[Path] = ()
) -> list[Published]:
    """Written files, each as the view it is given under, on one connection that reads no other but those `beside`."""
    resolved = {source: path.resolve() for source, path in paths.items()}
    connection = connected([*resolved.values(), *beside])
    return [
        open_on(connection, source, path, None if path.suffix == ".parquet" else Reading((null,)), types)
        for source, path in resolved.items()
    ]


def connected(paths: Sequence[Path]) -> Any:
    """A connection that reads these files, which are named in full, and no other."""
    return connect(*(name for path in paths for name in (str(path), pattern(path))))


def open_on(
    connection: Any, source: str, path: Path, reading: Reading | None, types: Mapping[str, str] | None = None
) -> Published:
    """A file as a view on a connection that may read it: a CSV that is read so, or else Parquet."""
    file = _File(connection, source, path)
    return _open_parquet(file, types or {}) if reading is None else _open_csv(file, reading)


@dataclass(frozen=True)
class _File:
    """A file and the view that it becomes."""

    connection: Any
    source: str
    path: Path

    @property
    def literal(self) -> str:
        """The path in SQL."""
        return text(pattern(self.path))

    def viewed(
        self, query: Callable[[bool], str], columns: Sequence[str], types: Mapping[str, Any], *, guarded: bool = False
    ) -> Published:
        """The file as a view of what a query gives that knows whether lines are very long."""

        def view(long: bool) -> str:
            return f"CREATE OR REPLACE VIEW {self.source} AS {query(long)}"

        try:
            self.connection.execute(view(False))
        except duckdb.Error as error:
            raise NotVerified(f"{self.path.name} cannot be read: {str(error).splitlines()[0]}") from None
        return Published(
            self.connection,
            tuple(columns),
            types,
            source=self.source,
            label=self.path.name,
            guarded=guarded,
            view=view,
        )


def _open_csv(file: _File, reading: Reading) -> Published:
    columns = _header(file.path, reading)
    places = ", ".join(f"c{i}: 'VARCHAR'" for i in range(len(columns)))
    options = f"{reading.options}, columns = {{{places}}}"
    return file.viewed(
        lambda long: (
            f"SELECT * FROM read_csv({file.literal}, {options}, max_line_size = {_LONG_LINE if long else _LINE})"
        ),
        columns,
        {},
        guarded=reading.guarded,
    )


def _header(path: Path, reading: Reading) -> list[str]:
    """The first record, by Python's own reader: it may hold line breaks."""
    encoding = "utf-8-sig" if reading.encoding == "utf-8" and reading.line_ends is None else reading.encoding
    try:
        with path.open(encoding=encoding, newline="") as file:
            first = next(csv.reader(file, strict=True, delimiter=reading.separator), None)
    except (OSError, UnicodeError, csv.Error) as error:
        raise NotVerified(f"{path.name} cannot be read: {error}") from None
    if not first:
        raise NotVerified(f"{path.name} is empty; it was changed after publication")
    return [unguarded(cell) if reading.guarded else cell for cell in first]


def _open_parquet(file: _File, declared: Mapping[str, str]) -> Published:
    import pyarrow.parquet as pq  # noqa: PLC0415 - only where a Parquet file is read

    try:
        schema = pq.read_schema(file.path)
    except (OSError, pa.ArrowException) as error:
        raise NotVerified(f"{file.path.name} cannot be read: {str(error).splitlines()[0]}") from None
    kinds = [_plain(field.type) for field in schema]
    raw = ", ".join(f"r{i}" for i in range(len(kinds)))
    cells = ", ".join(_cell(i, kind) for i, kind in enumerate(kinds))
    source = f"(SELECT * FROM read_parquet({file.literal}, hive_partitioning = false)) AS t({raw})"
    return file.viewed(lambda _: f"SELECT {cells} FROM {source}", schema.names, _typed(schema.names, kinds, declared))


def _cell(place: int, kind: Any) -> str:
    """A column as it is; floating numbers by their digits, so that 0.0 and -0.0 are two values here as elsewhere."""
    return f"CAST(r{place} AS VARCHAR) AS c{place}" if pa.types.is_floating(kind) else f"r{place} AS c{place}"


def _plain(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _typed(names: Sequence[str], kinds: Sequence[Any], declared: Mapping[str, str]) -> dict[str, Any]:
    """The types of columns that are not text, to the second where the data dictionary says so."""
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    found = {}
    for column, kind in zip(names, kinds, strict=True):
        if not any(is_text(kind) for is_text in texts):
            found[column] = _declared(kind, declared.get(column, ""))
    return found


def _declared(kind: Any, said: str) -> Any:
    """To the second where the data dictionary says so and the file cannot."""
    if pa.types.is_timestamp(kind) and said.startswith("timestamp[s"):
        return pa.timestamp("s", kind.tz)
    return pa.time32("s") if pa.types.is_time32(kind) and said == "time32[s]" else kind
