"""Rows as they are published: a function on a batch that every engine applies as it is.

It takes a batch of rows as the source has them, leaves out what is suppressed, and gives the columns of the release:
labels, values and pseudonyms as dictionary arrays, plain columns as they are. It holds what was decided of codes and of
counted lines, so that it can be pickled and sent to whoever has the rows.

Where every value of a column has one label, the label is looked up by the value. Where each class has labels of its
own, it is looked up by the line that the row is counted in. Where rows of one line go different ways, the engine says
beforehand which of the line's rows each is (`LINE` and `RANK`), in the order of what else is published of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.core.arrays import BoolArray, Codes, IntArray
from sfumato.core.arrow import arrow_numbers, numpy_numbers
from sfumato.core.keys import match_tuples
from sfumato.core.segments import run_starts
from sfumato.core.tuple_packer import find_sorted
from sfumato.encode import DividedLines
from sfumato.engines.row_coder import RowCoder
from sfumato.publish.published_column import PublishedColumn
from sfumato.publish.published_table import PublishedTable
from sfumato.recode import Recoding

LINE, RANK = "$line", "$rank"
"""Columns that an engine adds to a batch where lines are divided: the line of each row, and its place among them."""


@dataclass(frozen=True, eq=False, repr=False)
class ColumnLabels:
    """What is published of a coded column: the values, and which of them each code, or each entry, has.

    `by_code` is the name of the source's column whose codes are looked up, ``None`` where entries are. A
    `plain` column is published as values, others as dictionaries.
    """

    name: str
    lookup: Codes
    values: Any
    by_code: str | None
    plain: bool = False

    def cells(self, places: Codes) -> Any:
        """The cells of rows, by their codes or entries."""
        codes = arrow_numbers(self.lookup.take(places))
        return self.values.take(codes) if self.plain else pa.DictionaryArray.from_arrays(_signed(codes), self.values)


@dataclass(frozen=True, eq=False, repr=False)
class LineEntries:
    """Where each row of a counted line goes: entries are lines, or parts of one.

    `keys` int[lines] are those of the lines, ascending; `first` int[lines] the first entry of each. Of lines that have
    several, `start` int[lines] is where their rows begin in `dealt`, the entry of each row; -1 for all others.
    """

    keys: IntArray
    first: IntArray
    start: IntArray
    dealt: IntArray

    @classmethod
    def of(cls, keys: IntArray, counts: IntArray, divided: DividedLines | None) -> "LineEntries":
        """The entries of lines with these keys and rows."""
        if divided is None:
            return cls(keys, np.arange(len(keys)), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        first = run_starts(divided.line)
        several = np.diff(first, append=len(divided.line)) > 1
        rows = np.where(several, counts, 0)
        start = np.where(several, np.cumsum(rows) - rows, -1)
        return cls(keys, first, start, divided.dealt)

    @property
    def divides(self) -> bool:
        """Whether some line has several entries."""
        return len(self.start) > 0

    def entries(self, line: IntArray, rank: IntArray | None) -> IntArray:
        """The entry of each row, by its line and, where lines are divided, its rank among the rows of the line."""
        entry = self.first.take(line)
        if rank is None:
            return entry
        start = self.start.take(line)
        dealt = np.flatnonzero(start >= 0)
        entry[dealt] = self.dealt.take(start.take(dealt) + rank.take(dealt))
        return entry


@dataclass(frozen=True, eq=False, repr=False)
class RowLabeller:
    """Labels rows: from a batch of the source's columns to a batch of published ones, without suppressed rows.

    `columns` are those of the release, in order: a `ColumnLabels`, or the name of a plain column. `entries` are there
    where something is looked up by entry, with `published` bool[entries]. Else `suppressed` are the label codes of
    classes that are not published, one array for each of the `classed` columns.
    """

    coder: RowCoder
    columns: tuple[ColumnLabels | str, ...]
    entries: LineEntries | None
    published: BoolArray | None
    classed: tuple[tuple[str, Codes, int], ...] = ()
    suppressed: tuple[Codes, ...] = ()

    @property
    def plain_columns(self) -> list[str]:
        """The columns of the source that are published as they are."""
        return [column for column in self.columns if isinstance(column, str)]

    @property
    def source_columns(self) -> list[str]:
        """The columns of the source that labelling looks at."""
        return [*(column.name for column in self.coder.columns), *self.plain_columns]

    def lines(self, batch: Any) -> IntArray:
        """The counted line of each row of a batch: int[rows]."""
        assert self.entries is not None  # noqa: S101 - only asked where there are; this tells the type checker
        return find_sorted(self.entries.keys, self.coder.keys(batch))

    def __call__(self, batch: Any) -> Any:
        """Label a record batch."""
        names = [column.name for column in self.coder.columns]
        coded: dict[str, Codes] = dict(zip(names, self.coder.codes(batch), strict=True))
        entry = None if self.entries is None else self._entries(batch, coded)
        kept = self._kept(coded, entry)
        if kept is not None:
            coded = {name: codes.take(kept) for name, codes in coded.items()}
            entry = None if entry is None else entry.take(kept)
        cells = []
        for column in self.columns:
            if isinstance(column, str):
                plain = batch.column(column)
                cells.append(plain if kept is None else plain.take(arrow_numbers(kept)))
            elif column.by_code is not None:
                cells.append(column.cells(coded[column.by_code]))
            else:
                assert entry is not None  # noqa: S101 - there are entries where a column is looked up by them
                cells.append(column.cells(entry))
        labels = [column if isinstance(column, str) else column.name for column in self.columns]
        return pa.record_batch(cells, names=labels)

    def _entries(self, batch: Any, coded: Mapping[str, Codes]) -> IntArray:
        assert self.entries is not None  # noqa: S101 - as above
        if LINE in batch.schema.names:
            line, rank = (numpy_numbers(batch.column(name)) for name in (LINE, RANK))
            return self.entries.entries(line, rank)
        return self.entries.entries(find_sorted(self.entries.keys, self.coder.packer.pack(list(coded.values()))), None)

    def _kept(self, coded: Mapping[str, Codes], entry: IntArray | None) -> IntArray | None:
        """The rows that are published; ``None`` where all are."""
        if entry is not None:
            kept = None if self.published is None else self.published.take(entry)
        elif self.suppressed:
            labels = [lookup.take(coded[name]) for name, lookup, _ in self.classed]
            kept = ~match_tuples(labels, self.suppressed, [width for *_, width in self.classed])
        else:
            kept = None
        return None if kept is None or kept.all() else np.flatnonzero(kept)


def make_labeller(
    coder: RowCoder,
    codes: Mapping[str, Codes],
    entries: LineEntries,
    recoding: Recoding,
    table: PublishedTable,
    sources: Mapping[str, str],
) -> RowLabeller:
    """Make the labeller of one published table.

    `codes` are those of all entries, by column, as the coder makes them; `table` has what is published of each entry.
    `sources` says of published columns that the source does not have which they are worked out from.
    """
    columns: list[ColumnLabels | str] = []
    by_entry = recoding.local or recoding.group is not None
    kept = slice(None) if recoding.published is None else np.flatnonzero(recoding.published)
    width_of = {column.name: column.width for column in coder.columns}
    for name, column in table.columns.items():
        source = sources.get(name, name)
        if not isinstance(column, PublishedColumn):
            columns.append(name)
        elif source not in codes or (by_entry and source in recoding.labels):
            columns.append(ColumnLabels(name, column.codes, column.values, None))
        else:  # codes of which no row is published are looked up as any other, and dropped
            lookup = np.zeros(width_of[source], dtype=column.codes.dtype)
            lookup[codes[source][kept]] = column.codes[kept]
            columns.append(ColumnLabels(name, lookup, column.values, source))
    needed = any(isinstance(column, ColumnLabels) and column.by_code is None for column in columns)
    suppressed = None if recoding.published is None or by_entry else _suppressed_classes(codes, width_of, recoding)
    if needed or (recoding.published is not None and suppressed is None):
        return RowLabeller(coder, tuple(columns), entries, recoding.published)
    return RowLabeller(coder, tuple(columns), None, None, *(suppressed or ((), ())))


_Suppressed = tuple[tuple[tuple[str, Codes, int], ...], tuple[Codes, ...]]


def _suppressed_classes(
    codes: Mapping[str, Codes], width_of: Mapping[str, int], recoding: Recoding
) -> _Suppressed | None:
    """The label codes of the classes that are suppressed; nothing where classes are suppressed in part.

    Only asked where every value has one label: lookup[c] is that of the code c.
    """
    assert recoding.published is not None  # noqa: S101 - only asked where rows are dropped; for the type checker
    gone = np.flatnonzero(~recoding.published)
    labels = list(recoding.labels.values())
    widths = [len(column.texts) for column in labels]
    chosen = [column.codes.take(gone) for column in labels]
    if np.count_nonzero(match_tuples([column.codes for column in labels], chosen, widths)) != len(gone):
        return None
    classed = []
    for (name, column), width in zip(recoding.labels.items(), widths, strict=True):
        lookup = np.zeros(width_of[name], dtype=column.codes.dtype)
        lookup[codes[name]] = column.codes
        classed.append((name, lookup, width))
    return tuple(classed), tuple(chosen)


def _signed(codes: Any) -> Any:
    """Codes in a type that dictionaries of all programs may have: signed."""
    return codes.cast(pa.int32()) if pa.types.is_unsigned_integer(codes.type) else codes


def published_piece(batch: Any, table: PublishedTable) -> PublishedTable:
    """Some rows that were labelled, as a piece of the table that they are of."""
    columns: dict[str, Any] = {}
    for name, cells in zip(batch.schema.names, batch.columns, strict=True):
        coded = isinstance(table.columns[name], PublishedColumn)
        columns[name] = PublishedColumn(numpy_numbers(cells.indices), cells.dictionary) if coded else cells
    return replace(table, order=np.arange(batch.num_rows), columns=columns, counts=None)
