"""The people whom somebody looks up in releases: known by a table, by rows of the original, or by a release itself."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from sfumato.core.arrays import IntArray, draw_rows
from sfumato.core.keys import pack_tuples
from sfumato.encode import CodedColumn, encode_column
from sfumato.labels.data_dictionary import Entry
from sfumato.labels.label_overlap import DescribedLabels
from sfumato.reading.release_view import ReleaseLines
from sfumato.table import Table


@dataclass(frozen=True, eq=False)
class KnownPeople:
    """Persons by what is known of them: equal persons are one tuple, so that each is looked up once.

    `columns` have a code for each different tuple, and `tuple_of` has the tuple of each person. `entries` say what
    labels cover; there are none where values are known. `true_values` have a code for each person, of the sensitive
    columns that are known. Where persons are rows of the first release (`are_release_rows`), its lines are the tuples.
    """

    columns: Mapping[str, CodedColumn]
    tuple_of: IntArray
    entries: Mapping[str, Entry] = field(default_factory=dict)
    true_values: Mapping[str, CodedColumn] = field(default_factory=dict)
    are_release_rows: bool = False

    @property
    def tuple_count(self) -> int:
        """How many different tuples there are."""
        return len(next(iter(self.columns.values())).codes)

    @property
    def person_count(self) -> int:
        """How many persons there are."""
        return len(self.tuple_of)

    def labels(self, column: str) -> DescribedLabels:
        """Give what is known in a column, with its entry in the data dictionary."""
        return DescribedLabels(self.columns[column].texts, self.entries.get(column, {}))


def people_from_table(table: Table, quasi: Iterable[str], sensitive: Iterable[str]) -> KnownPeople:
    """Take each row of a table as a person; NULL is a value.

    >>> import pyarrow
    >>> table = Table(pyarrow.table({"age": ["37", "37", "52"], "illness": ["flu", "HIV", "flu"]}))
    >>> people = people_from_table(table, ["age"], ["illness"])
    >>> people.tuple_count, people.tuple_of.tolist()
    (2, [0, 0, 1])
    """
    true_values = {name: encode_column(table, name) for name in sensitive}
    return _number_equal_people({name: encode_column(table, name) for name in quasi}, true_values)


def people_from_release(release: ReleaseLines, quasi: Iterable[str]) -> KnownPeople:
    """Take each row of a release as a person who is known by its labels."""
    names = list(quasi)
    columns = {name: release.quasi[name] for name in names}
    entries = {name: release.entry(name) for name in names}
    return KnownPeople(columns, release.line_of, entries, are_release_rows=True)


def people_from_rows(
    columns: Mapping[str, CodedColumn], rows: IntArray, true_values: Mapping[str, CodedColumn] | None = None
) -> KnownPeople:
    """Take some rows of a table as persons who are known by these columns."""
    quasi = {name: _select_rows(one, rows) for name, one in columns.items()}
    return _number_equal_people(quasi, {name: _select_rows(one, rows) for name, one in (true_values or {}).items()})


def sample_rows(rows: IntArray, size: int, seed: int, counts: IntArray | None = None) -> IntArray:
    """Draw so many rows at random, in their order; all where there are not more. The seed protects nothing.

    Where these are counted lines, `counts` are the rows of each line of the table, and it is the line of each row.

    >>> sample_rows(np.arange(3), 5, seed=1).tolist(), len(sample_rows(np.arange(9), 5, seed=1))
    ([0, 1, 2], 5)
    """
    return draw_rows(rows, size, np.random.default_rng(seed), counts)


def _number_equal_people(quasi: Mapping[str, CodedColumn], true_values: Mapping[str, CodedColumn]) -> KnownPeople:
    """Make one tuple of persons with equal values."""
    packed = pack_tuples([one.codes for one in quasi.values()], [one.width for one in quasi.values()])
    _, first, tuple_of = np.unique(packed.keys, return_index=True, return_inverse=True)
    columns = {name: replace(one, codes=one.codes[first]) for name, one in quasi.items()}
    return KnownPeople(columns, tuple_of.astype(np.int64), true_values=true_values)


def _select_rows(column: CodedColumn, rows: IntArray) -> CodedColumn:
    """Select rows of a column, with only the values that these have."""
    used, codes = np.unique(column.codes[rows], return_inverse=True)
    return CodedColumn(column.name, codes, tuple(column.texts[one] for one in used.tolist()), None)
