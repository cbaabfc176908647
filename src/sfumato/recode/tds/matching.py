"""Which groups of the table match what of the earlier releases, in the present state and in one that is tried."""

from copy import copy
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sfumato.core.arrays import Codes, IntArray
from sfumato.core.keys import count_keys, pack_tuples
from sfumato.previous import GroupMatches, HistoryTable, LinkedReleases, RecordMatcher
from sfumato.recode.tds.axes import Split, TreeAxis
from sfumato.recode.tds.groups import Groups, Parted


class Rematched(NamedTuple):
    """Groups of records that a specialization parts, with what the parts match and their labels."""

    parted: Parted
    pairs: GroupMatches
    labels: dict[str, IntArray]


class Matching:
    """The different records as far as matching looks at them, their groups, and the pairs of what matches.

    `tuples` are codes by column: leaf codes of quasi-identifiers, values of the others. `at` finds the tuple of records
    given by such codes.
    """

    def __init__(self, history: HistoryTable, axes: dict[int, TreeAxis]) -> None:
        self.star, self.history, self.matcher = history.releases, history, RecordMatcher(history)
        self.axes = {axis.name: axis for axis in axes.values() if axis.name in self.star.matched_columns}
        self.places = {place: axis.name for place, axis in axes.items() if axis.name in self.star.matched_columns}
        columns = [codes_of(self.star, name) for name in self.star.matched_columns]
        self.widths = [width for _, width in columns]
        packed = pack_tuples([codes for codes, _ in columns], self.widths) if columns else None
        keys = count_keys(packed).keys if packed else np.zeros(1, dtype=np.int64)
        codes = packed.unpack(keys) if packed else []
        self.tuples: dict[str, Codes] = dict(zip(self.star.matched_columns, codes, strict=True))
        self.rows_at = (
            np.searchsorted(keys, packed.keys) if packed else np.zeros(self.star.encoded.rows, dtype=np.int64)
        )
        self.size = len(keys)
        self.nodes = {name: self._node_labels(axis) for name, axis in self.axes.items()}
        self._begin()

    def _begin(self) -> None:
        """One group, parted by the columns that are published as they are; quasi-identifiers stand at their roots."""
        self.groups = Groups(np.zeros(self.size, dtype=np.int64), 1)
        self.pairs, everything = self.matcher.start, np.arange(self.size)
        self.labels = {name: self.nodes[name][:1] for name in self.axes}
        known = {name: self.star.exact_columns[name] for name in self.star.matched_columns if name not in self.axes}
        numbers = {name: self.star.taxonomies[name].numbers(column.texts) for name, column in known.items()}
        self.labels |= {name: np.zeros(1, dtype=np.int64) for name in known}
        for name, column in known.items():
            parted = self.groups.parted(everything, self.tuples[name].astype(np.int64), column.width)
            self.commit(self._rematched(parted, name, numbers[name], self.tuples[name], final=name == [*known][-1]))
        if not known:
            self.pairs = self.matcher.drop_inconsistent(self.pairs, self.labels)

    def tried(self, place: int, split: Split) -> Rematched | None:
        """What a specialization of a quasi-identifier does to the matches; nothing where it is not matched by."""
        name = self.places.get(place)
        if name is None:
            return None
        child = split.which[self.tuples[name]]
        tuples = np.flatnonzero(child >= 0)
        parted = self.groups.parted(tuples, child[tuples], len(split.children))
        return self._rematched(parted, name, self.nodes[name][list(split.children)], child[tuples])

    def commit(self, rematched: Rematched) -> None:
        """Do what was tried."""
        numbers = self.groups.commit(rematched.parted)
        order = np.arange(self.groups.count)
        order[numbers] = len(self.pairs) + np.arange(len(numbers))
        self.pairs = self.pairs.append(rematched.pairs).select(order)
        for name, labels in rematched.labels.items():
            grown = np.append(self.labels[name], np.zeros(self.groups.count - len(self.labels[name]), dtype=np.int64))
            grown[numbers] = labels
            self.labels[name] = grown

    @property
    def related(self) -> bool:
        """Whether every record matches something, whatever is specialized."""
        return self.unmatched_rows == 0

    @cached_property
    def unmatched_rows(self) -> int:
        """Rows that match nothing if all quasi-identifiers are published as they are."""
        other = copy(self)
        other.groups, other.labels = Groups(self.groups.of, self.groups.count), dict(self.labels)
        for name, axis in self.axes.items():
            other.specialize(name, axis)
        return int((other.pairs.counts[other.groups.of] == 0)[self.rows_at].sum())

    def specialize(self, name: str, axis: TreeAxis) -> None:
        """Publish a quasi-identifier as it is."""
        codes, everything = self.tuples[name].astype(np.int64), np.arange(self.size)
        leaves = self.star.taxonomies[name].numbers(axis.tree.labels[0])
        parted = self.groups.parted(everything, codes, axis.leaves)
        self.commit(self._rematched(parted, name, leaves, codes))

    def _rematched(self, parted: Parted, name: str, labels: IntArray, codes: Codes, *, final: bool = True) -> Rematched:
        """The parts with the label that each has in a column, and what they still match; rules wait for all columns."""
        part = np.empty(len(parted.old), dtype=np.int64)
        part[parted.part] = labels[codes]
        found = {column: known[parted.old] for column, known in self.labels.items()} | {name: part}
        pairs = self.matcher.keep_consistent(self.pairs.select(parted.old), name, part)
        return Rematched(parted, self.matcher.drop_inconsistent(pairs, found) if final else pairs, found)

    def _node_labels(self, axis: TreeAxis) -> IntArray:
        texts = [label for level in axis.tree.labels[::-1] for label in level]
        return self.star.taxonomies[axis.name].numbers(texts)


def codes_of(star: LinkedReleases, name: str) -> tuple[Codes, int]:
    """The codes of a column of the current table, of leaves if it is a quasi-identifier; and how many there are."""
    if name in star.exact_columns:
        return star.exact_columns[name].codes, star.exact_columns[name].width
    column = next(each.column for each in star.encoded.quasi if each.name == name)
    return column.codes, column.width
