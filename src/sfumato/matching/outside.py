"""Tables of others: read by the names of the columns that are wanted, whatever else stands in them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.errors import DataError, did_you_mean, listing
from sfumato.policy import load
from sfumato.policy.options import read_data_source
from sfumato.table import Table, column_names, read_table
from sfumato.table.frames import frame_kind, frame_to_arrow
from sfumato.table.table import cast_text_views, check_rows, check_types

Options = Mapping[str, Any]
"""How a file is read: keys of [data] in a policy, without the source."""


def names_of(data: Any, options: Options) -> list[str]:
    """The columns of a table: a `Table`, a path or a frame."""
    if isinstance(data, str | Path):
        return column_names(Path(data), read_data_source(dict(options), folder=Path()))
    if isinstance(data, Table):
        return list(data.arrow.column_names)
    return list(data.column_names if frame_kind(data) == "arrow" else data.columns)


def table_of(data: Any, wanted: Sequence[str], options: Options) -> Table:
    """The columns that are wanted of a table, as text where it is a file; the others are not read.

    >>> import pyarrow
    >>> table_of(pyarrow.table({"age": [37], "name": ["Ann"]}), ["age"], {}).arrow.column_names
    ['age']
    """
    if isinstance(data, Table):
        return data
    if not isinstance(data, str | Path):
        arrow = frame_to_arrow(data, frame_kind(data), list(wanted))
        check_rows(arrow)
        check_types(arrow.schema, list(wanted))
        return Table(cast_text_views(arrow))
    roles = {name: {"role": "quasi", "hierarchy": "suppress"} for name in wanted}
    columns = {name: roles.get(name, {"role": "identifier"}) for name in names_of(data, options)}
    rules = {"data": dict(options), "columns": columns, "privacy": [{"model": "k-anonymity", "k": 1}]}
    return read_table(Path(data), load(rules))


def check_names(wanted: Sequence[str], names: Sequence[str], where: str) -> None:
    """Refuse columns that a table does not have.

    >>> check_names(["agee"], ["age", "sex"], "voters.csv")
    Traceback (most recent call last):
    sfumato.errors.DataError: voters.csv has no column 'agee'; did you mean age?
    """
    lacking = [name for name in wanted if name not in names]
    if lacking:
        hint = did_you_mean(lacking[0], names) or f"; it has {listing(names)}"
        raise DataError(f"{where} has no column {listing(lacking)}{hint}")
