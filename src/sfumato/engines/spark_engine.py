"""The Spark engine: rows on a cluster, which counts, labels, shuffles and writes them; the driver holds no row.

Tasks apply the same functions as every engine (`RowCoder`, `RowLabeller`), our writers write the files, and our
verifier reads them; Spark runs tasks, runs them again where a machine is lost, and moves blocks of bytes between them.
A row is published once and only once, however many tasks are run twice, because each step gives the same rows when it
is run again: parts of the source are read in the same batches, the order of rows is a keyed hash of where they stand,
and of the files that tasks write only those count that a successful task told the driver of.
"""

import json
import math
import secrets
import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any
from weakref import finalize

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import IntArray
from sfumato.core.arrow import arrow_flags, numpy_numbers
from sfumato.core.keys import KeyCounts
from sfumato.core.memory import find_memory_allowed
from sfumato.core.randomness import Randomness
from sfumato.encode import counted_columns
from sfumato.engines.engine import TooManyLines
from sfumato.engines.row_coder import CountedValues, RowCoder
from sfumato.engines.row_labeller import RowLabeller
from sfumato.engines.spark_nodes import StoredKeys
from sfumato.engines.spark_session import find_session, session_for_jobs, spark_errors
from sfumato.engines.spark_source import (
    SparkSource,
    explain_rows,
    explain_unseen,
    find_file_parts,
    is_catalog_table,
    spool_frame,
    spool_table,
    spool_url,
    told_or_content,
)
from sfumato.engines.spark_tasks import (
    BLOCKS,
    VALUES,
    CountKeys,
    CountValues,
    LabelRows,
    Marker,
    MergeKeys,
    OrderWords,
    RankRows,
    RowPacking,
    SendDivided,
    SparkTask,
    TaskFunction,
    WriteRows,
    bytes_to_values,
    read_counts,
)
from sfumato.errors import DataError, InputError
from sfumato.policy import Policy
from sfumato.policy.database_url import DatabaseUrl, TablePlace
from sfumato.publish.published_column import PublishedColumn
from sfumato.publish.published_table import PublishedTable
from sfumato.publish.table_writer import TableFormat, write_table_pieces
from sfumato.publish.written_table import WrittenTable, gather_parts
from sfumato.table.files import file_digest
from sfumato.table.table import no_rows_error
from sfumato.table.table_batches import find_repeated_in_batches

_FILE_ROWS = 1 << 21
"""A file of a release has about so many rows, where the policy says nothing of it."""
_KEYS_OF_BUCKET = 1 << 22
_SEARCHED = 120
"""Bytes of memory that each different row takes on the driver, from the keys to the end of a search."""
_PATIENCE = 20.0
"""Seconds that a session is given to stop."""
_INLINE = 1 << 22
"""Bytes of counted keys that come back through Spark; larger ones go through a file."""


