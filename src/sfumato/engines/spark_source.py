"""The source of a release on Spark as parts that tasks read: ranges of files, or files that Spark wrote before.

Files that all workers see under their path are read by the readers that every engine has, a range of bytes or of row
groups by each task, so that each cell means what it means on one machine. What only Spark can read (a DataFrame, a
table of a catalog, files on hdfs:// or s3a://) is read by it once, and written into files of the shared folder as it
came. From then on both are the same: parts that give the same rows each time, however often a task is run.
"""

import json
from collections.abc import Callable, Sequence
from copyreg import pickle as pickle_by
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from sfumato.engines.spark_session import raise_told, spark_errors
from sfumato.engines.spark_tasks import (
    BLOCKS,
    CutFiles,
    CutQuoted,
    Marker,
    PartReader,
    SpoolFiles,
    SpoolRows,
    TablePart,
    TaskFunction,
    file_state,
    held_file,
)
from sfumato.errors import DataError, InputError, quote
from sfumato.policy import Policy, Role
from sfumato.policy.columns import Column
from sfumato.table.batch_source import PartSize
from sfumato.table.column_header import header_warnings
from sfumato.table.columnar_parts import ParquetGroups
from sfumato.table.csv_reader import read_csv_head
from sfumato.table.files import file_format
from sfumato.table.several_files import find_files
from sfumato.table.table import check_columns, check_types, columns_to_read, no_rows_error
from sfumato.table.table_batches import open_batches
from sfumato.table.unpacking import find_compression

_PART_BYTES, _PART_ROWS = 1 << 27, 1 << 20
"""What one task reads: about so many bytes of a file, and no more rows than this."""
_RANGE = 1 << 26
_COLUMNAR = {".parquet": "parquet", ".pq": "parquet", ".orc": "orc", ".avro": "avro"}
_LARGEST_FETCHED = (1 << 31) - 1

Run = Callable[[Any, TaskFunction, str], list[Any]]


@dataclass(frozen=True)
class SparkSource:
    """What is read, part by part, and what its holder should know of how it was read.

    `place` is what a sentence calls it; `files` are those of the source, where tasks read these.
    """

    reader: PartReader
    warnings: tuple[str, ...]
    name: str
    files: tuple[str, ...] = ()


def reading_policy(policy: Policy) -> Policy:
    """What of a policy says how files are read, so that it can be pickled: the source, and the roles of columns."""
    roles = {name: Column(name, column.role) for name, column in policy.columns.items()}
    return replace(policy, columns=MappingProxyType(roles), requirements=(), document={}, previous=())


def _copy_mapping(content: dict[str, Any]) -> MappingProxyType[str, Any]:
    return MappingProxyType(content)


def _reduce_mapping(mapping: MappingProxyType[str, Any]) -> tuple[Any, ...]:
    return _copy_mapping, (dict(mapping),)


pickle_by(MappingProxyType, _reduce_mapping)


# Files that all workers see.


def find_file_parts(place: Path, policy: Policy, marker: Marker, session: Any, run: Run) -> SparkSource:
    """Find the parts of the files at a place: a file, a folder or a pattern."""
    with open_batches(place, policy, memory=1 << 28) as opened:  # says what is wrong with it
        schema, warnings = opened.schema, opened.warnings
    files = find_files(place) or [place]
    rules = reading_policy(policy)
    parts: list[TablePart] = []
    cut: list[tuple[Path, str]] = []
    for file in files:
        state, name = file_state(file), str(file.absolute())
        kind = None if find_compression(file) is not None else file_format(file).name
        if kind == "Parquet":
            source = ParquetGroups(file, policy.source, PartSize.within(1 << 28))
            source.choose(rules, schema.names)
            parts += [TablePart(name, "parquet", state, *ends) for ends in _group_ranges(source.group_sizes())]
        elif kind == "CSV" and policy.source.encoding == "utf-8":
            if state[0] <= 2 * _RANGE:
                parts.append(TablePart(name, "csv", state, 0, state[0]))
            else:
                cut.append((file, read_csv_head(file, policy.source).separator))
        else:
            parts.append(TablePart(name, "file", state))
    parts += _cut_csv(cut, marker, session, run)
    reader = PartReader(tuple(parts), rules, schema)
    return SparkSource(reader, warnings, place.name, tuple(str(file) for file in files))


