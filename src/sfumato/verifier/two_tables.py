"""Two published tables, counted: a class is the lines of NSS, and of each SS, that have the same class id.

One pass over NSS counts the lines of each class and of each combination of quasi-identifiers in it, one more the
persons where lines name them; one pass over each SS counts its lines, and one the values of each column that is
looked at. The id of a class is its class id.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from sfumato.verifier.counts import Counts
from sfumato.verifier.join import Excess, excesses
from sfumato.verifier.promise import Promise
from sfumato.verifier.published import Published
from sfumato.verifier.rules import looked_at, shares

_SHOWN = 3


class TwoTables(Counts):
    """The classes of NSS, which is the first of the files, with the bags that the others hold."""

    order = "c.id"

    def __init__(self, files: Sequence[Published], promise: Promise, class_id: str) -> None:
        super().__init__(promise, files[0].connection)
        self.class_id, self.nss, self.ss = class_id, files[0], files[1:]
        self._count_points()
        for place, file in enumerate(self.ss):
            self._count_lines(file, f"lines_{place}")
        self._count_people()

    def labels(self, column: str) -> list[str | None]:
        """The different labels of a quasi-identifier."""
        found = self._all_labels.column(self.promise.quasi.index(column)).combine_chunks()
        return self.nss.texts(column, found.flatten())

    def describe(self, identifier: int) -> str:
        """A class in words: its class id."""
        return f"class {identifier}"

    def beyond(self, rule: Mapping[str, Any]) -> list[str]:
        """Quasi-identifiers that stand in several classes, and that the join gives too large a share of a value."""
        bound = shares(rule)
        if not bound:
            return []
        found, failing = excesses(self.connection, bound, [self.pairs(column) for column in looked_at(bound)], _SHOWN)
        sentences = [
            f"the quasi-identifiers {self._words(one)} stand in {one.classes} classes, and the join gives {one.value} "
            f"a share of {round(one.share, 4)}, above {round(one.allowed, 4)}"
            for one in found
        ]
        return sentences + _rest(failing, "quasi-identifiers in several classes fail")

    def problems(self) -> list[str]:
        """Lines without a class, and classes that have not as many lines in every file."""
        problems = self._unnumbered(self.nss, "(SELECT id, m AS n FROM points)")
        for place, file in enumerate(self.ss):
            problems += self._unnumbered(file, f"lines_{place}") + self._unequal(file, f"lines_{place}")
        return problems

    def _count_points(self) -> None:
        """Lines of each combination of quasi-identifiers in each class, and lines of each class.

        A combination is known by a hash of 64 bits. Should two of them have the same one, they count as one that
        stands in the classes of both; no class, and nothing that is found about a class, depends on it.
        """
        self.nss.read(
            f"CREATE TABLE points AS SELECT {self._hash} AS q, {self.nss.whole_sql(self.class_id)} AS id, "
            f"count(*) AS m FROM {self.nss.source} GROUP BY ALL"
        )
        self.connection.execute(
            "CREATE TABLE classes AS SELECT id, CAST(sum(m) AS BIGINT) AS n "
            "FROM points WHERE id IS NOT NULL GROUP BY id"
        )

    def _count_lines(self, file: Published, lines: str) -> None:
        """Lines of each class in an SS, and the pairs of its columns that are looked at."""
        number = file.whole_sql(self.class_id)
        file.read(f"CREATE TABLE {lines} AS SELECT {number} AS id, count(*) AS n FROM {file.source} GROUP BY ALL")
        for column in self.promise.looked_at:
            if column in file.columns:
                cells = (
                    f"SELECT {number} AS id, {file.column(column)} AS v, count(*) AS r FROM {file.source} GROUP BY ALL"
                )
                file.read(f"CREATE OR REPLACE TABLE cells AS {cells}")
                source = f"SELECT p.id, l.n, p.v, p.r FROM cells p JOIN {lines} l ON l.id = p.id"
                self._print_pairs(file, column, source)

    def _count_people(self) -> None:
        if self.promise.individual is None:
            self.connection.execute("CREATE VIEW persons AS SELECT id, n AS persons FROM classes")
            return
        number, who = self.nss.whole_sql(self.class_id), self.nss.column(self.promise.individual)
        lines = f"SELECT {number} AS id, {who} AS who FROM {self.nss.source}"
        people = f"SELECT id, who, count(*) AS r FROM ({lines}) WHERE id IS NOT NULL GROUP BY ALL"
        self._count_persons(self.nss, people)

    @property
    def _keys(self) -> str:
        return ", ".join(self.nss.column(quasi) for quasi in self.promise.quasi)

    @property
    def _hash(self) -> str:
        return f"hash({self._keys})"

    @cached_property
    def _all_labels(self) -> Any:
        """One line with a list of the different labels of each quasi-identifier, from one pass."""
        lists = ", ".join(
            f"list(DISTINCT {self.nss.column(quasi)}) AS l{i}" for i, quasi in enumerate(self.promise.quasi)
        )
        self.nss.read(f"CREATE TABLE labels AS SELECT {lists} FROM {self.nss.source}")
        return self.connection.sql("SELECT * FROM labels").to_arrow_table()

    def _words(self, one: Excess) -> str:
        self.nss.read(
            f"CREATE OR REPLACE TABLE known AS SELECT {self._keys} FROM {self.nss.source} WHERE {self._hash} = {one.q} "
            "LIMIT 1"
        )
        return self.nss.words(self.promise.quasi, self.connection.sql("SELECT * FROM known").to_arrow_table())[0]

    def _unnumbered(self, file: Published, lines: str) -> list[str]:
        number = int(self.one(f"SELECT coalesce(sum(n), 0) FROM {lines} WHERE id IS NULL")[0])
        return [f"{file.label} has {number:,} lines whose class id is missing or no whole number"] if number else []

    def _unequal(self, file: Published, lines: str) -> list[str]:
        """Classes that have not as many lines here as in NSS."""
        both = (
            "SELECT coalesce(c.id, l.id) AS id, coalesce(c.n, 0) AS a, coalesce(l.n, 0) AS b FROM classes c "
            f"FULL JOIN (SELECT * FROM {lines} WHERE id IS NOT NULL) l ON l.id = c.id"
        )
        self.connection.execute(f"CREATE OR REPLACE TABLE unequal AS SELECT * FROM ({both}) WHERE a <> b")
        found = self.connection.execute(f"SELECT * FROM unequal ORDER BY id LIMIT {_SHOWN}").fetchall()
        sentences = [
            f"class {id_} has {a:,} lines in {self.nss.label} and {b:,} in {file.label}" for id_, a, b in found
        ]
        return sentences + _rest(self.one("SELECT count(*) FROM unequal")[0], f"classes differ so in {file.label}")


def _rest(number: int, words: str) -> list[str]:
    return [f"{number - _SHOWN:,} more {words}"] if number > _SHOWN else []
