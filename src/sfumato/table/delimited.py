"""CSV and TSV as people have them: any separator, BOM, quotes, embedded newlines, CRLF. Text stays text."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv

from sfumato.errors import DataError
from sfumato.policy import DataSource, Policy
from sfumato.table.base import dictionary_types, no_rows
from sfumato.table.encoding import first_wrong_byte, is_wide, not_decodable
from sfumato.table.head import Head, head_of
from sfumato.table.quotes import check_quotes

_BLOCK = 1 << 24
_BEGINNING = 1 << 23
_LONGEST_RECORD = 1 << 30


def delimited_schema(path: Path, source: DataSource) -> Any:
    """The names in the header; every column is text."""
    return pa.schema([(name, pa.string()) for name in head_of(path, source).names])


def read_delimited(path: Path, policy: Policy, columns: list[str]) -> Any:
    """Every cell as the text it is; only the texts that the policy calls missing become NULL."""
    return _Reader(path, policy, head_of(path, policy.source), columns).read()


def begin_delimited(path: Path, policy: Policy, columns: list[str]) -> Any:
    """The first rows, as many as stand in the first few megabytes."""
    return _Reader(path, policy, head_of(path, policy.source), columns).begin()


class _Reader:
    """One pass of Arrow's reader, with the ways it fails turned into sentences."""

    def __init__(self, path: Path, policy: Policy, head: Head, columns: list[str]) -> None:
        self.path, self.policy, self.head, self.columns = path, policy, head, columns
        self.quotes = is_wide(policy.source.encoding) or check_quotes(path, head.separator)
        self.block = _BLOCK
        self.bad: Any = None

    def read(self) -> Any:
        """The columns, in blocks as large as the longest record."""
        while True:
            try:
                return self._pass()
            except pa.ArrowInvalid as error:
                if "straddling" in str(error) and self.block < _LONGEST_RECORD:
                    self.block *= 8  # a record longer than the block: read on in larger ones
                    continue
                raise self._explain(error) from None
            except UnicodeDecodeError:
                raise not_decodable(self.path, self.policy.source.encoding) from None

    def begin(self) -> Any:
        """The columns of the first records, up to a line's end; a record that is cut there does not count."""
        with self.path.open("rb") as file:
            content = file.read(_BEGINNING)
        whole = content.rpartition(b"\n")[0] if len(content) == _BEGINNING else content
        options = self._options() | {"parse_options": self._parse(lambda _: "skip")}
        return arrow_csv.read_csv(pa.BufferReader(whole), **options)

    def _pass(self, *, threads: bool = True) -> Any:
        return arrow_csv.read_csv(self.path, **self._options(threads=threads)).unify_dictionaries()

    def _options(self, *, threads: bool = True) -> dict[str, Any]:
        return {
            "read_options": arrow_csv.ReadOptions(
                block_size=self.block, encoding=self.policy.source.encoding, use_threads=threads
            ),
            "parse_options": self._parse(None if threads else self._keep),
            "convert_options": arrow_csv.ConvertOptions(
                column_types=dictionary_types(self.columns, self.policy),
                include_columns=self.columns,
                null_values=list(self.policy.source.null),
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        }

    def _parse(self, handler: Callable[[Any], str] | None) -> Any:
        return arrow_csv.ParseOptions(
            delimiter=self.head.separator,
            newlines_in_values=self.quotes,
            ignore_empty_lines=len(self.head.names) > 1,
            invalid_row_handler=handler,
        )

    def _keep(self, row: Any) -> str:
        self.bad = row
        return "error"

    def _explain(self, error: Exception) -> DataError:
        """In words, and never with the text that Arrow quotes."""
        wrong = first_wrong_byte(self.path, self.policy.source.encoding)
        if wrong is not None:
            return wrong
        if "Empty CSV" in str(error):
            return no_rows()
        with suppress(pa.ArrowInvalid):
            self._pass(threads=False)  # only a pass in one thread knows the number of a bad record
        if self.bad is None:
            return DataError(
                f"{self.path.name} cannot be read as CSV with the separator {self.head.separator!r}; "
                "check that every quote is closed and that [data] separator is right"
            )
        return DataError(
            f"{self.path.name}: record {self.bad.number - 1} has {self.bad.actual_columns} cells where the header has "
            f"{self.bad.expected_columns}; mend or remove it, or quote cells that hold the separator"
        )
