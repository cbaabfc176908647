"""Counting and numbering keys: each way that goes easy on memory comes to what the plain one does."""

import numpy as np
import pytest

from sfumato.core import arrays, classes, keys
from sfumato.core.arrays import draw_rows, map_pieces, sum_amounts
from sfumato.core.classes import SensitiveDomain, count_values
from sfumato.core.keys import add_lookups, collapse_tuples, count_keys, number_tuples, pack_tuples


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few keys, and everything large."""
    for module in (keys, classes):
        monkeypatch.setattr(module, "_LARGE", 0)
    monkeypatch.setattr(keys, "_BLOCK", 7)
    monkeypatch.setattr(keys, "_DENSE", 0)


@pytest.mark.parametrize("span", [3, 40, 2**40])
def test_keys_are_counted_by_weight(span: int) -> None:
    """Whether keys come in order or not, and may be consumed or not, weights are added up."""
    draw = np.random.default_rng(span)
    codes = [draw.integers(0, span, 100), draw.integers(0, 2, 100)]
    weights = draw.integers(1, 9, 100)
    expected: dict[int, int] = {}
    packed = pack_tuples(codes, [span, 2])
    for key, weight in zip(packed.keys.tolist(), weights.tolist(), strict=True):
        expected[key] = expected.get(key, 0) + weight
    for consume in (False, True):
        counted = count_keys(pack_tuples(codes, [span, 2]), weights, consume=consume)
        assert dict(zip(counted.keys.tolist(), counted.counts.tolist(), strict=True)) == expected
        assert counted.keys.tolist() == sorted(expected)
    order = np.argsort(packed.keys)
    ordered = pack_tuples([column[order] for column in codes], [span, 2])
    assert count_keys(ordered, weights[order]).counts.tolist() == counted.counts.tolist()


def test_tuples_are_numbered_and_collapsed() -> None:
    """Numbers are those of the sorted keys, those that are not chosen have none, and nothing of no weight is left."""
    draw = np.random.default_rng(1)
    widths = [5, 2**30, 2**40]  # more than fits into a word
    codes = [draw.integers(0, 4, 60) * (width // 5) for width in widths]
    chosen = draw.random(60) < 0.6
    packed = pack_tuples(codes, widths)
    known, expected = np.unique(packed.keys[chosen], return_inverse=True)
    numbers, count = number_tuples(packed, chosen)
    assert count == len(known)
    assert numbers[chosen].tolist() == expected.tolist()
    assert set(numbers[~chosen].tolist()) <= {-1}
    columns, rows = collapse_tuples(codes, widths, chosen.astype(np.int64))
    assert rows.sum() == chosen.sum()
    assert (rows > 0).all()
    assert len({tuple(line) for line in np.stack(columns, axis=1).tolist()}) == len(rows) == len(known)


def test_values_are_counted_by_class() -> None:
    """A histogram of many lines is that of few."""
    draw = np.random.default_rng(2)
    class_of, value, count = draw.integers(0, 9, 80), draw.integers(0, 3, 80), draw.integers(1, 5, 80)
    table = np.zeros((9, 3), dtype=np.int64)
    np.add.at(table, (class_of, value), count)
    found = count_values(class_of, value, count, SensitiveDomain(("a", "b", None), table.sum(axis=0)))
    assert found.count.tolist() == table[table > 0].tolist()
    assert found.class_of.tolist() == np.nonzero(table)[0].tolist()
    alone = count_values(class_of, value, None, found.domain)
    assert alone.count.sum() == 80


def test_rows_are_drawn_from_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is drawn is what would be drawn of the rows that the lines stand for."""
    monkeypatch.setattr("sfumato.core.arrays._BLOCK", 5)
    counts = np.random.default_rng(3).integers(0, 4, 40)
    lines = np.flatnonzero(counts)
    rows = np.repeat(lines, counts[lines])
    for size in (1, 10, 200):
        expected = draw_rows(rows, size, np.random.default_rng(size))
        assert draw_rows(lines, size, np.random.default_rng(size), counts).tolist() == expected.tolist()


def test_threads_count_what_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces cover all entries once, however few there are, and sums and look-ups are those of the whole."""
    draw = np.random.default_rng(3)
    monkeypatch.setattr(arrays, "_ENTRIES_PER_THREAD", 2)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(3), raising=False)
    for entries in (0, 1, 5, 6, 1000):
        pieces = map_pieces(entries, lambda piece: piece)
        assert len(pieces) == min(max(entries // 2, 1), 3)
        assert [place for piece in pieces for place in range(piece.start, piece.stop)] == list(range(entries))
        codes = [draw.integers(0, width, entries) for width in (4, 9)]
        amounts, tables = draw.integers(0, 99, entries), [draw.integers(0, 99, width) for width in (4, 9)]
        assert sum_amounts(codes[1], amounts, 9).tolist() == np.bincount(codes[1], amounts, 9).tolist()
        assert add_lookups(codes, tables).tolist() == (tables[0][codes[0]] + tables[1][codes[1]]).tolist()


def test_an_error_in_a_thread_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is lost where a piece cannot be worked on."""
    monkeypatch.setattr(arrays, "_ENTRIES_PER_THREAD", 1)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(2), raising=False)

    def work(piece: slice) -> None:
        if piece.start:
            raise MemoryError

    with pytest.raises(MemoryError):
        map_pieces(2, work)
