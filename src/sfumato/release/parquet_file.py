"""Write Parquet: dictionaries as they are, under the types that the source has."""

import base64
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.release.cells import Cells
from sfumato.release.published import Published

_ROW_GROUP = 1 << 20


def write_parquet(published: Published, path: Path) -> None:
    """Write the table. Nothing but the types travels as metadata: no index, no statistics of rows that are gone."""
    types = pa.schema([(name, published.types[name]) for name in published.columns])
    table = pa.table({name: _array(column) for name, column in published.columns.items()})
    with pq.ParquetWriter(path, table.schema, store_schema=False) as writer:
        writer.write_table(table, row_group_size=_ROW_GROUP)
        writer.add_key_value_metadata({"ARROW:schema": base64.b64encode(types.serialize().to_pybytes())})


def _array(column: Any) -> Any:
    """A coded column is written by its codes; only text may be, other types have no dictionary form in Parquet."""
    if not isinstance(column, Cells):
        return _without_dictionary(column)
    if not pa.types.is_string(column.values.type):
        return column.arrow(column.values.type)
    return column.arrow(pa.dictionary(pa.int32(), pa.string()))


def _without_dictionary(column: Any) -> Any:
    """The values themselves: a dictionary may hold those of rows that are gone."""
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
