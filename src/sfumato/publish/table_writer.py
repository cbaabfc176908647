"""Write a published table in the policy's format: one file, or a folder of several.

A table comes whole or in pieces, one below the other, so that nobody has to hold all of it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from sfumato.policy import Policy
from sfumato.publish.manifest import written_null
from sfumato.publish.published_table import PublishedTable
from sfumato.publish.written_table import WrittenTable, gather_parts, part_name
from sfumato.table.files import file_digest

Pieces = Iterable[PublishedTable]


def write_table(table: PublishedTable, path: Path, policy: Policy) -> WrittenTable:
    """Write a table under the path with the ending of its format, or as several files in a folder there."""
    return write_table_pieces([table], path, policy)


def write_table_pieces(pieces: Pieces, path: Path, policy: Policy) -> WrittenTable:
    """Write a table that comes in pieces, as `write_table` does one that is whole.

    There is one piece at least; all have the same columns and types.
    """
    return TableFormat.of(policy).write(pieces, path)


@dataclass(frozen=True)
class TableFormat:
    """What of a policy says how tables are written; it can be pickled and sent to whoever has the rows."""

    name: str
    null: str
    rows_per_file: int | None

    @classmethod
    def of(cls, policy: Policy) -> "TableFormat":
        """The format that a policy asks for."""
        return cls(policy.publish.format, written_null(policy), policy.publish.rows_per_file)

    @property
    def ending(self) -> str:
        """The ending of its files."""
        return f".{self.name}"

    def write(self, pieces: Pieces, path: Path) -> WrittenTable:
        """Write the pieces of a table under the path with the ending, or as several files in a folder there."""
        write, most = _file_writer(self), self.rows_per_file
        if most is None:
            return write(pieces, path.with_name(f"{path.name}{self.ending}"))
        path.mkdir()
        cut = enumerate(_cut_pieces(pieces, most))
        return gather_parts(path, [write(part, path / part_name(n, self.ending)) for n, part in cut], self.ending)


def _file_writer(chosen: TableFormat) -> Callable[[Pieces, Path], WrittenTable]:
    if chosen.name == "parquet":
        from sfumato.publish.parquet_writer import write_parquet  # noqa: PLC0415 - only for Parquet

        def write_parquet_file(pieces: Pieces, path: Path) -> WrittenTable:
            write_parquet(pieces, path)
            return WrittenTable(path, file_digest(path))

        return write_parquet_file
    from sfumato.publish.csv_writer import write_csv  # noqa: PLC0415 - only for CSV

    return lambda pieces, path: WrittenTable(path, write_csv(pieces, path, null=chosen.null))


def _cut_pieces(pieces: Pieces, most: int) -> Iterator[Pieces]:
    """Cut pieces into files of so many rows, the last of fewer; a table without rows is one file, with a header.

    Each file has to be written before the next one is asked for.
    """
    coming = iter(pieces)
    waiting = [next(coming)]  # at most one: what is left of a piece, or the next one

    def file() -> Iterator[PublishedTable]:
        left = most
        while waiting and left:
            piece = waiting.pop()
            yield piece.cut(0, left)
            if piece.rows > left:
                waiting.append(piece.cut(left, piece.rows))
            else:
                waiting.extend(islice((one for one in coming if one.rows), 1))
            left -= min(left, piece.rows)

    yield file()
    while waiting:
        yield file()