def _group_ranges(sizes: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Put neighbouring row groups together, as many as one task reads.

    >>> _group_ranges([(10, 100), (10, 100), (1 << 20, 100)])
    [(0, 2), (2, 3)]
    """
    ranges: list[tuple[int, int]] = []
    rows = size = start = 0
    for place, (more_rows, more_bytes) in enumerate(sizes):
        if place > start and (rows + more_rows > _PART_ROWS or size + more_bytes > _PART_BYTES):
            ranges.append((start, place))
            rows, size, start = 0, 0, place
        rows, size = rows + more_rows, size + more_bytes
    return [*ranges, (start, len(sizes))] if sizes else []


def _cut_csv(files: Sequence[tuple[Path, str]], marker: Marker, session: Any, run: Run) -> list[TablePart]:
    """Cut large CSV files at the ends of records: at line ends where a file has no quotes, else by a task per file."""
    ranges, states = [], {str(file.absolute()): file_state(file) for file, _ in files}
    for file, (size, _) in states.items():
        ranges += [(file, start, min(start + _RANGE, size)) for start in range(0, size, _RANGE)]
    if not ranges:
        return []
    numbers = session.range(0, len(ranges), 1, len(ranges))
    found = [json.loads(content) for _, content in run(numbers, CutFiles(marker, tuple(ranges)), BLOCKS)]
    quoted = {ranges[number][0] for number, quotes, _ in found if quotes}
    cuts: dict[str, list[int]] = {file: [] for file in states}
    for number, _, cut in sorted(found):
        if cut >= 0 and cut < states[ranges[number][0]][0]:
            cuts[ranges[number][0]].append(cut)
    separators = tuple((str(file.absolute()), mark) for file, mark in files if str(file.absolute()) in quoted)
    if separators:
        numbers = session.range(0, len(separators), 1, len(separators))
        for _, content in run(numbers, CutQuoted(marker, separators, _RANGE), BLOCKS):
            number, places = json.loads(content)
            cuts[separators[number][0]] = places or []
    parts = []
    for file, places in cuts.items():
        ends = sorted(set(places) | {0})
        for start, stop in zip(ends, [*ends[1:], states[file][0]], strict=True):
            if stop > start:
                parts.append(TablePart(file, "csv", states[file], start, stop))
    return parts


def explain_unseen(source: SparkSource, message: str) -> Exception:
    """Say why a task did not see a file as the driver saw it."""
    part = source.reader.parts[int(message)]
    file = Path(part.file)
    if file_state(file) != part.state:
        return DataError(f"{file.name} was changed while it was read; try again when nothing writes to it")
    return InputError(
        f"the workers of the cluster do not see {file.name} as this machine does; put it on storage that all of them "
        "share under the same path, or name it by a URL that Spark reads, such as hdfs://"
    )


def explain_rows(place: Path, policy: Policy) -> None:
    """Read files in their order, and raise what the reader says is wrong with them, with the number of the record."""
    with open_batches(place, policy, memory=1 << 28) as batches:
        for _ in batches:
            pass


# What only Spark reads.


def spool_frame(frame: Any, name: str, policy: Policy, marker: Marker, run: Run) -> SparkSource:
    """Write the rows of a DataFrame into files of the marker's folder, and give these as parts."""
    from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415 - an extra

    names = list(frame.columns)
    check_columns(names, policy)
    columns = columns_to_read(policy, names)
    _check_spark_types(frame, columns)
    numbered = frame.toDF(*(f"c{place}" for place in range(len(names))))  # whatever they are called
    chosen = numbered.select(*(f"c{names.index(column)}" for column in columns))
    zone = frame.sparkSession.conf.get("spark.sql.session.timeZone")
    arrow = to_arrow_schema(chosen.schema, timezone=zone)
    schema = _schema_of([(column, field.type) for column, field in zip(columns, arrow, strict=True)])
    check_types(schema, columns)
    folder = Path(marker.path).parent
    spool = SpoolRows(marker, str(folder), _coded(policy, columns))
    written = run(chosen, spool, BLOCKS)
    source = _spooled(written, folder, policy, schema, name)
    identifiers = [column.name for column in policy.identifiers]
    return replace(source, warnings=header_warnings(_schema_of([(one, None) for one in names]), name, identifiers))


def _schema_of(columns: Sequence[tuple[str, Any]]) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - as everywhere where a frame is met

    return pa.schema([(name, pa.string() if kind is None else kind) for name, kind in columns])


def _check_spark_types(frame: Any, columns: Sequence[str]) -> None:
    """Refuse types that have no text of their own before Spark is asked for them in Arrow."""
    types = [field.dataType.typeName() for field in frame.schema]
    names = list(frame.columns)
    for column in columns:
        kind = types[names.index(column)]
        if (
            kind in {"array", "map", "struct", "binary", "variant", "udt", "geometry", "geography"}
            or "interval" in kind
        ):
            raise DataError(
                f"column {quote(column)} holds {kind}, which cannot be published; "
                "turn it into text, numbers or dates, or give it the role identifier"
            )


def _coded(policy: Policy, columns: Sequence[str]) -> tuple[bool, ...]:
    return tuple(policy.columns[column].role is not Role.PLAIN for column in columns)


def _spooled(written: Sequence[Any], folder: Path, policy: Policy, schema: Any, name: str) -> SparkSource:
    """The files that the successful tasks told of, as parts; any other is of a task that was run once more."""
    found = [json.loads(content) for _, content in written]
    if not found:
        raise no_rows_error()
    paths = [folder / file for file, _ in found]
    for path in folder.glob("rows-*.arrow"):
        if path not in paths:
            path.unlink(missing_ok=True)
    parts = tuple(TablePart(str(path), "spool", file_state(path)) for path in paths)
    return SparkSource(PartReader(parts, reading_policy(policy), schema), (), name)


def spool_url(url: str, policy: Policy, marker: Marker, session: Any, run: Run) -> SparkSource:
    """Read files by a URL that Spark knows: Parquet and ORC by Spark, files of other formats whole, by our readers."""
    name = Path(urlsplit(url).path).name or url
    ending = Path(name).suffix.lower()
    with spark_errors():
        if ending in _COLUMNAR or not ending:
            kind = _COLUMNAR.get(ending, "parquet")
            return spool_frame(_load(session, kind, url, name), name, policy, marker, run)
        fetched = _load(session, "binaryFile", url, name)
        first = fetched.select("path", "length").collect()
    if not first:
        raise DataError(f"no file matches {quote(name)}; check [data] source")
    if max(row.length for row in first) > _LARGEST_FETCHED:
        raise DataError(
            f"{name} has files above 2 GB, which Spark does not hand over whole; "
            "write them as smaller ones, or as Parquet"
        )
    with spark_errors():
        path = min(row.path for row in first)
        (row,) = fetched.filter(fetched.path == path).select("content").collect()
    with (
        held_file(Path(urlsplit(path).path).name, row.content) as file,
        open_batches(file, policy, memory=1 << 28) as one,
    ):
        schema, warnings = one.schema, one.warnings
    rules, folder = reading_policy(policy), Path(marker.path).parent
    task = SpoolFiles(marker, str(folder), rules, schema, _coded(policy, schema.names))
    content = fetched.repartition(len(first)).select("path", "content")
    source = _spooled(run(content, task, BLOCKS), folder, policy, schema, name)
    return replace(source, warnings=warnings)


def _load(session: Any, kind: str, url: str, name: str) -> Any:
    from pyspark.errors import PySparkException  # noqa: PLC0415 - an extra

    try:
        return session.read.format(kind).load(url)
    except PySparkException as error:
        raise DataError(
            f"Spark cannot read {quote(name)} as {kind} ({error.getCondition() or type(error).__name__}); "
            "check [data] source, and the types of its columns"
        ) from None


def spool_table(name: str, policy: Policy, marker: Marker, session: Any, run: Run) -> SparkSource:
    """Read a table of a catalog by its name."""
    with spark_errors():
        frame = session.table(name)
        return spool_frame(frame, name, policy, marker, run)


def is_catalog_table(session: Any, name: str) -> bool:
    """Tell whether Spark's catalog has a table of this name."""
    from pyspark.errors import PySparkException  # noqa: PLC0415 - an extra

    try:
        return bool(session.catalog.tableExists(name))
    except PySparkException:  # no name of a table at all
        return False


def told_or_content(rows: Sequence[Any], explain: Callable[[str, str], Exception | None]) -> list[tuple[int, Any]]:
    """The blocks that a job gave; the first that tells of an error is raised."""
    for row in rows:
        if row.error is not None:
            raise_told(row.error, explain)
    return [(row.number, bytes(row.content)) for row in rows]
