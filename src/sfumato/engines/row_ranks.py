"""Which of the rows of a counted line each row is, where these go different ways.

Rows of one line are sorted by what else is published of them, so that each class gets its share of every value, and
nothing hangs on the order in which they came. Where nothing else is published they are alike, and are numbered as they
come. Else they are sorted on disk by DuckDB, which keeps within the memory that it is allowed.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import duckdb
import numpy as np
import pyarrow as pa

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.arrow import arrow_numbers, numpy_numbers
from sfumato.core.segments import run_starts


class RowRanks(Protocol):
    """Ranks of rows, which are asked for bucket by bucket, in the order of the buckets."""

    def ranks(self, line: IntArray) -> IntArray:
        """The rank of each row of the next bucket among those of its line: int[rows], 0 where that goes one way."""
        ...


class RunningRanks:
    """Rows of a line in the order in which they come, since nothing tells them apart.

    `divided` bool[lines] are the lines whose rows go different ways.

    >>> ranks = RunningRanks(np.array([True, False]))
    >>> ranks.ranks(np.array([0, 1, 0])).tolist(), ranks.ranks(np.array([1, 0])).tolist()
    ([0, 0, 1], [0, 2])
    """

    def __init__(self, divided: BoolArray) -> None:
        self._seen: IntArray = np.where(divided, 0, -1)

    def ranks(self, line: IntArray) -> IntArray:
        """The rank of each row of the next bucket among those of its line."""
        ranks: IntArray = np.zeros(len(line), dtype=np.int64)
        rows = np.flatnonzero(self._seen.take(line) >= 0)
        if not len(rows):
            return ranks
        chosen = line.take(rows)
        order = np.argsort(chosen, kind="stable")
        ordered = chosen.take(order)
        first = run_starts(ordered)
        lengths = np.diff(first, append=len(ordered))
        within = np.arange(len(ordered)) - np.repeat(first, lengths)
        ranks[rows.take(order)] = self._seen.take(ordered) + within
        self._seen[ordered.take(first)] += lengths
        return ranks


class SortedRanks:
    """Rows of a line in the order of their plain columns: ascending, NULL last, the first column first."""

    def __init__(self, ranked: Iterator[IntArray]) -> None:
        self._ranked = ranked

    def ranks(self, line: IntArray) -> IntArray:
        """The rank of each row of the next bucket among those of its line."""
        ranks = next(self._ranked)
        assert len(ranks) == len(line)  # noqa: S101 - buckets are asked for in their order
        return ranks


def sort_ranks(
    buckets: Iterable[tuple[IntArray, Any]],
    divided: BoolArray,
    plain: Sequence[str],
    folder: Path,
    memory: int,
) -> SortedRanks:
    """Sort rows of divided lines: of each bucket the line of each row, and a batch that has the plain columns.

    The sort may take so many bytes of memory, and the rest of the folder's disk.
    """
    connection, sizes = _connect(folder, memory), list[int]()
    names = [f"p{number}" for number in range(len(plain))]

    def rows() -> Iterator[Any]:
        for bucket, (line, batch) in enumerate(buckets):
            sizes.append(len(line))
            chosen = np.flatnonzero(divided.take(line))
            places = arrow_numbers(chosen)
            cells = [sortable_cells(batch.column(name).take(places)) for name in plain]
            number = arrow_numbers(np.full(len(chosen), bucket, dtype=np.int64))
            yield pa.record_batch(
                [number, places, arrow_numbers(line.take(chosen)), *cells], names=["bucket", "place", "line", *names]
            )

    batches = rows()
    first = next(batches)

    def every() -> Iterator[Any]:
        yield first
        yield from batches

    connection.register("divided", pa.RecordBatchReader.from_batches(first.schema, every()))
    order = ", ".join(f"{name} ASC NULLS LAST" for name in names)
    connection.execute(  # names are ours
        "CREATE TABLE ranked AS SELECT bucket, place, row_number() OVER (PARTITION BY line ORDER BY "  # noqa: S608
        f"{order}) - 1 AS rank FROM divided"
    )
    connection.unregister("divided")

    def ranked() -> Iterator[IntArray]:
        try:
            for bucket, size in enumerate(sizes):
                found = connection.sql(f"SELECT place, rank FROM ranked WHERE bucket = {bucket}").to_arrow_table()  # noqa: S608 - a number
                ranks: IntArray = np.zeros(size, dtype=np.int64)
                place, rank = (numpy_numbers(found.column(name).combine_chunks()) for name in ("place", "rank"))
                ranks[place] = rank
                yield ranks
        finally:
            connection.close()

    return SortedRanks(ranked())


def _connect(folder: Path, memory: int) -> duckdb.DuckDBPyConnection:
    """Open a database in a folder, which loads nothing and shows no bar."""
    connection = duckdb.connect(str(folder / "ranks.duckdb"))
    for setting in (
        "autoload_known_extensions = false",
        "autoinstall_known_extensions = false",
        "enable_progress_bar = false",
        "preserve_insertion_order = false",
        f"memory_limit = '{memory}B'",
        f"temp_directory = '{str(folder / 'ranks').replace(chr(39), chr(39) * 2)}'",
    ):
        connection.execute(f"SET {setting}")
    return connection


def sortable_cells(cells: Any) -> Any:
    """Cells of a type that DuckDB sorts as Arrow does."""
    kind = cells.type
    if pa.types.is_dictionary(kind):
        return sortable_cells(cells.dictionary_decode())
    if pa.types.is_temporal(kind):  # their numbers, since some units and durations have no type of their own there
        return cells.cast(pa.int32()).cast(pa.int64()) if kind.bit_width == 32 else cells.cast(pa.int64())
    return cells.cast(pa.string()) if pa.types.is_null(kind) else cells
