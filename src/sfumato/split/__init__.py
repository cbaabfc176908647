"""Two tables in place of one: quasi-identifiers as they were in NSS, sensitive values in SS, tied by class alone.

`lossy_join` makes them of any recoding, `anatomy` of buckets of its own; `TwoTables` is what they are to a reader.
"""

from sfumato.split.anatomy import anatomy
from sfumato.split.two_tables import (
    CommonValues,
    Tie,
    TwoTables,
    common_values,
    lossy_join,
    measure_ties,
    tables_from_files,
    tables_from_recoding,
)

of_recoding = tables_from_recoding
"""The earlier name of `tables_from_recoding`."""

__all__ = [
    "CommonValues",
    "Tie",
    "TwoTables",
    "anatomy",
    "common_values",
    "lossy_join",
    "measure_ties",
    "of_recoding",
    "tables_from_files",
    "tables_from_recoding",
]
