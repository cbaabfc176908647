"""Tables of a release in DuckDB, from files or from memory, their columns under names of ours: c0, c1, and so on.

SQL identifiers are blind to case, and a table may have a column called ``n``, ``Age`` beside ``age``, or a name
with a quote in it. So no name of the table ever gets into a statement: columns are known by their position.
"""

import csv
import gzip
import re
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from sfumato.errors import NotVerified, is_lack_of_memory, quote
from sfumato.verifier.release_files import PART, open_without_waiting
from sfumato.verifier.sql import connect, path_pattern, quote_text, remove_guard, remove_guard_sql
from sfumato.verifier.working_space import is_lack_of_disk

ENCODINGS = {"utf-8": "utf-8", "iso8859-1": "latin-1", "latin-1": "latin-1", "utf-16": "utf-16"}
"""The encodings of earlier releases' files, as this library and DuckDB call them."""

_QUOTES, _NO_QUOTES = "quote = '\"', escape = '\"'", "quote = '', escape = ''"
_CSV_OPTIONS = (
    f"{_QUOTES}, allow_quoted_nulls = false, strict_mode = true, null_padding = false, "
    "header = true, auto_detect = false, hive_partitioning = false"
)
_LINE_SIZE, _LONG_LINE_SIZE = 2_000_000, 200_000_000
_MOST_LABELS, _MOST_SIGNS = 12, 60


@dataclass(frozen=True)
class TableView:
    """A view of a table on a connection, and what its columns were called.

    `source` is the name of the view, and `label` how a sentence names the table. `types` has the Arrow type of each
    column that is not text. `guarded` says that texts carry the apostrophe of the formula rule. `statement` makes the
    view again, with room for very long lines or without. `lines` reads a CSV as lines, and not as cells.
    """

    connection: Any
    columns: tuple[str, ...]
    types: Mapping[str, Any]
    source: str = "published"
    label: str = "the table"
    guarded: bool = False
    statement: Callable[[bool], str] | None = None
    lines: "CsvLines | None" = None

    def column(self, name: str) -> str:
        """Give the name that a column has in SQL."""
        return f"c{self.columns.index(name)}"

    def integer_sql(self, name: str) -> str:
        """Write a column of whole numbers in SQL; NULL where a cell is none, or is not written as one."""
        column = self.column(name)
        number = f"TRY_CAST({column} AS BIGINT)"
        if name in self.types:
            return number if pa.types.is_integer(self.types[name]) else "CAST(NULL AS BIGINT)"
        return f"CASE WHEN CAST({number} AS VARCHAR) = {column} THEN {number} END"

    def text_sql(self, expression: str) -> str:
        """Write a column of text in SQL, without the apostrophe of the formula rule."""
        return remove_guard_sql(expression) if self.guarded else expression

    def read(self, statement: str) -> None:
        """Run a statement that reads the table; a file that cannot be read is one that cannot be verified."""
        try:
            try:
                self.connection.execute(statement)
            except duckdb.Error as error:
                if self.statement is None or "maximum line size" not in str(error).lower():
                    raise
                self.connection.execute(self.statement(True))
                self.connection.execute(statement)
        except duckdb.Error as error:
            raise unreadable(self.label, error) from None

    def texts(self, name: str, values: Any) -> list[str | None]:
        """Write values of a column as the library prints them: a number without trailing zeros, a date in ISO form."""
        if name not in self.types:
            cells = values.cast(pa.string()).to_pylist()
            return [remove_guard(cell) if self.guarded and cell is not None else cell for cell in cells]
        kind = self.types[name]
        if pa.types.is_null(kind) and values.null_count == len(values):
            return [None] * len(values)  # pyarrow 18 cannot cast to the type of nothing
        try:
            return list(values.cast(kind).cast(pa.string()).to_pylist())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise NotVerified(f"column {quote(name)} holds {kind}, which this version cannot compare") from None

    def describe_rows(self, names: Sequence[str], rows: Any) -> list[str]:
        """Describe each row of an Arrow table of these columns: ``age = 30, sex = Male``."""
        cells = [self.texts(name, rows.column(i)) for i, name in enumerate(names)]
        return [describe_cells(names, row) for row in zip(*cells, strict=True)]


