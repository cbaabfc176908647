"""Write CSV: quotes only where needed, NULL apart from empty text, and no cell that a spreadsheet would run.

The formula rule: a text that starts with ``=``, ``+``, ``-``, ``@``, a tab, a carriage return or NUL, or with
apostrophes before one of these, gets one apostrophe in front. Reading it back, one apostrophe is taken away
where apostrophes stand before one of those characters. Numbers, negative ones included, are left alone.
"""

import gzip
import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Codes, count_codes
from sfumato.core.arrow import arrow_numbers, arrow_text, arrow_texts
from sfumato.publish.published_column import PublishedColumn
from sfumato.publish.published_table import PublishedTable

_RISKY = r"^'*[=+\-@\t\r\x00]"
_NEGATIVE = r"^-(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"
_QUOTED = r'[",\r\n]|^\s|\s$'
_EFFORT = 6
"""How hard gzip tries, of 9: what its command does by itself."""
_BATCH = 1 << 17
"""Rows that are written at a time."""
_AHEAD = 3
"""Batches that are rendered while one is written."""
_COMBINED = 1 << 14
"""Columns are combined as long as there are no more combinations of their values than this."""
_COMBINED_BYTES = 1 << 22
"""And as long as all combinations together have no more bytes: a cell of a megabyte would stand in each of them."""
_LOOKED_FOR = 1 << 20
"""Of no more combinations than this it is looked for those that rows have, of which there may be few."""
_ROWS_PER_COMBINATION = 8
"""Those are combined where each has so many rows or more on average: else they are joined as quickly row by row."""


def write_csv(tables: Iterable[PublishedTable], path: Path, *, null: str = "") -> str:
    """Write a table, which comes in pieces of the same columns, and return the SHA-256 of what was written.

    There is one piece at least. Batches of rows are rendered while others are written and hashed. Under a path that
    ends in .gz the file is compressed.
    """
    digest = hashlib.sha256()
    with _opened(path, digest) as write, ThreadPoolExecutor(2) as pool:  # Arrow works outside Python's lock
        rendering: deque[Future[memoryview]] = deque()
        for number, table in enumerate(tables):
            if not number:
                header = csv_cells(arrow_texts(list(table.columns)), null=null).to_pylist()
                write((",".join(header) + "\n").encode())
            pieces = _combine_columns(_pieces(table, null))
            for start in range(0, table.rows, _BATCH):
                rendering.append(pool.submit(_render_lines, pieces, start))
                if len(rendering) > _AHEAD:
                    write(rendering.popleft().result())
        for lines in rendering:
            write(lines.result())
    return digest.hexdigest()


@contextmanager
def _opened(path: Path, digest: "hashlib._Hash") -> Iterator[Callable[[bytes | memoryview], object]]:
    """Open a file to write bytes into, which are hashed as the file has them, compressed or not."""
    with path.open("wb") as file:

        def write(content: bytes | memoryview) -> int:
            digest.update(content)
            return file.write(content)

        if path.suffix != ".gz":
            yield write
            return
        # neither the time nor a name goes into it: the same rows give the same bytes
        with gzip.GzipFile("", "wb", compresslevel=_EFFORT, fileobj=_HashedFile(write), mtime=0) as packed:
            yield packed.write


class _HashedFile:
    """What gzip writes into: no more of a file than it needs."""

    def __init__(self, write: Callable[[bytes | memoryview], int]) -> None:
        self.write = write

    def flush(self) -> None:
        """Leave that to the file behind it."""


def _render_lines(pieces: "list[_Piece]", start: int) -> memoryview:
    """Render the lines of a batch as bytes."""
    texts = [_rows_of_piece(piece, start) for piece in pieces]
    lines = texts[0] if len(texts) == 1 else _concatenate(*texts)
    # the characters of an array of texts lie one after another in memory
    offsets = np.frombuffer(lines.buffers()[1], dtype=np.int32)[lines.offset : lines.offset + len(lines) + 1]
    return memoryview(lines.buffers()[2])[int(offsets[0]) : int(offsets[-1])]


