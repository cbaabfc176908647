"""All different sequences of so many of each: the ways to deal a bag out to rows in order."""

from functools import lru_cache
from itertools import combinations
from math import factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray


def arrangements_of(counts: tuple[int, ...]) -> int:
    """How many different sequences there are of so many of each.

    >>> arrangements_of((2, 1))
    3
    """
    return factorial(sum(counts)) // prod(factorial(one) for one in counts)


@lru_cache(maxsize=64)
def arrangements(counts: tuple[int, ...]) -> NDArray[Any]:
    """All different sequences of so many of each, a line each.

    >>> arrangements((2, 1)).tolist()
    [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    """
    total = sum(counts)
    lines = np.full((1, total), -1, dtype=np.int64)
    left = total
    for symbol, times in enumerate(counts):
        places = np.array(list(combinations(range(left), times)), dtype=np.int64).reshape(-1, times)
        free = np.nonzero(lines < 0)[1].reshape(len(lines), left)
        chosen = free[:, places].reshape(-1, times)
        lines = np.repeat(lines, len(places), axis=0)
        np.put_along_axis(lines, chosen, symbol, axis=1)
        left -= times
    return lines
