"""The head of a CSV file: whether it is text, its separator, and the names of its columns."""

import codecs
import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from sfumato.errors import DataError
from sfumato.policy import DataSource
from sfumato.table.encoding import decoder_of, is_wide, not_decodable

_SEPARATORS = (",", ";", "\t", "|")
_SIZE = 1 << 16
_LONGEST = 1 << 26
_LOOKED_AT = 50
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class Head:
    """The separator of a file and the names in its first record."""

    separator: str
    names: list[str]


def head_of(path: Path, source: DataSource) -> Head:
    """Look at as much of a file as its header needs."""
    text, whole = _beginning(path, source.encoding)
    separator = source.separator or find_separator(text, whole=whole)
    if not separator.isascii():
        raise DataError(f"the separator {separator!r} is not an ASCII character; write the file with another one")
    return Head(separator, header(text, separator))


def find_separator(text: str, *, whole: bool = True) -> str:
    r"""The separator that cuts the first records into equally many cells, the most there are.

    >>> find_separator("a;b\n1,5;2\n")
    ';'
    """
    scores = {mark: _regular(text, mark, whole=whole) for mark in _SEPARATORS}
    best = max(_SEPARATORS, key=lambda mark: scores[mark])
    return best if scores[best] else ","


def header(text: str, separator: str) -> list[str]:
    """The names in the first record."""
    names = next(_records(text, separator), [])
    if not names or any(not name.strip() for name in names):
        raise DataError("the first line must name every column, and one name is empty; add a header")
    return names


def _regular(text: str, mark: str, *, whole: bool) -> int:
    """How many cells a record has with this separator, 1 where they differ and 0 where there is but one."""
    records = [row for row in islice(_records(text, mark), _LOOKED_AT + 1) if row]
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


def _beginning(path: Path, encoding: str) -> tuple[str, bool]:
    """The first records as text, and whether they are all: more and more of the file until a line ends."""
    size = _SIZE
    while True:
        with path.open("rb") as file:
            raw = file.read(size)
        _check_text(path, raw, encoding)
        text = _decoded(path, raw, encoding)
        whole = len(raw) < size
        if whole or "\n" in text or "\r" in text:
            return text, whole
        if size >= _LONGEST:
            raise DataError(f"{path.name} has no line end in its first {_LONGEST >> 20} MB; a table has rows")
        size = min(size * 8, _LONGEST)


def _check_text(path: Path, raw: bytes, encoding: str) -> None:
    if is_wide(encoding):
        return
    if raw.startswith(_UTF16):
        raise DataError(f'{path.name} is UTF-16; save it as UTF-8, or say encoding = "utf-16" in [data]')
    if b"\0" in raw[:4096]:
        raise DataError(f"{path.name} is a binary file, not CSV; name a CSV, Parquet, Feather or JSON Lines file")


def _decoded(path: Path, raw: bytes, encoding: str) -> str:
    try:
        return decoder_of("utf-8-sig" if encoding == "utf-8" else encoding).decode(raw)
    except UnicodeError:
        raise not_decodable(path, encoding) from None
