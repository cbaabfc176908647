r"""CSV in blocks: a file of any length is cut at the ends of records, and each block is parsed by itself.

Arrow parses a stream in one thread, and a whole file in many but into memory. A block of whole records is a file of its
own, which any thread may parse. Where a block holds no quote any line end is the end of a record; where it holds some,
a line end is one if all quotes before it are closed, by the same pattern that refuses open ones.
"""

import codecs
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv

from sfumato.errors import DataError
from sfumato.policy import DataSource, Policy
from sfumato.table.batch_source import (
    LONGEST_RECORD,
    BatchSource,
    FileHash,
    LongRecord,
    Part,
    PartSize,
    Reader,
    choose_fields,
    count_lines,
)
from sfumato.table.column_header import header_schema
from sfumato.table.csv_reader import (
    arrow_options,
    closed_quotes,
    encoding_error,
    find_wrong_byte,
    incremental_decoder,
    is_wide,
    open_quote_error,
    read_csv_head,
    record_error,
)
from sfumato.table.table import TableFile, open_table_file

_BOM = codecs.BOM_UTF8
_QUOTED = re.compile(rb'"[^"]*+(?:""[^"]*+)*+"')


class CsvBlocks(BatchSource):
    """A CSV file, one block of whole records after the other."""

    def __init__(self, path: TableFile, source: DataSource, size: PartSize) -> None:
        self._path, self._source, self._size = path, source, size
        self._head = read_csv_head(path, source)
        self._separator = self._head.separator.encode()
        self._rows: dict[int, int] = {}
        self.schema = header_schema(self._head.header, pa.string())

    def choose(self, policy: Policy, columns: list[str]) -> Any:
        """Choose columns; all are text."""
        self._policy, self._columns = policy, columns
        return choose_fields(self.schema, columns)

    def parts(self) -> Generator[Part]:
        """Cut the file; the first block begins with the header."""
        self._rows, self.digest = {}, None
        with open_table_file(self._path) as file, FileHash(file.read) as hashed:
            # of a compressed file another hash is asked for than that of what is in it
            read = hashed.read if isinstance(self._path, Path) else file.read
            for number, block in enumerate(cut_records(self._text(read), self._separator, self._size.bytes)):
                yield partial(self._parse, number, block)
            self.digest = hashed.digest if isinstance(self._path, Path) else None

    def range_parts(self, start: int, stop: int) -> Generator[Part]:
        """Give the parts between two places of a file in UTF-8, each 0, its end or the end of a record."""
        with open_table_file(self._path) as file:
            file.seek(start)

            def read(size: int) -> bytes:
                return file.read(max(min(size, stop - file.tell()), 0))

            first = int(start > 0)  # the header is in the first block of all
            for number, block in enumerate(cut_records(read, self._separator, self._size.bytes), first):
                yield partial(self._parse, number, block)

    def _text(self, read: Reader) -> Reader:
        encoding = self._source.encoding
        return read if encoding == "utf-8" else _transcode(read, encoding)

    def _parse(self, number: int, block: bytes) -> Any:
        if number == 0 and not block.endswith((b"\n", b"\r")):
            block += b"\n"  # of a header alone, Arrow asks for its end
        try:
            table = arrow_csv.read_csv(pa.BufferReader(block), **self._options(number, block))
        except pa.ArrowInvalid:
            raise _BadBlock(number, block) from None
        self._rows[number] = table.num_rows
        return table

    def _options(self, number: int, block: bytes) -> dict[str, Any]:
        """Put together the arguments for a block, which is one to Arrow as well, and is parsed in this thread."""
        options = arrow_options(self._policy, self._head, self._columns, newlines=b'"' in block)
        options["read_options"] = arrow_csv.ReadOptions(
            block_size=len(block) + 1,
            column_names=self._head.names,
            skip_rows_after_names=int(number == 0),
            use_threads=False,
        )
        return options

    def explain(self, error: Exception) -> Exception | None:
        """Say what is wrong, in the order in which a file that is read as a whole is looked at: quotes, bytes, records.

        The file is read once more for it, piece by piece.
        """
        if not isinstance(error, _BadBlock | OpenQuote | LongRecord | UnicodeError):
            return None
        encoding = self._source.encoding
        wrong = encoding_error if isinstance(error, UnicodeError) else find_wrong_byte
        if is_wide(encoding):  # quotes can only be told in the text
            return wrong(self._path, encoding) or self._find_open_quote(self._text) or self._explain_block(error)
        found = self._find_open_quote(lambda read: read) or wrong(self._path, encoding)
        return found or self._find_open_quote(self._text) or self._explain_block(error)

    def _find_open_quote(self, text: Callable[[Reader], Reader]) -> DataError | None:
        """Say where a quote opens a cell and does not close it, in a text that is made of the bytes."""
        try:
            with open_table_file(self._path) as file:
                for _ in cut_records(text(file.read), self._separator, self._size.bytes):
                    pass
        except OpenQuote as found:
            with open_table_file(self._path) as file:
                return open_quote_error(self._path, count_lines(text(file.read), found.offset) + 1)
        except LongRecord:
            pass
        return None

    def _explain_block(self, error: Exception) -> DataError:
        bad: list[Any] = []

        def note(row: Any) -> str:
            bad.append(row)
            return "error"

        before = 0
        if isinstance(error, _BadBlock):
            options = self._options(error.number, error.block)
            options["parse_options"].invalid_row_handler = note
            with suppress(pa.ArrowInvalid):
                arrow_csv.read_csv(pa.BufferReader(error.block), **options)
            before = sum(self._rows[number] for number in range(error.number)) - int(error.number == 0)
        return record_error(self._path, self._head.separator, bad[-1] if bad else None, before=before)


