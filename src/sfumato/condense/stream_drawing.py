"""Pseudo-rows of a stream: drawn from the statistics of its groups, with nothing else at hand.

They are drawn as those of a table at rest (see `pseudo_rows`), with one difference. Whoever gets rows twice, before and
after a row came, could subtract the sums of one from those of the other if both keep all means to the last digit: what
is left is the row. So only one state of the stream is told exactly. Later ones keep means and frequencies as expected
values: each group is off by about its standard deviation over the root of its size, which is many times what one row
changes, and all rows together are off by next to nothing.
"""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.condense.group_statistics import GroupStatistics
from sfumato.condense.pseudo_rows import deal_categories, settle_numbers, uniform_units
from sfumato.condense.stream_columns import StreamColumn, StreamColumns, common_labels, take_labels
from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.randomness import Randomness
from sfumato.core.segments import Segments, run_starts, stable_order

_BLOCK = 1 << 21
"""So many coordinates are drawn at a time."""


def draw_stream_rows(  # noqa: PLR0913 - as much as drawing takes
    columns: StreamColumns,
    groups: GroupStatistics,
    exponents: IntArray,
    k: int,
    *,
    multiple: int,
    noise: float,
    exact: bool,
    text: bool,
    randomness: Randomness,
) -> Any:
    """Draw `multiple` rows for each row of the groups, in random order: an Arrow table.

    With `noise`, numbers get uniform noise of so many standard deviations of their column, and so large a share of the
    cells of a category change places. As `text`, numbers are written as those that came in were.
    """
    runs = Segments.from_lengths(groups.sizes * multiple)
    total = int(runs.lengths.sum())
    shuffle = randomness.permutation(total)
    labelled = [
        _labels_of(column, groups, place, k) for column, place in zip(columns.columns, columns.places, strict=True)
    ]
    drawn: list[NDArray[Any]] = [np.empty(total, dtype=np.float64 if told is None else np.int64) for told in labelled]
    for some in _blocks_of_one_size(groups, multiple):
        rows = int(groups.sizes[some[0]]) * multiple
        places = runs.starts[some][:, None] + np.arange(rows)
        points = groups.draw(some, rows, randomness, exact=exact)
        for number, place in enumerate(columns.places):
            told = labelled[number]
            if told is None:
                drawn[number][places] = points[:, :, place.start]
            else:
                label_of, labels, usual = told
                counts = _count_labels(groups.means[some][:, place], label_of, usual, rows, randomness, exact=exact)
                likely = np.stack(
                    [points[:, :, place][:, :, label_of == one].sum(axis=2) for one in range(len(labels))]
                )
                drawn[number][places] = deal_categories(np.moveaxis(likely, 0, 2), counts)
    _, _, variances = groups.whole()
    written = {}
    for number, (column, place) in enumerate(zip(columns.columns, columns.places, strict=True)):
        told = labelled[number]
        if told is None:
            spread = noise * float(np.sqrt(variances[place.start]))
            numbers = drawn[number] + (spread * uniform_units(randomness, (total,)) if noise else 0.0)
            settled = _settle(
                column, numbers, runs, groups.means[:, place.start], int(exponents[place.start]), exact=exact
            )
            scale = column.scale(text=text, largest=float(np.abs(settled).max(initial=0.0)))
            written[column.name] = scale.write(settled[shuffle])
        else:
            codes = _swap_some(drawn[number], noise, randomness) if noise else drawn[number]
            written[column.name] = take_labels(told[1], codes[shuffle])
    return pa.table(written)


def _blocks_of_one_size(groups: GroupStatistics, multiple: int) -> list[IntArray]:
    """List groups of one size together, as many as may be drawn at a time."""
    by_size = stable_order(groups.sizes)
    blocks = []
    for same in np.split(by_size, run_starts(groups.sizes[by_size])[1:]):
        most = max(_BLOCK // (int(groups.sizes[same[0]]) * multiple * groups.width), 1)
        blocks += [same[start : start + most] for start in range(0, len(same), most)]
    return blocks


def _settle(
    column: StreamColumn, numbers: FloatArray, runs: Segments, means: FloatArray, exponent: int, *, exact: bool
) -> FloatArray:
    """Numbers of a column as they are published: within bounds, on the grid, with the mean of each group."""
    low, high = column.limits
    with np.errstate(over="ignore"):
        restored = np.clip(np.ldexp(numbers, exponent), -np.finfo(np.float64).max, np.finfo(np.float64).max)
        if not exact:
            means = runs.sum(numbers / runs.spread(runs.lengths.astype(np.float64)))
        targets = np.clip(np.ldexp(means, exponent), low, high)
    return settle_numbers(restored, runs, targets, low, high, column.scale(text=True).step)


_Labels = tuple[IntArray, list[str | None], FloatArray]
"""The label of each value of a category, int[values], the labels, and the rows that hold each label, float[labels]."""


def _labels_of(column: StreamColumn, groups: GroupStatistics, place: slice, k: int) -> _Labels | None:
    """Find what the values of a category are published as; nothing for a column of numbers."""
    if column.kind != "category":
        return None
    held = groups.sizes @ groups.means[:, place]
    label_of, labels = common_labels(column, held, k)
    if not labels:  # fewer than k rows hold each value, and all together: it cannot be, since there are k rows at least
        labels, label_of = ["*"], np.zeros(len(held), dtype=np.int64)
    usual = np.bincount(label_of[label_of >= 0], weights=held[label_of >= 0], minlength=len(labels))
    return label_of, labels, np.maximum(usual, 0)


def _count_labels(
    means: FloatArray, label_of: IntArray, usual: FloatArray, rows: int, randomness: Randomness, *, exact: bool
) -> IntArray:
    """Say how many of `rows` pseudo-rows of each group get each label: int[g, labels].

    means: float[g, values], the shares of values in a group, which a split may have made a little less than 0

    Shares of `rows` are rounded so that they add up, and each count is its share on average: with one random number u,
    label j gets ⌊s₁ + … + sⱼ + u⌋ - ⌊s₁ + … + sⱼ₋₁ + u⌋. Where it is not to be `exact`, every row gets a label by
    itself, with the shares as chances.
    """
    shares = np.stack([means[:, label_of == one].sum(axis=1) for one in range(len(usual))], axis=1)
    shares = np.maximum(shares, 0)
    known = shares.sum(axis=1, keepdims=True)
    shares = np.where(known > 1e-9, shares / np.where(known > 1e-9, known, 1), usual / usual.sum())
    ends = np.cumsum(shares, axis=1)
    ends[:, -1] = 1.0
    chances = (uniform_units(randomness, (len(means), 1 if exact else rows)) / np.sqrt(12.0)) + 0.5
    if exact:
        near = np.rint(rows * ends)
        sums = np.where(np.abs(rows * ends - near) < 1e-6, near, rows * ends)
        parts = np.diff(np.floor(sums + np.minimum(chances, 1 - 1e-9)), axis=1, prepend=0)
        return np.asarray(parts, dtype=np.int64)
    place = (chances[:, :, None] >= ends[:, None, :-1]).sum(axis=2)
    return np.stack([(place == one).sum(axis=1) for one in range(len(usual))], axis=1)


def _swap_some(codes: IntArray, share: float, randomness: Randomness) -> IntArray:
    """Let a share of the cells of a category change places with one another."""
    chosen = np.flatnonzero(uniform_units(randomness, codes.shape) < (2 * share - 1) * np.sqrt(3.0))
    swapped = codes.copy()
    swapped[chosen] = codes[chosen[randomness.permutation(len(chosen))]]
    return swapped
