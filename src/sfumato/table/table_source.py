"""A table from wherever it is: a path, a frame of any library, or a `Table` that was read already."""

import os
from pathlib import Path
from typing import Any

from sfumato.policy import Policy
from sfumato.table.files import read_table
from sfumato.table.frames import from_frame
from sfumato.table.table import Table


def table_from(data: Any, policy: Policy) -> Table:
    """Read a table under a policy: a path, a frame, or a `Table`, which is returned as it is.

    >>> import pyarrow
    >>> columns = {"sex": {"role": "quasi", "hierarchy": "suppress"}}
    >>> rules = Policy.read({"columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}]})
    >>> table_from(pyarrow.table({"sex": ["f", "m"]}), rules).rows
    2
    """
    if isinstance(data, Table):
        return data
    return read_table(Path(data), policy) if isinstance(data, str | os.PathLike) else from_frame(data, policy)


def describe_source(data: Any) -> str:
    """Say how a sentence names a table: by its file, or as the table that was handed in.

    >>> describe_source("data/adult.csv"), describe_source([])
    ('adult.csv', 'the table')
    """
    return Path(data).name if isinstance(data, str | os.PathLike) else "the table"
