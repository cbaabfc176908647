"""What runs in the tasks of a Spark job: functions that can be pickled, from Arrow batches to Arrow batches.

Spark moves *blocks*: a number, which says where a block goes or which part of the source it is of, and bytes that Spark
never looks into. So every type travels exactly, and nothing is counted, compared or sorted but by our own code. Rows
stay in the order that is drawn for them wherever they are worked out again: their order words are a keyed hash of where
they stand in the source, whose key is secret, so that a task that is run a second time gives the same blocks.

What goes wrong with a table comes back as a block with a sentence, so that no library's message, and no cell in one,
gets into the log of a cluster. What another try may mend (a disk, memory) is raised, by its kind alone.
"""

import hashlib
import json
import os
import secrets
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray
from pyarrow import ipc

from sfumato.core.arrays import IntArray
from sfumato.core.arrow import arrow_numbers, numpy_numbers
from sfumato.core.keys import KeyCounts, mix_bits
from sfumato.core.segments import run_starts
from sfumato.core.tuple_packer import KeyCounter
from sfumato.engines.row_coder import RowCoder
from sfumato.engines.row_labeller import LINE, RANK, ColumnLabels, RowLabeller
from sfumato.engines.row_ranks import sortable_cells
from sfumato.engines.row_spool import GrowingValues
from sfumato.errors import SfumatoError, is_lack_of_memory
from sfumato.policy import Policy
from sfumato.publish.published_column import PublishedColumn
from sfumato.publish.published_table import PublishedTable
from sfumato.publish.table_writer import TableFormat
from sfumato.table.batch_source import LongRecord, PartSize
from sfumato.table.columnar_parts import ParquetGroups
from sfumato.table.csv_blocks import CsvBlocks, OpenQuote, cut_records
from sfumato.table.table import cast_text_views, check_calendar
from sfumato.table.table_batches import open_batches, settle_part

BLOCKS = "number int, content binary, error string"
"""The columns of blocks in Spark: where one goes, its bytes, and in place of them what went wrong."""
VALUES = "number int, content binary, rows bigint, error string"
"""The same for values of columns: the column, the value (NULL for NULL), and how often it came."""
WORD = "$word"
"""The column of order words beside published ones."""
_ROWS_AT_ONCE = 1 << 21
"""Published rows of a task that are put into blocks together."""
_BATCH_BYTES, _BATCH_BLOCKS = 1 << 22, 64
_TASK_MEMORY = 1 << 30
"""Parts of a table are cut for tasks that may take about so much memory."""
_SPOOLED_ROWS = 1 << 18
_SALT = 0x5F
"""Keys are spread over tasks by a hash; no secret, since nobody outside sees it."""

Block = tuple[int, Any]


class Shared(Protocol):
    """What all tasks share: a broadcast variable of Spark, or what stands for one."""

    @property
    def value(self) -> Any:
        """What is shared."""
        ...


class TaskFailed(Exception):
    """A task that another try may mend; its text is a kind of trouble and nothing of a table."""


class _ErrorBefore(Exception):
    """An error that came as a block from an earlier task."""


@dataclass(frozen=True)
class Marker:
    """A file of the driver in the folder that all tasks write to: who does not see it works on another disk."""

    path: str
    token: str

    @classmethod
    def set_up(cls, folder: Path) -> "Marker":
        """Write it."""
        marker = cls(str(folder / ".marker"), secrets.token_hex(8))
        Path(marker.path).write_text(marker.token, encoding="ascii")
        return marker

    def check(self) -> None:
        """Refuse a folder that is not the driver's."""
        try:
            found = Path(self.path).read_text(encoding="ascii")
        except OSError:
            found = ""
        if found != self.token:
            raise UnsharedFolder


class UnsharedFolder(SfumatoError):
    """A task does not see the folder of the driver."""


class UnseenFile(SfumatoError):
    """A task does not see a file of the source as the driver saw it; its text is the place among the parts."""


