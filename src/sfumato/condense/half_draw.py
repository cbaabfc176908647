"""Rows drawn from half of a table, beside that half and the other, which had no part in them.

What drawn rows are worth, and what they tell of people, can be judged only beside rows that had no part in them: a
classifier is tested on rows that it did not see, and a drawn row that is near to somebody is near to strangers as well.
A release is drawn from all rows, so nothing is left to hold out. Therefore rows are parted into two halves at random,
and pseudo-rows are drawn from one half in the way of the release. All rows of a person are in one half.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.condense.condensation import DrawnColumn, condense
from sfumato.condense.mixed_columns import UNTOLD, MixedTable, count_holders
from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.arrow import arrow_numbers
from sfumato.core.randomness import Randomness
from sfumato.policy.options import AlgorithmOptions

_ROWS = 10_000
"""Rows that are looked at, at most."""
_MOST_MARKS = 40
"""Values of a category that have a coordinate of their own."""


@dataclass(frozen=True, eq=False, repr=False)
class HalfDraw:
    """Rows of one half (`own`), as many of the other (`hold_out`), and what was `drawn` from the first."""

    own: MixedTable
    hold_out: MixedTable
    drawn: MixedTable

    @property
    def rows(self) -> int:
        """How many rows were looked at."""
        return self.own.rows + self.hold_out.rows

    @property
    def parts(self) -> tuple[MixedTable, MixedTable, MixedTable]:
        """The rows that had a part, those that were drawn, and those that had none."""
        return self.own, self.drawn, self.hold_out


def draw_from_half(table: MixedTable, k: int, options: AlgorithmOptions, most: int = _ROWS) -> HalfDraw | None:
    """Draw rows from half of a table; none where a half has fewer than 2k rows, or people.

    Halves are drawn at random with a fixed seed: nothing of this is published. Strata are kept where each has k in the
    half.
    """
    rng = np.random.default_rng(1)
    chosen = rng.permutation(table.rows)[:most]
    if table.persons is None:
        own, other = chosen[::2], chosen[1::2]
    else:
        side = rng.permutation(int(table.persons.max(initial=0)) + 1) % 2
        own, other = (chosen[side[table.persons[chosen]] == half] for half in (0, 1))
    own, other = own[: len(other)], other[: len(own)]
    if len(own) < 2 * k or (table.persons is not None and len(np.unique(table.persons[own])) < 2 * k):
        return None
    half = take_rows(table, own)
    if int(count_holders(half.strata, half.count, half.persons).min()) < k:
        half = replace(half, strata=np.zeros(half.rows, dtype=np.int64), strata_names=())
    settings = replace(options, multiple=1, strata=half.strata_names)
    drawn = condense(half, k, settings, Randomness(1, "half of the rows"))
    return HalfDraw(half, take_rows(table, other), drawn_rows(half, drawn.columns))


def take_rows(table: MixedTable, rows: IntArray) -> MixedTable:
    """Select rows of a table; persons and strata are numbered anew."""
    columns = tuple(
        replace(column, codes=column.codes[rows], numbers=None if column.numbers is None else column.numbers[rows])
        for column in table.columns
    )
    persons = None if table.persons is None else np.unique(table.persons[rows], return_inverse=True)[1]
    strata = np.unique(table.strata[rows], return_inverse=True)[1]
    return replace(table, columns=columns, rows=len(rows), persons=persons, strata=strata)


def drawn_rows(table: MixedTable, drawn: Sequence[DrawnColumn]) -> MixedTable:
    """Put what was drawn of the columns of a table into their place."""
    columns = tuple(
        replace(
            column,
            codes=part.codes,
            numbers=None if part.numbers is None else (part.numbers - column.center) / column.spread,
        )
        for column, part in zip(table.columns, drawn, strict=True)
    )
    rows = len(drawn[0].codes)
    return replace(table, columns=columns, rows=rows, persons=None, strata=np.zeros(rows, dtype=np.int64))


def coordinates(table: MixedTable, without: str | None = None) -> FloatArray:
    """Rows as points: float[rows, d], standardized numbers, and indicators of categories 1 away from each other.

    One column may be left out.
    """
    parts = []
    for column in table.columns:
        if column.name == without:
            continue
        if column.numbers is not None:
            parts.append(np.nan_to_num(column.numbers)[:, None])
        if column.has_marks and column.width > 1:
            codes = np.where(column.codes >= _MOST_MARKS, _MOST_MARKS, column.codes)
            parts.append((codes[:, None] == np.arange(min(column.width, _MOST_MARKS + 1))) / np.sqrt(2.0))
    return np.concatenate(parts, axis=1) if parts else np.zeros((table.rows, 1))


def cells_of(table: MixedTable) -> dict[str, Any]:
    """The cells of a table as they would be published, an Arrow array for each column; NULL where they are not told."""
    cells = {}
    for column in table.columns:
        told = column.codes != UNTOLD
        numbers = None if column.numbers is None else column.restore(column.numbers)
        written = column.publish(np.where(told, column.codes, 0), numbers)
        if column.numbers is None and not told.all():
            written = written.take(pa.array(arrow_numbers(np.arange(len(told))), mask=~told))
        cells[column.name] = written
    return cells
