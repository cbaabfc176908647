"""Rows drawn from a stream, checked from the file: what is as it should be passes, and whatever is changed does not."""

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.condense.condensation_stream import CondensationStream, draw_with_statement, read_state
from sfumato.errors import NotVerified
from sfumato.publish.drawn_rows_file import is_parquet, write_drawn_rows
from sfumato.verifier.emitted_rows import EmittedStatement, verify_emitted_rows

K = 5
LINES = [["cook", "service", "*"], ["porter", "service", "*"], ["nurse", "health", "*"], ["=spy", "health", "*"]]
POLICY: dict[str, Any] = {
    "columns": {
        "age": {"role": "quasi", "bounds": [0, 120]},
        "born": {"role": "quasi", "kind": "date"},
        "job": {"role": "quasi", "hierarchy": {"lines": LINES}},
        "pay": {"role": "sensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": K}],
    "publish": {"form": "synthetic"},
}


def _people(rows: int = 300, seed: int = 1) -> pa.Table:
    draw = np.random.default_rng(seed)
    born = np.datetime64("1960-01-01") + draw.integers(0, 15_000, rows)
    jobs = draw.choice(["cook", "nurse", "=spy"], rows, p=[0.5, 0.3, 0.2]).tolist()
    jobs[:2] = ["porter", "porter"]  # fewer than k
    return pa.table(
        {
            "age": draw.integers(18, 90, rows),
            "born": [str(day) for day in born],
            "job": jobs,
            "pay": [f"{pay:.2f}" for pay in draw.lognormal(3, 1, rows)],
        }
    )


Emits = Callable[..., tuple[Path, EmittedStatement]]


@pytest.fixture
def emits(tmp_path: Path) -> Emits:
    """Write rows of a stream of people; gives the file and what the state says of it."""

    def write(name: str = "rows.csv", *, table: Any = None, policy: Any = POLICY, later: bool = False, **options: Any):  # type: ignore[no-untyped-def] # noqa: ANN202
        people = _people() if table is None else table
        with CondensationStream(K, state=tmp_path / "state", policy=policy) as stream:
            stream.add(people)
            if later:
                stream.draw()
                stream.add(people)
        folder, state = read_state(tmp_path / "state")
        path = tmp_path / name
        drawn, said = draw_with_statement(folder, state, text=not is_parquet(path), **options)
        assert said["exact"] is not later
        write_drawn_rows(drawn, path, lambda _: None, waiting=folder.waiting_rows)
        return path, EmittedStatement(**said)

    return write


def _complaints(path: Path, said: EmittedStatement) -> tuple[str, ...]:
    return verify_emitted_rows(path, said, parquet=is_parquet(path)).complaints


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_what_was_drawn_passes(emits: Emits, name: str, later: bool) -> None:
    """Exactly or on average, with several rows for each and noise."""
    path, said = emits(name, later=later, multiple=2, noise=0.3)
    verdict = verify_emitted_rows(path, said, parquet=is_parquet(path))
    assert verdict.complaints == ()
    assert (verdict.rows, verdict.classes) == (1200 if later else 600, len(said.sizes))
    assert verdict.privacy[0].achieved["k"] == int(said.sizes.min()) >= K


# ---------------------------------------------------------------------------------------------------------------------
# Tampering


def _change_csv(path: Path, change: Callable[[list[list[str]]], Any]) -> None:
    with path.open(newline="") as file:
        lines = list(csv.reader(file))
    change(lines)
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)


def _set(row: int, column: int, value: str) -> Callable[[list[list[str]]], None]:
    def change(lines: list[list[str]]) -> None:
        lines[row][column] = value

    return change


def _shift_column(column: int, by: int) -> Callable[[list[list[str]]], None]:
    def change(lines: list[list[str]]) -> None:
        for line in lines[1:]:
            line[column] = str(int(line[column]) + by)

    return change


def _swap_names(lines: list[list[str]]) -> None:
    lines[0][0], lines[0][3] = lines[0][3], lines[0][0]


def _swap_cells(lines: list[list[str]]) -> None:
    for line in lines[1:]:
        line[0], line[3] = str(round(float(line[3]))), f"{float(line[0]):.2f}"


