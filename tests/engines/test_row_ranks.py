"""Which row of a line each row is: by what else is published of it, and in no other way."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from sfumato.engines.row_ranks import RunningRanks, sort_ranks

COLUMNS = {
    "text": pa.array(["b", None, "a", "", "é", "Z", "a"]),
    "number": pa.array([3.5, None, -0.5, float("nan"), 2.0, 2.0, float("inf")]),
    "whole": pa.array([3, None, 2**64 - 1, 2, 2, 10, 0], pa.uint64()),
    "day": pa.array([3, None, -1, 2, 2, 10, 0], pa.int32()).cast(pa.date32()),
    "time": pa.array([3, None, 1, 2, 2, 10, 0], pa.int64()).cast(pa.time64("ns")),
    "moment": pa.array([3, None, -1, 2, 2, 10, 0], pa.int64()).cast(pa.timestamp("ns", "Europe/Zurich")),
    "flag": pa.array([True, None, False, True, False, True, True]),
    "decimal": pa.array([3, None, -1, 2, 2, 10, 0]).cast(pa.decimal128(30, 3)),
    "coded": pa.array(["b", None, "a", "", "é", "Z", "a"]).dictionary_encode(),
    "nothing": pa.nulls(7),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_plain_columns_are_sorted_as_in_memory(tmp_path: Path, name: str) -> None:
    """The rank of each row is its place in Arrow's sort, within its line, for every type that may be published."""
    cells, line = COLUMNS[name], np.array([0, 1, 0, 1, 1, 0, 0])
    batch = pa.record_batch([cells, pa.array(range(7))], names=[name, "row"])
    divided = np.array([True, True])
    parts = [slice(0, 3), slice(3, 3), slice(3, 7)]
    buckets = [(line[part], batch.slice(part.start, part.stop - part.start)) for part in parts]
    ranks = sort_ranks(buckets, divided, [name, "row"], tmp_path, 1 << 28)
    found = np.concatenate([ranks.ranks(line[part]) for part in parts])
    sortable = cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells
    sortable = sortable.cast(pa.string()) if pa.types.is_null(cells.type) else sortable
    table = pa.table({"line": line, name: sortable, "row": range(7)})
    order: Any = pc.sort_indices(table, sort_keys=[(key, "ascending") for key in table.column_names]).to_pylist()
    wanted = {row: rank for each in (0, 1) for rank, row in enumerate(row for row in order if line[row] == each)}
    assert found.tolist() == [wanted[row] for row in range(7)]


def test_lines_that_go_one_way_have_no_rank() -> None:
    """Rows of other lines are not counted, and every rank of a divided line is given once."""
    divided = np.array([False, True, True])
    ranks, draw = RunningRanks(divided), np.random.default_rng(1)
    seen: dict[int, list[int]] = {0: [], 1: [], 2: []}
    for _ in range(5):
        line = draw.integers(0, 3, 20)
        for number, rank in zip(line.tolist(), ranks.ranks(line).tolist(), strict=True):
            seen[number].append(rank)
    assert set(seen[0]) == {0}
    assert all(sorted(seen[number]) == list(range(len(seen[number]))) for number in (1, 2))
