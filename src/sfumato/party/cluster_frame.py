"""Rows as points for clustering: columns of whole steps as coordinates, nearest centres, and sums of clusters."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.party.public_domains import NumberBounds

Points = NDArray[np.float64]


@dataclass(frozen=True)
class ClusterFrame:
    """How columns become coordinates: steps divided by steps per unit, or by the width of the bounds.

    >>> frame = ClusterFrame((NumberBounds("age", 0, 100, 0), NumberBounds("pay", 0, 5000, 1)), scaled=True)
    >>> frame.points(np.array([[50, 2500]])).tolist(), frame.farthest
    ([[0.5, 0.5]], 2.0)
    >>> frame.describe(np.array([0.25, 0.5]))
    {'age': 25.0, 'pay': 250.0}
    """

    domains: tuple[NumberBounds, ...]
    scaled: bool

    @property
    def divisors(self) -> NDArray[np.float64]:
        """What steps are divided by, for each column."""
        return np.array([float(one.steps if self.scaled else 10**one.decimals) for one in self.domains])

    @property
    def farthest(self) -> float:
        """The largest squared distance of two points within the bounds."""
        return float(((np.array([one.steps for one in self.domains]) / self.divisors) ** 2).sum())

    def points(self, steps: NDArray[np.int64]) -> Points:
        """Turn rows int64[n, columns] into points."""
        points: Points = steps / self.divisors
        return points

    def place(self, start: Sequence[Sequence[float]]) -> Points:
        """Turn centres in the columns' own numbers into points."""
        lowest = np.array([one.least / 10**one.decimals for one in self.domains])
        units = np.array([float(10**one.decimals) for one in self.domains])
        centres: Points = (np.array(start, dtype=np.float64) - lowest) * units / self.divisors
        return centres

    def means(self, total: NDArray[np.int64], before: Points) -> Points:
        """Give the centres of clusters from sizes and sums, int64[k, 1 + columns]; an empty one stays where it was."""
        sizes = total[:, :1]
        return np.where(sizes > 0, total[:, 1:] / np.maximum(sizes, 1) / self.divisors, before)

    def describe(self, centre: Points) -> dict[str, float]:
        """Give a centre in the columns' own numbers, by name."""
        steps = (centre * self.divisors).tolist()
        return {domain.column: domain.in_units(own) for domain, own in zip(self.domains, steps, strict=True)}


def nearest_centres(points: Points, centres: Points) -> NDArray[np.int64]:
    """Find the nearest centre of each point, the first of several: float64[n, d] and float64[k, d] to int64[n].

    Each row is worked out by itself, column after column, so that it goes to the same centre whatever rows are beside
    it; a product of matrices would not promise that.
    """
    nearest, least = np.zeros(len(points), dtype=np.int64), np.full(len(points), math.inf)
    for number, centre in enumerate(centres):
        distance = distances_to(points, centre)
        nearer = distance < least
        nearest[nearer], least[nearer] = number, distance[nearer]
    return nearest


def squared_distances(points: Points, centres: Points) -> Points:
    """Give the squared distance of each point to its nearest centre."""
    return distances_to(points, centres[nearest_centres(points, centres)])


def distances_to(points: Points, centre: Points) -> Points:
    """Give squared distances of points float64[n, d] to one centre, or each to its own."""
    total = np.zeros(len(points))
    for column in range(points.shape[1]):
        total += (points[:, column] - centre[..., column]) ** 2
    return total


def sums_by_cluster(steps: NDArray[np.int64], nearest: NDArray[np.int64], clusters: int) -> NDArray[np.int64]:
    """Count and add up the rows of each cluster: int64[k, 1 + columns]."""
    sums = np.zeros((clusters, 1 + steps.shape[1]), dtype=np.int64)
    sums[:, 0] = np.bincount(nearest, minlength=clusters)
    for column in range(steps.shape[1]):
        np.add.at(sums[:, 1 + column], nearest, steps[:, column])
    return sums
