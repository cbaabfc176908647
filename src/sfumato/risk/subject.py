"""What is measured: the rows of a table by their quasi-identifiers, whose they are, and which classes they form."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.core.arrays import Codes, IntArray
from sfumato.core.classes import EquivalenceClasses, Histogram, SensitiveDomain
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.encode import CodedColumn


@dataclass(frozen=True, eq=False, repr=False)
class Subject:
    """Columns as codes and, where rows name them, a person for each row.

    `group` has the group of each row of a release in two tables, where a row of one may be any of its group in the
    other: those groups are the classes then, and rows with equal quasi-identifiers, `values`, stand in several.
    """

    quasi: tuple[CodedColumn, ...]
    person: IntArray | None = None
    group: IntArray | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return tuple(column.name for column in self.quasi)

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return len(self.quasi[0].codes)

    @cached_property
    def values(self) -> IntArray:
        """A number for each row, equal for rows with equal quasi-identifiers."""
        return number_tuples(pack_tuples([one.codes for one in self.quasi], [one.width for one in self.quasi]))[0]

    @property
    def class_of(self) -> IntArray:
        """The class of each row."""
        return self.values if self.group is None else self.group

    @cached_property
    def classes(self) -> EquivalenceClasses:
        """The classes, with who is in each where rows name persons."""
        return classes_of(self.class_of, self.person)

    @cached_property
    def lines(self) -> "Lines":
        """The different rows."""
        return lines_of(self.quasi, self.person)


@dataclass(frozen=True, eq=False)
class Lines:
    """The different rows: a code for each column, how many rows each line stands for, and whose it is.

    Where rows name no person, each line is its own person's; one that stands for several rows is never alone.
    """

    columns: tuple[Codes, ...]
    widths: tuple[int, ...]
    counts: IntArray
    person: IntArray
    named: bool

    def __len__(self) -> int:
        return len(self.counts)

    def numbered(self, chosen: Sequence[int]) -> tuple[IntArray, int]:
        """A number for each line, equal for lines that are equal in the chosen columns; and how many there are."""
        return number_tuples(pack_tuples([self.columns[i] for i in chosen], [self.widths[i] for i in chosen]))


def classes_of(owner: IntArray, person: IntArray | None) -> EquivalenceClasses:
    """Classes from the class of each row and, where it is known, whose the row is."""
    sizes = np.bincount(owner)
    if person is None:
        return EquivalenceClasses(sizes)
    width = int(person.max()) + 1
    pairs, rows = np.unique(owner * width + person, return_counts=True)
    domain = SensitiveDomain((None,) * width, np.bincount(person))  # their names are nobody's business
    return EquivalenceClasses(sizes, individuals=Histogram(pairs // width, pairs % width, rows, domain))


def lines_of(quasi: Sequence[CodedColumn], person: IntArray | None) -> Lines:
    """The different rows of these columns, of each person where rows name them."""
    columns = [column.codes for column in quasi]
    widths = [column.width for column in quasi]
    keys = pack_tuples([*columns, *_one(person)], [*widths, *(int(one.max()) + 1 for one in _one(person))]).keys
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    whose = np.arange(len(first)) if person is None else person[first]
    return Lines(tuple(codes[first] for codes in columns), tuple(widths), counts, whose, person is not None)


def _one(person: IntArray | None) -> list[IntArray]:
    return [] if person is None else [person]
