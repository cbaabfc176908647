"""The published table in DuckDB, its columns under names of ours: c0, c1, and so on.

SQL identifiers are blind to case, and a table may have a column called ``n``, ``Age`` beside ``age``, or a name
with a quote in it. So no name of the table ever gets into a statement: columns are known by their place.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from sfumato.errors import NotVerified
from sfumato.verifier.database import connect
from sfumato.verifier.sql import unguarded, unguarded_sql

View = Callable[[bool], str]
"""The statement that makes the view ``published``, with room for very long lines or without."""


@dataclass(frozen=True)
class Published:
    """A connection with the view ``published``, and what its columns were called.

    `types` has the Arrow type of each column that is not text. `guarded` says that texts carry the apostrophe of
    the formula rule. `label` is what a sentence calls the table.
    """

    connection: Any
    columns: tuple[str, ...]
    types: Mapping[str, Any]
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


def in_memory(table: Any, needed: Sequence[str]) -> Published:
    """An Arrow table; the columns that are looked at become text as the library prints it."""
    connection, wanted = connect(), set(needed)
    columns = {f"c{i}": _as_text(table.column(i)) for i, name in enumerate(table.column_names) if name in wanted}
    connection.register("published", pa.table(columns))
    return Published(connection, tuple(table.column_names), {})


def _as_text(column: Any) -> Any:
    """A column as a dictionary of texts: each different value is printed once."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    return pa.chunked_array([_relabelled(chunk) for chunk in coded.chunks], pa.dictionary(pa.int32(), pa.string()))


def _relabelled(chunk: Any) -> Any:
    return pa.DictionaryArray.from_arrays(chunk.indices.cast(pa.int32()), chunk.dictionary.cast(pa.string()))


def _printed(values: Any, kind: Any, name: str) -> list[str | None]:
    try:
        return list(values.cast(kind).cast(pa.string()).to_pylist())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise NotVerified(f"column '{name}' holds {kind}, which this version cannot compare") from None
