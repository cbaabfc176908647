"""Small pieces of the statements that answer queries."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sfumato.queries.column import Column
from sfumato.queries.expression import Expression


def source(table: str, columns: Iterable[Column]) -> str:
    """A table together with the dictionaries of those of its columns that are looked at.

    >>> source("t0", [Column("age", 3), Column("id", 4, coded=False)])
    't0 JOIN d3 USING (k3)'
    """
    coded = [column for column in columns if column.coded]
    return " ".join([table, *(f"JOIN {column.dictionary} USING ({column.code})" for column in coded)])


def where(conditions: Sequence[Expression]) -> str:
    """The clause that asks for all of these, or nothing."""
    return f" WHERE {' AND '.join(one.sql for one in conditions)}" if conditions else ""


def grouped(columns: Sequence[str]) -> str:
    """The clause that groups by these, or nothing."""
    return f" GROUP BY {', '.join(columns)}" if columns else ""


def ordered(columns: Sequence[str]) -> str:
    """The clause that orders by these with NULL last, or nothing."""
    return f" ORDER BY {', '.join(f'{column} NULLS LAST' for column in columns)}" if columns else ""


def product(*factors: str) -> str:
    """Factors multiplied, ones left out.

    >>> product("1", "f"), product("1"), product("f", "f")
    ('f', '1', 'f * f')
    """
    return " * ".join(factor for factor in factors if factor != "1") or "1"


def total(amount: str) -> str:
    """The sum over rows of an amount, as a floating number.

    >>> total("1"), total("f")
    ('CAST(count(*) AS DOUBLE)', 'sum(f)')
    """
    return "CAST(count(*) AS DOUBLE)" if amount == "1" else f"sum({amount})"


def select(keys: Iterable[str], figures: Mapping[str, str], rest: str) -> str:
    """A query for these keys, and for figures by their names.

    >>> select(["class"], {"n": "count(*)"}, "t0")
    'SELECT class, count(*) AS n FROM t0'
    """
    return f"SELECT {', '.join([*keys, *(f'{sql} AS {name}' for name, sql in figures.items())])} FROM {rest}"


ONCE, EACH_TIME = " AS MATERIALIZED", " AS NOT MATERIALIZED"
"""After the name of a table on the way: it is made once, or each time that it is read."""


def statement(tables: Mapping[str, str], last: str) -> str:
    """A statement with tables that are made on the way, one per line."""
    made = [f"{name if ' AS ' in name else f'{name} AS'} ({query})" for name, query in tables.items()]
    return "WITH " + ",\n".join(made) + f"\n{last}" if made else last


@dataclass(frozen=True)
class Plan:
    """How a query is answered: the `sql` that gives, for each group, its sums and, if `spread`, their covariances.

    `work` has, for each step that forms combinations, statements that count beforehand how many there would be: quick
    and too high first, exact last.
    """

    sql: str
    spread: bool = True
    work: tuple[tuple[str, ...], ...] = ()
