"""Packing tuples: nothing is lost, and counting is counting, however wide the columns are."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.arrays import narrow_codes
from sfumato.core.keys import count_keys, match_tuples, number_tuples, pack_tuples

WIDTHS = st.lists(st.sampled_from([1, 2, 7, 300, 70_000, 2**31]), min_size=1, max_size=8)


@st.composite
def columns(draw: st.DrawFn) -> tuple[list[Any], list[int]]:
    """Columns of codes below their widths, few different ones so that tuples repeat; up to 248 bits in all."""
    widths, rows = draw(WIDTHS), draw(st.integers(1, 30))
    codes = [st.sampled_from(sorted({0, width // 2, width - 1})) for width in widths]
    cells = [draw(st.lists(code, min_size=rows, max_size=rows)) for code in codes]
    return [narrow_codes(np.array(part), width) for part, width in zip(cells, widths, strict=True)], widths


def tuples(parts: list[Any]) -> list[tuple[int, ...]]:
    """The columns as tuples."""
    return list(zip(*(part.tolist() for part in parts), strict=True))


@given(columns())
def test_what_is_packed_can_be_unpacked(table: tuple[list[Any], list[int]]) -> None:
    """Equal tuples have equal keys, different ones different keys, and keys say which tuple it was."""
    packed = pack_tuples(*table)
    assert tuples(packed.unpack(packed.keys)) == tuples(table[0])
    assert len(set(packed.keys.tolist())) == len(set(tuples(table[0])))
    assert ((packed.keys >= 0) & (packed.keys < packed.span)).all()


@given(columns(), st.sampled_from([1, 1000, 2**40]))
def test_counting(table: tuple[list[Any], list[int]], largest: int) -> None:
    """Each key has as many rows as tuples have it, or the sum of their weights, in ascending order."""
    packed = pack_tuples(*table)
    found = count_keys(packed)
    assert dict(zip(tuples(packed.unpack(found.keys)), found.counts.tolist(), strict=True)) == Counter(tuples(table[0]))
    assert (np.diff(found.keys) > 0).all()
    weights = np.arange(len(packed.keys), dtype=np.int64) % 5 * largest + 1
    heavy = count_keys(packed, weights)
    expected: Counter[tuple[int, ...]] = Counter()
    for one, weight in zip(tuples(table[0]), weights.tolist(), strict=True):
        expected[one] += weight
    assert dict(zip(tuples(packed.unpack(heavy.keys)), heavy.counts.tolist(), strict=True)) == expected


@pytest.mark.slow
@given(columns(), st.data())
def test_numbers_and_membership(table: tuple[list[Any], list[int]], data: st.DataObject) -> None:
    """Tuples are numbered densely in the order of their keys, and those that were chosen are found again."""
    packed = pack_tuples(*table)
    numbers, size = number_tuples(packed)
    known = sorted(set(packed.keys.tolist()))
    assert size == len(known)
    assert [known[one] for one in numbers] == packed.keys.tolist()
    some = np.array(data.draw(st.lists(st.booleans(), min_size=len(numbers), max_size=len(numbers))), dtype=np.bool_)
    numbered, different = number_tuples(packed, some)
    assert (numbered[~some] == -1).all()
    assert numbered[some].tolist() == number_tuples(replace(packed, keys=packed.keys[some]))[0].tolist()
    assert different == len(set(packed.keys[some].tolist()))
    chosen = data.draw(st.lists(st.sampled_from(known), unique=True))
    found = match_tuples(table[0], packed.unpack(np.array(chosen, dtype=np.int64)), table[1])
    assert found.tolist() == [key in chosen for key in packed.keys.tolist()]


def test_many_rows_in_few_and_in_many_keys() -> None:
    """Dense tables, sorts of narrow and of wide words and blocks of rows all count the same."""
    rng = np.random.default_rng(1)
    for widths in ([3, 4], [5000, 5000], [2**20, 2**20], [2**31, 2**31]):
        parts = [narrow_codes(rng.integers(0, width, 70_000) // (width // 3) * (width // 3), width) for width in widths]
        packed = pack_tuples(parts, widths)
        found = count_keys(packed)
        keys, expected = np.unique(packed.keys, return_counts=True)
        assert (found.keys.tolist(), found.counts.tolist()) == (keys.tolist(), expected.tolist())
        weighted = count_keys(replace(packed, keys=keys), expected)
        assert weighted.counts.tolist() == expected.tolist()


@pytest.mark.parametrize(("width", "kind"), [(1, "uint8"), (256, "uint8"), (257, "uint16"), (65537, "uint32")])
def test_narrow(width: int, kind: str) -> None:
    """Codes take as few bytes as their largest needs."""
    assert narrow_codes(np.array([0, width - 1]), width).dtype == kind
    assert narrow_codes(np.array([0, width - 1]), width).tolist() == [0, width - 1]


@pytest.mark.parametrize("widths", [[3, 3], [1000, 6], [2**20, 2**20], [2**33, 2**33], [2**31] * 5])
def test_no_tuples_at_all(widths: list[int]) -> None:
    """Where there is nothing to count nothing is counted, however wide the columns are."""
    none = np.zeros(0, dtype=np.int64)
    packed = pack_tuples([none] * len(widths), widths)
    for counted in (count_keys(packed), count_keys(packed, none)):
        assert (counted.keys.tolist(), counted.counts.tolist()) == ([], [])
    numbers, different = number_tuples(packed)
    assert (numbers.tolist(), different) == ([], 0)
    assert [part.tolist() for part in packed.unpack(packed.keys)] == [[]] * len(widths)
    assert [part.tolist() for part in packed.unpack_codes(packed.keys)] == [[]] * len(widths)
    assert match_tuples([none] * len(widths), [none] * len(widths), widths).tolist() == []
