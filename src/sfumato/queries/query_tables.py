"""The tables of a release in a database: small numbers for cells, and dictionaries that say what they stand for.

A condition on a column is then evaluated once per different value, and not once per row. No name of the table ever
gets into a statement: columns are known by their place. A table is loaded in three steps: its file is read as it is
into ``raw``, the different cells of each column are numbered and given values, and the table is written in numbers.
"""

import csv
import gzip
import zlib
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import IntArray
from sfumato.core.arrow import arrow_numbers
from sfumato.errors import DataError, InputError, did_you_mean, listing, quote
from sfumato.hierarchy.hierarchy import ROOT
from sfumato.labels.covered_values import PLAIN_NUMBER, WHOLE_NUMBER, CoveredValues, find_covered_values
from sfumato.labels.data_dictionary import Entry, is_aggregate
from sfumato.queries.density_points import SEPARATOR, find_density_points
from sfumato.queries.query_database import escape_pattern, quote_name, quote_text, report_file_errors
from sfumato.queries.unevenness import measure_unevenness
from sfumato.reading.release_reader import ReleaseManifest
from sfumato.table.formula_guard import unguard_formula
from sfumato.table.table import open_table_file

_MOST_NAMES = 20
"""A message lists at most so many columns."""

_LINE_SIZE, _LONG_LINE_SIZE = 2_000_000, 200_000_000
_CSV_OPTIONS = (
    "delim = ',', quote = '\"', escape = '\"', allow_quoted_nulls = false, strict_mode = true, null_padding = false, "
    "header = true, new_line = '\\n', auto_detect = false, hive_partitioning = false"
)

_CODE_TYPES = {"UTINYINT": 1 << 8, "USMALLINT": 1 << 16, "UINTEGER": 1 << 32}
_TEXT_TYPES = frozenset({"string", "large_string", "string_view"})
"""Types of columns that may have labels; a quasi-identifier of another type is published as it came."""
_NUMBER_TYPES = ("int", "uint", "halffloat", "float", "double", "decimal")
"""How types of numbers begin in the data dictionary."""
_WHOLE = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"})
_REAL = frozenset({"FLOAT", "DOUBLE", "UBIGINT", "HUGEINT", "UHUGEINT"})

_FEW, _TIMES = 1 << 8, 4
"""Columns are coded that have few different values, or values that occur so many times each on average."""


@dataclass(frozen=True)
class QueryColumn:
    """One column: its name, the number of its table, and what is known of its cells.

    In SQL its values are ``c`` with its place. Where it is `coded`, its table has numbers ``k`` instead, and a
    dictionary ``d`` has the value of each number. It is `uncertain` where a number stands for several values; then the
    dictionary has a line for each, and how many there are, ``z``. `sampled` says that these are points of ranges;
    `unclear` is a label of which nothing says what it covers; `empty` says that all cells are NULL. `unevenness` says
    how far the values that a label covers are from being equally frequent, see `model_error`. Of a column of densities,
    `centered` says that the dictionary ``e`` is meant, which has their centres alone, and `told` that ``f`` is, which
    has those alone that are no densities but values told as they are.
    """

    name: str
    place: int
    table: int = 0
    number: bool = False
    coded: bool = True
    uncertain: bool = False
    sampled: bool = False
    unclear: str | None = None
    empty: bool = False
    unevenness: float = 0.0
    centered: bool = False
    told: bool = False

    @property
    def value(self) -> str:
        """Its values in SQL."""
        return f"c{self.place}"

    @property
    def code(self) -> str:
        """Its codes in SQL."""
        return f"k{self.place}"

    @property
    def size(self) -> str:
        """How many values its label stands for, in SQL."""
        return f"z{self.place}"

    @property
    def dictionary(self) -> str:
        """The table that says what codes stand for."""
        if self.uncertain and (self.centered or self.told):
            return f"{'e' if self.centered else 'f'}{self.place}"
        return f"d{self.place}"