@dataclass(frozen=True)
class CsvLines:
    """How the lines of a CSV are read as they stand there: a query of the text ``line`` of each but the header.

    A line without a quote is a record, and the commas in it are what its cells stand between: so where many lines are
    alike, it is enough to take the different ones apart. `cells` is how many a record has, and `null` writes NULL.
    """

    query: str
    cells: int
    null: str

    @property
    def is_odd(self) -> str:
        """Whether a line is not for certain a record of so many cells, or may be read otherwise; in SQL."""
        commas = "length(line) - length(replace(line, ',', ''))"
        return f"line IS NULL OR regexp_matches(line, '[\"\\r\\x00]') OR {commas} <> {self.cells - 1}"

    @property
    def columns(self) -> str:
        """The cells of a line, as columns in SQL."""
        cells = (f"nullif(cells[{i + 1}], {quote_text(self.null)}) AS c{i}" for i in range(self.cells))
        return ", ".join(cells)


_SAMPLED_LINES = 1_000_000
"""Whether many lines are alike is seen in so many of them; a table that has no more is read cell by cell."""
_ALIKE = 2
"""They are where each comes so often or more on average."""


def count_lines(table: TableView) -> bool:
    """Make the table ``counted_rows`` of the different rows of a CSV, and how many each is, ``r``; or say no.

    The answer is no where rows are not many times alike, or some line may be no record by itself: then whoever asks
    reads the rows cell by cell, and hears of what is wrong with them.
    """
    if table.lines is None:
        return False
    connection, query = table.connection, table.lines.query
    counted = "SELECT line, count(*) AS r FROM"

    def first_line(statement: str) -> Any:
        return connection.execute(statement).fetchall()[0]

    try:
        connection.execute(f"CREATE OR REPLACE TABLE lines AS {counted} ({query} LIMIT {_SAMPLED_LINES}) GROUP BY line")
        found = f"SELECT coalesce(sum(r), 0), count(*), count(*) FILTER ({table.lines.is_odd}) FROM lines"
        rows, different, odd = first_line(found)
        if rows < _SAMPLED_LINES or odd or different * _ALIKE > rows:
            return False
        connection.execute(f"CREATE OR REPLACE TABLE lines AS {counted} ({query}) GROUP BY line")
        if first_line(found)[2]:
            return False
        connection.execute(
            f"CREATE OR REPLACE TABLE counted_rows AS SELECT r, {table.lines.columns} "
            "FROM (SELECT r, string_split(line, ',') AS cells FROM lines)"
        )
    except duckdb.Error:  # such as a line that is too long: who reads cell by cell says what it is
        return False
    finally:
        connection.execute("DROP TABLE IF EXISTS lines")
    return True


_PIECE = 500_000
"""So many lines of a table of counts are looked at in Python at a time."""


def read_pieces(connection: Any, table: str, columns: str = "*", size: int = _PIECE) -> Iterator[Any]:
    """Read a table of the database as Arrow tables of so many lines at the most, so that it may be of any length.

    >>> numbers = connect()
    >>> _ = numbers.execute("CREATE TABLE t AS SELECT range AS n FROM range(5)")
    >>> [piece.num_rows for piece in read_pieces(numbers, "t", size=2)]
    [2, 2, 1]
    """
    ((lines,),) = connection.execute(f"SELECT count(*) FROM {table}").fetchall()
    for start in range(0, lines, size):
        piece = f"rowid >= {start} AND rowid < {start + size}"
        yield connection.sql(f"SELECT {columns} FROM {table} WHERE {piece}").to_arrow_table()


def unreadable(label: str, error: Exception) -> Exception:
    """Say that a table cannot be read, and so not be verified; too little memory says nothing of the table."""
    if is_lack_of_disk(error):
        return error
    if is_lack_of_memory(error):
        return MemoryError()
    part = PART.search(str(error))  # of several files, DuckDB names the one
    return NotVerified(f"{part[0] if part else label} cannot be read: {explain_failure(error)}")


