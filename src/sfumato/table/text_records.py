"""The records of a text as they come: a file or a pipe of CSV of any length, read without holding more than a piece.

A cell may hold line ends: lines are kept until the record they belong to is whole. Whoever reads can ask whether the
next record is there without waiting, so that rows somebody types are worked on as they come.
"""

import codecs
import csv
import select
from collections.abc import Iterator
from typing import Any

from sfumato.errors import DataError, UnreadableFile, quote
from sfumato.table.column_header import name_columns
from sfumato.table.csv_reader import find_separator

TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".data", "")
_CHUNK = 1 << 16
_LONGEST_LINE = 1 << 24


class TextRecords:
    r"""The records of an open binary file or pipe after its header; `names` are those of the columns.

    `line` is the line on which the record that was read last ends. What is no CSV is a `DataError` that names the line.

    >>> import io
    >>> records = TextRecords(io.BytesIO(b"age,sex\n37,f\n\n41,m\n"), "people.csv")
    >>> records.names, [(records.line, record) for record in records]
    (['age', 'sex'], [(2, ['37', 'f']), (4, ['41', 'm'])])
    """

    def __init__(self, file: Any, name: str, separator: str | None = None) -> None:
        self._file, self._name = file, name
        self._lines = _TextLines(file, name)
        mark = separator or find_separator(self._lines.peek(), whole=False)
        self._records = csv.reader(self._lines, delimiter=mark, strict=True)
        header = self._next()
        if header is None:
            raise DataError(f"{name} is empty; a table has a line of names and rows")
        self.names = name_columns(header)
        if len(set(self.names)) < len(self.names):
            twice = next(one for one in self.names if self.names.count(one) > 1)
            raise DataError(f"{name} has the column {quote(twice)} twice; rename one")

    def __iter__(self) -> Iterator[list[str]]:
        width, read = len(self.names), self._next
        while (record := read()) is not None:
            if len(record) == width:
                yield record
            elif record:
                raise DataError(
                    f"{self._name}: record {self.line:,} has {len(record)} cells where the header has {width}; "
                    "mend it, or quote cells that hold the separator"
                )
            elif width == 1:
                yield [""]

    @property
    def line(self) -> int:
        """The line on which the last record ends."""
        return self._records.line_num

    def ready(self) -> bool:
        """Tell whether there is a line that can be had at once."""
        return self._lines.ready()

    def waits(self) -> bool:
        """Tell whether nothing is there just now: no line, and nothing in the pipe to make one of."""
        return not self._lines.ready() and not select.select([self._file], [], [], 0)[0]

    def _next(self) -> list[str] | None:
        try:
            return next(self._records, None)
        except csv.Error:
            raise DataError(
                f"{self._name}: line {self.line:,} cannot be read as CSV; close every quote, and write a quote inside "
                'a quoted cell as ""'
            ) from None


class _TextLines:
    """The lines of a binary file or pipe as text, which knows whether the next one is there without waiting."""

    def __init__(self, file: Any, name: str) -> None:
        self._file, self._name = file, name
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("strict")
        self._text, self._ended = "", False
        self._lines: list[str] = []

    def __iter__(self) -> "_TextLines":
        return self

    def __next__(self) -> str:
        while not self._lines:
            if self._ended:
                if not self._text:
                    raise StopIteration
                self._lines, self._text = [self._text], ""
            else:
                self._fill()
        return self._lines.pop()

    def ready(self) -> bool:
        """Tell whether there is a line that can be had at once."""
        return bool(self._lines) or self._ended

    def peek(self) -> str:
        """Give the beginning of the text, as far as it has arrived once there is a line."""
        while not self._lines and not self._ended:
            self._fill()
        return "".join(reversed(self._lines)) + self._text

    def _fill(self) -> None:
        """Read what is there, or wait for something; keep whole lines, the next one last."""
        try:
            raw = self._file.read(_CHUNK)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise UnreadableFile(self._name, "failed", f"cannot be read: {reason}", "name another file") from None
        try:
            self._text += self._decoder.decode(raw, final=not raw)
        except UnicodeDecodeError:
            raise DataError(f"{self._name} is not UTF-8; save it as UTF-8") from None
        self._ended = not raw
        if "\0" in self._text:
            raise DataError(f"{self._name} holds NUL bytes, which no CSV has; name a CSV file")
        if len(self._text) > _LONGEST_LINE:
            raise DataError(f"{self._name} has a line of more than {_LONGEST_LINE >> 20} MB; a table has rows")
        parts = self._text.split("\n")
        parts = [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
        unfinished = bool(parts) and not self._ended and not parts[-1].endswith("\n")
        self._text = parts.pop() if unfinished else ""
        self._lines = parts[::-1]
