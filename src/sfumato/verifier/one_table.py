"""One published table, counted: a class is the rows that agree in all their labels.

One pass over the file per sensitive column that is looked at (the first gives the classes too), or one for the
classes alone; one more where rows name individuals. Here ``classes`` has the labels beside id and n.
"""

from collections.abc import Mapping
from typing import Any

from sfumato.verifier.counts import Counts
from sfumato.verifier.promise import Promise
from sfumato.verifier.published import Published

_ORDERED = 3


class OneTable(Counts):
    """The classes of a generalized table."""

    def __init__(self, published: Published, promise: Promise) -> None:
        super().__init__(promise, published.connection)
        self.published = published
        self.keys = [published.column(quasi) for quasi in promise.quasi]
        self.order = ", ".join(f"c.{key}" for key in self.keys[:_ORDERED])
        source, rows = ("cells_0", "sum(r)") if promise.looked_at else (published.source, "count(*)")
        for place, column in enumerate(promise.looked_at):
            self._count_cells(column, f"cells_{place}")
        published.read(
            f"CREATE TABLE classes AS SELECT row_number() OVER () AS id, {self._keys()}, CAST({rows} AS BIGINT) AS n "
            f"FROM {source} GROUP BY {self._keys()}"
        )
        for place, column in enumerate(promise.looked_at):
            self._join_cells(column, f"cells_{place}")
        self._count_people()

    def labels(self, column: str) -> list[str | None]:
        """The different labels of a quasi-identifier."""
        found = self.connection.sql(f"SELECT DISTINCT {self.published.column(column)} AS v FROM classes")
        return self.published.texts(column, found.to_arrow_table().column("v"))

    def describe(self, identifier: int) -> str:
        """A class in words: its published labels."""
        found = self.connection.sql(f"SELECT {self._keys()} FROM classes WHERE id = {identifier}").to_arrow_table()
        return f"the class {self.published.words(self.promise.quasi, found)[0]}"

    def beyond(self, rule: Mapping[str, Any]) -> list[str]:  # noqa: ARG002 - as every kind of release is asked
        """Nothing: whoever is looked up stands in one class."""
        return []

    def problems(self) -> list[str]:
        """Nothing: a row stands in the class that its labels make."""
        return []

    def _keys(self) -> str:
        return ", ".join(self.keys)

    def _same(self, other: str) -> str:
        return " AND ".join(f"c.{key} IS NOT DISTINCT FROM {other}.{key}" for key in self.keys)

    def _count_cells(self, column: str, table: str) -> None:
        keys, value = self._keys(), self.published.column(column)
        self.published.read(
            f"CREATE TABLE {table} AS SELECT {keys}, {value} AS v, count(*) AS r FROM {self.published.source} "
            f"GROUP BY {', '.join(dict.fromkeys([*self.keys, value]))}"
        )

    def _join_cells(self, column: str, cells: str) -> None:
        joined = f"SELECT c.id, c.n, p.v, p.r FROM {cells} p JOIN classes c ON {self._same('p')}"
        self._print_pairs(self.published, column, joined)
        self.connection.execute(f"DROP TABLE {cells}")

    def _count_people(self) -> None:
        if self.promise.individual is None:
            self.connection.execute("CREATE VIEW persons AS SELECT id, n AS persons FROM classes")
            return
        who = self.published.column(self.promise.individual)
        people = f"FROM {self.published.source} p JOIN classes c ON {self._same('p')} GROUP BY ALL"
        self._count_persons(self.published, f"SELECT c.id, p.{who} AS who, count(*) AS r {people}")
