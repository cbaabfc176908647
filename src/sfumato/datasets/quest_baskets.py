"""Baskets as the Quest generator of IBM Almaden draws them (Agrawal and Srikant 1994, section 4.1).

A pool of patterns stands for what people buy together. Each basket is filled with patterns until it has its size, and
each pattern is corrupted a little before it goes in, since nobody buys all of what goes together. The usual name of
such a file has its figures in it: T10.I4.D100K is 100,000 baskets of ten items on average, from patterns of four.
"""

import numpy as np
from numpy.typing import NDArray


def quest_baskets(
    baskets: int = 100_000,
    *,
    size: float = 10,
    pattern_size: float = 4,
    items: int = 1000,
    patterns: int = 2000,
    seed: int = 0,
) -> list[list[int]]:
    """Draw baskets of whole numbers below `items`, each sorted.

    `size` is the mean of a basket's items (|T|), `pattern_size` that of a pattern (|I|), `patterns` how many there are
    (|L|). Half of a pattern, on average, is taken over from the one before it; patterns have weights that are
    exponential, and corruption levels with mean 0.5 and standard deviation 0.1 (variance 0.1 in the paper's words, of
    which its own program took the root). A pattern that no longer fits goes in all the same in half of the cases, and
    waits for the next basket in the others.

    >>> drawn = quest_baskets(3, seed=1)
    >>> len(drawn), all(basket == sorted(set(basket)) for basket in drawn)
    (3, True)
    """
    random = np.random.default_rng(seed)
    pool = _draw_patterns(random, patterns, pattern_size, items)
    weights = np.cumsum(random.exponential(size=patterns))
    levels = np.clip(random.normal(0.5, 0.1, patterns), 0.0, 1.0)
    sizes = np.maximum(random.poisson(size, baskets), 1)
    drawn: list[list[int]] = []
    waiting: NDArray[np.int64] | None = None
    for want in sizes.tolist():
        basket: set[int] = set()
        while len(basket) < want:
            if waiting is None:
                number = int(np.searchsorted(weights, random.random() * weights[-1]))
                pattern = pool[number]
                # items are dropped one after the other as long as a draw stays below the level
                kept = len(pattern)
                while kept and random.random() < levels[number]:
                    kept -= 1
                if not kept:
                    continue
                piece = random.permutation(pattern)[:kept]
            else:
                piece, waiting = waiting, None
            if basket and len(basket) + len(piece) > want and random.random() < 0.5:
                waiting = piece
                break
            basket.update(piece.tolist())
        drawn.append(sorted(basket))
    return drawn


def _draw_patterns(
    random: np.random.Generator, patterns: int, pattern_size: float, items: int
) -> list[NDArray[np.int64]]:
    """Draw the pool: sizes are Poisson, a share of each pattern (exponential, mean 0.5) is of the one before."""
    pool: list[NDArray[np.int64]] = []
    for length in np.clip(random.poisson(pattern_size, patterns), 1, items).tolist():
        shared: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        if pool:
            common = min(round(length * min(random.exponential(0.5), 1.0)), len(pool[-1]))
            shared = random.permutation(pool[-1])[:common]
        new = np.setdiff1d(random.choice(items, size=min(2 * length + 4, items), replace=False), shared)
        pool.append(np.concatenate([shared, random.permutation(new)[: length - len(shared)]]))
    return pool
