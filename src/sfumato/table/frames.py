"""Frames of other libraries: taken in without touching them, given back as the same kind.

No library is imported to find out what somebody handed us: the module of its type says it.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.policy import Policy
from sfumato.table.base import Table, check_columns, check_rows, check_types, wanted


def from_frame(frame: Any, policy: Policy) -> Table:
    """A table from a pandas, polars, Arrow or DuckDB object; a pandas index is left behind.

    >>> import pyarrow
    >>> from sfumato.policy import load
    >>> policy = load({
    ...     "columns": {"sex": {"role": "quasi", "hierarchy": "suppress"}},
    ...     "privacy": [{"model": "k-anonymity", "k": 2}],
    ... })
    >>> from_frame(pyarrow.table({"sex": ["f", "m"]}), policy).rows
    2
    """
    kind = kind_of(frame)
    names = _names(frame, kind)
    check_columns(names, policy)
    arrow = _arrow(frame, kind, wanted(policy, names))
    check_rows(arrow)
    check_types(arrow)
    return Table(arrow, kind=kind, native=frame)


def kind_of(frame: Any) -> str:
    """``pandas``, ``polars``, ``duckdb`` or ``arrow``."""
    if isinstance(frame, pa.Table):
        return "arrow"
    package = type(frame).__module__.split(".")[0].lstrip("_")
    kind = (package, type(frame).__name__)
    known = {("pandas", "DataFrame"): "pandas", ("polars", "DataFrame"): "polars"}
    if kind in known:
        return known[kind]
    if package == "duckdb" and kind[1] == "DuckDBPyRelation":
        return "duckdb"
    raise DataError(
        f"cannot anonymize a {type(frame).__name__}; hand in a pandas or polars DataFrame, "
        "an Arrow table, a DuckDB relation or a path"
    )


def restore(table: Table, order: NDArray[np.int64], recoded: Mapping[str, Any], names: list[str]) -> Any:
    """The published table as the kind that came in: rows `order`, columns of `recoded` in place of theirs."""
    if table.kind == "pandas":
        return _pandas(table.native, order, recoded, names)
    if table.kind == "polars":
        return _polars(table.native, order, recoded, names)
    raise ValueError(table.kind)


def _names(frame: Any, kind: str) -> list[str]:
    names = list(frame.column_names if kind == "arrow" else frame.columns)
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong:
        raise DataError(f"column names must be text, not {wrong[0]!r}; rename it")
    return names


def _arrow(frame: Any, kind: str, columns: list[str]) -> Any:
    try:
        if kind == "pandas":
            return pa.Table.from_pandas(frame[columns], preserve_index=False)
        if kind == "polars":
            return frame.select(columns).to_arrow()
        if kind == "duckdb":
            return frame.select(*(_quoted(name) for name in columns)).to_arrow_table()
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise DataError("a column mixes types that have no common one; turn it into text before anonymizing") from None
    return frame.select(columns)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _pandas(frame: Any, order: NDArray[np.int64], recoded: Mapping[str, Any], names: list[str]) -> Any:
    import pandas as pd  # noqa: PLC0415 - only for those who have it

    columns = {}
    for name in names:
        if name in recoded:
            columns[name] = recoded[name].to_pandas()
        else:
            column = frame[name].iloc[order].reset_index(drop=True)
            # categories that no published row holds would tell of rows that are not there
            columns[name] = (
                column.cat.remove_unused_categories() if isinstance(column.dtype, pd.CategoricalDtype) else column
            )
    return pd.DataFrame(columns)


def _polars(frame: Any, order: NDArray[np.int64], recoded: Mapping[str, Any], names: list[str]) -> Any:
    import polars as pl  # noqa: PLC0415 - only for those who have it

    def column(name: str) -> Any:
        return pl.Series(name, pl.from_arrow(recoded[name])) if name in recoded else frame[name].gather(order)

    return pl.DataFrame([column(name).alias(name) for name in names])