@dataclass(frozen=True)
class SparkTask:
    """A task: it takes blocks and gives blocks. `marker` is that of the folder it writes to or reads from."""

    marker: Marker

    def blocks(self, coming: Iterator[Block]) -> Iterator[Block]:
        """Do the work."""
        raise NotImplementedError

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Run as Spark wants it: from record batches of blocks to such batches."""
        try:
            self.marker.check()
            yield from _pack_blocks(self.blocks(_unpack_blocks(batches)))
        except Exception as error:  # noqa: BLE001 - told without its text, see above
            yield _error_batch(error)


def _unpack_blocks(batches: Iterable[Any]) -> Iterator[Block]:
    for batch in batches:
        if batch.num_columns == 1:  # numbers alone
            yield from ((number, None) for number in batch.column(0).to_pylist())
            continue
        for number, content, error in zip(*batch.columns, strict=True):
            if error.is_valid:
                raise _ErrorBefore(error.as_py())
            yield number.as_py(), content.as_buffer()


def _pack_blocks(blocks: Iterable[Block]) -> Iterator[Any]:
    """Put blocks into record batches, several small ones into one."""
    waiting: list[Block] = []
    size = 0
    for block in blocks:
        waiting.append(block)
        size += len(block[1])
        if size >= _BATCH_BYTES or len(waiting) >= _BATCH_BLOCKS:
            yield _block_batch(waiting)
            waiting, size = [], 0
    if waiting:
        yield _block_batch(waiting)


def _block_batch(blocks: list[Block]) -> Any:
    numbers = np.array([number for number, _ in blocks], dtype=np.int32)
    ends = np.cumsum([0, *(len(content) for _, content in blocks)]).astype(np.int32)
    joined = blocks[0][1] if len(blocks) == 1 else b"".join(memoryview(content) for _, content in blocks)
    content = pa.Array.from_buffers(pa.binary(), len(blocks), [None, pa.py_buffer(ends), pa.py_buffer(joined)])
    errors = pa.nulls(len(blocks), pa.string())
    return pa.record_batch([arrow_numbers(numbers), content, errors], names=["number", "content", "error"])


def describe_error(error: Exception) -> str:
    """Put an error into words for the driver: our own with its sentence, any other by its kind and where it was raised.

    >>> describe_error(ValueError("a cell"))
    '{"kind": "ValueError", "message": ""}'
    """
    if isinstance(error, _ErrorBefore):
        return str(error)
    if isinstance(error, SfumatoError):
        return json.dumps({"kind": type(error).__name__, "message": str(error)})
    at, trace = "", error.__traceback__
    while trace is not None:
        at, trace = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}", trace.tb_next
    return json.dumps({"kind": type(error).__name__, "message": at})


def _error_batch(error: Exception) -> Any:
    """An error as a batch with one block; what may be mended by another try is raised."""
    if is_lack_of_memory(error):
        raise TaskFailed("sfumato-task:memory") from None
    if isinstance(error, OSError) and not isinstance(error, pa.ArrowException):
        raise TaskFailed(f"sfumato-task:errno {error.errno or 0}") from None
    numbers, content = arrow_numbers(np.zeros(1, dtype=np.int32)), pa.nulls(1, pa.binary())
    columns = [numbers, content, pa.array([describe_error(error)], pa.string())]
    return pa.record_batch(columns, names=["number", "content", "error"])


# Rows of the source, part by part.


@dataclass(frozen=True)
class TablePart:
    """A part of a table that one task reads: a file, whole, or from `start` to `stop`.

    `kind` is ``csv`` (from byte to byte), ``parquet`` (from row group to row group), ``spool`` (what an earlier job
    wrote) or ``file`` (any other, as a whole). `state` is the size and the time of the file when the driver saw it.
    """

    file: str
    kind: str
    state: tuple[int, int]
    start: int = 0
    stop: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class PartReader:
    """Reads parts of a table: the columns of `schema`, in its types, text as text or as codes of a dictionary.

    `policy` says how files are read and what role each column has, and nothing else.
    """

    parts: tuple[TablePart, ...]
    policy: Policy
    schema: Any

    def batches(self, number: int) -> Iterator[Any]:
        """Read a part, in the same batches each time; a file that is not as the driver saw it is refused."""
        part = self.parts[number]
        if part.state != file_state(Path(part.file)):
            raise UnseenFile(str(number))
        rows = self._spooled(part) if part.kind == "spool" else self._tables(part)
        for batch in rows:
            columns = [_cast(batch.column(field.name), field) for field in self.schema]
            yield pa.record_batch(columns, names=self.schema.names)
        if part.state != file_state(Path(part.file)):
            raise UnseenFile(str(number))

    def _tables(self, part: TablePart) -> Iterator[Any]:
        path, size = Path(part.file), PartSize.within(_TASK_MEMORY)
        if part.kind == "file":
            with open_batches(path, self.policy, memory=_TASK_MEMORY) as batches:
                yield from batches
            return
        source = CsvBlocks(path, self.policy.source, size) if part.kind == "csv" else None
        groups = ParquetGroups(path, self.policy.source, size) if source is None else None
        if source is not None:
            source.choose(self.policy, self.schema.names)
            pieces = source.range_parts(part.start, part.stop)
        else:
            assert groups is not None  # noqa: S101 - one of the two; this tells the type checker
            groups.choose(self.policy, self.schema.names)
            pieces = groups.parts(range(part.start, part.stop))
        with closing(pieces):
            for piece in pieces:
                yield from settle_part(piece, size.rows)

    def _spooled(self, part: TablePart) -> Iterator[Any]:
        with pa.OSFile(part.file) as file, ipc.open_stream(file) as opened:
            for batch in opened:
                yield batch.rename_columns(self.schema.names)


def file_state(path: Path) -> tuple[int, int]:
    """The size of a file, and when it was changed; nothing that is equal to any where it is not to be seen."""
    try:
        found = path.stat()
    except OSError:
        return -1, -1
    return found.st_size, found.st_mtime_ns


def _cast(cells: Any, field: Any) -> Any:
    """Cells in the type that all files of a table have in common; text may stand as codes."""
    kind = cells.type
    if kind == field.type or (pa.types.is_dictionary(kind) and kind.value_type == field.type):
        return cells
    plain = cells.dictionary_decode() if pa.types.is_dictionary(kind) else cells
    return plain if plain.type == field.type else plain.cast(field.type)


@dataclass(frozen=True)
class CutFiles(SparkTask):
    """Finds out where CSV files may be cut: of each range, its quotes and where the first line in it begins.

    `ranges` are a file, where a range starts, and where it stops.
    """

    ranges: tuple[tuple[str, int, int], ...]

    def blocks(self, coming: Iterator[Block]) -> Iterator[Block]:
        """Look at a range."""
        for number, _ in coming:
            file, start, stop = self.ranges[number]
            with Path(file).open("rb") as opened:
                opened.seek(max(start - 1, 0))
                cut, quotes = 0 if start == 0 else -1, 0
                while opened.tell() < stop and (piece := opened.read(min(1 << 22, stop - opened.tell()))):
                    quotes += piece.count(b'"')
                    if cut < 0 and (found := piece.find(b"\n") + 1):
                        cut = opened.tell() - len(piece) + found
            yield 0, json.dumps([number, quotes, cut]).encode()


@dataclass(frozen=True)
class CutQuoted(SparkTask):
    """Cuts CSV files that have quotes, each from its beginning, into parts of some `size` bytes."""

    files: tuple[tuple[str, str], ...]
    size: int

    def blocks(self, coming: Iterator[Block]) -> Iterator[Block]:
        """Cut a file; ``None`` in place of places where it is no CSV, which whoever reads it says."""
        for number, _ in coming:
            file, separator = self.files[number]
            places: list[int] | None = None
            try:
                with Path(file).open("rb") as opened:
                    end = len(BOM_UTF8) if opened.read(len(BOM_UTF8)) == BOM_UTF8 else 0  # which is in no block
                    opened.seek(0)
                    cuts = [0]
                    for block in cut_records(opened.read, separator.encode(), min(self.size, 1 << 24)):
                        end += len(block)
                        if end - cuts[-1] >= self.size:
                            cuts.append(end)
                places = cuts
            except (OpenQuote, LongRecord):
                pass
            yield 0, json.dumps([number, places]).encode()


@dataclass(frozen=True)
class SpoolRows:
    """Writes rows of a DataFrame, whatever it is worked out from, into files that can be read time and again.

    Takes record batches of the DataFrame; `names` are those of the columns in the files, and `coded` tells which have
    few values. Gives a block with the name of each file and its rows.
    """

    marker: Marker
    folder: str
    coded: tuple[bool, ...]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Run as Spark wants it."""
        try:
            self.marker.check()
            yield from _pack_blocks(self._write(batches))
        except Exception as error:  # noqa: BLE001 - told without its text
            yield _error_batch(error)

    def _write(self, batches: Iterable[Any]) -> Iterator[Block]:
        path = Path(self.folder, f"rows-{secrets.token_hex(8)}.arrow")
        rows = 0
        with pa.OSFile(str(path), "wb") as file:
            writer = None
            for table in _larger_tables(batches):
                found = self._settled(table)
                if writer is None:
                    writer = ipc.new_stream(file, found.schema)
                writer.write_batch(found)
                rows += found.num_rows
            if writer is not None:
                writer.close()
        if rows:
            yield 0, json.dumps([path.name, rows]).encode()
        else:
            path.unlink()

    def _settled(self, table: Any) -> Any:
        table = cast_text_views(table.replace_schema_metadata())
        check_calendar(table)
        names = [f"c{place}" for place in range(table.num_columns)]
        columns = [
            cells.dictionary_encode() if coded and _is_text(cells.type) else cells
            for cells, coded in zip(table.combine_chunks().to_batches()[0].columns, self.coded, strict=True)
        ]
        return pa.record_batch(columns, names=names)


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _larger_tables(batches: Iterable[Any]) -> Iterator[Any]:
    """Put small batches together."""
    waiting: list[Any] = []
    rows = 0
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
            rows += batch.num_rows
        if rows >= _SPOOLED_ROWS:
            yield pa.Table.from_batches(waiting)
            waiting, rows = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


