"""Query error: random COUNT queries, answered from the original and from a release.

The workload is that of the lossy-join paper (Wong et al. 2007, section 7; before it, of Anatomy). A query asks of some
quasi-identifiers and of one sensitive column. It wants b of the |A| values that a column A has in the original,
b = ⌈|A|·s^(1/(qd+1))⌉, so that about a share s of the rows would match if all values were as frequent and columns were
independent. The error of a query is |actual - estimate| / actual.

Both forms of publication give the size of each class and its bag of sensitive values, and not who has which. They
differ in what they give of the quasi-identifiers: two tables have the values, a generalized table has labels. From
either, the expected count adds up, over the classes, the share of the class whose quasi-identifiers are wanted times
its rows with a wanted sensitive value. The paper's estimate adds up all rows with a wanted value of every class of
which any share is wanted.

`sfumato.queries` answers any query, in SQL; this module answers a thousand counts of one shape quickly. Tests compare
the two.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sfumato.core.arrays import BoolArray, Codes, FloatArray, IntArray, count_codes
from sfumato.core.classes import Histogram, count_values
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.encode import CodedColumn, EncodedTable, count_distinct_tuples, value_totals
from sfumato.errors import InputError
from sfumato.labels.covered_values import CoveredCodes, find_covered_codes, find_declared_codes
from sfumato.labels.data_dictionary import Entry
from sfumato.recode import Recoding
from sfumato.recode.recoding import collapse_lines
from sfumato.split import TwoTables
from sfumato.split.two_tables import codes_in_original, column_names_of_role, read_published_columns

QueryProgress = Callable[[int, int], None]
"""Is called with the number of queries done and of all queries."""

_MOST_DRAWS = 10
"""Queries are drawn so many times as often as they are wanted, and no more; then fewer are asked."""

_DENSE = 8
"""A table of classes by values is made where it has at most so many entries per pair that occurs."""


@dataclass(frozen=True)
class Workload:
    """So many queries, each of so many quasi-identifiers, with an expected share of rows that match.

    >>> Workload(queries=0)
    Traceback (most recent call last):
    sfumato.errors.InputError: queries must be at least 1, not 0
    """

    queries: int = 1000
    dimensions: int = 4
    selectivity: float = 0.05
    seed: int = 1

    def __post_init__(self) -> None:
        for name, least in (("queries", 1), ("dimensions", 1), ("seed", 0)):
            if getattr(self, name) < least:
                raise InputError(f"{name} must be at least {least}, not {getattr(self, name)}")
        if not 0 < self.selectivity <= 1:
            raise InputError(f"selectivity must be above 0 and at most 1, not {self.selectivity}")

    def value_count(self, width: int) -> int:
        """Compute how many of a column's `width` values a query wants, by exact arithmetic.

        >>> Workload(dimensions=1, selectivity=0.25).value_count(6), Workload(dimensions=4).value_count(14)
        (3, 8)
        """
        power = self.dimensions + 1
        least = Fraction(str(self.selectivity)) * width**power  # as it was written, not the float next to it
        start = max(ceil(width * self.selectivity ** (1 / power)) - 1, 1)
        return next(b for b in range(start, width + 1) if b**power >= least)


@dataclass(frozen=True, eq=False)
class CountQuery:
    """Count the rows with a wanted value in each column that is asked of.

    `quasi` has, for each quasi-identifier that is asked of, its place among all and which of its values are wanted;
    `sensitive` has which values of the sensitive column are wanted. Values are codes of the original.
    """

    quasi: tuple[tuple[int, BoolArray], ...]
    sensitive: BoolArray

    def matching_lines(self, columns: Sequence[Codes], codes: Sequence[IntArray] | None = None) -> IntArray:
        """Find the lines whose quasi-identifiers are all wanted.

        columns: one array per quasi-identifier, the code of each line; codes: for each of them, the original's codes
        of the codes in `columns`, where these are not the original's own.
        """
        matching: BoolArray | None = None
        for place, wanted in self.quasi:
            wanted_codes = wanted if codes is None else wanted.take(codes[place])
            hits = wanted_codes.take(columns[place])
            matching = hits if matching is None else np.logical_and(matching, hits, out=matching)
        assert matching is not None  # noqa: S101 - a query has a dimension at least; this tells the type checker
        return np.flatnonzero(matching)


@dataclass(frozen=True, eq=False)
class QuerySample:
    """Queries with their true counts, none of them zero, and how often one with a true count of zero was drawn."""

    workload: Workload
    sensitive: str
    queries: tuple[CountQuery, ...]
    actual: IntArray
    zero: int


def draw_queries(
    encoded: EncodedTable, sensitive: str, workload: Workload, *, progress: QueryProgress | None = None
) -> QuerySample:
    """Draw the queries from the values of the original, and count their rows there.

    There is no relative error where the true count is zero: such a query is drawn again, as long as there are not ten
    times as many draws as queries. The same seed gives the same queries, whatever the order of the rows.
    """
    attributes = encoded.quasi
    if workload.dimensions > len(attributes):
        few = f"there are {len(attributes)} quasi-identifiers, and a query cannot ask of {workload.dimensions}"
        raise InputError(f"{few}; give fewer dimensions")
    # rows that queries on this column can tell apart, each with its count
    tuples = encoded.tuples
    if sensitive not in tuples.others:
        tuples = count_distinct_tuples(attributes, {sensitive: encoded.sensitive[sensitive]}, encoded.counts)
    values, counts = tuples.others[sensitive], tuples.counts
    rng, width = np.random.default_rng(workload.seed), encoded.sensitive[sensitive].width
    queries, actual, zero = list[CountQuery](), list[int](), 0
    for _ in range(_MOST_DRAWS * workload.queries):
        places = np.sort(rng.choice(len(attributes), workload.dimensions, replace=False)).tolist()
        quasi = tuple((place, _draw_values(attributes[place].column.width, workload, rng)) for place in places)
        query = CountQuery(quasi, _draw_values(width, workload, rng))
        lines = query.matching_lines(tuples.quasi)
        count = int(counts.take(lines[query.sensitive.take(values.take(lines))]).sum())
        if count:
            queries.append(query)
            actual.append(count)
        else:
            zero += 1
        if progress:
            progress(len(queries), workload.queries)
        if len(queries) == workload.queries:
            break
    return QuerySample(workload, sensitive, tuple(queries), np.array(actual, dtype=np.int64), zero)


def _draw_values(width: int, workload: Workload, rng: np.random.Generator) -> BoolArray:
    wanted = np.zeros(width, dtype=np.bool_)
    wanted[rng.choice(width, workload.value_count(width), replace=False, shuffle=False)] = True
    return wanted


# How far answers are from the truth.


@dataclass(frozen=True)
class RelativeErrors:
    """Relative errors, |actual - estimated| / actual, over a workload; ``None`` where no query was answered.

    `ninth_decile` is the error that nine queries in ten stay within.
    """

    average: float | None
    median: float | None
    ninth_decile: float | None

    @classmethod
    def from_errors(cls, errors: FloatArray) -> "RelativeErrors":
        """Summarize the errors of each query.

        >>> RelativeErrors.from_errors(np.array([0.0, 0.5, 1.0]))
        RelativeErrors(average=0.5, median=0.5, ninth_decile=0.9)
        """
        if not len(errors):
            return cls(None, None, None)
        return cls(*(float(x) for x in (errors.mean(), np.median(errors), np.quantile(errors, 0.9))))


@dataclass(frozen=True)
class QueryErrors:
    """The errors of both estimates over one workload, with what the workload was.

    `asked` queries were wanted and `answered` have a relative error; `zero` times one was drawn whose true count is
    zero, which has none.
    """

    asked: int
    answered: int
    zero: int
    sensitive: str
    dimensions: int
    selectivity: float
    seed: int
    expected: RelativeErrors
    paper: RelativeErrors

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return asdict(self)


def measure_query_errors(
    sample: QuerySample, estimator: "CountEstimator", *, progress: QueryProgress | None = None
) -> QueryErrors:
    """Estimate every query from the release, and compare with its true count."""
    estimates = np.empty((len(sample.queries), 2))
    for place, query in enumerate(sample.queries):
        estimates[place] = estimator.estimates(query)
        if progress:
            progress(place + 1, len(sample.queries))
    errors = np.abs(estimates - sample.actual[:, None]) / sample.actual[:, None]
    workload = sample.workload
    return QueryErrors(
        workload.queries,
        len(sample.queries),
        sample.zero,
        sample.sensitive,
        workload.dimensions,
        workload.selectivity,
        workload.seed,
        RelativeErrors.from_errors(errors[:, 0]),
        RelativeErrors.from_errors(errors[:, 1]),
    )


# Estimates from a release, class by class.


@dataclass(frozen=True, eq=False)
class CountEstimator:
    """A release, as far as it answers queries on one sensitive column."""

    quasi: "_ClassShares"
    bags: "SensitiveBags"

    def estimates(self, query: CountQuery) -> tuple[float, float]:
        """Estimate a count by its expected value, and as the paper does.

        Expected: within a class, wanted values and wanted quasi-identifiers are independent, as far as the release
        tells. The paper's: all wanted values of every class that somebody with wanted quasi-identifiers may be in.
        """
        shares, wanted = self.quasi.shares(query), self.bags.count_wanted(query.sensitive)
        return float((shares * wanted).sum()), float(wanted[shares > 0].sum())


def estimator_from_tables(tables: TwoTables, encoded: EncodedTable, sensitive: str) -> CountEstimator:
    """Estimate counts from two tables, in terms of the original."""
    columns = {column.name: column for column in tables.quasi}
    published = [columns[attribute.name] for attribute in encoded.quasi]
    quasi = _ValueShares(
        tuple(one.codes for one in published),
        tuple(codes_in_original(o.texts, a.column) for o, a in zip(published, encoded.quasi, strict=True)),
        tables.class_of,
        tables.sizes,
        tables.counts,
    )
    return CountEstimator(quasi, SensitiveBags.from_tables(tables, encoded, sensitive))


def estimator_from_labels(
    tables: TwoTables,
    encoded: EncodedTable,
    sensitive: str,
    *,
    levels: Mapping[str, int | None] | None = None,
    entries: Mapping[str, Entry] | None = None,
) -> CountEstimator:
    """Estimate counts from a generalized table: `tables` has its labels in place of values, and its classes.

    What labels cover is declared by the columns' `entries` in the data dictionary; where these do not say, or are left
    out, it is the values of the original under them. `levels` are those of columns whose labels are all of one level.
    """
    columns, line = {column.name: column for column in tables.quasi}, np.zeros_like(tables.sizes)
    line[tables.class_of] = np.arange(len(tables.class_of))  # a line of each class, which has the labels of all
    labels, covers = list[Codes](), list[CoveredCodes]()
    for attribute in encoded.quasi:
        column = columns[attribute.name]
        declared = find_declared_codes(attribute.column, column.texts, entries[attribute.name]) if entries else None
        covers.append(declared or find_covered_codes(attribute, column.texts, (levels or {}).get(attribute.name)))
        labels.append(column.codes.take(line))
    quasi = _LabelShares(tuple(labels), tuple(covers))
    return CountEstimator(quasi, SensitiveBags.from_tables(tables, encoded, sensitive))


class _ClassShares(Protocol):
    """What a release gives of the quasi-identifiers of each class."""

    def shares(self, query: CountQuery) -> FloatArray:
        """Compute the share of each class whose quasi-identifiers are wanted: known, or expected."""
        ...


@dataclass(frozen=True, eq=False)
class _ValueShares:
    """Quasi-identifiers as they were, line by line; `codes` are the original's codes of the values of each column."""

    columns: tuple[Codes, ...]
    codes: tuple[IntArray, ...]
    class_of: IntArray
    sizes: IntArray
    counts: IntArray | None = None

    def shares(self, query: CountQuery) -> FloatArray:
        """Compute the share of each class's lines that match."""
        lines = query.matching_lines(self.columns, self.codes)
        counts = None if self.counts is None else self.counts.take(lines)
        shares: FloatArray = count_codes(self.class_of.take(lines), len(self.sizes), counts) / self.sizes
        return shares


