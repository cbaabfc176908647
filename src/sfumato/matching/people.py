"""The people that the releases are about: as an adversary knows them, or as rows of the first release."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.core.keys import pack_tuples
from sfumato.encode import CodedColumn, encode_column
from sfumato.labels.data_dictionary import Entry
from sfumato.labels.label_overlap import DescribedLabels
from sfumato.matching.released import Released
from sfumato.table import Table


@dataclass(frozen=True, eq=False)
class People:
    """Persons by what is known of them: `known` has a code for each different tuple, and `tuples` each person's tuple.

    `entries` say how labels are read; there are none where values are known. `truth` has a code for each person, of the
    sensitive columns that are known. Where persons are `lines` of the first release, its lines are the tuples.
    """

    known: Mapping[str, CodedColumn]
    tuples: IntArray
    entries: Mapping[str, Entry] = field(default_factory=dict)
    truth: Mapping[str, CodedColumn] = field(default_factory=dict)
    lines: bool = False

    @property
    def different(self) -> int:
        """How many different tuples there are."""
        return len(next(iter(self.known.values())).codes)

    @property
    def persons(self) -> int:
        """How many persons there are."""
        return len(self.tuples)

    def side(self, column: str) -> DescribedLabels:
        """What is known in a column."""
        return DescribedLabels(self.known[column].texts, self.entries.get(column, {}))


def people_known(table: Table, quasi: Iterable[str], sensitive: Iterable[str]) -> People:
    """The rows of a table, each a person; NULL is a value.

    >>> import pyarrow
    >>> table = Table(pyarrow.table({"age": ["37", "37", "52"], "illness": ["flu", "HIV", "flu"]}))
    >>> people = people_known(table, ["age"], ["illness"])
    >>> people.different, people.tuples.tolist()
    (2, [0, 0, 1])
    """
    truth = {name: encode_column(table, name) for name in sensitive}
    return _distinct({name: encode_column(table, name) for name in quasi}, truth)


def people_released(release: Released, quasi: Iterable[str]) -> People:
    """The rows of a release, each a person who is known by its labels."""
    names = list(quasi)
    known = {name: release.quasi[name] for name in names}
    return People(known, release.lines, {name: release.entry(name) for name in names}, lines=True)


def people_drawn(
    columns: Mapping[str, CodedColumn], rows: IntArray, truth: Mapping[str, CodedColumn] | None = None
) -> People:
    """Some rows of a table, each a person who is known by these columns."""
    known = {name: _only(one, rows) for name, one in columns.items()}
    return _distinct(known, {name: _only(one, rows) for name, one in (truth or {}).items()})


def drawn(rows: IntArray, many: int, seed: int) -> IntArray:
    """So many rows, drawn at random, in their order; all where there are not more. The seed protects nothing.

    >>> drawn(np.arange(3), 5, seed=1).tolist(), len(drawn(np.arange(9), 5, seed=1))
    ([0, 1, 2], 5)
    """
    if len(rows) <= many:
        return rows
    return np.sort(np.random.default_rng(seed).choice(rows, many, replace=False))


def _distinct(quasi: Mapping[str, CodedColumn], truth: Mapping[str, CodedColumn]) -> People:
    """Persons who are known by equal values as one tuple."""
    packed = pack_tuples([one.codes for one in quasi.values()], [one.width for one in quasi.values()])
    _, first, tuples = np.unique(packed.keys, return_index=True, return_inverse=True)
    known = {name: replace(one, codes=one.codes[first]) for name, one in quasi.items()}
    return People(known, tuples.astype(np.int64), truth=truth)


def _only(column: CodedColumn, rows: IntArray) -> CodedColumn:
    """A column of some rows, with the values that these have."""
    used, codes = np.unique(column.codes[rows], return_inverse=True)
    return CodedColumn(column.name, codes, tuple(column.texts[one] for one in used.tolist()), None)
