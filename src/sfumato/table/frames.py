"""Frames of other libraries: taken in without touching them, given back as the same kind.

No library is imported to find out what somebody handed us: the module of its type says it.
"""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from sfumato.errors import DataError, quote
from sfumato.policy import Policy
from sfumato.table.table import (
    Table,
    cast_text_views,
    check_calendar,
    check_columns,
    check_rows,
    check_types,
    columns_to_read,
)

_KINDS = {
    ("pandas", "DataFrame"): "pandas",
    ("polars", "DataFrame"): "polars",
    ("pyarrow", "Table"): "arrow",
    ("duckdb", "DuckDBPyRelation"): "duckdb",
    ("pyspark", "DataFrame"): "spark",
}


def from_frame(frame: Any, policy: Policy) -> Table:
    """Make a table from a pandas, polars, Arrow or DuckDB object; a pandas index is left behind.

    >>> import pyarrow
    >>> from sfumato.policy import load
    >>> policy = load({
    ...     "columns": {"sex": {"role": "quasi", "hierarchy": "suppress"}},
    ...     "privacy": [{"model": "k-anonymity", "k": 2}],
    ... })
    >>> from_frame(pyarrow.table({"sex": ["f", "m"]}), policy).rows
    2
    """
    kind, names = frame_kind(frame), frame_column_names(frame)
    policy = policy.for_table(names)
    check_columns(names, policy)
    columns = columns_to_read(policy, names)
    arrow = frame_to_arrow(frame, kind, columns)
    check_rows(arrow)
    check_types(arrow.schema, columns)
    check_calendar(arrow)
    return Table(cast_text_views(arrow), kind=kind, native=frame)


def frame_column_names(frame: Any) -> list[str]:
    """List the names of a frame's columns; what is no text is refused."""
    names = list(frame.column_names if frame_kind(frame) == "arrow" else frame.columns)
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong:
        raise DataError(f"column names must be text, not {quote(wrong[0])}; rename it")
    return names


def frame_kind(frame: Any) -> str:
    """Tell whether a frame is of ``pandas``, ``polars``, ``duckdb``, ``arrow`` or ``spark``."""
    for base in type(frame).__mro__:
        kind = _KINDS.get((base.__module__.split(".")[0].lstrip("_"), base.__name__))
        if kind:
            return kind
    raise DataError(
        f"a {type(frame).__name__} is not a table that can be anonymized; hand in a pandas or polars DataFrame, "
        "an Arrow table, a DuckDB relation or a path"
    )


def first_frame_rows(frame: Any, kind: str, rows: int) -> Any:
    """Take the first rows of a frame, as a frame of the same kind."""
    return frame.slice(0, rows) if kind == "arrow" else frame.limit(rows) if kind == "duckdb" else frame.head(rows)


def frame_to_arrow(frame: Any, kind: str, columns: list[str]) -> Any:
    """Convert columns to Arrow; where that fails, the first column that cannot be is named, and none of its cells."""
    if kind == "spark":
        raise DataError('a Spark DataFrame is anonymized where its rows are; say engine="spark"')
    try:
        return _TO_ARROW[kind](frame, columns)
    except _NOT_ARROW:
        wrong = next(name for name in columns if not _converts(frame, kind, name))
        raise DataError(
            f"column {quote(wrong)} mixes types or holds objects that have no common type; "
            "turn it into text before anonymizing, or give it the role identifier"
        ) from None


def _converts(frame: Any, kind: str, name: str) -> bool:
    try:
        _TO_ARROW[kind](frame, [name])
    except _NOT_ARROW:
        return False
    return True


def _pandas_to_arrow(frame: Any, columns: list[str]) -> Any:
    return pa.Table.from_pandas(frame[columns], preserve_index=False).replace_schema_metadata()


def _polars_to_arrow(frame: Any, columns: list[str]) -> Any:
    import polars as pl  # noqa: PLC0415 - only for those who have it

    # column by column: `select` takes the name "*" for all columns, and one between ^ and $ for a pattern
    return pl.DataFrame([frame.get_column(name) for name in columns]).to_arrow()


def _duckdb_to_arrow(frame: Any, columns: list[str]) -> Any:
    return frame.project(", ".join(map(_quote_name, columns))).to_arrow_table()


