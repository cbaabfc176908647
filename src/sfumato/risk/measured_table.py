"""A table whose risk is measured: its rows by their quasi-identifiers, whose they are, and which classes they form.

It is read from a file, by a policy or by the names of its columns, or from the folder of a release.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.arrays import BoolArray, Codes, FloatArray, IntArray, count_codes
from sfumato.core.arrow import arrow_numbers, arrow_texts
from sfumato.core.classes import EquivalenceClasses, SensitiveDomain, count_values
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.core.sampling_weights import read_weights
from sfumato.encode import CodedColumn, encode_column
from sfumato.errors import DataError, InputError, quote
from sfumato.policy import Policy
from sfumato.reading.outside_table import ReadOptions, check_column_names, outside_column_names, read_outside_table
from sfumato.reading.release_reader import read_manifest
from sfumato.reading.release_view import ReleaseLines, view_file, view_folder
from sfumato.risk.person_risk import required_k
from sfumato.table import describe_source


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The different rows of a table, called lines: one array of codes per column, each int[lines].

    `counts` says how many rows are equal to a line, and `person` whose they are. Where rows do not name persons
    (`named` is false), each line has a person of its own.
    """

    columns: tuple[Codes, ...]
    widths: tuple[int, ...]
    counts: IntArray
    person: IntArray
    named: bool

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def unit(self) -> str:
        """What is counted: persons where rows name them, else rows."""
        return "persons" if self.named else "rows"

    def number_lines(self, chosen: Sequence[int]) -> tuple[IntArray, int]:
        """Number the lines by their values in the chosen columns, equal for equal values; and say how many there are.

        >>> lines = DistinctRows((np.array([0, 0, 1]), np.array([0, 1, 1])), (2, 2), np.ones(3), np.arange(3), False)
        >>> lines.number_lines([1])
        (array([0, 1, 1]), 2)
        """
        return number_tuples(pack_tuples([self.columns[i] for i in chosen], [self.widths[i] for i in chosen]))

    def count(self, chosen: BoolArray | IntArray | slice = slice(None)) -> int:
        """Count the persons, or the rows, of some lines; of all where none are named."""
        return len(np.unique(self.person[chosen])) if self.named else int(self.counts[chosen].sum())


@dataclass(frozen=True, eq=False, repr=False)
class MeasuredTable:
    """Quasi-identifiers as codes and, where rows name them, the `person` of each row (int[rows]).

    `group` has the group of each row of a release in two tables, where a row of one may be any of its group in the
    other: those groups are the classes then, and rows with equal quasi-identifiers are in several.

    `individual` is the column that names persons, `k` what was promised or is required, `options` how a table of the
    population is read beside this one. `released` gives the table as one looks people up in it. `weights` are sampling
    weights, float[rows], and `weighted_by` their column, where there is one.
    """

    quasi: tuple[CodedColumn, ...]
    person: IntArray | None
    group: IntArray | None
    individual: str | None
    k: int | None
    options: ReadOptions
    released: Callable[[], ReleaseLines]
    weights: FloatArray | None = None
    weighted_by: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return tuple(column.name for column in self.quasi)

    @property
    def sampled(self) -> int:
        """How many of a population are in the table: rows, or persons where rows name them."""
        return len(self.quasi[0].codes) if self.person is None else len(np.unique(self.person))

    @cached_property
    def values(self) -> IntArray:
        """A number for each row, equal for rows with equal quasi-identifiers."""
        columns = [column.codes for column in self.quasi]
        return number_tuples(pack_tuples(columns, [column.width for column in self.quasi]))[0]

    @cached_property
    def value_classes(self) -> EquivalenceClasses:
        """The classes of rows with equal quasi-identifiers."""
        return count_persons(self.values, self.person)

    @cached_property
    def classes(self) -> EquivalenceClasses:
        """The classes of the table, which are the groups of a release in two tables."""
        return self.value_classes if self.group is None else count_persons(self.group, self.person)

    @cached_property
    def value_weights(self) -> FloatArray | None:
        """The people of the population that each class of equal quasi-identifiers stands for, by sampling weights."""
        return None if self.weights is None else sum_weights(self.weights, self.values, self.value_classes)

    @cached_property
    def lines(self) -> DistinctRows:
        """The different rows, of each person where rows name them."""
        columns, widths = [column.codes for column in self.quasi], [column.width for column in self.quasi]
        if self.person is None:
            keys = pack_tuples(columns, widths).keys
        else:
            keys = pack_tuples([*columns, self.person], [*widths, int(self.person.max()) + 1]).keys
        _, first, counts = np.unique(keys, return_index=True, return_counts=True)
        person = np.arange(len(first)) if self.person is None else self.person[first]
        codes = tuple(column[first] for column in columns)
        return DistinctRows(codes, tuple(widths), counts, person, self.person is not None)


