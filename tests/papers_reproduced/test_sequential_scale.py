"""Sequential releases of enlarged tables: the tables, and the command that is timed on them."""

import numpy as np
import pytest

from sfumato.papers.sequential_releases import CLASS, SHARED, Departments
from sfumato.papers.sequential_scale import POINTS, enlarge_tables, measure_scale, vary_rows

pytestmark = pytest.mark.slow


def test_variations(made_up: Departments) -> None:
    """The original rows come first; a variation differs from its original in two columns of X at most, never in Y."""
    for point in POINTS.values():
        for table in enlarge_tables(made_up, point, 1000):
            base = made_up.frame.select(table.column_names)
            assert table.slice(0, 300).equals(base)
            changed = {
                name: np.array(table[name].to_pylist()) != np.resize(base[name].to_pylist(), 1000)
                for name in table.column_names
            }
            counts = sum(one.astype(int) for one in changed.values())
            assert 0 < counts.max() <= 2
            assert not changed.get(CLASS, np.zeros(1)).any()
            assert not any(changed[name].any() for name in point.y)
    assert vary_rows(made_up.immigration, SHARED, 20, seed=1).num_rows == 20


def test_commands(made_up: Departments) -> None:
    """The command runs on the enlarged tables, and what it took is told; what fails says so."""
    found = list(measure_scale(made_up, (400,), 1))
    assert [one["kind"] for one in found] == list(POINTS)
    assert all(one["code"] == 0 and min(one["seconds"], one["copy"], one["megabytes"]) > 0 for one in found)
