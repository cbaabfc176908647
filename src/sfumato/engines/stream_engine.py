"""The streaming engine: rows on disk, as many at a time in memory as are allowed.

The source is read once, in batches, into random buckets on disk (`row_spool`). Values are told while it is read; keys
are counted bucket by bucket; and in the end each bucket is read once more, labelled, put into a random order, and
written.
What is held in memory is the different rows as far as they are coded, a bucket, and nothing that grows with the rows.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from sfumato.core.arrays import IntArray
from sfumato.core.arrow import arrow_numbers
from sfumato.core.keys import KeyCounts
from sfumato.core.randomness import Randomness
from sfumato.core.tuple_packer import KeyCounter
from sfumato.engines.row_coder import CountedValues, RowCoder
from sfumato.engines.row_labeller import LINE, RANK, RowLabeller, published_piece
from sfumato.engines.row_ranks import RowRanks, RunningRanks, sort_ranks
from sfumato.engines.row_spool import RowSpool, spool_rows
from sfumato.policy import Policy
from sfumato.publish.published_table import PublishedTable
from sfumato.publish.table_writer import write_table_pieces
from sfumato.publish.written_table import WrittenTable
from sfumato.table.table_batches import TableBatches

_BUCKET_SHARE = 32
"""A bucket takes about this part of the memory that is allowed, as it is read: labelled and written it is several."""
_FEWEST_BUCKETS, _MOST_BUCKETS = 1 << 4, 1 << 10
_SORTING = 0.4
"""The share of the memory that rows of divided lines are sorted in."""

Made = TypeVar("Made")


class StreamEngine:
    """Rows in a folder on disk, which belongs to the engine while it lives; nobody else looks into it."""

    name = "stream"

    def __init__(self, spool: RowSpool, batches: TableBatches, folder: Path, seed: int | None, memory: int) -> None:
        self.spool, self.folder, self.seed, self.memory = spool, folder, seed, memory
        self.schema, self.rows, self.warnings = batches.schema, spool.rows, batches.warnings
        self.digest = batches.digest()
        self.repeated_identifiers: Mapping[str, float] = {}

    @classmethod
    def read(  # noqa: PLR0913 - what is read, what of it, and where it goes
        cls,
        batches: TableBatches,
        coded: list[str],
        folder: Path,
        *,
        memory: int,
        size: int,
        seed: int | None = None,
        note: Callable[[int], object] = lambda _: None,
    ) -> "StreamEngine":
        """Read a table of about so many bytes (`size`) into a folder; `coded` are the columns that are counted by.

        `note` is called with the number of rows so far.
        """
        wanted = max(1, _BUCKET_SHARE * size // max(memory, 1))
        buckets = min(max(1 << (wanted - 1).bit_length(), _FEWEST_BUCKETS), _MOST_BUCKETS)
        spool = spool_rows(batches, coded, folder, Randomness(seed, "buckets"), buckets=buckets, note=note)
        return cls(spool, batches, folder, seed, memory)

    def column_values(self) -> Mapping[str, CountedValues]:
        """The values of each coded column, with their counts."""
        return self.spool.values

    def count_keys(self, coder: RowCoder) -> KeyCounts:
        """Count the keys of all rows, bucket by bucket; the next one is read while one is counted."""
        counter, names = KeyCounter(coder.packer.span), [column.name for column in coder.columns]
        for keys in _ahead(lambda number: coder.keys(self.spool.bucket(number, names)), self.spool.buckets):
            counter.add(keys)
        return counter.counted()

    def write(self, labeller: RowLabeller, table: PublishedTable, path: Path, policy: Policy) -> WrittenTable:
        """Label the rows of each bucket, put them into a random order, and write them behind those of the one before.

        The next bucket is labelled while one is written.
        """
        ranks = self._ranks(labeller)
        randomness = Randomness(self.seed, f"order of {path.name}")

        def label(number: int) -> PublishedTable:
            batch = self.spool.bucket(number, labeller.source_columns)
            if ranks is not None:
                line = labeller.lines(batch)
                batch = batch.append_column(LINE, arrow_numbers(line))
                batch = batch.append_column(RANK, arrow_numbers(ranks.ranks(line)))
            labelled = labeller(batch)
            order = randomness.permutation(labelled.num_rows)
            return published_piece(labelled.take(arrow_numbers(order)), table)

        return write_table_pieces(_ahead(label, self.spool.buckets), path, policy)

    def frame_folder(self) -> Path | None:
        """There is no frame of rows on disk."""
        return None

    def read_frame(self, path: Path) -> Any:
        """There is no frame of rows on disk."""
        raise NotImplementedError(path.name)

    def _ranks(self, labeller: RowLabeller) -> RowRanks | None:
        """What ranks the rows of divided lines; nothing where no line is divided."""
        if labeller.entries is None or not labeller.entries.divides:
            return None
        divided = labeller.entries.start >= 0
        if not labeller.plain_columns:
            return RunningRanks(divided)

        def rows(number: int) -> tuple[IntArray, Any]:
            batch = self.spool.bucket(number, labeller.source_columns)
            return labeller.lines(batch), batch

        memory = max(int(self.memory * _SORTING), 1 << 27)
        return sort_ranks(_ahead(rows, self.spool.buckets), divided, labeller.plain_columns, self.folder, memory)


def _ahead(make: Callable[[int], Made], number: int) -> Iterator[Made]:
    """Make a thing for each number below the given one, in order, each while whoever asks works on the one before."""
    with ThreadPoolExecutor(1) as pool:
        coming: Future[Made] | None = pool.submit(make, 0) if number else None
        for place in range(1, number + 1):
            assert coming is not None  # noqa: S101 - there is one as long as there are numbers
            made = coming.result()
            coming = pool.submit(make, place) if place < number else None
            yield made
            del made
