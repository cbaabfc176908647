"""Rows that agree in some columns as one line with a count, all their labels as texts.

A text here is never NULL: ``=Male`` is the text Male, and ``NULL`` is none. So labels can be compared as they are.
"""

from collections.abc import Sequence
from typing import Any

import duckdb
import pyarrow as pa

from sfumato.errors import NotVerified
from sfumato.verifier.published import Published

NULL = "NULL"


def encoded(label: str | None) -> str:
    """A label as it stands in these tables.

    >>> encoded("Male"), encoded(None), encoded("NULL")
    ('=Male', 'NULL', '=NULL')
    """
    return NULL if label is None else f"={label}"


def decoded(text: str) -> str | None:
    """The label again."""
    return None if text == NULL else text[1:]


def run(connection: Any, statement: str) -> Any:
    """What a statement gives; numbers that do not fit are refused, never cut."""
    try:
        return connection.execute(statement).fetchall()
    except duckdb.OutOfMemoryException:
        raise MemoryError from None
    except duckdb.OutOfRangeException:
        raise NotVerified(
            "the join with earlier releases has more lines than numbers of 128 bits can count; nothing was proved"
        ) from None


def count_lines(table: Published, columns: Sequence[str], target: str) -> None:
    """Make table `target` of the different lines on these columns, ``k0``, ``k1`` and so on, and how often: ``n``."""
    raw = "".join(f"{table.column(name)} AS k{i}, " for i, name in enumerate(columns))
    table.read(f"CREATE OR REPLACE TABLE raw_lines AS SELECT {raw}count(*) AS n FROM {table.source} GROUP BY ALL")
    joined = "".join(_printed(table, name, i) for i, name in enumerate(columns) if name in table.types)
    texts = "".join(
        f"coalesce('=' || {f't{i}.t' if name in table.types else table.text_sql(f'r.k{i}')}, '{NULL}') AS k{i}, "
        for i, name in enumerate(columns)
    )
    run(
        table.connection,
        f"CREATE OR REPLACE TABLE {target} AS SELECT {texts}CAST(sum(r.n) AS BIGINT) AS n FROM raw_lines r{joined} "
        "GROUP BY ALL HAVING sum(r.n) > 0",
    )
    run(table.connection, "DROP TABLE raw_lines")


def regroup(connection: Any, table: str, places: Sequence[int], target: str) -> None:
    """Make table `target` of fewer columns of such a table, which are ``k0``, ``k1`` and so on in it."""
    columns = "".join(f"k{place} AS k{i}, " for i, place in enumerate(places))
    total = f"SELECT {columns}CAST(sum(n) AS BIGINT) AS n FROM {table} GROUP BY ALL HAVING sum(n) > 0"
    run(connection, f"CREATE OR REPLACE TABLE {target} AS {total}")


def _printed(table: Published, name: str, place: int) -> str:
    """A join with the texts of a column that is not text: each different value is printed once."""
    values = table.connection.sql(f"SELECT DISTINCT k{place} AS v FROM raw_lines").to_arrow_table().column("v")
    texts = pa.table({"v": values, "t": pa.array(table.texts(name, values), pa.string())})
    table.connection.register(f"texts_{place}", texts)
    return f" JOIN texts_{place} t{place} ON t{place}.v IS NOT DISTINCT FROM r.k{place}"


def same(one: str, other: str, columns: Sequence[tuple[int, int]]) -> str:
    """A condition: two tables agree in these columns of theirs.

    >>> same("a", "b", [(0, 2)])
    'a.k0 = b.k2'
    """
    return " AND ".join(f"{one}.k{i} = {other}.k{j}" for i, j in columns) or "true"