def find_column(name: str, columns: Sequence[QueryColumn]) -> QueryColumn:
    """Find the column of this name: as it is written, or else the only one that differs in case alone.

    >>> find_column("AGE", [QueryColumn("age", 0)]).place
    0
    >>> find_column("salary", [QueryColumn("salary-class", 0)])
    Traceback (most recent call last):
    sfumato.errors.InputError: there is no column 'salary'; did you mean "salary-class"?
    """
    same = [column for column in columns if column.name == name]
    similar = same or [column for column in columns if column.name.casefold() == name.casefold()]
    if len(similar) > 1:
        raise InputError(
            f"{quote(name)} may be any of {listing(each.name for each in similar)}; write it as one of them"
        )
    if similar:
        (column,) = similar
        if column.unclear is not None:
            raise InputError(
                f"column {quote(column.name)} holds {quote(column.unclear)}, and nothing in the release says what that "
                "stands for; ask about other columns; whoever publishes the table can tell by a hierarchy file of all "
                "its values, or by the domain of its numbers"
            )
        return column
    names = {column.name: quote_name(column.name) for column in columns}
    close = did_you_mean(name, names).removeprefix("; did you mean ").removesuffix("?")
    if close:
        raise InputError(f"there is no column {quote(name)}; did you mean {names[close]}?")
    some = [*names.values()][:_MOST_NAMES] + (["…"] if len(names) > _MOST_NAMES else [])
    listed = f"the columns are {', '.join(some)}, and texts are written in single quotes, as in 'flu'"
    raise InputError(f"there is no column {quote(name)}; {listed}")


@dataclass(frozen=True, eq=False)
class ReleaseTables:
    """A release in a database: tables ``t0``, ``t1``, … with the class of each row, or its weight in one table alone.

    Where there are several tables, ``sizes`` has how many rows each class has.
    """

    connection: Any
    columns: tuple[QueryColumn, ...]
    split: bool


def load_tables(connection: Any, manifest: ReleaseManifest, *, only: Container[str] | None = None) -> ReleaseTables:
    """Read the files of a release, each once; `only` the columns of these names, in lower case, where it is given."""
    columns: list[QueryColumn] = []

    spread_of = {entry["name"]: entry["of"] for entry in manifest.bounds if entry.get("bound") == "spread"}

    def is_wanted(name: str) -> bool:
        return only is None or name == manifest.class_id or spread_of.get(name, name).casefold() in only

    for table, name in enumerate(manifest.tables):
        with report_file_errors(name):
            raw = _read_raw(connection, manifest.files_of(name), is_wanted, null=manifest.null)
            entries = _entries_in_order(raw, manifest, name)
            raw = _join_spreads(raw, entries)
            columns += _load_table(raw, entries, QueryColumn("", len(columns), table), manifest.class_id)
    if manifest.is_split:
        _check_classes(connection, manifest)
    return ReleaseTables(connection, tuple(columns), manifest.is_split)


def _entries_in_order(raw: "_RawTable", manifest: ReleaseManifest, name: str) -> list[Entry]:
    """Put the entries of a table's columns in the order of its file; the two have to agree."""
    entries = {entry["name"]: entry for entry in manifest.entries_of(name)}
    bounds = [entry["name"] for entry in manifest.bounds]
    expected = [*entries, *bounds, *([manifest.class_id] if manifest.class_id is not None else [])]
    if sorted(raw.names) != sorted(expected):
        raise DataError(
            f"{name} has not the columns that manifest.json lists, but {listing(raw.names)}; it was changed"
        )
    return [entries[column] for column in raw.names if column in entries]


