"""Tables by their place: files of many formats, folders, patterns and databases, read whole or refused.

A file's format is known by its first bytes where they tell, else by its name; what is refused is refused with one
sentence that quotes no cell. Identifiers are not read with the table; `find_repeated_identifiers` reads them by
themselves, counts their values and forgets them.
"""

import hashlib
import re
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import DataError, is_lack_of_memory, quote
from sfumato.policy import DataSource, Policy, Role
from sfumato.policy.database_url import DatabaseUrl, TablePlace
from sfumato.table import database_files, database_servers
from sfumato.table.batch_source import BatchSource, HeldOpen, Part, PartSize, WholeTable
from sfumato.table.cell_columns import common_type
from sfumato.table.column_header import header_warnings
from sfumato.table.columnar_parts import FeatherBatches, ParquetGroups
from sfumato.table.csv_blocks import CsvBlocks
from sfumato.table.csv_reader import csv_schema, read_csv, read_first_csv_records
from sfumato.table.frames import first_frame_rows, frame_to_arrow
from sfumato.table.json_lines import JsonLinesBlocks, json_lines_schema, read_first_json_objects, read_json_lines
from sfumato.table.least_memory import check_feather_memory, check_parquet_memory
from sfumato.table.several_files import check_same_columns, find_files, list_digest
from sfumato.table.spreadsheets import WORKBOOK_SUFFIXES, read_sheet, sheet_schema
from sfumato.table.statistics_files import STATISTICS_SUFFIXES, read_statistics, statistics_schema
from sfumato.table.table import (
    Table,
    TableFile,
    arrow_file,
    cast_text_views,
    check_calendar,
    check_columns,
    check_rows,
    check_types,
    columns_to_read,
    open_table_file,
)
from sfumato.table.unpacking import find_compression, packed, unpacked

DAMAGED = (pa.ArrowException, OSError, UnicodeDecodeError, MemoryError)
"""What is raised of a file that is damaged, or too large."""


def read_table(place: TablePlace, policy: Policy) -> Table:
    """Read the table at a place, with the columns that a policy publishes or looks at."""
    kind = file_format(place)
    check_keys(place, kind, policy.source)
    schema, names = _read_schema(place, kind, policy.source)
    policy = policy.for_table(names)
    check_columns(names, policy)
    columns = columns_to_read(policy, names)
    if kind.is_typed:
        check_types(schema, columns)
    try:
        arrow = cast_text_views(kind.read(place, policy, columns).replace_schema_metadata())
        arrow.validate(full=True)  # a damaged file may hold text that is none
    except DAMAGED as error:
        raise unreadable_error(place, kind, error) from None
    check_rows(arrow)
    check_calendar(arrow)
    warnings = header_warnings(schema, place.name, [column.name for column in policy.identifiers])
    if not kind.is_typed:
        check_types(arrow.schema, columns)
        schema = arrow.schema
    return Table(arrow, place=place, schema=schema, warnings=warnings)


def column_names(place: TablePlace, source: DataSource) -> list[str]:
    """Read the names of a table's columns, for those who have no policy for it yet."""
    return _read_schema(place, file_format(place), source)[1]


def file_digest(path: Path) -> str:
    """Compute the SHA-256 of a file, in hexadecimal; of several files, that of a list of theirs as sha256sum prints."""
    files = find_files(path)
    if files is not None:
        return list_digest((file.name, file_digest(file)) for file in files)
    with open_table_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_schema(place: TablePlace, kind: "FileFormat", source: DataSource) -> tuple[Any, list[str]]:
    """Read the types of a table's columns, and their names."""
    try:
        schema = kind.schema(place, source)
        return schema, list(schema.names)  # names may be no text, in a damaged file
    except DAMAGED as error:
        raise unreadable_error(place, kind, error) from None


def check_keys(place: TablePlace, kind: "FileFormat", source: DataSource) -> None:
    """Refuse keys of [data] that say nothing of such a table."""
    for name, of in (("query", "a database"), ("table", "a database"), ("sheet", "a workbook")):
        if getattr(source, name) is not None and name not in kind.keys:
            raise DataError(f"[data] {name} is of {of}, and {place.name} is {kind.name}; leave it out")


