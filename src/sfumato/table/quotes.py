"""Quotes in a CSV file: every one that opens a cell closes it, or rows would vanish inside a cell."""

import codecs
import mmap
import re
from pathlib import Path

from sfumato.errors import DataError


def check_quotes(path: Path, separator: str) -> bool:
    """Whether any quote stands in the file: without one no cell can hold a newline, and chunks are free.

    Readers forgive a quote that is never closed, and text after a closing one; either swallows the rows up to
    the next quote without a word. Both are refused here, by line.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if content.find(b'"') < 0:
            return False
        start = len(codecs.BOM_UTF8) if content[:3] == codecs.BOM_UTF8 else 0
        wrong = _first_wrong(content, start, separator.encode())
        if wrong is None:
            return True
        line = content[:wrong].count(b"\n") + 1
    raise DataError(
        f"{path.name}: a quote that opens a cell on line {line} is not closed, or text follows where it is; "
        'close it, and write a quote inside a quoted cell as ""'
    )


def _first_wrong(content: mmap.mmap, start: int, separator: bytes) -> int | None:
    """The place of the first quote that opens a cell and does not close it."""
    with memoryview(content)[start:] as view:
        found = _well_formed(separator).match(view)
        end = found.end() if found else 0
        length = len(view)
        del found  # it holds on to the view
    return None if end == length else start + end


def _well_formed(separator: bytes) -> re.Pattern[bytes]:
    r"""Text without quotes; whole quoted cells; quotes amid an unquoted cell, which are text.

    >>> _well_formed(b",").match(b'a,"b""c",5" disk').end()
    16
    >>> _well_formed(b",").match(b'a,"b').end()
    2
    """
    ends = b"[" + re.escape(separator) + rb"\r\n]"
    within = b"[^" + ends[1:]
    cell = rb"(?<!" + within + rb')"[^"]*+(?:""[^"]*+)*+"(?=' + ends + rb"|\Z)"
    return re.compile(rb'(?:[^"]++|' + cell + rb"|(?<=" + within + rb')")*+')