def _same_job(lines: list[list[str]]) -> None:
    for line in lines[1:]:
        line[2] = "cook" if line[2] == "nurse" else line[2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda lines: lines.pop(), "the file has 299 rows where 300 were to be drawn"),
        (lambda lines: lines.append(lines[1]), "the file has 301 rows where 300 were to be drawn"),
        (_set(1, 0, "121"), "column 'age' has 1 numbers out of its bounds"),
        (_set(1, 3, "-0.01"), "column 'pay' has 1 numbers out of its bounds"),
        (_set(1, 0, "30.5"), "column 'age' has 1 numbers that are not on its grid"),
        (_set(1, 3, "3.141"), "column 'pay' has 1 numbers that are not on its grid"),
        (_set(1, 0, ""), "column 'age' has 1 cells that are no numbers"),
        (_set(1, 0, "nan"), "column 'age' has 1 cells that are no numbers"),
        (_set(1, 0, "inf"), "column 'age' has 1 cells that are no numbers"),
        (_set(1, 1, "1970-02-30"), "column 'born' has 1 cells that are no dates"),
        (_set(1, 1, "1.2.1970"), "column 'born' has 1 cells that are no dates"),
        (_set(1, 1, "9970-01-01"), "column 'born' does not have the mean that the groups give it"),
        (_set(1, 2, "astronaut"), "column 'job' has 1 values that its hierarchy does not list"),
        (_set(1, 2, "porter"), "column 'job' has 1 values that fewer than 5 rows hold"),
        (_same_job, "column 'job' has 2 values in more or fewer rows than the groups give them"),
        (_shift_column(0, 1), "column 'age' does not have the mean that the groups give it"),
        (_swap_cells, "column 'age' does not have the mean that the groups give it"),
        (_swap_names, "the file has other columns than the state, or in another order"),
    ],
)
def test_a_changed_file_does_not_pass(emits: Emits, change: Callable[[list[list[str]]], Any], sentence: str) -> None:
    """One row less or more, one cell, one column, two columns."""
    path, said = emits()
    assert _complaints(path, said) == ()
    _change_csv(path, change)
    assert sentence in _complaints(path, said)


def test_a_file_that_is_none_does_not_pass(emits: Emits) -> None:
    """A line that was cut, and bytes that are no Parquet."""
    path, said = emits()
    path.write_bytes(path.read_bytes().rsplit(b",", 1)[0])
    with pytest.raises(NotVerified, match="has not as many cells as the header"):
        _complaints(path, said)
    with pytest.raises(NotVerified, match="no Parquet file"):
        verify_emitted_rows(path, said, parquet=True)


@pytest.mark.parametrize("later", [False, True])
def test_a_column_that_was_shifted_by_little(emits: Emits, later: bool) -> None:
    """Drawn exactly the mean is right to a step for each group; on average to ten standard errors of it."""
    path, said = emits(later=later)
    by = 1 if not later else 5
    _change_csv(path, _shift_column(0, by))
    assert _complaints(path, said) == ("column 'age' does not have the mean that the groups give it",)


def test_types_of_parquet(emits: Emits) -> None:
    """A column of another type than it was declared is named; so are numbers off their grid."""
    path, said = emits("rows.parquet")
    table = pq.read_table(path)
    changed = {
        "age": (table["age"].cast(pa.string()), "column 'age' is of the type string, and not double"),
        "born": (table["born"].cast(pa.timestamp("us")), "column 'born' is of the type timestamp[us], and not date32"),
        "pay": (pa.array(np.array(table["pay"]) + 0.001), "column 'pay' has 300 numbers that are not on its grid"),
    }
    for name, (column, sentence) in changed.items():
        place = table.column_names.index(name)
        pq.write_table(table.set_column(place, name, column), path)
        assert any(one.startswith(sentence) for one in _complaints(path, said))