@dataclass(frozen=True)
class SpoolFiles:
    """Writes rows of files of any format that Spark fetched, each as a whole, as `SpoolRows` does of a DataFrame.

    `policy` says how they are read; the columns of `schema` are written. Takes the name and the bytes of each file.
    """

    marker: Marker
    folder: str
    policy: Policy
    schema: Any
    coded: tuple[bool, ...]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Run as Spark wants it."""
        spool = SpoolRows(self.marker, self.folder, self.coded)
        yield from spool(self._rows(batches))

    def _rows(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for name, content in zip(*batch.columns, strict=True):
                with held_file(name.as_py(), content.as_buffer()) as path:
                    yield from self._of_file(path)

    def _of_file(self, path: Path) -> Iterator[Any]:
        with open_batches(path, self.policy, memory=_TASK_MEMORY) as opened:
            for batch in opened:
                columns = [_cast(batch.column(field.name), field) for field in self.schema]
                plain = [one.dictionary_decode() if pa.types.is_dictionary(one.type) else one for one in columns]
                yield pa.record_batch(plain, names=self.schema.names)


@contextmanager
def held_file(name: str, content: Any) -> Iterator[Path]:
    """Hold a file with this name and content, in a folder of its own that is gone with the block."""
    with TemporaryDirectory(prefix="sfumato-") as folder:
        path = Path(folder, Path(name).name)
        path.write_bytes(content)
        yield path


@dataclass(frozen=True)
class PartTask(SparkTask):
    """A task that reads parts of the table, whose numbers come as blocks."""

    reader: Shared

    def read(self, coming: Iterator[Block]) -> Iterator[tuple[int, Any]]:
        """Read the rows of parts, with the number of the part."""
        for number, _ in coming:
            for batch in self.reader.value.batches(number):
                yield number, batch


# Counting.


@dataclass(frozen=True)
class CountValues(PartTask):
    """Counts the values of the coded columns; each comes as its bytes, once per task."""

    coded: tuple[str, ...]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Run as Spark wants it; the batches that it gives are those of `VALUES`."""
        try:
            self.marker.check()
            found = {name: GrowingValues() for name in self.coded}
            for _, batch in self.read(_unpack_blocks(batches)):
                for name, column in found.items():
                    column.codes(batch.column(name))
            for place, column in enumerate(found.values()):
                if column.known is not None:
                    yield _value_batch(place, column.found())
        except Exception as error:  # noqa: BLE001 - told without its text
            numbers, content, errors = _error_batch(error).columns
            rows = arrow_numbers(np.zeros(1, dtype=np.int64))
            yield pa.record_batch([numbers, content, rows, errors], names=["number", "content", "rows", "error"])


