"""A published file in DuckDB, its columns under names of ours: c0, c1, and so on.

SQL identifiers are blind to case, and a table may have a column called ``n``, ``Age`` beside ``age``, or a name
with a quote in it. So no name of the table ever gets into a statement: columns are known by their place.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from sfumato.errors import NotVerified
from sfumato.verifier.sql import unguarded, unguarded_sql

View = Callable[[bool], str]
"""The statement that makes the view of a file, with room for very long lines or without."""

_LABELS, _LENGTH = 12, 60


@dataclass(frozen=True)
class Published:
    """A connection with a view of the file, and what its columns were called.

    `source` is the name of the view, and `label` what a sentence calls the file. `types` has the Arrow type of each
    column that is not text. `guarded` says that texts carry the apostrophe of the formula rule.
    """

    connection: Any
    columns: tuple[str, ...]
    types: Mapping[str, Any]
    source: str = "published"
    label: str = "the table"
    guarded: bool = False
    view: View | None = None

    def column(self, name: str) -> str:
        """The name that a column has in SQL."""
        return f"c{self.columns.index(name)}"

    def read(self, statement: str) -> None:
        """Run a statement that reads the table; a file that cannot be read is one that cannot be verified."""
        try:
            self._read(statement)
        except duckdb.OutOfMemoryException:
            raise MemoryError from None
        except duckdb.Error as error:
            raise NotVerified(f"{self.label} cannot be read: {str(error).splitlines()[0]}") from None

    def _read(self, statement: str) -> None:
        try:
            self.connection.execute(statement)
        except duckdb.Error as error:
            if self.view is None or "maximum line size" not in str(error).lower():
                raise
            self.connection.execute(self.view(True))
            self.connection.execute(statement)

    def texts(self, name: str, values: Any) -> list[str | None]:
        """Values of a column as the library prints them: a number without trailing zeros, a date in ISO form."""
        if name in self.types:
            return _printed(values, self.types[name], name)
        found = values.cast(pa.string()).to_pylist()
        return [unguarded(cell) if self.guarded and cell is not None else cell for cell in found]

    def text_sql(self, expression: str) -> str:
        """The same for a column of text, in SQL."""
        return unguarded_sql(expression) if self.guarded else expression

    def words(self, names: Sequence[str], found: Any) -> list[str]:
        """Each line of an Arrow table of these columns, in words: ``age = 30, sex = Male``."""
        cells = [self.texts(name, found.column(i)) for i, name in enumerate(names)]
        return [line(names, each) for each in zip(*cells, strict=True)]

    def whole_sql(self, name: str) -> str:
        """A column of whole numbers, in SQL; NULL where a cell is none, or is not written as one."""
        column = self.column(name)
        number = f"TRY_CAST({column} AS BIGINT)"
        if name in self.types:
            return number if pa.types.is_integer(self.types[name]) else "CAST(NULL AS BIGINT)"
        return f"CASE WHEN CAST({number} AS VARCHAR) = {column} THEN {number} END"


def line(names: Sequence[str], cells: Sequence[str | None]) -> str:
    """Some cells of a row in words, the first of them where there are many.

    >>> line(["age", "sex"], ["30", None])
    'age = 30, sex = NULL'
    """
    parts = [f"{name} = {_short(cell)}" for name, cell in zip(names, cells, strict=True)]
    rest = [f"{len(parts) - _LABELS} more labels"] if len(parts) > _LABELS else []
    return ", ".join(parts[:_LABELS] + rest)


def _short(cell: str | None) -> str:
    if cell is None:
        return "NULL"
    return cell if len(cell) <= _LENGTH else f"{cell[:_LENGTH]}…"


def _printed(values: Any, kind: Any, name: str) -> list[str | None]:
    try:
        return list(values.cast(kind).cast(pa.string()).to_pylist())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise NotVerified(f"column '{name}' holds {kind}, which this version cannot compare") from None
