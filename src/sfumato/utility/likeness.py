"""How like the original drawn rows are: columns one by one, in pairs, and all at once.

Covariances prove little, since one column of large numbers is most of them. So correlations are compared, each pair of
columns counting the same; the worst column counts, not the average one; and distances between rows tell of what no pair
of columns does.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.core.arrays import FloatArray
from sfumato.page.display import Display, FigureTable, Shown
from sfumato.policy import Column
from sfumato.reading.drawn_table import as_dictionary, dictionary_places, read_cell_numbers
from sfumato.utility.learned_classes import LearnedClass

Cells = NDArray[Any]
"""Numbers, or codes."""

_PAIRS = 20_000
"""Pairs of rows whose distances are compared."""
_MOST_PAIRED = 200
"""Correlations are compared of so many columns at most."""


@dataclass(frozen=True, eq=False)
class ComparedColumn:
    """A column before and after: numbers, NaN where there is none, or codes of categories that both have in common."""

    name: str
    kind: str
    before: Cells
    after: Cells

    @property
    def sides(self) -> tuple[Cells, Cells]:
        """Both, in this order."""
        return self.before, self.after


@dataclass(frozen=True)
class ColumnLikeness:
    """How far apart the distributions of a column are, from 0 to 1, before and after.

    For numbers and dates it is the Kolmogorov-Smirnov distance, the largest difference between shares up to a number;
    for categories the total variation, half of the sum of all differences between shares.
    """

    kind: str
    distance: float


@dataclass(frozen=True, repr=False)
class Likeness(Shown):
    """How like the original drawn rows are.

    `correlation_of_correlations` is the correlation between the correlations of all pairs of numeric columns before and
    after, and `correlation_error` their largest difference; there are none with fewer than three and two such columns.
    `worst_ks` and `worst_tv` are the largest distances of a column of numbers, and of one of categories.
    `pair_distances` is the Kolmogorov-Smirnov distance between the distances of random pairs of rows. `columns` has the
    distance of each column. `learned` is what classifiers learn of sensitive categories from drawn rows, by column; or
    `unlearned` says why there is nothing.
    """

    correlation_of_correlations: float | None
    correlation_error: float | None
    worst_ks: float | None
    worst_tv: float | None
    pair_distances: float
    columns: dict[str, ColumnLikeness]
    learned: dict[str, LearnedClass] = field(default_factory=dict)
    unlearned: str | None = None

    def lines(self) -> list[tuple[str, str]]:
        """The figures of the table as a whole in words, a name and a figure each.

        >>> Likeness(0.99951, None, 0.0204, None, 0.01, {}).lines()[0]
        ('correlations, before with after', '0.9995')
        """
        figures = [
            ("correlations, before with after", self.correlation_of_correlations, 4),
            ("largest change of a correlation", self.correlation_error, 3),
            ("worst column of numbers (KS)", self.worst_ks, 3),
            ("worst column of categories (TV)", self.worst_tv, 3),
            ("distances between rows (KS)", self.pair_distances, 3),
        ]
        lines = [(title, f"{figure:.{digits}f}") for title, figure, digits in figures if figure is not None]
        return lines + [line for name, one in self.learned.items() for line in one.in_words(name)]

    def column_lines(self) -> list[tuple[str, str]]:
        """Each column, and how far its distributions are apart."""
        return [(name, f"{one.kind}, shares off by {one.distance:.3f} at most") for name, one in self.columns.items()]

    def display(self) -> Display:
        """Show the figures, of all columns together and of each."""
        tables = [FigureTable(("likeness", ""), self.lines()), FigureTable(("column", ""), self.column_lines())]
        return Display("How like the original drawn rows are", tables, [self.unlearned] if self.unlearned else [])

    def as_json(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        return asdict(self)


def compare_values(name: str, before: Any, after: Any, kind: str, rules: Column | None = None) -> ComparedColumn:
    """Make a compared column of two Arrow arrays; dates and numbers are read as the policy's `rules` say.

    >>> compare_values("age", pa.array([20, None]), pa.array([21, 30]), "number").before.tolist()
    [20.0, nan]
    """
    if kind != "category":
        return ComparedColumn(name, kind, *(read_cell_numbers(name, side, kind, rules) for side in (before, after)))
    sides = [as_dictionary(values) for values in (before, after)]
    texts = [side.dictionary.cast(pa.string()).to_pylist() for side in sides]
    code = {text: place for place, text in enumerate(dict.fromkeys([*texts[0], *texts[1]]))}
    numbered = [
        np.array([code[text] for text in part] + [len(code)], dtype=np.int64)[dictionary_places(side)]
        for part, side in zip(texts, sides, strict=True)
    ]
    return ComparedColumn(name, kind, *numbered)


def measure_likeness(columns: Sequence[ComparedColumn]) -> Likeness:
    """Measure how like their original drawn columns are.

    >>> ages = np.array([20.0, 30.0, 40.0, 50.0])
    >>> measure_likeness([ComparedColumn("age", "number", ages, ages + 10)]).worst_ks
    0.25
    """
    found = {column.name: ColumnLikeness(column.kind, _distance(column)) for column in columns}
    numbers = [column for column in columns if column.kind != "category"][:_MOST_PAIRED]
    correlations = (
        None if len(numbers) < 2 else [_correlations([one.sides[side] for one in numbers]) for side in (0, 1)]
    )
    error = alike = None
    if correlations is not None:
        known = ~np.isnan(correlations[0]) & ~np.isnan(correlations[1])
        first, second = correlations[0][known], correlations[1][known]
        error = float(np.abs(first - second).max(initial=0.0)) if len(first) else None
        if len(first) > 2 and min(first.std(), second.std()) > 0:
            alike = float(np.corrcoef(first, second)[0, 1])
    distances = {
        kind: [one.distance for one in found.values() if (one.kind == "category") is kind] for kind in (True, False)
    }
    return Likeness(
        alike,
        error,
        max(distances[False], default=None),
        max(distances[True], default=None),
        _pair_distances(columns),
        found,
    )


def _distance(column: ComparedColumn) -> float:
    if column.kind == "category":
        width = int(max(column.before.max(initial=0), column.after.max(initial=0))) + 1
        shares = [np.bincount(side, minlength=width) / max(len(side), 1) for side in column.sides]
        return float(np.abs(shares[0] - shares[1]).sum() / 2)
    missing = [float(np.isnan(side).mean()) if len(side) else 0.0 for side in column.sides]
    known = [side[~np.isnan(side)] for side in column.sides]
    return max(ks_distance(*known), abs(missing[0] - missing[1]))


def ks_distance(first: FloatArray, second: FloatArray) -> float:
    """Find the largest difference between the shares of two samples up to a number; 0 where one is empty.

    >>> ks_distance(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    0.5
    """
    if not len(first) or not len(second):
        return 0.0
    first, second = np.sort(first), np.sort(second)
    at = np.concatenate([first, second])
    shares = [np.searchsorted(side, at, side="right") / len(side) for side in (first, second)]
    return float(np.abs(shares[0] - shares[1]).max())


def _correlations(columns: Sequence[FloatArray]) -> FloatArray:
    """The correlation of each pair of columns over the rows that have both, NaN where there is none: float[pairs]."""
    scaled = []
    for column in columns:
        largest = np.nanmax(np.abs(column), initial=0.0) or 1.0
        scaled.append(column / largest)
    values = np.stack(scaled)
    if not np.isnan(values).any():
        with np.errstate(invalid="ignore", divide="ignore"):
            whole: FloatArray = np.corrcoef(values)[np.triu_indices(len(columns), 1)]
            return whole
    found = []
    for place, other in zip(*np.triu_indices(len(columns), 1), strict=True):
        both = ~np.isnan(values[place]) & ~np.isnan(values[other])
        pair = values[[place, other]][:, both]
        constant = pair.shape[1] < 2 or pair.std(axis=1).min() == 0
        found.append(np.nan if constant else np.corrcoef(pair)[0, 1])
    return np.array(found)


def _pair_distances(columns: Sequence[ComparedColumn]) -> float:
    """Compare the distances of random pairs of rows, standardized by the original."""
    rng = np.random.default_rng(1)  # what is measured, and protects nobody
    squares = []
    for side in (0, 1):
        rows = len(columns[0].sides[side]) if columns else 0
        if rows < 2:
            return 0.0
        first, second = rng.integers(0, rows, _PAIRS), rng.integers(0, rows, _PAIRS)
        kept = first != second
        total = np.zeros(int(kept.sum()))
        for column in columns:
            values = column.sides[side]
            a, b = values[first[kept]], values[second[kept]]
            if column.kind == "category":
                total += a != b
                continue
            spread = float(np.nanstd(column.before / _scale(column.before))) * _scale(column.before) or 1.0
            with np.errstate(over="ignore", invalid="ignore"):
                total += np.nan_to_num(((a - b) / spread) ** 2 / 2, nan=1.0, posinf=1e300)
        squares.append(np.sqrt(total))
    return ks_distance(*squares)


def _scale(numbers: Cells) -> float:
    return float(np.nanmax(np.abs(numbers), initial=0.0)) or 1.0
