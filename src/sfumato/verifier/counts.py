"""What every check counts on: the classes of a release, the persons of each, and the values of each sensitive column.

A release is counted into a few kinds of small tables, whatever its form: ``classes`` (id, n), ``persons``
(id, persons) and, for each sensitive column that is looked at, ``pairs_i`` (id, n, v, r); where a requirement is about
the rows of each person, ``people`` (id, who, r) as well. Checks know these alone.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from sfumato.verifier.promise import Promise
from sfumato.verifier.published import Published


class Counts(ABC):
    """Classes and their values. NULL is a label, a value and a person like any other."""

    order: str
    """In which order classes that are equally bad are named, in SQL over ``classes c``."""

    def __init__(self, promise: Promise, connection: Any) -> None:
        self.promise, self.connection = promise, connection
        self._pairs = {column: f"pairs_{place}" for place, column in enumerate(promise.looked_at)}

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

    @abstractmethod
    def labels(self, column: str) -> list[str | None]:
        """The different labels of a quasi-identifier."""

    @abstractmethod
    def describe(self, identifier: int) -> str:
        """A class in words."""

    @abstractmethod
    def beyond(self, rule: Mapping[str, Any]) -> list[str]:
        """How a requirement fails where no class alone shows it, in words."""

    @abstractmethod
    def problems(self) -> list[str]:
        """What keeps the files from being a release of classes at all."""

    def _count_persons(self, published: Published, people: str) -> None:
        """From a query of (id, who, r), how many rows of which class are whose: the persons of each class."""
        if self.promise.by_person:
            published.read(f"CREATE TABLE people AS {people}")
            people = "SELECT id FROM people"
        published.read(f"CREATE TABLE persons AS SELECT id, count(*) AS persons FROM ({people}) GROUP BY id")

    def _print_pairs(self, published: Published, column: str, source: str) -> None:
        """From a query of (id, n, v, r) with values as they stand in the file: the pairs, with values as texts."""
        pairs = self.pairs(column)
        if column not in published.types:
            value = published.text_sql("v")
            self.connection.execute(f"CREATE TABLE {pairs} AS SELECT id, n, {value} AS v, r FROM ({source})")
            return
        values = self.connection.sql(f"SELECT DISTINCT v FROM ({source})").to_arrow_table().column("v")
        texts = pa.array(published.texts(column, values), pa.string())
        self.connection.register(f"{pairs}_texts", pa.table({"v": values, "t": texts}))
        self.connection.execute(
            f"CREATE TABLE {pairs} AS SELECT id, n, t AS v, CAST(sum(r) AS BIGINT) AS r FROM ({source}) p "
            f"JOIN {pairs}_texts x ON x.v IS NOT DISTINCT FROM p.v GROUP BY id, n, t"
        )