class SparkEngine:
    """Rows that Spark reads: `session` is the one for our jobs, and `folder` is on storage that all workers share."""

    name = "spark"

    def __init__(
        self, session: Any, source: SparkSource, place: Path | None, policy: Policy, folder: Path, memory: int
    ) -> None:
        self.memory = memory
        self.session, self.source, self.policy, self.folder = session, source, policy, folder
        self.place = place
        self.schema, self.warnings = source.reader.schema, source.warnings
        self.coded = tuple(counted_columns(policy))
        self.seed = policy.search.seed
        self._marker = Marker.set_up(folder)
        self._reader = session.sparkContext.broadcast(source.reader)
        with ThreadPoolExecutor(1) as pool:
            digest = pool.submit(file_digest, place) if place is not None else None
            self._values = self._count_values()
            self.digest = digest.result() if digest is not None else None
        self.rows = int(next(iter(self._values.values())).counts.sum())
        self.repeated_identifiers: Mapping[str, float] = {}
        if place is not None:
            found = find_repeated_in_batches(place, policy, rows=self.rows, memory=min(memory, 1 << 30))
            self.repeated_identifiers = found

    def column_values(self) -> Mapping[str, CountedValues]:
        """The values of each coded column, with their counts."""
        return self._values

    def _count_values(self) -> dict[str, CountedValues]:
        task = CountValues(self._marker, self._reader, self.coded)
        with spark_errors():
            found = self._parts().mapInArrow(task, VALUES).groupBy("number", "content", "error").sum("rows").toArrow()
        found = found.combine_chunks()
        told = found.column("error").drop_null()
        if len(told):
            self._raise(told[0].as_py())
        if not found.num_rows:
            raise no_rows_error()
        number = numpy_numbers(_one_chunk(found.column("number")))
        values = {}
        for place, name in enumerate(self.coded):
            chosen = found.filter(arrow_flags(number == place))
            content, counts = (_one_chunk(chosen.column(column)) for column in ("content", "sum(rows)"))
            order = pa.compute.sort_indices(content)  # the same each time
            kind = self.schema.field(name).type
            plain = kind.value_type if pa.types.is_dictionary(kind) else kind
            values[name] = CountedValues(
                bytes_to_values(content.take(order), plain), numpy_numbers(counts.take(order)).astype(np.int64)
            )
        return values

    def count_keys(self, coder: RowCoder) -> KeyCounts:
        """Count the keys of all rows: in each task, then key by key where those of a bucket come together."""
        buckets = min(max(self.rows // _KEYS_OF_BUCKET, 1), 1 << 12)
        shared = self.session.sparkContext.broadcast(coder)
        counting = self._parts().mapInArrow(CountKeys(self._marker, self._reader, shared, buckets), BLOCKS)
        merge = MergeKeys(self._marker, coder.packer.span, str(self.folder), _INLINE)
        found = self._run(counting.repartitionById(buckets, "number"), merge)
        stored = [len(content) if not inline else self._file_size(content) for inline, content in found]
        self._check_memory(coder, sum(stored) // 16, found)
        parts = [read_counts(content if not inline else self._take_file(content)) for inline, content in found]
        shared.destroy()
        keys: IntArray = np.concatenate([part.keys for part in parts])
        counts: IntArray = np.concatenate([part.counts for part in parts])
        order = np.argsort(keys)
        return KeyCounts(keys.take(order), counts.take(order))

    def _check_memory(self, coder: RowCoder, different: int, found: list[tuple[int, Any]]) -> None:
        """Leave so many different rows to tasks where the driver may not use what a search over them takes."""
        needed = different * _SEARCHED
        if needed <= self.memory:
            return
        message = (
            f"{different:,} different rows take about {needed / 1e9:,.1f} GB on the driver, which may use "
            f"{self.memory / 1e9:,.1f} GB; allow more with --memory, or give columns that need not be "
            "quasi-identifiers or sensitive another role"
        )
        if coder.packer.columns < len(coder.columns):  # what is packed so far has to be numbered on the driver
            raise DataError(f"{message}; the columns have too many values for tasks to search")
        files = []
        for is_file, content in found:
            name = content.decode() if is_file else f"keys-{secrets.token_hex(8)}"
            if not is_file:
                (self.folder / name).write_bytes(content)
            files.append(name)
        room = self.memory // _SEARCHED
        stored = StoredKeys(self, self._marker, coder, str(self.folder), tuple(files), different, room)
        raise TooManyLines(message, stored)

    def broadcast(self, value: Any) -> Any:
        """Share a value with all tasks."""
        return self.session.sparkContext.broadcast(value)

    def run_over_keys(self, stored: StoredKeys, task: SparkTask, then: SparkTask | None) -> list[tuple[int, Any]]:
        """Run a task over files of counted keys, and another where blocks of the same number come together."""
        files = len(stored.files)
        frame = self.session.range(0, files, 1, files)
        if then is None:
            return self._run(frame, task)
        return self._run(frame.mapInArrow(task, BLOCKS).repartitionById(files, "number"), then)

    def _file_size(self, name: bytes) -> int:
        return (self.folder / name.decode()).stat().st_size

    def _take_file(self, name: bytes) -> bytes:
        path = self.folder / name.decode()
        content = path.read_bytes()
        path.unlink()
        return content

    def write(self, labeller: RowLabeller, table: PublishedTable, path: Path, policy: Policy) -> WrittenTable:
        """Label all rows, put them into a random order and write them, each file by a task of its own."""
        chosen = TableFormat.of(policy)
        buckets = choose_buckets(self.rows, chosen.rows_per_file)
        context = self.session.sparkContext
        types = {name: self.schema.field(name).type for name in labeller.plain_columns}
        packing = context.broadcast(RowPacking(labeller, types))
        empty = {name: _without_rows(column) for name, column in table.columns.items()}
        shape = context.broadcast(replace(table, order=np.zeros(0, dtype=np.int64), columns=empty, counts=None))
        secret = Randomness(self.seed, "order of rows").words(4).tobytes()
        words = OrderWords.for_table(secret, path.name)
        folder = path.with_name(f".{path.name}-tasks")  # on the disk of the release, so that files need but be renamed
        folder.mkdir()
        try:
            marker = Marker.set_up(folder)
            rows = self._parts().mapInArrow(LabelRows(marker, self._reader, packing, words, buckets), BLOCKS)
            if labeller.entries is not None and labeller.entries.divides:
                groups = choose_buckets(self.rows, None)
                sent = self._parts().mapInArrow(SendDivided(marker, self._reader, packing, words, groups), BLOCKS)
                rank = RankRows(marker, packing, self.schema, buckets)
                rows = rows.union(sent.repartitionById(groups, "number").mapInArrow(rank, BLOCKS))
            write = WriteRows(marker, packing, shape, chosen, str(folder))
            found = [json.loads(content) for _, content in self._run(rows.repartitionById(buckets, "number"), write)]
            files = [WrittenTable(folder / name, sha256) for _, written in found for name, sha256 in written]
            written = self._gather(files, path, policy, chosen, table)
            packing.destroy()  # not where it went wrong: a cluster that is gone would not answer
            shape.destroy()
            return written
        finally:
            _remove(folder)

    def _gather(
        self, files: list[WrittenTable], path: Path, policy: Policy, chosen: TableFormat, table: PublishedTable
    ) -> WrittenTable:
        """Make the files of tasks those of the table; one file alone is the table, unless a folder is asked for."""
        if not files:
            return write_table_pieces([table.cut(0, 0)], path, policy)
        if len(files) == 1 and chosen.rows_per_file is None:
            target = path.with_name(f"{path.name}{chosen.ending}")
            files[0].path.rename(target)
            return WrittenTable(target, files[0].sha256)
        return gather_parts(path, files, chosen.ending)

    def frame_folder(self) -> Path | None:
        """A new folder for files that a DataFrame is read from; they are there as long as the engine."""
        return self.folder / f"frame-{secrets.token_hex(8)}"

    def read_frame(self, path: Path) -> Any:
        """A DataFrame of written Parquet files."""
        with spark_errors():
            return self.session.read.parquet(path.absolute().as_uri())

    def _parts(self) -> Any:
        """The numbers of the parts, one in each task."""
        parts = len(self.source.reader.parts)
        return self.session.range(0, parts, 1, parts)

    def _run(self, frame: Any, task: TaskFunction) -> list[tuple[int, Any]]:
        return run_job(frame, task, BLOCKS, self._explain)

    def _raise(self, told: str) -> None:
        from sfumato.engines.spark_session import raise_told  # noqa: PLC0415 - here alone

        raise_told(told, self._explain)

    def _explain(self, kind: str, message: str) -> Exception | None:
        if kind == "UnseenFile":
            return explain_unseen(self.source, message)
        if kind == "UnsharedFolder":
            return unshared_folder()
        if self.place is not None:  # the reader of whole tables knows the number of a record, and has a sentence
            explain_rows(self.place, self.policy)
        return None


def _stop(session: Any) -> None:
    with suppress(Exception):  # it may have been stopped
        session.stop()


def run_job(
    frame: Any, task: TaskFunction, columns: str, explain: Callable[[str, str], Exception | None] | None = None
) -> list[tuple[int, Any]]:
    """Run a task over a frame and give the blocks that come of it; errors are raised in our words."""
    with spark_errors():
        rows = frame.mapInArrow(task, columns).collect()

    def say(kind: str, message: str) -> Exception | None:
        return unshared_folder() if kind == "UnsharedFolder" else explain(kind, message) if explain else None

    return told_or_content(rows, say)


def unshared_folder() -> InputError:
    """Say that workers are on another disk."""
    return InputError(
        "the workers of the cluster do not see the folder that the release is written to; "
        "choose an --out on storage that all of them share under the same path"
    )


def choose_buckets(rows: int, most: int | None) -> int:
    """Choose how many files a table of so many rows is written to, which get their rows at random.

    Where no file may have more than so many rows, an even share and five standard deviations are less.

    >>> choose_buckets(1000, None), choose_buckets(10_000_000, None), choose_buckets(1000, 500)
    (1, 5, 3)
    """
    if most is None:
        return max(-(-rows // _FILE_ROWS), 1)
    share = ((math.sqrt(25 + 4 * most) - 5) / 2) ** 2
    return max(math.ceil(rows / share), 1) if rows > most else 1


def _one_chunk(column: Any) -> Any:
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


def _without_rows(column: Any) -> Any:
    return PublishedColumn(column.codes[:0], column.values) if isinstance(column, PublishedColumn) else column[:0]


def _remove(folder: Path) -> None:
    """Remove the folder of tasks; one that is late may still write into it."""
    for _ in range(3):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return


def _let_go(session: Any, folder: Any) -> None:
    """Stop the session that was started for an engine, and remove the folder that was made for it."""
    if session is not None:
        stopping = Thread(target=_stop, args=(session,), daemon=True)
        stopping.start()
        stopping.join(_PATIENCE)  # a cluster that is gone does not answer; Java ends with this process at the latest
    if folder is not None:
        folder.cleanup()


def open_spark(
    master: str | None, data: Any, policy: Policy, scratch: Path | None = None, memory: int | None = None
) -> SparkEngine:
    """Have Spark read a table: files, what a URL or a name of a catalog leads to, or a DataFrame.

    `scratch` is a folder on storage that all workers share; without one it is where this machine keeps temporary files,
    which is enough for a master of ``local``. `memory` is how many bytes the driver may use; half of what is free by
    itself.
    """
    frame = data if is_spark_frame(data) else None
    session, started = find_session(master, frame)
    held = None if scratch else TemporaryDirectory(prefix="sfumato-")
    folder = scratch or Path(held.name if held else "")
    try:
        jobs = session_for_jobs(session)
        marker = Marker.set_up(folder)
        source, place = _find_source(data, policy, marker, session, jobs)
        allowed = find_memory_allowed() // 2 if memory is None else memory
        engine = SparkEngine(jobs, source, place, policy, folder, allowed)
    except BaseException:
        _let_go(session if started else None, held)
        raise
    finalize(engine, _let_go, session if started else None, held)  # before the interpreter ends, at the latest
    return engine


def _find_source(data: Any, policy: Policy, marker: Marker, session: Any, jobs: Any) -> tuple[SparkSource, Path | None]:
    """Find out what is read, and how: the files that our readers read, where it is files of this machine."""

    def run(frame: Any, task: TaskFunction, columns: str) -> list[Any]:
        return run_job(frame, task, columns)

    if is_spark_frame(data):
        return spool_frame(data, "the DataFrame", policy, marker, run), None
    place: TablePlace = data
    if isinstance(place, DatabaseUrl):
        if not place.is_storage:
            raise InputError(
                f"{place.name} is a database, which is read by one connection; leave --engine out, or name its files"
            )
        return spool_url(place.text, policy, marker, jobs, run), None
    if not isinstance(place, Path):
        raise DataError(
            f"a {type(data).__name__} is held in memory, and Spark has nothing to do with it; leave --engine out, or "
            "hand in a Spark DataFrame or a path"
        )
    if not place.exists() and place.suffix and (name := catalog_name(place)) and is_catalog_table(session, name):
        return spool_table(name, policy, marker, session, run), None
    return find_file_parts(place, policy, marker, jobs, run), place


def catalog_name(place: Path) -> str | None:
    """The name that a path would be in a catalog, such as ``clinic.visits``; ``None`` where it would be none."""
    parts = place.name.split(".")
    return place.name if 1 < len(parts) <= 3 and all(part.isidentifier() for part in parts) else None


def is_spark_frame(data: Any) -> bool:
    """Tell whether somebody handed in a Spark DataFrame; Spark is not imported to find out."""
    return any(
        base.__module__.startswith("pyspark.sql") and base.__name__ == "DataFrame" for base in type(data).__mro__
    )
