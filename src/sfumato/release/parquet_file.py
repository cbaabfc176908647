"""Write Parquet: dictionaries as they are, under the schema that the table came with."""

import base64
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.release.published import Cells, Published

_ROW_GROUP = 1 << 20


def write_parquet(published: Published, path: Path) -> None:
    """Write the table. Nothing but the schema travels as metadata: no index, no statistics of rows that are gone."""
    schema = pa.schema([(name, published.types[name]) for name in published.columns])
    declared = {"ARROW:schema": base64.b64encode(schema.serialize().to_pybytes())}
    table = pa.table({name: _array(column) for name, column in published.columns.items()})
    pq.write_table(table.replace_schema_metadata(declared), path, store_schema=False, row_group_size=_ROW_GROUP)


def _array(column: Any) -> Any:
    """A coded column is written by its codes; only text may be, other types have no dictionary form in Parquet."""
    if not isinstance(column, Cells):
        return column
    return column.arrow(
        pa.dictionary(pa.int32(), pa.string()) if pa.types.is_string(column.values.type) else column.values.type
    )
