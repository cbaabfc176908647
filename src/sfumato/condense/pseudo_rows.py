"""Pseudo-rows from the statistics of groups (Aggarwal and Yu 2004; Aggarwal 2015, Section 20.3.1.4).

A group of rows is a cloud of points: one coordinate for each number, one for each value of a category (1 where the row
has it, else 0). Its covariances give it axes, along which coordinates are uncorrelated. `find_spokes` finds them, and
`draw_along` draws points along them, independent and uniform with the variance of each axis, around a mean.

What is drawn are real numbers. `deal_categories` makes categories of them: each value goes to as many pseudo-rows as
the group has rows with it, and to those first whose coordinate for it is highest. So frequencies of a group are kept
exactly, how categories go together as far as pairs do, and no row's combination of categories is copied.
`settle_numbers` puts numbers back into bounds and onto their grid, and keeps the mean of the group.
"""

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.core.randomness import Randomness
from sfumato.core.segments import Segments

_ROOT_3 = float(np.sqrt(3.0))
"""A uniform variable on ±√3 has variance 1: (2√3)² / 12, by equation 20.8."""
_HALVINGS = 60
"""Steps of a bisection: all that a float can tell apart."""


def uniform_units(randomness: Randomness, shape: tuple[int, ...]) -> FloatArray:
    """Draw uniform numbers of mean 0 and variance 1.

    >>> drawn = uniform_units(Randomness(1), (1000, 2))
    >>> drawn.shape, bool(np.abs(drawn).max() <= 3**0.5)
    ((1000, 2), True)
    """
    words = randomness.words(int(np.prod(shape)))
    units = (words >> np.uint64(11)).astype(np.float64)
    units *= 2 * _ROOT_3 / (1 << 53)
    units -= _ROOT_3
    return units.reshape(shape)


def find_spokes(points: FloatArray) -> FloatArray:
    """Find the axes of g groups of n points in d coordinates, each as long as its standard deviation.

    points:  float[g, n, d]
    returns: float[g, r, d], an axis in each line, r the smaller of d and n; F of a group has FᵀF as its covariances

    With X the centred points and X = U S Vᵀ, the axes of a group are the columns of V and their variances S² / n. They
    come from the covariances (d × d) or from the products of the points (n × n), whichever are fewer: Uᵀ X = S Vᵀ.

    >>> spokes = find_spokes(np.array([[[0.0, 0.0], [2.0, 2.0], [4.0, 4.0]]]))[0]
    >>> (spokes.T @ spokes).round(3).tolist()
    [[2.667, 2.667], [2.667, 2.667]]
    """
    _, size, width = points.shape
    centred = points - points.mean(axis=1, keepdims=True)
    spokes: FloatArray
    if width <= size:
        variances, axes = np.linalg.eigh(centred.swapaxes(1, 2) @ centred / size)
        spokes = np.sqrt(np.maximum(variances, 0))[:, :, None] * axes.swapaxes(1, 2)
    else:
        _, axes = np.linalg.eigh(centred @ centred.swapaxes(1, 2))
        spokes = axes.swapaxes(1, 2) @ centred / np.sqrt(size)
    return spokes


def draw_along(mean: FloatArray, spokes: FloatArray, rows: int, randomness: Randomness) -> FloatArray:
    """Draw `rows` points for each of g groups along its spokes.

    mean: float[g, 1, d]; spokes: float[g, r, d]
    returns: float[g, rows, d], with the mean of each group, and the covariances of its spokes as expected ones

    >>> cloud = np.array([[[0.0, 0.0], [2.0, 2.0], [4.0, 4.0]]])
    >>> drawn = draw_along(cloud.mean(axis=1, keepdims=True), find_spokes(cloud), 1000, Randomness(1))
    >>> np.round(drawn.mean(axis=1), 9).tolist(), bool(np.allclose(drawn[0, :, 0], drawn[0, :, 1]))
    ([[2.0, 2.0]], True)
    """
    units = uniform_units(randomness, (len(spokes), rows, spokes.shape[1]))
    units -= units.mean(axis=1, keepdims=True)
    if rows > 1:  # centring takes a share of the variance away
        units *= np.sqrt(rows / (rows - 1))
    drawn: FloatArray = mean + units @ spokes
    return drawn


