"""How near drawn rows are to the rows that they were drawn from, against rows that had no part in it.

Rows that are drawn near somebody's row tell of somebody. How near is near depends on the data: so rows are parted into
two halves at random, pseudo-rows are drawn from one half, and their distances to the nearest row of that half are held
against those to the nearest row of the other half, the hold-out. Where the ratio is 1, a drawn row is as near to people
who had no part in it as to those who had.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from sfumato.condense.condensation import DrawnColumn, condense
from sfumato.condense.mixed_columns import MixedTable
from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.randomness import Randomness
from sfumato.policy.options import AlgorithmOptions

NEAR = 0.95
"""Below this ratio drawn rows are nearer to their own rows than to others by more than chance would have it."""
_ROWS = 10_000
"""Rows that are looked at, at most."""
_MOST_MARKS = 40
"""Values of a category that have a coordinate of their own."""


@dataclass(frozen=True)
class ClosestRows:
    """How near drawn rows are to the nearest row, at the median: of those they come from, and of a hold-out.

    `ratio` is the one over the other. `copies` is the share of drawn rows that equal a row they come from in every
    column, and `hold_out_copies` that of those that equal a row of the hold-out. `rows` were looked at.
    """

    original: float
    hold_out: float
    ratio: float
    copies: float
    hold_out_copies: float
    rows: int

    @property
    def near(self) -> bool:
        """Whether drawn rows are nearer to the rows they come from than to others."""
        return self.ratio < NEAR

    def as_json(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        return asdict(self)


def measure_closest_rows(table: MixedTable, k: int, options: AlgorithmOptions) -> ClosestRows | None:
    """Draw rows from half of a table and measure how near they are to both halves; none where there are too few rows.

    The halves are drawn at random with a fixed seed: nothing of this is published.
    """
    from scipy.spatial import cKDTree  # noqa: PLC0415 - takes a while

    rng = np.random.default_rng(1)
    chosen = rng.permutation(table.rows)[:_ROWS]
    own, other = chosen[::2], chosen[1::2]
    own, other = own[: len(other)], other[: len(own)]
    if len(own) < 2 * k or (table.persons is not None and len(np.unique(table.persons[own])) < 2 * k):
        return None
    half = replace(take_rows(table, own), strata=np.zeros(len(own), dtype=np.int64), strata_names=())
    drawn = condense(half, k, replace(options, multiple=1, strata=()), Randomness(1, "closest rows"))
    places = [coordinates(take_rows(table, rows)) for rows in (own, other)]
    points = coordinates(drawn_rows(half, drawn.columns))
    distances = [cKDTree(place).query(points)[0] for place in places]
    near, far = (float(np.median(each)) for each in distances)
    copies = [float(np.mean(each <= 1e-9)) for each in distances]
    ratio = 1.0 if near == far else near / far if far else np.inf
    return ClosestRows(near, far, float(min(ratio, 1e9)), copies[0], copies[1], len(chosen))


def take_rows(table: MixedTable, rows: IntArray) -> MixedTable:
    """Select rows of a table."""
    columns = tuple(
        replace(column, codes=column.codes[rows], numbers=None if column.numbers is None else column.numbers[rows])
        for column in table.columns
    )
    persons = None if table.persons is None else np.unique(table.persons[rows], return_inverse=True)[1]
    return replace(table, columns=columns, rows=len(rows), persons=persons, strata=table.strata[rows])


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


def coordinates(table: MixedTable) -> FloatArray:
    """Rows as points: float[rows, d], standardized numbers, and indicators of categories 1 away from each other."""
    parts = []
    for column in table.columns:
        if column.numbers is not None:
            parts.append(np.nan_to_num(column.numbers)[:, None])
        if column.has_marks and column.width > 1:
            codes = np.where(column.codes >= _MOST_MARKS, _MOST_MARKS, column.codes)
            parts.append((codes[:, None] == np.arange(min(column.width, _MOST_MARKS + 1))) / np.sqrt(2.0))
    return np.concatenate(parts, axis=1) if parts else np.zeros((table.rows, 1))
