"""Small pieces of SQL, and the formula rule of CSV files taken back."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

_RISKY = frozenset("=+-@\t\r\0")
_LARGEST = 10**11
_FINEST = 10**17


def name(column: str) -> str:
    """A name as an SQL identifier, whatever it holds.

    >>> print(name('a"b'))
    "a""b"
    """
    return '"' + column.replace('"', '""') + '"'


def text(value: str) -> str:
    r"""A string literal, whatever it holds; a statement itself cannot hold NUL.

    >>> print(text("it's"), text("a\0b"))
    'it''s' ('a' || chr(0) || 'b')
    """
    parts = ["'" + part.replace("'", "''") + "'" for part in value.split("\0")]
    return parts[0] if len(parts) == 1 else f"({' || chr(0) || '.join(parts)})"


def protected(values: Sequence[str] | None) -> str:
    """A condition on ``v``: one of these values, or any at all where none is named.

    >>> print(protected(["HIV"]), protected(None))
    v IN ('HIV') true
    """
    return f"v IN ({', '.join(text(value) for value in values)})" if values else "true"


def exact(number: float) -> tuple[int, int]:
    """A policy's number as a fraction of whole numbers: its digits, or the plain fraction that prints like it.

    Products with ten billion rows fit into 128 bits: numbers below 1e-17 count as 1e-17 and numbers above 1e11
    as 1e11, which no class can tell apart.

    >>> exact(0.1), exact(1 / 3), exact(2)
    ((1, 10), (1, 3), (2, 1))
    """
    digits = Fraction(Decimal(repr(number)))
    simple = digits.limit_denominator(10**9)
    meant = simple if float(simple) == float(number) else digits
    if meant.denominator > _FINEST:
        meant = Fraction(max(1, int(meant * _FINEST)), _FINEST)
    meant = min(meant, Fraction(_LARGEST))
    return meant.numerator, meant.denominator


def times(whole: int, count: str) -> str:
    """A whole number times a count, in 128 bits.

    >>> print(times(3, "n"))
    CAST(3 AS HUGEINT) * n
    """
    return f"CAST({whole} AS HUGEINT) * {count}"


def unguarded(cell: str) -> str:
    """A text as it was before the formula rule: one apostrophe less where the rule added one.

    >>> unguarded("'=1+1"), unguarded("''=1"), unguarded("'tis"), unguarded("-5")
    ('=1+1', "'=1", "'tis", '-5')
    """
    rest = cell.lstrip("'")
    return cell[1:] if rest != cell and rest[:1] in _RISKY and rest else cell


def unguarded_sql(column: str) -> str:
    """The same in SQL."""
    return f"CASE WHEN regexp_matches({column}, '^''+[=+\\-@\\t\\r\\x00]') THEN substr({column}, 2) ELSE {column} END"
