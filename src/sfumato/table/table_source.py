"""A table from wherever it is: a path, a frame of any library, or a `Table` that was read already."""

import os
from pathlib import Path
from typing import Any

from sfumato.policy import Policy
from sfumato.policy.database_url import DatabaseUrl, TablePlace, find_place
from sfumato.table.files import read_table
from sfumato.table.frames import from_frame
from sfumato.table.table import Table


def table_from(data: Any, policy: Policy) -> Table:
    """Read a table under a policy: a path, the URL of a database, a frame, or a `Table`, which is returned as it is.

    >>> import pyarrow
    >>> columns = {"sex": {"role": "quasi", "hierarchy": "suppress"}}
    >>> rules = Policy.read({"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}]})
    >>> table_from(pyarrow.table({"sex": ["f", "m"]}), rules).rows
    2
    """
    if isinstance(data, Table):
        return data
    return read_table(find_place(as_place(data)), policy) if is_place(data) else from_frame(data, policy)


def read_original(data: Any, policy: Policy) -> Table:
    """Read a table that somebody names in place of the policy's own source, as the policy has it read."""
    if not is_place(data):
        return table_from(data, policy)
    place = find_place(as_place(data))
    return read_table(place, policy.replace(source=str(place)))


def is_place(data: Any) -> bool:
    """Tell whether somebody named a table by its place."""
    return isinstance(data, str | os.PathLike | DatabaseUrl)


def as_place(data: Any) -> str | TablePlace:
    """Give a place as `find_place` takes it."""
    return data if isinstance(data, str | DatabaseUrl) else Path(data)


def describe_source(data: Any) -> str:
    """Say how a sentence names a table: by its file, or as the table that was handed in.

    >>> describe_source("data/adult.csv"), describe_source([])
    ('adult.csv', 'the table')
    """
    return find_place(as_place(data)).name if is_place(data) else "the table"
