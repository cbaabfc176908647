"""Columns before and after, in the same bins; which rows were suppressed, and the classes of the table as it came in.

A label may cover several bins. A row that is published under it counts in each of them by the share of the label's
values that lie there, as it would for a reader who knows no more than the label; so what is lost shows as flatter bars.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.core.arrays import BoolArray, Codes, FloatArray, IntArray, count_codes, narrow_codes, replace_codes
from sfumato.core.classes import EquivalenceClasses, Histogram, count_values
from sfumato.core.keys import number_tuples, pack_tuples
from sfumato.encode import CodedColumn, EncodedTable, QuasiIdentifier
from sfumato.labels.covered_values import find_covered_codes
from sfumato.models import Model
from sfumato.publish.publication import Publication
from sfumato.recode import Labels, Recoding
from sfumato.report.column_bins import Bins, bin_column, bin_values, read_numbers, read_years

MOST_COLUMNS = 30
"""Of so many columns at most: a page has an end."""


@dataclass(frozen=True, eq=False)
class ColumnComparison:
    """A published column: the bin of each row or line as it came, the code it is published under, and codes in bins.

    `spread` has a line per code, and in it the share of the code in each bin. `rows_before` are the rows in each bin as
    they came, `rows_after` the published rows in each bin, by what is published of them.
    """

    name: str
    bins: Bins
    before: Codes
    after: Codes
    spread: FloatArray
    rows_before: IntArray
    rows_after: FloatArray


def compare_columns(publication: Publication, most: int = MOST_COLUMNS) -> list[ColumnComparison]:
    """Compare the first columns, quasi-identifiers before sensitive ones and these before plain ones.

    Columns that hold lists or the like are left out.
    """
    encoded, recoding = publication.encoded, publication.recoding
    kept = slice(None) if recoding.published is None else np.flatnonzero(recoding.published)
    names = [*encoded.names, *encoded.sensitive, *encoded.plain]
    compared = []
    for name in names[:most]:
        if name in encoded.names:
            attribute = encoded.quasi[encoded.names.index(name)]
            compared.append(_compare_quasi_identifier(publication, attribute))
        elif name in encoded.plain:
            binned = bin_column(encoded.plain[name], kept, encoded.counts)
            if binned is not None:
                compared.append(_compare_exact(name, binned.codes, binned.bins, recoding))
        else:
            column = encoded.sensitive[name]
            counts = count_codes(column.codes, column.width, encoded.counts)
            bins = bin_values(column.texts, counts, named=_published_values(column, counts, recoding))
            compared.append(_compare_exact(name, column.codes, bins, recoding))
    return compared


def _published_values(column: CodedColumn, totals: IntArray, recoding: Recoding) -> BoolArray | None:
    """Which values some published row has, of which `totals` rows came: others are named nowhere, not even here."""
    return None if recoding.published is None else recoding.count_published(column.codes, totals) > 0


def _compare_exact(name: str, codes: Codes, bins: Bins, recoding: Recoding) -> ColumnComparison:
    """A column that is published as it is: each value is in its own bin, before and after."""
    rows = replace_codes(codes, narrow_codes(bins.place, len(bins)))
    before = count_codes(rows, len(bins), recoding.counts)
    after = recoding.count_published(rows, before).astype(np.float64)
    return ColumnComparison(name, bins, rows, rows, np.eye(len(bins)), before, after)


def _compare_quasi_identifier(publication: Publication, attribute: QuasiIdentifier) -> ColumnComparison:
    labels, column = publication.recoding.labels[attribute.name], attribute.column
    means = are_means(publication, attribute)
    named = _published_values(column, attribute.frequencies, publication.recoding)
    bins = bin_values(column.texts, attribute.frequencies, named=named, stepped=means)
    before = replace_codes(column.codes, narrow_codes(bins.place, len(bins)))
    if means:
        spread = _spread_means(labels, column, bins)
    else:  # the share of each label's values that lie in each bin, of those values that the table has
        covered = find_covered_codes(attribute, labels.texts, labels.level)
        spread = np.stack([covered.shares(bins.place == place) for place in range(len(bins))], axis=1)
    rows_before: IntArray = np.zeros(len(bins), dtype=np.int64)
    np.add.at(rows_before, bins.place, attribute.frequencies)
    rows_after: FloatArray = publication.recoding.label_rows[attribute.name] @ spread
    return ColumnComparison(attribute.name, bins, before, labels.codes, spread, rows_before, rows_after)


def are_means(publication: Publication, attribute: QuasiIdentifier) -> bool:
    """Whether a column is published as means, medians or modes of classes, which do not say what they cover."""
    local = publication.recoding.local and publication.recoding.group is None
    return local and publication.policy.aggregate_form(attribute.name) is not None


def _spread_means(labels: Labels, column: CodedColumn, bins: Bins) -> FloatArray:
    """A mean, median or mode lies in one bin; a star, or what cannot be read, in all, as there are values in each."""
    spread = np.zeros((len(labels.texts), len(bins)))
    even = np.bincount(bins.place, minlength=len(bins)) / len(bins.place)
    place = dict(zip(column.texts, bins.place.tolist(), strict=True))  # of the values that occur, as a mode does
    for code, text in enumerate(labels.texts):
        if text in place or text is None:
            spread[code, place.get(text, -1)] = 1.0
            continue
        number = read_numbers([text])
        known = number if number is not None else read_years([text])
        if known is not None and bins.steps is not None:
            spread[code, bins.steps.places(known)[0]] = 1.0
        elif known is not None and number is None:  # dates of one year have a bin for each month
            spread[code, max(bisect_right(bins.names, text[:7]) - 1, 0)] = 1.0
        else:
            spread[code] = even
    return spread


# ---------------------------------------------------------------------------------------------------------------------
# Suppressed rows: which requirement their classes failed, and how they differ from published ones


@dataclass(frozen=True)
class FailedRequirement:
    """A requirement, and the classes of suppressed rows that do not meet it, with their rows."""

    model: Model
    classes: int
    rows: int


@dataclass(frozen=True)
class SuppressionReasons:
    """Why rows were suppressed, where whole classes were: all classes and rows, and those that each model fails.

    A class may fail several. `others` are rows of classes that fail none by themselves.
    """

    classes: int
    rows: int
    failed: tuple[FailedRequirement, ...]
    others: int


def find_suppression_reasons(publication: Publication) -> SuppressionReasons | None:
    """Find the requirements that suppressed classes fail; nothing where rows were not suppressed by class."""
    if not publication.suppressed or publication.recoding.local or publication.recoding.group is not None:
        return None
    classes = _suppressed_classes(publication)
    passes = [model.holds(classes) for model in publication.policy.privacy]
    failed = tuple(
        FailedRequirement(model, int((~holds).sum()), int(classes.sizes[~holds].sum()))
        for model, holds in zip(publication.policy.privacy, passes, strict=True)
    )
    passing = np.logical_and.reduce(passes) if passes else np.ones(len(classes), dtype=np.bool_)
    return SuppressionReasons(len(classes), classes.rows, failed, int(classes.sizes[passing].sum()))


def _suppressed_classes(publication: Publication) -> EquivalenceClasses:
    """The classes that suppressed rows would have been in, as the models see them.

    rows: int[n], the suppressed rows; class_of: int[n], the class of each by its published labels.
    """
    recoding, encoded = publication.recoding, publication.encoded
    assert recoding.published is not None  # noqa: S101 - rows were suppressed; this tells the type checker
    rows = np.flatnonzero(~recoding.published)
    labels = list(recoding.labels.values())
    packed = pack_tuples([column.codes.take(rows) for column in labels], [len(column.texts) for column in labels])
    class_of, classes = number_tuples(packed)

    counts = None if recoding.counts is None else recoding.counts.take(rows)

    def count(column: CodedColumn) -> Histogram:
        return count_values(class_of, column.codes.take(rows), counts, encoded.domains[column.name])

    sensitive = {name: count(column) for name, column in encoded.sensitive.items() if name in encoded.domains}
    persons = None if encoded.individual is None else count(encoded.individual)
    return EquivalenceClasses(count_codes(class_of, classes, counts), sensitive, persons)


@dataclass(frozen=True, eq=False)
class SuppressionBias:
    """A column as it came, in published and in suppressed rows: shares of their bins, and how far they are apart.

    `distance` is half the sum of the differences (total variation): 0 where they are alike, 1 where no bin has both.
    """

    column: ColumnComparison
    published: FloatArray
    suppressed: FloatArray
    distance: float


def find_suppression_bias(
    publication: Publication, columns: Sequence[ColumnComparison], most: int = 2
) -> list[SuppressionBias]:
    """Find the columns in which suppressed rows differ most from published ones, the most differing first."""
    if not publication.suppressed:
        return []
    biases = []
    for column in columns:
        if column.name not in publication.encoded.plain:
            gone = publication.recoding.count_suppressed(column.before, len(column.bins))
            kept = column.rows_before - gone
            published, suppressed = kept / kept.sum(), gone / gone.sum()
            distance = float(np.abs(published - suppressed).sum() / 2)
            biases.append(SuppressionBias(column, published, suppressed, distance))
    return sorted(biases, key=lambda bias: -bias.distance)[:most]


# ---------------------------------------------------------------------------------------------------------------------
# The table as it came in


def raw_classes(encoded: EncodedTable) -> EquivalenceClasses:
    """The classes of the table as it came in, with its people where rows name them.

    Tuples are in the order of their quasi-identifiers, so that a class is a run of tuples: nothing has to be
    sorted again. new: bool[tuples], where a run begins; class_of: int[tuples].
    """
    tuples = encoded.tuples
    if not tuples.others:
        return EquivalenceClasses(tuples.counts)
    new = np.zeros(len(tuples), dtype=np.bool_)  # where a tuple's quasi-identifiers differ from those of the one before
    new[:1] = True
    for codes in tuples.quasi:
        new[1:] |= codes[1:] != codes[:-1]
    sizes = np.add.reduceat(tuples.counts, np.flatnonzero(new))
    if encoded.individual is None:
        return EquivalenceClasses(sizes)
    name = encoded.individual.name
    class_of = np.cumsum(new) - 1
    people = count_values(class_of, tuples.others[name], tuples.counts, encoded.domains[name])
    return EquivalenceClasses(sizes, individuals=people)
