"""k-map: how many of the population each class of a table may be about, where a table of the population is at hand.

The table may be published with labels and the population raw: a person of the population counts for every class whose
labels cover them.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sfumato.core.arrays import IntArray
from sfumato.core.classes import EquivalenceClasses
from sfumato.core.keys import count_keys, pack_tuples
from sfumato.core.segments import expand_ranges
from sfumato.encode import encode_column
from sfumato.errors import DataError, listing
from sfumato.matching.lookup import PeopleLookup
from sfumato.matching.people import KnownPeople, people_from_table
from sfumato.reading.outside_table import ReadOptions, check_column_names, outside_column_names, read_outside_table
from sfumato.reading.release_view import ReleaseLines
from sfumato.risk.subject import Subject

_CELLS = 1 << 24
"""Pairs of persons and lines that are compared at a time."""


@dataclass(frozen=True)
class KMap:
    """The population as a table: `people` in it, and where the rows of the measured table fall.

    `k_map` is the smallest class of the population that a row falls in, none where no row falls in any. `outside` are
    the rows that fall in none, `short` those in classes of which the population has fewer than the table: where there
    are any, the population table is not whole, or written differently. `alone` are rows that fit one person only.
    """

    people: int
    k_map: int | None
    outside: int
    short: int
    alone: int

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Population:
    """A table of the population: its people by what is known of them, and who each row is, of so many persons."""

    people: KnownPeople
    person: IntArray
    persons: int


def read_population(data: Any, quasi: tuple[str, ...], individual: str | None, options: ReadOptions) -> Population:
    """The population from a file or a frame: each row is another person, unless it has the column of individuals."""
    names = outside_column_names(data, options)
    check_column_names(quasi, names, "the population table")
    named = individual if individual in names else None
    table = read_outside_table(data, [*quasi, *([named] if named else [])], options)
    people = people_from_table(table, quasi, ())
    if named is None:
        return Population(people, np.arange(people.person_count), people.person_count)
    whose = encode_column(table, named)
    return Population(people, whose.codes.astype(np.int64), whose.width)


def sizes_in(population: Population, released: ReleaseLines, subject: Subject) -> IntArray:
    """How many of the population fit the values of the subject's rows, which the release has in the same order."""
    fits = PeopleLookup(population.people, released)
    if fits.incomparable:
        raise DataError(
            f"labels of {listing(fits.incomparable)} do not tell which values they stand for, so that nobody of the "
            "population can be looked up by them; leave --population out, or give the size of the population"
        )
    sizes = np.zeros(int(subject.values.max()) + 1, dtype=np.int64)
    sizes[subject.values] = _counted(population, fits)[released.line_of]
    return sizes


def _counted(population: Population, fits: PeopleLookup) -> IntArray:
    """The different persons who fit each line of the release, a block of tuples at a time."""
    lines, held = len(fits.release.class_of), _Held(population)
    if held.once:
        found = np.zeros(lines)
        for start, end in fits.blocks(_CELLS):
            pairs = fits.candidate_lines(start, end)
            found += np.bincount(pairs.candidates, weights=held.many[start:end][pairs.person_of], minlength=lines)
        return found.astype(np.int64)
    keys = [held.keys(fits, start, end) for start, end in fits.blocks(_CELLS)]
    return np.bincount(np.unique(np.concatenate(keys)) // population.persons, minlength=lines)


class _Held:
    """The different persons of each tuple."""

    def __init__(self, population: Population) -> None:
        tuples, self.width = population.people.tuple_of, population.persons
        pairs = count_keys(pack_tuples([tuples, population.person], [population.people.tuple_count, self.width])).keys
        self.tuple, self.person = pairs // self.width, pairs % self.width
        self.first = np.searchsorted(self.tuple, np.arange(population.people.tuple_count + 1))
        self.many = np.diff(self.first)
        self.once = len(pairs) == self.width  # nobody has rows that differ

    def keys(self, fits: PeopleLookup, start: int, end: int) -> IntArray:
        """Line and person as one number, for all who are on the tuples from `start` to `end`."""
        pairs = fits.candidate_lines(start, end)
        here = pairs.person_of + start
        row, place = expand_ranges(self.first[here], self.first[here + 1])
        return np.unique(pairs.candidates[row] * self.width + self.person[place])


def k_map_of(classes: EquivalenceClasses, sizes: IntArray, people: int) -> KMap:
    """What the sizes in the population say of the rows of classes with equal values.

    >>> k_map_of(EquivalenceClasses(sizes=[2, 1, 1]), np.array([5, 0, 1]), people=6)
    KMap(people=6, k_map=1, outside=1, short=0, alone=1)
    """
    inside, short = sizes[sizes > 0], (sizes > 0) & (sizes < classes.persons)
    smallest = int(inside.min()) if len(inside) else None
    return KMap(people, smallest, *(int(classes.sizes[one].sum()) for one in (sizes == 0, short, sizes == 1)))
