"""What every kind of table that is read in batches shares: its columns, its parts in order, and how large they are.

A part is a function without arguments that gives rows as an Arrow table: what it does by itself (parse a block of text,
decode a row group) may be done in another thread while earlier parts are worked on.
"""

import hashlib
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Self

import pyarrow as pa

from sfumato.policy import Policy

Part = Callable[[], Any]
Reader = Callable[[int], bytes]
"""Reads so many bytes, or fewer where there are no more."""

LONGEST_RECORD = 1 << 30
"""Bytes of a record of text at most."""
_SHARE = 32
"""At most four parts are held at a time, each as it was read and as it is in Arrow: a quarter of the memory."""
_LARGEST_PART = 1 << 24
_SMALLEST_PART = 1 << 16
_MOST_ROWS = 1 << 19
_LEAST_ROW = 16
"""Bytes of a row, where nothing tells how many it has."""


@dataclass(frozen=True)
class PartSize:
    """How much is read at once: so many bytes, and no more than so many rows.

    >>> PartSize.within(1 << 30) == PartSize(bytes=1 << 24, rows=1 << 19)
    True
    """

    bytes: int
    rows: int

    @classmethod
    def within(cls, memory: int) -> "PartSize":
        """Choose it for a table that is read within so many bytes of memory."""
        size = min(max(memory // _SHARE, _SMALLEST_PART), _LARGEST_PART)
        return cls(size, min(_MOST_ROWS, max(size // _LEAST_ROW, 1)))

    def rows_of(self, row: int) -> int:
        """How many rows of so many bytes each are read at once."""
        return max(min(self.rows, self.bytes // max(row, 1)), 1)


class BatchSource:
    """A table that is read in parts; `schema` has all its columns, and their types where these are known beforehand.

    Before its parts are asked for, `choose` says which columns are read, and gives their types. `digest` is the SHA-256
    of the file, once all parts have been asked for, where reading them in order makes it.
    """

    schema: Any
    digest: str | None = None

    def choose(self, policy: Policy, columns: list[str]) -> Any:
        """Choose the columns that are read; returns their types as a schema."""
        raise NotImplementedError

    def parts(self) -> Generator[Part]:
        """Give the parts in order; each is called once, in any thread."""
        raise NotImplementedError

    def explain(self, error: Exception) -> Exception | None:
        """Say what an error of a part means, once all parts before it are done; ``None`` where nothing is known."""
        del error
        return None

    def close(self) -> None:
        """Let go of what it holds open."""


class WholeTable(BatchSource):
    """A table that has to be read as a whole, such as a workbook, and is then cut into batches."""

    def __init__(self, schema: Any, read: Callable[[Policy, list[str]], Any], size: PartSize) -> None:
        self.schema, self._read, self._size = schema, read, size
        self._table: Any = None

    def choose(self, policy: Policy, columns: list[str]) -> Any:
        """Read the columns."""
        self._table = self._read(policy, columns)
        return self._table.schema

    def parts(self) -> Generator[Part]:
        """Cut slices, which copy nothing."""
        table = self._table
        for start in range(0, table.num_rows, self._size.rows):
            yield rows_at_hand(table.slice(start, self._size.rows))

    def close(self) -> None:
        """Forget the table."""
        self._table = None


class HeldOpen(BatchSource):
    """A table in parts whose file lies in something that has to stay open until it is read."""

    def __init__(self, source: BatchSource, stack: ExitStack) -> None:
        self._source, self._stack, self.schema = source, stack, source.schema

    def choose(self, policy: Policy, columns: list[str]) -> Any:
        """Choose columns."""
        return self._source.choose(policy, columns)

    def parts(self) -> Generator[Part]:
        """Give the parts."""
        return self._source.parts()

    def explain(self, error: Exception) -> Exception | None:
        """Say what the table says."""
        return self._source.explain(error)

    def close(self) -> None:
        """Close both."""
        self._source.close()
        self._stack.close()


def rows_at_hand(table: Any) -> Part:
    """Make a part of rows that have been read already."""
    return lambda: table


def choose_fields(schema: Any, columns: list[str]) -> Any:
    """Take some columns of a schema, without what else is said of them."""
    return pa.schema([pa.field(name, schema.field(name).type) for name in columns])


class LongRecord(Exception):
    """A record that is longer than any that is read."""


def cut_lines(read: Reader, size: int) -> Iterator[bytes]:
    r"""Cut a text into blocks of whole lines, of some `size` bytes or as many as the longest line has.

    >>> import io
    >>> list(cut_lines(io.BytesIO(b"one\ntwo\nthree").read, 6))
    [b'one\n', b'two\n', b'three']
    """
    rest, wanted = b"", size
    while True:
        piece = read(wanted)
        content = rest + piece
        end = len(content) if len(piece) < wanted else content.rfind(b"\n") + 1
        if end:
            yield content[:end]
        if len(piece) < wanted:
            return
        rest = content[end:]
        wanted = max(size, 0 if end else len(rest))
        if len(rest) > LONGEST_RECORD:
            raise LongRecord


def count_lines(read: Reader, most: int) -> int:
    """Count the line ends in the first bytes of a text."""
    lines = 0
    while most > 0 and (piece := read(min(most, 1 << 22))):
        lines, most = lines + piece.count(b"\n", 0, most), most - len(piece)
    return lines


class FileHash:
    """The SHA-256 of bytes as they are read, worked out in a thread of its own, one piece behind.

    >>> import io
    >>> with FileHash(io.BytesIO(b"ab").read) as hashed:
    ...     _ = hashed.read(1), hashed.read(1)
    ...     hashed.digest == hashlib.sha256(b"ab").hexdigest()
    True
    """

    def __init__(self, read: Reader) -> None:
        self._read, self._hash = read, hashlib.sha256()
        self._pool = ThreadPoolExecutor(1, "sfumato-hash")
        self._last: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def read(self, size: int) -> bytes:
        """Read the next bytes."""
        piece = self._read(size)
        self._wait()
        self._last = self._pool.submit(self._hash.update, piece)
        return piece

    @property
    def digest(self) -> str:
        """The hash of what was read, in hexadecimal."""
        self._wait()
        return self._hash.hexdigest()

    def _wait(self) -> None:
        if self._last is not None:
            self._last.result()