_NOT_ARROW = (pa.ArrowException, TypeError, ValueError, OverflowError)
_TO_ARROW: dict[str, Callable[[Any, list[str]], Any]] = {
    "arrow": lambda frame, columns: frame.select(columns),
    "pandas": _pandas_to_arrow,
    "polars": _polars_to_arrow,
    "duckdb": _duckdb_to_arrow,
}


def frame_of_kind(arrow: Any, kind: str) -> Any:
    """Give an Arrow table as a frame of a kind that `frame_kind` names."""
    if kind == "pandas":
        return arrow.to_pandas()
    if kind == "polars":
        import polars as pl  # noqa: PLC0415 - only for those who have it

        return pl.from_arrow(arrow)
    if kind == "duckdb":
        import duckdb  # noqa: PLC0415 - only for those who handed in a relation

        return duckdb.from_arrow(arrow)
    return arrow


def restore_frame(table: Table, published: Any, recoded: frozenset[str]) -> Any:
    """Convert the published table, an Arrow one, to the kind of object that came in.

    It is made of the verified cells alone: from what came in only the types are taken, never a value. Values that Arrow
    takes for one (``None`` and ``nan``, 1.0 and 1.00) would tell rows of a class apart, and the caller may have changed
    the frame since. Columns that are `recoded` hold labels and keep no type.
    """
    if table.kind == "pandas":
        return _to_pandas(table.native, published, recoded)
    if table.kind == "polars":
        return _to_polars(table.native, published, recoded)
    if table.kind == "duckdb":
        return _to_duckdb(table.native, published, recoded)
    return published


def _to_pandas(frame: Any, published: Any, recoded: frozenset[str]) -> Any:
    import pandas as pd  # noqa: PLC0415 - only for those who have it

    def column(name: str) -> Any:
        cells = published.column(name)
        if name in recoded:
            return cells.to_pandas()
        kind = frame[name].dtype
        if isinstance(kind, pd.CategoricalDtype):
            present = set(cells.unique().to_pylist())
            used = [value for value in kind.categories if value in present]
            return pd.Series(pd.Categorical(cells.to_pandas(), categories=used, ordered=kind.ordered))
        if isinstance(kind, pd.ArrowDtype):
            return pd.Series(pd.array(cells, dtype=pd.ArrowDtype(cells.type)))
        if kind == "object":
            return cells.to_pandas(integer_object_nulls=True).astype(object)  # whole numbers beside None stay whole
        return pd.Series(pd.array(cells, dtype=pd.ArrowDtype(cells.type))).astype(kind)

    return pd.DataFrame({name: column(name) for name in published.column_names})


def _to_polars(frame: Any, published: Any, recoded: frozenset[str]) -> Any:
    import polars as pl  # noqa: PLC0415 - only for those who have it

    def column(name: str) -> Any:
        cells = pl.Series(name, pl.from_arrow(published.column(name)))
        kind = cells.dtype if name in recoded else frame[name].dtype
        if isinstance(kind, pl.Enum):
            present = set(cells.cast(pl.String).unique().to_list())
            kind = pl.Enum([category for category in kind.categories if category in present])
        return cells.cast(pl.String).cast(kind) if isinstance(kind, pl.Enum | pl.Categorical) else cells.cast(kind)

    return pl.DataFrame([column(name) for name in published.column_names])


def _to_duckdb(relation: Any, published: Any, recoded: frozenset[str]) -> Any:
    import duckdb  # noqa: PLC0415 - only for those who handed in a relation

    types = dict(zip(relation.columns, relation.types, strict=True))

    def cast(name: str) -> str:
        """Write the column as SQL; of an ENUM only the values that some row holds."""
        if name in recoded:
            return _quote_name(name)
        kind = types[name]
        if kind.id != "enum":
            return f"CAST({_quote_name(name)} AS {kind})"
        present = set(published.column(name).unique().to_pylist())
        values = [value for value in dict(kind.children)["values"] if value in present]
        return f"CAST({_quote_name(name)} AS ENUM({', '.join(_quote_text(value) for value in values)}))"

    cells = (f"{cast(name)} AS {_quote_name(name)}" for name in published.column_names)
    return duckdb.from_arrow(published).project(", ".join(cells))


def _quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _quote_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
