"""Parquet and Feather in parts: row groups and record batches, and pieces of those that are large."""

from collections.abc import Generator, Iterator, Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from sfumato.policy import DataSource, Policy, Role
from sfumato.table.batch_source import BatchSource, Part, PartSize, choose_fields, rows_at_hand
from sfumato.table.table import TableFile, arrow_file, open_table_file

_BUFFER = 1 << 20
"""Bytes of a column that are read at once."""
_TEXT = 16
"""Bytes of a cell of text, where nothing tells how long it is."""
_GROUP = 4
"""A row group may take as much as so many parts: decoded as a whole it takes less time than in pieces."""


class ParquetGroups(BatchSource):
    """A Parquet file: several small row groups at once, or one; one that is too large is decoded piece by piece."""

    def __init__(self, path: TableFile, source: DataSource, size: PartSize) -> None:
        import pyarrow.parquet as pq  # noqa: PLC0415 - only where a Parquet file is read

        del source
        self._path, self._size = path, size
        with open_table_file(path) as file, pq.ParquetFile(file) as opened:
            self._metadata, self.schema = opened.metadata, opened.schema_arrow

    def choose(self, policy: Policy, columns: list[str]) -> Any:
        """Choose columns; what may have few different texts is decoded as codes."""
        text = [name for name in columns if pa.types.is_string(self.schema.field(name).type)]
        self._columns = columns
        self._coded = [name for name in text if policy.columns[name].role is not Role.PLAIN]
        return choose_fields(self.schema, columns)

    def group_sizes(self) -> list[tuple[int, int]]:
        """The rows of each row group, and the bytes of the chosen columns in it."""
        groups = (self._metadata.row_group(group) for group in range(self._metadata.num_row_groups))
        return [(group.num_rows, self._stored_bytes(group)) for group in groups]

    def parts(self, groups: Sequence[int] | None = None) -> Generator[Part]:
        """Give groups of row groups that have rows for a part together; of all, or of those that are named."""
        cells = (4 if name in self._coded else _cell_bytes(self.schema.field(name).type) for name in self._columns)
        most = self._size.rows_of(sum(cells))
        waiting: list[int] = []
        rows = 0
        for group in range(self._metadata.num_row_groups) if groups is None else groups:
            found = self._metadata.row_group(group)
            if waiting and (rows + found.num_rows > most):
                yield partial(self._read, waiting)
                waiting, rows = [], 0
            if found.num_rows > most * _GROUP or self._stored_bytes(found) > self._size.bytes * _GROUP:
                yield from self._pieces(group, most)
            else:
                waiting, rows = [*waiting, group], rows + found.num_rows
        if waiting:
            yield partial(self._read, waiting)

    def _stored_bytes(self, group: Any) -> int:
        """Add up what the chosen columns of a row group take when they are uncompressed."""
        chosen = set(self._columns)
        columns = (group.column(place) for place in range(group.num_columns))
        return sum(one.total_uncompressed_size for one in columns if one.path_in_schema in chosen)

    def _read(self, groups: list[int]) -> Any:
        with open_table_file(self._path) as file, self._opened(file) as parquet:
            return parquet.read_row_groups(groups, self._columns, use_threads=False).select(self._columns)

    def _pieces(self, group: int, rows: int) -> Iterator[Part]:
        """Decode a row group piece by piece, its columns in several threads, and a page of each at a time."""
        with open_table_file(self._path) as file, self._opened(file) as parquet:
            for batch in parquet.iter_batches(rows, [group], self._columns):
                yield rows_at_hand(pa.Table.from_batches([batch]).select(self._columns))

    def _opened(self, file: Any) -> Any:
        import pyarrow.parquet as pq  # noqa: PLC0415 - only where a Parquet file is read

        return pq.ParquetFile(
            arrow_file(file),
            metadata=self._metadata,
            read_dictionary=self._coded,
            buffer_size=_BUFFER,
            pre_buffer=False,
        )


class FeatherBatches(BatchSource):
    """A Feather file, or one of Arrow's stream of batches in a file: one record batch after the other."""

    def __init__(self, path: TableFile, source: DataSource, size: PartSize) -> None:
        from pyarrow import ipc  # noqa: PLC0415 - only where a Feather file is read

        del source
        self._path, self._size = path, size
        with open_table_file(path) as file, ipc.open_file(file) as opened:
            self.schema, self._batches = opened.schema, opened.num_record_batches

    def choose(self, policy: Policy, columns: list[str]) -> Any:
        """Choose columns."""
        del policy
        self._columns = columns
        return choose_fields(self.schema, columns)

    def parts(self) -> Generator[Part]:
        """Give one record batch after the other; it is stored as a whole, and so read as one."""
        for number in range(self._batches):
            yield partial(self._read, number)

    def _read(self, number: int) -> Any:
        from pyarrow import ipc  # noqa: PLC0415 - only where a Feather file is read

        places = [self.schema.get_field_index(name) for name in self._columns]
        options = ipc.IpcReadOptions(included_fields=places, use_threads=False)
        with open_table_file(self._path) as file, ipc.open_file(arrow_file(file), options=options) as opened:
            return pa.Table.from_batches([opened.get_batch(number)]).select(self._columns)


def _cell_bytes(kind: Any) -> int:
    """Guess the bytes of a cell of a type.

    >>> _cell_bytes(pa.int64()), _cell_bytes(pa.string())
    (8, 16)
    """
    try:
        return int(kind.bit_width) // 8 or 1
    except ValueError:
        return _TEXT
