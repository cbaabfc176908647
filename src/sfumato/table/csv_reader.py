r"""CSV and TSV files as people have them: any separator, byte order mark, quotes, newlines in cells, CRLF.

Text stays text: no cell becomes a number, a date or a truth value, and only the texts that the policy calls missing
become NULL. Arrow does the reading. What it forgives (a quote that is never closed) is refused beforehand, and what it
refuses is explained by line or record, without the text that Arrow would quote.
"""

import codecs
import csv
import io
import mmap
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv

from sfumato.errors import DataError, quote
from sfumato.policy import DataSource, Policy, Role
from sfumato.table.batch_source import LONGEST_RECORD
from sfumato.table.column_header import header_schema, name_columns
from sfumato.table.least_memory import check_csv_memory
from sfumato.table.table import TableFile, arrow_file, no_rows_error, open_table_file

_BLOCK = 1 << 24
_BEGINNING = 1 << 23


def csv_schema(path: TableFile, source: DataSource) -> Any:
    """Read the names in the header; every column is text."""
    return header_schema(read_csv_head(path, source).header, pa.string())


def read_csv(path: TableFile, policy: Policy, columns: list[str]) -> Any:
    """Read some columns as text, in blocks that grow until the longest record fits into one."""
    head = read_csv_head(path, policy.source)
    check_csv_memory(path, columns)
    newlines = check_quotes(path, head.separator, policy.source.encoding)
    options = arrow_options(policy, head, columns, newlines=newlines)
    while True:
        try:
            with open_table_file(path) as file:
                return arrow_csv.read_csv(arrow_file(file), **options).unify_dictionaries()
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error) or options["read_options"].block_size >= LONGEST_RECORD:
                raise _explain_failure(path, policy.source.encoding, head, options, error) from None
            options["read_options"].block_size *= 8
        except UnicodeDecodeError:
            raise encoding_error(path, policy.source.encoding) from None


def read_first_csv_records(path: TableFile, policy: Policy, columns: list[str]) -> Any:
    """Read the records in the first few megabytes, as far as they are whole; records of another width are skipped."""
    head = read_csv_head(path, policy.source)
    newlines = check_quotes(path, head.separator, policy.source.encoding)
    options = arrow_options(policy, head, columns, newlines=newlines)
    options["parse_options"].invalid_row_handler = lambda _: "skip"
    with open_table_file(path) as file:
        content = file.read(_BEGINNING)
    whole = content.rpartition(b"\n")[0] if len(content) == _BEGINNING else content
    return arrow_csv.read_csv(pa.BufferReader(whole), **options)


