"""Missing values both ways, as a value of their own and as a wildcard, against comparing every row with every other."""

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sfumato.risk import nulls_of, risk_by_columns
from sfumato.risk.measured_table import read_by_columns

Runs = Callable[..., Any]
Row = tuple[str, ...]


def drawn(seed: int) -> tuple[list[Row], list[str]]:
    """Random rows of three columns, many of whose values are missing, and whose they are."""
    draw = np.random.default_rng(seed)
    rows = int(draw.integers(2, 60))
    cells = draw.integers(0, draw.integers(2, 9, 3), (rows, 3))
    lost = draw.random((rows, 3)) < 0.3
    lost[0, 0] = True
    texts = [
        tuple("" if gone else f"v{cell}" for cell, gone in zip(*one, strict=True))
        for one in zip(cells, lost, strict=True)
    ]
    return texts, [f"p{i}" for i in draw.integers(0, 20, rows)]


def written(path: Path, rows: list[Row], people: list[str]) -> Path:
    """The rows as a CSV file."""
    path.write_text(
        "\n".join(["a,b,c,p", *(",".join([*row, who]) for row, who in zip(rows, people, strict=True))]) + "\n"
    )
    return path


def figures(rows: list[Row], who: list[Any], *, wildcard: bool) -> list[float]:
    """Highest, average and uniques: every row compared with every row, and persons by their most exposed row."""

    def alike(one: Row, other: Row) -> bool:
        return all(x == y or (wildcard and "" in {x, y}) for x, y in zip(one, other, strict=True))

    chances: dict[Any, list[float]] = defaultdict(list)
    for row, person in zip(rows, who, strict=True):
        like = {other for text, other in zip(rows, who, strict=True) if alike(row, text)}
        chances[person].append(1 / len(like))
    each = [max(one) for one in chances.values()]
    return [max(each), sum(each) / len(each), sum(chance == 1 for chance in each)]


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("named", [False, True], ids=["rows", "persons"])
def test_both_ways_equal_brute_force(tmp_path: Path, seed: int, named: bool) -> None:
    """On random tables with many missing values, each way gives what comparing all pairs gives."""
    rows, people = drawn(seed)
    who: list[Any] = people if named else list(range(len(rows)))
    path = written(tmp_path / "t.csv", rows, people)
    found = risk_by_columns(path, ["a", "b", "c"], individual="p" if named else None).nulls
    assert found is not None
    assert found.cells == sum(cell == "" for row in rows for cell in row)
    assert found.rows == sum("" in row for row in rows)
    for one, wildcard in ((found.as_value, False), (found.as_wildcard, True)):
        assert [one.highest, one.average, one.uniques] == pytest.approx(figures(rows, who, wildcard=wildcard))
        assert one.looked_at == len(set(who))
        assert one.unique_share == pytest.approx(one.uniques / len(set(who)))


def test_a_wildcard_hides_what_a_value_shows(tmp_path: Path) -> None:
    """Three rows, each with another value missing: three classes, and yet nobody can be told from anybody."""
    path = written(tmp_path / "t.csv", [("x", "y", ""), ("x", "", "z"), ("", "y", "z")], ["1", "2", "3"])
    found = risk_by_columns(path, ["a", "b", "c"]).nulls
    assert found is not None
    assert (found.as_value.uniques, found.as_wildcard.uniques) == (3, 0)
    assert found.as_wildcard.highest == pytest.approx(1 / 3)


def test_without_missing_values_there_is_nothing_to_say(tmp_path: Path, runs: Runs) -> None:
    """No part of the output is about them; with one it is there."""
    path = written(tmp_path / "t.csv", [("x", "y", "z"), ("x", "y", "w")], ["1", "2"])
    assert "null" not in json.loads(runs("risk", path, "--quasi", "a,b,c", "--json").out)
    path = written(tmp_path / "t.csv", [("x", "y", "z"), ("x", "y", "")], ["1", "2"])
    found = json.loads(runs("risk", path, "--quasi", "a,b,c", "--json").out)["null"]
    assert (found["as_value"]["uniques"], found["as_wildcard"]["uniques"]) == (2, 0)
    assert "as a wildcard" in runs("risk", path, "--quasi", "a,b,c").out


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("named", [False, True], ids=["rows", "persons"])
def test_one_by_one_is_the_same(tmp_path: Path, seed: int, named: bool) -> None:
    """With little work allowed each line is looked at by itself; of few lines these are all, and nothing changes."""
    rows, people = drawn(seed)
    path = written(tmp_path / "t.csv", rows, people)
    table = read_by_columns(path, ["a", "b", "c"], "p" if named else None)
    assert nulls_of(table.lines, table.quasi, work=1) == nulls_of(table.lines, table.quasi)


@pytest.mark.parametrize("named", [False, True], ids=["rows", "persons"])
def test_a_few_stand_for_all_where_there_are_too_many(tmp_path: Path, named: bool) -> None:
    """Lines drawn at random stand for all, said as such, the same ones each time, and near the truth."""
    draw = np.random.default_rng(3)
    cells, lost = draw.integers(0, 12, (3000, 3)), draw.random((3000, 3)) < 0.05
    rows = [
        tuple("" if gone else str(cell) for cell, gone in zip(*one, strict=True))
        for one in zip(cells, lost, strict=True)
    ]
    path = written(tmp_path / "t.csv", rows, [f"p{i}" for i in draw.integers(0, 2900, 3000)])
    table = read_by_columns(path, ["a", "b", "c"], "p" if named else None)
    whole, some = (nulls_of(table.lines, table.quasi, work=work) for work in (10**7, 1000))
    assert whole is not None
    assert some is not None
    assert some.as_value == whole.as_value
    assert some.as_wildcard.looked_at < whole.as_wildcard.looked_at / 5
    assert some.as_wildcard.average == pytest.approx(whole.as_wildcard.average, rel=0.25)
    assert nulls_of(table.lines, table.quasi, work=1000) == some
