"""The cells of a cross-table with its marginals: what each holds, who contributes to it, and which add up to which.

Rows and columns of a table are one or several columns of the data. With ``nested`` marginals those of one side are
nested: of rows a, b there are subtotals for each a, and the total. With ``all`` marginals every combination of columns
is totalled, as in a data cube. Every combination of values that occur is a cell, empty or not.

Amounts are whole numbers of steps of a decimal grid, so that what is published adds up exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from sfumato.core.arrays import BoolArray, IntArray
from sfumato.core.numbers import read_decimals
from sfumato.encode import encode_column
from sfumato.errors import DataError, InputError, quote
from sfumato.masking.grid_numbers import read_grid_numbers
from sfumato.table import Table

MARGINALS = ("nested", "all")
"""Which marginals a table has: nested subtotals of each side, or those of every combination of columns."""
TOTAL = -1
"""The code of a cell in a column that it is the total of."""
MOST_CELLS = 100_000
"""A larger table is read by nobody, and takes too long to protect."""
_EXACT = 1 << 53
"""Up to here every whole number is a float, as linear programs need it."""


@dataclass(frozen=True, eq=False, repr=False)
class CellTable:
    """The cells of a table, in the order in which they are published: by their labels, totals last.

    codes:         int[cells, columns], the place of each cell's label in `labels`, or `TOTAL`
    values:        int[cells], what a cell holds: contributors or rows, or the sum of their amounts, in steps of
                   10^-`decimals`
    contributors:  int[cells], how many persons, or rows where nobody names them, have a part in it
    largest:       int[cells, k], the amounts of the k contributors with the largest, from the largest on
    sole:          int[cells], the number of the contributor who is alone in a cell; -1 where none is
    inner:         int[cells], how many innermost cells that are not empty it adds up
    relations:     int[relations, 2 + ...] as triples `relation_of`, `cell_of`, `sign_of`: in each relation the cells
                   with sign 1 add up to the one with sign -1

    `rows` says how many of the columns are rows of the table; `measure` is the column of amounts, or None for a table
    of counts; `individual` names contributors.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[str | None, ...], ...]
    rows: int
    measure: str | None
    individual: str | None
    decimals: int
    codes: IntArray
    values: IntArray
    contributors: IntArray
    largest: IntArray
    sole: IntArray
    inner: IntArray
    relation_of: IntArray
    cell_of: IntArray
    sign_of: IntArray
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.values)

    @property
    def counted(self) -> bool:
        """Whether it is a table of counts."""
        return self.measure is None

    @property
    def empty(self) -> BoolArray:
        """Which cells nobody has a part in, bool[cells]."""
        return np.asarray(self.contributors == 0)

    @property
    def innermost(self) -> BoolArray:
        """Which cells are no marginals, bool[cells]."""
        return np.asarray((self.codes != TOTAL).all(axis=1))

    def label(self, cell: int, total: str) -> tuple[str | None, ...]:
        """Name a cell by its labels; `total` is the word for a total."""
        return tuple(
            total if code == TOTAL else labels[code]
            for code, labels in zip(self.codes[cell].tolist(), self.labels, strict=True)
        )

    def amount_text(self, steps: int) -> str:
        """Write an amount with the decimals of the table.

        >>> import pyarrow
        >>> count_cells(Table(pyarrow.table({"a": ["x"], "m": ["1.50"]})), ["a"], [], measure="m").amount_text(150)
        '1.50'
        """
        if not self.decimals:
            return str(steps)
        digits = f"{steps:0{self.decimals + 1}}"
        return f"{digits[: -self.decimals]}.{digits[-self.decimals :]}"


def count_cells(  # noqa: PLR0913 - as many settings as a table has
    table: Table,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    measure: str | None = None,
    individual: str | None = None,
    marginals: str = "nested",
    most_largest: int = 2,
) -> CellTable:
    """Count the cells of a table over these columns, or add up the amounts of the column `measure`.

    Contributors are rows, or the persons that the column `individual` names. Rows without an amount are left out.

    >>> import pyarrow
    >>> data = pyarrow.table({"town": ["a", "a", "b"], "sex": ["f", "m", "f"]})
    >>> cells = count_cells(Table(data), ["town"], ["sex"])
    >>> cells.values.reshape(3, 3).tolist()
    [[1, 1, 2], [1, 0, 1], [2, 1, 3]]
    """
    names = (*rows, *columns)
    _check_names(names, measure, individual)
    if marginals not in MARGINALS:
        raise InputError(f"marginals are nested or all, not {quote(marginals)}")
    amounts, decimals, there = _read_amounts(table, measure)
    coded = [_ordered_column(table, name, there) for name in names]
    person = np.arange(len(amounts)) if individual is None else encode_column(table, individual).codes[there]
    axes = [tuple(range(len(rows))), tuple(range(len(rows), len(names)))]
    axes = [(place,) for place in range(len(names))] if marginals == "all" else [axis for axis in axes if axis]
    axes.sort(key=len, reverse=True)  # the deepest first, which leaves the fewest relations to each cell
    sizes = [len(labels) for _, labels in coded]
    total = prod(sum(prod(sizes[place] for place in axis[:depth]) for depth in range(len(axis) + 1)) for axis in axes)
    if total > MOST_CELLS:
        raise DataError(
            f"the table would have {total:,} cells, and {MOST_CELLS:,} are the most; leave a column out, or group "
            "its values"
        )
    cells = _CellKeys(sizes, axes)
    figures = _add_up(cells, [codes for codes, _ in coded], amounts, person, most_largest)
    relation_of, cell_of, sign_of = cells.relations()
    return CellTable(
        names,
        tuple(labels for _, labels in coded),
        len(rows),
        measure,
        individual,
        decimals,
        cells.codes,
        *figures,
        relation_of=relation_of,
        cell_of=cell_of,
        sign_of=sign_of,
        left_out=int((~there).sum()),
    )


