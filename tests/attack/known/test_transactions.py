"""Items that people bought: exercise 14's bound on how many others share a pattern, on random data."""

from pathlib import Path

import numpy as np
import pytest

from sfumato.attack.known import KnownValuesResult, known


def _bought(path: Path, values: int, *, rows: int = 1_500, items: int = 40) -> KnownValuesResult:
    """Items bought independently, each with equal chances; any B of them may be known."""
    cells = np.random.default_rng(5).integers(0, values, (rows, items))
    names = [f"item{place}" for place in range(items)]
    lines = [",".join(names), *(",".join(map(str, row)) for row in cells.tolist())]
    path.write_text("\n".join(lines))
    return known(path, columns=names)


@pytest.mark.parametrize("values", [2, 5])
def test_the_bound_of_exercises_14_and_15(values: int, tmp_path: Path) -> None:
    """At most n / R^B of the people have their B known values in common with one of n others."""
    found = _bought(tmp_path / "items.csv", values)
    (one,) = found.series
    assert one.label == "all columns"
    assert not one.exact
    for point in one.points:
        shared, bound = 1 - point.only, (found.rows - 1) / values**point.known
        slack = 4 * np.sqrt(min(bound, 1.0) / (found.rows * point.sets))
        assert shared <= bound + slack
        # the share itself, where items are independent: 1 - (1 - R^-B)^n
        assert shared == pytest.approx(1 - (1 - values**-point.known) ** (found.rows - 1), abs=0.02)


def test_success_grows_with_what_is_known(tmp_path: Path) -> None:
    """Nobody loses by knowing more: chances only grow, to certainty at the end."""
    (one,) = _bought(tmp_path / "items.csv", 2).series
    chances = [point.chance for point in one.points]
    assert chances == sorted(chances)
    assert len(chances) == 40
    assert chances[-1] == one.points[-1].only == 1.0