def describe_cells(names: Sequence[str], cells: Sequence[str | None]) -> str:
    """Write some cells of a row for a sentence, the first of them where there are many.

    >>> describe_cells(["age", "sex"], ["30", None])
    'age = 30, sex = NULL'
    """
    texts = ["NULL" if cell is None else cell for cell in cells]
    short = [text if len(text) <= _MOST_SIGNS else f"{text[:_MOST_SIGNS]}…" for text in texts]
    parts = [f"{name} = {text}" for name, text in zip(names, short, strict=True)]
    rest = [f"{len(parts) - _MOST_LABELS} more labels"] if len(parts) > _MOST_LABELS else []
    return ", ".join(parts[:_MOST_LABELS] + rest)


@dataclass(frozen=True)
class CsvDialect:
    """How a CSV is written: ours, where nothing else is said. Without `line_ends` they may be any, but all alike.

    Where it is `packed`, the whole file is compressed by gzip.
    """

    null: tuple[str, ...] = ("",)
    separator: str = ","
    guarded: bool = True
    encoding: str = "utf-8"
    line_ends: str | None = "\\n"
    packed: bool = False

    @property
    def options(self) -> str:
        """The same as options of DuckDB's ``read_csv``."""
        null = ", ".join(quote_text(text) for text in self.null if not {*text} & {self.separator, *'"\r\n'})
        nulls = f"nullstr = [{null}]" if null else "nullstr = chr(0)"
        ends = "" if self.line_ends is None else f", new_line = '{self.line_ends}'"
        separator, encoding = quote_text(self.separator), quote_text(self.encoding)
        compression = "gzip" if self.packed else "none"
        return (
            f"{_CSV_OPTIONS}, compression = '{compression}', delim = {separator}, encoding = {encoding}, {nulls}{ends}"
        )


Files = Path | Sequence[Path]
"""A table as its file, or as the files that are one table together."""


def as_paths(files: Files) -> tuple[Path, ...]:
    """List the files of a table, as absolute paths."""
    return tuple(path.resolve() for path in ((files,) if isinstance(files, Path) else files))


def open_file(path: Path, *, null: str = "", types: Mapping[str, str] | None = None) -> TableView:
    """Open a written file as the view ``published``.

    `null` is how a CSV writes NULL; `types` are the types that the data dictionary names, for what Parquet does
    not keep (it has no timestamps in seconds).
    """
    return open_files({"published": path}, null=null, types=types)[0]


def open_files(
    tables: Mapping[str, Files], *, null: str = "", types: Mapping[str, str] | None = None, others: Sequence[Path] = ()
) -> list[TableView]:
    """Open written tables on one connection, each as the view of its name; it may read the `others`, and no more."""
    resolved = {source: as_paths(files) for source, files in tables.items()}
    connection = connect([*(path for paths in resolved.values() for path in paths), *others])
    return [open_view(connection, source, paths, own_dialect(paths, null), types) for source, paths in resolved.items()]


def own_dialect(files: Files, null: str) -> CsvDialect | None:
    """Tell how we write files of this name; ``None`` for Parquet."""
    suffix = as_paths(files)[0].suffix
    return None if suffix == ".parquet" else CsvDialect((null,), packed=suffix == ".gz")


