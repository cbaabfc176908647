"""CSV and TSV as people have them: any separator, BOM, quotes, embedded newlines, CRLF. Text stays text."""

import codecs
import csv
import io
import mmap
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv

from sfumato.errors import DataError
from sfumato.policy import Policy, Source
from sfumato.table.base import dictionary_types

_SEPARATORS = (",", ";", "\t", "|")
_HEAD = 1 << 16
_BLOCK = 1 << 24
_LONGEST_RECORD = 1 << 30
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def delimited_names(path: Path, source: Source) -> list[str]:
    """The names in the header."""
    head = _head(path, source.encoding)
    return header(head, source.separator or find_separator(head))


def read_delimited(path: Path, policy: Policy, columns: list[str]) -> Any:
    """Every cell as the text it is; only the texts that the policy calls missing become NULL."""
    head = _head(path, policy.source.encoding)
    separator = policy.source.separator or find_separator(head)
    return _Reader(path, policy, separator, columns).read(width=len(header(head, separator)))


def find_separator(text: str) -> str:
    r"""The separator that cuts the first records into equally many cells, the most there are.

    >>> find_separator("a;b\n1,5;2\n")
    ';'
    """
    scores = {mark: _regular(text, mark) for mark in _SEPARATORS}
    best = max(_SEPARATORS, key=lambda mark: scores[mark])
    return best if scores[best] else ","


def header(text: str, separator: str) -> list[str]:
    """The names in the first record."""
    names = next(csv.reader(io.StringIO(text), delimiter=separator), [])
    if not names or any(not name.strip() for name in names):
        raise DataError("the first line must name every column, and one name is empty; add a header")
    return names


def _regular(text: str, mark: str) -> int:
    """How many cells a record has with this separator, 0 where they differ or there is but one."""
    records = [row for row in csv.reader(io.StringIO(text), delimiter=mark) if row][:50]
    if len(text) >= _HEAD // 4 and len(records) > 1:
        records = records[:-1]  # the last one may be cut
    widths = {len(row) for row in records}
    if len(widths) == 1:
        return max(widths) if max(widths) > 1 else 0
    return 1 if records and len(records[0]) > 1 else 0


def _head(path: Path, encoding: str) -> str:
    with path.open("rb") as file:
        raw = file.read(_HEAD)
    if raw.startswith(_UTF16) and "16" not in encoding:
        raise DataError(f'{path.name} is UTF-16; save it as UTF-8, or say encoding = "utf-16" in [data]')
    if b"\0" in raw[:4096] and "16" not in encoding and "32" not in encoding:
        raise DataError(f"{path.name} is a binary file, not CSV; name a CSV, Parquet, Feather or JSON Lines file")
    decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)("strict")
    try:
        return decoder.decode(raw)
    except UnicodeDecodeError:
        raise _not_decodable(path, encoding) from None


class _Reader:
    """One pass of Arrow's reader, with the ways it fails turned into sentences."""

    def __init__(self, path: Path, policy: Policy, separator: str, columns: list[str]) -> None:
        self.path, self.policy, self.separator, self.columns = path, policy, separator, columns
        self.width = 0
        self.bad: Any = None

    def read(self, *, width: int) -> Any:
        """The columns; `width` is the number of columns in the file."""
        block, self.width = _BLOCK, width
        while True:
            try:
                return self._pass(block)
            except pa.ArrowInvalid as error:
                if "straddling" in str(error) and block < _LONGEST_RECORD:
                    block *= 8  # a record longer than the block: read on in larger ones
                    continue
                raise self._explain(error) from None
            except UnicodeDecodeError:
                raise _not_decodable(self.path, self.policy.source.encoding) from None

    def _pass(self, block: int, *, threads: bool = True) -> Any:
        table = arrow_csv.read_csv(
            self.path,
            read_options=arrow_csv.ReadOptions(
                block_size=block, encoding=self.policy.source.encoding, use_threads=threads
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=self.separator,
                newlines_in_values=_has_quotes(self.path),
                ignore_empty_lines=self.width > 1,
                invalid_row_handler=self._keep,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dictionary_types(self.columns, self.policy),
                include_columns=self.columns,
                null_values=list(self.policy.source.null),
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
        return table.unify_dictionaries()

    def _keep(self, row: Any) -> str:
        self.bad = row
        return "error"

    def _explain(self, error: Exception) -> DataError:
        if self.bad is not None:
            return DataError(
                f"{self.path.name}: {self._where()} has {self.bad.actual_columns} cells where the header has "
                f"{self.bad.expected_columns}; mend or remove it, or quote cells that hold the separator"
            )
        if "UTF8" in str(error):
            return _not_decodable(self.path, self.policy.source.encoding)
        return DataError(
            f"{self.path.name} cannot be read as CSV with the separator {self.separator!r}; "
            "check that every quote is closed and that [data] separator is right"
        )

    def _where(self) -> str:
        """The number of the bad record, which only a pass in one thread knows; never its text."""
        if self.bad.number is None:
            with suppress(pa.ArrowInvalid):
                self._pass(_BLOCK, threads=False)
        return "a record" if self.bad.number is None else f"record {self.bad.number - 1}"


def _has_quotes(path: Path) -> bool:
    """Whether any quote stands in the file: without one no cell can hold a newline, and chunks are free."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(b'"') >= 0


def _not_decodable(path: Path, encoding: str) -> DataError:
    """Find the first byte that is not in the encoding, and name it."""
    line, offset = 1, 0
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError as error:
                # what the decoder held back from the chunk before counts into the error's place
                at = offset + len(chunk) - len(error.object) + error.start
                line += error.object[: error.start].count(b"\n")
                return DataError(
                    f"{path.name} is not {encoding.upper()}: byte 0x{error.object[error.start]:02x} at offset "
                    f'{at} (line {line}); save it as UTF-8, or say encoding = "latin-1" or another in [data]'
                )
            line += chunk.count(b"\n")
            offset += len(chunk)
    return DataError(f"{path.name} is not {encoding.upper()}; save it as UTF-8, or say its encoding in [data]")