def csv_cells(values: Any, *, null: str = "") -> Any:
    """Values as they are written between two separators.

    >>> csv_cells(pa.array(["=1+1", "'=1", "-5", "-5 degrees", "a,b", "", None])).to_pylist()
    ["'=1+1", "''=1", '-5', "'-5 degrees", '"a,b"', '""', '']
    """
    text = values.cast(pa.string())
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        risky = pc.and_not(pc.match_substring_regex(text, _RISKY), pc.match_substring_regex(text, _NEGATIVE))
        text = pc.if_else(risky, _concatenate(arrow_text("'"), text), text)
    missing = arrow_text(null)
    needs_quotes = pc.or_(pc.match_substring_regex(text, _QUOTED), pc.equal(text, missing))
    quoted = _concatenate(arrow_text('"'), pc.replace_substring(text, '"', '""'), arrow_text('"'))
    return pc.coalesce(pc.if_else(needs_quotes, quoted, text), missing)


@dataclass(frozen=True, eq=False)
class _UncodedColumn:
    """A column that is not coded: its values are put into words a batch at a time, each before the separator."""

    values: Any
    separator: str
    null: str


_Piece = PublishedColumn | _UncodedColumn
"""A part of each line: of a coded column (or several), the texts with their separators and the code of each row's."""


def _pieces(table: PublishedTable, null: str) -> list[_Piece]:
    last = len(table.columns) - 1
    pieces: list[_Piece] = []
    for i, column in enumerate(table.columns.values()):
        separator = "\n" if i == last else ","
        if isinstance(column, PublishedColumn):
            pieces.append(PublishedColumn(column.codes, _separated(column.values, separator, null)))
        else:
            pieces.append(_UncodedColumn(column, separator, null))
    return pieces


def _combine_columns(pieces: list[_Piece]) -> list[_Piece]:
    """Neighbouring columns of few values as one column of their combinations: fewer texts to join per row.

    There are no more combinations than rows, since each is written once.
    """
    combined = pieces[:1]
    for piece in pieces[1:]:
        before = combined[-1]
        found = None
        if isinstance(before, PublishedColumn) and isinstance(piece, PublishedColumn):
            found = _combine(before, piece)
        if found is None:
            combined.append(piece)
        else:
            combined[-1] = found
    return combined


def _combine(before: PublishedColumn, piece: PublishedColumn) -> PublishedColumn | None:
    """Two columns as one of their combinations, all or those that rows have; nothing where these are too many."""
    width, rows = len(piece.values), len(piece.codes)
    number = len(before.values) * width
    if number > _LOOKED_FOR or not rows:
        return None
    codes: Codes = before.codes.astype(np.int32) * width + piece.codes
    small = number <= min(_COMBINED, rows)
    small = small and len(before.values) * piece.values.nbytes + width * before.values.nbytes <= _COMBINED_BYTES
    used = np.arange(number)
    if not small:
        used = np.flatnonzero(count_codes(codes, number))
        if len(used) * _ROWS_PER_COMBINATION > rows:
            return None
        place = np.zeros(number, dtype=np.int32)
        place[used] = np.arange(len(used), dtype=np.int32)
        codes = place.take(codes)
    first, second = arrow_numbers(used // width), arrow_numbers(used % width)
    lengths = (pc.binary_length(one.values).take(at) for one, at in ((before, first), (piece, second)))
    if sum(pc.sum(length).as_py() for length in lengths) > _COMBINED_BYTES:
        return None
    return PublishedColumn(codes, _concatenate(before.values.take(first), piece.values.take(second)))


def _rows_of_piece(piece: _Piece, start: int) -> Any:
    if isinstance(piece, _UncodedColumn):
        return _separated(piece.values.slice(start, _BATCH), piece.separator, piece.null)
    return piece.values.take(arrow_numbers(piece.codes[start : start + _BATCH]))


def _separated(values: Any, separator: str, null: str) -> Any:
    return _concatenate(csv_cells(values, null=null), arrow_text(separator))


def _concatenate(*pieces: Any) -> Any:
    """Texts one after another, row by row."""
    return pc.binary_join_element_wise(*pieces, arrow_text(""))
