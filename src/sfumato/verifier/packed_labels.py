"""Labels of quasi-identifiers packed into whole numbers, so that millions of classes take little room.

A class is rows that agree in all their labels. Ten texts a class take some 200 bytes, and joining by them takes long;
so each column's labels are numbered, and the numbers of a row are written as the digits of one number, or of a few.
That is exact: different labels have different numbers.

The labels of a column are learned from the first rows. Rows of a release are in random order, so that later rows have
few labels besides, and in a release that somebody has put in order they are counted right all the same: a row that has
such a label is known by the list of its labels, its `rest`, which is numbered by itself, below zero.

NULL is a label like any other. Columns that are not text, and those of very many labels, are compared as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.verifier.duckdb_tables import TableView

SAMPLED_CELLS = 1_000_000
"""Labels are learned from so many cells at the most; a table that has no more is not packed at all."""
_MOST_COLUMNS = 100
"""With more columns the labels are compared as they are: to number those of hundreds of columns takes longer."""
_MOST_LABELS = 20_000
"""A column with more labels than this among the first rows is compared as it is."""
_ALONE = 2
"""Labels are packed where the first rows are of so many classes that there are fewer rows than this in each."""
_LARGEST_WORD = 1 << 62


@dataclass(frozen=True)
class LabelDigit:
    """A column as a digit of a number: the `word` it is in, its place value, and how many labels it has."""

    column: str
    word: int
    place: int
    labels: int

    @property
    def kind(self) -> str:
        """The name of its type in the database, an enumeration of its labels."""
        return f"labels_of_{self.column}"

    @property
    def value(self) -> str:
        """The digit of a row in SQL; that of NULL is the number of labels, and so is that of any other label."""
        return f"coalesce(CAST(enum_code(TRY_CAST({self.column} AS {self.kind})) AS BIGINT), {self.labels})"

    @property
    def is_other(self) -> str:
        """Whether a row has a label that is not numbered."""
        return f"({self.column} IS NOT NULL AND TRY_CAST({self.column} AS {self.kind}) IS NULL)"

    @property
    def code(self) -> str:
        """The digit of a packed row."""
        return f"(w{self.word} // {self.place}) % {self.labels + 1}"

    def label(self, code: str) -> str:
        """The label of a digit."""
        return f"CAST(enum_range(CAST(NULL AS {self.kind}))[1 + CAST({code} AS INTEGER)] AS VARCHAR)"


class PackedLabels:
    """How the labels of a table are packed: a `digit` for each column of few labels, and the columns left as they are.

    `keys` are the columns that a class is known by, in every table that is made here: ``w0``, ``w1`` and so on, and
    those that are as they were.
    """

    def __init__(self, table: TableView, labels: Sequence[str], counts: Sequence[int | None]) -> None:
        self.table = table
        self.digits: dict[str, LabelDigit] = {}
        self.raw = tuple(name for name, count in zip(labels, counts, strict=True) if count is None)
        self.words, place = 0, 1
        for name, count in zip(labels, counts, strict=True):
            if count is None:
                continue
            if place * (count + 1) > _LARGEST_WORD:
                self.words, place = self.words + 1, 1
            self.digits[name] = LabelDigit(name, self.words, place, count)
            place *= count + 1
        self.words += 1
        self.keys = (*(f"w{word}" for word in range(self.words)), *self.raw)
        self.has_rest = False

    def count_cells(self, name: str, extra: str = "") -> None:
        """Make a table of the rows of each class, ``r``, and where `extra` is given (``c3 AS v``) of each value there.

        One pass over the files.
        """
        parts = [
            f"{' + '.join(f'{one.place} * {one.value}' for one in self.digits.values() if one.word == word)} AS w{word}"
            for word in range(self.words)
        ]
        other = " OR ".join(one.is_other for one in self.digits.values())
        rest = f"CASE WHEN {other} THEN [{', '.join(self.digits)}] END AS rest"
        what = ", ".join([*parts, *self.raw, rest, *([extra] if extra else [])])
        connection = self.table.connection
        self.table.read(
            f"CREATE OR REPLACE TABLE {name} AS SELECT *, count(*) AS r FROM (SELECT {what} FROM {self.table.source}) "
            "GROUP BY ALL"
        )
        ((some,),) = connection.execute(f"SELECT count(*) > 0 FROM {name} WHERE rest IS NOT NULL").fetchall()
        if some:
            if not self.has_rest:
                different = f"SELECT DISTINCT rest FROM {name} WHERE rest IS NOT NULL"
                connection.execute(
                    f"CREATE TABLE rests AS SELECT rest, row_number() OVER () AS place FROM ({different})"
                )
                self.has_rest = True
            zero = "".join(f", 0 AS w{word}" for word in range(1, self.words))
            connection.execute(
                f"CREATE TABLE {name}_rest AS SELECT * EXCLUDE (place) "
                f"REPLACE (-s.place AS w0{zero}) FROM {name} c JOIN rests s USING (rest)"
            )
            connection.execute(f"DELETE FROM {name} WHERE rest IS NOT NULL")
            connection.execute(f"INSERT INTO {name} BY NAME SELECT * FROM {name}_rest")
            connection.execute(f"DROP TABLE {name}_rest")
        connection.execute(f"ALTER TABLE {name} DROP COLUMN rest")

    def same(self, first: str, second: str) -> str:
        """The condition that lines of two such tables are of one class."""
        words = [f"{first}.w{word} = {second}.w{word}" for word in range(self.words)]
        return " AND ".join([*words, *(f"{first}.{name} IS NOT DISTINCT FROM {second}.{name}" for name in self.raw)])

    def view_classes(self, packed: str, name: str) -> None:
        """Make a view of a table of classes with their labels in place of what they are packed into."""
        join = " LEFT JOIN rests s ON -s.place = p.w0" if self.has_rest else ""
        labels = ", ".join(f"{self._label(column)} AS {column}" for column in self.digits)
        kept = ", ".join(["p.id", "p.n", *(f"p.{column}" for column in self.raw), *([labels] if labels else [])])
        self.table.connection.execute(f"CREATE VIEW {name} AS SELECT {kept} FROM {packed} p{join}")

    def _label(self, column: str) -> str:
        digit = self.digits[column]
        label = digit.label(digit.code)
        if not self.has_rest:
            return label
        return f"CASE WHEN p.w0 < 0 THEN s.rest[{list(self.digits).index(column) + 1}] ELSE {label} END"

    def labels_query(self, packed: str, column: str) -> str:
        """A query of the different labels of a column, ``v``: each number is looked up once."""
        if column in self.raw:
            return f"SELECT DISTINCT {column} AS v FROM {packed}"
        digit = self.digits[column]
        query = (
            f"SELECT {digit.label('code')} AS v FROM (SELECT DISTINCT {digit.code} AS code FROM {packed} WHERE w0 >= 0)"
        )
        if self.has_rest:
            query += f" UNION SELECT DISTINCT rest[{list(self.digits).index(column) + 1}] FROM rests"
        return query


def pack_labels(table: TableView, labels: Sequence[str], counted: Sequence[str] = ()) -> PackedLabels | None:
    """Learn the labels of these columns from the first rows; nothing where there are few classes, or few rows.

    A few classes are counted as quickly by their labels, unless one of the other columns that are `counted` in each
    class has many values there.
    """
    if not 0 < len(labels) <= _MOST_COLUMNS:
        return None
    connection, keys, rows = table.connection, ", ".join(labels), SAMPLED_CELLS // len(labels)
    others = [name for name in dict.fromkeys(counted) if name not in labels]
    columns = ", ".join([*labels, *others])
    table.read(f"CREATE OR REPLACE TABLE sample AS SELECT {columns} FROM {table.source} LIMIT {rows}")

    def count(query: str) -> int:
        return int(connection.execute(f"SELECT count(*) FROM ({query})").fetchall()[0][0])

    packed = None
    if count("SELECT 1 FROM sample") == rows and any(
        count(f"SELECT DISTINCT {keys}{other} FROM sample") * _ALONE > rows
        for other in ("", *(f", {name}" for name in others))
    ):
        texts = {
            table.column(name) for name in table.columns if name not in table.types and table.columns.count(name) == 1
        }
        counts = [_number_labels(table, name) if name in texts else None for name in labels]
        packed = PackedLabels(table, labels, counts) if any(count is not None for count in counts) else None
    connection.execute("DROP TABLE sample")
    return packed


def _number_labels(table: TableView, column: str) -> int | None:
    """Make an enumeration of the labels that the first rows have, and count them; nothing where they are too many."""
    query = f"SELECT DISTINCT {column} AS v FROM sample WHERE {column} IS NOT NULL"
    ((number,),) = table.connection.execute(f"SELECT count(*) FROM ({query})").fetchall()
    if not 0 < number <= _MOST_LABELS:
        return None
    table.connection.execute(
        f"CREATE TYPE labels_of_{column} AS ENUM (SELECT CAST(v AS VARCHAR) FROM ({query}) ORDER BY 1)"
    )
    return int(number)
