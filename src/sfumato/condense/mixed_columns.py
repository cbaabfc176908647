"""A table of numbers, dates and categories, as condensation sees it.

A column of categories has a code for each row. A column of numbers or dates has a number for each row, and a code as
well, because a number may not be the whole story: where a value is missing there is no number, and where many rows
share one exact value (no capital gain, forty hours a week) that value is a category of its own, an *atom*, and not a
place on a line. Code 0 of such a column says "a number", the others which atom, or NULL.

What fewer than k rows hold is published by nobody. A category that is rarer is told by the lowest label of its
hierarchy that k such rows share, ``*`` at the worst; where not even that has k rows, the row is taken not to have told
it (code -1), and what is drawn in its place comes from the other rows of its group.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.arrow import arrow_indices, arrow_numbers, arrow_texts, numpy_numbers
from sfumato.core.keys import count_keys, pack_tuples
from sfumato.encode import CodedColumn, encode_column
from sfumato.errors import DataError, quote
from sfumato.hierarchy import Dates, Intervals, Ranges, Spec
from sfumato.policy import Column, Policy, Role
from sfumato.table import Table
from sfumato.table.number_scale import NumberScale, ReadNumbers, read_date_values, read_number_values

NUMBER = 0
"""The code of a row that holds a number, in a column of numbers."""
UNTOLD = -1
"""The code of a row whose value too few rows share."""
ATOM_SHARE = 0.05
"""A number that so large a share of the rows holds is an atom, unless the policy lists the atoms of the column."""


@dataclass(frozen=True, eq=False, repr=False)
class MixedColumn:
    """One column: a code per row, and numbers where it is one of numbers or dates.

    `codes` is int[rows], -1 where too few rows share what the row holds. `labels` has what each code is published as,
    an Arrow array; in a column of numbers, code 0 stands for a number and its label is NULL. `numbers` is float[rows],
    standardized: `center` and `spread` lead back to the values, and what is no number is NaN. `low` and `high` bound
    what is published. `climbed` are the labels that stand for rare values, of a hierarchy or ``*``.
    """

    name: str
    role: Role
    codes: IntArray
    labels: Any
    numbers: FloatArray | None = None
    scale: NumberScale | None = None
    center: float = 0.0
    spread: float = 1.0
    low: float = -np.inf
    high: float = np.inf
    climbed: tuple[str | None, ...] = ()

    @property
    def width(self) -> int:
        """Number of codes."""
        return len(self.labels)

    @property
    def generalized(self) -> bool:
        """Whether some labels are no values."""
        return bool(self.climbed)

    @property
    def kind(self) -> str:
        """What the column holds: number, date or category."""
        return "category" if self.scale is None else "date" if self.scale.is_date else "number"

    @cached_property
    def has_marks(self) -> bool:
        """Whether codes tell anything: not where every row of the column holds a number."""
        return self.numbers is None or self.width > 1 or bool((self.codes < 0).any())

    def restore(self, standardized: FloatArray) -> FloatArray:
        """Turn standardized numbers into numbers of the column; what no float can hold becomes the largest."""
        with np.errstate(over="ignore"):
            numbers = self.center + self.spread * standardized
        return np.clip(numbers, -np.finfo(np.float64).max, np.finfo(np.float64).max)

    def publish(self, codes: IntArray, numbers: FloatArray | None) -> Any:
        """Make an Arrow array of codes, with numbers where the code says so; none of the codes is -1."""
        if self.scale is None or numbers is None:
            return self.labels.take(arrow_numbers(codes))
        written = self.scale.write(np.where(codes == NUMBER, numbers, np.nan))
        if self.width == 1:
            return written
        atoms = self.labels.take(arrow_numbers(codes))
        marked = arrow_numbers((codes != NUMBER).view(np.uint8)).cast(pa.bool_())
        return pc.if_else(marked, atoms, written)


@dataclass(frozen=True, eq=False, repr=False)
class MixedTable:
    """The columns that take part, the person of each row where a column names persons, and the stratum of each row."""

    columns: tuple[MixedColumn, ...]
    rows: int
    persons: IntArray | None
    strata: IntArray
    strata_names: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Number of strata."""
        return int(self.strata.max(initial=-1)) + 1