def arrow_options(policy: Policy, head: "CsvHead", columns: list[str], *, newlines: bool) -> dict[str, Any]:
    """Put together the arguments of Arrow's reader; `newlines` says whether cells may hold any."""
    source = policy.source
    text, coded_text = pa.string(), pa.dictionary(pa.int32(), pa.string())
    coded = {Role.QUASI, Role.SENSITIVE, Role.INDIVIDUAL}  # columns of few different values
    # where a name is missing in the header, all are given, and the header is skipped as the first record
    names = {"column_names": head.names, "skip_rows_after_names": 1} if head.names != head.header else {}
    return {
        "read_options": arrow_csv.ReadOptions(block_size=_BLOCK, encoding=source.encoding, **names),
        "parse_options": arrow_csv.ParseOptions(
            delimiter=head.separator,
            newlines_in_values=newlines,
            ignore_empty_lines=len(head.names) > 1,
        ),
        "convert_options": arrow_csv.ConvertOptions(
            column_types={name: coded_text if policy.columns[name].role in coded else text for name in columns},
            include_columns=columns,
            null_values=list(source.null),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    }


def _explain_failure(
    path: TableFile, encoding: str, head: "CsvHead", options: dict[str, Any], error: Exception
) -> DataError:
    """Say why Arrow could not read a file, and never with the text that Arrow quotes."""
    wrong = find_wrong_byte(path, encoding)
    if wrong is not None:
        return wrong
    if "Empty CSV" in str(error):
        return no_rows_error()
    bad: list[Any] = []

    def note(row: Any) -> str:
        bad.append(row)
        return "error"

    # Only a pass in one thread knows the number of a bad record.
    options["read_options"].use_threads = False
    options["parse_options"].invalid_row_handler = note
    with suppress(pa.ArrowInvalid), open_table_file(path) as file:
        arrow_csv.read_csv(file, **options)
    return record_error(path, head.separator, bad[-1] if bad else None)


def record_error(path: TableFile, separator: str, bad: Any, *, before: int = -1) -> DataError:
    """Say which record has another width than the header; its number in the file is that of Arrow after those `before`.

    `bad` is what Arrow tells of the record, ``None`` where it tells nothing. The header is a record to Arrow, and none
    to whoever looks for it.
    """
    if bad is None:
        return DataError(
            f"{path.name} cannot be read as CSV with the separator {quote(separator)}; "
            "check that every quote is closed and that [data] separator is right"
        )
    number, cells, named = before + bad.number, bad.actual_columns, bad.expected_columns
    way = "mend or remove it, or quote cells that hold the separator"
    if number == 1 and cells == named + 1:
        way += "; R's write.table names no column for the row names: write it with col.names = NA, or without them"
    return DataError(f"{path.name}: record {number} has {cells} cells where the header has {named}; {way}")


# The head of a file: whether it is text, its separator, and the names of its columns.

_SEPARATORS = (",", ";", "\t", "|")
_RECORDS_TRIED = 50
_HEAD = 1 << 16
_LONGEST_HEAD = 1 << 26
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class CsvHead:
    """The separator of a file and its first record, where a cell may be empty."""

    separator: str
    header: list[str]

    @property
    def names(self) -> list[str]:
        """The names of the columns; one without a name is called by its place."""
        return name_columns(self.header)


def read_csv_head(path: TableFile, source: DataSource) -> CsvHead:
    """Read as much of a file as its header needs; the separator is found where `source` does not say it."""
    text, whole = _read_beginning(path, source.encoding)
    separator = source.separator or find_separator(text, whole=whole)
    if not separator.isascii():
        raise DataError(f"the separator {quote(separator)} is not an ASCII character; write the file with another one")
    header = next(_records(text, separator), [])
    name_columns(header)  # refuses one without any name
    return CsvHead(separator, header)


def find_separator(text: str, *, whole: bool = True) -> str:
    r"""Find the separator that cuts the first records into equally many cells, as many as possible.

    Where `whole` is false, the text may end amid a record.

    >>> find_separator("a;b\n1,5;2\n")
    ';'
    """
    cells = {mark: _cells_per_record(text, mark, whole=whole) for mark in _SEPARATORS}
    best = max(_SEPARATORS, key=lambda mark: cells[mark])
    return best if cells[best] else ","


def _cells_per_record(text: str, separator: str, *, whole: bool) -> int:
    """Count the cells of a record; 1 where records differ in it, and 0 where the separator cuts nothing."""
    records = [row for row in islice(_records(text, separator), _RECORDS_TRIED + 1) if row]
    if not whole and len(records) > 1:
        records = records[:-1]  # the last one may be cut
    widths = {len(row) for row in records}
    if len(widths) == 1:
        return max(widths) if max(widths) > 1 else 0
    return 1 if records and len(records[0]) > 1 else 0


def _records(text: str, separator: str) -> Iterator[list[str]]:
    try:
        yield from csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    except csv.Error:  # a cell of more than 128 kB: nothing to learn from here on
        return


def _read_beginning(path: TableFile, encoding: str) -> tuple[str, bool]:
    """Read the first records as text, more and more of the file until a line ends; also tells whether that is all."""
    size = _HEAD
    while True:
        with open_table_file(path) as file:
            raw = file.read(size)
        if not is_wide(encoding) and raw.startswith(_UTF16_MARKS):
            raise DataError(f'{path.name} is UTF-16; save it as UTF-8, or say encoding = "utf-16" in [data]')
        if not is_wide(encoding) and b"\0" in raw[:4096]:
            raise DataError(f"{path.name} is a binary file, not CSV; name a CSV, Parquet, Feather or JSON Lines file")
        try:
            text = incremental_decoder("utf-8-sig" if encoding == "utf-8" else encoding).decode(raw)
        except UnicodeError:
            raise encoding_error(path, encoding) from None
        whole = len(raw) < size
        if whole or "\n" in text or "\r" in text:
            return text, whole
        if size >= _LONGEST_HEAD:
            raise DataError(f"{path.name} has no line end in its first {_LONGEST_HEAD >> 20} MB; a table has rows")
        size = min(size * 8, _LONGEST_HEAD)


# Quotes: every one that opens a cell has to close it, or rows would vanish inside a cell.


def check_quotes(path: TableFile, separator: str, encoding: str = "utf-8") -> bool:
    """Tell whether a file has any quote: without one no cell can hold a newline, and Arrow may cut blocks anywhere.

    Readers forgive a quote that is never closed, and text after a closing one; either swallows the rows up to the next
    quote without a word. Both are refused here, by line. Where a character takes several bytes, the text is looked at.
    """
    with open_table_file(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        content: mmap.mmap | bytes = mapped
        if is_wide(encoding):
            try:
                content = mapped[:].decode(encoding).encode()
            except UnicodeError:
                raise encoding_error(path, encoding) from None
        if content.find(b'"') < 0:
            return False
        start = len(codecs.BOM_UTF8) if content[:3] == codecs.BOM_UTF8 else 0
        with memoryview(content)[start:] as view:
            match = closed_quotes(separator.encode()).match(view)
            end, length = match.end() if match else 0, len(view)
            del match  # it holds on to the view
        if end == length:
            return True
        line = content[: start + end].count(b"\n") + 1
    raise open_quote_error(path, line)


def open_quote_error(path: TableFile, line: int) -> DataError:
    """Say on which line a quote opens a cell that it does not close."""
    return DataError(
        f"{path.name}: a quote that opens a cell on line {line} is not closed, or text follows where it is; "
        'close it, and write a quote inside a quoted cell as ""'
    )


def closed_quotes(separator: bytes) -> re.Pattern[bytes]:
    r"""Compile a pattern of text without quotes, whole quoted cells, and quotes amid an unquoted cell, which are text.

    It matches up to the first quote that opens a cell and does not close it.

    >>> closed_quotes(b",").match(b'a,"b""c",5" disk').end()
    16
    >>> closed_quotes(b",").match(b'a,"b').end()
    2
    """
    ends = b"[" + re.escape(separator) + rb"\r\n]"
    within = b"[^" + ends[1:]
    cell = rb"(?<!" + within + rb')"[^"]*+(?:""[^"]*+)*+"(?=' + ends + rb"|\Z)"
    return re.compile(rb'(?:[^"]++|' + cell + rb"|(?<=" + within + rb')")*+')


# Encodings: the first byte that does not belong is named, with a way out.

_CHUNK = 1 << 20


def encoding_error(path: TableFile, encoding: str) -> DataError:
    """Say that a file is not in its encoding, with the first wrong byte where one can be found."""
    return find_wrong_byte(path, encoding) or DataError(
        f"{path.name} is not {encoding.upper()}; save it as UTF-8, or say its encoding in [data]"
    )


def find_wrong_byte(path: TableFile, encoding: str) -> DataError | None:
    """Find the first byte that is not in the encoding, and say so; ``None`` where all are."""
    line, offset = 1, 0
    decoder = incremental_decoder(encoding)
    with open_table_file(path) as file:
        while True:
            chunk = file.read(_CHUNK)
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                # what the decoder held back from the chunk before counts into the error's place
                at = offset + len(chunk) - len(error.object) + error.start
                line += error.object[: error.start].count(b"\n")
                return DataError(
                    f"{path.name} is not {encoding.upper()}: byte 0x{error.object[error.start]:02x} at offset "
                    f'{at} (line {line}); save it as UTF-8, or say encoding = "latin-1" or another in [data]'
                )
            except UnicodeError:  # UTF-16 without a byte order mark
                break
            if not chunk:
                break
            line += chunk.count(b"\n")
            offset += len(chunk)
    return None


def incremental_decoder(encoding: str) -> codecs.IncrementalDecoder:
    """Make a decoder of text that comes piece by piece, which refuses what does not belong."""
    return codecs.getincrementaldecoder(encoding)("strict")


def is_wide(encoding: str) -> bool:
    """Tell whether a character takes two bytes or more, so that ASCII bytes mean nothing by themselves.

    >>> is_wide("utf-16"), is_wide("utf-8")
    (True, False)
    """
    return "16" in encoding or "32" in encoding