def _value_batch(place: int, found: Any) -> Any:
    numbers = arrow_numbers(np.full(len(found.values), place, dtype=np.int32))
    errors = pa.nulls(len(found.values), pa.string())
    columns = [numbers, value_bytes(found.values), arrow_numbers(found.counts.astype(np.int64)), errors]
    return pa.record_batch(columns, names=["number", "content", "rows", "error"])


def value_bytes(values: Any) -> Any:
    r"""Write each value of an array as its bytes, NULL as NULL; `bytes_to_values` reads them.

    >>> value_bytes(pa.array([1, None], pa.int16())).to_pylist()
    [b'\x01\x00', None]
    """
    kind = values.type
    if _is_text(kind):
        return values.cast(pa.large_string()).cast(pa.large_binary()).cast(pa.binary())
    if pa.types.is_null(kind):
        return pa.nulls(len(values), pa.binary())
    if pa.types.is_boolean(kind):
        values, kind = values.cast(pa.uint8()), pa.uint8()
    whole = pa.concat_arrays([values.slice(0, 0), values])  # without an offset
    width = kind.bit_width // 8
    return pa.Array.from_buffers(pa.binary(width), len(whole), [*whole.buffers()], offset=whole.offset).cast(
        pa.binary()
    )


def bytes_to_values(content: Any, kind: Any) -> Any:
    """Read values of a type that were written as their bytes.

    >>> bytes_to_values(value_bytes(pa.array([-0.0, None])), pa.float64()).to_pylist()
    [-0.0, None]
    """
    if _is_text(kind):
        return content.cast(pa.large_binary()).cast(pa.large_string()).cast(kind)
    if pa.types.is_null(kind):
        return pa.nulls(len(content))
    stored = pa.uint8() if pa.types.is_boolean(kind) else kind
    fixed = content.cast(pa.binary(stored.bit_width // 8))
    values = pa.Array.from_buffers(stored, len(fixed), [*fixed.buffers()], offset=fixed.offset)
    return values.cast(pa.bool_()) if pa.types.is_boolean(kind) else values


@dataclass(frozen=True)
class CountKeys(PartTask):
    """Counts keys in a task, and spreads what it found over `buckets` by a hash."""

    coder: Shared
    buckets: int

    def blocks(self, coming: Iterator[Block]) -> Iterator[Block]:
        """Count."""
        coder: RowCoder = self.coder.value
        counter = KeyCounter(coder.packer.span)
        for _, batch in self.read(coming):
            counter.add(coder.keys(batch))
        counted = counter.counted()
        bucket = mix_bits(counted.keys, _SALT) % np.uint64(self.buckets)
        order = np.argsort(bucket, kind="stable")
        keys, counts, sorted_buckets = counted.keys.take(order), counted.counts.take(order), bucket.take(order)
        starts = run_starts(sorted_buckets)
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(keys)], strict=True):
            yield int(sorted_buckets[start]), write_counts(KeyCounts(keys[start:end], counts[start:end]))


