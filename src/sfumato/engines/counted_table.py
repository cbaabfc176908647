"""From the rows that an engine has to an encoded table of counted lines, and from a recoding of it back to the rows.

The engine tells the values of each coded column, which are numbered in text order, and counts packed keys. What comes
back are the lines of an encoded table: everything from there to a recoding works on them as it does on rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sfumato.core.arrays import Codes, IntArray, narrow_codes
from sfumato.core.tuple_packer import TuplePacker
from sfumato.encode import CodedColumn, EncodedTable, assemble, order_counted_columns
from sfumato.engines.engine import Engine
from sfumato.engines.row_coder import ColumnCoder, RowCoder, code_values
from sfumato.engines.row_labeller import LineEntries, make_labeller
from sfumato.policy import Policy
from sfumato.publish.numeric_columns import plan_numeric_columns
from sfumato.publish.published_table import PublishedTable
from sfumato.publish.written_table import WrittenTable
from sfumato.recode import Recoding


@dataclass(frozen=True, eq=False, repr=False)
class CodedValues:
    """The values of an engine's coded columns, in text order, and what codes their cells; by column."""

    columns: Mapping[str, CodedColumn]
    coders: Mapping[str, ColumnCoder]

    @classmethod
    def of(cls, engine: Engine) -> "CodedValues":
        """Number the values of each column."""
        coded = {name: code_values(name, found) for name, found in engine.column_values().items()}
        return cls(
            {name: column for name, (column, _) in coded.items()}, {name: coder for name, (_, coder) in coded.items()}
        )


@dataclass(frozen=True, eq=False, repr=False)
class CountedTable:
    """The rows of an engine, counted: `encoded` has a line for each key of the `coder`.

    `keys` int[lines] are those of the lines, ascending, and `rows` int[lines] how many rows have each. `codes` are
    those of the lines as the coder makes them; persons have other numbers in `encoded`.
    """

    engine: Engine
    coder: RowCoder
    keys: IntArray
    rows: IntArray
    codes: Mapping[str, Codes]
    encoded: EncodedTable

    @classmethod
    def count(cls, engine: Engine, values: CodedValues, policy: Policy) -> "CountedTable":
        """Count the rows of an engine, by all columns that a policy's search and its figures look at.

        Where keys would exceed a word, the first columns are counted by themselves, so that they can be numbered; so
        what is packed depends on the values of the columns and on how they go together, and on no row.
        """
        names = order_counted_columns(policy, engine.schema.names)
        columns = tuple(values.coders[name] for name in names)
        widths = [column.width for column in columns]
        packer = TuplePacker.first_stage(widths)
        counted = engine.count_keys(RowCoder(columns, packer))
        while packer.columns < len(columns):
            packer = packer.next_stage(counted.keys, widths)
            counted = engine.count_keys(RowCoder(columns, packer))
        codes = packer.packed(counted.keys).unpack_codes(counted.keys)
        coded = {
            name: CodedColumn(name, narrow_codes(code, width), values.columns[name].texts, values.columns[name].values)
            for name, code, width in zip(names, codes, widths, strict=True)
        }
        encoded = assemble(engine.rows, coded, {}, counted.counts, policy, engine.schema.names)
        lines = {name: column.codes for name, column in coded.items()}
        return cls(engine, RowCoder(columns, packer), counted.keys, counted.counts, lines, encoded)


@dataclass(frozen=True, eq=False, repr=False)
class PublishedRows:
    """The rows of a publication, which an engine has: labelled and written when somebody asks for the files.

    `recoding` is one of `counted.encoded` with its lines divided, and `tables` what is published of these lines;
    `memory` is how many bytes may be used.
    """

    counted: CountedTable
    encoded: EncodedTable
    recoding: Recoding
    tables: Mapping[str, PublishedTable]
    policy: Policy
    memory: int

    def write(self, name: str, path: Path) -> WrittenTable:
        """Write the table of this name, under the path with the ending of its format."""
        table, counted = self.tables[name], self.counted
        divided = self.recoding.divided
        codes = counted.codes
        if divided is not None:
            codes = {name: lines.take(divided.line) for name, lines in codes.items()}
        entries = LineEntries.of(counted.keys, counted.rows, divided)
        labeller = make_labeller(counted.coder, codes, entries, self.recoding, table, self._sources)
        assert not self.encoded.coarse or labeller.entries is None  # noqa: S101 - no row is one of the lines then
        return counted.engine.write(labeller, table, path, self.policy)

    def under(self, policy: Policy) -> "PublishedRows":
        """The same rows, to be written as another policy says."""
        return replace(self, policy=policy)

    def frame_folder(self) -> Path | None:
        """A new folder for files that a frame is read from; nothing where the engine has no frames."""
        return self.counted.engine.frame_folder()

    def read_frame(self, path: Path) -> Any:
        """A frame of the rows of written files."""
        return self.counted.engine.read_frame(path)

    @cached_property
    def _sources(self) -> dict[str, str]:
        """The column that each added one is worked out from."""
        return {column.name: column.of for column in plan_numeric_columns(self.policy)}
