"""What the tasks of Spark do, without Spark: the same functions, run one after the other, with blocks in any order."""

import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.encode import COARSE
from sfumato.engines import spark_engine, spark_nodes, spark_source, spark_tasks
from sfumato.engines.choice import EngineOptions
from sfumato.errors import DataError
from sfumato.policy.options import FULL_DOMAIN
from sfumato.testing.engine_contract import (
    ALGORITHMS,
    WIDE_LINES,
    assert_same_release,
    engine_case,
    make_release,
    published_rows,
    wide_case,
    write_case,
)

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
    for algorithm, why in (
        ("mondrian", "mondrian holds them on the driver"),
        ("optimal", "levels that were found leave"),
    ):
        policy = write_case(engine_case(1, algorithm), tmp_path / algorithm)
        with pytest.raises(DataError, match=why) as raised:
            make_release(policy, EngineOptions("spark", memory=100, scratch=tmp_path), tmp_path / "spark")
        assert "allow more with --memory" in str(raised.value)
        assert not (tmp_path / "spark").exists()
        assert not list(tmp_path.glob("keys-*"))


@pytest.mark.parametrize("algorithm", FULL_DOMAIN)
def test_search_in_tasks_is_that_of_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, algorithm: str) -> None:
    """Where the driver may hold the lines at the node that is found, and no more: release, figures and accounts."""
    monkeypatch.setattr(spark_engine, "_FILE_ROWS", 1 << 20)
    monkeypatch.setattr(spark_engine, "_KEYS_OF_BUCKET", 20)
    monkeypatch.setattr(spark_nodes, "_INLINE", 100)  # some tuples come through files
    suppressed, judged = 0, 0
    for seed in range(7):
        folder = tmp_path / f"{seed}"
        policy = write_case(wide_case(seed, algorithm), folder)
        in_memory, made = make_release(policy, None, folder / "memory"), _release_in_tasks(policy, folder)
        assert made.encoded.coarse
        assert_same_release(in_memory, made)
        assert in_memory is not None
        for one, other in zip(made.encoded.quasi, in_memory.encoded.quasi, strict=True):
            assert one.frequencies.tolist() == other.frequencies.tolist()
        assert not list(folder.glob("scratch/keys-*"))
        suppressed += made.suppressed > 0
        judged += ran.count("JudgeClasses") > 1
    assert suppressed
    assert judged


def _release_in_tasks(policy: Any, folder: Path) -> Any:
    scratch = folder / "scratch"
    scratch.mkdir()
    ran.clear()
    options = EngineOptions("spark", scratch=scratch, memory=spark_engine._SEARCHED * WIDE_LINES)
    return make_release(policy, options, folder / "spark")


def test_what_was_not_measured_is_said(tmp_path: Path) -> None:
    """In the audit, in the report, and with the attack that was not tried."""
    made = _release_in_tasks(write_case(wide_case(0, "optimal"), tmp_path), tmp_path)
    private = made.folder / "private"
    audit = json.loads((private / "audit.json").read_text(encoding="utf-8"))
    assert "minimality" in " ".join(audit["not_measured"]["figures"])
    assert "some figures are left out" in " ".join(audit["warnings"])
    assert {one["success"] for one in audit["attacks"] if one["attack"] == "minimality"} == {None}
    report = (private / "report.html").read_text(encoding="utf-8")
    for what in ("The risk before", "Correlation", "Query error"):
        assert f"{what} was not measured. {COARSE}" in report
    assert "highest risk, before" not in report


@pytest.mark.parametrize("seed", range(20))
def test_values_are_dealt_out_as_often_as_they_come(seed: int) -> None:
    """Each line keeps its rows, and every value that it gets has its label."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(1, 9, 12)
    labels, lookups, totals = [], [], []
    for width in (3, 1, 7):
        label, lookup = rng.integers(0, width, 12), np.append(np.arange(width), rng.integers(0, width, 5))
        of_label = np.bincount(label, weights=rows, minlength=width).astype(int)
        total = np.zeros(width + 5, dtype=np.int64)
        for place, number in enumerate(of_label):
            values = np.flatnonzero(lookup == place)
            total[values] = rng.multinomial(number, np.full(len(values), 1 / len(values)))
        labels.append(label)
        lookups.append(lookup)
        totals.append(total)
    line, amounts, dealt = spark_nodes.deal_values(labels, rows, lookups, totals)
    assert np.bincount(line, weights=amounts).tolist() == rows.tolist()
    for label, lookup, total, value in zip(labels, lookups, totals, dealt, strict=True):
        assert (lookup[value] == label[line]).all()
        assert np.bincount(value, weights=amounts, minlength=len(total)).tolist() == total.tolist()
    margins = [np.bincount(label, weights=rows, minlength=7).astype(int) for label in labels]
    codes, coupled = spark_nodes.couple_margins(margins)
    for margin, code in zip(margins, codes, strict=True):
        assert np.bincount(code, weights=coupled, minlength=7).tolist() == margin.tolist()


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
