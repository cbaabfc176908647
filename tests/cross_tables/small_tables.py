"""Small tables to suppress cells of."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

Counts = Sequence[Sequence[int]]


def rows_of(counts: Counts) -> Any:
    """A table of people whose cross-table of town by job has these counts."""
    pairs = [
        (f"t{i}", f"j{j}") for i, line in enumerate(counts) for j, number in enumerate(line) for _ in range(number)
    ]
    return pa.table({"town": [town for town, _ in pairs], "job": [job for _, job in pairs]})


def random_amounts(seed: int, rows: int, towns: int, jobs: int) -> Any:
    """Firms with a skewed turnover, some of several rows."""
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "town": [f"t{i}" for i in draw.integers(0, towns, rows)],
            "job": [f"j{i}" for i in draw.integers(0, jobs, rows)],
            "year": [str(2020 + i) for i in draw.integers(0, 2, rows)],
            "firm": [f"f{i}" for i in draw.integers(0, max(rows // 2, 1), rows)],
            "turnover": draw.lognormal(5, 1.2, rows).round(1),
        }
    )
