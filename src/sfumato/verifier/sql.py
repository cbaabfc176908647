"""The database that the verifier counts in, and small pieces of SQL: quoting, exact numbers, the formula rule.

Every statement of the verifier is made of table and column names of its own (``c0``, ``c1`` and so on), of literals
that `quote_text` has quoted, and of numbers. Nothing of a release gets into a statement in any other way.
"""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb

from sfumato.verifier.working_space import SPACE

_FORMULA_SIGNS = frozenset("=+-@\t\r\0")
_LARGEST_NUMBER = 10**11
_FINEST_DENOMINATOR = 10**17


def connect(paths: Sequence[Path] = (), *, in_order: bool = False) -> Any:
    """Open a database in memory that loads nothing, writes nothing, and reads these files alone.

    Paths are absolute. No statement on the connection can change what it may do. Rows keep the order of their file
    where `in_order` says so. What exceeds the memory of the `working_space` is moved to its folder, where it has one.

    >>> connect().execute("SELECT * FROM read_csv('other.csv')")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    duckdb.PermissionException: Permission Error: ...
    """
    allowed = ", ".join(quote_text(form) for path in paths for form in (str(path), path_pattern(path)))
    connection = duckdb.connect(":memory:")
    for setting in (
        "autoload_known_extensions = false",
        "autoinstall_known_extensions = false",
        "python_enable_replacements = false",  # a table is what we register, never a variable of that name
        "enable_progress_bar = false",  # by itself it is on, and on standard output, under python -c
        f"preserve_insertion_order = {'true' if in_order else 'false'}",
        f"temp_directory = {quote_text(str(SPACE.get().folder or ''))}",
        *SPACE.get().settings,
        f"allowed_paths = [{allowed}]",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")
    return connection


def path_pattern(path: Path) -> str:
    """Write a path so that it matches itself alone where DuckDB reads a path as a pattern.

    >>> path_pattern(Path("/data/[1]*/table.csv"))
    '/data/[[]1][*]/table.csv'
    """
    return "".join(f"[{sign}]" if sign in "[*?" else sign for sign in str(path))


def quote_name(name: str) -> str:
    """Write any text as an SQL identifier.

    >>> print(quote_name('a"b'))
    "a""b"
    """
    return '"' + name.replace('"', '""') + '"'


def quote_text(value: str) -> str:
    r"""Write any text as a string literal; a statement itself cannot contain NUL, so that is joined in by ``chr(0)``.

    >>> print(quote_text("it's"), quote_text("a\0b"))
    'it''s' ('a' || chr(0) || 'b')
    """
    parts = ["'" + part.replace("'", "''") + "'" for part in value.split("\0")]
    return parts[0] if len(parts) == 1 else f"({' || chr(0) || '.join(parts)})"


def is_protected(values: Sequence[str] | None) -> str:
    """Write the condition that ``v`` is one of these values; without values every ``v`` is protected.

    >>> print(is_protected(["HIV"]), is_protected(None))
    v IN ('HIV') true
    """
    return f"v IN ({', '.join(quote_text(value) for value in values)})" if values else "true"


def exact_ratio(number: float) -> tuple[int, int]:
    """Turn a policy's number into numerator and denominator: its digits, or the simple fraction that prints like it.

    Products with ten billion rows fit into 128 bits: numbers below 1e-17 count as 1e-17 and numbers above 1e11
    as 1e11, which no class can tell apart.

    >>> exact_ratio(0.1), exact_ratio(1 / 3), exact_ratio(2)
    ((1, 10), (1, 3), (2, 1))
    """
    digits = Fraction(Decimal(repr(number)))
    simple = digits.limit_denominator(10**9)
    ratio = simple if float(simple) == float(number) else digits
    if ratio.denominator > _FINEST_DENOMINATOR:
        ratio = Fraction(max(1, int(ratio * _FINEST_DENOMINATOR)), _FINEST_DENOMINATOR)
    ratio = min(ratio, Fraction(_LARGEST_NUMBER))
    return ratio.numerator, ratio.denominator


def times(factor: int, count: str) -> str:
    """Write the product of a whole number and a count, in 128 bits.

    >>> print(times(3, "n"))
    CAST(3 AS HUGEINT) * n
    """
    return f"CAST({factor} AS HUGEINT) * {count}"


def remove_guard(cell: str) -> str:
    """Take the formula rule of CSV files back: one apostrophe less where the rule added one.

    >>> remove_guard("'=1+1"), remove_guard("''=1"), remove_guard("'tis"), remove_guard("-5")
    ('=1+1', "'=1", "'tis", '-5')
    """
    rest = cell.lstrip("'")
    return cell[1:] if rest != cell and rest[:1] in _FORMULA_SIGNS and rest else cell


def remove_guard_sql(column: str) -> str:
    """Write the same as an SQL expression over a column of text."""
    return f"CASE WHEN regexp_matches({column}, '^''+[=+\\-@\\t\\r\\x00]') THEN substr({column}, 2) ELSE {column} END"
