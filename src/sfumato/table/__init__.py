"""Tables in and tables out: files, databases, pandas, polars, Arrow and DuckDB become one `Table`, and come back.

Inside sfumato every table is an Arrow table. What the caller handed in is kept beside it, untouched, so that the
release comes out as the same kind of object.
"""

from sfumato.table.files import column_names, find_repeated_identifiers, read_table
from sfumato.table.frames import from_frame
from sfumato.table.table import Table
from sfumato.table.table_source import describe_source, read_original, table_from

__all__ = [
    "Table",
    "column_names",
    "describe_source",
    "find_repeated_identifiers",
    "from_frame",
    "read_original",
    "read_table",
    "table_from",
]