def write_counts(counted: KeyCounts) -> bytes:
    """Write keys and their counts as bytes."""
    return np.concatenate([counted.keys.astype("<i8"), counted.counts.astype("<i8")]).tobytes()


def read_counts(content: Any) -> KeyCounts:
    """Read what `write_counts` wrote.

    >>> read_counts(write_counts(KeyCounts(np.array([5, 7]), np.array([1, 2])))).counts.tolist()
    [1, 2]
    """
    words = np.frombuffer(content, dtype="<i8").astype(np.int64)
    return KeyCounts(words[: len(words) // 2], words[len(words) // 2 :])


@dataclass(frozen=True)
class MergeKeys(SparkTask):
    """Adds up the keys of a bucket that all tasks found; large ones go into a file of the shared folder."""

    span: int
    folder: str
    inline: int

    def blocks(self, coming: Iterator[Block]) -> Iterator[Block]:
        """Add up; gives a block with the number of keys first, and their counts or the name of the file behind."""
        counter = KeyCounter(self.span)
        for _, content in coming:
            counter.merge(read_counts(content))
        counted = counter.counted()
        if not len(counted.keys):
            return
        content = write_counts(counted)
        if len(content) <= self.inline:
            yield 0, content
            return
        path = Path(self.folder, f"keys-{secrets.token_hex(8)}")
        path.write_bytes(content)
        yield 1, path.name.encode()


# Labelling, shuffling, writing.


@dataclass(frozen=True)
class OrderWords:
    """The order words of rows: a keyed hash of where a row stands, so that they are the same whenever it is worked out.

    The hash is AES in counter mode; `key` is 32 secret bytes.

    >>> words = OrderWords(bytes(32))
    >>> bool((words.of(3, 1, 4)[:2] == words.of(3, 1, 2)).all()), bool((words.of(3, 1, 2) == words.of(3, 2, 2)).any())
    (True, False)
    """

    key: bytes

    @classmethod
    def for_table(cls, secret: bytes, name: str) -> "OrderWords":
        """Make those of a table of a release: each table has an order of its own."""
        return cls(hashlib.blake2b(name.encode(), key=secret, digest_size=32).digest())

    def of(self, part: int, batch: int, rows: int) -> NDArray[np.uint64]:
        """The words of the rows of a batch of a part: uint64[rows]."""
        start = part.to_bytes(6, "big") + batch.to_bytes(6, "big") + bytes(4)  # 2^32 blocks for each batch
        stream = Cipher(algorithms.AES256(self.key), modes.CTR(start)).encryptor()
        return np.frombuffer(stream.update(bytes(8 * rows)), dtype=np.uint64)


@dataclass(frozen=True, eq=False, repr=False)
class RowPacking:
    """Published rows as they travel: coded columns by their narrow codes, plain ones as they are, and the order word.

    `labeller` says what the codes mean. `types` are those of the plain columns.
    """

    labeller: RowLabeller
    types: Mapping[str, Any]

    @cached_property
    def schema(self) -> Any:
        """The columns of packed rows."""
        fields = [
            (column, self.types[column])
            if isinstance(column, str)
            else (column.name, column.values.type if column.plain else pa.from_numpy_dtype(column.lookup.dtype))
            for column in self.labeller.columns
        ]
        return pa.schema([*fields, (WORD, pa.uint64())])

    def pack(self, labelled: Any, words: NDArray[np.uint64]) -> Any:
        """Pack the rows of a batch that was labelled."""
        cells = [
            one.indices.cast(field.type) if self._is_coded(place) else _cast(one, field)
            for place, (one, field) in enumerate(zip(labelled.columns, list(self.schema)[:-1], strict=True))
        ]
        decoded = [one.dictionary_decode() if pa.types.is_dictionary(one.type) else one for one in cells]
        return pa.record_batch([*decoded, arrow_numbers(words)], schema=self.schema)

    def publish(self, packed: Any, table: PublishedTable) -> PublishedTable:
        """Make a piece of the published table of packed rows."""
        columns: dict[str, Any] = {}
        for place, column in enumerate(self.labeller.columns):
            cells = packed.column(place)
            if isinstance(column, ColumnLabels) and not column.plain:
                columns[column.name] = PublishedColumn(numpy_numbers(cells), column.values)
            else:
                columns[column if isinstance(column, str) else column.name] = cells
        return replace(table, order=np.arange(packed.num_rows), columns=columns, counts=None)

    def _is_coded(self, place: int) -> bool:
        column = self.labeller.columns[place]
        return isinstance(column, ColumnLabels) and not column.plain


@dataclass(frozen=True)
class LabelRows(PartTask):
    """Labels rows and sends each to the bucket that its order word says.

    Rows of divided lines are left to `SendDivided` and `RankRows`.
    """

    packing: Shared
    words: OrderWords
    buckets: int

    def blocks(self, coming: Iterator[Block]) -> Iterator[Block]:
        """Label."""
        packing: RowPacking = self.packing.value
        yield from spread_rows(self._packed(packing, coming), self.buckets)

    def _packed(self, packing: RowPacking, coming: Iterator[Block]) -> Iterator[Any]:
        labeller = packing.labeller
        for part, number, batch in _numbered(self.read(coming)):
            rows, words = batch.select(labeller.source_columns), self.words.of(part, number, batch.num_rows)
            if _divides(labeller):
                line = labeller.lines(rows)
                straight = np.flatnonzero(labeller.entries.start.take(line) < 0)  # type: ignore[union-attr]
                rows, words = _with_ranks(rows, line, np.zeros_like(line), straight), words.take(straight)
            yield _label(packing, rows, words)


def _divides(labeller: RowLabeller) -> bool:
    return labeller.entries is not None and labeller.entries.divides


def _numbered(read: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, int, Any]]:
    """Number the batches of each part."""
    last, number = -1, 0
    for part, batch in read:
        number = number + 1 if part == last else 0
        last = part
        yield part, number, batch


def _with_ranks(rows: Any, line: IntArray, rank: IntArray, chosen: IntArray) -> Any:
    """Some of the rows, with their lines and ranks."""
    rows = rows.append_column(LINE, arrow_numbers(line)).append_column(RANK, arrow_numbers(rank))
    return rows.take(arrow_numbers(chosen))


def _label(packing: RowPacking, rows: Any, words: NDArray[np.uint64]) -> Any:
    """Label rows, and pack those that are published with as many of the words."""
    labelled = packing.labeller(rows)
    return packing.pack(labelled, words[: labelled.num_rows])


def spread_rows(packed: Iterable[Any], buckets: int) -> Iterator[Block]:
    """Put packed rows into blocks, one for each bucket that has some; the first bits of the word are the bucket."""
    waiting: list[Any] = []
    rows = 0
    for batch in packed:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= _ROWS_AT_ONCE:
            yield from _spread(_joined(waiting), buckets)
            waiting, rows = [], 0
    if rows:
        yield from _spread(_joined(waiting), buckets)


def _joined(batches: list[Any]) -> Any:
    if len(batches) == 1:
        return batches[0]
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def _spread(packed: Any, buckets: int) -> Iterator[Block]:
    words = numpy_numbers(packed.column(WORD))
    bucket = (((words >> np.uint64(32)) * np.uint64(buckets)) >> np.uint64(32)).astype(np.min_scalar_type(buckets))
    yield from _blocks_of(packed, bucket)


def _blocks_of(batch: Any, bucket: NDArray[Any]) -> Iterator[Block]:
    """The rows of a batch as one block for each bucket, the bytes of a record batch without its schema."""
    order = np.argsort(bucket, kind="stable")
    ordered, numbers = batch.take(arrow_numbers(order)), bucket.take(order)
    starts = run_starts(numbers)
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(numbers)], strict=True):
        yield int(numbers[start]), ordered.slice(start, end - start).serialize()


