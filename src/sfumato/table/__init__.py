"""Tables in and tables out: files, pandas, polars, Arrow and DuckDB become one thing, and come back as they were.

Everything inside sfumato is an Arrow table; what the caller handed in is kept beside it untouched, so
that the release comes out as the same kind.
"""

from sfumato.table.base import Table
from sfumato.table.frames import from_frame
from sfumato.table.identifiers import repeats
from sfumato.table.read import column_names, read

__all__ = ["Table", "column_names", "from_frame", "read", "repeats"]
