"""What a reader sees of a release, row by row: a folder, somebody's file, or a release that is not yet written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.core.classes import Histogram, count_values
from sfumato.core.keys import mix_bits, number_tuples, pack_tuples
from sfumato.core.segments import run_starts
from sfumato.encode import CodedColumn, value_totals
from sfumato.hierarchy.open_ended import write_set
from sfumato.labels.data_dictionary import Entry
from sfumato.matching.released import Released
from sfumato.queries.account import Account


@dataclass(frozen=True, eq=False)
class Shown:
    """Published columns, a code for each row of the table, or of the first of two.

    `owner` and `bags` are there where sensitive values stand in another table: the class of each row, and how often
    each class has which value. `individual` is the column of pseudonyms, where there is one.
    """

    name: str
    account: Account
    k: int | None
    columns: Mapping[str, CodedColumn]
    class_of: IntArray | None = None
    bags: Mapping[str, Histogram] = field(default_factory=dict)
    individual: CodedColumn | None = None

    @property
    def rows(self) -> int:
        """Rows of the table."""
        some = self.class_of if self.class_of is not None else next(iter(self.columns.values())).codes
        return len(some)

    def with_role(self, *roles: str) -> list[str]:
        """The columns of some roles, in their order."""
        return [entry["name"] for entry in self.account.columns if entry.get("role") in roles]

    def released(self, on: Sequence[str], sensitive: Sequence[str] = ()) -> Released:
        """The release as lines of these columns that people can be looked up by, with bags of the sensitive ones.

        Where there are two tables, somebody who is known by a sensitive value may be on any line of a class that has
        the value: a bag is a label like a set.
        """
        shown = {name: self.columns[name] if name in self.columns else self._of_bags(name) for name in on}
        sets = [name for name in on if name not in self.columns]
        account = replace(self.account, columns=tuple(_as_set(one, sets) for one in self.account.columns))
        names = None if self.individual is None else self.individual.codes
        return lines_of(replace(self, account=account, columns=shown), self._classes(shown, sensitive), names)

    def _classes(self, shown: Mapping[str, CodedColumn], sensitive: Sequence[str]) -> "Grouped":
        """The class of each row, told by its number or else by its labels; and the bags of the classes."""
        if self.class_of is not None:
            return Grouped(self.class_of, np.bincount(self.class_of), {name: self.bags[name] for name in sensitive})
        owner, classes = number_tuples(
            pack_tuples([one.codes for one in shown.values()], [one.width for one in shown.values()])
        )
        bags = {name: _bag(self.columns[name], owner) for name in sensitive}
        return Grouped(owner, np.bincount(owner, minlength=classes), bags)

    def _of_bags(self, name: str) -> CodedColumn:
        """A column of another table: for each row, the set of the values that its class has."""
        assert self.class_of is not None  # noqa: S101 - only then a column is not among the others
        bag = self.bags[name]
        first = run_starts(bag.class_of)
        last = np.append(first[1:], len(bag.class_of))
        alike, classes = _alike(bag, first)
        values = bag.domain.values
        texts = tuple(write_set([values[i] for i in bag.value[first[one] : last[one]]]) for one in alike.tolist())
        return CodedColumn(name, classes[self.class_of], texts, None)


@dataclass(frozen=True, eq=False)
class Grouped:
    """The class of each row, the rows of each class, and the bags of the classes by column."""

    class_of: IntArray
    sizes: IntArray
    bags: Mapping[str, Histogram]


def lines_of(shown: Shown, grouped: Grouped, persons: IntArray | None) -> Released:
    """Equal rows of a class as one line; of one table a class is a line already."""
    if shown.class_of is None:
        first = np.empty(len(grouped.sizes), dtype=np.int64)
        first[grouped.class_of[::-1]] = np.arange(len(grouped.class_of))[::-1]
        return _released(shown, grouped, persons, first, grouped.class_of)
    columns = [*(one.codes for one in shown.columns.values()), grouped.class_of]
    packed = pack_tuples(columns, [*(one.width for one in shown.columns.values()), len(grouped.sizes)])
    _, first, lines = np.unique(packed.keys, return_index=True, return_inverse=True)
    return _released(shown, grouped, persons, first, lines)


def _released(shown: Shown, grouped: Grouped, persons: IntArray | None, first: IntArray, lines: IntArray) -> Released:
    """The lines of a release, given a row that each is `first` on, and the line of each row."""
    quasi = {name: replace(one, codes=one.codes[first]) for name, one in shown.columns.items()}
    owner, bags = grouped.class_of[first], grouped.bags
    return Released(shown.name, shown.account, shown.k, quasi, lines, owner, grouped.sizes, bags, persons)


def _as_set(entry: Entry, names: Sequence[str]) -> Entry:
    return {"name": entry["name"], "form": "sets"} if entry["name"] in names else entry


def _bag(column: CodedColumn, owner: IntArray) -> Histogram:
    ones: IntArray = np.ones(len(owner), dtype=np.int64)
    return count_values(owner, column.codes.astype(np.int64), ones, value_totals(column))


def _alike(bag: Histogram, first: IntArray) -> tuple[IntArray, IntArray]:
    """A class for each different set of values, and which of these sets each class has.

    Sets are told apart by sums of 128 bits, so that they are written once each and not once a class.
    """
    sums = [np.add.reduceat(mix_bits(bag.value, salt), first) for salt in (1, 2)]
    both = np.array(sums).T.copy().view([("", np.uint64)] * 2).ravel()
    _, alike, classes = np.unique(both, return_index=True, return_inverse=True)
    return alike, classes