def _read_rows(blocks: Iterable[Block], schema: Any) -> Any:
    """Read blocks of rows; ``None`` where there is none."""
    batches = [ipc.read_record_batch(content, schema) for _, content in blocks]
    return _joined(batches) if batches else None


@dataclass(frozen=True)
class SendDivided(PartTask):
    """Sends the rows of divided lines, with their order words, to where those of a line come together."""

    packing: Shared
    words: OrderWords
    buckets: int

    def blocks(self, coming: Iterator[Block]) -> Iterator[Block]:
        """Send."""
        labeller: RowLabeller = self.packing.value.labeller
        schema = divided_schema(self.packing.value, self.reader.value.schema)
        for part, number, batch in _numbered(self.read(coming)):
            rows, words = batch.select(labeller.source_columns), self.words.of(part, number, batch.num_rows)
            line = labeller.lines(rows)
            chosen = np.flatnonzero(labeller.entries.start.take(line) >= 0)  # type: ignore[union-attr]
            if not len(chosen):
                continue
            cells = [_plain_cells(column) for column in rows.take(arrow_numbers(chosen)).columns]
            line = line.take(chosen)
            sent = pa.record_batch([*cells, arrow_numbers(line), arrow_numbers(words.take(chosen))], schema=schema)
            yield from _blocks_of(sent, (mix_bits(line, _SALT) % np.uint64(self.buckets)).astype(np.int64))


