"""A release, counted: its classes, the persons of each, and the values of each sensitive column.

A release is counted into a few kinds of small tables, whatever its form, and checks know these alone:

==============  ============================================================================================
``classes``     ``id``, ``n``: a class and its rows
``persons``     ``id``, ``persons``: the different persons of a class, or its rows where rows name nobody
``pairs_i``     ``id``, ``n``, ``v``, ``r``: the rows ``r`` of a class that have a value, for each sensitive column
``people``      ``id``, ``who``, ``r``: the rows of each person in a class, where a requirement is about them
==============  ============================================================================================

NULL is a label, a value and a person like any other.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa

from sfumato.errors import InputError, NotVerified, listing
from sfumato.verifier.duckdb_tables import TableView, count_lines, read_pieces
from sfumato.verifier.join_bound import find_excesses
from sfumato.verifier.packed_labels import PackedLabels, pack_labels
from sfumato.verifier.release_files import Layout
from sfumato.verifier.stated_promise import Promise, StatedRequirement, sensitive_columns, share_bound

MOST_NAMED = 3
"""So many classes that fail are named, and the others counted."""

_ORDERED_BY = 3

_LISTED_TOGETHER = 16
"""Columns whose labels are listed by one query."""
_MANY_COLUMNS = 30
"""With more quasi-identifiers than this, the labels of all are fetched at once."""


def count_release(tables: Sequence[TableView], promise: Promise, layout: Layout) -> "ClassCounts":
    """Count the classes of a release and their values; refuse one where a column that matters is not there once."""
    sensitive = set(promise.sensitive)
    misplaced = sorted((layout.nss_columns & sensitive) | (layout.ss_columns - sensitive))
    if misplaced:
        raise NotVerified(f"these columns stand in a table where they do not belong: {listing(misplaced)}")
    absent = [column for column in promise.needed_columns if column not in layout.columns]
    if absent:
        raise InputError(f"a requirement is about columns that the release does not have: {listing(absent)}")
    unhidden = [column for column in promise.checked_columns if column in layout.nss_columns]
    if unhidden:
        raise InputError(
            f"a requirement is about columns that stand beside the quasi-identifiers, where no class hides them: "
            f"{listing(unhidden)}"
        )
    for table, (file, columns) in zip(tables, layout.files.items(), strict=True):
        wanted = [name for name in (*promise.needed_columns, *sorted(promise.join_columns)) if name in columns]
        links = [] if layout.class_id is None else [layout.class_id]
        wrong = [name for name in [*wanted, *links] if table.columns.count(name) != 1]
        if wrong:
            raise NotVerified(
                f"{layout.describe(file)} does not have each of these columns once: {listing(wrong)}; it was changed"
            )
    if layout.class_id is None:
        return OneTableCounts(tables[0], promise)
    if promise.join_columns:
        raise InputError("xy-anonymity and xy-linkability are checked of a single generalized table, not of two")
    return TwoTableCounts(tables, promise, layout.class_id)


class ClassCounts(ABC):
    """The tables of counts on a connection, and words for what is in them."""

    order: str
    """In which order classes that are equally bad are named, in SQL over ``classes c``."""

    def __init__(self, promise: Promise, connection: Any) -> None:
        self.promise, self.connection = promise, connection
        self._pairs = {column: f"pairs_{place}" for place, column in enumerate(promise.checked_columns)}

    def pairs(self, column: str) -> str:
        """Give the name of the table ``pairs_i`` of a sensitive column."""
        return self._pairs[column]

    def first_line(self, query: str) -> Any:
        """Run a query and give its first line."""
        return self.connection.execute(query).fetchall()[0]

    def totals(self) -> tuple[int, int]:
        """Count rows and classes."""
        rows, classes = self.first_line("SELECT coalesce(sum(n), 0), count(*) FROM classes")
        return int(rows), int(classes)

    @abstractmethod
    def labels(self, column: str, most: int | None = None) -> list[str | None]:
        """List the different labels of a quasi-identifier; so many of them at the most."""

    @abstractmethod
    def count_labels(self, column: str) -> int:
        """Count the different labels of a quasi-identifier."""

    @abstractmethod
    def describe(self, identifier: int) -> str:
        """Name a class in a sentence."""

    @abstractmethod
    def join_failures(self, rule: StatedRequirement) -> list[str]:
        """Say how a requirement fails where no class alone shows it."""

    @abstractmethod
    def problems(self) -> list[str]:
        """Say what keeps the files from being a release of classes at all."""

    def _count_persons(self, table: TableView, people: str | None) -> None:
        """Make ``persons``, and ``people`` where they are needed, of a query of (id, who, r); there is none without."""
        if people is None:
            self.connection.execute("CREATE VIEW persons AS SELECT id, n AS persons FROM classes")
            return
        if self.promise.about_persons:
            table.read(f"CREATE TABLE people AS {people}")
            people = "SELECT id FROM people"
        table.read(f"CREATE TABLE persons AS SELECT id, count(*) AS persons FROM ({people}) GROUP BY id")

    def _make_pairs(self, table: TableView, column: str, source: str) -> None:
        """Make ``pairs_i`` of a query of (id, n, v, r) with values as they are in the file: the same with texts."""
        pairs = self.pairs(column)
        if column not in table.types:
            value = table.text_sql("v")
            self.connection.execute(f"CREATE TABLE {pairs} AS SELECT id, n, {value} AS v, r FROM ({source})")
            return
        self.connection.execute(f"CREATE TABLE {pairs}_values AS SELECT DISTINCT v FROM ({source})")
        self.connection.execute(f"CREATE TABLE {pairs}_texts AS SELECT v, '' AS t FROM {pairs}_values LIMIT 0")
        for piece in read_pieces(self.connection, f"{pairs}_values"):
            values = piece.column("v")
            self.connection.register(
                "piece", pa.table({"v": values, "t": pa.array(table.texts(column, values), pa.string())})
            )
            self.connection.execute(f"INSERT INTO {pairs}_texts SELECT * FROM piece")
            self.connection.unregister("piece")
        self.connection.execute(
            f"CREATE TABLE {pairs} AS SELECT id, n, t AS v, CAST(sum(r) AS BIGINT) AS r FROM ({source}) p "
            f"JOIN {pairs}_texts x ON x.v IS NOT DISTINCT FROM p.v GROUP BY id, n, t"
        )
        self.connection.execute(f"DROP TABLE {pairs}_values")
        self.connection.execute(f"DROP TABLE {pairs}_texts")


class OneTableCounts(ClassCounts):
    """A generalized table: a class is the rows that agree in all their labels (Definition 2 of Wong et al. 2006).

    One pass over the files for each sensitive column that is checked (the first gives the classes too), or one for the
    classes alone; one more where rows name individuals. Here ``classes`` has the labels beside ``id`` and ``n``. Where
    there are many classes, their labels are packed meanwhile (`PackedLabels`); where rows are many times alike, the
    lines of a CSV are counted first (`count_lines`), and one pass is enough.
    """

    def __init__(self, table: TableView, promise: Promise) -> None:
        super().__init__(promise, table.connection)
        self.table = table
        labels = [table.column(quasi) for quasi in promise.quasi]
        self.order = ", ".join(f"c.{label}" for label in labels[:_ORDERED_BY])
        counted = [table.column(column) for column in (*promise.checked_columns, promise.individual) if column]
        source, rows = table.source, "count(*)"
        self._packed = None
        if count_lines(table):
            source, rows = "counted_rows", "CAST(sum(r) AS BIGINT)"
        else:
            self._packed = pack_labels(table, labels, counted)
        if self._packed is not None:
            self._count_packed(self._packed)
            return
        keys, same = ", ".join(labels), " AND ".join(f"c.{label} IS NOT DISTINCT FROM p.{label}" for label in labels)
        for place, column in enumerate(promise.checked_columns):
            value = table.column(column)
            table.read(
                f"CREATE TABLE cells_{place} AS SELECT {keys}, {value} AS v, {rows} AS r FROM {source} "
                f"GROUP BY {', '.join(dict.fromkeys([*labels, value]))}"
            )
        cells, sizes = ("cells_0", "sum(r)") if promise.checked_columns else (source, rows)
        table.read(
            f"CREATE TABLE classes AS SELECT row_number() OVER () AS id, {keys}, CAST({sizes} AS BIGINT) AS n "
            f"FROM {cells} GROUP BY {keys}"
        )
        for place, column in enumerate(promise.checked_columns):
            cells = f"cells_{place}"
            self._make_pairs(table, column, f"SELECT c.id, c.n, p.v, p.r FROM {cells} p JOIN classes c ON {same}")
            self.connection.execute(f"DROP TABLE {cells}")
        people = None
        if promise.individual is not None:
            joined = f"FROM {source} p JOIN classes c ON {same} GROUP BY ALL"
            people = f"SELECT c.id, p.{table.column(promise.individual)} AS who, {rows} AS r {joined}"
        self._count_persons(table, people)

    def _count_packed(self, packed: PackedLabels) -> None:
        """Make the same tables by labels that are packed; ``packed_classes`` has what the labels were packed into.

        Where that is one number, it is the id of the class, and no class is looked up.
        """
        table, checked, keys = self.table, self.promise.checked_columns, ", ".join(packed.keys)
        numbered = len(packed.keys) > 1

        def with_id(lines: str) -> str:
            if not numbered:
                return f"SELECT w0 AS id, p.* EXCLUDE (w0) FROM {lines} p"
            kept = f"p.* EXCLUDE ({keys})"
            return f"SELECT c.id, {kept} FROM {lines} p JOIN packed_classes c ON {packed.same('c', 'p')}"

        for place, column in enumerate(checked):
            packed.count_cells(f"cells_{place}", f"{table.column(column)} AS v")
        if not checked:
            packed.count_cells("cells_0")
        number = "row_number() OVER ()" if numbered else "w0"
        self.connection.execute(
            f"CREATE TABLE packed_classes AS SELECT {number} AS id, {keys}, CAST(sum(r) AS BIGINT) AS n FROM cells_0 "
            f"GROUP BY {keys}"
        )
        packed.view_classes("packed_classes", "classes")
        if not checked:
            self.connection.execute("DROP TABLE cells_0")
        for place, column in enumerate(checked):
            cells = (
                f"SELECT q.id, c.n, q.v, q.r FROM ({with_id(f'cells_{place}')}) q JOIN packed_classes c ON c.id = q.id"
            )
            self._make_pairs(table, column, cells)
            self.connection.execute(f"DROP TABLE cells_{place}")
        people = None
        if self.promise.individual is not None:
            packed.count_cells("persons_cells", f"{table.column(self.promise.individual)} AS who")
            people = with_id("persons_cells")
        self._count_persons(table, people)

    def labels(self, column: str, most: int | None = None) -> list[str | None]:
        """List the different labels of a quasi-identifier; so many of them at the most."""
        limit = "" if most is None else f" LIMIT {most}"
        labels = self.connection.sql(f"SELECT v FROM ({self._labels_query(column)}) ORDER BY v{limit}")
        return self.table.texts(column, labels.to_arrow_table().column("v"))

    def count_labels(self, column: str) -> int:
        """Count the different labels of a quasi-identifier."""
        return int(self.first_line(f"SELECT count(*) FROM ({self._labels_query(column)})")[0])

    def _labels_query(self, column: str) -> str:
        name = self.table.column(column)
        if self._packed is not None:
            return self._packed.labels_query("packed_classes", name)
        if len(self.promise.quasi) > _MANY_COLUMNS:  # a query for each of hundreds of columns takes seconds
            return f"SELECT unnest({name}) AS v FROM {self._class_labels}"
        return f"SELECT DISTINCT {name} AS v FROM classes"

    @cached_property
    def _class_labels(self) -> str:
        """The name of a view of one line, with the list of the different labels of each quasi-identifier.

        Some columns at a time: DuckDB sets megabytes aside for each list of a query, whatever is in it.
        """
        columns, parts = [self.table.column(quasi) for quasi in self.promise.quasi], []
        for start in range(0, len(columns), _LISTED_TOGETHER):
            lists = ", ".join(f"list(DISTINCT {name}) AS {name}" for name in columns[start : start + _LISTED_TOGETHER])
            parts.append(f"class_labels_{start}")
            self.connection.execute(f"CREATE TABLE {parts[-1]} AS SELECT {lists} FROM classes")
        self.connection.execute(f"CREATE VIEW class_labels AS SELECT * FROM {', '.join(parts)}")
        return "class_labels"

    def describe(self, identifier: int) -> str:
        """Name a class by its published labels."""
        keys = ", ".join(self.table.column(quasi) for quasi in self.promise.quasi)
        rows = self.connection.sql(f"SELECT {keys} FROM classes WHERE id = {identifier}").to_arrow_table()
        return f"the class {self.table.describe_rows(self.promise.quasi, rows)[0]}"

    def join_failures(self, rule: StatedRequirement) -> list[str]:  # noqa: ARG002 - every kind of release is asked
        """Say nothing: whoever is looked up is in one class."""
        return []

    def problems(self) -> list[str]:
        """Say nothing: a row is in the class that its labels make."""
        return []


class TwoTableCounts(ClassCounts):
    """NSS, the first of the tables, and SS, one or several: a class is the lines of each that have the same class id.

    One pass over NSS counts the lines of each class and of each combination of quasi-identifiers in it (``points``:
    ``q``, ``id``, ``m``), one more the persons where lines name them; one pass over each SS counts its lines, and one
    the values of each column that is checked. The id of a class is its class id.
    """

    order = "c.id"

    def __init__(self, tables: Sequence[TableView], promise: Promise, class_id: str) -> None:
        super().__init__(promise, tables[0].connection)
        self.nss, self.ss = tables[0], tables[1:]
        self._quasi = ", ".join(self.nss.column(quasi) for quasi in promise.quasi)
        number = self.nss.integer_sql(class_id)
        # A combination is known by a hash of 64 bits. Should two of them have the same one, they count as one that
        # is in the classes of both; no class, and nothing that is found about a class, depends on it.
        self.nss.read(
            f"CREATE TABLE points AS SELECT hash({self._quasi}) AS q, {number} AS id, count(*) AS m "
            f"FROM {self.nss.source} GROUP BY ALL"
        )
        self.connection.execute(
            "CREATE TABLE classes AS SELECT id, CAST(sum(m) AS BIGINT) AS n "
            "FROM points WHERE id IS NOT NULL GROUP BY id"
        )
        for place, table in enumerate(self.ss):
            self._count_lines(table, table.integer_sql(class_id), f"lines_{place}")
        people = None
        if promise.individual is not None:
            lines = f"SELECT {number} AS id, {self.nss.column(promise.individual)} AS who FROM {self.nss.source}"
            people = f"SELECT id, who, count(*) AS r FROM ({lines}) WHERE id IS NOT NULL GROUP BY ALL"
        self._count_persons(self.nss, people)

    def _count_lines(self, table: TableView, number: str, lines: str) -> None:
        """Count the lines of each class in an SS, and the pairs of its columns that are checked."""
        table.read(f"CREATE TABLE {lines} AS SELECT {number} AS id, count(*) AS n FROM {table.source} GROUP BY ALL")
        for column in self.promise.checked_columns:
            if column in table.columns:
                value = table.column(column)
                cells = f"SELECT {number} AS id, {value} AS v, count(*) AS r FROM {table.source} GROUP BY ALL"
                table.read(f"CREATE OR REPLACE TABLE cells AS {cells}")
                source = f"SELECT p.id, l.n, p.v, p.r FROM cells p JOIN {lines} l ON l.id = p.id"
                self._make_pairs(table, column, source)

    def labels(self, column: str, most: int | None = None) -> list[str | None]:
        """List the different labels of a quasi-identifier; so many of them at the most."""
        labels = f"SELECT unnest(l{self.promise.quasi.index(column)}) AS v FROM {self._all_labels}"
        limit = "" if most is None else f" LIMIT {most}"
        found = self.connection.sql(f"SELECT v FROM ({labels}) ORDER BY v{limit}")
        return self.nss.texts(column, found.to_arrow_table().column("v"))

    def count_labels(self, column: str) -> int:
        """Count the different labels of a quasi-identifier."""
        labels = f"l{self.promise.quasi.index(column)}"
        return int(self.first_line(f"SELECT coalesce(len({labels}), 0) FROM {self._all_labels}")[0])

    @cached_property
    def _all_labels(self) -> str:
        """The name of a table of one line, with a list of the labels of each quasi-identifier, from one pass."""
        columns = (self.nss.column(quasi) for quasi in self.promise.quasi)
        lists = ", ".join(f"list(DISTINCT {column}) AS l{i}" for i, column in enumerate(columns))
        self.nss.read(f"CREATE TABLE labels AS SELECT {lists} FROM {self.nss.source}")
        return "labels"

    def describe(self, identifier: int) -> str:
        """Name a class by its class id."""
        return f"class {identifier}"

    def join_failures(self, rule: StatedRequirement) -> list[str]:
        """Name quasi-identifiers in several classes that the join gives too large a share of a value."""
        bound = share_bound(rule)
        if not bound:
            return []
        tables = [self.pairs(column) for column in sensitive_columns(bound)]
        excesses, failing = find_excesses(self.connection, bound, tables, MOST_NAMED)
        sentences = [
            f"the quasi-identifiers {self.describe_quasi(excess.q)} stand in {excess.classes} classes, and the join "
            f"gives {excess.value} a share of {round(excess.share, 4)}, above {round(excess.allowed, 4)}"
            for excess in excesses
        ]
        return sentences + _count_rest(failing, "quasi-identifiers in several classes fail")

    def describe_quasi(self, q: int) -> str:
        """Name a combination of quasi-identifiers, known by its hash, in a sentence."""
        self.nss.read(
            f"CREATE OR REPLACE TABLE combination AS SELECT {self._quasi} FROM {self.nss.source} "
            f"WHERE hash({self._quasi}) = {q} LIMIT 1"
        )
        rows = self.connection.sql("SELECT * FROM combination").to_arrow_table()
        return self.nss.describe_rows(self.promise.quasi, rows)[0]

    def problems(self) -> list[str]:
        """Name lines without a class, and classes that have not as many lines in every file."""
        problems = self._unnumbered_lines(self.nss, "(SELECT id, m AS n FROM points)")
        for place, table in enumerate(self.ss):
            problems += self._unnumbered_lines(table, f"lines_{place}") + self._unequal_classes(table, f"lines_{place}")
        return problems

    def _unnumbered_lines(self, table: TableView, lines: str) -> list[str]:
        number = int(self.first_line(f"SELECT coalesce(sum(n), 0) FROM {lines} WHERE id IS NULL")[0])
        return [f"{table.label} has {number:,} lines whose class id is missing or no whole number"] if number else []

    def _unequal_classes(self, table: TableView, lines: str) -> list[str]:
        """Name classes that have not as many lines in this SS as in NSS."""
        both = (
            "SELECT coalesce(c.id, l.id) AS id, coalesce(c.n, 0) AS a, coalesce(l.n, 0) AS b FROM classes c "
            f"FULL JOIN (SELECT * FROM {lines} WHERE id IS NOT NULL) l ON l.id = c.id"
        )
        self.connection.execute(f"CREATE OR REPLACE TABLE unequal AS SELECT * FROM ({both}) WHERE a <> b")
        worst = self.connection.execute(f"SELECT * FROM unequal ORDER BY id LIMIT {MOST_NAMED}").fetchall()
        sentences = [
            f"class {id_} has {a:,} lines in {self.nss.label} and {b:,} in {table.label}" for id_, a, b in worst
        ]
        unequal = self.first_line("SELECT count(*) FROM unequal")[0]
        return sentences + _count_rest(unequal, f"classes differ so in {table.label}")


def _count_rest(number: int, words: str) -> list[str]:
    return [f"{number - MOST_NAMED:,} more {words}"] if number > MOST_NAMED else []