def open_view(
    connection: Any, source: str, files: Files, dialect: CsvDialect | None, types: Mapping[str, str] | None = None
) -> TableView:
    """Open a table as a view on a connection that may read its files: CSV of this dialect, or else Parquet.

    Several files have the same columns, in the same order and of the same types; each CSV has a header of its own.
    """
    paths = as_paths(files)
    literal = f"[{', '.join(quote_text(path_pattern(path)) for path in paths)}]"
    label = paths[0].name if len(paths) == 1 else paths[0].parent.name
    if dialect is not None:
        columns, kinds = _read_alike(paths, lambda path: _read_header(path, dialect)), dict[str, Any]()
        places = ", ".join(f"c{i}: 'VARCHAR'" for i in range(len(columns)))
        rows = f"SELECT * FROM read_csv({literal}, {dialect.options}, columns = {{{places}}}, max_line_size = "
    else:
        columns, plain, _ = _read_alike(paths, _read_schema)
        kinds = _column_types(columns, plain, types or {})
        raw = ", ".join(f"r{i}" for i in range(len(columns)))
        # floating numbers by their digits, so that 0.0 and -0.0 are two values here as elsewhere
        cells = ", ".join(
            f"CAST(r{i} AS VARCHAR) AS c{i}" if pa.types.is_floating(kind) else f"r{i} AS c{i}"
            for i, kind in enumerate(plain)
        )
        rows = f"SELECT {cells} FROM (SELECT * FROM read_parquet({literal}, hive_partitioning = false)) AS t({raw})"

    def statement(long: bool) -> str:
        size = "" if dialect is None else f"{_LONG_LINE_SIZE if long else _LINE_SIZE})"
        return f"CREATE OR REPLACE VIEW {source} AS {rows}{size}"

    try:
        connection.execute(statement(False))
    except duckdb.Error as error:
        raise unreadable(label, error) from None
    guarded = dialect is not None and dialect.guarded
    lines = None if dialect is None else _read_lines(dialect, literal, columns)
    return TableView(connection, tuple(columns), kinds, source, label, guarded, statement, lines)


def _read_lines(dialect: CsvDialect, files: str, columns: Sequence[str]) -> CsvLines | None:
    """Tell how the lines of files that we have written are read; nothing where a record may be more than a line."""
    own = dialect == CsvDialect(dialect.null, packed=dialect.packed)
    signs = {*"".join((*columns, *dialect.null))} & {*',"\r\n\0'}  # the header may be more than a line, too
    if not own or len(columns) < 2 or len(dialect.null) != 1 or signs:  # of one column an empty line is a row
        return None
    line = replace(dialect, null=("\n",), separator="\1")  # no line has such an end in it, and hardly one the other
    query = f"read_csv({files}, {line.options.replace(_QUOTES, _NO_QUOTES)}, columns = {{line: 'VARCHAR'}}, "
    return CsvLines(f"SELECT line FROM {query}max_line_size = {_LINE_SIZE})", len(columns), dialect.null[0])


def _read_alike(paths: Sequence[Path], read: Callable[[Path], Any]) -> Any:
    """Read the columns of files that are one table; refuse one whose columns are not those of the first.

    DuckDB takes columns by name or by place, fills in those that a file lacks, leaves out those that it has besides,
    and rounds numbers to the type of the first file.
    """
    found = read(paths[0])
    for path in paths[1:]:
        if read(path) != found:
            raise NotVerified(f"{path.name} has not the columns of {paths[0].name}, as they are there; it was changed")
    return found


_CSV_LINE = re.compile(r"CSV Error on Line: (\d+)")
_CSV_FAULTS = {
    "Expected Number of Columns": "has not as many cells as the header",
    "unterminated quote": "has a quote that is not closed, or text after one",
    "aximum line size": f"is longer than {_LONG_LINE_SIZE // 10**6} MB",
    "not utf-8": "is not UTF-8",
}


def explain_failure(error: Exception) -> str:
    r"""Say why a file cannot be read, in our words: DuckDB's own quote cells, names of ours, and statements.

    >>> explain_failure(duckdb.Error("CSV Error on Line: 3\nOriginal Line: secret\nExpected Number of Columns: 2"))
    'line 3 has not as many cells as the header'
    """
    text = str(error)
    line = _CSV_LINE.search(text)
    if line:
        found = [words for sign, words in _CSV_FAULTS.items() if sign in text]
        return f"line {line[1]} {found[0] if found else 'is not as CSV is written'}"
    if isinstance(error, duckdb.ConversionException):
        return "a cell is not of the type that its column has"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return "it is damaged, or not as its manifest says"


