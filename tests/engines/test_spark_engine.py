"""The Spark engine makes the releases that memory makes, on a session of two threads that all tests share."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.engines import spark_engine, spark_source, spark_tasks
from sfumato.engines.choice import EngineOptions
from sfumato.engines.spark_session import find_session, has_spark
from sfumato.errors import DataError
from sfumato.policy import load
from sfumato.testing.engine_contract import (
    WIDE_LINES,
    assert_same_release,
    engine_case,
    make_release,
    published_rows,
    wide_case,
    write_case,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not has_spark(), reason="no PySpark, or no Java, is installed"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of Py4J
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

MASTER = "local[2]"


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    """A session that is there already is used, and not stopped, by whoever asks for Spark."""
    found, _ = find_session(MASTER)
    yield found
    found.stop()


def _release(policy: Any, folder: Path, name: str = "spark") -> Any:
    scratch = folder / f"{name}-scratch"
    scratch.mkdir(parents=True)
    return make_release(policy, EngineOptions("spark", scratch=scratch), folder / name)


@pytest.mark.parametrize(
    ("algorithm", "seed"),
    [("optimal", 0), ("samarati", 1), ("incognito", 2), ("mondrian", 0), ("top-down", 1), ("tds", 2), ("auto", 3)],
)
def test_release_is_that_of_memory(tmp_path: Path, session: Any, algorithm: str, seed: int) -> None:
    """For full-domain and local algorithms, random tables and random requirements."""
    policy = write_case(engine_case(seed, algorithm), tmp_path, repeated=1 + seed % 2)
    assert_same_release(make_release(policy, None, tmp_path / "memory"), _release(policy, tmp_path))


@pytest.mark.parametrize(("algorithm", "seed"), [("optimal", 0), ("incognito", 1)])
def test_tasks_search_where_the_driver_may_not(
    tmp_path: Path, session: Any, monkeypatch: pytest.MonkeyPatch, algorithm: str, seed: int
) -> None:
    """Nodes are judged in tasks, several of them, where different rows exceed what the driver may use."""
    monkeypatch.setattr(spark_engine, "_KEYS_OF_BUCKET", 30)
    policy = write_case(wide_case(seed, algorithm), tmp_path)
    in_memory, scratch = make_release(policy, None, tmp_path / "memory"), tmp_path / "scratch"
    scratch.mkdir()
    options = EngineOptions("spark", scratch=scratch, memory=spark_engine._SEARCHED * WIDE_LINES)
    made = make_release(policy, options, tmp_path / "spark")
    assert made is not None
    assert made.encoded.coarse
    assert_same_release(in_memory, made)


def _people(rows: int) -> Any:
    """Rows of every kind of cell that Spark could spoil."""
    numbers = range(rows)
    return pa.table(
        {
            "age": pa.array([number % 7 for number in numbers], pa.uint8()),
            "A.b": [f"x{number % 3}" for number in numbers],
            "a.B": [f"y{number % 2}" if number % 5 else None for number in numbers],
            "`tick`": pa.array([-0.0, 0.0, None, 1.5] * (rows // 4), pa.float64()),
            "wide": pa.array([Decimal(10) ** 50 + number for number in numbers], pa.decimal256(60, 0)),
            "large": pa.array([2**64 - 1 - number for number in numbers], pa.uint64()),
            "nano": pa.array([10**18 + number for number in numbers], pa.int64()).cast(pa.timestamp("ns")),
            "clock": pa.array([time(1, 2, number % 60, number) for number in numbers], pa.time64("us")),
        }
    )


def _rules(source: Path, **more: Any) -> dict[str, Any]:
    quasi = {"role": "quasi", "hierarchy": "suppress"}
    plain = ("`tick`", "wide", "large", "nano", "clock")
    columns = {"age": quasi, "A.b": quasi, "a.B": {"role": "sensitive"}} | {name: {"role": "plain"} for name in plain}
    return {
        "data": {"source": str(source)},
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "publish": {"format": "parquet"},
        **more,
    }


def _cells(folder: Path, table: str = "table") -> Counter[Any]:
    files = sorted([*folder.glob(f"public/{table}.parquet"), *folder.glob(f"public/{table}/*.parquet")])
    rows = pa.concat_tables([pq.read_table(file) for file in files])
    return Counter(repr(sorted(row.items())) for row in rows.to_pylist())


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian"])
def test_every_type_is_carried_exactly(
    tmp_path: Path, session: Any, monkeypatch: pytest.MonkeyPatch, algorithm: str
) -> None:
    """Types that Spark has not, names that differ by case, with dots and ticks, over several parts and files."""
    monkeypatch.setattr(spark_source, "_PART_ROWS", 100)
    monkeypatch.setattr(spark_engine, "_FILE_ROWS", 150)
    source = tmp_path / "people.parquet"
    pq.write_table(_people(600), source, row_group_size=64)
    policy = load(_rules(source, algorithm={"name": algorithm, "suppression": 0.1}))
    in_memory, on_spark = make_release(policy, None, tmp_path / "memory"), _release(policy, tmp_path)
    assert in_memory is not None
    assert on_spark.levels == in_memory.levels
    assert on_spark.suppressed == in_memory.suppressed
    assert _cells(tmp_path / "spark") == _cells(tmp_path / "memory")
    parts = sorted(path.name for path in (tmp_path / "spark" / "public" / "table").iterdir())
    assert parts == [f"part-{number:05}.parquet" for number in range(len(parts))]
    assert len(parts) == 4
    footer = pq.read_metadata(tmp_path / "spark" / "public" / "table" / parts[0])
    assert set(footer.metadata) == set(pq.read_metadata(tmp_path / "memory" / "public" / "table.parquet").metadata)
    assert not [path for path in (tmp_path / "spark").rglob("*") if path.name.startswith((".", "_"))]


def test_large_csv_is_cut_at_records(tmp_path: Path, session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is cut at any line end, or, where cells have quotes, at the ends of records alone."""
    monkeypatch.setattr(spark_source, "_RANGE", 2000)
    monkeypatch.setattr(spark_engine, "_FILE_ROWS", 300)
    folder = tmp_path / "in"
    folder.mkdir()
    lines = [f"{number % 9},{'mf'[number % 2]},note {number}" for number in range(700)]
    (folder / "a.csv").write_text("age,sex,note\n" + "\n".join(lines) + "\n", encoding="utf-8")
    quoted = [f'{number % 9},?,"a ""note""\nof {number}, and more"' for number in range(500)]
    (folder / "b.csv").write_text("\ufeffage,sex,note\r\n" + "\r\n".join(quoted), encoding="utf-8")
    quasi = {"role": "quasi", "hierarchy": "suppress"}
    document = {
        "data": {"source": str(folder / "*.csv"), "null": ["?"]},
        "columns": {"age": quasi, "sex": quasi, "note": {"role": "plain"}},
        "privacy": [{"model": "k-anonymity", "k": 5}],
    }
    policy = load(document)
    make_release(policy, None, tmp_path / "memory")
    release = _release(policy, tmp_path)
    assert len(release.publication.rows_elsewhere.counted.engine.source.reader.parts) >= 10
    assert published_rows(tmp_path / "spark", "table") == published_rows(tmp_path / "memory", "table")
    assert len(list((tmp_path / "spark" / "public" / "table").iterdir())) == 4