def _load_table(
    raw: "_RawTable", entries: Sequence[Entry], first: QueryColumn, class_id: str | None
) -> list[QueryColumn]:
    """Make the dictionaries of all columns, and the table in their codes."""
    columns = [replace(first, name=entry["name"], place=place) for place, entry in enumerate(entries, first.place)]
    read = [place for place, column in enumerate(columns) if column.name in raw.types]
    cells = []
    for place in read:
        columns[place], cell = _load_column(raw, entries[place], columns[place], labelled=class_id is None)
        cells.append(cell)
    numbered = [f"n{columns[place].place}" for place in read]
    coded = [columns[place] for place in read if columns[place].coded]
    joins = [f"JOIN n{one.place} ON {raw.cell(one.name)} IS NOT DISTINCT FROM n{one.place}.r" for one in coded]
    # one table needs each different row once, with its weight; of several the rows of a class should lie together
    if class_id is None:
        key, shape = "count(*) AS w", "GROUP BY ALL"
    else:
        key, shape = f"CAST({raw.cell(class_id)} AS BIGINT) AS class", "ORDER BY class"
    raw.connection.execute(
        f"CREATE TABLE t{first.table} AS SELECT {', '.join([key, *cells])} FROM raw {' '.join(joins)} {shape}"
    )
    for table in ("raw", *numbered):
        raw.connection.execute(f"DROP TABLE {table}")
    return columns


def _join_spreads(raw: "_RawTable", entries: Sequence[Entry]) -> "_RawTable":
    """Write the spread of each density behind its centre, so that a cell says all of it."""
    types = dict(raw.types)
    for entry in entries:
        if "density" not in entry or entry["name"] not in types:
            continue
        if entry.get("spread") not in types:
            raise DataError(f"manifest.json names no spread of column {quote(entry['name'])}; it was changed")
        center, spread = raw.cell(entry["name"]), raw.cell(entry["spread"])
        both = f"CAST({center} AS VARCHAR) || {quote_text(SEPARATOR)} || CAST({spread} AS VARCHAR)"
        raw.connection.execute(f"ALTER TABLE raw ALTER {center} TYPE VARCHAR USING {both}")
        types[entry["name"]] = "VARCHAR"
    return replace(raw, types=types)


def _check_classes(connection: Any, manifest: ReleaseManifest) -> None:
    """Make ``sizes``, and refuse tables that do not have as many rows of each class."""
    connection.execute("CREATE TABLE sizes AS SELECT class, CAST(count(*) AS DOUBLE) AS n FROM t0 GROUP BY class")
    for table, name in enumerate(manifest.tables[1:], 1):
        (different,) = connection.execute(
            f"SELECT count(*) FROM (SELECT class, count(*) AS m FROM t{table} GROUP BY class) "
            "FULL JOIN sizes USING (class) WHERE m IS DISTINCT FROM n"
        ).fetchone()
        if different:
            raise DataError(
                f"{name} has not as many lines of each class as {manifest.tables[0]}: {different:,} classes differ; "
                "it was changed after publication"
            )


# A published file as it is: its columns from its own header or schema, its rows in the table ``raw``.


@dataclass(frozen=True, eq=False)
class _RawTable:
    """A file in the table ``raw``: the `names` of its columns, the DuckDB `types` of those read, and its `rows`.

    `guarded` says that texts have the apostrophe of the formula rule, as those of CSV files do.
    """

    connection: Any
    names: tuple[str, ...]
    types: Mapping[str, str]
    rows: int
    guarded: bool

    def cell(self, name: str) -> str:
        """Name a column of ``raw`` in SQL."""
        return f"r{self.names.index(name)}"


