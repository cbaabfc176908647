"""Statistics of groups: additive, exact for large offsets, and split as the equations of the chapter say."""

import numpy as np
import pytest

from sfumato.condense.group_statistics import GroupStatistics
from sfumato.core.randomness import Randomness
from sfumato.core.segments import Segments

ONE = np.array([0])


def _group(points: np.ndarray) -> GroupStatistics:
    groups = GroupStatistics(points.shape[1])
    groups.append(points)
    return groups


def test_rows_that_come_one_by_one_have_the_statistics_of_all_at_once() -> None:
    """Counts, sums and sums of products are additive."""
    draw = np.random.default_rng(1)
    points = draw.normal(size=(40, 3)) @ draw.normal(size=(3, 3))
    groups = _group(points[:5])
    for row in points[5:]:
        groups.add(row[None], ONE, Segments.from_lengths(np.array([1])))
    assert groups.sizes.tolist() == [40]
    assert np.allclose(groups.sums(ONE)[0], points.sum(axis=0))
    assert np.allclose(groups.sums_of_products(ONE)[0], points.T @ points)
    assert np.allclose(groups.covariances(ONE)[0], np.cov(points.T, bias=True))
    rows, means, variances = groups.whole()
    assert (rows, np.allclose(means, points.mean(axis=0)), np.allclose(variances, points.var(axis=0))) == (
        40,
        True,
        True,
    )


def test_equations_20_6_and_20_7_agree() -> None:
    """Covariances follow from sums of products with means or with sums."""
    points = np.random.default_rng(2).normal(size=(30, 2))
    groups = _group(points)
    sums, products = groups.sums(ONE)[0], groups.sums_of_products(ONE)[0]
    assert np.allclose(groups.covariances(ONE)[0], products / 30 - np.outer(sums, sums) / 30**2)


def test_a_large_offset_takes_no_digits_away() -> None:
    """A variance of a hundredth beside a mean of a billion: sums of products about 0 would have lost it."""
    draw = np.random.default_rng(3)
    points = 1e9 + 0.1 * draw.normal(size=(60, 1))
    groups = _group(points[:20])
    for start in range(20, 60, 8):
        groups.add(points[start : start + 8], ONE, Segments.from_lengths(np.array([8])))
    assert groups.covariances(ONE)[0, 0, 0] == pytest.approx(points.var(), rel=1e-6)
    naive = (points**2).sum() / 60 - points.mean() ** 2
    assert abs(naive - points.var()) > points.var()


def test_exercise_6() -> None:
    """The means of the halves are μ ± √(12 λ)/4 V = μ ± √(3 λ)/2 V."""
    draw = np.random.default_rng(4)
    points = draw.normal(size=(50, 3)) * [5.0, 1.0, 0.5] + [10.0, -3.0, 7.0]
    groups = _group(points)
    values, vectors = np.linalg.eigh(np.cov(points.T, bias=True))
    longest, mean = vectors[:, -1], points.mean(axis=0)
    new = groups.split(ONE, np.ones(3))
    assert (groups.sizes.tolist(), new.tolist()) == ([25, 25], [1])
    steps = (groups.means - mean) @ longest
    assert np.allclose(np.abs(steps), np.sqrt(3 * values[-1]) / 2)
    assert steps[0] == pytest.approx(-steps[1])
    assert np.allclose(groups.means - mean, steps[:, None] * longest)


def test_a_split_is_what_uniform_rows_show_when_they_are_halved() -> None:
    """The sums of products that are back-calculated, beside those of rows that are really there (20.8, 20.9)."""
    draw = np.random.default_rng(5)
    rows, turn = 200_000, np.linalg.qr(draw.normal(size=(3, 3)))[0]
    points = draw.uniform(-1, 1, size=(rows, 3)) * [6.0, 2.0, 1.0] @ turn.T + [3.0, 1.0, -2.0]
    groups = _group(points)
    groups.split(ONE, np.ones(3))
    along = (points - points.mean(axis=0)) @ turn[:, 0]
    upper = points[along > 0] if groups.means[0] @ turn[:, 0] > groups.means[1] @ turn[:, 0] else points[along <= 0]
    scale = len(upper) * np.abs(points).max() ** 2
    expected = upper.T @ upper * (rows / 2 / len(upper))
    assert np.abs(groups.sums_of_products(ONE)[0] - expected).max() < 0.003 * scale
    assert np.allclose(groups.means[0], upper.mean(axis=0), atol=0.03)
    assert np.allclose(groups.covariances(ONE)[0], np.cov(upper.T, bias=True), atol=0.05)


