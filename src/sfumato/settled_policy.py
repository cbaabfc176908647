"""The policy of one table: patterns are the columns that they match, and functions the lines of their hierarchies.

A policy is written before a table is seen. What it says by patterns (``"lab_*"``) and by functions of Python is made
plain here, once, before anything else looks at the table, so that all that follows, and the audit, know columns by
their names and hierarchies by their lines. A policy that has neither is returned as it is.
"""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from sfumato.encode import CodedColumn, encode_column
from sfumato.errors import HierarchyError, PolicyError
from sfumato.hierarchy import LabelFunction
from sfumato.hierarchy.hierarchy import ROOT
from sfumato.masking import remask_table
from sfumato.policy import Policy
from sfumato.policy.database_url import DatabaseUrl, find_place
from sfumato.policy.toml_text import dotted_key
from sfumato.table import Table, column_names, table_from
from sfumato.table.frames import frame_column_names


def settle_policy(policy: Policy, data: Any) -> Policy:
    """Give the policy of a table: a path, a frame or a `Table` that was read by a settled policy.

    >>> import pyarrow
    >>> rules = Policy(
    ...     columns={"age": {"role": "quasi", "hierarchy": lambda age: [f"{age // 10}0s"]}, "*": {"role": "plain"}},
    ...     privacy=[{"model": "k-anonymity", "k": 1}],
    ... )
    >>> settled = settle_policy(rules, pyarrow.table({"age": [37], "visits": [2]}))
    >>> settled.document["columns"]["age"]["hierarchy"], settled.columns["visits"].role
    ({'lines': [['37', '30s', '*']]}, <Role.PLAIN: 'plain'>)
    """
    settled = settle_columns(policy, data)
    if data is None or not settled.functions:
        return settled
    return settle_functions(settled, partial(encode_column, remask_table(table_from(data, settled), settled)[0]))


def settle_columns(policy: Policy, data: Any, *, whole: bool = True) -> Policy:
    """Replace patterns by the columns of a table that they match; one may match nothing where it is not `whole`."""
    if not policy.patterns or data is None or isinstance(data, Table):
        return policy
    if isinstance(data, str | os.PathLike | DatabaseUrl):
        place = find_place(data if isinstance(data, str | DatabaseUrl) else Path(data))
        return policy.for_table(column_names(place, policy.source), whole=whole)
    return policy.for_table(frame_column_names(data), whole=whole)


def settle_functions(policy: Policy, coded: Callable[[str], CodedColumn]) -> Policy:
    """Replace functions by the lines of the values that occur in the table; `coded` gives its columns, coded."""
    for column in policy.functions:
        assert isinstance(column.hierarchy, LabelFunction)  # noqa: S101 - this tells the type checker
        found = coded(column.name)
        values = zip(found.texts, found.values.to_pylist(), strict=True)
        known = [(text, value) for text, value in values if text is not None]
        try:
            # a column without any value has no line: NULL alone goes straight up
            lines = column.hierarchy.lines(known) if known else [["", ROOT]]
            policy = policy.with_lines({column.name: lines})
        except HierarchyError as error:
            raise PolicyError(str(error), key=dotted_key("columns", column.name, "hierarchy")) from None
    return policy