def test_a_state_with_a_group_of_too_few_or_too_many(emits: Emits) -> None:
    """The sizes are those that the state has, whatever the rows look like."""
    path, said = emits()
    few, many = said.sizes.copy(), said.sizes.copy()
    few[0], many[0] = K - 1, 2 * K
    assert "1 groups have fewer than 5 rows, the smallest 4" in _complaints(path, replace(said, sizes=few))
    assert "1 groups have more than 2k - 1 rows, the largest 10" in _complaints(path, replace(said, sizes=many))
    assert not verify_emitted_rows(path, replace(said, sizes=few)).privacy[0].satisfied


# ---------------------------------------------------------------------------------------------------------------------
# Columns that are hard to draw: all of these were drawn wrong, or passed for wrong, once


def _dates(form: str) -> dict[str, Any]:
    columns = {"x": {"role": "quasi", "hierarchy": {"dates": ["year"], "format": form}}}
    return POLICY | {"columns": columns}


_DRAW = np.random.default_rng(3)
_BOUNDED = POLICY | {"columns": {"x": {"role": "quasi", "bounds": [0.5, 9.5]}}}
_FINE = POLICY | {"columns": {"x": {"role": "quasi", "bounds": [0, 0.123456789123]}}}
HARD: dict[str, tuple[Any, Any]] = {
    "bounds between places of the grid": (_BOUNDED, _DRAW.integers(1, 10, 200)),
    "bounds of more digits than the numbers": (_FINE, [f"{x:.3e}" for x in 0.123 * _DRAW.beta(0.2, 0.2, 200)]),
    "whole numbers that are no integers of Arrow": (None, [str(10**25 + i * 10**23) for i in range(60)]),
    "moments between two seconds": (
        POLICY | {"columns": {"x": {"role": "quasi", "kind": "date"}}},
        np.datetime64("2024-01-01T00:00:00", "us") + _DRAW.integers(0, 10**7, 200),
    ),
    "years of two digits": (_dates("%d.%m.%y"), ["03.01.69", "05.05.69", "01.01.70"] * 30),
    "months without days": (_dates("%Y-%m"), ["2024-01", "2023-05", "2022-07"] * 30),
    "incomes that pile up at 0": (None, np.where(_DRAW.random(200) < 0.8, 0, _DRAW.lognormal(8, 2, 200)).round()),
    "numbers that can hardly be squared": (None, _DRAW.normal(size=200) * 1e307),
    "numbers that are hardly there": (None, _DRAW.normal(size=200) * 1e-300),
    "numbers that are far from 0": (None, [f"{x:.2f}" for x in 1e9 + _DRAW.normal(size=200)]),
    "numbers of all sizes": (None, [f"{x:.4e}" for x in 10.0 ** _DRAW.uniform(-20, 20, 200)]),
}


@pytest.mark.slow
@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
@pytest.mark.parametrize("hard", HARD)
def test_hard_columns_pass(emits: Emits, hard: str, name: str, later: bool) -> None:
    """They are drawn within bounds and with the means of the groups, and are known to be."""
    policy, values = HARD[hard]
    path, said = emits(name, table=pa.table({"x": pa.array(values)}), policy=policy, later=later)
    assert _complaints(path, said) == ()


def test_nearly_nothing_fails_by_chance(tmp_path: Path) -> None:
    """The standardized differences of many draws stay far below ten, with means at a bound as well."""
    with CondensationStream(3, state=tmp_path / "state") as stream:
        stream.add(pa.table({"x": np.where(_DRAW.random(60) < 0.7, 0.0, _DRAW.random(60)), "y": _DRAW.random(60)}))
    folder, state = read_state(tmp_path / "state")
    (tmp_path / "state" / "emitted.json").write_text('{"rows": 3}\n')  # another state was told exactly
    weights = state.groups.sizes / state.rows
    means = np.clip(np.ldexp(state.groups.means, state.exponents), 0, None)
    errors = np.sqrt(np.maximum(state.groups.variances, 0) / state.groups.sizes[:, None])
    error = np.ldexp(np.sqrt((weights**2) @ errors**2), state.exponents)
    off = []
    for seed in range(150):
        drawn, _ = draw_with_statement(folder, state, seed=seed)
        off.append([np.mean(drawn[name]) for name in ("x", "y")])
    assert (np.abs(np.array(off) - weights @ means) / error).max(axis=0) == pytest.approx(3, abs=2)
