"""The seam between rows and the rest: an engine has the rows, and everything else works on what it counts.

A table in memory goes through `release.pipeline.publish` as it is: its rows are the lines of the encoded table. Larger
ones are read by an *engine*, which tells the values of each coded column, counts packed keys, and labels and writes
rows; what lies between, from distinct tuples to a recoding and its figures, is the same code. What an engine does to a
batch of rows is in functions that it is given: `RowCoder` and `RowLabeller`, from record batch to record batch.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from sfumato.core.keys import KeyCounts
from sfumato.engines.row_coder import CountedValues, RowCoder
from sfumato.engines.row_labeller import RowLabeller
from sfumato.errors import DataError
from sfumato.policy import Policy
from sfumato.publish.published_table import PublishedTable
from sfumato.publish.written_table import WrittenTable

ENGINES = ("auto", "memory", "stream", "spark")
"""What holds the rows: memory, the disk, or a cluster; `auto` chooses between the first two by their size."""


class TooManyLines(DataError):
    """The different rows exceed what may be used; their keys, `stored`, are still with whoever counted them."""

    def __init__(self, message: str, stored: Any) -> None:
        super().__init__(message)
        self.stored = stored


class Engine(Protocol):
    """Whoever has the rows of one table.

    `schema` has the columns that are read, with their types in the source; `rows` is how many rows there are, and
    `digest` the SHA-256 of the file that they came from, if they did. `repeated_identifiers` are those that look as if
    they named persons in several rows, with the rows for each value. `warnings` are what the holder of the table
    should know of how it was read.
    """

    name: str
    schema: Any
    rows: int
    digest: str | None
    repeated_identifiers: Mapping[str, float]
    warnings: tuple[str, ...]

    def column_values(self) -> Mapping[str, CountedValues]:
        """The values of each coded column, with their counts."""
        ...

    def count_keys(self, coder: RowCoder) -> KeyCounts:
        """The different keys of all rows, ascending, and the rows of each.

        Raises `TooManyLines` where these are too many for this machine, and tasks can search over them.
        """
        ...

    def write(self, labeller: RowLabeller, table: PublishedTable, path: Path, policy: Policy) -> WrittenTable:
        """Label all rows, put them into a random order and write them, under the path with the ending of the format.

        `table` has the columns and types that are published. Where the labeller's entries divide lines, the engine says
        which of the rows of its line each row is.
        """
        ...

    def frame_folder(self) -> Path | None:
        """A new folder for files that a frame is read from, which is there as long as the engine; or nothing."""
        ...

    def read_frame(self, path: Path) -> Any:
        """A frame of the rows of written Parquet files, under the path of a file or of a folder of parts."""
        ...
