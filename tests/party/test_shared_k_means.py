"""Lloyd's algorithm over the rows of all parties."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.datasets import synthetic_adult
from sfumato.errors import PolicyError, RunAborted
from sfumato.party.local_parties import local_sessions, run_parties
from sfumato.party.party_session import PartySession
from sfumato.party.party_task import PartyTable
from sfumato.party.shared_k_means import KMeansTask
from sfumato.policy.section import Section

_SETTINGS: dict[str, Any] = {"columns": ["x", "y"], "bounds": {"x": [0, 50], "y": [-10, 10]}, "k": 3, "seed": 4}
_ROW = st.tuples(st.integers(0, 50), st.integers(-10, 10))


def _read(**settings: Any) -> KMeansTask:
    content = {name: value for name, value in (_SETTINGS | settings).items() if value is not None}
    return KMeansTask.read(Section.from_value(content, "task", KMeansTask.keys), ("a", "b", "c"), ("a", "b", "c"))


def _part(task: KMeansTask, own: Any) -> Callable[[PartySession], Any]:
    return lambda session: task.run(session, own)


def _run(task: KMeansTask, tables: list[pa.Table], sessions: Any = None) -> dict[str, Any]:
    prepared = [task.prepare("x", PartyTable(table, "t.csv")) for table in tables]
    parts = {name: _part(task, own) for name, own in zip("abc", prepared, strict=False)}
    found = run_parties(parts, sessions)
    assert found["a"] == found["b"]
    result: dict[str, Any] = found["a"]
    return result


def _table(rows: list[tuple[int, int]]) -> pa.Table:
    return pa.table({"x": pa.array([x for x, _ in rows], pa.int64()), "y": pa.array([y for _, y in rows], pa.int64())})


def _lloyd(rows: list[tuple[int, int]], centres: list[tuple[float, ...]], most: int = 100) -> tuple[Any, Any]:
    """Lloyd's algorithm as a textbook has it, row by row."""
    for _ in range(most):
        distances = [[sum((a - b) ** 2 for a, b in zip(row, one, strict=True)) for one in centres] for row in rows]
        nearest = [own.index(min(own)) for own in distances]
        before, sizes = centres, [nearest.count(k) for k in range(len(centres))]
        centres = [
            tuple(sum(row[c] for row, own in zip(rows, nearest, strict=True) if own == k) / sizes[k] for c in (0, 1))
            if sizes[k]
            else before[k]
            for k in range(len(centres))
        ]
        if np.allclose(centres, before, rtol=0, atol=1e-12):
            break
    return centres, sizes


@settings(max_examples=12, deadline=None)
@given(st.lists(st.lists(_ROW, min_size=1, max_size=15), min_size=2, max_size=3), st.integers(0, 50))
def test_centres_are_those_of_the_joined_rows(parts: list[list[tuple[int, int]]], seed: int) -> None:
    """However rows are divided, centres, sizes and cost are those of Lloyd's algorithm on all from the same start."""
    task = _read(seed=seed)
    result = _run(task, [_table(rows) for rows in parts])
    rows = [row for part in parts for row in part]
    centres, sizes = _lloyd(rows, list(task.starts[0]))
    assert result["sizes"] == sizes
    np.testing.assert_allclose([[centre["x"], centre["y"]] for centre in result["centres"]], centres, atol=1e-9)
    cost = sum(min(sum((a - b) ** 2 for a, b in zip(row, one, strict=True)) for one in centres) for row in rows)
    assert result["cost"] == pytest.approx(cost, abs=1e-6)
    together = _run(task, [_table(rows), _table([])])
    assert together["centres"] == result["centres"]  # to the last bit


@pytest.mark.slow
def test_it_finds_what_scikit_learn_finds() -> None:
    """On Adult, split among three and scaled by the bounds, centres are those of scikit-learn's Lloyd."""
    cluster = pytest.importorskip("sklearn.cluster")
    hours = pa.array(np.random.default_rng(1).integers(0, 100, 3000))
    table, bounds = synthetic_adult(3000).append_column("hours", hours), {"age": [0, 100], "hours": [0, 100]}
    start = [[20, 20], [40, 40], [60, 60], [40, 90]]
    task = _read(columns=list(bounds), bounds=bounds, start=start, k=None, seed=None, scale="bounds")
    result = _run(task, [table.slice(0, 100), table.slice(100, 1900), table.slice(2000)])
    rows = np.array([[float(cell) for cell in table[name].to_pylist()] for name in bounds]).T
    fitted = cluster.KMeans(4, init=np.array(start) / 100, n_init=1, tol=0, algorithm="lloyd").fit(rows / 100)
    found = np.array([list(centre.values()) for centre in result["centres"]])
    np.testing.assert_allclose(found, fitted.cluster_centers_ * 100, rtol=1e-6)
    assert result["sizes"] == np.bincount(fitted.labels_, minlength=4).tolist()
    assert result["cost"] == pytest.approx(fitted.inertia_, rel=1e-6)


def test_the_best_of_several_starts_is_told() -> None:
    """Of several starts, the one with the least cost is the result, and no start is better than it."""
    rows = [_table([(x, y) for x in (0, 25, 50) for y in (-10, 10)])] * 2
    several = _run(_read(starts=5), rows)
    for number in range(5):
        alone = _read(start=[list(point) for point in _read(starts=5).starts[number]], k=None, seed=None)
        assert several["cost"] <= _run(alone, rows)["cost"] + 1e-9


def test_a_small_cluster_ends_the_run_before_its_sums_are_opened() -> None:
    """With min_count a lone row ends the run, and no party sent a sum; without it, its centre is the row."""
    near, lone = [(1, 1)] * 5, [(49, 9)]
    start = {"start": [[0, 0], [50, 10]], "k": None, "seed": None}
    assert _run(_read(**start), [_table(near), _table(lone)])["centres"][1] == {"x": 49.0, "y": 9.0}
    sessions = local_sessions("a", "b")
    frames: list[bytes] = []

    def keep(frame: bytes) -> bytes:
        frames.append(frame)
        return frame

    sessions["b"].channels["a"].tap = keep  # type: ignore[attr-defined]
    with pytest.raises(RunAborted, match="fewer than 3 rows"):
        _run(_read(**start, min_count=3), [_table(near), _table(lone)], sessions)
    from sfumato.party.wire_frame import step_digest

    assert not any(step_digest("sum/k-means/0/1/masked") in frame for frame in frames)
    assert _run(_read(**start, min_count=3), [_table(near), _table(near)])["sizes"] == [10, 0]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"bounds": {"x": [0, 50]}}, "must have bounds"),
        ({"k": None}, "how many clusters"),
        ({"k": 0}, "from 1 to 1,000"),
        ({"start": [[1, 1]]}, "goes without start"),
        ({"start": [[1]], "k": None, "seed": None}, "each of 2 numbers"),
        ({"start": [[1, 99]], "k": None, "seed": None}, "outside of the bounds"),
        ({"scale": "all"}, "none or bounds"),
    ],
)
def test_wrong_settings_name_their_key(settings: dict[str, Any], sentence: str) -> None:
    """What a task cannot mean is a policy error with the key in it."""
    with pytest.raises(PolicyError, match=sentence):
        _read(**settings)
