"""k-map: how many of the population each class of a table may be about, where a table of the population is at hand.

The table may be published with labels and the population raw: a person of the population counts for every class whose
labels cover them. A table is k-map anonymous if every row may be about k people of the population (Sweeney 2001).
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
from sfumato.risk.measured_table import MeasuredTable

_CELLS = 1 << 24
"""Pairs of persons and lines that are compared at a time."""


@dataclass(frozen=True)
class KMap:
    """The population as a table: `people` in it, and where the rows of the measured table fall.

    `k_map` is the smallest class of the population that a row falls in, none where no row falls in any. `outside` are
    the rows that fall in none, `short` those in classes of which the population has fewer than the table: where there
    are any, the population table is not complete, or written differently. `alone` are rows that fit one person only.
    """

    people: int
    k_map: int | None
    outside: int
    short: int
    alone: int

    def as_json(self) -> dict[str, Any]:
        """Return the figures for ``--json``."""
        return asdict(self)


def measure_k_map(classes: EquivalenceClasses, sizes: IntArray, people: int) -> KMap:
    """Measure classes of equal values by their sizes in a population of so many people.

    sizes: int[classes].

    >>> measure_k_map(EquivalenceClasses(sizes=[2, 1, 1]), np.array([5, 0, 1]), people=6)
    KMap(people=6, k_map=1, outside=1, short=0, alone=1)
    """
    inside, short = sizes[sizes > 0], (sizes > 0) & (sizes < classes.persons)
    smallest = int(inside.min()) if len(inside) else None
    return KMap(people, smallest, *(int(classes.sizes[rows].sum()) for rows in (sizes == 0, short, sizes == 1)))


@dataclass(frozen=True, eq=False)
class PopulationTable:
    """A table of the population: its rows by what is known of people, and the `person` of each row (int[rows])."""

    people: KnownPeople
    person: IntArray
    persons: int


def read_population(data: Any, table: MeasuredTable) -> PopulationTable:
    """Read a population, for a measured table, from a file or a frame.

    Each row is another person, unless it has the column of individuals.
    """
    options: ReadOptions = table.options
    names = outside_column_names(data, options)
    check_column_names(table.names, names, "the population table")
    individual = table.individual if table.individual in names else None
    population = read_outside_table(data, [*table.names, *([individual] if individual else [])], options)
    people = people_from_table(population, table.names, ())
    if individual is None:
        return PopulationTable(people, np.arange(people.person_count), people.person_count)
    column = encode_column(population, individual)
    return PopulationTable(people, column.codes.astype(np.int64), column.width)


def count_population(population: PopulationTable, table: MeasuredTable) -> IntArray:
    """Count the different persons of the population who fit each value of the table's quasi-identifiers.

    Returns int[values], by the numbers of ``table.values``.
    """
    released = table.released()
    fits = PeopleLookup(population.people, released)
    if fits.incomparable:
        raise DataError(
            f"labels of {listing(fits.incomparable)} do not tell which values they stand for, so that nobody of the "
            "population can be looked up by them; leave --population out, or give the size of the population"
        )
    sizes = np.zeros(int(table.values.max()) + 1, dtype=np.int64)
    sizes[table.values] = _count_per_line(population, fits)[released.line_of]  # both have the rows in the same order
    return sizes


def _count_per_line(population: PopulationTable, fits: PeopleLookup) -> IntArray:
    """Count the different persons who fit each line of the release, a block of the population's tuples at a time.

    holder: int[pairs], the persons of tuple t being holder[first[t]:first[t + 1]], each once.
    """
    lines, width = len(fits.release.class_of), population.persons
    tuples, different = population.people.tuple_of, population.people.tuple_count
    pairs = count_keys(pack_tuples([tuples, population.person], [different, width])).keys
    holder, first = pairs % width, np.searchsorted(pairs // width, np.arange(different + 1))
    if len(pairs) == width:  # everybody has one tuple: no person can be counted twice
        persons, total = np.diff(first), np.zeros(lines)
        for start, end in fits.blocks(_CELLS):
            matches = fits.candidate_lines(start, end)
            total += np.bincount(matches.candidates, weights=persons[start:end][matches.person_of], minlength=lines)
        return total.astype(np.int64)
    keys = []  # line and person as one number, each once
    for start, end in fits.blocks(_CELLS):
        matches = fits.candidate_lines(start, end)
        here = matches.person_of + start
        match, place = expand_ranges(first[here], first[here + 1])
        keys.append(np.unique(matches.candidates[match] * width + holder[place]))
    return np.bincount(np.unique(np.concatenate(keys)) // width, minlength=lines)