def unreadable_error(place: TablePlace, kind: "FileFormat", error: Exception) -> DataError:
    """Say that a file cannot be read, with the kind of Arrow's error but without the data that Arrow may quote.

    A file for which there is too little memory may be sound; a damaged one may ask for more than any machine has.
    """
    if is_lack_of_memory(error):
        return DataError(
            f"{place.name} takes more memory than there is: it is too large for this machine, or damaged; "
            "take fewer columns or rows, or use a larger machine"
        )
    return DataError(
        f"{place.name} cannot be read as {kind.name} ({type(error).__name__}): it is damaged, or of another "
        "format than its name says"
    )


# The formats: how each says its columns and their types, and how it is read.

_FIRST_PARQUET_ROWS = 100_000
_TEXT_SUFFIXES = {".csv", ".tsv", ".txt", ".tab", ".data", ""}
_HEAD, _LONG_HEAD = 1 << 20, 1 << 27
"""So much of a compressed CSV is unpacked to read its header, and of one that has no line end in that."""


@dataclass(frozen=True)
class FileFormat:
    """A format: what it is called, how to read the types of a table's columns, and how to read some of them.

    `read_first` reads the first rows of some columns, where that is quicker than to read all. `is_typed` is false where
    types show only in the cells: then `schema` has the names alone. `keys` are those of [data] that are of the format.
    `parts` opens a table to be read in parts, where that is possible; `streams` says that they need the bytes of a file
    in their order and nothing else, so that a compressed one need not be unpacked as a whole.
    """

    name: str
    schema: Callable[[Any, DataSource], Any]
    read: Callable[[Any, Policy, list[str]], Any]
    read_first: Callable[[Any, Policy, list[str]], Any] | None = None
    is_typed: bool = True
    keys: frozenset[str] = frozenset()
    parts: Callable[[Any, DataSource, PartSize], BatchSource] | None = None
    streams: bool = False

    def open_source(self, place: Any, source: DataSource, size: PartSize) -> BatchSource:
        """Open the table at a place to read it in parts; what can only be read whole is cut afterwards."""
        if self.parts is not None:
            return self.parts(place, source, size)
        return WholeTable(self.schema(place, source), lambda *chosen: self.read(place, *chosen), size)


def file_format(place: TablePlace) -> FileFormat:
    """Tell the format of what is at a place: a database by its URL, a file by its first bytes, else by its name."""
    if isinstance(place, DatabaseUrl):
        if place.is_storage:
            raise DataError(f"{place.name} lies on the storage of a cluster, which Spark reads; add --engine spark")
        return _SERVERS[place.kind]
    files = find_files(place)
    if files is not None:
        return _format_of_several(files)
    if find_compression(place) is None:
        return _format_of_file(place)
    with unpacked(place, most=1) as content:
        inner = _format_of_file(content)
    return _compressed_format(inner)


def _format_of_file(file: TableFile) -> FileFormat:
    """Tell the format of one file that is not compressed."""
    with open_table_file(file) as opened:
        head = opened.read(16)
    if not head:
        raise DataError(f"{file.name} is empty; a table needs a header and rows")
    suffix = file.suffix.lower()
    if head.startswith(b"FEA1"):  # Arrow's reader of these trusts them, and a damaged one ends the process
        raise DataError(f"{file.name} is a Feather file of version 1; save it as version 2 (Arrow), or as Parquet")
    marks = {"parquet": head.startswith(b"PAR1"), "feather": head.startswith(b"ARROW1")}
    marks["sqlite"] = head == database_files.SQLITE_MARK
    marks["duckdb"] = head[8:12] == database_files.DUCKDB_MARK
    name = next((name for name, found in marks.items() if found), _BY_SUFFIX.get(suffix))
    if name is None:
        raise DataError(
            f"{file.name}: {quote(suffix)} files are not read by this version; "
            "save the table as CSV, Parquet, Feather, JSON Lines or a workbook"
        )
    if name == "sqlite" and not marks["sqlite"]:
        raise DataError(f"{file.name} is no SQLite file, as its name says; name another, or rename it")
    return _FORMATS[name]


