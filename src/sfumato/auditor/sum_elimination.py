"""Which values the answered sums determine: elimination modulo two secret random primes of 61 bits.

A block is rows that no query can tell apart, so an answered sum is a 0/1 vector over blocks, and what follows from
all of them is their row space. The value of a single row is determined exactly where its unit vector lies in that
space, that is, where every vector of the kernel is 0 there. So what is kept is the kernel, in echelon form: every
answered sum that says something new turns one free block into a pivot. Two random vectors of the kernel, the probes,
decide about a query in one pass over the blocks, before anything is answered.

**How often it errs.** Exact rationals would have numbers of thousands of digits. Modulo a prime p two things may go
wrong on the side that matters: a value is determined, and modulo p it is not; or a sum seems to follow from earlier
ones, and does not. Both need p to divide a certain minor, not 0, of the matrix of answered queries with one line more.
A 0/1 matrix of order c has minors of at most (c + 1)^((c + 1)/2) / 2^c (Hadamard), below 2^21,000 for 4,000 blocks, so
at most 350 primes of 61 bits divide one. Primes between 2^60 and 2^61 are more than 2^54 (they are one in 42), so one
that is drawn at random divides it with a chance below 2^-45, and two independent ones both do with one below 2^-90.
The random probes err by 0 with a chance of at most 2/p each, which denies too much, or by two probes of each prime at
once, below 2^-200, which takes a new sum for an old one. The path that is taken with exact decisions does not depend
on the primes, and a million queries over 4,000 blocks meet fewer than 2^33 such minors on it: the chance that any
query of a ledger's life is decided wrongly is below 2^-57, and so below the 2^-40 that is promised. Primes and probes
are drawn from the operating system and never leave the ledger.

References: F. Chin and G. Özsoyoğlu, Auditing and inference control in statistical databases (1982); J. Kleinberg,
C. Papadimitriou and P. Raghavan, Auditing Boolean attributes (2003).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.core.randomness import Randomness

Words = NDArray[np.uint64]
Blocks = NDArray[np.bool_]
"""A query as a set of blocks: bool[blocks]."""

MOST_EXCHANGES = 64
"""Pivots that may have to leave the blocks of maxima and minima for one query; a query that asks for more is denied."""

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
"""With these bases the test of Miller and Rabin is exact for all numbers below 2^64."""


class SumElimination:
    """The kernel of the answered sums over some blocks, modulo two secret primes.

    >>> sums = SumElimination(4)
    >>> everybody, three = np.array([True] * 4), np.array([True, True, True, False])
    >>> sums.find_determined(everybody).tolist()
    [False, False, False, False]
    >>> sums.add(everybody)
    >>> sums.follows(everybody), sums.follows(three)
    (True, False)
    >>> sums.find_determined(three).tolist()  # who is left out of the three would be known
    [False, False, False, True]
    """

    def __init__(self, blocks: int, randomness: Randomness | None = None) -> None:
        source = randomness or Randomness()
        first = draw_prime(source)
        second = first
        while second == first:
            second = draw_prime(source)
        self._fields = [_Kernel.whole(prime, blocks, source) for prime in (first, second)]
        self._source = source

    @property
    def rank(self) -> int:
        """How many answered sums say something that the others do not."""
        return max(len(field.pivots) for field in self._fields)

    def follows(self, query: Blocks) -> bool:
        """Tell whether a sum can be worked out from those that were answered."""
        return all(not any(field.probe_products(query)) for field in self._fields)

    def find_determined(self, query: Blocks) -> Blocks:
        """Say which blocks' sums would be determined if this one were answered: bool[blocks]."""
        determined = np.zeros(len(query), np.bool_)
        for field in self._fields:
            determined |= field.zeros_after(query)
        return determined

    def stays_outside(self, query: Blocks, kept_free: Blocks) -> bool:
        """Tell whether with this sum still none follows that is of blocks of `kept_free` alone; none may by now."""
        return all(field.has_pivot_outside(query, kept_free) for field in self._fields)

    def add(self, query: Blocks, kept_free: Blocks | None = None) -> None:
        """Take the sum as answered; its pivot is none of the blocks of `kept_free`."""
        for field in self._fields:
            field.eliminate(query, kept_free)

    def release(self, blocks: Blocks, most: int | None = MOST_EXCHANGES) -> bool:
        """Exchange pivots so that none is among some blocks; False where a sum of these alone follows.

        Then the answered sums say nothing about these blocks by themselves: whatever values they have, the others can
        make up for it. It is False, too, where that would take more than `most` exchanges.
        """
        return all(field.release(blocks, most) for field in self._fields)

    def copy(self) -> Self:
        """Copy it, to try something."""
        other = object.__new__(type(self))
        other._fields, other._source = [field.copy() for field in self._fields], self._source
        return other

    def split(self, blocks: Sequence[int]) -> None:
        """Part each of some blocks in two: the new part is numbered behind all, and stood wherever the old one did."""
        for field in self._fields:
            field.split(blocks, self._source)

    def append(self, count: int) -> None:
        """Number so many new blocks behind all, of which no sum was answered."""
        for field in self._fields:
            field.append(count, self._source)

    def as_arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """Give what it is made of, by names that start with a prefix."""
        found: dict[str, NDArray[Any]] = {}
        for place, field in enumerate(self._fields):
            found |= {
                f"{prefix}prime{place}": np.array([field.prime], np.uint64),
                f"{prefix}pivots{place}": np.array(field.pivots, np.int64),
                f"{prefix}free{place}": np.array(field.free, np.int64),
                f"{prefix}rows{place}": field.rows[: len(field.pivots), : len(field.free)],
                f"{prefix}probes{place}": field.probes,
            }
        return found

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], prefix: str) -> Self:
        """Make it of what `as_arrays` gave."""
        self = object.__new__(cls)
        self._source = Randomness()
        self._fields = [
            _Kernel(
                int(arrays[f"{prefix}prime{place}"][0]),
                arrays[f"{prefix}pivots{place}"].tolist(),
                arrays[f"{prefix}free{place}"].tolist(),
                np.array(arrays[f"{prefix}rows{place}"], np.uint64),
                np.array(arrays[f"{prefix}probes{place}"], np.uint64),
            )
            for place in range(2)
        ]
        return self