@dataclass(frozen=True, eq=False)
class _LabelShares:
    """The labels of each class, and which codes of the original each label covers, column by column."""

    labels: tuple[Codes, ...]
    covers: tuple[CoveredCodes, ...]

    def shares(self, query: CountQuery) -> FloatArray:
        """Compute the share of each class that is expected to match: values under a label are equally likely."""
        shares: FloatArray = np.ones(len(self.labels[0]))
        for place, wanted in query.quasi:
            shares *= self.covers[place].shares(wanted).take(self.labels[place])
        return shares


@dataclass(frozen=True, eq=False)
class SensitiveBags:
    """The bag of each class, out of `classes`; `codes` are the original's codes of the values of the histogram."""

    bag: Histogram
    codes: IntArray
    classes: int

    @classmethod
    def from_tables(cls, tables: TwoTables, encoded: EncodedTable, sensitive: str) -> "SensitiveBags":
        """Take the bags of a sensitive column, in terms of the original's column."""
        bag = tables.bags[sensitive]
        return cls(bag, codes_in_original(bag.domain.values, encoded.sensitive[sensitive]), len(tables.sizes))

    def count_wanted(self, values: BoolArray) -> FloatArray:
        """Count the rows of each class with a wanted value.

        values: bool[original's values]. The result is float[classes]. Rows of the dense table are added one after
        another: a product of matrices would start threads, which are slower here.
        """
        wanted = values.take(self.codes)
        if self._dense is not None:
            total = np.zeros(self.classes)
            for value in np.flatnonzero(wanted).tolist():
                total += self._dense[value]
            return total
        lines = np.flatnonzero(wanted.take(self.bag.value))
        class_of, count = self.bag.class_of.take(lines), self.bag.count.take(lines)
        return np.bincount(class_of, weights=count, minlength=self.classes).astype(np.float64, copy=False)

    @cached_property
    def _dense(self) -> FloatArray | None:
        """Counts by value and class, float[values, classes], where that is not much larger than what occurs."""
        width = len(self.codes)
        if self.classes * width > _DENSE * len(self.bag.class_of):
            return None
        table = np.zeros((width, self.classes))
        table[self.bag.value, self.bag.class_of] = self.bag.count
        return table