def _compressed_format(inner: FileFormat) -> FileFormat:
    """Make the format of compressed files that hold one of another format."""

    def schema(path: Path, source: DataSource) -> Any:
        if inner.name != "CSV":  # an end or an index tells, so that all of it is needed
            with unpacked(path) as content:
                return inner.schema(content, source)
        with unpacked(path, most=_HEAD) as content:
            with open_table_file(content) as file:
                head = file.read()
            if b"\n" in head or b"\r" in head or len(head) < _HEAD:
                return inner.schema(content, source)
        with unpacked(path, most=_LONG_HEAD) as content:
            return inner.schema(content, source)

    def read(path: Path, policy: Policy, columns: list[str]) -> Any:
        with unpacked(path) as content:
            return inner.read(content, policy, columns)

    def parts(path: Path, source: DataSource, size: PartSize) -> BatchSource:
        if inner.streams:
            return inner.open_source(packed(path), source, size)
        with ExitStack() as stack:
            opened = inner.open_source(stack.enter_context(unpacked(path)), source, size)
            return HeldOpen(opened, stack.pop_all())

    return replace(inner, schema=schema, read=read, read_first=None, parts=parts)


def _format_of_several(files: list[Path]) -> FileFormat:
    """Make the format of files that are one table: they have the same columns, in any order."""
    kinds = {file: file_format(file) for file in files}
    first = kinds[files[0]]

    def schema(_: Path, source: DataSource) -> Any:
        schemas = {file: _read_schema(file, kind, source)[0] for file, kind in kinds.items()}
        check_same_columns({file.name: one.names for file, one in schemas.items()})
        return _common_schema(list(schemas.values()), schemas[files[0]])

    def read(path: Path, policy: Policy, columns: list[str]) -> Any:
        return _join_tables([kind.read(file, policy, columns) for file, kind in kinds.items()], path)

    is_typed = all(kind.is_typed for kind in kinds.values())
    keys = frozenset.intersection(*(kind.keys for kind in kinds.values()))

    def parts(path: Path, source: DataSource, size: PartSize) -> BatchSource:
        return SeveralSources(path.name, kinds, source, size)

    return FileFormat(first.name, schema, read, None, is_typed, keys, parts)


class SeveralSources(BatchSource):
    """Several files that are one table, one after the other; `kinds` are the formats of each.

    A file is open only while its parts are asked for, so that there may be any number of them.
    """

    def __init__(self, name: str, kinds: Mapping[Path, FileFormat], source: DataSource, size: PartSize) -> None:
        self._name, self._kinds, self._source, self._size = name, kinds, source, size
        schemas = {}
        for file in kinds:
            with self._opened(file) as opened:
                schemas[file] = opened.schema
        check_same_columns({file.name: one.names for file, one in schemas.items()})
        self.schema = _common_schema(list(schemas.values()), next(iter(schemas.values())))

    def choose(self, policy: Policy, columns: list[str]) -> Any:
        """Choose columns; where types show only in the cells, each file is looked through for them."""
        self._policy, self._columns = policy, columns
        schemas = []
        for file in self._kinds:
            with self._opened(file) as opened:
                schemas.append(opened.choose(policy, columns))
        self._types = _common_schema(schemas, schemas[0])
        return self._types

    def parts(self) -> Generator[Part]:
        """Give the parts of one file after the other."""
        hashes: list[tuple[str, str]] = []
        for file in self._kinds:
            with self._opened(file) as opened:
                opened.choose(self._policy, self._columns)
                for part in opened.parts():
                    yield partial(self._run, file, opened, part)
                if opened.digest is not None:
                    hashes.append((file.name, opened.digest))
        if len(hashes) == len(self._kinds):
            self.digest = list_digest(hashes)

    def _run(self, file: Path, opened: BatchSource, part: Part) -> Any:
        """Run a part and put its columns into the types that all files have in common."""
        try:
            table = part()
        except Exception as error:  # noqa: BLE001 - it is said which file it is of, and raised once more
            raise FileError(file, self._kinds[file], opened, error) from None
        return pa.table({field.name: self._cast(table.column(field.name), field) for field in self._types})

    def _cast(self, column: Any, field: Any) -> Any:
        if field.type in {column.type, _plain_type(column.type)}:
            return column
        try:
            return column.cast(_plain_type(column.type)).cast(field.type)
        except pa.ArrowException:
            raise _different_types_error(field.name, self._name) from None

    @contextmanager
    def _opened(self, file: Path) -> Iterator[BatchSource]:
        """Open a file, and say of an error in which it is."""
        opened = None
        try:
            opened = self._kinds[file].open_source(file, self._source, self._size)
            yield opened
        except DataError:
            raise
        except Exception as error:  # noqa: BLE001 - as above
            raise FileError(file, self._kinds[file], opened, error) from None
        finally:
            if opened is not None:
                opened.close()

    def explain(self, error: Exception) -> Exception | None:
        """Say of a file what it says of itself."""
        return error.explain() if isinstance(error, FileError) else None