def divided_schema(packing: RowPacking, schema: Any) -> Any:
    """The columns of rows of divided lines on their way."""
    fields = [(name, schema.field(name).type) for name in packing.labeller.source_columns]
    return pa.schema([*fields, (LINE, pa.int64()), (WORD, pa.uint64())])


def _plain_cells(cells: Any) -> Any:
    return cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells


@dataclass(frozen=True)
class RankRows(SparkTask):
    """Ranks the rows of divided lines by their plain columns, labels them and sends them on as `LabelRows` does.

    Rows that nothing tells apart are ranked by their order words, so that it is the same each time.
    """

    packing: Shared
    source: Any
    buckets: int

    def blocks(self, coming: Iterator[Block]) -> Iterator[Block]:
        """Rank and label."""
        packing: RowPacking = self.packing.value
        rows = _read_rows(coming, divided_schema(packing, self.source))
        if rows is None:
            return
        plain = packing.labeller.plain_columns
        names = [f"p{place}" for place in range(len(plain))]
        cells = [sortable_cells(rows.column(name)) for name in plain]
        table = pa.table([rows.column(LINE), *cells, rows.column(WORD)], names=["line", *names, "word"])
        keys = [(name, "ascending") for name in table.column_names]
        order = numpy_numbers(pc.sort_indices(table, sort_keys=keys)).astype(np.int64)
        rows = rows.take(arrow_numbers(order))  # blocks come in any order, and what follows goes by this one
        line = numpy_numbers(rows.column(LINE))
        starts = run_starts(line)
        rank = np.arange(len(line)) - np.repeat(starts, np.diff(starts, append=len(line)))
        source = rows.select([*packing.labeller.source_columns, LINE]).append_column(RANK, arrow_numbers(rank))
        yield from spread_rows([_label(packing, source, numpy_numbers(rows.column(WORD)))], self.buckets)


