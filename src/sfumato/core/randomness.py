"""Randomness that protects: the order of rows and the pseudonyms of persons.

It comes from the operating system. A seed replaces it for tests and papers only, and is recorded in the
private audit; nothing else in the library draws random numbers to protect anybody.
"""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Randomness:
    """A source of 64-bit words: the operating system, or a seed.

    With a seed each `use` has words of its own, so that what is drawn for one says nothing of what is for another.

    >>> sorted(Randomness(seed=1).permutation(4).tolist())
    [0, 1, 2, 3]
    >>> Randomness(1).words(2).tolist() == Randomness(1, "buckets").words(2).tolist()
    False
    """

    def __init__(self, seed: int | None = None, use: str = "") -> None:
        self._seeded = None if seed is None else np.random.default_rng([seed, *use.encode()])

    def words(self, count: int) -> NDArray[np.uint64]:
        """Uniform random words."""
        if self._seeded is not None:
            return self._seeded.integers(0, 2**64, size=count, dtype=np.uint64)
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)

    def digits(self, count: int, base: int) -> NDArray[Any]:
        """Uniform random digits below `base`, a power of two of at most 2^16, as narrow as it allows.

        >>> Randomness(seed=1).digits(5, 4).max() < 4
        np.True_
        """
        bits = 8 if base <= 1 << 8 else 16
        digits: NDArray[Any] = self.words(-(-count * bits // 64)).view(f"u{bits // 8}")[:count].copy()
        digits >>= digits.dtype.type(bits - (base.bit_length() - 1))
        return digits

    def permutation(self, count: int) -> NDArray[np.int64]:
        """A random order of ``count`` things: random words with the places in their low bits, sorted."""
        bits = np.uint64(max(count - 1, 1).bit_length())
        keys = self.words(count) >> bits
        keys <<= bits
        keys |= np.arange(count, dtype=np.uint64)
        keys.sort()
        keys &= (np.uint64(1) << bits) - np.uint64(1)
        return keys.view(np.int64)

    def pseudonyms(self, count: int) -> list[str]:
        """Different random names, none of which says anything of a person."""
        names: dict[str, Any] = {}
        while len(names) < count:
            names |= dict.fromkeys(f"p{word:016x}" for word in self.words(count - len(names)).tolist())
        return list(names)
