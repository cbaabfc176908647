"""The formula rule of published CSV files: no cell that a spreadsheet would run.

A text that starts with ``=``, ``+``, ``-``, ``@``, a tab, a carriage return or NUL, or with apostrophes before one of
these, gets one apostrophe in front. Reading it back, one apostrophe is taken away where apostrophes are before one of
those characters. Numbers, negative ones included, are left alone. Here the rule is applied to one text at a time;
`sfumato.publish.csv_writer` applies it to whole columns.
"""

import re

_RISKY = re.compile(r"'*[=+\-@\t\r\0]")
_GUARDED = re.compile(r"'+[=+\-@\t\r\0]")
_NEGATIVE_NUMBER = re.compile(r"-(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def guard_formula(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would take for a formula.

    >>> guard_formula("=1+1"), guard_formula("'=1"), guard_formula("-5"), guard_formula("'tis")
    ("'=1+1", "''=1", '-5', "'tis")
    """
    return f"'{text}" if _RISKY.match(text) and not _NEGATIVE_NUMBER.fullmatch(text) else text


def unguard_formula(text: str) -> str:
    """Take away the apostrophe that `guard_formula` put before a text.

    >>> unguard_formula("'=1+1"), unguard_formula("''=1"), unguard_formula("-5"), unguard_formula("'tis")
    ('=1+1', "'=1", '-5', "'tis")
    """
    return text[1:] if _GUARDED.match(text) else text
