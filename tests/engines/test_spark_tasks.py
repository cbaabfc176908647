"""What the tasks of Spark do, without Spark: the same functions, run one after the other, with blocks in any order."""

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from sfumato.engines import spark_engine, spark_source, spark_tasks
from sfumato.engines.choice import EngineOptions
from sfumato.errors import DataError
from sfumato.testing.engine_contract import ALGORITHMS, engine_case, make_release, published_rows, write_case

Task = Callable[[Iterator[Any]], Iterator[Any]]
ran: list[str] = []


class Carried:
    """A broadcast variable: what it holds was pickled on its way."""

    def __init__(self, value: Any) -> None:
        self.value = pickle.loads(pickle.dumps(value))  # noqa: S301 - our own

    def destroy(self) -> None:
        """Nothing is held."""


class Frame:
    """As much of a DataFrame as the engine asks for: record batches in partitions."""

    def __init__(self, partitions: list[list[Any]]) -> None:
        self.partitions = partitions

    def mapInArrow(self, task: Task, _: str) -> "Frame":  # noqa: N802 - Spark's name
        """Run a task in each partition; every second one is run twice, and the second try counts."""
        ran.append(type(task).__name__)
        made = []
        for number, batches in enumerate(self.partitions):
            made.append(list(task(iter(batches))))
            if number % 2:
                made[-1] = list(task(iter(batches)))
        return Frame(made)

    def repartitionById(self, partitions: int, _: str) -> "Frame":  # noqa: N802 - Spark's name
        """Send each block where its number says; they come in any order."""
        moved: list[list[Any]] = [[] for _ in range(partitions)]
        for batch in (batch for batches in self.partitions for batch in batches):
            for place in range(batch.num_rows):
                moved[batch.column(0)[place].as_py()].append(batch.slice(place, 1))
        for batches in moved:
            Random(len(batches)).shuffle(batches)
        return Frame(moved)

    def union(self, other: "Frame") -> "Frame":
        """Both, one after the other."""
        return Frame(self.partitions + other.partitions)

    def groupBy(self, *columns: str) -> Any:  # noqa: N802 - Spark's name
        """Add up rows by columns."""
        rows = pa.Table.from_batches([batch for batches in self.partitions for batch in batches])

        def to_arrow() -> Any:
            return rows.group_by(list(columns)).aggregate([("rows", "sum")]).rename_columns([*columns, "sum(rows)"])

        return SimpleNamespace(sum=lambda _: SimpleNamespace(toArrow=to_arrow))

    def collect(self) -> list[Any]:
        """All rows."""
        return [SimpleNamespace(**row) for batches in self.partitions for batch in batches for row in batch.to_pylist()]


class Session:
    """As much of a session as the engine asks for."""

    sparkContext = SimpleNamespace(broadcast=Carried)  # noqa: N815 - Spark's name

    def range(self, start: int, stop: int, _: int, __: int) -> Frame:
        """Each number in a partition of its own."""
        return Frame([[pa.record_batch([pa.array([number])], names=["id"])] for number in range(start, stop)])


@pytest.fixture(autouse=True)
def _without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    from contextlib import nullcontext

    ran.clear()
    monkeypatch.setattr(spark_engine, "find_session", lambda _, __: (None, False))
    monkeypatch.setattr(spark_engine, "session_for_jobs", lambda _: Session())
    monkeypatch.setattr(spark_engine, "spark_errors", nullcontext)
    monkeypatch.setattr(spark_engine, "_FILE_ROWS", 7)
    monkeypatch.setattr(spark_source, "_RANGE", 40)


def _both(folder: Path, algorithm: str, seed: int) -> None:
    policy = write_case(engine_case(seed, algorithm), folder, repeated=1 + seed % 3)
    scratch = folder / "scratch"
    scratch.mkdir()
    made = make_release(policy, EngineOptions("spark", scratch=scratch), folder / "spark")
    in_memory = make_release(policy, None, folder / "memory")
    assert (made is None) == (in_memory is None)
    if made is None or in_memory is None:
        return
    assert (made.levels, made.suppressed) == (in_memory.levels, in_memory.suppressed)
    assert sorted(made.recoding.classes.sizes.tolist()) == sorted(in_memory.recoding.classes.sizes.tolist())
    for table in made.tables:
        assert published_rows(folder / "spark", table) == published_rows(folder / "memory", table)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_tasks_make_the_release_of_memory(tmp_path: Path, algorithm: str) -> None:
    """Files in many parts, rows in many buckets, tasks that are run twice, blocks in any order."""
    for seed in range(3):
        (tmp_path / f"{seed}").mkdir()
        _both(tmp_path / f"{seed}", algorithm, seed)


def test_rows_of_a_line_go_different_ways(tmp_path: Path) -> None:
    """Of the cases above some have such rows, which are ranked where they meet."""
    for seed in range(8):
        (tmp_path / f"{seed}").mkdir()
        _both(tmp_path / f"{seed}", "top-down", seed)
        if "RankRows" in ran:
            return
    pytest.fail("no case divides a line")


def test_too_many_different_rows(tmp_path: Path) -> None:
    """What a search over them would take is compared with what the driver may use, before it is taken."""
    policy = write_case(engine_case(1, "optimal"), tmp_path)
    with pytest.raises(DataError, match=r"different rows take about .* allow more with --memory"):
        make_release(policy, EngineOptions("spark", memory=100, scratch=tmp_path), tmp_path / "spark")
    assert not (tmp_path / "spark").exists()


@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        (pa.string(), ["", "é", None]),
        (pa.bool_(), [True, None, False]),
        (pa.uint64(), [2**64 - 1, None]),
        (pa.float32(), [-0.0, 0.5, None]),
        (pa.date32(), [1, None]),
        (pa.time64("ns"), [1, None]),
        (pa.timestamp("ns", "Europe/Zurich"), [10**18 + 1, None]),
        (pa.decimal256(60, 2), [10, None]),
        (pa.null(), [None]),
    ],
)
def test_values_travel_exactly(kind: Any, cells: list[Any]) -> None:
    """As their bytes, of whatever type."""
    values = pa.array(cells, kind)
    back = spark_tasks.bytes_to_values(spark_tasks.value_bytes(values), kind)
    assert back.type == kind
    assert back.equals(values)
    assert spark_tasks.bytes_to_values(spark_tasks.value_bytes(values[1:]), kind).equals(values[1:])