def _check_names(names: Sequence[str], measure: str | None, individual: str | None) -> None:
    if not names:
        raise InputError("name the columns that the table has as rows, as in --rows region,branch")
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise InputError(f"column {quote(twice)} is named twice among the rows and columns; name it once")
    for name, what in ((measure, "added up"), (individual, "the one that names contributors")):
        if name is not None and name in names:
            raise InputError(f"column {quote(name)} cannot be {what} and stand in the rows or columns; name another")
    if measure is not None and measure == individual:
        raise InputError(f"column {quote(measure)} cannot be added up and name contributors; name another")


def _read_amounts(table: Table, measure: str | None) -> tuple[IntArray, int, BoolArray]:
    """Read the amounts of rows in steps of a grid, how many decimals it has, and which rows have an amount.

    Where all amounts together have more digits than a float, the last decimals are rounded away.
    """
    if measure is None:
        return np.ones(table.rows, dtype=np.int64), 0, np.ones(table.rows, dtype=np.bool_)
    column = table.arrow.column(measure)
    numbers = read_grid_numbers(column, measure, "--sum", table.type_of(measure))
    if numbers.is_date:
        raise DataError(f"column {quote(measure)} holds dates, which do not add up; name a column of amounts")
    there, decimals = numbers.there, numbers.decimals
    if not there.any():
        raise DataError(f"column {quote(measure)} has no amount in any row; name another to add up")
    steps = [int(step) for step in numbers.steps.tolist()]
    if min(steps) < 0:
        raise DataError(
            f"column {quote(measure)} holds negative amounts, and cells are protected on the understanding that all "
            "amounts are at least 0; add up gains and losses in tables of their own"
        )
    counts = np.bincount(numbers.codes[there], minlength=len(steps)).tolist()
    exact, cut = steps, 0
    while sum(step * count for step, count in zip(steps, counts, strict=True)) >= _EXACT:
        if cut == decimals:
            raise DataError(f"the amounts of column {quote(measure)} add up to more than 2^53; give them in thousands")
        cut += 1
        steps = [(2 * step + 10**cut) // (2 * 10**cut) for step in exact]  # halves up
    decimals -= cut
    amounts: IntArray = np.array(steps, dtype=np.int64)[numbers.codes[there]]
    return amounts, decimals, there


def _ordered_column(table: Table, name: str, there: BoolArray) -> tuple[IntArray, tuple[str | None, ...]]:
    """The values of a column as codes of its labels, in the order of numbers or of text, NULL last."""
    column = encode_column(table, name)
    used = np.unique(column.codes[there])
    texts = [column.texts[code] for code in used.tolist()]
    numbers = read_decimals(tuple(text for text in texts if text is not None))
    known = [place for place, text in enumerate(texts) if text is not None]
    by_number = dict(zip(known, numbers, strict=True)) if numbers else {}
    order = sorted(known, key=lambda place: (by_number.get(place, 0), str(texts[place])))
    order += [place for place, text in enumerate(texts) if text is None]
    place_of = np.zeros(column.width, dtype=np.int64)
    place_of[used[order]] = np.arange(len(order))
    return place_of[column.codes[there]], tuple(texts[place] for place in order)


class _CellKeys:
    """Which cells there are: a number for each, its digits the codes of its labels, where the last stands for a total.

    An axis is a run of columns that are nested; a pattern says how many columns of each axis a cell tells apart.
    """

    def __init__(self, sizes: Sequence[int], axes: Sequence[tuple[int, ...]]) -> None:
        self.sizes, self.axes = sizes, axes
        self.strides = [prod(size + 1 for size in sizes[place + 1 :]) for place in range(len(sizes))]
        self.patterns = list(product(*(range(len(axis) + 1) for axis in axes)))
        self.keys: IntArray = np.sort(np.concatenate([self.pattern_keys(pattern) for pattern in self.patterns]))
        digits = [self.keys // stride % (size + 1) for stride, size in zip(self.strides, sizes, strict=True)]
        self.codes: IntArray = np.stack(
            [np.where(digit == size, TOTAL, digit) for digit, size in zip(digits, sizes, strict=True)], axis=1
        )

    def kept(self, pattern: Sequence[int]) -> set[int]:
        """The columns that cells of a pattern tell apart."""
        return {place for axis, depth in zip(self.axes, pattern, strict=True) for place in axis[:depth]}

    def pattern_keys(self, pattern: Sequence[int]) -> IntArray:
        """The numbers of all cells of a pattern."""
        kept, keys = self.kept(pattern), np.zeros(1, dtype=np.int64)
        for place, (size, stride) in enumerate(zip(self.sizes, self.strides, strict=True)):
            digits = np.arange(size) if place in kept else np.array([size])
            keys = (keys[:, None] + digits * stride).ravel()
        return keys

    def find(self, pattern: Sequence[int], codes: Sequence[IntArray]) -> IntArray:
        """The cell of a pattern that each row belongs to, int[rows]."""
        kept = self.kept(pattern)
        keys = np.zeros(len(codes[0]), dtype=np.int64)
        for place, (size, stride) in enumerate(zip(self.sizes, self.strides, strict=True)):
            keys += (codes[place] if place in kept else size) * stride
        return np.asarray(np.searchsorted(self.keys, keys))

    def relations(self) -> tuple[IntArray, IntArray, IntArray]:
        """List which cells add up to which, as triples of relation, cell and sign.

        A relation adds up one column of an axis, the last that is told apart. It is listed where the axes before are
        told apart altogether: the others follow from these.
        """
        relation_of: list[Any] = []
        cell_of: list[Any] = []
        sign_of: list[Any] = []
        found = 0
        for pattern in self.patterns:
            for number, (axis, depth) in enumerate(zip(self.axes, pattern, strict=True)):
                if not depth or any(pattern[i] < len(self.axes[i]) for i in range(number)):
                    continue
                place, keys = axis[depth - 1], self.pattern_keys(pattern)
                digit = keys // self.strides[place] % (self.sizes[place] + 1)
                parents, relation = np.unique(
                    keys + (self.sizes[place] - digit) * self.strides[place], return_inverse=True
                )
                relation_of += [found + relation.ravel(), found + np.arange(len(parents))]
                cell_of += [np.searchsorted(self.keys, keys), np.searchsorted(self.keys, parents)]
                sign_of += [np.ones(len(keys), dtype=np.int64), np.full(len(parents), -1)]
                found += len(parents)
        return np.concatenate(relation_of), np.concatenate(cell_of), np.concatenate(sign_of)


def _add_up(
    cells: _CellKeys, codes: Sequence[IntArray], amounts: IntArray, person: IntArray, most: int
) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
    """Add up the amounts of each cell, and find its contributors.

    codes, amounts, person: over rows. Returns over cells: values, contributors, largest, sole, inner.
    """
    number = len(cells.keys)
    values, contributors = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.int64)
    largest, sole = np.zeros((number, most), dtype=np.int64), np.full(number, -1, dtype=np.int64)
    inner = np.zeros(number, dtype=np.int64)
    full = tuple(len(axis) for axis in cells.axes)
    occupied = np.unique(cells.find(full, codes))
    for pattern in cells.patterns:
        # the amount of each contributor to each cell: one line each
        cell, order = cells.find(pattern, codes), np.lexsort([person, cells.find(pattern, codes)])
        starts = np.flatnonzero(np.diff(cell[order], prepend=-1) | np.diff(person[order], prepend=-1))
        line_cell, line_person = cell[order][starts], person[order][starts]
        line_amount = np.add.reduceat(amounts[order], starts)
        # within each cell from the largest amount on
        order = np.lexsort([-line_amount, line_cell])
        line_cell, line_person, line_amount = line_cell[order], line_person[order], line_amount[order]
        starts = np.flatnonzero(np.diff(line_cell, prepend=-1))
        there, sizes = line_cell[starts], np.diff(starts, append=len(line_cell))
        values[there], contributors[there] = np.add.reduceat(line_amount, starts), sizes
        for rank in range(most):
            deep = sizes > rank
            largest[there[deep], rank] = line_amount[starts[deep] + rank]
        sole[there[sizes == 1]] = line_person[starts[sizes == 1]]
        within = [cells.codes[occupied, place] for place in range(len(cells.sizes))]
        inner += np.bincount(cells.find(pattern, within), minlength=number)
    return values, contributors, largest, sole, inner