class FileError(Exception):
    """An error in one of several files."""

    def __init__(self, file: Path, kind: FileFormat, opened: BatchSource | None, error: Exception) -> None:
        super().__init__(file)
        self._file, self._kind, self._opened, self.error = file, kind, opened, error

    def explain(self) -> Exception:
        """Give the sentence that the file has for it."""
        if self._opened is not None and (found := self._opened.explain(self.error)) is not None:
            return found
        return unreadable_error(self._file, self._kind, self.error) if isinstance(self.error, DAMAGED) else self.error


def _common_schema(schemas: list[Any], first: Any) -> Any:
    """Find the types that hold the columns of all files, in the order and with the marks of the first."""
    return pa.schema([field.with_type(common_type([one.field(field.name).type for one in schemas])) for field in first])


def _different_types_error(column: str, table: str) -> DataError:
    return DataError(
        f"column {quote(column)} has different types in the files of {table}, which have none in common; "
        "write them alike"
    )


def _join_tables(tables: list[Any], path: Path) -> Any:
    """Put tables of the same columns one below the other, each column in the type that holds all of it."""
    columns = {}
    for name in tables[0].column_names:
        pieces = [chunk for table in tables for chunk in table.column(name).chunks]
        kinds = {piece.type for piece in pieces}
        kind = kinds.pop() if len(kinds) == 1 else common_type([_plain_type(piece.type) for piece in pieces])
        try:
            columns[name] = pa.chunked_array([piece.cast(kind) for piece in pieces], kind)
        except pa.ArrowException:
            raise _different_types_error(name, path.name) from None
    return pa.table(columns).unify_dictionaries()