def mix_columns(table: Table, policy: Policy, k: int) -> MixedTable:
    """Read the columns of a table as numbers, dates and categories; k is how many have to share what is told.

    Persons are counted where a column names them, rows elsewhere. Raises `DataError` where a column does not hold what
    the policy says.
    """
    names = [name for name in table.arrow.column_names if policy.columns[name].role is not Role.INDIVIDUAL]
    individual = policy.individual
    persons = None if individual is None else encode_column(table, individual.name).codes.astype(np.int64)
    columns, strata_names = [], policy.search.strata
    for name in names:
        # the value of a stratum is the same in all of a group, and told as it is
        rules = replace(policy.columns[name], kind="category") if name in strata_names else policy.columns[name]
        numbers = _mix_numbers(table.arrow.column(name).combine_chunks(), rules, persons, k)
        columns.append(numbers or _mix_categories(encode_column(table, name), rules, policy.source.null, persons, k))
    strata: IntArray = np.zeros(table.rows, dtype=np.int64)
    if strata_names:
        keyed = [encode_column(table, name) for name in strata_names]
        packed = pack_tuples([column.codes for column in keyed], [column.width for column in keyed])
        strata = np.searchsorted(count_keys(packed).keys, packed.keys)
    return MixedTable(tuple(columns), table.rows, persons, strata, strata_names)


def _mix_numbers(cells: Any, rules: Column, persons: IntArray | None, k: int) -> MixedColumn | None:
    """Read a column, an Arrow array, as numbers or dates; nothing where it holds categories."""
    coded = pa.types.is_dictionary(cells.type)
    read = read_kind(cells.dictionary if coded else cells, rules)
    if read is None:
        return None
    numbers = read.numbers
    if coded:  # each different text was read once
        places = numpy_numbers(pc.fill_null(cells.indices.cast(pa.int64()), len(numbers)))
        numbers = np.append(numbers, np.nan)[places]
    low, high = _bounds(read.numbers, read.scale, rules)
    atoms = find_atoms(numbers, rules.atoms, persons, k)
    missing = np.isnan(numbers)
    codes: IntArray = np.where(missing, UNTOLD, NUMBER)
    for number, atom in enumerate(atoms.tolist(), start=1):
        codes[numbers == atom] = number
    if count_holders(np.where(missing, 0, UNTOLD), 1, persons)[0] >= k:
        atoms = np.append(atoms, np.nan)
        codes[missing] = len(atoms)
    if count_holders(np.where(codes == NUMBER, 0, UNTOLD), 1, persons)[0] < k:  # numbers that hardly anybody has
        codes[codes == NUMBER] = UNTOLD
    if (codes == UNTOLD).all():  # neither a number nor that it is missing can be told: it is missing in every row
        codes, atoms = np.ones_like(codes), np.array([np.nan])
    labels = read.scale.write(np.append(np.nan, atoms))
    standardized, center, spread = standardize(np.where(codes == NUMBER, numbers, np.nan))
    return MixedColumn(rules.name, rules.role, codes, labels, standardized, read.scale, center, spread, low, high)


def _mix_categories(
    coded: CodedColumn, rules: Column, nulls: Sequence[str], persons: IntArray | None, k: int
) -> MixedColumn:
    holders = count_holders(coded.codes.astype(np.int64), coded.width, persons)
    codes, labels, climbed = _common_labels(coded, rules.hierarchy, holders, nulls, persons, k)
    return MixedColumn(rules.name, rules.role, codes, labels, climbed=climbed)


