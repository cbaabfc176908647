"""A partition: which rows of which distinct tuples form a group. What every local algorithm returns.

Local recoding works on distinct tuples, but rows of one tuple may go different ways: three of seven equal rows into
one class, four into another. So a partition is a list of lines, each of them some rows of a tuple in a group.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.arrow import arrow_numbers, numpy_numbers
from sfumato.core.keys import pack_tuples
from sfumato.core.segments import Segments
from sfumato.encode import DividedLines, EncodedTable, divide_lines

SUPPRESSED = -1
"""The group of rows that are not published."""


@dataclass(frozen=True, eq=False)
class Partition:
    """Line by line: `rows` rows of a distinct tuple are in a group, or are suppressed.

    With n lines: `tuples` int[n] numbers of distinct tuples, `rows` int[n] above 0, `group` int[n] from 0 to
    ``groups - 1`` or `SUPPRESSED`. Lines are in any order, and a tuple may have several lines.

    >>> partition = Partition.one_group(np.array([2, 3]))
    >>> partition.sizes
    array([5])
    """

    tuples: IntArray
    rows: IntArray
    group: IntArray
    groups: int

    def __len__(self) -> int:
        return len(self.tuples)

    @classmethod
    def one_group(cls, counts: IntArray) -> "Partition":
        """Put all tuples, with all of their rows, into one group."""
        return cls.from_tuples(counts, np.zeros(len(counts), dtype=np.int64), 1)

    @classmethod
    def from_tuples(cls, counts: IntArray, group: IntArray, groups: int) -> "Partition":
        """Put every tuple, with all of its rows, into the group that is given for it."""
        return cls(np.arange(len(counts)), counts, group, groups)

    @classmethod
    def concatenate(cls, partitions: Sequence["Partition"]) -> "Partition":
        """Put the groups of all behind one another, without empty ones.

        >>> Partition.concatenate([Partition.one_group(np.array([2])), Partition.one_group(np.array([3]))]).group
        array([0, 1])
        """
        if not partitions:
            return cls.one_group(np.zeros(0, dtype=np.int64)).without_empty_groups()
        first = np.cumsum([0, *(partition.groups for partition in partitions)])
        group = [
            np.where(partition.group < 0, SUPPRESSED, partition.group + before)
            for partition, before in zip(partitions, first[:-1], strict=True)
        ]
        tuples, rows = (np.concatenate([getattr(part, name) for part in partitions]) for name in ("tuples", "rows"))
        return cls(tuples, rows, np.concatenate(group), int(first[-1])).without_empty_groups()

    @property
    def sizes(self) -> IntArray:
        """Rows in each group."""
        published = self.published
        return np.bincount(published.group, weights=published.rows, minlength=self.groups).astype(np.int64)

    @property
    def published(self) -> "Partition":
        """The lines that are in a group."""
        return self if (self.group >= 0).all() else self.select(self.group >= 0)

    @property
    def suppressed(self) -> "Partition":
        """The lines that are in no group."""
        return self.select(self.group < 0)

    def select(self, lines: BoolArray | IntArray) -> "Partition":
        """Keep some of the lines, groups numbered as they are."""
        return Partition(self.tuples[lines], self.rows[lines], self.group[lines], self.groups)

    def select_groups(self, chosen: BoolArray) -> "Partition":
        """Keep the chosen groups, renumbered; no line is suppressed.

        >>> Partition(np.array([7, 8]), np.array([1, 1]), np.array([0, 1]), 2).select_groups(np.array([False, True]))
        Partition(tuples=array([8]), rows=array([1]), group=array([0]), groups=1)
        """
        if chosen.all():
            return self
        lines, number = np.flatnonzero(chosen.take(self.group)), np.cumsum(chosen) - 1
        group = number.take(self.group.take(lines))
        return Partition(self.tuples.take(lines), self.rows.take(lines), group, int(chosen.sum()))

    def sort_by_group(self) -> "Partition":
        """Put the lines in the order of their groups, lines of a group in the order that they have."""
        order = np.argsort(self.group, kind="stable")  # quick where lines of a group are nearly together
        return Partition(self.tuples.take(order), self.rows.take(order), self.group.take(order), self.groups)

    def relabel(self, tuples: IntArray) -> "Partition":
        """Call tuple i of these lines ``tuples[i]``: what was numbered within a part gets its numbers in the table.

        >>> Partition.one_group(np.array([2, 3])).relabel(np.array([7, 9])).tuples
        array([7, 9])
        """
        return Partition(tuples.take(self.tuples), self.rows, self.group, self.groups)

    def merge(self, into: IntArray) -> "Partition":
        """Unite groups: group i becomes part of the one called ``into[i]``; groups are renumbered without gaps.

        >>> Partition(np.arange(3), np.ones(3, int), np.array([0, 1, 2]), 3).merge(np.array([5, 1, 5])).group
        array([1, 0, 1])
        """
        targets, target = np.unique(into, return_inverse=True)
        group = np.where(self.group < 0, SUPPRESSED, target[self.group])
        return Partition(self.tuples, self.rows, group, len(targets)).combine_lines()

    def as_one_group(self) -> "Partition":
        """Unite all groups."""
        return self.merge(np.zeros(self.groups, dtype=np.int64))

    def without_empty_groups(self) -> "Partition":
        """Renumber the groups that have lines, without gaps."""
        used = np.zeros(self.groups, dtype=np.bool_)
        used[self.group[self.group >= 0]] = True
        place = np.cumsum(used) - 1
        group = np.where(self.group < 0, SUPPRESSED, place[self.group])
        return Partition(self.tuples, self.rows, group, int(used.sum()))

    def combine_lines(self) -> "Partition":
        """Make one line of each pair of tuple and group, in the order of the tuples, then of the groups."""
        if (self.tuples[1:] > self.tuples[:-1]).all():
            return self
        key = self.tuples * (self.groups + 1) + (self.group + 1)
        keys, place = np.unique(key, return_inverse=True)
        if len(keys) == len(key):
            order = np.argsort(key)
            return Partition(self.tuples[order], self.rows[order], self.group[order], self.groups)
        rows = np.bincount(place, weights=self.rows, minlength=len(keys)).astype(np.int64)
        return Partition(keys // (self.groups + 1), rows, keys % (self.groups + 1) - 1, self.groups)


def allocate_rows(encoded: EncodedTable, partition: Partition) -> tuple[IntArray, DividedLines | None]:
    """Decide which row of the table is in which group: the group of each row, `SUPPRESSED` where it has none.

    Rows of one tuple that go different ways differ in nothing that an algorithm looked at. They are sorted by all else
    that is published of them and dealt out evenly, so that each group gets its share of every value. So the result does
    not depend on the order of the input and tells nothing of it, and no class is of one kind of rows by accident.

    Where the table has counted lines, it is the group of each entry of divided lines, which are returned besides. Lines
    are sorted by what they are counted by, so that plain columns are left to whoever has the rows: they come last.

    The lines of the partition are combined.
    """
    columns = [*(attribute.column for attribute in encoded.quasi), *encoded.tuple_columns.values()]
    packed = pack_tuples([column.codes for column in columns], [column.width for column in columns])
    tuple_of_row = np.searchsorted(encoded.tuples.packed.keys, packed.keys)

    first = np.searchsorted(partition.tuples, np.arange(len(encoded.tuples)))
    group = partition.group[first].take(tuple_of_row)
    divided = np.diff(first, append=len(partition)) > 1  # per tuple: whether it is in several groups
    if not divided.any():
        return group, None
    rows = _sort_rows(encoded, np.flatnonzero(divided.take(tuple_of_row)), tuple_of_row)
    dealt = deal_out(partition.select(divided.take(partition.tuples)))
    if encoded.counts is None:
        group[rows] = dealt
        return group, None
    order = np.argsort(rows)  # the groups of the rows of each line, the lines as they come
    runs = Segments.from_lengths(encoded.counts.take(rows))
    parts, group = divide_lines(encoded.counts, rows.take(order), dealt.take(runs.places(order)), group)
    return group, parts


def _sort_rows(encoded: EncodedTable, rows: IntArray, tuple_of_row: IntArray) -> IntArray:
    """Sort some rows by their tuple, and then by all that is published of them besides, sampling weights first.

    Rows that only differ in weights that are rounded in print are sorted by these, so that nothing hangs on the order
    in which they came.
    """
    keys: dict[str, Any] = {"tuple": arrow_numbers(tuple_of_row[rows])}
    for name, column in encoded.sensitive.items():
        if name not in encoded.domains:
            keys[f"s {name}"] = arrow_numbers(column.codes[rows])
    if encoded.weights is not None:
        keys["w"] = arrow_numbers(encoded.weights[rows])
    for name, values in encoded.plain.items():
        cells = values.take(arrow_numbers(rows))
        if pa.types.is_dictionary(cells.type):  # the one kind of values that does not sort
            cells = pc.cast(cells, cells.type.value_type)
        keys[f"p {name}"] = cells
    order = pc.sort_indices(pa.table(keys), sort_keys=[(name, "ascending") for name in keys])
    ordered: IntArray = rows[numpy_numbers(order)]
    return ordered


def deal_out(partition: Partition) -> IntArray:
    """Mix the groups of each tuple's rows as evenly as can be: the j-th of n rows is placed at (j + 1/2) / n.

    Returns the group of each row, tuple by tuple: int[sum of rows]. Lines are sorted by tuple.
    """
    lines = Segments.from_lengths(partition.rows)
    line = lines.group
    number = np.arange(len(line)) - lines.spread(lines.starts)
    share = (number + 0.5) / partition.rows[line]
    group: IntArray = partition.group[line[np.lexsort([share, partition.tuples[line]])]]
    return group
