"""Dynamic condensation beside its plain definition, and the nearest mean beside brute force."""

import numpy as np
import pytest

from sfumato.condense import dynamic_condensation
from sfumato.condense.dynamic_condensation import (
    DynamicCondensation,
    NearestMean,
    find_nearest,
    multiply_in_pieces,
)


def _plain(points: np.ndarray, k: int) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """The definition, one row after another, with sums and sums of products as the chapter has them."""
    first = points[:k]
    groups = [(k, first.sum(axis=0), first.T @ first)]

    def measure() -> np.ndarray:
        rows = sum(size for size, _, _ in groups)
        mean = sum(sums for _, sums, _ in groups) / rows
        variances = np.diagonal(sum(products for _, _, products in groups)) / rows - mean**2
        return np.where(variances > 1e-12, 1 / np.sqrt(np.maximum(variances, 1e-12)), 0.0)

    weights = measure()
    for row in points[k:]:
        distances = [(((row - sums / size) * weights) ** 2).sum() for size, sums, _ in groups]
        nearest = int(np.argmin(distances))
        size, sums, products = groups[nearest]
        size, sums, products = size + 1, sums + row, products + np.outer(row, row)
        groups[nearest] = (size, sums, products)
        if size < 2 * k:
            continue
        if (len(groups) + 1).bit_length() > len(groups).bit_length():
            weights = measure()
        mean = sums / size
        covariance = products / size - np.outer(mean, mean)  # 20.6
        values, vectors = np.linalg.eigh(covariance * np.outer(weights, weights))
        value, vector = values[-1], vectors[:, -1]
        vector = vector * np.sign(vector[np.abs(vector).argmax()])
        quarter = np.sqrt(12 * value) / 4 * vector / weights  # 20.8
        values[-1] /= 4
        child = (vectors * values) @ vectors.T / np.outer(weights, weights)  # 20.9
        for place, middle in ((nearest, mean + quarter), (len(groups), mean - quarter)):
            half = (k, k * middle, k * (child + np.outer(middle, middle)))
            groups[place:] = [half, *groups[place + 1 :]]
    return groups


@pytest.mark.parametrize("seed", range(5))
def test_batches_of_one_row_are_the_plain_definition(seed: int) -> None:
    """Groups, their order and all their statistics are those of a loop over rows."""
    draw = np.random.default_rng(seed)
    points = draw.normal(size=(400, 3)) @ draw.normal(size=(3, 3)) + draw.normal(size=3) * 3
    k = 2 + 2 * seed
    stream = DynamicCondensation.from_rows(points[:k], k)
    for row in points[k:]:
        stream.add(row[None])
    expected = _plain(points, k)
    every = np.arange(stream.groups.count)
    assert stream.groups.sizes.tolist() == [size for size, _, _ in expected]
    assert np.allclose(stream.groups.sums(every), [sums for _, sums, _ in expected])
    assert np.allclose(stream.groups.sums_of_products(every), [products for _, _, products in expected])


@pytest.mark.parametrize("batch", [1, 7, 100, 5000])
def test_sizes_are_k_to_2k_minus_1_and_nothing_is_lost(batch: int) -> None:
    """After every batch, with equal rows and outliers among them; sums are those of all rows."""
    draw = np.random.default_rng(1)
    points = np.concatenate([draw.normal(size=(1500, 4)), np.ones((500, 4)), 100 * draw.normal(size=(10, 4))])
    points = points[draw.permutation(len(points))]
    stream = DynamicCondensation.from_rows(points[:10], 10)
    for start in range(10, len(points), batch):
        stream.add(points[start : start + batch])
        assert stream.groups.sizes.min() >= 10
        assert stream.groups.sizes.max() <= 19
    every = np.arange(stream.groups.count)
    assert stream.groups.sizes.sum() == len(points)
    assert np.allclose(stream.groups.sums(every).sum(axis=0), points.sum(axis=0))
    assert np.allclose(stream.groups.sums_of_products(every).sum(axis=0), points.T @ points)


def test_a_round_looks_at_the_means_as_it_begins() -> None:
    """Of a batch of three rows and a group with room for two, the third looks again when the group is split."""
    stream = DynamicCondensation.from_rows(np.array([[1.0], [2.0]]), k=2)
    stream.add(np.array([[8.0], [9.0], [1.0]]))
    middle, quarter = 5.0, np.sqrt(12 * 12.5) / 4
    assert stream.groups.sizes.tolist() == [2, 3]
    assert stream.groups.means[0, 0] == pytest.approx(middle + quarter)
    assert stream.groups.means[1, 0] == pytest.approx((2 * (middle - quarter) + 1) / 3)


def test_groups_follow_a_drift() -> None:
    """A mean that moves is followed by new groups, which have their share of the rows."""
    draw = np.random.default_rng(2)
    stream = DynamicCondensation.from_rows(draw.normal(size=(20, 2)), 20)
    for step in range(40):
        stream.add(draw.normal(size=(100, 2)) + np.array([step, 0.0]))
    recent = stream.groups.means[:, 0] > 35
    share = stream.groups.sizes[recent].sum() / stream.groups.sizes.sum()
    assert stream.groups.means[:, 0].max() == pytest.approx(40, abs=2)
    assert share == pytest.approx(5 / 40, abs=0.05)


@pytest.mark.parametrize("shape", [(1, 1, 1), (27, 7, 1285), (28, 7, 1286), (60, 3, 7000), (5, 10_000, 3)])
def test_a_product_in_pieces_is_the_product(shape: tuple[int, int, int]) -> None:
    """Whatever the sizes are, all pieces are multiplied and stand where they belong."""
    lines, width, columns = shape
    draw = np.random.default_rng(lines)
    left, right = (draw.integers(-9, 9, size).astype(np.float32) for size in ((lines, width), (width, columns)))
    assert (multiply_in_pieces(left, right) == left @ right).all()


@pytest.mark.parametrize("points", ["scattered", "whole numbers", "equal"])
def test_the_nearest_mean_is_the_nearest_while_means_move(points: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the tree, with points that moved a little, a lot, and new ones; ties go to the first."""
    monkeypatch.setattr(dynamic_condensation, "_MANY", 16)
    draw = np.random.default_rng(3)

    def rows(count: int) -> np.ndarray:
        drawn = draw.normal(size=(count, 3))
        return drawn if points == "scattered" else np.rint(2 * drawn) if points == "whole numbers" else drawn * 0 + 1

    means = rows(300)
    nearest = NearestMean(means.copy())
    for _ in range(30):
        asked = rows(40)
        brute = ((asked[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
        assert nearest.find(asked).tolist() == brute.tolist()
        moved = np.append(draw.choice(len(means), 20, replace=False), np.arange(len(means), len(means) + 3))
        means = np.concatenate([means, np.zeros((3, 3))])
        means[moved] = rows(23) if points != "scattered" else means[moved] + 0.05 * draw.normal(size=(23, 3))
        nearest.move(moved, means[moved])


def test_every_point_is_compared_where_single_precision_cannot_tell() -> None:
    """Numbers that it cannot hold, and differences that it cannot see."""
    points = np.array([[1e30, 0.0], [1.0, 1e-9], [1.0, 0.0], [1e60, 1.0]])
    rows = np.array([[1.0, 0.0], [1.0, 2e-9], [1e60, 0.0], [1e29, 0.0]])
    assert find_nearest(rows, points)[0].tolist() == [2, 1, 3, 1]
