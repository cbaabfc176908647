"""The records of a table as densities: which columns are uncertain, who is matched with whom, and centres drawn.

Quasi-identifiers of numbers and dates are uncertain. They are divided by a scale, so that one spread serves all columns
of a record: the standard deviation of the column, rounded to three digits, since the spreads that are published show
it. A column in which all rows agree has the scale 0, and is published as it is.

Whatever is published exactly tells records apart, and a record can hide only among those that nothing exact tells it
from. So records form *strata*: by the values of the columns that the policy names under `strata`, by which of their
uncertain columns are missing, and by the `atoms` of a column, numbers that are told as they are because many share
them. Records are matched within their stratum alone, over the columns that are uncertain there.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.condense.mixed_columns import find_atoms, read_kind, standardize
from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.arrow import arrow_numbers, arrow_texts, numpy_numbers
from sfumato.core.keys import count_keys, pack_tuples
from sfumato.core.randomness import Randomness
from sfumato.encode import encode_column
from sfumato.errors import DataError, Infeasible, quote
from sfumato.policy import Column, Policy, Role
from sfumato.policy.options import PublishOptions
from sfumato.table import Table
from sfumato.table.number_scale import DAY, NumberScale, read_date_values
from sfumato.uncertain.record_densities import DENSITIES, Density, smallest_spreads

Progress = Callable[[int, int], None]

UNCERTAIN = 0
"""The code of a cell that is published as a density."""


@dataclass(frozen=True, eq=False, repr=False)
class UncertainColumn:
    """A quasi-identifier of numbers or dates.

    `numbers` is float[rows], NaN where one is missing, dates as microseconds since 1970. `codes` is int[rows]: 0 where
    the cell becomes a density, else the number of its atom, or one more than these where it is missing. `unit` is the
    scale that spreads are multiples of, in what the column is measured in: days, for dates. `bounds` are those
    declared.
    """

    name: str
    spread_name: str
    numbers: FloatArray
    codes: IntArray
    scale: NumberScale
    unit: float
    atoms: FloatArray
    bounds: tuple[float, float] | None = None

    @property
    def kind(self) -> str:
        """What the column holds: number or date."""
        return "date" if self.scale.is_date else "number"

    @property
    def per_unit(self) -> float:
        """How much 1 of `unit` is in `numbers`: a day, for dates."""
        return float(DAY) if self.scale.is_date else 1.0

    @property
    def step(self) -> float:
        """The distance between neighbours of the grid that true values lie on, in numbers; 0 where there is none."""
        return self.scale.step

    @property
    def scaled(self) -> FloatArray:
        """The numbers in units of the column; 0 where all agree."""
        if not self.unit:
            return np.zeros(len(self.numbers))
        return self.numbers / (self.unit * self.per_unit)


@dataclass(frozen=True, eq=False, repr=False)
class UncertainTable:
    """The uncertain columns of a table, and the stratum of each row, int[rows]."""

    columns: tuple[UncertainColumn, ...]
    strata: IntArray
    rows: int

    @property
    def count(self) -> int:
        """Number of strata."""
        return int(self.strata.max(initial=-1)) + 1

    def points(self, rows: IntArray) -> FloatArray:
        """Give rows of one stratum as points, in units: float[rows, columns that are uncertain there]."""
        there = [column for column in self.columns if column.unit and column.codes[rows[0]] == UNCERTAIN]
        return np.stack([column.scaled[rows] for column in there], axis=1) if there else np.zeros((len(rows), 0))


def read_records(table: Table, policy: Policy, k: int) -> UncertainTable:
    """Read the quasi-identifiers that are no strata as numbers and dates.

    Raises `DataError` where one holds categories, or not what the policy says of it.
    """
    strata, taken = policy.search.strata, set(table.arrow.column_names)
    columns = []
    for name in table.arrow.column_names:
        if policy.columns[name].role is not Role.QUASI or name in strata:
            continue
        spread_name = f"{name}_spread"
        while spread_name in taken:
            spread_name += "_"
        taken.add(spread_name)
        columns.append(_read_column(table.arrow.column(name).combine_chunks(), policy.columns[name], spread_name, k))
    coded = [encode_column(table, name) for name in strata]
    codes = [one.codes for one in coded] + [column.codes for column in columns]
    widths = [one.width for one in coded] + [len(column.atoms) + 2 for column in columns]
    packed = pack_tuples(codes, widths)
    return UncertainTable(tuple(columns), np.searchsorted(count_keys(packed).keys, packed.keys), table.rows)


def _read_column(cells: Any, rules: Column, spread_name: str, k: int) -> UncertainColumn:
    coded = pa.types.is_dictionary(cells.type)
    values = cells.dictionary if coded else cells
    kind = values.type
    read = None if pa.types.is_time(kind) or pa.types.is_duration(kind) else read_kind(values, rules)
    if read is None:
        if values.null_count == len(values):
            raise DataError(f"column {quote(rules.name)} has no value at all; leave it out as identifier")
        raise DataError(
            f"column {quote(rules.name)} holds categories, and a density is of numbers or dates; name it in "
            "[algorithm] strata, so that records are matched within each of its values, or leave it out as "
            "identifier"
        )
    if np.isnan(read.numbers).all():
        raise DataError(f"column {quote(rules.name)} has no value at all; leave it out as identifier")
    numbers = read.numbers
    if coded:
        places = numpy_numbers(pc.fill_null(cells.indices.cast(pa.int64()), len(numbers)))
        numbers = np.append(numbers, np.nan)[places]
    atoms = find_atoms(numbers, rules.atoms or (), None, k)
    codes = np.where(np.isnan(numbers), len(atoms) + 1, UNCERTAIN)
    for number, atom in enumerate(atoms.tolist(), start=1):
        codes[numbers == atom] = number
    per_unit = float(DAY) if read.scale.is_date else 1.0
    known = numbers[codes == UNCERTAIN]
    _, _, deviation = standardize(known)
    unit = 0.0 if not len(known) or (known == known[0]).all() else _three_digits(deviation / per_unit)
    bounds = _declared_bounds(numbers, read.scale, rules)
    return UncertainColumn(rules.name, spread_name, numbers, codes, read.scale, unit, atoms, bounds)


def _three_digits(number: float) -> float:
    return float(f"{number:.2e}")


def _declared_bounds(numbers: FloatArray, scale: NumberScale, rules: Column) -> tuple[float, float] | None:
    """Read the bounds that the policy declares, and refuse values outside of them."""
    if rules.bounds is None:
        return None
    ends = [end if isinstance(end, int | float) else math.nan for end in rules.bounds]
    if scale.is_date:
        written = read_date_values(arrow_texts([str(end) for end in rules.bounds]), column=f"{rules.name}.bounds")
        ends = ends if written is None else written.numbers.tolist()
    known = numbers[~np.isnan(numbers)]
    outside = len(np.unique(known[~((known >= ends[0]) & (known <= ends[1]))]))
    if outside:
        raise DataError(
            f"column {quote(rules.name)} has {outside:,} different values outside of its bounds; widen the bounds, or "
            "mend the values"
        )
    return float(ends[0]), float(ends[1])


# ---------------------------------------------------------------------------------------------------------------------
# Spreads and centres


@dataclass(frozen=True, eq=False, repr=False)
class DrawnDensities:
    """The density of each record: its spread in common units, float[rows], and for each column centres and spreads.

    `centers` and `spreads` are float[rows] for each column, as they are published: centres in the column's numbers (NaN
    where the value is missing), spreads in days for dates. A spread of 0 says that the centre is the value itself.
    """

    density: Density
    common: FloatArray
    centers: tuple[FloatArray, ...]
    spreads: tuple[FloatArray, ...]


def draw_densities(
    table: UncertainTable, k: int, options: PublishOptions, randomness: Randomness, progress: Progress | None = None
) -> DrawnDensities:
    """Find the spread of every record, and draw its centre.

    Raises `Infeasible` where records of a stratum cannot have expected anonymity k, whatever the spread.
    """
    density = DENSITIES[options.density]
    common = find_spreads(table, k, density, progress)
    if options.spread == "common":
        common = np.full_like(common, common.max(initial=0.0))
    deviations = density.draw(table.rows, len(table.columns), randomness)
    centers, spreads = [], []
    for place, column in enumerate(table.columns):
        spread = np.where(column.codes == UNCERTAIN, round_digits(common * column.unit, 6), 0.0)
        with np.errstate(over="ignore"):
            drawn = column.numbers + spread * column.per_unit * deviations[:, place]
        largest = np.finfo(np.float64).max
        centers.append(_on_grid(np.clip(drawn, -largest, largest), column.numbers, spread * column.per_unit))
        spreads.append(np.where(np.isnan(column.numbers), np.nan, spread))
    return DrawnDensities(density, common, tuple(centers), tuple(spreads))


def find_spreads(table: UncertainTable, k: int, density: Density, progress: Progress | None = None) -> FloatArray:
    """Find the smallest spread of each record within its stratum, in common units: float[rows]."""
    found, done, failing, smallest = np.zeros(table.rows), 0, 0, table.rows

    def tell(settled: int) -> None:
        nonlocal done
        done += settled
        if progress is not None:
            progress(done, table.rows)

    order = np.argsort(table.strata, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(table.strata[order])) + 1):
        points = table.points(rows)
        settled = smallest_spreads(points, k, density, tell) if points.shape[1] else None
        if points.shape[1] == 0 and len(rows) >= k:
            settled = np.zeros(len(rows))
        if settled is None:
            failing, smallest = failing + 1, min(smallest, len(rows))
        else:
            found[rows] = settled
    if failing:
        raise _infeasible(table, k, density, failing, smallest)
    return found


def _infeasible(table: UncertainTable, k: int, density: Density, failing: int, smallest: int) -> Infeasible:
    gaussian = density.name == "gaussian"
    if table.count == 1:
        why = f"the table has {table.rows:,} rows"
    else:
        why = f"{failing:,} of {table.count:,} strata have too few rows, the smallest {smallest:,}"
    limit = (
        f"however wide normal densities are, a record has expected anonymity of less than half of its stratum and one "
        f"half, so that {k} takes {2 * k:,} rows of different values"
        if gaussian
        else f"a box never reaches all others for certain, so that {k} takes {k + 1:,} rows of different values"
    )
    if table.count == 1:
        limit = limit.replace("its stratum", "the table")
    ways = ["lower k"]
    if table.count > 1:
        ways.append("leave columns out of strata and atoms, fill in what is missing, or leave rare cases out")
    if gaussian:
        ways.append('write [publish] density = "uniform"')
    largest = (smallest - 1) // 2 + 1 if gaussian else smallest - 1
    return Infeasible(f"{why}; {limit}: {', '.join(ways)}", nearest={"k": float(max(largest, 1))})


def round_digits(numbers: FloatArray, digits: int) -> FloatArray:
    """Round numbers to so many digits, each different one once.

    >>> round_digits(np.array([0.0123 * 1.05, 0.0]), 6).tolist()
    [0.012915, 0.0]
    """
    different, place = np.unique(numbers, return_inverse=True)
    return np.array([float(f"{number:.{digits - 1}e}") for number in different.tolist()])[place]


def _on_grid(drawn: FloatArray, exact: FloatArray, spreads: FloatArray) -> FloatArray:
    """Round centres to a power of ten that is at most a thousandth of their spread; without a spread they are exact."""
    rounded = exact.copy()
    known: BoolArray = (spreads > 0) & ~np.isnan(exact)
    decimals = np.zeros(len(drawn), dtype=np.int64)
    decimals[known] = 3 - np.floor(np.log10(spreads[known])).astype(np.int64)
    for number in np.unique(decimals[known]).tolist():
        rows = known & (decimals == number)
        rounded[rows] = np.round(drawn[rows], number) if number < 300 else drawn[rows]
    return rounded


def publish_centers(column: UncertainColumn, centers: FloatArray) -> Any:
    """Write centres as an Arrow array: floating numbers, or moments to the microsecond."""
    missing = np.isnan(centers)
    if not column.scale.is_date:
        values = arrow_numbers(np.nan_to_num(centers))
    else:
        low, high = column.scale.limits
        moments = np.rint(np.clip(np.nan_to_num(centers), low, high)).astype(np.int64)
        values = arrow_numbers(moments).cast(pa.timestamp("us"))
    if not missing.any():
        return values
    return pc.if_else(arrow_numbers(missing.view(np.uint8)).cast(pa.bool_()), pa.scalar(None, values.type), values)