class _BadBlock(Exception):
    """A block that is no CSV to Arrow."""

    def __init__(self, number: int, block: bytes) -> None:
        super().__init__(number)
        self.number, self.block = number, block


# Where records end.


class OpenQuote(Exception):
    """A quote that opens a cell and does not close it, so many bytes after the beginning of the text."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


def cut_records(read: Reader, separator: bytes, size: int) -> Iterator[bytes]:
    r"""Cut a text in UTF-8 into blocks of whole records, of some `size` bytes or as many as the longest record has.

    A byte order mark at the beginning belongs to none; each block is a text to a reader that passes over such a mark.

    >>> import io
    >>> list(cut_records(io.BytesIO(b'a,b\n1,2\n3,"4\n5"\n6,7').read, b",", 5))
    [b'a,b\n1,2\n', b'3,"4\n5"\n', b'6,7']
    """
    pattern = closed_quotes(separator)
    rest = read(len(_BOM))
    rest, passed = (b"", len(_BOM)) if rest == _BOM else (rest, 0)
    wanted = size
    while True:
        piece = read(wanted)
        content = rest + piece
        try:
            end = _last_record_end(content, pattern) if piece else _whole_end(content, pattern)
        except OpenQuote as error:
            raise OpenQuote(passed + error.offset) from None
        if end:
            block = content[:end]
            yield _BOM + block if block.startswith(_BOM) else block
        if not piece:
            return
        rest, passed = content[end:], passed + end
        wanted = max(size, 0 if end else len(rest))  # twice as much where no record ends in it
        if len(rest) > LONGEST_RECORD:
            raise LongRecord


def _whole_end(content: bytes, pattern: re.Pattern[bytes]) -> int:
    """Find the end of a text after which nothing comes, where all quotes have to be closed."""
    closed = _closed_until(content, pattern)
    if closed < len(content):
        raise OpenQuote(closed)
    return closed


def _last_record_end(content: bytes, pattern: re.Pattern[bytes]) -> int:
    """Find the end of the last record that is known to be whole, in a text after which more may come; 0 if none is.

    A line end that an even number of quotes stand before is tried first: where all of these are closed, it is one. A
    quote amid an unquoted cell spoils that, and then records are told one by one.
    """
    end = _line_end(content, len(content))
    if b'"' not in content:
        return end
    odd = content.count(b'"', 0, end) & 1
    while end and odd:
        before = _line_end(content, end - 1)
        odd ^= content.count(b'"', before, end) & 1
        end = before
    if end and _closed_until(content[:end], pattern) == end:
        return end
    open_from = _closed_until(content, pattern)
    quoted = _QUOTED.match(content, open_from) if open_from < len(content) else None
    if quoted is not None and quoted.end() < len(content):  # text follows where it is closed
        raise OpenQuote(open_from)
    records = _whole_records(pattern).match(content, 0, open_from)
    return records.end() if records else 0


def _line_end(content: bytes, most: int) -> int:
    """Find the end of the last line that ends within so many bytes; CR ends lines only where no LF does."""
    end = content.rfind(b"\n", 0, most) + 1
    # a CR at the very end may be half of a line end
    return end or content.rfind(b"\r", 0, min(most, len(content) - 1)) + 1


def _closed_until(content: bytes, pattern: re.Pattern[bytes]) -> int:
    match = pattern.match(content)
    return match.end() if match else 0


@cache
def _whole_records(pattern: re.Pattern[bytes]) -> re.Pattern[bytes]:
    """Compile a pattern of records that have a line end behind them, from what cells are made of."""
    cells = pattern.pattern.replace(rb'[^"]++', rb'[^"\r\n]++', 1)
    return re.compile(rb"(?:" + cells + rb"(?:\n|\r\n|\r(?![\n]|\Z)))*+")


# Bytes as they are read.


def _transcode(read: Reader, encoding: str) -> Reader:
    """Read a text of another encoding as UTF-8."""
    decoder, left = incremental_decoder(encoding), bytearray()

    def read_text(size: int) -> bytes:
        while not left:
            raw = read(size)
            left.extend(decoder.decode(raw, final=not raw).encode())
            if not raw:
                break
        piece = bytes(left)
        left.clear()
        return piece

    return read_text
