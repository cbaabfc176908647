"""The published table, counted: its classes, the persons of each, and the values of each sensitive column.

One pass over the file per sensitive column that is looked at (the first gives the classes too), or one for the
classes alone; one more where rows name individuals. Everything else is derived from these small tables:
``classes`` (id, labels, n), ``persons`` (id, persons) and ``pairs_i`` (id, n, v, r).
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from sfumato.verifier.promise import Promise
from sfumato.verifier.published import Published

_LABELS, _LENGTH = 12, 60


class Counts:
    """Classes and their values. NULL is a label, a value and a person like any other."""

    def __init__(self, published: Published, promise: Promise, looked_at: Sequence[str]) -> None:
        self.published, self.promise, self.connection = published, promise, published.connection
        self.keys = [published.column(quasi) for quasi in promise.quasi]
        source, rows = ("cells_0", "sum(r)") if looked_at else ("published", "count(*)")
        for place, column in enumerate(looked_at):
            self._count_cells(column, f"cells_{place}")
        published.read(
            f"CREATE TABLE classes AS SELECT row_number() OVER () AS id, {self._keys()}, CAST({rows} AS BIGINT) AS n "
            f"FROM {source} GROUP BY {self._keys()}"
        )
        self._pairs = {column: self._join_cells(column, place) for place, column in enumerate(looked_at)}
        self._count_persons()

    def pairs(self, column: str) -> str:
        """The name of the table of (class, rows of the class, value, rows of the value) for a sensitive column."""
        return self._pairs[column]

    def one(self, query: str) -> Any:
        """The first line that a query gives."""
        return self.connection.execute(query).fetchall()[0]

    def totals(self) -> tuple[int, int]:
        """Rows and classes."""
        rows, classes = self.one("SELECT coalesce(sum(n), 0), count(*) FROM classes")
        return int(rows), int(classes)

    def labels(self, column: str) -> list[str | None]:
        """The different labels of a quasi-identifier."""
        found = self.connection.sql(f"SELECT DISTINCT {self.published.column(column)} AS v FROM classes")
        return self.published.texts(column, found.to_arrow_table().column("v"))

    def describe(self, identifier: int) -> str:
        """A class in words: its published labels."""
        found = self.connection.sql(f"SELECT {self._keys()} FROM classes WHERE id = {identifier}").to_arrow_table()
        cells = [self.published.texts(quasi, found.column(i))[0] for i, quasi in enumerate(self.promise.quasi)]
        parts = [f"{quasi} = {_short(cell)}" for quasi, cell in zip(self.promise.quasi, cells, strict=True)]
        rest = [f"{len(parts) - _LABELS} more labels"] if len(parts) > _LABELS else []
        return ", ".join(parts[:_LABELS] + rest)

    def _keys(self, table: str = "") -> str:
        return ", ".join(f"{table}{key}" for key in self.keys)

    def _same(self, other: str) -> str:
        return " AND ".join(f"c.{key} IS NOT DISTINCT FROM {other}.{key}" for key in self.keys)

    def _count_cells(self, column: str, table: str) -> None:
        keys, value = self._keys(), self.published.column(column)
        self.published.read(
            f"CREATE TABLE {table} AS SELECT {keys}, {value} AS v, count(*) AS r FROM published "
            f"GROUP BY {', '.join(dict.fromkeys([*self.keys, value]))}"
        )

    def _join_cells(self, column: str, place: int) -> str:
        cells, pairs = f"cells_{place}", f"pairs_{place}"
        joined = f"FROM {cells} p JOIN classes c ON {self._same('p')}"
        if column in self.published.types:
            self._print_values(column, f"texts_{place}", cells)
            joined += f" JOIN texts_{place} x ON x.v IS NOT DISTINCT FROM p.v"
            select = "SELECT c.id, c.n, x.t AS v, CAST(sum(p.r) AS BIGINT) AS r"
            self.connection.execute(f"CREATE TABLE {pairs} AS {select} {joined} GROUP BY c.id, c.n, x.t")
        else:
            value = self.published.text_sql("p.v")
            self.connection.execute(f"CREATE TABLE {pairs} AS SELECT c.id, c.n, {value} AS v, p.r {joined}")
        self.connection.execute(f"DROP TABLE {cells}")
        return pairs

    def _print_values(self, column: str, table: str, cells: str) -> None:
        """A table of values and their texts."""
        values = self.connection.sql(f"SELECT DISTINCT v FROM {cells}").to_arrow_table().column("v")
        texts = pa.array(self.published.texts(column, values), pa.string())
        self.connection.register(table, pa.table({"v": values, "t": texts}))

    def _count_persons(self) -> None:
        if self.promise.individual is None:
            self.connection.execute("CREATE VIEW persons AS SELECT id, n AS persons FROM classes")
            return
        person = f"p.{self.published.column(self.promise.individual)}"
        self.published.read(
            f"CREATE TABLE persons AS SELECT c.id, count(DISTINCT {person}) + max(CAST({person} IS NULL AS INTEGER)) "
            f"AS persons FROM published p JOIN classes c ON {self._same('p')} GROUP BY c.id"
        )


def _short(cell: str | None) -> str:
    if cell is None:
        return "NULL"
    return cell if len(cell) <= _LENGTH else f"{cell[:_LENGTH]}…"
