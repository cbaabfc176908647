"""Tables in batches: the rows of `read_table`, in the same order and types, without ever being held together.

Parts of a table (blocks of CSV, row groups of Parquet) are parsed in a few threads, a few parts ahead of whoever takes
the batches, and given in order. What is wrong with a table is said in the sentence that `read_table` would say, as soon
as it is found. A file that is written to meanwhile is refused when its end is reached, or earlier, where it fails.
"""

import os
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from sfumato.errors import DataError
from sfumato.policy import Policy
from sfumato.policy.database_url import TablePlace, find_place
from sfumato.table.batch_source import BatchSource, Part, PartSize, WholeTable, choose_fields
from sfumato.table.column_header import header_warnings
from sfumato.table.files import (
    DAMAGED,
    FIRST_ROWS,
    MOST_CELLS,
    FileFormat,
    check_keys,
    file_digest,
    file_format,
    unreadable_error,
    values_name_persons,
)
from sfumato.table.several_files import find_files
from sfumato.table.table import (
    cast_text_views,
    check_calendar,
    check_columns,
    check_types,
    columns_to_read,
    no_rows_error,
)
from sfumato.table.table_source import as_place, is_place, table_from

_THREADS = 2
_AHEAD = 3
"""So many parts are read before the batch that is worked on is given back."""
_SHARE_OF_VALUES = 4
"""The different values of identifiers may take this part of the memory."""


def open_batches(data: Any, policy: Policy, *, memory: int) -> "TableBatches":
    r"""Open a table, to read the columns of a policy in batches that take a share of so many bytes of `memory`.

    It is named as `table_from` takes it, by its place or as a frame. A frame is cut into slices.

    >>> import tempfile
    >>> from sfumato.policy import load
    >>> path = Path(tempfile.mkdtemp(), "people.csv")
    >>> _ = path.write_text("ssn,age\n1,37\n2,41\n")
    >>> rules = load({
    ...     "columns": {"ssn": {"role": "identifier"}, "age": {"role": "quasi", "hierarchy": "suppress"}},
    ...     "privacy": [{"model": "k-anonymity", "k": 2}],
    ... })
    >>> with open_batches(path, rules, memory=1 << 28) as batches:
    ...     [batch.to_pydict() for batch in batches]
    [{'age': ['37', '41']}]
    """
    size = PartSize.within(memory)
    if not is_place(data):
        table = table_from(data, policy)
        whole = WholeTable(table.schema or table.arrow.schema, lambda *_: table.arrow, size)
        whole.choose(policy, table.arrow.column_names)
        types = choose_fields(whole.schema, table.arrow.column_names)
        return TableBatches(whole, types, table.warnings, size)
    place = find_place(as_place(data))
    watched = _WatchedFiles(place)
    kind = file_format(place)
    check_keys(place, kind, policy.source)
    source: BatchSource | None = None
    try:
        source = kind.open_source(place, policy.source, size)
        names = list(source.schema.names)  # names may be no text, in a damaged file
        policy = policy.for_table(names)
        check_columns(names, policy)
        columns = columns_to_read(policy, names)
        if kind.is_typed:
            check_types(source.schema, columns)
        schema = source.choose(policy, columns)
        check_types(schema, columns)
    except BaseException as error:
        if source is not None:
            source.close()
        watched.check()
        if isinstance(error, DAMAGED):
            raise unreadable_error(place, kind, error) from None
        raise
    warnings = header_warnings(source.schema, place.name, [column.name for column in policy.identifiers])
    return TableBatches(source, schema, warnings, size, _Origin(place, kind, watched))


