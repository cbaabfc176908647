"""What is true, from the original table: of the rows with a person's quasi-identifiers, how many hold a value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.attack.definetti.bag import Bag
from sfumato.attack.definetti.people import People
from sfumato.core.arrays import FloatArray, IntArray, narrow_codes
from sfumato.core.keys import pack_tuples
from sfumato.encode import CodedColumn, EncodedTable, encode_column
from sfumato.errors import DataError
from sfumato.policy import Policy
from sfumato.split import TwoTables
from sfumato.split.two_tables import NAME_THE_ORIGINAL, check_row_count, codes_in_original
from sfumato.table import Table


@dataclass(frozen=True, eq=False)
class Original:
    """The original rows: quasi-identifiers and sensitive columns as codes, by name."""

    columns: Mapping[str, CodedColumn]

    @classmethod
    def of_table(cls, table: Table, policy: Policy) -> "Original":
        """The original as it was read."""
        return cls({column.name: encode_column(table, column.name) for column in (*policy.quasi, *policy.sensitive)})

    @classmethod
    def of_encoded(cls, encoded: EncodedTable) -> "Original":
        """The original as it was encoded for the release."""
        return cls({one.name: one.column for one in encoded.quasi} | dict(encoded.sensitive))


@dataclass(frozen=True, eq=False)
class Truth:
    """Rows of the original for each profile, and rows for each pair of profile and value that occurs, by packed key."""

    rows: IntArray
    pairs: IntArray
    counts: IntArray
    values: int

    def share(self, profile: IntArray, value: IntArray) -> FloatArray:
        """The share of the rows of a profile that hold a value: how often it is right of somebody with that profile."""
        keys = profile * self.values + value
        place = np.searchsorted(self.pairs, keys)
        place[place == len(self.pairs)] = 0
        held = np.where(self.pairs[place] == keys, self.counts[place], 0)
        return held / self.rows[profile]


def truth(original: Original, tables: TwoTables, people: People, bag: Bag) -> Truth:
    """Look the people up in the original; `DataError` where they are not all there.

    Rows that were not published count like others of their profile: nobody outside can tell which they are.
    """
    check_row_count(tables.rows, _length(original))
    rows = _rows(original, tables, people)
    lines = np.bincount(people.profile, weights=people.lines).astype(np.int64)
    found = np.bincount(rows, minlength=len(lines) + 1)[:-1]
    _check_profiles(lines, found)
    there = original.columns[bag.name]
    held = bag.held(_translated(there, bag.exact.domain.values))
    value = held[there.codes]
    known = (rows < len(found)) & (value >= 0)
    pairs, counts = np.unique(rows[known] * bag.values + value[known], return_counts=True)
    return Truth(found, pairs, counts, bag.values)


def _rows(original: Original, tables: TwoTables, people: People) -> IntArray:
    """The profile of each row of the original; one more than there are where it has none of them."""
    columns, inside = [], np.ones(_length(original), dtype=np.bool_)
    for column, codes in zip(tables.quasi, people.codes, strict=True):
        there = original.columns[column.name]
        place = _translated(there, column.texts)
        inside &= (place >= 0)[there.codes]
        row = narrow_codes(np.maximum(place, 0), column.width)[there.codes]
        columns.append(np.concatenate([narrow_codes(codes, column.width), row]))
    keys, rows = np.split(pack_tuples(columns, [column.width for column in tables.quasi]).keys, [len(people.codes[0])])
    order = np.argsort(keys)
    place = np.minimum(np.searchsorted(keys, rows, sorter=order), len(keys) - 1)
    found = order[place]
    return np.where(inside & (keys[found] == rows), found, len(keys))


def _translated(there: CodedColumn, texts: Sequence[str | None]) -> IntArray:
    """For each code of an original column the code that the release has for the same value, -1 where it has none."""
    found = np.full(there.width, -1)
    found[codes_in_original(texts, there)] = np.arange(len(texts))
    return found


def _length(original: Original) -> int:
    return len(next(iter(original.columns.values())).codes)


def _check_profiles(lines: IntArray, rows: IntArray) -> None:
    """Every profile stands in the original as often as in the release, at least."""
    lacking = int(np.maximum(lines - rows, 0).sum())
    if lacking:
        why = f"{lacking:,} of {lines.sum():,} lines of the release have quasi-identifiers of no row of the original"
        raise DataError(f"{why}; {NAME_THE_ORIGINAL}")