def _read_raw(connection: Any, paths: Sequence[Path], is_wanted: Callable[[str], bool], *, null: str) -> _RawTable:
    """Read the columns that are wanted of CSV or Parquet files into ``raw``, as ``r`` and their places.

    Files that are one table have the same columns in the same order.
    """
    path = paths[0]
    is_csv = path.suffix != ".parquet"
    read = _csv_header if is_csv else _parquet_names
    names = read(path)
    for other in paths[1:]:
        if read(other) != names:
            raise DataError(f"{other.name} has not the columns of {path.name}; it was changed after publication")
    wanted = {name: f"r{place}" for place, name in enumerate(names) if is_wanted(name)}
    files = f"[{', '.join(quote_text(escape_pattern(one)) for one in paths)}]"
    cells = [f"r{place}" for place in range(len(names))]

    def statement(line_size: int) -> str:
        source = f"read_parquet({files}, hive_partitioning = false)"
        if is_csv:
            columns = ", ".join(f"{cell}: 'VARCHAR'" for cell in cells)
            packed = "gzip" if path.suffix == ".gz" else "none"
            options = f"{_CSV_OPTIONS}, compression = '{packed}', nullstr = {quote_text(null)}, columns = {{{columns}}}"
            source = f"read_csv({files}, {options}, max_line_size = {line_size})"
        what = ", ".join(wanted.values()) or "NULL AS nothing"
        return f"CREATE TABLE raw AS SELECT {what} FROM {source} AS f({', '.join(cells)})"

    try:
        connection.execute(statement(_LINE_SIZE))
    except duckdb.Error as error:
        if "maximum line size" not in str(error).lower():
            raise
        connection.execute(statement(_LONG_LINE_SIZE))
    description = connection.execute("DESCRIBE raw").fetchall()  # a cursor has no exact types in DuckDB 1.2
    (rows,) = connection.execute("SELECT count(*) FROM raw").fetchone()
    types = {name: str(column[1]) for name, column in zip(wanted, description, strict=False)}
    return _RawTable(connection, names, types, rows, is_csv)


def _csv_header(path: Path) -> tuple[str, ...]:
    """Read the first record by Python's own reader: it may have line breaks."""
    try:
        with (
            open_table_file(path) as raw,
            TextIOWrapper(gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw, "utf-8", newline="") as file,
        ):
            lines = iter(lambda: file.readline(_LONG_LINE_SIZE), "")
            first = next(csv.reader(lines, strict=True), None)
    except (csv.Error, EOFError, zlib.error, gzip.BadGzipFile):
        raise DataError(f"{path.name} cannot be read: its header is not as CSV is written; it was changed") from None
    if not first:
        raise DataError(f"{path.name} is empty; it was changed after publication")
    return tuple(unguard_formula(cell) for cell in first)


def _parquet_names(path: Path) -> tuple[str, ...]:
    import pyarrow.parquet as pq  # noqa: PLC0415 - only where a Parquet file is read

    with open_table_file(path) as file:
        return tuple(pq.read_schema(file).names)


# Columns: cells become small numbers, and dictionaries say what they stand for.


def _load_column(raw: _RawTable, entry: Entry, column: QueryColumn, *, labelled: bool) -> tuple[QueryColumn, str]:
    """Make the dictionary of a column; return the column, and what the table has of it in SQL.

    Quasi-identifiers may be `labelled`. The table ``n`` with the place of the column is left behind: its different
    cells ``r``, numbered.
    """
    different = _number_cells(raw, column)
    if "density" in entry:
        return _load_densities(raw, entry, column), column.code
    is_label = entry.get("type", "string") in _TEXT_TYPES or is_aggregate(entry)
    if labelled and entry.get("role") == "quasi" and is_label:
        return _load_labels(raw, entry, column), column.code
    kind = _value_type(raw, f"n{column.place}", entry)
    number, coded = kind != "VARCHAR", different <= _FEW or different * _TIMES <= raw.rows
    if coded:
        value, cell = _cast_cell("r", kind, guarded=raw.guarded), column.code
        raw.connection.execute(
            f"CREATE TABLE {column.dictionary} AS SELECT {column.code}, {value} AS {column.value} FROM n{column.place}"
        )
    else:
        cell = f"{_cast_cell(raw.cell(column.name), kind, guarded=raw.guarded)} AS {column.value}"
    (empty,) = raw.connection.execute(f"SELECT count(r) = 0 FROM n{column.place}").fetchone()
    return replace(column, number=number, coded=coded, empty=empty), cell


