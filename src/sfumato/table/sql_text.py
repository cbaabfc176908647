"""SQL around somebody's query: the columns of its result, some of them, or its first rows."""

import re
from collections.abc import Sequence

from sfumato.errors import DataError, listing
from sfumato.policy import DataSource

_END = re.compile(r";\s*(?:--[^\n]*\s*|/\*.*?\*/\s*)*\Z", re.DOTALL)
"""The semicolon that ends a query, with comments after it."""


_SAY_WHAT = 'say table = "…" or query = "select …" in [data], or --table or --query to init'


def quote_identifier(name: str, mark: str = '"') -> str:
    """Write any name as an SQL identifier; MySQL's mark is another.

    >>> print(quote_identifier('a"b'), quote_identifier("a`b", "`"))
    "a""b" `a``b`
    """
    return mark + name.replace(mark, mark * 2) + mark


def write_select(inner: str, columns: Sequence[str] | None = None, *, first: int | None = None, mark: str = '"') -> str:
    """Write the selection of columns, or of all, from a table or a query in brackets; of so many rows at most.

    >>> print(write_select('"visits"', ["age"], first=5))
    SELECT "age" FROM "visits" LIMIT 5
    """
    cells = "*" if columns is None else ", ".join(quote_identifier(name, mark) for name in columns)
    return f"SELECT {cells} FROM {inner}" + ("" if first is None else f" LIMIT {first}")  # noqa: S608 - quoted


def write_from(source: DataSource, name: str, tables: Sequence[str] | None, *, mark: str = '"') -> str:
    """Write what rows come from: the policy's query in brackets, its table, or the only table that there is.

    `name` is that of the database, for sentences, and `tables` are those that it has, where they are known.
    """
    if source.query is not None:
        return f"(\n{_END.sub('', source.query.strip())}\n) AS q"  # a comment at its end reaches no further
    if source.table is not None:
        return ".".join(quote_identifier(part, mark) for part in split_table_name(source.table))
    if tables is None:
        raise DataError(f"nothing says what is read of {name}; {_SAY_WHAT}")
    if len(tables) != 1:
        has = f"has the tables {listing(tables)}" if tables else "has no table"
        raise DataError(f"{name} {has}; {_SAY_WHAT}")
    return quote_identifier(tables[0], mark)


def split_table_name(name: str) -> list[str]:
    """Split a table's name from the schema before it; a name in quotes may have points.

    >>> split_table_name("clinic.visits"), split_table_name('"a.b"'), split_table_name('clinic."a.b"')
    (['clinic', 'visits'], ['a.b'], ['clinic', 'a.b'])
    """
    parts, quoted = [""], False
    for sign in name:
        if sign == '"':
            quoted = not quoted
        elif sign == "." and not quoted:
            parts.append("")
        else:
            parts[-1] += sign
    return parts if all(parts) else [name]