def test_halves_add_up_to_the_group() -> None:
    """Not only counts and sums: with means R/4 apart and a quarter of λ, all sums of products are kept as well."""
    draw = np.random.default_rng(6)
    points = draw.normal(size=(20, 4)) @ draw.normal(size=(4, 4))
    groups = _group(points)
    sums, products = groups.sums(ONE)[0], groups.sums_of_products(ONE)[0]
    groups.split(ONE, np.array([1.0, 3.0, 0.5, 2.0]))
    both = np.arange(2)
    assert np.allclose(groups.sums(both).sum(axis=0), sums)
    assert np.allclose(groups.sums_of_products(both).sum(axis=0), products)


def test_a_column_without_weight_goes_along_as_it_is_correlated() -> None:
    """It moves by its regression on the place along the eigenvector."""
    points = np.column_stack([np.arange(10.0), 3 * np.arange(10.0)])
    groups = _group(points)
    groups.split(ONE, np.array([1.0, 0.0]))
    assert np.allclose(groups.means[:, 1], 3 * groups.means[:, 0])
    assert groups.means[0, 0] != groups.means[1, 0]


def test_equal_rows_are_split_into_equal_halves() -> None:
    """There is no direction to split along, and none is needed."""
    groups = _group(np.full((8, 2), 7.0))
    groups.split(ONE, np.ones(2))
    assert groups.means.tolist() == [[7.0, 7.0]] * 2
    assert groups.sizes.tolist() == [4, 4]
    assert not groups.scatters.any()


def test_drawn_points_have_the_mean_and_expect_the_covariances() -> None:
    """Exactly where it is asked for, and on average elsewhere."""
    draw = np.random.default_rng(7)
    points = draw.normal(size=(50, 3)) @ draw.normal(size=(3, 3))
    groups = _group(points)
    drawn = groups.draw(ONE, 20_000, Randomness(1))[0]
    assert np.allclose(drawn.mean(axis=0), points.mean(axis=0))
    assert np.allclose(np.cov(drawn.T), np.cov(points.T, bias=True), rtol=0.05, atol=0.05)
    loose = groups.draw(ONE, 50, Randomness(1), exact=False)[0]
    assert not np.allclose(loose.mean(axis=0), points.mean(axis=0), rtol=1e-3)


def test_halves_of_a_skewed_column_stay_within_its_limits() -> None:
    """Means of halves do not fall below a bound, and counts, sums and sums of products are still those of the group."""
    rng = np.random.default_rng(4)
    points = np.column_stack([rng.exponential(size=(40, 1)) ** 3, rng.normal(size=(40, 1))])
    free, bounded = GroupStatistics(2), GroupStatistics(2)
    for groups in (free, bounded):
        groups.append(points)
    limits = np.array([0.0, -np.inf]), np.array([np.inf, np.inf])
    free.split(np.array([0]), np.ones(2))
    bounded.split(np.array([0]), np.ones(2), limits)
    assert free.means[:, 0].min() < 0
    assert bounded.means[:, 0].min() >= 0
    assert bounded.sizes.tolist() == [20, 20]
    whole = [
        sum(20 * np.outer(m, m) + 20 * c for m, c in zip(g.means, g.covariances(np.arange(2)), strict=True))
        for g in (free, bounded)
    ]
    assert np.allclose(bounded.means.mean(axis=0), points.mean(axis=0))
    assert np.allclose(whole[1], points.T @ points)
    assert np.allclose(whole[0], whole[1])
