"""The tables of a release in memory: small numbers for cells, and dictionaries that say what they stand for.

A condition on a column is then worked out once per different value, and not once per row. No name of the table ever
gets into a statement: columns are known by their place.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sfumato.errors import DataError, listing
from sfumato.labels.data_dictionary import Entry
from sfumato.queries.account import Account
from sfumato.queries.cells import load_column
from sfumato.queries.column import Column
from sfumato.queries.database import reading
from sfumato.queries.files import Raw, open_raw


@dataclass(frozen=True, eq=False)
class Loaded:
    """A release in a database: tables ``t0``, ``t1``, … with the class of each row, or its weight in one table alone.

    Where there are several tables, ``sizes`` has how many rows each class has.
    """

    connection: Any
    columns: tuple[Column, ...]
    split: bool


def load(connection: Any, account: Account, *, only: Container[str] | None = None) -> Loaded:
    """Read the files of a release, each once; `only` the columns of these names, in lower case, if it says so."""
    columns: list[Column] = []

    def wanted(name: str) -> bool:
        return only is None or name == account.class_id or name.casefold() in only

    for table, name in enumerate(account.tables):
        with reading(name):
            raw = open_raw(connection, account.folder / name, wanted, null=account.null)
            entries = _entries(raw, account, name)
            columns += _load_table(raw, entries, Column("", len(columns), table), account.class_id)
    if account.split:
        _check_classes(connection, account)
    return Loaded(connection, tuple(columns), account.split)


def _entries(raw: Raw, account: Account, name: str) -> list[Entry]:
    """The entries of a table's columns, in the order of its file."""
    known = {entry["name"]: entry for entry in account.within(name)}
    expected = [*known, account.class_id] if account.class_id is not None else [*known]
    if sorted(raw.names) != sorted(expected):
        raise DataError(
            f"{name} has not the columns that manifest.json lists, but {listing(raw.names)}; it was changed"
        )
    return [known[column] for column in raw.names if column != account.class_id]


def _load_table(raw: Raw, entries: Sequence[Entry], first: Column, class_id: str | None) -> list[Column]:
    """Dictionaries of all columns, and the table in their codes."""
    columns = [replace(first, name=entry["name"], place=place) for place, entry in enumerate(entries, first.place)]
    read = [place for place, column in enumerate(columns) if raw.has(column.name)]
    cells = []
    for place in read:
        columns[place], cell = load_column(raw, entries[place], columns[place], labelled=class_id is None)
        cells.append(cell)
    numbered = [f"n{columns[place].place}" for place in read]
    coded = [columns[place] for place in read if columns[place].coded]
    joins = [f"JOIN n{one.place} ON {raw.cell(one.name)} IS NOT DISTINCT FROM n{one.place}.r" for one in coded]
    # one table needs each different row once, with its weight; of several the rows of a class should lie together
    least, shape = ("count(*) AS w", "GROUP BY ALL") if class_id is None else (_class(raw, class_id), "ORDER BY class")
    raw.connection.execute(
        f"CREATE TABLE t{first.table} AS SELECT {', '.join([least, *cells])} FROM raw {' '.join(joins)} {shape}"
    )
    for table in ("raw", *numbered):
        raw.connection.execute(f"DROP TABLE {table}")
    return columns


def _class(raw: Raw, class_id: str) -> str:
    return f"CAST({raw.cell(class_id)} AS BIGINT) AS class"


def _check_classes(connection: Any, account: Account) -> None:
    """Make ``sizes``, and refuse tables that do not have as many rows of each class."""
    connection.execute("CREATE TABLE sizes AS SELECT class, CAST(count(*) AS DOUBLE) AS n FROM t0 GROUP BY class")
    for table, name in enumerate(account.tables[1:], 1):
        (strange,) = connection.execute(
            f"SELECT count(*) FROM (SELECT class, count(*) AS m FROM t{table} GROUP BY class) "
            "FULL JOIN sizes USING (class) WHERE m IS DISTINCT FROM n"
        ).fetchone()
        if strange:
            raise DataError(
                f"{name} has not as many lines of each class as {account.tables[0]}: {strange:,} classes differ; "
                "it was changed after publication"
            )
