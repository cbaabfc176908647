"""The names in a header: a column without one gets a name by its place, and its holder is told.

pandas writes the index of a frame, and R the names of rows, as a first column without a name. A merged or forgotten
cell of a header leaves one elsewhere.
"""

from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa

from sfumato.errors import DataError, listing

_UNNAMED = b"sfumato.unnamed"
"""The mark of a field in a schema whose name is ours."""


def name_columns(cells: Sequence[str]) -> list[str]:
    """Name the columns of a header; one without a name is called by its place, and not like another.

    >>> name_columns(["", "age", " "]), name_columns(["", "column 1"])
    (['column 1', 'age', 'column 3'], ['column 1_', 'column 1'])
    """
    if not any(cell.strip() for cell in cells):
        raise DataError("the first line must name the columns, and it is empty; add a header")
    names, taken = [], set(cells)
    for place, cell in enumerate(cells, start=1):
        name = cell
        if not cell.strip():
            name = f"column {place}"
            while name in taken:
                name += "_"
            taken.add(name)
        names.append(name)
    return names


def header_schema(cells: Sequence[str], kind: Any) -> Any:
    """Make the schema of a header, all columns of one type; those that got a name here are marked."""
    mark = {_UNNAMED: b"1"}
    return pa.schema(
        [
            pa.field(name, kind, metadata=None if cell.strip() else mark)
            for cell, name in zip(cells, name_columns(cells), strict=True)
        ]
    )


def header_warnings(schema: Any, table: str, left_out: Collection[str] = ()) -> tuple[str, ...]:
    """Say which columns of a `table` had no name; an index that is `left_out` needs nothing more.

    >>> header_warnings(header_schema(["", "age"], pa.string()), "visits.csv")
    ("the first column of visits.csv has no name, as the row numbers that pandas and R write; it is called 'column 1':
    give it a name, or the role identifier",)
    """
    unnamed = [(place, field.name) for place, field in enumerate(schema) if _UNNAMED in (field.metadata or {})]
    if not unnamed:
        return ()
    names = [name for _, name in unnamed]
    if [place for place, _ in unnamed] == [0]:
        what = f"the first column of {table} has no name, as the row numbers that pandas and R write; it is called"
        way = ", and left out" if names[0] in left_out else ": give it a name, or the role identifier"
        return (f"{what} {listing(names)}{way}",)
    return (f"columns of {table} have no name in the header, and are called {listing(names)}: name them there",)
