"""How strongly columns go together, before and after: Cramér's V over their bins, corrected for chance (Bergsma 2013).

It is 0 where two columns have nothing to do with each other and 1 where one tells the other, whatever their kinds. What
is published is looked at as a reader may: a row under a label counts in each bin by the label's share there, and where
columns are in different tables, all lines of a class of one may belong to all lines of that class of the other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.core.arrays import Codes, FloatArray, IntArray, count_codes, draw_rows
from sfumato.publish.publication import Publication
from sfumato.report.before_after import ColumnComparison

Grid = list[list[float | None]]

MOST_PAIRED = 12
"""Pairs of so many columns at most."""
ROWS = 50_000
"""More rows than this are not looked at, but so many of them, drawn at random."""
_DENSE = 1 << 14
"""Pairs of labels are counted in a table where it has no more cells than this."""


@dataclass(frozen=True, eq=False)
class Association:
    """Of each pair of columns, before and after; nothing where a column has one value only.

    `change` is the mean of how much a pair changed, up or down; `sampled` says that not all rows were looked at.
    """

    names: tuple[str, ...]
    before: Grid
    after: Grid
    change: float | None
    sampled: bool


def measure_association(publication: Publication, columns: Sequence[ColumnComparison]) -> Association:
    """Measure the association of each pair of the first columns."""
    chosen, rng = list(columns[:MOST_PAIRED]), np.random.default_rng(1)
    counts = publication.recoding.counts
    published = np.flatnonzero(publication.recoding.class_of >= 0)
    every, kept = (draw_rows(lines, ROWS, rng, counts) for lines in (np.arange(publication.encoded.lines), published))
    before = _measure_pairs(
        _select_rows(chosen, every),
        lambda a, b: _count_pairs(a.before, b.before, len(a.bins), len(b.bins)),
    )
    after = _measure_pairs(_select_rows(chosen, kept), _expected_counts(publication, chosen, published, kept))
    pairs = [(a, b) for old, new in zip(before, after, strict=True) for a, b in zip(old, new, strict=True)]
    changes = [abs(new - old) for old, new in pairs if old is not None and new is not None]
    change = float(np.mean(changes)) if changes else None
    names = tuple(column.name for column in chosen)
    return Association(names, before, after, change, len(kept) < publication.rows)


def cramers_v(joint: FloatArray) -> float | None:
    """Cramér's V of a table of counts, corrected for chance; nothing where a side has one value only.

    With φ² = χ²/n, r rows and c columns: V² = max(0, φ² - (r-1)(c-1)/(n-1)) / min(r' - 1, c' - 1), where
    r' = r - (r-1)²/(n-1) and c' likewise (Bergsma 2013).

    >>> cramers_v(np.array([[50.0, 0.0], [0.0, 50.0]])), cramers_v(np.array([[25.0, 25.0], [25.0, 25.0]]))
    (1.0, 0.0)
    """
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    joint = joint[rows > 0][:, columns > 0]
    rows, columns, total = rows[rows > 0], columns[columns > 0], joint.sum()
    if min(len(rows), len(columns)) < 2 or total <= 1:
        return None
    expected = np.outer(rows, columns) / total
    phi = float(((joint - expected) ** 2 / expected).sum() / total)
    wide, tall = len(rows) - 1, len(columns) - 1
    phi = max(0.0, phi - wide * tall / (total - 1))
    most = min(wide - wide**2 / (total - 1), tall - tall**2 / (total - 1))
    return float(min(1.0, np.sqrt(phi / most))) if most > 0 else None


_Joint = Callable[[ColumnComparison, ColumnComparison], FloatArray]
"""Counts of a pair of columns, bin by bin."""


def _measure_pairs(columns: Sequence[ColumnComparison], joint: _Joint) -> Grid:
    """The association of each pair; a column with itself has none."""
    places = range(len(columns))
    values = {(a, b): cramers_v(joint(columns[a], columns[b])) for a in places for b in range(a)}
    return [[None if a == b else values[max(a, b), min(a, b)] for b in places] for a in places]


def _select_rows(columns: Sequence[ColumnComparison], rows: IntArray) -> list[ColumnComparison]:
    return [replace(column, before=column.before.take(rows), after=column.after.take(rows)) for column in columns]


def _expected_counts(
    publication: Publication, columns: Sequence[ColumnComparison], published: IntArray, kept: IntArray
) -> _Joint:
    """Counts that a reader of the release expects: by row in one table, by class between two.

    Every line of a class in one table belongs to every line of it in the other, as far as they tell. The `published`
    rows make up the classes, and `kept` are those that are looked at. class_of: int[rows], the class of each row.
    """
    table_of = {name: place for place, table in enumerate(publication.tables.values()) for name in table.columns}
    whole = {column.name: column for column in columns}
    class_of = publication.recoding.class_of
    shares_of: dict[str, FloatArray] = {}

    def shares(name: str) -> FloatArray:
        """float[classes, bins]: the share of each bin in each class, by all published rows; values are exact."""
        if name not in shares_of:
            column, classes = whole[name], class_of.take(published)
            counts = None if publication.recoding.counts is None else publication.recoding.counts.take(published)
            sizes = count_codes(classes, int(classes.max(initial=-1)) + 1, counts)
            pairs = _count_pairs(classes, column.before.take(published), len(sizes), len(column.bins), counts)
            shares_of[name] = pairs / np.maximum(sizes, 1)[:, None]
        return shares_of[name]

    def between(a: ColumnComparison, name: str) -> FloatArray:
        """The rows of a that are looked at, each beside what its class holds of the other column."""
        classes = class_of.take(kept)
        parts = [np.bincount(a.before, weights=share.take(classes), minlength=len(a.bins)) for share in shares(name).T]
        return np.stack(parts, axis=1)

    def joint(a: ColumnComparison, b: ColumnComparison) -> FloatArray:
        if table_of[a.name] == table_of[b.name]:
            return _count_labels(a, b)
        return between(a, b.name) if table_of[a.name] < table_of[b.name] else between(b, a.name).T

    return joint


def _count_labels(a: ColumnComparison, b: ColumnComparison) -> FloatArray:
    """Rows by their pair of labels, each label spread over its bins: float[bins of a, bins of b]."""
    tall, wide = len(a.spread), len(b.spread)
    if tall * wide <= _DENSE:
        return _product(a.spread, _product(_count_pairs(b.after, a.after, wide, tall), b.spread))
    parts = [np.bincount(a.after, weights=share.take(b.after), minlength=tall) for share in b.spread.T]
    return _product(a.spread, np.stack(parts, axis=1))


def _product(a: FloatArray, b: FloatArray) -> FloatArray:
    """aᵀb by numpy itself: for such matrices a library would start threads, which take longer than the work."""
    product: FloatArray = np.einsum("li,lj->ij", a, b)
    return product


def _count_pairs(a: Codes, b: Codes, tall: int, wide: int, rows: IntArray | None = None) -> FloatArray:
    """How often each code of one is beside each code of the other: float[tall, wide]; an entry may be several rows."""
    counts = np.bincount(a.astype(np.int64) * wide + b, rows, tall * wide)
    return counts.reshape(tall, wide).astype(np.float64)
