"""Elimination modulo secret primes says what exact rationals say."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.auditor.sum_elimination import SumElimination, draw_prime, is_prime, times
from sfumato.core.randomness import Randomness

Row = list[int]


def eliminate(rows: list[Row]) -> list[list[Fraction]]:
    """Bring rows into reduced echelon form, in exact rationals."""
    lines = [[Fraction(value) for value in row] for row in rows]
    done = 0
    for column in range(len(rows[0]) if rows else 0):
        found = next((place for place in range(done, len(lines)) if lines[place][column]), None)
        if found is None:
            continue
        lines[done], lines[found] = lines[found], lines[done]
        lines[done] = [value / lines[done][column] for value in lines[done]]
        for place, line in enumerate(lines):
            if place != done and line[column]:
                lines[place] = [a - line[column] * b for a, b in zip(line, lines[done], strict=True)]
        done += 1
    return lines[:done]


def determined(rows: list[Row]) -> list[bool]:
    """Say which places the rows determine: those with a line of their own in the echelon form."""
    alone = [[place for place, value in enumerate(line) if value] for line in eliminate(rows)]
    return [[place] in alone for place in range(len(rows[0]))]


def without(rows: list[Row], left_out: np.ndarray) -> list[Row]:
    """Leave columns out."""
    return [[value for value, out in zip(row, left_out, strict=True) if not out] for row in rows]


@pytest.mark.parametrize("seed", range(30))
def test_decisions_are_those_of_exact_rationals(seed: int) -> None:
    """What follows, what is determined, and what is about some blocks alone."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 12))
    sums, answered = SumElimination(count), list[Row]()
    for _ in range(20):
        query = rng.random(count) < rng.random()
        if not query.any():
            continue
        more = [*answered, query.astype(int).tolist()]
        follows = len(eliminate(more)) == len(eliminate(answered))
        assert sums.follows(query) == follows
        if follows:
            continue
        assert sums.find_determined(query).tolist() == determined(more)
        if rng.random() < 0.4:  # pivots leave a set of blocks exactly where no sum is of these alone
            kept = rng.random(count) < 0.3
            possible = len(eliminate(without(answered, kept))) == len(answered)
            assert sums.release(kept) == possible
            if possible:
                still = len(eliminate(without(more, kept))) == len(more)
                assert sums.stays_outside(query, kept) == still
        if not any(determined(more)):
            sums.add(query)
            answered.append(query.astype(int).tolist())
        assert sums.rank == len(answered)


@pytest.mark.parametrize("seed", range(8))
def test_blocks_that_part_and_come_are_as_if_they_had_always_been_there(seed: int) -> None:
    """Columns are doubled and added as rows leave and come."""
    rng = np.random.default_rng(seed)
    sums, answered = SumElimination(5), list[Row]()
    width = 5
    for _ in range(4):
        for _ in range(2):
            query = rng.random(width) < 0.5
            more = [*answered, query.astype(int).tolist()]
            assert sums.follows(query) == (len(eliminate(more)) == len(eliminate(answered)))
            sums.add(query)
            answered = more if query.any() else answered
        parted = sorted(rng.choice(width, 2, replace=False).tolist())
        sums.split(parted)
        sums.append(1)
        answered = [[*row, *(row[place] for place in parted), 0] for row in answered]
        width += 3
        sums = SumElimination.from_arrays(sums.as_arrays("x."), "x.")
        probe = rng.random(width) < 0.5
        if not sums.follows(probe):
            assert sums.find_determined(probe).tolist() == determined([*answered, probe.astype(int).tolist()])


def test_a_value_that_small_primes_miss_is_found() -> None:
    """Sums of the three pairs of three determine 2x: that is nothing modulo 2, and no large prime divides 2."""
    sums = SumElimination(3)
    for pair in ([1, 1, 0], [1, 0, 1]):
        assert not sums.find_determined(np.array(pair, bool)).any()
        sums.add(np.array(pair, bool))
    assert sums.find_determined(np.array([0, 1, 1], bool)).all()


@given(st.lists(st.integers(0, 2**61 - 2), min_size=1, max_size=20), st.integers(0, 2**61 - 2))
@settings(max_examples=200, deadline=None)
def test_products_are_exact(numbers: list[int], factor: int) -> None:
    """As Python multiplies."""
    prime = 2**61 - 1
    found = times(np.array(numbers, np.uint64), factor, prime).tolist()
    assert found == [number * factor % prime for number in numbers]


def test_primes_are_random_and_of_61_bits() -> None:
    """And they are primes."""
    drawn = {draw_prime(Randomness()) for _ in range(20)}
    assert len(drawn) == 20
    assert all(prime.bit_length() == 61 for prime in drawn)
    assert [number for number in range(200) if is_prime(number)] == [
        number for number in range(2, 200) if all(number % other for other in range(2, number))
    ]
    assert not is_prime(3215031751)  # a strong pseudoprime to the bases 2, 3, 5 and 7
    assert not is_prime((2**31 - 1) * (2**30 - 35))