@dataclass(frozen=True)
class WriteRows(SparkTask):
    """Puts the rows of a bucket into the order of their words and writes them into files of its own.

    Gives a block with the folder below `folder`, and the files in it with their hashes. Another try of the same task
    writes into another folder, and whoever asked takes the one that it was told of.
    """

    packing: Shared
    table: Shared
    format: TableFormat
    folder: str

    def blocks(self, coming: Iterator[Block]) -> Iterator[Block]:
        """Write."""
        packing: RowPacking = self.packing.value
        rows = _read_rows(coming, packing.schema)
        if rows is None:
            return
        order = np.argsort(numpy_numbers(rows.column(WORD)), kind="stable")
        piece = packing.publish(rows.take(arrow_numbers(order)), self.table.value)
        folder = Path(self.folder, f"task-{secrets.token_hex(8)}")
        folder.mkdir()
        written = self.format.write([piece], folder / "rows")
        files = [[str(one.path.relative_to(self.folder)), one.sha256] for one in written.files]
        for one in written.files:
            _flush(one.path)
        yield 0, json.dumps([int(order.size), files]).encode()


def _flush(path: Path) -> None:
    """Wait until a file is on its disk, so that others see it there."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


TaskFunction = Callable[[Iterable[Any]], Iterator[Any]]
