"""Rows in random buckets: none is lost, codes are right, and every order is equally likely."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.core.arrow import arrow_numbers
from sfumato.core.keys import pack_tuples
from sfumato.core.randomness import Randomness
from sfumato.core.tuple_packer import KeyCounter, TuplePacker
from sfumato.engines import row_spool
from sfumato.engines.row_coder import CountedValues, RowCoder, code_values
from sfumato.engines.row_spool import spool_rows

_CELLS = st.none() | st.sampled_from(["", "a", "b", "ab", "*", "é"])


def _batches(table: Any, sizes: list[int]) -> Iterator[Any]:
    start = 0
    for size in [*sizes, table.num_rows]:
        piece = table.slice(start, size).combine_chunks()
        start += piece.num_rows
        if piece.num_rows:
            yield piece.to_batches()[0]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    rows=st.lists(st.tuples(_CELLS, _CELLS, st.none() | st.integers(-5, 5)), min_size=1, max_size=60),
    sizes=st.lists(st.integers(1, 20), max_size=4),
    coded_text=st.booleans(),
)
def test_rows_come_back(tmp_path: Path, rows: list[Any], sizes: list[int], *, coded_text: bool) -> None:
    """Whatever the batches, and whether text comes as codes, each row is in one bucket, with its cells."""
    first, second, number = zip(*rows, strict=True)
    kind = pa.dictionary(pa.int32(), pa.string()) if coded_text else pa.string()
    table = pa.table(
        {"q": pa.array(first, pa.string()).cast(kind), "p": pa.array(second, pa.string()), "n": pa.array(number)}
    )
    folder = tmp_path / "spool"
    folder.mkdir(exist_ok=True)
    spool = spool_rows(_batches(table, sizes), ["q", "n"], folder, Randomness(), buckets=4)
    found = [tuple(row.values()) for bucket in spool for row in bucket.to_pylist()]
    assert Counter(found) == Counter(rows)
    for name, cells in (("q", first), ("n", number)):
        counted = Counter(dict(zip(spool.values[name].values.to_pylist(), spool.values[name].counts, strict=True)))
        assert counted == Counter(cells)


def test_many_segments_of_growing_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Codes become wider while the file is read: 70,000 values in segments of a thousand rows."""
    monkeypatch.setattr(row_spool, "_SEGMENT", 1000)
    cells = [f"{number // 2}" for number in range(140_000)]
    table = pa.table({"q": cells, "row": np.arange(len(cells))})
    spool = spool_rows(table.to_batches(max_chunksize=700), ["q"], tmp_path, Randomness(), buckets=8)
    found = {row["row"]: row["q"] for bucket in spool for row in bucket.to_pylist()}
    assert found == dict(enumerate(cells))


@pytest.mark.slow
def test_every_order_is_equally_likely(tmp_path: Path) -> None:
    """Three rows in two buckets, each bucket put into a random order: the six orders, 6,000 times."""
    table = pa.table({"row": ["a", "b", "c"]})
    randomness, orders = Randomness(), Counter[tuple[str, ...]]()
    for _ in range(6000):
        spool = spool_rows(table.to_batches(), [], tmp_path, randomness, buckets=2)
        order: list[str] = []
        for bucket in spool:
            order += bucket.take(arrow_numbers(randomness.permutation(bucket.num_rows))).column("row").to_pylist()
        orders[tuple(order)] += 1
    assert len(orders) == 6
    assert sum((count - 1000) ** 2 / 1000 for count in orders.values()) < 30  # chance of more: 0.00002


def test_buckets_are_even() -> None:
    """Digits below a power of two are drawn evenly."""
    for base in (2, 16, 256, 1024):
        drawn = np.bincount(Randomness().digits(200_000, base), minlength=base)
        expected = 200_000 / base
        assert ((drawn - expected) ** 2 / expected).sum() < base + 8 * base**0.5 + 20


@given(st.lists(st.tuples(*[st.integers(0, 2**13 - 1)] * 6), min_size=1, max_size=50))
def test_wide_tuples_are_packed_in_stages(rows: list[tuple[int, ...]]) -> None:
    """What exceeds a word is numbered by what is known, and comes apart again; keys ascend as tuples do."""
    columns = [np.array(cells) for cells in zip(*rows, strict=True)]
    widths = [2**13] * 6
    packer = TuplePacker.first_stage(widths)
    assert packer.columns == 4
    counter = KeyCounter(packer.span)
    counter.add(packer.pack(columns))
    packer = packer.next_stage(counter.counted().keys, widths)
    assert packer.columns == 6
    counter = KeyCounter(packer.span)
    for start in range(0, len(rows), 7):
        counter.add(packer.pack([column[start : start + 7] for column in columns]))
    counted = counter.counted()
    tuples = list(zip(*(codes.tolist() for codes in packer.packed(counted.keys).unpack(counted.keys)), strict=True))
    assert dict(zip(tuples, counted.counts.tolist(), strict=True)) == Counter(rows)
    assert tuples == sorted(tuples)


def test_coder_agrees_with_encode() -> None:
    """Batches are coded as the whole table would be, whether cells come as text or as codes of any dictionary."""
    values = pa.array(["b", "a", "c", None])
    column, coder = code_values("q", CountedValues(values, np.array([3, 1, 2, 1])))
    cells = pa.array(["c", None, "b", "b", "a"])
    wanted = [column.texts.index(cell) for cell in cells.to_pylist()]
    rows = RowCoder((coder,), TuplePacker.first_stage([coder.width]))
    for form in (cells, cells.dictionary_encode(), cells.dictionary_encode(null_encoding="encode")):
        assert coder.codes(form).tolist() == wanted
        assert rows(pa.record_batch([form], names=["q"])).column("key").to_pylist() == wanted
    assert pack_tuples([np.array(wanted)], [coder.width]).keys.tolist() == wanted