def deal_categories(coordinates: FloatArray, counts: IntArray) -> IntArray:
    """Give each pseudo-row a category, as many of each as `counts` says.

    coordinates: float[g, m, c], what was drawn of each category for each pseudo-row
    counts:      int[g, c], pseudo-rows that each category is to have; they add up to m
    returns:     int[g, m]

    Categories are dealt from the rarest in the group to the most frequent: what is rare goes to the rows that it fits
    best, and what is frequent takes the rest. Each round is one sort for all groups.

    >>> deal_categories(np.array([[[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]]), np.array([[1, 2]])).tolist()
    [[0, 1, 1]]
    """
    groups, rows, _ = coordinates.shape
    dealt = np.full((groups, rows), -1, dtype=np.int64)
    if not rows:
        return dealt
    # int[g, c]: the categories of each group, rarest first, those it does not have last
    order = np.argsort(np.where(counts > 0, counts, rows + 1), axis=1, kind="stable")
    line = np.arange(groups)
    for turn in range(int((counts > 0).sum(axis=1).max(initial=0))):
        category = order[:, turn]
        amount = counts[line, category]
        fit = np.where(dealt < 0, np.take_along_axis(coordinates, category[:, None, None], axis=2)[:, :, 0], -np.inf)
        place = np.argsort(np.argsort(-fit, axis=1, kind="stable"), axis=1)
        dealt = np.where((place < amount[:, None]) & (dealt < 0), category[:, None], dealt)
    return dealt


def apportion(counts: IntArray, totals: IntArray, usual: IntArray) -> IntArray:
    """Scale the counts of each group to a total, in whole numbers, by largest remainders.

    counts: int[g, c]; totals: int[g]; usual: int[c], in place of the counts of a group that has none
    returns: int[g, c], whose lines add up to the totals; no count gets less than it had, where the total is not less

    >>> apportion(np.array([[2, 1], [0, 0]]), np.array([4, 2]), np.array([9, 1])).tolist()
    [[3, 1], [2, 0]]
    """
    known = counts.sum(axis=1, keepdims=True)
    shares = np.where(known > 0, counts, usual) / np.where(known > 0, known, usual.sum())
    # what a group has is safe; only what is beyond is shared out
    base = np.where(totals[:, None] >= known, counts, 0)
    rest = totals - base.sum(axis=1)
    exact = shares * rest[:, None]
    whole = np.floor(exact + 1e-9).astype(np.int64)
    left = rest - whole.sum(axis=1)
    place = np.argsort(np.argsort(-(exact - whole), axis=1, kind="stable"), axis=1)
    portions: IntArray = base + whole + (place < left[:, None])
    return portions


def settle_numbers(
    numbers: FloatArray, runs: Segments, means: FloatArray, low: float, high: float, step: float
) -> FloatArray:
    """Bring the numbers of each run into bounds and onto a grid, with the given mean.

    numbers: float[n], run by run; means: float[g], between the bounds
    returns: float[n]; the mean of a run is off by half a step over its rows at most, and by nothing without a grid

    Numbers out of bounds go to the bound, and all are shifted so that the mean is right after that: the mean of clipped
    numbers grows with the shift, so that bisection finds it. On the grid each number is rounded down, and as many of a
    run go up instead as its mean asks for, those with the largest rest first.

    >>> runs = Segments.from_lengths(np.array([3]))
    >>> settle_numbers(np.array([-5.0, 4.4, 9.2]), runs, np.array([3.0]), 0.0, 120.0, 1.0).tolist()
    [0.0, 2.0, 7.0]
    """
    if not len(numbers):
        return numbers
    if step:  # bounds may lie between two places of the grid
        with np.errstate(over="ignore"):
            low, high = float(np.ceil(low / step - 1e-9) * step), float(np.floor(high / step + 1e-9) * step)
        means = np.clip(means, low, high)
    lengths = runs.lengths.astype(np.float64)
    off = means - runs.sum(numbers / runs.spread(lengths))
    settled: FloatArray = numbers + runs.spread(off)
    outside = np.maximum.reduceat(((settled < low) | (settled > high)).view(np.int8), runs.starts).astype(bool)
    if outside.any():
        chosen = np.flatnonzero(outside)
        places, some = runs.places(chosen), runs.select(chosen)
        settled[places] = _shift_into_bounds(settled[places], some, means[chosen], low, high)
    if not step:
        return settled
    units: FloatArray = settled / step
    whole = np.floor(units + 1e-9)
    rests = units - whole
    wanted = np.rint(runs.sum(rests)).astype(np.int64)
    order = np.lexsort([-rests, runs.group])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order)) - np.repeat(runs.starts, runs.lengths)
    whole += place < runs.spread(wanted)
    return np.clip(whole * step, low, high)


def _shift_into_bounds(numbers: FloatArray, runs: Segments, means: FloatArray, low: float, high: float) -> FloatArray:
    """Shift the numbers of each run so that they have the mean once those out of bounds stand at the bound."""
    share = 1.0 / runs.spread(runs.lengths.astype(np.float64))
    widest = np.maximum.reduceat(np.abs(numbers - runs.spread(means)), runs.starts)
    least, most = -2 * widest, 2 * widest
    for _ in range(_HALVINGS):
        shift = least / 2 + most / 2
        reached = runs.sum(np.clip(numbers + runs.spread(shift), low, high) * share)
        least, most = np.where(reached < means, shift, least), np.where(reached < means, most, shift)
    clipped: FloatArray = np.clip(numbers + runs.spread(most), low, high)
    return clipped
