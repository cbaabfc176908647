"""Frames of other libraries: taken in without touching them, given back as the same kind.

No library is imported to find out what somebody handed us: the module of its type says it.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.policy import Policy
from sfumato.table.base import Table, check_columns, check_rows, check_types, plain_text, wanted

_KINDS = {
    ("pandas", "DataFrame"): "pandas",
    ("polars", "DataFrame"): "polars",
    ("pyarrow", "Table"): "arrow",
    ("duckdb", "DuckDBPyRelation"): "duckdb",
}


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
    columns = wanted(policy, names)
    arrow = _arrow(frame, kind, columns)
    check_rows(arrow)
    check_types(arrow.schema, columns)
    return Table(plain_text(arrow), kind=kind, native=frame)


def kind_of(frame: Any) -> str:
    """``pandas``, ``polars``, ``duckdb`` or ``arrow``."""
    for kind in type(frame).__mro__:
        known = _KINDS.get((kind.__module__.split(".")[0].lstrip("_"), kind.__name__))
        if known:
            return known
    raise DataError(
        f"a {type(frame).__name__} is not a table that can be anonymized; hand in a pandas or polars DataFrame, "
        "an Arrow table, a DuckDB relation or a path"
    )


def restore(table: Table, order: NDArray[np.int64], published: Any, recoded: frozenset[str]) -> Any:
    """The published table as the kind that came in.

    `published` is it as Arrow, made of the rows `order`; columns that are not `recoded` are taken from what came in,
    so that they keep types that Arrow does not have.
    """
    if table.kind == "duckdb":
        return _duckdb(table.native, published, recoded)
    if table.kind not in {"pandas", "polars"}:
        return published
    changed = {name: published.column(name) for name in recoded}
    return {"pandas": _pandas, "polars": _polars}[table.kind](table.native, order, changed, published.column_names)


def _names(frame: Any, kind: str) -> list[str]:
    names = list(frame.column_names if kind == "arrow" else frame.columns)
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong:
        raise DataError(f"column names must be text, not {wrong[0]!r}; rename it")
    return names


def _arrow(frame: Any, kind: str, columns: list[str]) -> Any:
    """The columns as Arrow; where that fails, the first column that cannot be is named, and none of its cells."""
    try:
        return _CONVERT[kind](frame, columns)
    except _NOT_ARROW:
        wrong = next(name for name in columns if not _converts(frame, kind, name))
        raise DataError(
            f"column '{wrong}' mixes types or holds objects that have no common type; "
            "turn it into text before anonymizing, or give it the role identifier"
        ) from None


def _converts(frame: Any, kind: str, name: str) -> bool:
    try:
        _CONVERT[kind](frame, [name])
    except _NOT_ARROW:
        return False
    return True


def _from_pandas(frame: Any, columns: list[str]) -> Any:
    return pa.Table.from_pandas(frame[columns], preserve_index=False).replace_schema_metadata()


def _from_duckdb(frame: Any, columns: list[str]) -> Any:
    return frame.select(*(_quoted(name) for name in columns)).to_arrow_table()


_NOT_ARROW = (pa.ArrowException, TypeError, ValueError, OverflowError)
_CONVERT: dict[str, Callable[[Any, list[str]], Any]] = {
    "arrow": lambda frame, columns: frame.select(columns),
    "pandas": _from_pandas,
    "polars": lambda frame, columns: frame.select(columns).to_arrow(),
    "duckdb": _from_duckdb,
}


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
        if name in recoded:
            return pl.Series(name, pl.from_arrow(recoded[name]))
        taken = frame[name].gather(order)
        return taken.cast(pl.String).cast(pl.Enum(_used(taken))) if isinstance(taken.dtype, pl.Enum) else taken

    return pl.DataFrame([column(name).alias(name) for name in names])


def _duckdb(relation: Any, published: Any, recoded: frozenset[str]) -> Any:
    import duckdb  # noqa: PLC0415 - only for those who handed in a relation

    types = dict(zip(relation.columns, relation.types, strict=True))
    cells = [
        _quoted(name) if name in recoded else f"CAST({_quoted(name)} AS {_kind(types[name], published.column(name))})"
        for name in published.column_names
    ]
    named = (f"{cell} AS {_quoted(name)}" for cell, name in zip(cells, published.column_names, strict=True))
    return duckdb.from_arrow(published).select(*(duckdb.SQLExpression(cell) for cell in named))


def _kind(kind: Any, column: Any) -> str:
    """A DuckDB type in SQL; of an ENUM only the values that some row holds."""
    if kind.id != "enum":
        return str(kind)
    held = set(column.unique().to_pylist())
    values = [value for value in dict(kind.children)["values"] if value in held]
    return "ENUM(" + ", ".join("'" + value.replace("'", "''") + "'" for value in values) + ")"


def _used(column: Any) -> list[str]:
    """The categories of a polars Enum that some row holds, in their order."""
    held = set(column.unique().to_list())
    return [category for category in column.dtype.categories if category in held]
