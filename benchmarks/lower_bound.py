"""What no local recoding of ARX's rows can lose less than: `python -m benchmarks.lower_bound [--k K] [--rows N]`.

Two bounds on the NCP at a given k, both the mean over rows of what a row costs in the cheapest class that it could be
in, were it alone in the world. `nearest`: a class of k rows has k - 1 others in it, so its label covers the row and the
(k - 1)-th nearest other at least. `boxes`: the label of a class is a node of each hierarchy, so the row costs at least
the cheapest such combination above it that k rows lie under; never below the first bound, and hierarchies are needed.
No grouping has to exist that gives every row its own optimum: the best possible loss lies above both.
"""

import argparse
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from sfumato.core.arrays import FloatArray, IntArray
from sfumato.datasets import adult_arx_folder, adult_arx_policy, synthetic_adult, synthetic_adult_policy
from sfumato.encode import EncodedTable, QuasiIdentifier, encode
from sfumato.policy import load
from sfumato.recode.local.start import classes_at_node
from sfumato.table import from_frame, read_table

KS = (2, 5, 10, 25, 50, 100)
_PAIRS = 1 << 22

Bound = Callable[[EncodedTable, Sequence[int]], dict[int, float]]


def nearest(encoded: EncodedTable, ks: Sequence[int]) -> dict[int, float]:
    """For each k, average over rows the cost of a label that covers the row and its (k - 1)-th nearest other.

    A block of tuples is held against all t tuples at once: cost is float[block, t].
    """
    counts, pair_costs = encoded.tuples.counts, [_pair_costs(column) for column in encoded.quasi]
    least = np.zeros((len(ks), len(counts)))
    few = np.flatnonzero(counts < max(ks))  # the others have k - 1 equals, and cost nothing
    for block in np.array_split(few, max(len(few) * len(counts) // _PAIRS, 1)):
        cost = np.zeros((len(block), len(counts)))
        for table, codes in zip(pair_costs, encoded.tuples.quasi, strict=True):
            cost += table[codes[block]].take(codes, axis=1)
        least[:, block] = _cost_of_k_rows(cost, counts, ks)
    return _averages(least, encoded, ks)


def boxes(encoded: EncodedTable, ks: Sequence[int]) -> dict[int, float]:
    """For each k, average over rows the cost of the cheapest nodes above the row that k rows lie under."""
    costs = [_level_costs(column, codes) for column, codes in zip(encoded.quasi, encoded.tuples.quasi, strict=True)]
    least = np.full((len(ks), len(encoded.tuples)), np.inf)
    for node in product(*(range(len(levels)) for levels in costs)):
        parts = classes_at_node(encoded, node)
        size = parts.sizes.take(parts.group)
        cost = sum(levels[level] for levels, level in zip(costs, node, strict=True))
        for best, k in zip(least, ks, strict=True):
            np.minimum(best, cost, out=best, where=size >= k)
    return _averages(least, encoded, ks)


BOUNDS: dict[str, Bound] = {"nearest": nearest, "boxes": boxes}


def encode_adult(rows: int = 30_162) -> EncodedTable:
    """Read ARX's rows where they are at hand, else make rows up; all nine columns are quasi-identifiers."""
    folder = adult_arx_folder()
    policy = load(adult_arx_policy(folder) if folder else synthetic_adult_policy())
    source: Any = policy.source.path
    return encode(read_table(source, policy) if folder else from_frame(synthetic_adult(rows), policy), policy)


def _pair_costs(column: QuasiIdentifier) -> FloatArray:
    """Find what a cell costs under the lowest label of each two values, weighted: float[values, values]."""
    tree = column.hierarchy
    costs: FloatArray = np.ones((len(tree.matrix), len(tree.matrix)))
    for codes, loss in reversed(list(zip(tree.matrix.T, tree.loss, strict=True))):
        costs = np.where(codes[:, None] == codes, loss[codes][:, None], costs)
    return costs * column.weight


def _level_costs(column: QuasiIdentifier, codes: IntArray) -> list[FloatArray]:
    """Find what a cell of each tuple costs at each level, weighted: a float[tuples] per level."""
    tree = column.hierarchy
    return [loss.take(tree.matrix[:, level]).take(codes) * column.weight for level, loss in enumerate(tree.loss)]


def _cost_of_k_rows(cost: FloatArray, counts: IntArray, ks: Sequence[int]) -> FloatArray:
    """For each k and each line of costs, find the cost at which k rows are reached: float[ks, lines].

    cost: float[lines, tuples]; counts: int[tuples], the rows of each tuple. At most max(ks) tuples are needed for k
    rows, so no more of each line are sorted.
    """
    close = min(max(ks), len(counts)) - 1
    near = np.argpartition(cost, close, axis=1)[:, : close + 1]
    near = np.take_along_axis(near, np.argsort(np.take_along_axis(cost, near, 1), axis=1), 1)
    rows = np.cumsum(counts[near], axis=1)
    places = np.stack([np.minimum((rows < k).sum(axis=1), close) for k in ks], axis=1)
    return np.take_along_axis(cost, np.take_along_axis(near, places, 1), 1).T


def _averages(least: FloatArray, encoded: EncodedTable, ks: Sequence[int]) -> dict[int, float]:
    """Average over rows and attributes what each tuple costs at least: least is float[ks, tuples]."""
    weight = sum(column.weight for column in encoded.quasi)
    averages = least @ encoded.tuples.counts / (encoded.rows * weight)
    return dict(zip(ks, averages.tolist(), strict=True))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both bounds."""
    parser = argparse.ArgumentParser(prog="benchmarks.lower_bound", description="What no local recoding can beat.")
    parser.add_argument("--k", type=int, action="append", help="one or several; 2 to 100 if left out")
    parser.add_argument("--rows", type=int, default=30_162, help="made-up rows, where the real ones are not at hand")
    options = parser.parse_args(arguments)
    encoded, ks = encode_adult(options.rows), options.k or KS
    print(f"{encoded.rows:,} rows, {'real' if adult_arx_folder() else 'made up'}, {len(encoded.tuples):,} different")
    for name, bound in BOUNDS.items():
        print(f"{name}: " + ", ".join(f"k = {k} {loss:.4f}" for k, loss in bound(encoded, ks).items()))


if __name__ == "__main__":
    main()