def read_kind(values: Any, rules: Column) -> ReadNumbers | None:
    """Read the different values of a column as numbers or dates, as the policy says or else as they are.

    None stands for categories. A hierarchy of intervals or ranges is one of numbers, one of dates one of dates; any
    other is one of categories. Without one, and without `kind`, values decide.

    >>> read_kind(arrow_texts(["12", "7"]), Column("age", Role.PLAIN)).numbers.tolist()
    [12.0, 7.0]
    >>> read_kind(arrow_texts(["12", "7"]), Column("ward", Role.PLAIN, kind="category")) is None
    True
    """
    spec, kind = rules.hierarchy, declared_kind(rules)
    dates = spec if isinstance(spec, Dates) else None
    match kind:
        case "category":
            return None
        case "number":
            read = read_number_values(values, column=rules.name)
        case "date":
            read = read_date_values(values, dates, column=rules.name)
        case _:
            # no text is to hold numbers here; a float that is none gets its column named
            column = rules.name if pa.types.is_floating(values.type) else None
            return read_number_values(values, column=column) or read_date_values(values)
    if read is None and values.null_count < len(values):
        raise DataError(f"column {quote(rules.name)} is to hold {kind}s, and holds {values.type}; change its kind")
    return read


def declared_kind(rules: Column) -> str | None:
    """Say what a policy declares a column to hold: number, date or category; nothing where values are to decide.

    >>> declared_kind(Column("age", Role.PLAIN)) is None
    True
    """
    if rules.kind is not None or rules.hierarchy is None:
        return rules.kind
    if isinstance(rules.hierarchy, Intervals | Ranges):
        return "number"
    return "date" if isinstance(rules.hierarchy, Dates) else "category"


def count_holders(codes: IntArray, width: int, persons: IntArray | None) -> IntArray:
    """Count the rows of each code, or the different persons where there are persons; code -1 is left out.

    >>> count_holders(np.array([0, 1, 1, -1]), 2, None).tolist()
    [1, 2]
    >>> count_holders(np.array([0, 1, 1, 0]), 2, np.array([5, 6, 6, 7])).tolist()
    [2, 1]
    """
    told = codes >= 0
    if persons is None:
        return np.bincount(codes[told], minlength=width)
    pairs = count_keys(pack_tuples([persons[told], codes[told]], [int(persons.max(initial=0)) + 1, width])).keys
    return np.bincount(pairs % width, minlength=width)


def _common_labels(
    coded: CodedColumn, spec: Spec | None, holders: IntArray, nulls: Sequence[str], persons: IntArray | None, k: int
) -> tuple[IntArray, Any, tuple[str | None, ...]]:
    """Publish values that k hold as they are, and rarer ones by the lowest label that k rows of such values share.

    Returns the code of each row, the label of each code, and the labels among them that stand for rare values.
    """
    codes = coded.codes.astype(np.int64)
    rare = holders < k
    if not rare.any():
        return codes, coded.values, ()
    label_of: IntArray = np.where(rare, UNTOLD, np.arange(coded.width))  # of each value
    texts: list[str | None] = []
    levels = _levels_above(coded, spec, nulls)
    open_values = rare.copy()
    for level_codes, level_texts in levels:
        row_label = np.where(open_values.take(codes), level_codes.take(codes), UNTOLD)
        shared = count_holders(row_label, len(level_texts), persons) >= k
        for label in np.flatnonzero(shared).tolist():
            label_of[open_values & (level_codes == label)] = coded.width + len(texts)
            texts.append(level_texts[label])
        open_values &= ~shared.take(level_codes)
    labels = coded.values
    if texts:
        labels = pa.concat_arrays([arrow_texts(list(coded.texts)), arrow_texts(texts)])
    used = np.unique(label_of[label_of >= 0])
    place = np.full(len(labels) + 1, UNTOLD, dtype=np.int64)  # the last place is that of -1
    place[used] = np.arange(len(used))
    return place[label_of].take(codes), labels.take(arrow_indices(used.tolist())), tuple(texts)


def _levels_above(
    coded: CodedColumn, spec: Spec | None, nulls: Sequence[str]
) -> list[tuple[IntArray, tuple[str | None, ...]]]:
    """List the labels of the values on each level of the hierarchy above them: ``*`` alone where there is none."""
    if spec is None or not spec.levelled:
        return [(np.zeros(coded.width, dtype=np.int64), ("*",))]
    tree = spec.bind(coded.texts, column=coded.name, nulls=nulls)
    return [(tree.matrix[:, level].astype(np.int64), tree.labels[level]) for level in range(1, tree.height + 1)]


