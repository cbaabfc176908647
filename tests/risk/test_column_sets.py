"""Sets of columns: distinction, separation, and the smallest sets that find somebody, against counting by hand."""

import json
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sfumato.risk import risk_by_columns, sets_of
from sfumato.risk.measured_table import read_by_columns
from sfumato.risk.table_risk import RiskOptions

Runs = Callable[..., Any]
Row = tuple[str, ...]


def written(path: Path, rows: list[Row], names: str | list[str]) -> Path:
    """The rows as a CSV file."""
    path.write_text("\n".join([",".join(names), *(",".join(row) for row in rows)]) + "\n")
    return path


def drawn(seed: int, rows: int = 60) -> tuple[list[Row], list[str]]:
    """Random rows of four columns, some with missing values, and whose they are."""
    draw = np.random.default_rng(seed)
    cells = draw.integers(0, [2, 3, 4, 6], (rows, 4))
    found = [tuple("" if cell == 5 else f"v{cell}" for cell in row) for row in cells.tolist()]
    return found, [f"p{i}" for i in draw.integers(0, 35, rows)]


def holders(rows: list[Row], who: list[Any], places: tuple[int, ...]) -> list[set[Any]]:
    """For each row, who has the same values in these places."""
    groups: dict[Row, set[Any]] = {}
    for row, person in zip(rows, who, strict=True):
        groups.setdefault(tuple(row[i] for i in places), set()).add(person)
    return [groups[tuple(row[i] for i in places)] for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("named", [False, True], ids=["rows", "persons"])
def test_every_set_equals_brute_force(tmp_path: Path, seed: int, named: bool) -> None:
    """All sets of up to three columns: every figure is what its definition says, row by row and pair by pair."""
    rows, people = drawn(seed)
    who: list[Any] = people if named else list(range(len(rows)))
    path = written(tmp_path / "t.csv", [(*row, person) for row, person in zip(rows, people, strict=True)], "abcdp")
    found = risk_by_columns(path, list("abcd"), individual="p" if named else None).sets
    assert found is not None
    assert len(found.sets) == 4 + 6 + 4
    every: set[Any] = set()
    for one in found.sets:
        places = tuple("abcd".index(name) for name in one.columns)
        tuples = Counter(tuple(row[i] for i in places) for row in rows)
        apart = sum(any(x[i] != y[i] for i in places) for x, y in combinations(rows, 2))
        assert one.distinction == pytest.approx(len(tuples) / len(rows))
        assert one.separation == pytest.approx(apart / (len(rows) * (len(rows) - 1) / 2))
        alone = [len(same) == 1 for same in holders(rows, who, places)]
        parts = [part for size in range(1, len(places)) for part in combinations(places, size)]
        before = [any(len(holders(rows, who, part)[i]) == 1 for part in parts) for i in range(len(rows))]
        assert one.finds == len({who[i] for i in range(len(rows)) if alone[i]})
        assert one.first == len({who[i] for i in range(len(rows)) if alone[i] and not before[i]})
        every |= {who[i] for i in range(len(rows)) if alone[i]}
    assert found.found == len(every)
    separations = [one.separation for one in found.sets]
    assert separations == sorted(separations, reverse=True)


def test_minimal_sets_leave_out_what_is_needless(tmp_path: Path) -> None:
    """Whom one column finds, no larger set finds first; whom two columns find together is theirs."""
    path = written(tmp_path / "t.csv", [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"), ("c", "x")], "pq")
    found = risk_by_columns(path, ["p", "q"]).sets
    assert found is not None
    assert [(one.columns, one.first) for one in found.minimal] == [(("p", "q"), 4), (("p",), 1)]


def test_sets_may_be_smaller_larger_or_none(tmp_path: Path, runs: Runs) -> None:
    """--sets says how many columns; 0 leaves them out, and more than there are is all."""
    rows, _ = drawn(1)
    path = written(tmp_path / "t.csv", rows, "abcd")
    sizes = {n: json.loads(runs("risk", path, "--quasi", "a,b,c,d", "--sets", str(n), "--json").out) for n in (0, 1, 9)}
    assert "columns" not in sizes[0]
    assert [len(sizes[n]["columns"]["sets"]) for n in (1, 9)] == [4, 15]
    assert sizes[9]["columns"]["largest"] == 4


def test_many_columns_are_cut_down(tmp_path: Path) -> None:
    """Of sixty columns the larger sets are made of those that separate most, as many as can be looked at."""
    draw = np.random.default_rng(1)
    names = [f"c{i}" for i in range(60)]
    cells = draw.integers(0, np.arange(2, 62), (400, 60)).astype(str)
    path = tmp_path / "wide.csv"
    path.write_text("\n".join([",".join(names), *(",".join(row) for row in cells.tolist())]) + "\n")
    found = risk_by_columns(path, names, asked=RiskOptions(sets=1))
    few = sets_of(read_by_columns(path, names, None).lines, names, 3, work=400 * 200)
    assert sum(len(one.columns) == 1 for one in few.sets) == 60
    assert 3 <= len(few.among) < 15
    assert len(few.sets) <= 60 + 200
    best = [one.columns[0] for one in found.sets.sets[: len(few.among)]] if found.sets else []
    assert sorted(few.among) == sorted(best)


def test_few_rows_of_many_columns(tmp_path: Path) -> None:
    """Sets of any number of columns come to an end, however few rows there are."""
    names = [f"c{i}" for i in range(40)]
    path = written(tmp_path / "t.csv", [tuple("0" * 40), tuple("01" * 20)], names)
    found = sets_of(read_by_columns(path, names, None).lines, names, 40, work=100_000)
    assert len(found.sets) <= 40 + 200
    assert found.found == 2


@pytest.mark.parametrize("rows", [1, 2])
def test_one_or_two_rows(tmp_path: Path, rows: int) -> None:
    """A table of one row has no pairs to tell apart, and one of two equal rows finds nobody."""
    path = written(tmp_path / "t.csv", [("x", "y")] * rows, "ab")
    found = risk_by_columns(path, ["a", "b"]).sets
    assert found is not None
    assert {one.separation for one in found.sets} == {0.0}
    assert found.found == (1 if rows == 1 else 0)
