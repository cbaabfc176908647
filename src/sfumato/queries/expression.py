"""Expressions of a query: SQL over columns by their place, with the kind of value that comes out."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sfumato.errors import InputError
from sfumato.queries.column import Column, written
from sfumato.queries.database import quoted

NUMBER, TEXT, CONDITION, NOTHING = "a number", "a text", "a condition", "NULL"
_NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Expression:
    """What a part of a query is: `sql` that runs, `shown` as people write it, its `kind`, and the columns it is about.

    `real` says that a number is one of floating point already; `literal` is the text of a constant.
    """

    sql: str
    shown: str
    kind: str
    columns: frozenset[int] = frozenset()
    real: bool = False
    literal: str | None = None

    def __str__(self) -> str:
        return self.shown


def of_column(column: Column) -> Expression:
    """The value of a column."""
    if column.empty:
        return Expression("NULL", written(column.name), NOTHING, frozenset({column.place}))
    kind = NUMBER if column.number else TEXT
    return Expression(column.value, written(column.name), kind, frozenset({column.place}))


def constant(kind: str, text: str) -> Expression:
    """A constant of one of DuckDB's kinds of literals.

    >>> constant("STRING", "it's").sql, constant("NUMERIC", "1.5").sql, constant("NULL_LITERAL", "").kind
    ("'it''s'", 'CAST(1.5 AS DOUBLE)', 'NULL')
    """
    match kind:
        case "STRING":
            return Expression(quoted(text), quoted(text), TEXT, literal=text)
        case "INTEGER":
            return Expression(text, text, NUMBER, literal=text)
        case "NUMERIC":
            return Expression(f"CAST({text} AS DOUBLE)", text, NUMBER, real=True, literal=text)
        case "BOOLEAN":
            return Expression(text, text, CONDITION, literal=text)
        case "NULL_LITERAL":
            return Expression("NULL", "NULL", NOTHING, literal="")
    raise InputError(f"{text!r} is no number and no text; a constant is written as 37, 1.5 or 'flu'")


def alike(parts: Sequence[Expression]) -> list[Expression]:
    """Expressions that are compared with each other, as values of one kind.

    A constant adapts to what it is compared with where that says the same: '37' is a number beside a column of
    numbers. What would only look right, such as a number beside a column of texts, is refused.
    """
    leading = next((part for part in parts if part.literal is None), parts[0])
    return [_adapted(part, leading) for part in parts]


def _adapted(part: Expression, leading: Expression) -> Expression:
    if NOTHING in {part.kind, leading.kind} or part.kind == leading.kind:
        return part
    if leading.kind == NUMBER and part.literal is not None and _NUMERAL.fullmatch(part.literal):
        return replace(part, sql=f"CAST({part.literal} AS DOUBLE)", kind=NUMBER, real=True)
    if leading.kind == TEXT and part.kind == CONDITION and part.literal is not None:
        return replace(part, sql=quoted(part.literal), kind=TEXT)
    if leading.kind == TEXT and part.kind == NUMBER and part.literal is not None:
        raise InputError(f"{leading} holds texts; write {quoted(part.literal)} in quotes to compare it with them")
    raise InputError(f"{leading} is {leading.kind} and {part} is {part.kind}; compare like with like")


def number(part: Expression, why: str) -> Expression:
    """The expression as a floating number, or a refusal that says what needs one."""
    if part.kind == NOTHING:
        return replace(part, sql="CAST(NULL AS DOUBLE)")
    if part.kind != NUMBER:
        raise InputError(f"{why} needs numbers, and {part} is {part.kind}")
    return part if part.real else replace(part, sql=f"CAST({part.sql} AS DOUBLE)", real=True)


def text(part: Expression) -> Expression:
    """The expression as a text: a number by its digits."""
    if part.kind == CONDITION:
        raise InputError(f"LIKE compares texts, and {part} is a condition")
    return part if part.kind == TEXT else replace(part, sql=f"CAST({part.sql} AS VARCHAR)", kind=TEXT)


def condition(part: Expression) -> Expression:
    """The expression as a condition, or a refusal."""
    if part.kind not in {CONDITION, NOTHING}:
        raise InputError(f"{part} is {part.kind} and no condition; compare it with something, as in {part} = …")
    return replace(part, sql="CAST(NULL AS BOOLEAN)") if part.kind == NOTHING else part


def made(sql: str, shown: str, kind: str, parts: Sequence[Expression]) -> Expression:
    """An expression of others; `sql` and `shown` have a place for each, in order."""
    columns = frozenset().union(*(part.columns for part in parts))
    written_sql, text_shown = sql.format(*(p.sql for p in parts)), shown.format(*(p.shown for p in parts))
    return Expression(written_sql, text_shown, kind, columns, real=kind == NUMBER)