class TableBatches:
    """The columns of a table that a policy publishes or looks at, as record batches in the order of its rows.

    `schema` has the types of the columns as the source has them; in a batch a text may stand as codes of a dictionary.
    `warnings` are what its holder should know of how it was read. Each iteration reads the table from its beginning.
    """

    def __init__(
        self,
        source: BatchSource,
        schema: Any,
        warnings: tuple[str, ...],
        size: PartSize,
        origin: "_Origin | None" = None,
    ) -> None:
        self.schema, self.warnings = schema, warnings
        self._source, self._size, self._origin = source, size, origin

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of what is held open."""
        self._source.close()

    def __iter__(self) -> Iterator[Any]:
        rows = 0
        with closing(self._read()) as batches:
            for batch in batches:
                rows += batch.num_rows
                yield batch
        self._check_unchanged()
        if not rows:
            raise no_rows_error()

    def digest(self) -> str | None:
        """Give the SHA-256 of the file as `file_digest` does, once all batches have been taken; ``None`` of no file.

        A text file is hashed while it is read. Of other files some parts are never looked at: they are read once more
        for it, as a rule from what the system still holds of them in memory.
        """
        if self._origin is None or not isinstance(self._origin.place, Path):
            return None
        found = self._source.digest or file_digest(self._origin.place)
        self._check_unchanged()
        return found

    def _check_unchanged(self) -> None:
        # a database keeps what is read apart from what is written
        if self._origin is not None and "query" not in self._origin.kind.keys:
            self._origin.watched.check()

    def _read(self) -> Generator[Any]:
        """Parse parts in threads, a few ahead, and give their batches in order."""
        waiting: deque[Future[list[Any]]] = deque()
        with ThreadPoolExecutor(_THREADS, "sfumato-read") as pool:
            try:
                with closing(self._source.parts()) as parts:
                    for part in parts:
                        waiting.append(pool.submit(settle_part, part, self._size.rows))
                        if len(waiting) >= _AHEAD:
                            yield from waiting.popleft().result()
                while waiting:
                    yield from waiting.popleft().result()
            except Exception as error:  # noqa: BLE001 - what it means is said
                for one in waiting:
                    one.cancel()
                raise self._explain(error) from None
            finally:
                for one in waiting:
                    one.cancel()

    def _explain(self, error: Exception) -> Exception:
        self._check_unchanged()
        found = self._source.explain(error)
        if found is None and isinstance(error, DAMAGED) and self._origin is not None:
            found = unreadable_error(self._origin.place, self._origin.kind, error)
        return found or error


def settle_part(part: Part, most: int) -> list[Any]:
    """Run a part, check what it gives, and make it one record batch, or slices where it has more rows than `most`."""
    table = cast_text_views(part().replace_schema_metadata())
    table.validate(full=True)  # a damaged file may hold text that is none
    check_calendar(table)
    return [batch for batch in table.combine_chunks().to_batches(most) if batch.num_rows]


@dataclass(frozen=True)
class _Origin:
    """Where batches come from: the place, its format, and its files as they were."""

    place: TablePlace
    kind: FileFormat
    watched: "_WatchedFiles"


def find_repeated_in_batches(place: TablePlace, policy: Policy, *, rows: int, memory: int) -> dict[str, float]:
    """Find what `find_repeated_identifiers` finds, of a table at a place that is too large to be held.

    The first rows tell whether there is cause to look at all of so many `rows`. Then the different values are gathered
    batch by batch; where there are more cells than is looked at elsewhere, or the values outgrow a share of the memory,
    nothing is counted.
    """
    names = [] if policy.individual else [column.name for column in policy.identifiers]
    if names and rows > FIRST_ROWS:
        names = list(_rows_per_value(place, policy, names, FIRST_ROWS, memory))
    if not names or len(names) * rows > MOST_CELLS:
        return {}
    return _rows_per_value(place, policy, names, None, memory)


def _rows_per_value(
    place: TablePlace, policy: Policy, names: list[str], most: int | None, memory: int
) -> dict[str, float]:
    """Count rows for each value of columns, in the first rows or in all of them."""
    found = {name: _DifferentValues() for name in names}
    # nobody has to be able to read a column that is not published
    with suppress(Exception), closing(_open_source(place, policy, names, memory)) as source:
        seen = 0
        with closing(source.parts()) as parts:
            for part in parts:
                rows = cast_text_views(part()).slice(0, None if most is None else most - seen)
                rows.validate(full=True)
                seen += rows.num_rows
                for name, values in found.items():
                    values.add(rows.column(name))
                if sum(values.bytes for values in found.values()) > memory // _SHARE_OF_VALUES:
                    return {}
                if seen == most:
                    break
        return {
            name: values.rows / len(values.different) for name, values in found.items() if values.may_name_persons()
        }
    return {}


def _open_source(place: TablePlace, policy: Policy, names: list[str], memory: int) -> BatchSource:
    source = file_format(place).open_source(place, policy.source, PartSize.within(memory))
    source.choose(policy, names)
    return source


class _DifferentValues:
    """The different values of a column that comes piece by piece, and how many rows have one."""

    def __init__(self) -> None:
        self.rows = 0
        self._merged: Any = None
        self._later: list[Any] = []

    def add(self, cells: Any) -> None:
        """Add cells; those of a type that cannot be compared, such as lists, are passed over."""
        with suppress(pa.ArrowException):
            if pa.types.is_dictionary(cells.type):
                cells = cells.cast(cells.type.value_type)
            cells = cells.drop_null()
            self._later.append(cells.unique())
            self.rows += len(cells)
            # so that each value is gone through a few times, however many pieces there are
            if self._merged is None or sum(map(len, self._later)) > len(self._merged):
                self._merged = self.different
                self._later = []

    @property
    def different(self) -> Any:
        """The values."""
        return pa.chunked_array([*([] if self._merged is None else [self._merged]), *self._later]).unique()

    @property
    def bytes(self) -> int:
        """What they take in memory."""
        return sum(values.nbytes for values in [*([] if self._merged is None else [self._merged]), *self._later])

    def may_name_persons(self) -> bool:
        """Tell whether they repeat, and look as if they named persons."""
        return bool(self.rows) and self.rows > len(self.different) and values_name_persons(self.different, self.rows)


class _WatchedFiles:
    """Files as they were when they were opened: none of them may be another one when they have been read."""

    def __init__(self, place: TablePlace) -> None:
        self._place = place
        self._before = self._look()

    def _look(self) -> dict[Path, tuple[int, ...] | None]:
        if not isinstance(self._place, Path):
            return {}
        files = find_files(self._place)
        return {file: _file_state(file) for file in ([self._place] if files is None else files)}

    def check(self) -> None:
        """Refuse what was read where a file is not what it was, or not there, or a file came to the others."""
        now = self._look()
        changed = [file for file in {**self._before, **now} if self._before.get(file) != now.get(file)]
        if changed:
            raise DataError(f"{changed[0].name} was changed while it was read; try again when nothing writes to it")


def _file_state(path: Path) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - never raises for what a name is
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
