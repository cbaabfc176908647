"""Write Parquet: dictionaries as they are, under the types that the source has."""

import base64
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.publish.published_column import PublishedColumn
from sfumato.publish.published_table import PublishedTable

_ROW_GROUP = 1 << 20


def write_parquet(tables: Iterable[PublishedTable], path: Path) -> None:
    """Write a table, which comes in pieces of the same columns and types; there is one piece at least.

    Nothing but the types travels as metadata: no index, no statistics of rows that are gone.
    """
    pieces = iter(tables)
    first = next(pieces)
    types = pa.schema([(name, first.types[name]) for name in first.columns])
    table = _arrow_table(first)
    with pq.ParquetWriter(path, table.schema, store_schema=False) as writer:
        writer.write_table(table, row_group_size=_ROW_GROUP)
        for piece in pieces:
            writer.write_table(_arrow_table(piece), row_group_size=_ROW_GROUP)
        writer.add_key_value_metadata({"ARROW:schema": base64.b64encode(types.serialize().to_pybytes())})


def _arrow_table(published: PublishedTable) -> Any:
    return pa.table({name: _arrow_array(column) for name, column in published.columns.items()})


def _arrow_array(column: Any) -> Any:
    """A column as it is written: text that is coded by its codes, all else by its values.

    Types other than text have no dictionary form in Parquet; the dictionary of an uncoded column may hold values of
    rows that are gone.
    """
    if not isinstance(column, PublishedColumn):
        return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    if not pa.types.is_string(column.values.type):
        return column.arrow(column.values.type)
    return column.arrow(pa.dictionary(pa.int32(), pa.string()))
