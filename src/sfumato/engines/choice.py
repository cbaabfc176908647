"""Which engine has the rows of a table: memory where they fit into what is allowed, else the disk; or a cluster.

What a table takes in memory is reckoned from its file before any row is read. The reckoning errs on the side of the
disk by little: a table that would have fitted takes no longer there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from stat import S_ISREG
from tempfile import mkdtemp
from typing import Any
from weakref import finalize

from sfumato.core.memory import find_memory_allowed
from sfumato.encode import counted_columns, why_not_counted
from sfumato.engines.engine import ENGINES, Engine
from sfumato.errors import InputError, quote
from sfumato.policy import Policy, Role
from sfumato.policy.database_url import DatabaseUrl, TablePlace
from sfumato.table.several_files import find_files

_ROW, _CODED_CELL = 48, 20
"""Bytes that a row takes in memory at the peak, and each of its coded cells besides: measured on Adult-like rows."""
_PLAIN_CELL = 4
"""Times that a plain cell stands in memory at the peak, as text before and after and in what is put in order."""
_COMPRESSED = 6
"""A compressed file holds about so many times its size."""
_SAMPLE = 1 << 18
_READING = 8
"""What is read at a time takes about this part of the memory."""


@dataclass(frozen=True)
class EngineOptions:
    """Who is to have the rows, how much memory may be taken, and the folder for what does not fit.

    `memory` is in bytes, and by itself half of what is free. Without a `scratch` folder one is made where the system
    keeps temporary files. `master` is the URL of a Spark cluster.
    """

    name: str = "auto"
    memory: int | None = None
    scratch: Path | None = None
    master: str | None = None

    def __post_init__(self) -> None:
        if self.name not in ENGINES:
            raise InputError(f"there is no engine {quote(self.name)}; it is one of {', '.join(ENGINES)}")
        if self.master is not None and self.name != "spark":
            raise InputError("--master is for --engine spark; add that, or leave it out")

    @property
    def allowed(self) -> int:
        """The bytes of memory that may be taken."""
        return find_memory_allowed() // 2 if self.memory is None else self.memory


def choose_engine(options: EngineOptions, place: TablePlace | None, policy: Policy) -> str:
    """Choose who has the rows of the table at a place; frames that somebody hands in are in memory already.

    Raises:
        InputError: an engine was asked for by name that cannot serve the policy.
    """
    if options.name == "memory" or (options.name == "auto" and not isinstance(place, Path)):
        return "memory"
    why = _why_in_memory(policy)
    if options.name == "auto" and isinstance(place, Path):
        return "stream" if why is None and reckon_memory(place, policy) > options.allowed else "memory"
    if why is not None:
        raise InputError(f"--engine {options.name} cannot serve this policy: {why}; use --engine memory")
    return options.name


def _why_in_memory(policy: Policy) -> str | None:
    """Say why the rows of a policy have to be in memory; nothing where they need not."""
    if policy.publish.to is not None:
        return "[publish] to puts rows into a database from memory"
    return why_not_counted(policy)


def reckon_memory(path: Path, policy: Policy) -> int:
    """Reckon how many bytes a table takes in memory: by its rows, and by the text of its plain columns."""
    files = find_files(path) or [path]
    rows, size = 0, 0
    for file in files:
        more_rows, more_bytes = _rows_and_bytes(file)
        rows, size = rows + more_rows, size + more_bytes
    published = [column for column in policy.columns.values() if column.role is not Role.IDENTIFIER]
    coded = len(counted_columns(policy))
    plain = sum(column.role is Role.PLAIN for column in published)
    share = plain / max(len(policy.columns), 1)
    return int(rows * (_ROW + _CODED_CELL * coded) + size * share * _PLAIN_CELL)


def _rows_and_bytes(file: Path) -> tuple[int, int]:
    """About how many rows a file has, and bytes of text; nothing where it cannot be read, which reading tells."""
    try:
        found = file.stat()
        size = found.st_size
        if not S_ISREG(found.st_mode):  # a pipe would wait for somebody to write into it
            return 0, 0
        with file.open("rb") as opened:
            head = opened.read(_SAMPLE)
    except OSError:
        return 0, 0
    if head.startswith(b"PAR1"):
        return _parquet_rows(file)
    if head[:4] in {b"\x28\xb5\x2f\xfd", b"PK\x03\x04"} or head[:2] == b"\x1f\x8b":
        return size * _COMPRESSED // 64, size * _COMPRESSED
    lines = head.count(b"\n")
    return int(size / (len(head) / max(lines, 1))) if head else 0, size


def _parquet_rows(file: Path) -> tuple[int, int]:
    import pyarrow as pa  # noqa: PLC0415 - only where a Parquet file is looked at
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    try:
        metadata = pq.read_metadata(file)
    except (pa.ArrowException, OSError):
        return 0, 0  # reading says what is wrong with it
    return metadata.num_rows, sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))


def open_engine(
    options: EngineOptions,
    name: str,
    data: Any,
    policy: Policy,
    note: Callable[[int], object] = lambda _: None,
) -> Engine:
    """Read a table (the place of one, or a frame) into the engine of this name.

    `note` is called with the number of rows so far. What is on disk is gone when the engine is, or with the options'
    `scratch` folder, which whoever made it removes.
    """
    if name == "spark":
        from sfumato.engines.spark_engine import open_spark  # noqa: PLC0415 - PySpark is an extra

        spark: Engine = open_spark(options.master, data, policy, options.scratch, options.allowed)
        return spark
    from sfumato.engines.stream_engine import StreamEngine  # noqa: PLC0415 - only where a table does not fit
    from sfumato.table.table_batches import find_repeated_in_batches, open_batches  # noqa: PLC0415 - as above

    folder = options.scratch or Path(mkdtemp(prefix="sfumato-"))
    try:
        with open_batches(data, policy, memory=options.allowed // _READING) as batches:
            engine = StreamEngine.read(
                batches,
                counted_columns(policy),
                folder,
                memory=options.allowed,
                size=reckon_memory(data, policy) if isinstance(data, Path) else 0,
                seed=policy.search.seed,
                note=note,
            )
    except BaseException:
        if options.scratch is None:
            rmtree(folder, ignore_errors=True)
        raise
    if isinstance(data, Path | DatabaseUrl):
        memory = options.allowed // _READING
        engine.repeated_identifiers = find_repeated_in_batches(data, policy, rows=engine.rows, memory=memory)
    if options.scratch is None:
        finalize(engine, rmtree, folder, ignore_errors=True)
    return engine
