"""Past: what the earlier releases have to say on one requirement, as counts for each combination of their groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sfumato.core.arrays import Codes, FloatArray, IntArray
from sfumato.core.keys import count_keys, number_tuples, pack_tuples
from sfumato.encode import CodedColumn
from sfumato.errors import DataError
from sfumato.models import ROW, Linkage
from sfumato.policy import ColumnReference
from sfumato.previous.history import History

Told = tuple[str, CodedColumn, IntArray]
"""A column by the name it has in y, and the code of each value there."""

_MOST = 50_000_000
"""Lines that are still looked at."""
_LARGEST = 2.0**53


@dataclass(frozen=True, eq=False, repr=False)
class Past:
    """Lines of a combination, a value on the earlier columns of x, one on those of y, and its weight.

    `matches` is how many combinations there are. Values are numbers; the weight is how many different values on y there
    are to count, or how many records. Where y has the row key of a release, its records are counted by group and need
    no number each. `values` are the columns of y with the code of each value.
    """

    matches: int
    match: IntArray
    x: IntArray
    y: IntArray
    weight: IntArray
    xs: int
    ys: int
    values: tuple[Told, ...] = ()

    @cached_property
    def columns(self) -> "Columns":
        """The different pairs of a value on x and one on y."""
        keys, at, first = _unique(self.x * self.ys + self.y)
        return Columns(keys // self.ys, keys % self.ys, self.weight[first].astype(np.float64), at)


class Columns(NamedTuple):
    """Pairs of a value on x and one on y, with the weight of each; and the pair of each line."""

    x: IntArray
    y: IntArray
    weight: FloatArray
    of: IntArray


def _unique(keys: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    known, first, at = np.unique(keys, return_index=True, return_inverse=True)
    return known, at, first


def past_of(history: History, entry: Linkage, *, records: bool) -> Past:
    """The lines of a requirement; `records` counts records, not different values on y."""
    found = Past(len(history), *_whole(len(history)), 1, 1)
    for place in range(len(history.star.earlier)):
        found = _extended(found, history, place, _Lines.of(history, place, entry, records=records))
    return found


def _whole(size: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    nothing = np.zeros(size, dtype=np.int64)
    return np.arange(size), nothing, nothing, np.ones(size, dtype=np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class _Lines:
    """The lines of one release by group: from `first` of a group to that of the next."""

    first: IntArray
    x: IntArray
    y: IntArray
    weight: IntArray
    xs: int
    ys: int
    values: tuple[Told, ...]

    @classmethod
    def of(cls, history: History, place: int, entry: Linkage, *, records: bool) -> "_Lines":
        earlier, groups = history.star.earlier[place], history.groups[place]
        x = _columns(history, place, entry.x)
        names = [each for each in history.star.references(entry.y) if each.table == earlier.name]
        key = ColumnReference(ROW, earlier.name) in names
        y = [] if key else _columns(history, place, entry.y)
        columns, widths = [groups.of], [groups.count]
        for column in (*x, *y):
            columns.append(column.codes)
            widths.append(column.width)
        packed = pack_tuples(columns, widths)
        counted = count_keys(packed)
        group, *codes = packed.unpack(counted.keys)
        xs, many, _ = _numbered(codes[: len(x)], [column.width for column in x], len(group))
        ys, values, y_codes = _numbered(codes[len(x) :], [column.width for column in y], len(group))
        if key:  # records of one group and x are alike: their keys are counted, not told apart
            ys, values = np.arange(len(group)), len(group)
        weight = counted.counts if key or records else np.ones(len(group), dtype=np.int64)
        first = np.searchsorted(group, np.arange(groups.count + 1))
        return cls(first, xs, ys, weight, many, values, _told(earlier.name, y, y_codes))


def _columns(history: History, place: int, names: Sequence[str]) -> list[CodedColumn]:
    """The columns of a release that an x or y names, in its order."""
    earlier = history.star.earlier[place]
    found = [each for each in history.star.references(names) if each.table == earlier.name and each.column != ROW]
    return [earlier.coded(each.column) for each in found]


def _numbered(codes: Sequence[Codes], widths: list[int], lines: int) -> tuple[IntArray, int, list[IntArray]]:
    """The number of each line's value, how many there are, and the codes of each."""
    if not codes or not lines:
        return np.zeros(lines, dtype=np.int64), 1, [np.zeros(1, dtype=np.int64) for _ in codes]
    numbers, many = number_tuples(pack_tuples(codes, widths))
    first = np.empty(many, dtype=np.int64)
    first[numbers[::-1]] = np.arange(lines)[::-1]
    return numbers, many, [each[first] for each in codes]


def _extended(past: Past, history: History, place: int, lines: _Lines) -> Past:
    """Each line so far with every line of one release more that stands in the same combination."""
    group = history.chosen[place][past.match]
    many = np.diff(lines.first)[group]
    if int(many.sum()) > _MOST:
        raise DataError(
            f"joined with {history.star.earlier[place].name} the earlier releases have more than {_MOST:,} different "
            "values on x and y together; name fewer of their columns there"
        )
    left = np.repeat(np.arange(len(group)), many)
    begin = np.cumsum(many) - many
    right = np.arange(len(left)) - np.repeat(begin - lines.first[group], many)
    xs, x_many, _ = _numbered([past.x[left], lines.x[right]], [past.xs, lines.xs], len(left))
    ys, y_many, y_codes = _numbered([past.y[left], lines.y[right]], [past.ys, lines.ys], len(left))
    if float(past.weight.max(initial=0)) * float(lines.weight.max(initial=0)) >= _LARGEST:
        raise DataError("the earlier releases have more records together than can be counted; look at fewer of them")
    weight = past.weight[left] * lines.weight[right]
    values = _retold(past.values, y_codes[0]) + _retold(lines.values, y_codes[1])
    return Past(past.matches, past.match[left], xs, ys, weight, x_many, y_many, values)


def _told(name: str, columns: Sequence[CodedColumn], codes: Sequence[IntArray]) -> tuple[Told, ...]:
    return tuple((f"{name}.{column.name}", column, each) for column, each in zip(columns, codes, strict=True))


def _retold(told: tuple[Told, ...], places: IntArray) -> tuple[Told, ...]:
    return tuple((name, column, codes[places]) for name, column, codes in told)
