"""Frames of other libraries: taken in without touching them, given back as the same kind.

No library is imported to find out what somebody handed us: the module of its type says it.
"""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

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
    arrow = arrow_of(frame, kind, columns)
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


def restore(table: Table, published: Any, recoded: frozenset[str]) -> Any:
    """The published table, an Arrow one, as the kind that came in.

    It is made of the verified cells alone: from what came in only the types are taken, never a value. Values that Arrow
    holds for one (``None`` and ``nan``, 1.0 and 1.00) would tell rows of a class apart, and the caller may have changed
    the frame since.
    """
    return {"pandas": _pandas, "polars": _polars, "duckdb": _duckdb}.get(table.kind, _as_is)(
        table.native, published, recoded
    )


def _as_is(native: Any, published: Any, recoded: frozenset[str]) -> Any:
    del native, recoded
    return published


def _names(frame: Any, kind: str) -> list[str]:
    names = list(frame.column_names if kind == "arrow" else frame.columns)
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong:
        raise DataError(f"column names must be text, not {wrong[0]!r}; rename it")
    return names


def arrow_of(frame: Any, kind: str, columns: list[str]) -> Any:
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


def first_rows(frame: Any, kind: str, rows: int) -> Any:
    """The first rows of a frame, as one of the same kind."""
    return frame.slice(0, rows) if kind == "arrow" else frame.limit(rows) if kind == "duckdb" else frame.head(rows)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _pandas(frame: Any, published: Any, recoded: frozenset[str]) -> Any:
    import pandas as pd  # noqa: PLC0415 - only for those who have it

    def column(name: str) -> Any:
        cells = published.column(name)
        if name in recoded:
            return cells.to_pandas()
        kind = frame[name].dtype
        if isinstance(kind, pd.CategoricalDtype):
            held = set(cells.unique().to_pylist())
            used = [value for value in kind.categories if value in held]
            return pd.Series(pd.Categorical(cells.to_pandas(), categories=used, ordered=kind.ordered))
        if isinstance(kind, pd.ArrowDtype):
            return pd.Series(pd.array(cells, dtype=pd.ArrowDtype(cells.type)))
        if kind == "object":
            return cells.to_pandas().astype(object)
        return pd.Series(pd.array(cells, dtype=pd.ArrowDtype(cells.type))).astype(kind)

    return pd.DataFrame({name: column(name) for name in published.column_names})


def _polars(frame: Any, published: Any, recoded: frozenset[str]) -> Any:
    import polars as pl  # noqa: PLC0415 - only for those who have it

    def column(name: str) -> Any:
        cells = pl.Series(name, pl.from_arrow(published.column(name)))
        kind = cells.dtype if name in recoded else frame[name].dtype
        if isinstance(kind, pl.Enum):
            held = set(cells.cast(pl.String).unique().to_list())
            kind = pl.Enum([category for category in kind.categories if category in held])
        return cells.cast(pl.String).cast(kind) if isinstance(kind, pl.Enum | pl.Categorical) else cells.cast(kind)

    return pl.DataFrame([column(name) for name in published.column_names])


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
