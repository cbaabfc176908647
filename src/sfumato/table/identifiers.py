"""Whether identifiers repeat: rows that seem to be one person's, in a table whose policy takes each for another's.

Identifiers enter no table. They are read by themselves, counted and forgotten.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

import pyarrow as pa

from sfumato.policy import Policy
from sfumato.table.base import Table, plain_text
from sfumato.table.formats import format_of
from sfumato.table.frames import arrow_of, first_rows

_FIRST = 100_000
"""Identifiers of larger tables are counted only where these first rows give cause: most tables repeat none."""

_MANY = 10_000_000
"""More cells than this are not counted: all of them at once would take memory that the search needs."""


def repeats(table: Table, policy: Policy) -> dict[str, float]:
    """Rows for each different value of the identifiers that look as if they named persons in several rows.

    NULL names nobody. A column with fewer different values than rows for each is left out for another reason than that
    it names somebody, as one of sexes or of countries. Nothing is looked at where a column of individuals says who is
    who.

    >>> from sfumato.policy import load
    >>> from sfumato.table import from_frame
    >>> policy = load({
    ...     "columns": {"ssn": {"role": "identifier"}, "sex": {"role": "quasi", "hierarchy": "suppress"}},
    ...     "privacy": [{"model": "k-anonymity", "k": 2}],
    ... })
    >>> visits = pa.table({"ssn": ["1", "1", "2", None], "sex": ["f", "f", "m", "m"]})
    >>> repeats(from_frame(visits, policy), policy)
    {'ssn': 1.5}
    """
    names = [] if policy.individual else [column.name for column in policy.identifiers]
    reader = _Reader(table, policy)
    if table.rows > _FIRST:
        names = list(_suspects(reader.counted(names, reader.begin)))
    if len(names) * table.rows > _MANY:
        return {}
    return _suspects(reader.counted(names, reader.all))


def _suspects(counted: Iterable[tuple[str, int, int]]) -> dict[str, float]:
    """Rows for each value of the columns that repeat values, and have more of them than rows for each."""
    return {name: rows / different for name, rows, different in counted if rows > different and different**2 >= rows}


class _Reader:
    """Reads columns of a table that are not in it."""

    def __init__(self, table: Table, policy: Policy) -> None:
        self.table, self.policy = table, policy

    def counted(self, names: list[str], read: Callable[[list[str]], Any]) -> Iterator[tuple[str, int, int]]:
        """Rows with a value and different values of each that can be counted: a file's in one go, a frame's singly."""
        for chosen in [names] if names and self.table.path else [[name] for name in names]:
            with suppress(Exception):  # nobody has to be able to read a column that is not published
                found = plain_text(read(chosen))
                found.validate(full=True)  # a damaged file may hold text that is none
                yield from ((name, *_counted(cells)) for name, cells in zip(chosen, found.columns, strict=True))

    def all(self, names: list[str]) -> Any:
        """All rows."""
        if self.table.path is not None:
            return format_of(self.table.path).read(self.table.path, self.policy, names)
        return arrow_of(self.table.native, self.table.kind, names)

    def begin(self, names: list[str]) -> Any:
        """The first rows, or a few more."""
        if self.table.path is None:
            return arrow_of(first_rows(self.table.native, self.table.kind, _FIRST), self.table.kind, names)
        kind = format_of(self.table.path)
        if kind.begin is not None:
            return kind.begin(self.table.path, self.policy, names)
        return self.all(names).slice(0, _FIRST)


def _counted(cells: Any) -> tuple[int, int]:
    """Rows with a value, and different values; 0 of both where they cannot be compared."""
    with suppress(pa.ArrowException):
        return len(cells) - cells.null_count, len(cells.drop_null().unique())
    return 0, 0