def _number_cells(raw: _RawTable, column: QueryColumn) -> int:
    """Number the different cells of a column, in the table ``n`` with its place; return how many there are."""
    cell, name = raw.cell(column.name), f"n{column.place}"
    raw.connection.execute(
        f"CREATE TABLE {name} AS SELECT r, row_number() OVER () - 1 AS {column.code} "
        f"FROM (SELECT DISTINCT {cell} AS r FROM raw)"
    )
    (different,) = raw.connection.execute(f"SELECT count(*) FROM {name}").fetchone()
    kind = next(kind for kind, most in _CODE_TYPES.items() if different <= most)
    raw.connection.execute(f"ALTER TABLE {name} ALTER {column.code} TYPE {kind}")
    return int(different)


def _load_labels(raw: _RawTable, entry: Entry, column: QueryColumn) -> QueryColumn:
    """Make the dictionary of a column of labels: what each covers follows from its text and its entry."""
    lines = raw.connection.execute(f"SELECT CAST(r AS VARCHAR) FROM n{column.place} ORDER BY {column.code}").fetchall()
    texts = [unguard_formula(text) if raw.guarded and text else text for (text,) in lines]
    covered = find_covered_values(entry, texts)
    if covered.unclear is not None:
        return replace(column, unclear=covered.unclear)
    rows = _count_label_rows(raw, column, len(texts))
    covered = narrow_star(covered, texts, rows)
    values = {
        column.code: arrow_numbers(covered.label_of),
        column.value: covered.values,
        column.size: arrow_numbers(covered.sizes),
    }
    raw.connection.register("leaves", pa.table(values))
    raw.connection.execute(
        f"CREATE TABLE {column.dictionary} AS SELECT n.{column.code}, l.{column.value}, l.{column.size} "
        f"FROM leaves l JOIN n{column.place} n USING ({column.code})"
    )
    raw.connection.unregister("leaves")
    return replace(
        column,
        number=covered.number,
        uncertain=not covered.exact,
        sampled=covered.sampled,
        empty=covered.values.null_count == len(covered.values),
        unevenness=0.0 if covered.exact else measure_unevenness(covered, rows),
    )


def _load_densities(raw: _RawTable, entry: Entry, column: QueryColumn) -> QueryColumn:
    """Make the dictionaries of a column of densities: their points, their centres, and values told as they are."""
    lines = raw.connection.execute(f"SELECT r FROM n{column.place} ORDER BY {column.code}").fetchall()
    labels = [text for (text,) in lines]
    points = find_density_points(entry, labels)
    loaded = replace(
        column, number=points.number, uncertain=True, sampled=points.sampled, empty=not any(map(bool, labels))
    )
    for covered, one in ((points, loaded), (find_density_points(entry, labels, centered=True), None)):
        known = one or replace(loaded, centered=True)
        values = {
            column.code: arrow_numbers(covered.label_of),
            column.value: covered.values,
            column.size: arrow_numbers(covered.sizes),
        }
        raw.connection.register("leaves", pa.table(values))
        raw.connection.execute(
            f"CREATE TABLE {known.dictionary} AS SELECT n.{column.code}, l.{column.value}, l.{column.size} "
            f"FROM leaves l JOIN n{column.place} n USING ({column.code})"
        )
        raw.connection.unregister("leaves")
    told = f"SELECT * FROM {loaded.dictionary} WHERE {column.size} = 1"
    raw.connection.execute(f"CREATE TABLE {replace(loaded, told=True).dictionary} AS {told}")
    return loaded


