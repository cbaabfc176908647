"""The formula rule of published CSV files, one text at a time: see `sfumato.release.csv_file`."""

import re

_RISKY = re.compile(r"'*[=+\-@\t\r\0]")
_ADDED = re.compile(r"'+[=+\-@\t\r\0]")
_NEGATIVE = re.compile(r"-(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def guarded(text: str) -> str:
    """A text as it is written, with an apostrophe where a spreadsheet would take it for a formula.

    >>> guarded("=1+1"), guarded("'=1"), guarded("-5"), guarded("'tis")
    ("'=1+1", "''=1", '-5', "'tis")
    """
    return f"'{text}" if _RISKY.match(text) and not _NEGATIVE.fullmatch(text) else text


def unguarded(text: str) -> str:
    """A written text as it was.

    >>> unguarded("'=1+1"), unguarded("''=1"), unguarded("-5"), unguarded("'tis")
    ('=1+1', "'=1", '-5', "'tis")
    """
    return text[1:] if _ADDED.match(text) else text