def sum_weights(weights: FloatArray, class_of: IntArray, classes: EquivalenceClasses) -> FloatArray:
    """Add up the sampling weights of each class; where rows name persons, a person's rows count once, by their average.

    weights, class_of: over rows. Returns float[classes].
    """
    sums = np.bincount(class_of, weights, minlength=len(classes)).astype(np.float64)
    people: FloatArray = sums * classes.persons / np.maximum(classes.sizes, 1)
    return people


def count_persons(class_of: IntArray, person: IntArray | None, counts: IntArray | None = None) -> EquivalenceClasses:
    """Count the rows of each class and, where it is known whose they are, the rows of each person in it.

    class_of, person: int[rows]; or of counted lines, of so many rows each.
    """
    sizes = count_codes(class_of, int(class_of.max(initial=-1)) + 1, counts)
    if person is None:
        return EquivalenceClasses(sizes)
    width = int(person.max()) + 1
    domain = SensitiveDomain((None,) * width, count_codes(person, width, counts))  # names of persons are not needed
    return EquivalenceClasses(sizes, individuals=count_values(class_of, person, counts, domain))


# Where tables come from


def read_by_policy(path: Any, policy: Policy) -> MeasuredTable:
    """Read a file or frame over a policy's quasi-identifiers; the individual column may have been left out."""
    data = policy.document.get("data")
    options = {key: value for key, value in data.items() if key != "source"} if isinstance(data, dict) else {}
    quasi = tuple(column.name for column in policy.quasi)
    individual = policy.individual.name if policy.individual else None
    weight = policy.sampling_weight.name if policy.sampling_weight else None
    columns, person, weights = _read_columns(path, quasi, individual, weight, options)
    return MeasuredTable(
        columns,
        person,
        group=None,
        individual=individual,
        k=required_k(policy.privacy),
        options={"null": list(policy.source.null)},  # all that the policy says of a population table as well
        released=lambda: view_file(path, quasi, policy, options).lines(quasi),
        weights=weights,
        weighted_by=None if weights is None else weight,
    )


def read_by_columns(
    path: Any, quasi: Sequence[str], individual: str | None, weight: str | None = None
) -> MeasuredTable:
    """Read a file or frame over the named columns."""
    names = tuple(dict.fromkeys(quasi))
    if not names:
        raise InputError("name at least one quasi-identifier, as in --quasi age,sex")
    if individual in names:
        raise DataError(
            f"column {quote(individual)} cannot both name persons and be a quasi-identifier; "
            "leave it out of one of the two"
        )
    if weight is not None and weight in {*names, individual}:
        raise DataError(f"column {quote(weight)} cannot both be the sampling weight and something else; name another")
    needed = [name for name in (individual, weight) if name is not None]
    columns, person, weights = _read_columns(path, names, individual, weight, {}, needed=needed)
    return MeasuredTable(
        columns,
        person,
        group=None,
        individual=individual,
        k=None,
        options={},
        released=lambda: view_file(path, names, None, {}).lines(names),
        weights=weights,
        weighted_by=weight,
    )


def read_release(folder: Path) -> MeasuredTable:
    """Read a release over the quasi-identifiers of its manifest; if it is in two tables, its groups are the classes."""
    weight = [entry["name"] for entry in read_manifest(folder).columns if entry.get("role") == "weight"]
    shown = view_folder(folder, weight)
    quasi = shown.with_role("quasi")
    return MeasuredTable(
        tuple(shown.columns[name] for name in quasi),
        person=None if shown.individual is None else shown.individual.codes.astype(np.int64),
        group=shown.class_of,
        individual=None if shown.individual is None else shown.individual.name,
        k=shown.k,
        options={},
        released=lambda: shown.lines(quasi),
        weights=weights_of_column(shown.columns[weight[0]]) if weight else None,
        weighted_by=weight[0] if weight else None,
    )


def _read_columns(
    path: Any,
    quasi: Sequence[str],
    individual: str | None,
    weight: str | None,
    options: ReadOptions,
    *,
    needed: Sequence[str] = (),
) -> tuple[tuple[CodedColumn, ...], IntArray | None, FloatArray | None]:
    """Read the quasi-identifiers of a file as codes, and the person and weight of each row if it has these columns."""
    names = outside_column_names(path, options)
    check_column_names([*quasi, *needed], names, describe_source(path))
    others = [name for name in (individual, weight) if name is not None and name in names]
    table = read_outside_table(path, [*quasi, *others], options)
    columns = tuple(encode_column(table, name) for name in quasi)
    person = encode_column(table, individual).codes.astype(np.int64) if individual in others and individual else None
    weights = read_weights(table.arrow.column(weight), weight) if weight in others and weight else None
    return columns, person, weights


def weights_of_column(column: CodedColumn) -> FloatArray:
    """Read the sampling weight of each row from a coded column."""
    return read_weights(arrow_texts(column.texts).take(arrow_numbers(column.codes)), column.name)