def test_damaged_file_is_one_sentence(tmp_path: Path, session: Any) -> None:
    """It is the reader's sentence, with the number of the record and without a cell, and nothing is left."""
    source = tmp_path / "bad.csv"
    source.write_text("age,sex\n" + "1,m\n" * 50 + "secret-cell\n", encoding="utf-8")
    quasi = {"role": "quasi", "hierarchy": "suppress"}
    policy = load(
        {
            "data": {"source": str(source)},
            "columns": {"age": quasi, "sex": quasi},
            "privacy": [{"model": "k-anonymity", "k": 2}],
        }
    )
    with pytest.raises(DataError, match="record 51 has 1 cells where the header has 2") as error:
        _release(policy, tmp_path)
    assert "secret" not in str(error.value)
    assert not (tmp_path / "spark").exists()


def test_frame_in_frame_out(tmp_path: Path, session: Any) -> None:
    """A Spark DataFrame comes in and one comes out, with the rows that memory publishes; so do Spark's readers."""
    columns = {"age": [f"{number % 6}" for number in range(300)], "Visits": list(range(300))}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    document = {
        "columns": {"age": {"role": "quasi", "hierarchy": {"mask": "right"}}, "Visits": {"role": "plain"}},
        "privacy": [{"model": "k-anonymity", "k": 60}],
        "algorithm": {"name": "optimal"},
    }
    wanted = Counter(map(repr, sf.anonymize(tmp_path / "rows.parquet", document).table.to_pylist()))
    frame = session.createDataFrame([(age, visit) for age, visit in zip(*columns.values(), strict=True)], list(columns))
    release = sf.anonymize(frame, document, engine="spark")
    published = release.table
    assert published.columns == ["age", "Visits"]
    assert Counter(repr(row.asDict()) for row in published.collect()) == wanted
    with pytest.raises(DataError, match='say engine="spark"'):
        sf.anonymize(frame, document)
    url = (tmp_path / "rows.parquet").as_uri()
    again = sf.anonymize(None, {**document, "data": {"source": url}}, engine="spark")
    assert Counter(repr(row.asDict()) for row in again.table.collect()) == wanted
    pyarrow.csv.write_csv(pq.read_table(tmp_path / "rows.parquet"), tmp_path / "rows.csv")
    by_text = sf.anonymize(None, {**document, "data": {"source": (tmp_path / "rows.csv").as_uri()}}, engine="spark")
    assert by_text.table.count() == 300
    frame.createOrReplaceTempView("people")


