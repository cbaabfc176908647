"""Rows on disk in random buckets: the source is read once, and in what is left of its order nothing is left of it.

Every row goes to a bucket that is drawn for it, evenly, by the operating system's randomness: as the codes of its coded
columns and the cells of the others. Whoever writes a release takes the buckets one by one and puts the rows of each
into a random order. All orders of all rows are equally likely then: whatever the sizes of the buckets come to be, each
way of dealing rows out to them is as likely as any other, and so is each order within them.

A batch is sorted by bucket and written as a *segment*, an Arrow file with a record batch for each bucket. Codes are
places in a list of values that grows as new ones come; 0 is NULL. The list stays in memory, no row does.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import ipc

from sfumato.core.arrays import Codes, IntArray, count_codes, narrow_codes
from sfumato.core.arrow import arrow_flags, arrow_indices, arrow_numbers, filled_numbers, numpy_numbers
from sfumato.core.randomness import Randomness
from sfumato.engines.row_coder import CountedValues

_SEGMENT = 1 << 20
"""Rows of a segment, or a batch more."""


class GrowingValues:
    """The values of a column that have come so far, in the order in which they came, and how often each did.

    >>> from sfumato.core.arrow import arrow_texts
    >>> column = GrowingValues()
    >>> column.codes(arrow_texts(["m", None, "f", "m"])).tolist(), column.codes(arrow_texts(["x", "f"])).tolist()
    ([1, 0, 2, 1], [3, 2])
    >>> column.found().values.to_pylist(), column.found().counts.tolist()
    (['m', 'f', 'x', None], [2, 2, 1, 1])
    """

    def __init__(self) -> None:
        self.known: Any = None
        self._counts: IntArray = np.zeros(1, dtype=np.int64)  # of NULL, then of each value

    def codes(self, cells: Any) -> Codes:
        """Code the cells of a batch, new values included, and count them: 0 for NULL, then values as they came."""
        if not pa.types.is_dictionary(cells.type):
            cells = cells.dictionary_encode()
        values = cells.dictionary
        if self.known is None:
            self.known = values.slice(0, 0)
        place = pc.index_in(values, self.known, skip_nulls=True)
        if place.null_count:
            new = values.filter(place.is_null()).drop_null().unique()
            if len(new):  # NULL may stand in a dictionary, too
                self.known = pa.concat_arrays([self.known, new])
                place = pc.index_in(values, self.known, skip_nulls=True)
        width = len(self.known) + 1
        lookup = filled_numbers(place, -1) + 1
        if cells.indices.null_count:
            indices = filled_numbers(cells.indices, len(lookup))
            lookup = np.append(lookup, 0)
        else:
            indices = numpy_numbers(cells.indices)
        codes = narrow_codes(lookup, width).take(indices)
        counts = count_codes(codes, width)
        counts[: len(self._counts)] += self._counts
        self._counts = counts
        return codes

    def found(self) -> CountedValues:
        """All values that came, NULL last if it did, and the rows of each."""
        width = len(self.known)
        if not self._counts[0]:
            return CountedValues(self.known, self._counts[1:])
        values = self.known.take(arrow_indices([*range(width), None]))
        return CountedValues(values, np.append(self._counts[1:], self._counts[0]))


@dataclass(frozen=True, eq=False, repr=False)
class RowSpool:
    """Rows in the files of a folder, by bucket; `values` are those of the coded columns, the others are as they were.

    `schema` has the columns as they came, and `rows` is how many there are.
    """

    schema: Any
    values: dict[str, CountedValues]
    rows: int
    buckets: int
    segments: tuple[Path, ...]
    _readers: dict[Path, Any] = field(default_factory=dict)

    def bucket(self, number: int, names: Sequence[str] | None = None) -> Any:
        """Read the rows of a bucket, as a record batch with the coded columns as dictionaries, in the order they came.

        Rows of one bucket come in the same order each time. `names` are the columns that are wanted, if not all.
        """
        chosen = self.schema.names if names is None else list(names)
        if not chosen:
            raise ValueError("name a column, or none to have all")
        pieces = [self._read(path, number).select(chosen) for path in self.segments]
        columns = []
        for place, name in enumerate(chosen):
            cells = [piece.column(place) for piece in pieces]
            columns.append(self._dictionary(name, cells) if name in self.values else _concatenate(cells))
        return pa.record_batch(columns, names=chosen)

    def __iter__(self) -> Iterator[Any]:
        """All rows, a bucket at a time."""
        return map(self.bucket, range(self.buckets))

    def _read(self, path: Path, number: int) -> Any:
        if path not in self._readers:
            self._readers[path] = ipc.open_file(pa.OSFile(str(path)))
        return self._readers[path].get_batch(number)

    def _dictionary(self, name: str, cells: list[Any]) -> Any:
        """Codes of a bucket as a dictionary array over the values of the column."""
        found = self.values[name]
        widest = max((piece.type for piece in cells), key=lambda kind: int(kind.bit_width))
        codes = numpy_numbers(_concatenate([piece.cast(widest) for piece in cells]))
        nulls = found.values.null_count
        known = found.values.slice(0, len(found.values) - nulls)
        there = codes > 0 if nulls else None
        places = codes - codes.dtype.type(1)
        if there is None:
            indices = arrow_numbers(places)
        else:
            places[~there] = 0
            indices = pc.if_else(arrow_flags(there), arrow_numbers(places), arrow_indices([None])[0].cast(widest))
        return pa.DictionaryArray.from_arrays(indices, known)


def spool_rows(
    batches: Iterable[Any],
    coded: Sequence[str],
    folder: Path,
    randomness: Randomness,
    *,
    buckets: int,
    note: Callable[[int], object] = lambda _: None,
) -> RowSpool:
    """Write the rows of record batches into the files of a folder, each into a random one of so many buckets.

    `note` is called with the number of rows so far. Batches have the same columns, and those that are `coded` become
    codes.

    >>> import tempfile
    >>> batches = pa.table({"sex": ["m", "f", "m"], "note": ["a", "b", "c"]}).to_batches()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     spool = spool_rows(batches, ["sex"], Path(folder), Randomness(1), buckets=2)
    ...     sorted((row["note"], row["sex"]) for bucket in spool for row in bucket.to_pylist())
    [('a', 'm'), ('b', 'f'), ('c', 'm')]
    """
    known = {name: GrowingValues() for name in coded}
    segments: list[Path] = []
    waiting: list[list[Any]] = []
    schema: Any = None
    rows = waits = 0

    def write() -> None:
        columns = [_concatenate(_alike([part[place] for part in waiting])) for place in range(len(schema))]
        path = folder / f"segment-{len(segments):05d}.arrow"
        _write_segment(pa.record_batch(columns, names=schema.names), path, randomness, buckets)
        segments.append(path)
        waiting.clear()

    for batch in batches:
        schema = batch.schema if schema is None else schema
        waiting.append(
            [
                arrow_numbers(known[field.name].codes(cells)) if field.name in known else cells
                for field, cells in zip(batch.schema, batch.columns, strict=True)
            ]
        )
        rows += batch.num_rows
        waits += batch.num_rows
        note(rows)
        if waits >= _SEGMENT:
            write()
            waits = 0
    if waits:
        write()
    values = {name: column.found() for name, column in known.items()} if rows else {}
    return RowSpool(schema, values, rows, buckets, tuple(segments))


def _write_segment(batch: Any, path: Path, randomness: Randomness, buckets: int) -> None:
    """Sort a batch by a bucket that is drawn for each row, and write what is of each bucket as a batch of its own."""
    drawn = randomness.digits(batch.num_rows, buckets)
    order = np.argsort(drawn, kind="stable")  # of narrow integers, which numpy sorts by their digits
    ends = np.cumsum(count_codes(drawn, buckets)).tolist()
    sorted_rows = batch.take(arrow_numbers(order))
    with pa.OSFile(str(path), "wb") as file, ipc.new_file(file, sorted_rows.schema) as writer:
        for start, end in zip([0, *ends[:-1]], ends, strict=True):
            writer.write_batch(sorted_rows.slice(start, end - start))


def _alike(pieces: list[Any]) -> list[Any]:
    """Pieces of a column in one type: codes may have become wider, and a dictionary is no type of rows on disk."""
    plain = [piece.dictionary_decode() if pa.types.is_dictionary(piece.type) else piece for piece in pieces]
    widest = max((piece.type for piece in plain), key=_bit_width)
    return [piece.cast(widest) for piece in plain]


def _bit_width(kind: Any) -> int:
    with suppress(ValueError):
        return int(kind.bit_width)
    return 0


def _concatenate(pieces: list[Any]) -> Any:
    return pieces[0] if len(pieces) == 1 else pa.concat_arrays(pieces)