def draw_prime(source: Randomness) -> int:
    """Draw a prime between 2^60 and 2^61, each with the same chance.

    >>> prime = draw_prime(Randomness())
    >>> prime.bit_length(), is_prime(prime)
    (61, True)
    """
    while True:
        for word in source.words(64).tolist():
            candidate = (1 << 60) | (word >> 4) | 1
            if is_prime(candidate):
                return int(candidate)


def is_prime(number: int) -> bool:
    """Tell whether a number below 2^64 is a prime (Miller and Rabin, with bases that leave no doubt).

    >>> [number for number in range(30) if is_prime(number)]
    [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
    """
    if number < 2 or any(number % base == 0 for base in _WITNESSES):
        return number in _WITNESSES
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in _WITNESSES:
        power = pow(base, odd, number)
        if power in {1, number - 1}:
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True


class _Kernel:
    """The answered sums modulo one prime, in echelon form.

    Line i says that x[pivots[i]] + sum over j of rows[i, j] * x[free[j]] is known: rows is uint64[r, f] with numbers
    below the prime, in the corner of an array that has room for more. So the kernel is what is chosen freely on the
    free blocks. `probes`, uint64[2, blocks], are two independent uniform vectors of the kernel: a linear map onto a
    subspace leaves uniform vectors uniform, so they stay that through every step.
    """

    def __init__(self, prime: int, pivots: list[int], free: list[int], rows: Words, probes: Words) -> None:
        self.prime, self.pivots, self.free, self.rows, self.probes = prime, pivots, free, rows, probes

    @classmethod
    def whole(cls, prime: int, blocks: int, source: Randomness) -> "_Kernel":
        probes = np.stack([draw_below(prime, blocks, source) for _ in range(2)])
        return cls(prime, [], list(range(blocks)), np.zeros((0, blocks), np.uint64), probes)

    def copy(self) -> "_Kernel":
        r, f = len(self.pivots), len(self.free)
        return _Kernel(self.prime, self.pivots[:], self.free[:], self.rows[:r, :f].copy(), self.probes.copy())

    def probe_products(self, query: Blocks) -> list[int]:
        return [self._add_up(probe[query]) for probe in self.probes]

    def _add_up(self, numbers: Words) -> int:
        # up to 4,000 numbers of 61 bits do not fit into a word: halves do
        return (int((numbers >> _HALF).sum()) * 2**32 + int((numbers & _LOW).sum())) % self.prime

    def zeros_after(self, query: Blocks) -> Blocks:
        """Say where a random vector of the kernel that is orthogonal to the query is 0.

        (q·b) a - (q·a) b is such a vector for the probes a and b, and is 0 at a block that is not determined with a
        chance of 2/p at most, as a polynomial of degree 2 in what was drawn (Schwartz and Zippel).
        """
        first, second = self.probe_products(query)
        if not first and not second:
            return np.zeros(len(query), np.bool_)  # it follows, and says nothing new
        one, other = times(self.probes[0], second, self.prime), times(self.probes[1], first, self.prime)
        zeros: Blocks = one == other
        return zeros

    def _residue(self, query: Blocks) -> Words:
        """Give the query's product with each vector of the kernel's basis: uint64[f], all 0 where it follows."""
        r, f = len(self.pivots), len(self.free)
        lines = self.rows[:r, :f][query[self.pivots]] if r else self.rows[:0, :f]
        high, low = (lines >> _HALF).sum(axis=0), (lines & _LOW).sum(axis=0)  # at most 4,000 halves each
        known = _reduce(times(high, 2**32, self.prime) + low % np.uint64(self.prime), self.prime)
        own = query[self.free].astype(np.uint64)
        return _reduce(own + (np.uint64(self.prime) - known), self.prime)

    def has_pivot_outside(self, query: Blocks, kept_free: Blocks) -> bool:
        residue = self._residue(query)
        return not residue.any() or bool((residue[~kept_free[self.free]] != 0).any())

    def eliminate(self, query: Blocks, kept_free: Blocks | None) -> None:
        """Turn a free block of the query, outside of `kept_free`, into a pivot; nothing where the query follows."""
        residue = self._residue(query)
        possible = residue != 0 if kept_free is None else (residue != 0) & ~kept_free[self.free]
        if not possible.any():
            return
        column = int(np.argmax(possible))
        block = self.free[column]
        # z is the vector of the basis that belongs to the block; the probes lose their share of it
        line = times(residue, pow(int(residue[column]), -1, self.prime), self.prime)
        r, f = len(self.pivots), len(self.free)
        inverse = pow(int(residue[column]), -1, self.prime)
        z = np.zeros(len(query), np.uint64)
        z[block] = 1
        if r:
            entries = self.rows[:r, column]
            z[self.pivots] = np.where(entries == 0, entries, np.uint64(self.prime) - entries)
        for probe, product in zip(self.probes, self.probe_products(query), strict=True):
            probe[:] = self._minus(probe, times(z, product * inverse % self.prime, self.prime))
        # every line loses its multiple of the new one, which then stands below all
        self._subtract_outer(self.rows[:r, column].copy(), line, leave_out=column)
        self._make_room(r + 1)
        self.rows[r, :f] = line
        self.rows[: r + 1, column] = self.rows[: r + 1, f - 1]
        self.pivots.append(block)
        self.free[column] = self.free[-1]
        self.free.pop()

    def release(self, blocks: Blocks, most: int | None) -> bool:
        inside = [place for place, block in enumerate(self.pivots) if blocks[block]]
        if most is not None and len(inside) > most:
            return False
        for place in inside:
            f = len(self.free)
            possible = (self.rows[place, :f] != 0) & ~blocks[self.free]
            if not possible.any():
                return False
            self._exchange(place, int(np.argmax(possible)))
        return True

    def _exchange(self, place: int, column: int) -> None:
        """Make a free block the pivot of a line, and its pivot free."""
        r, f, prime = len(self.pivots), len(self.free), self.prime
        inverse = pow(int(self.rows[place, column]), -1, prime)
        line = times(self.rows[place, :f], inverse, prime)
        line[column] = inverse  # of the block that was the pivot
        factors = self.rows[:r, column].copy()
        factors[place] = 0
        self.rows[:r, column] = 0
        self._subtract_outer(factors, line, leave_out=None)
        self.rows[place, :f] = line
        self.pivots[place], self.free[column] = self.free[column], self.pivots[place]

    def _subtract_outer(self, factors: Words, line: Words, *, leave_out: int | None) -> None:
        """Subtract factors[i] * line[j] from rows[i, j], where neither is 0; a few lines at a time, to stay in cache.

        Shoup's product: with w' = floor(w 2^64 / p) the quotient of a w by p is the upper half of a w', or one less.
        """
        lines, columns = np.flatnonzero(factors), np.flatnonzero(line)
        if leave_out is not None:
            columns = columns[columns != leave_out]
        if not len(lines) or not len(columns):
            return
        multiplier = line[columns]
        quotients = np.array([(value << 64) // self.prime for value in multiplier.tolist()], np.uint64)
        step = max(1, 16_384 // len(columns))
        dense = len(columns) == len(self.free)
        for start in range(0, len(lines), step):
            some = lines[start : start + step]
            product = _shoup(factors[some][:, None], multiplier, quotients, self.prime)
            if dense:
                self.rows[some, : len(columns)] = self._minus(self.rows[some, : len(columns)], product)
            else:
                place = np.ix_(some, columns)
                self.rows[place] = self._minus(self.rows[place], product)

    def _minus(self, left: Words, right: Words) -> Words:
        return _reduce(left + (np.uint64(self.prime) - right), self.prime)

    def _make_room(self, lines: int) -> None:
        if lines > len(self.rows):
            f = len(self.free)
            wider = np.zeros((max(2 * lines, 16), f), np.uint64)
            wider[: lines - 1] = self.rows[: lines - 1, :f]
            self.rows = wider

    def _with_columns(self, columns: Words) -> None:
        r, f = len(self.pivots), len(self.free)
        self.rows = np.concatenate([self.rows[:r, :f], columns], axis=1)

    def split(self, blocks: Sequence[int], source: Randomness) -> None:
        r = len(self.pivots)
        line_of, column_of = ({block: place for place, block in enumerate(some)} for some in (self.pivots, self.free))
        columns = np.zeros((r, len(blocks)), np.uint64)
        for place, block in enumerate(blocks):
            if block in column_of:
                columns[:, place] = self.rows[:r, column_of[block]]
            else:
                columns[line_of[block], place] = 1
        self._with_columns(columns)
        before = self.probes.shape[1]
        self.free += range(before, before + len(blocks))
        parts = np.stack([draw_below(self.prime, len(blocks), source) for _ in self.probes])
        self.probes[:, blocks] = self._minus(self.probes[:, blocks], parts)
        self.probes = np.concatenate([self.probes, parts], axis=1)

    def append(self, count: int, source: Randomness) -> None:
        self._with_columns(np.zeros((len(self.pivots), count), np.uint64))
        before = self.probes.shape[1]
        self.free += range(before, before + count)
        drawn = np.stack([draw_below(self.prime, count, source) for _ in self.probes])
        self.probes = np.concatenate([self.probes, drawn], axis=1)


def draw_below(prime: int, count: int, source: Randomness) -> Words:
    """Draw numbers below a prime of 61 bits, each with the same chance."""
    drawn = np.empty(0, np.uint64)
    while len(drawn) < count:
        words = source.words(2 * (count - len(drawn)) + 8) >> np.uint64(3)
        drawn = np.concatenate([drawn, words[words < np.uint64(prime)]])
    return drawn[:count]


def times(numbers: Words, factor: int, prime: int) -> Words:
    """Multiply numbers by a factor modulo a prime of at most 61 bits, exactly.

    >>> prime = 2**61 - 1
    >>> times(np.array([prime - 1, 5], np.uint64), prime - 1, prime).tolist()
    [1, 2305843009213693946]
    """
    factor %= prime
    return _shoup(numbers, np.uint64(factor), np.uint64((factor << 64) // prime), prime)


def _shoup(numbers: Words, factors: Any, quotients: Any, prime: int) -> Words:
    """Multiply modulo a prime of 61 bits; the upper half of a product of words is put together from halves of words.

    `numbers` are below 2^61, which keeps every sum of halves within a word; products wrap around, and their
    difference, below twice the prime, is right.
    """
    high, low = numbers >> _HALF, numbers & _LOW
    upper, lower = quotients >> _HALF, quotients & _LOW
    middle = high * lower + ((low * lower) >> _HALF)
    rest = low * upper + (middle & _LOW)
    quotient = high * upper + (middle >> _HALF) + (rest >> _HALF)
    return _reduce(numbers * factors - quotient * np.uint64(prime), prime)


def _reduce(numbers: Words, prime: int) -> Words:
    """Bring numbers below twice a prime below it: what would be below 0 wraps around, and is the larger one."""
    reduced: Words = np.minimum(numbers, numbers - np.uint64(prime))
    return reduced