def test_retried_tasks_give_the_same_blocks(tmp_path: Path) -> None:
    """What is worked out again for a lost machine is, byte for byte, what was lost; with another secret it is not."""
    source = tmp_path / "people.parquet"
    pq.write_table(_people(400), source)
    reader = spark_tasks.PartReader(
        (spark_tasks.TablePart(str(source), "parquet", spark_tasks.file_state(source), 0, 1),),
        spark_source.reading_policy(load(_rules(source))),
        pq.read_schema(source),
    )

    class Value:
        """A broadcast variable."""

        def __init__(self, value: Any) -> None:
            self.value = value

    marker = spark_tasks.Marker.set_up(tmp_path)
    numbers = pa.record_batch([pa.array([0])], names=["id"])

    def blocks(key: bytes) -> list[Any]:
        words = spark_tasks.OrderWords.for_table(key, "table")
        packing = Value(_Unlabelled(reader.schema))
        task = spark_tasks.LabelRows(marker, Value(reader), packing, words, 8)
        return [batch.to_pydict() for batch in task([numbers])]

    assert blocks(b"k" * 32) == blocks(b"k" * 32)
    assert blocks(b"k" * 32) != blocks(b"l" * 32)


class _Unlabelled:
    """Publishes rows as they are."""

    def __init__(self, schema: Any) -> None:
        self.schema, self.labeller = schema, self
        self.source_columns, self.entries = schema.names, None

    def __call__(self, batch: Any) -> Any:
        return batch

    def pack(self, batch: Any, words: Any) -> Any:
        """Add the words."""
        return batch.append_column(spark_tasks.WORD, pa.array(words))


def test_folder_that_workers_do_not_see(tmp_path: Path) -> None:
    """A task that does not see the marker of the driver says so, by its kind."""
    marker = spark_tasks.Marker(str(tmp_path / "elsewhere"), "token")
    (batch,) = spark_tasks.MergeKeys(marker, 10, str(tmp_path), 10)([])
    assert json.loads(batch.column("error")[0].as_py())["kind"] == "UnsharedFolder"
    assert "all of them share" in str(spark_engine.unshared_folder())