def _count_label_rows(raw: _RawTable, column: QueryColumn, labels: int) -> IntArray:
    """Count the rows of each label by its number."""
    lines = raw.connection.execute(
        f"SELECT n.{column.code}, count(*) FROM raw JOIN n{column.place} n "
        f"ON {raw.cell(column.name)} IS NOT DISTINCT FROM n.r GROUP BY 1"
    ).fetchall()
    rows = np.zeros(labels, dtype=np.int64)
    for code, number in lines:
        rows[code] = number
    return rows


def narrow_star(covered: CoveredValues, labels: Sequence[str | None], rows: IntArray) -> CoveredValues:
    """Let ``*`` cover no number beyond those that the other labels show, where most rows have one of these.

    A domain is declared wider than the numbers are: of years from 1900 to 2100 nobody is asked who sees 1950-1959 to
    1990-1999 in most rows. So it is with texts, of which ``*`` covers those that other labels name.

    >>> wide = find_covered_values({"integers": True, "domain": [1900, 2100]}, ["1990-1999", "2000-2004", "*"])
    >>> narrow = narrow_star(wide, ["1990-1999", "2000-2004", "*"], np.array([50, 50, 20]))
    >>> narrow.values.filter(pc.equal(pa.array(narrow.label_of), 2)).to_pylist()[-1]
    2004
    """
    star = next((place for place, label in enumerate(labels) if label == ROOT), None)
    named = sum(int(number) for label, number in zip(labels, rows, strict=True) if label not in {ROOT, None})
    if star is None or not covered.number or rows[star] >= named:
        return covered
    is_star = covered.label_of == star
    shown = pc.min_max(covered.values.filter(pa.array(~is_star)))
    low, high = shown["min"].as_py(), shown["max"].as_py()
    if low is None:
        return covered
    within = pc.and_(pc.greater_equal(covered.values, low), pc.less_equal(covered.values, high))
    kept = ~is_star | np.asarray(pc.fill_null(within, fill_value=True))
    if not kept[is_star].any():
        return covered
    return replace(covered, label_of=covered.label_of[kept], values=covered.values.filter(pa.array(kept)))


def _value_type(raw: _RawTable, cells: str, entry: Entry) -> str:
    """Find the type of a column's values in DuckDB, where `cells` is a table of its different cells ``r``.

    A text is a number where all of the column are, in their plain form: 4350 is one, 04350 and 1e5 are codes. Where
    the data dictionary says that the column was one of numbers, any form will do. Dates are texts in ISO form.
    """
    stored = raw.types[entry["name"]]
    if stored != "VARCHAR":
        real = stored in _REAL or stored.startswith("DECIMAL")
        return "BIGINT" if stored in _WHOLE else "DOUBLE" if real else "VARCHAR"
    if entry.get("role") == "individual":
        return "VARCHAR"
    whole, plain, read = raw.connection.execute(
        f"SELECT bool_and(regexp_full_match(r, '{WHOLE_NUMBER}')), bool_and(regexp_full_match(r, '{PLAIN_NUMBER}')), "
        f"bool_and(TRY_CAST(r AS DOUBLE) IS NOT NULL) FROM {cells} WHERE r IS NOT NULL"
    ).fetchone()
    declared = entry.get("type", "").startswith(_NUMBER_TYPES) and read is not False
    return "BIGINT" if whole else "DOUBLE" if plain or declared else "VARCHAR"


def _cast_cell(cell: str, kind: str, *, guarded: bool) -> str:
    """Write a cell as a value of its type; what is no finite number is NULL, and the formula rule is taken back.

    >>> print(_cast_cell("r", "BIGINT", guarded=True))
    CAST(r AS BIGINT)
    """
    if kind == "DOUBLE":
        return f"CASE WHEN isfinite(CAST({cell} AS DOUBLE)) THEN CAST({cell} AS DOUBLE) END"
    if kind == "VARCHAR" and guarded:
        return f"CASE WHEN regexp_matches({cell}, '^''+[=+\\-@\\t\\r\\x00]') THEN substr({cell}, 2) ELSE {cell} END"
    return f"CAST({cell} AS {kind})"