# A generalized table in the form of two tables: labels in place of values, and classes of equal labels.


def tables_of_labels(encoded: EncodedTable, recoding: Recoding) -> TwoTables:
    """Take the labels of a recoding, before any of it is shuffled."""
    if recoding.counts is not None:
        alike = collapse_lines(encoded, recoding)
        return _classes_of_labels([*alike.labels.values()], [*alike.sensitive.values()], alike.counts)
    rows = slice(None) if recoding.published is None else np.flatnonzero(recoding.published)
    quasi = [CodedColumn(name, one.codes[rows], one.texts, None) for name, one in recoding.labels.items()]
    return _classes_of_labels(quasi, [replace(one, codes=one.codes[rows]) for one in encoded.sensitive.values()])


def read_tables_of_labels(table: Path, manifest: Mapping[str, Any]) -> TwoTables:
    """Read the labels of a published table from its file, under the names of the original."""
    quasi, sensitive = column_names_of_role(manifest, "quasi"), column_names_of_role(manifest, "sensitive")
    columns = read_published_columns(table, manifest, [*quasi, *sensitive])
    return _classes_of_labels([columns[name] for name in quasi], [columns[name] for name in sensitive])


def _classes_of_labels(
    quasi: Sequence[CodedColumn], sensitive: Sequence[CodedColumn], counts: IntArray | None = None
) -> TwoTables:
    class_of, classes = number_tuples(pack_tuples([one.codes for one in quasi], [one.width for one in quasi]))
    bags = {one.name: count_values(class_of, one.codes, counts, value_totals(one, counts)) for one in sensitive}
    return TwoTables(tuple(quasi), class_of, count_codes(class_of, classes, counts), bags, counts)