def _plain_type(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _parquet_schema(path: TableFile, _: DataSource) -> Any:
    import pyarrow.parquet as pq  # noqa: PLC0415 - only where a Parquet file is read

    with open_table_file(path) as file:
        return pq.read_schema(file)


def _read_parquet(path: TableFile, policy: Policy, columns: list[str]) -> Any:
    import pyarrow.parquet as pq  # noqa: PLC0415 - only where a Parquet file is read

    with open_table_file(path) as file:
        schema = pq.read_schema(file)
        check_parquet_memory(path, pq.read_metadata(file), schema, columns)
        text = [name for name in columns if pa.types.is_string(schema.field(name).type)]
        coded = [name for name in text if policy.columns[name].role is not Role.PLAIN]
        return pq.read_table(arrow_file(file), columns=columns, read_dictionary=coded, partitioning=None)


def _read_first_parquet_rows(path: TableFile, _: Policy, columns: list[str]) -> Any:
    import pyarrow.parquet as pq  # noqa: PLC0415 - only where a Parquet file is read

    with open_table_file(path) as content, pq.ParquetFile(content) as file:
        return pa.Table.from_batches([next(file.iter_batches(_FIRST_PARQUET_ROWS, columns=columns))])


def _feather_schema(path: TableFile, _: DataSource) -> Any:
    from pyarrow import ipc  # noqa: PLC0415 - only where a Feather file is read

    with open_table_file(path) as file:
        return ipc.open_file(file).schema


def _read_feather(path: TableFile, _: Policy, columns: list[str]) -> Any:
    from pyarrow import feather  # noqa: PLC0415 - only where a Feather file is read

    check_feather_memory(path, columns)
    with open_table_file(path) as file:
        return feather.read_table(arrow_file(file), columns=columns)


_OF_DATABASES = frozenset({"query", "table"})
_FORMATS: Mapping[str, FileFormat] = {
    "csv": FileFormat("CSV", csv_schema, read_csv, read_first_csv_records, parts=CsvBlocks, streams=True),
    "parquet": FileFormat("Parquet", _parquet_schema, _read_parquet, _read_first_parquet_rows, parts=ParquetGroups),
    "feather": FileFormat("Feather", _feather_schema, _read_feather, parts=FeatherBatches),
    "json": FileFormat(
        "JSON Lines",
        json_lines_schema,
        read_json_lines,
        read_first_json_objects,
        parts=JsonLinesBlocks,
        streams=True,
    ),
    "workbook": FileFormat("a workbook", sheet_schema, read_sheet, is_typed=False, keys=frozenset({"sheet"})),
    "statistics": FileFormat("a file of a statistics package", statistics_schema, read_statistics, is_typed=False),
    "sqlite": FileFormat(
        "SQLite",
        database_files.sqlite_schema,
        database_files.read_sqlite,
        database_files.read_first_sqlite_rows,
        is_typed=False,
        keys=_OF_DATABASES,
        parts=database_files.SqliteRows,
    ),
    "duckdb": FileFormat(
        "DuckDB",
        database_files.duckdb_schema,
        database_files.read_duckdb,
        database_files.read_first_duckdb_rows,
        keys=_OF_DATABASES,
        parts=database_files.DuckdbRows,
    ),
}
_SERVERS: Mapping[str, FileFormat] = {
    "postgresql": FileFormat(
        "PostgreSQL",
        database_servers.postgresql_schema,
        database_servers.read_postgresql,
        database_servers.read_first_postgresql_rows,
        keys=_OF_DATABASES,
        parts=database_servers.PostgresqlRows,
    ),
    "mysql": FileFormat(
        "MySQL",
        database_servers.mysql_schema,
        database_servers.read_mysql,
        database_servers.read_first_mysql_rows,
        is_typed=False,
        keys=_OF_DATABASES,
        parts=database_servers.MysqlRows,
    ),
}
_BY_SUFFIX: Mapping[str, str] = {
    **dict.fromkeys(_TEXT_SUFFIXES, "csv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".feather", ".arrow"), "feather"),
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "json"),
    **dict.fromkeys(WORKBOOK_SUFFIXES, "workbook"),
    **dict.fromkeys(STATISTICS_SUFFIXES, "statistics"),
    **dict.fromkeys((".db", ".db3", ".sqlite", ".sqlite3"), "sqlite"),
    **dict.fromkeys((".duckdb", ".ddb"), "duckdb"),
}


# Identifiers that repeat: rows that seem to be one person's, in a table whose policy takes each for another's.

FIRST_ROWS = 100_000
"""Identifiers of larger tables are counted only where these first rows give cause: most tables repeat none."""

_LOOKED_AT = 1000
"""So many different values tell whether a column is of dates or of decimal numbers."""

MOST_CELLS = 10_000_000
"""More cells than this are not counted: all of them at once would take memory that the search needs."""


def find_repeated_identifiers(table: Table, policy: Policy) -> dict[str, float]:
    """Find the identifiers that look as if they named persons in several rows, with the rows for each of their values.

    NULL names nobody. A column with fewer different values than rows for each is left out for another reason than that
    it names somebody, as one of sexes or of countries. Dates, such as those of birth, and decimal numbers repeat by
    chance, among strangers. Nothing is looked at where a column of individuals says who is who.

    >>> from sfumato.policy import load
    >>> from sfumato.table import from_frame
    >>> policy = load({
    ...     "columns": {"ssn": {"role": "identifier"}, "sex": {"role": "quasi", "hierarchy": "suppress"}},
    ...     "privacy": [{"model": "k-anonymity", "k": 2}],
    ... })
    >>> visits = pa.table({"ssn": ["1", "1", "2", None], "sex": ["f", "f", "m", "m"]})
    >>> find_repeated_identifiers(from_frame(visits, policy), policy)
    {'ssn': 1.5}
    """
    names = [] if policy.individual else [column.name for column in policy.identifiers]
    if table.rows > FIRST_ROWS:
        names = list(_rows_per_value(table, policy, names, _read_first_rows))
    if len(names) * table.rows > MOST_CELLS:
        return {}
    return _rows_per_value(table, policy, names, _read_rows)


def _rows_per_value(
    table: Table, policy: Policy, names: list[str], read: Callable[[Table, Policy, list[str]], Any]
) -> dict[str, float]:
    """Count rows for each value of the columns that repeat values, and have at least as many as rows for each.

    A file is read once for all columns, a frame converted column by column, so that one that fails spoils no other.
    """
    ratios: dict[str, float] = {}
    for chosen in [names] if names and table.place else [[name] for name in names]:
        with suppress(Exception):  # nobody has to be able to read a column that is not published
            columns = cast_text_views(read(table, policy, chosen))
            columns.validate(full=True)  # a damaged file may hold text that is none
            for name, cells in zip(chosen, columns.columns, strict=True):
                with suppress(pa.ArrowException):  # values that cannot be compared, such as lists
                    rows, values = len(cells) - cells.null_count, len(cells.drop_null().unique())
                    if rows > values and may_name_persons(cells):
                        ratios[name] = rows / values
    return ratios


def may_name_persons(cells: pa.ChunkedArray) -> bool:
    """Tell whether a column that is not published looks as if its values named persons, and not what many share.

    >>> [may_name_persons(pa.chunked_array([cells])) for cells in (["1", "1", "2"], ["f", "m"] * 5, ["1970-01-31"])]
    [True, False, False]
    """
    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    return values_name_persons(cells.drop_null().unique(), len(cells) - cells.null_count)


def values_name_persons(different: Any, rows: int) -> bool:
    """Tell the same by the different values of a column, and by how many rows have one."""
    return len(different) ** 2 >= rows and not _repeat_by_chance(different)


_DATE_OR_DECIMAL = re.compile(r"\d{1,4}([-./])\d{1,2}\1\d{1,4}([ T]\d.*)?|[-+]?\d+[.,]\d+", re.ASCII)
_ONE_OF_THEM = re.compile(rf"{_DATE_OR_DECIMAL.pattern}|[-+]?\d+", re.ASCII)
"""Decimal numbers may stand beside whole ones; a column of whole numbers alone may name persons."""


def _repeat_by_chance(different: Any) -> bool:
    """Whether values are dates, times or decimal numbers, going by the first of them; strangers have them in common."""
    kind, some = different.type, different.slice(0, _LOOKED_AT).to_pylist()
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):  # whole ones are numbers of people that pandas widened
        return any(value % 1 != 0 for value in some)
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return bool(pa.types.is_temporal(kind))
    return all(map(_ONE_OF_THEM.fullmatch, some)) and any(map(_DATE_OR_DECIMAL.fullmatch, some))


def _read_rows(table: Table, policy: Policy, names: list[str]) -> Any:
    """Read columns that are not in the table, from its source."""
    if table.place is not None:
        return file_format(table.place).read(table.place, policy, names)
    return frame_to_arrow(table.native, table.kind, names)


def _read_first_rows(table: Table, policy: Policy, names: list[str]) -> Any:
    """Read the first rows, or a few more, of columns that are not in the table."""
    if table.place is None:
        return frame_to_arrow(first_frame_rows(table.native, table.kind, FIRST_ROWS), table.kind, names)
    kind = file_format(table.place)
    if kind.read_first is not None:
        return kind.read_first(table.place, policy, names)
    return _read_rows(table, policy, names).slice(0, FIRST_ROWS)
