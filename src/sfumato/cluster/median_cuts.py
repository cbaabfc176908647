"""Groups by cuts near medians, as in Mondrian and k-d trees, with ties free to go either way.

Each group of at least 2k rows is cut along the column in which it varies most, so that no group has more than 2k - 1
rows in the end (LeFevre, DeWitt and Ramakrishnan 2006, relaxed cuts). A cut is as near to the median as leaves room for
as many groups of k on both sides as there was before: 50 rows and k = 10 are cut into 20 and 30, since halves of 25
would end as four groups, not five.

All groups are cut at once. In each round groups have one of a few sizes; those of m rows stand in one array per column,
[groups, m], and a round is a few passes over the table.
"""

from typing import Any

import numpy as np

from sfumato.cluster.mixed_points import CategoryColumn, MixedPoints
from sfumato.core.arrays import BoolArray, FloatArray, IntArray
from sfumato.core.segments import run_starts
from sfumato.errors import Infeasible

Columns = list[FloatArray]
"""The columns of all groups of one size, each [g, m]: numbers, and behind them the places of categories."""


def median_cuts(points: MixedPoints, k: int, persons: IntArray | None = None, *, size: int | None = None) -> IntArray:
    """Put rows into groups of k to 2k - 1 rows by cuts near medians; return the group of each row, int[n].

    A group is cut along the column of the largest variance, the first of several: for categories that is what their
    indicator columns have together, ½·weight·(1 - Σ s²) with the shares s of the values in the group. Numbers are cut
    in their order, categories in that of their `places`. Rows with equal values go to either side, in an order that
    depends on the contents of rows and not on where they stand.

    With `persons` int[n], whose row it is, groups have rows of at least k persons: a cut that would leave fewer on a
    side is not made, and the next column is tried; groups may then have more than 2k - 1 rows. With `size`, groups of
    fewer than ``2 * size`` rows are not cut any further.

    >>> median_cuts(MixedPoints(np.array([[1.0], [9.0], [2.0], [8.0], [3.0]])), 2)
    array([0, 1, 0, 1, 1])
    """
    check_enough(len(points), k, persons)
    if not points.numbers.shape[1] and not points.categories:  # nothing to tell rows by: all are equal
        points = MixedPoints(np.zeros((len(points), 1)))
    order = points.scattered_order()
    columns: Columns = [column.take(order)[None, :] for column in points.numbers.T]
    columns += [column.places.take(column.codes).take(order).astype(np.float64)[None] for column in points.categories]
    group = np.empty(len(points), dtype=np.int64)
    done, least = 0, max(k, size or k)
    blocks = {len(points): (order[None, :], columns)}  # by size: the rows int[g, m] of each group, and their columns
    while blocks:
        # First all halves are chosen, so that it is known how many groups of each size there will be; then each half
        # is written to its place among those of its size, once.
        halves: dict[int, list[tuple[int, IntArray]]] = {}  # by size: the block, and places in it, group by group
        for length, (rows, block) in sorted(blocks.items()):
            fit = length // least  # so many groups
            lower, cut = np.zeros(rows.shape, dtype=np.bool_), np.zeros(len(rows), dtype=np.bool_)
            if fit >= 2:
                half = length * (fit // 2) // fit
                lower, cut = _choose_halves(points, block, half, None if persons is None else persons[rows], k)
            whole = rows[~cut]
            group[whole] = done + np.arange(len(whole))[:, None]
            done += len(whole)
            for side in (lower, ~lower) if cut.any() else ():
                places = np.flatnonzero(side if cut.all() else side & cut[:, None])
                halves.setdefault(len(places) // int(cut.sum()), []).append((length, places))
        blocks = {length: _gather_halves(blocks, parts, length) for length, parts in halves.items()}
    return group


def check_enough(rows: int, k: int, persons: IntArray | None) -> None:
    """Refuse a table that has not even one group: of k rows, or of rows of k persons.

    >>> check_enough(3, 5, None)
    Traceback (most recent call last):
    sfumato.errors.Infeasible: 3 rows, and every group has at least 5; lower k
    """
    if k < 1:
        raise ValueError(f"groups of at least {k} rows")
    found, what = (rows, "rows") if persons is None else (len(np.unique(persons)), "persons")
    if found < k:
        raise Infeasible(f"{found} {what}, and every group has at least {k}; lower k", nearest={"k": found})


def _gather_halves(
    blocks: dict[int, tuple[IntArray, Columns]], parts: list[tuple[int, IntArray]], length: int
) -> tuple[IntArray, Columns]:
    """Make one block of all halves of one size, from the blocks that they are cut from, and their places in these."""
    total = sum(len(places) for _, places in parts)

    def gather(number: int | None) -> Any:
        source = {of: blocks[of][0] if number is None else blocks[of][1][number] for of, _ in parts}
        gathered = np.empty(total, dtype=next(iter(source.values())).dtype)
        start = 0
        for of, places in parts:
            # places are within the block, so clipping changes none; "raise" would write to an array of its own first
            source[of].ravel().take(places, out=gathered[start : start + len(places)], mode="clip")
            start += len(places)
        return gathered.reshape(-1, length)

    return gather(None), [gather(number) for number in range(len(blocks[parts[0][0]][1]))]


def _choose_halves(
    points: MixedPoints, block: Columns, half: int, persons: IntArray | None, k: int
) -> tuple[BoolArray, BoolArray]:
    """Choose the halves of each of g groups of m rows: which rows are in the lower one, and which groups are cut.

    `persons` is int[g, m]; without it every group is cut. Returns bool[g, m], with `half` rows in each line that is
    cut, and bool[g].
    """
    groups, length = block[0].shape
    numbers = points.numbers.shape[1]
    spread = np.array(
        [_variances(column) for column in block[:numbers]]
        + [_category_spreads(column, of) for column, of in zip(block[numbers:], points.categories, strict=True)]
    )  # [columns, g]
    lower = np.zeros((groups, length), dtype=np.bool_)
    cut = np.zeros(groups, dtype=np.bool_)
    for rank in range(1 if persons is None else len(block)):
        # Without persons the widest column is all that is needed; sorting them would cost as much as the cut.
        widest = spread.argmax(axis=0) if persons is None else np.argsort(-spread, axis=0, kind="stable")[rank]
        open_groups = np.flatnonzero(~cut)
        values = np.empty((len(open_groups), length))
        for number, column in enumerate(block):
            chosen = np.flatnonzero(widest[open_groups] == number)
            values[chosen] = column[open_groups[chosen]]
        tried = _below_median(values, half)
        passing = np.ones(len(open_groups), dtype=np.bool_)
        if persons is not None:
            whose = persons[open_groups]
            below = whose[tried].reshape(-1, half)
            above = whose[~tried].reshape(-1, length - half)
            passing = (_count_different(below) >= k) & (_count_different(above) >= k)
        lower[open_groups[passing]] = tried[passing]
        cut[open_groups[passing]] = True
        if cut.all():
            break
    return lower, cut


def _variances(column: FloatArray) -> FloatArray:
    """Measure the variance of each group, float[g] of float[g, m]; of few rows around their own mean."""
    means = column.mean(axis=1)
    centred = column - means[:, None]
    return np.asarray((centred * centred).mean(axis=1), dtype=np.float64)


def _category_spreads(places: FloatArray, column: CategoryColumn) -> FloatArray:
    """Measure ½·weight·(1 - Σ s²) of each group over the levels of a category column, given its places: float[g, m]."""
    groups, length = places.shape
    ordered = np.sort(places.astype(np.int64), axis=1)  # in depth-first order, labels of every level are in runs, too
    value = np.argsort(column.places)  # by place
    spread = np.zeros(groups)
    line = np.repeat(np.arange(groups), length)
    for label in column.labels:
        starts = run_starts(line * column.width + label.take(value).take(ordered).ravel())
        count = np.diff(starts, append=len(line))
        spread += 1.0 - np.bincount(line[starts], (count / length) ** 2, minlength=groups)
    return spread * (column.weight / (2 * len(column.labels)))


def _below_median(values: FloatArray, half: int) -> BoolArray:
    """Choose the `half` smallest in each line of float[g, m], of equal ones the first: bool[g, m].

    By comparing with the value that has so many below it. An argpartition would do, but which of equal values it puts
    first depends on the processor.
    """
    pivot = np.partition(values, half, axis=1)[:, half, None]
    lower: BoolArray = values < pivot
    missing = half - np.count_nonzero(lower, axis=1)
    if missing.any():
        equal = values == pivot
        lower |= equal & (np.cumsum(equal, axis=1, dtype=np.int32) <= missing[:, None])
    return lower


def _count_different(persons: IntArray) -> IntArray:
    """Count the different persons in each line of int[g, m]."""
    ordered = np.sort(persons, axis=1)
    different: IntArray = 1 + np.count_nonzero(ordered[:, 1:] != ordered[:, :-1], axis=1)
    return different