def _read_header(path: Path, dialect: CsvDialect) -> list[str]:
    """Read the first record of a CSV by Python's own reader: it may contain line breaks."""
    encoding = "utf-8-sig" if dialect.encoding == "utf-8" and dialect.line_ends is None else dialect.encoding
    try:
        with (
            open_without_waiting(path) as raw,
            TextIOWrapper(gzip.GzipFile(fileobj=raw) if dialect.packed else raw, encoding=encoding, newline="") as file,
        ):
            lines = iter(lambda: file.readline(_LONG_LINE_SIZE), "")
            first = next(csv.reader(lines, strict=True, delimiter=dialect.separator), None)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise NotVerified(f"{path.name} cannot be read: it is damaged, or not packed by gzip") from None
    except OSError as error:
        raise unreadable(path.name, error) from None
    except UnicodeError:
        raise NotVerified(f"{path.name} cannot be read: it is not {dialect.encoding.upper()}") from None
    except csv.Error:
        raise NotVerified(f"{path.name} cannot be read: its header is not as CSV is written") from None
    if not first:
        raise NotVerified(f"{path.name} is empty; it was changed after publication")
    return [remove_guard(cell) if dialect.guarded else cell for cell in first]


def _read_schema(path: Path) -> tuple[list[str], list[Any], str]:
    """Read the columns of a Parquet file, their types, and how they are stored.

    The types are those of the values where columns are dictionaries.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415 - only where a Parquet file is read

    try:
        with open_without_waiting(path) as file:
            metadata = pq.read_metadata(file)
            schema, stored = metadata.schema.to_arrow_schema(), str(metadata.schema).partition("\n")[2]
            names = list(schema.names)  # names may be no text, in a damaged file
    except (OSError, UnicodeError, pa.ArrowException) as error:
        if is_lack_of_memory(error):
            raise MemoryError from None
        raise NotVerified(f"{path.name} cannot be read: it is damaged, or no Parquet file") from None
    return names, [_value_type(field.type) for field in schema], stored


def _column_types(names: Sequence[str], kinds: Sequence[Any], declared: Mapping[str, str]) -> dict[str, Any]:
    """Select the types of columns that are not text, to the second where the data dictionary says so."""
    types = {}
    for name, kind in zip(names, kinds, strict=True):
        if _is_text_type(kind):
            continue
        types[name], stated = kind, declared.get(name, "")
        if pa.types.is_timestamp(kind) and stated.startswith("timestamp[s"):
            types[name] = pa.timestamp("s", kind.tz)
        elif pa.types.is_time32(kind) and stated == "time32[s]":
            types[name] = pa.time32("s")
    return types


def arrow_types(table: Any) -> dict[str, Any]:
    """Find the types of the columns of an Arrow table that are not text, those of the values where they are coded."""
    kinds = {field.name: _value_type(field.type) for field in table.schema}
    return {name: kind for name, kind in kinds.items() if not _is_text_type(kind)}


def _is_text_type(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def register_tables(
    tables: Mapping[str, Any], needed: Collection[str], numbers: Collection[str] = (), others: Sequence[Path] = ()
) -> list[TableView]:
    """Open Arrow tables in memory, by how a sentence names them, on one connection that may read the `others`.

    The `needed` columns become text as the library prints it; those of `numbers` stay as they are.
    """
    connection, views = connect(others), []
    for place, (label, table) in enumerate(tables.items()):
        names = tuple(table.column_names)
        kept = {f"c{i}": table.column(i) for i, name in enumerate(names) if name in numbers}
        texts = {f"c{i}": as_text(table.column(i)) for i, name in enumerate(names) if name in needed}
        connection.register(f"published_{place}", pa.table(texts | kept))
        types = {field.name: _value_type(field.type) for field in table.schema if field.name in numbers}
        views.append(TableView(connection, names, types, source=f"published_{place}", label=label))
    return views


def as_text(column: Any) -> Any:
    """Make a column a dictionary of texts: each different value is printed once."""
    kind = _value_type(column.type)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices.cast(pa.int32()), chunk.dictionary.cast(pa.string()))
        for chunk in coded.chunks
    ]
    return pa.chunked_array(chunks, pa.dictionary(pa.int32(), pa.string()))


def _value_type(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