def find_atoms(numbers: FloatArray, listed: Sequence[float] | None, persons: IntArray | None, k: int) -> FloatArray:
    """Find the numbers that are atoms, ascending: those listed, or else those of a large share of the rows.

    At least k hold each of them.

    A number of a share s of n rows covers one of the places 0, s·n, 2·s·n, … of the sorted numbers. So only what stands
    there is counted, and nothing has to be sorted.

    >>> find_atoms(np.array([0.0] * 6 + [1, 2, 3, 4, np.nan]), None, None, 3).tolist()
    [0.0]
    """
    known = numbers[~np.isnan(numbers)]
    if listed is not None:
        candidates = np.unique(np.array(listed, dtype=np.float64))
    else:
        least = max(float(k), ATOM_SHARE * len(numbers))
        places = np.arange(0, len(known), max(int(least), 1))
        candidates = np.unique(np.partition(known, places)[places]) if len(known) else known
        candidates = candidates[[bool((known == candidate).sum() >= least) for candidate in candidates]]
    held = [count_holders(np.where(numbers == atom, 0, UNTOLD), 1, persons)[0] >= k for atom in candidates]
    atoms: FloatArray = candidates[np.array(held, dtype=bool)]
    return atoms


def _bounds(values: FloatArray, scale: NumberScale, rules: Column) -> tuple[float, float]:
    """Find the bounds of what is published: those declared, and 0 where no value is negative."""
    numbers = values[~np.isnan(values)]
    low, high = scale.limits
    declared = declared_bounds(rules, dates=scale.is_date)
    if declared is None:
        return (0.0 if not scale.is_date and numbers.min(initial=0.0) >= 0 else low), high
    outside = len(np.unique(numbers[~((numbers >= declared[0]) & (numbers <= declared[1]))]))
    if outside:
        raise DataError(
            f"column {quote(rules.name)} has {outside:,} different values outside of its bounds; widen the bounds, or "
            "mend the values"
        )
    return max(low, declared[0]), min(high, declared[1])


def declared_bounds(rules: Column, *, dates: bool) -> tuple[float, float] | None:
    """Read the bounds that a policy declares for numbers or `dates`: those of the column, or its hierarchy's domain.

    >>> declared_bounds(Column("age", Role.PLAIN, bounds=(0, 120)), dates=False)
    (0, 120)
    """
    spec, declared = rules.hierarchy, rules.bounds
    if declared is None and (
        isinstance(spec, Ranges) or (isinstance(spec, Intervals) and spec.bottom is spec.top is None)
    ):
        declared = None if spec.domain is None else (spec.domain[0], spec.domain[1])
    if declared is None:
        return None
    ends = [end if isinstance(end, int | float) else np.nan for end in declared]
    if dates:
        written = read_date_values(arrow_texts([str(end) for end in declared]), column=f"{rules.name}.bounds")
        ends = ends if written is None else written.numbers.tolist()
    return ends[0], ends[1]


def standardize(numbers: FloatArray) -> tuple[FloatArray, float, float]:
    """Turn numbers into multiples of their standard deviation from their mean, which are returned as well.

    NaN stays. There is no overflow on the way, and numbers that are all equal become 0.

    >>> standardized, center, spread = standardize(np.array([1e300, 3e300, np.nan]))
    >>> standardized.round(9).tolist(), f"{center:g}", f"{spread:g}"
    ([-1.0, 1.0, nan], '2e+300', '1e+300')
    """
    known = numbers[~np.isnan(numbers)]
    largest = float(np.abs(known).max(initial=0.0)) or 1.0
    parts = known / largest
    center = float(parts.mean()) if len(parts) else 0.0
    spread = float(parts.std()) if len(parts) else 0.0
    if spread <= 1e-13 * abs(center):
        spread = 1.0
    return (numbers / largest - center) / spread, center * largest, spread * largest
