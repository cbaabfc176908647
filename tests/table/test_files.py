"""Parquet and Feather: types as they are, and clear words for what cannot be published."""

import datetime as dt
import random
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather
from pyarrow import parquet as pq

from sfumato.errors import DataError
from sfumato.policy import load
from sfumato.table import column_names, read_table

Reads = Callable[..., dict[str, list[Any]]]
Rules = Callable[..., dict[str, Any]]
Write = Callable[[Any, Path], None]

TYPED = {
    "int": pa.array([1, None]),
    "byte": pa.array([1, None], pa.uint8()),
    "float": pa.array([1.5, None]),
    "date": pa.array([dt.date(2020, 1, 1), None]),
    "time": pa.array([dt.time(1, 2), None]),
    "stamp": pa.array([dt.datetime(2020, 1, 1, 1), None]),  # noqa: DTZ001 - the zone is what is not there
    "zoned": pa.array([dt.datetime(2020, 1, 1, tzinfo=dt.UTC), None], pa.timestamp("us", "Europe/Zurich")),
    "span": pa.array([dt.timedelta(1), None]),
    "bool": pa.array([True, None]),
    "text": pa.array(["007", None]),
    "large": pa.array(["007", None], pa.large_string()),
    "category": pa.array(["x", None]).dictionary_encode(),
    "decimal": pa.array([Decimal("-1.10"), None]),
    "nothing": pa.nulls(2),
}
NESTED = {
    "list": pa.array([[1], None]),
    "struct": pa.array([{"x": 1}, None]),
    "map": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
    "binary": pa.array([b"x", None]),
    "uuid": pa.array([b"0" * 16, None], pa.binary(16)).cast(pa.uuid()),
    "half": pa.array([np.float16(1.5), None], pa.float16()),
}


def _feather_2(table: Any, path: Path) -> None:
    feather.write_feather(table, path)


def _plain_feather(table: Any, path: Path) -> None:
    feather.write_feather(table, path, compression="uncompressed")


WRITERS: dict[str, Write] = {"parquet": pq.write_table, "feather": _feather_2, "arrow": _plain_feather}


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("name", TYPED)
def test_types_are_kept(tmp_path: Path, rules: Rules, kind: str, name: str) -> None:
    """A column comes in as the type and the values it has in the file, whatever its role."""
    WRITERS[kind](pa.table({"q": TYPED[name], "p": TYPED[name]}), tmp_path / f"t.{kind}")
    table = read_table(tmp_path / f"t.{kind}", load(rules({"q": "quasi", "p": "plain"})))
    assert table.arrow.to_pydict() == {"q": TYPED[name].to_pylist(), "p": TYPED[name].to_pylist()}
    assert {table.type_of("q"), table.type_of("p")} == {TYPED[name].type}


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("name", NESTED)
def test_what_cannot_be_published_is_named(tmp_path: Path, rules: Rules, kind: str, name: str) -> None:
    """A column of lists, objects or bytes is refused by name, unless it is an identifier."""
    path = tmp_path / f"t.{kind}"
    WRITERS[kind](pa.table({"q": ["x", "y"], "p": NESTED[name]}), path)
    with pytest.raises(DataError, match="column 'p' holds "):
        read_table(path, load(rules({"q": "quasi", "p": "plain"})))
    assert read_table(path, load(rules({"q": "quasi", "p": "identifier"}))).arrow.column_names == ["q"]


def test_feather_version_1(tmp_path: Path, rules: Rules) -> None:
    """The first version of the format is refused with a way out: a damaged file would crash its reader."""
    path = tmp_path / "t.feather"
    path.write_bytes(b"FEA1" + bytes(64) + b"FEA1")
    with pytest.raises(DataError, match="Feather file of version 1; save it as version 2"):
        read_table(path, load(rules({"q": "quasi"})))


def test_the_format_is_seen_in_the_bytes(tmp_path: Path, rules: Rules) -> None:
    """A Parquet file under another name is read as what it is."""
    pq.write_table(pa.table({"q": ["x"]}), tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv", load(rules({"q": "quasi"}))).arrow.to_pydict() == {"q": ["x"]}


def test_the_path_adds_no_column(tmp_path: Path, rules: Rules) -> None:
    """A folder called q=z on the way to a file is a folder, not a column."""
    (tmp_path / "q=z").mkdir()
    pq.write_table(pa.table({"q": ["x"]}), tmp_path / "q=z" / "t.parquet")
    assert read_table(tmp_path / "q=z" / "t.parquet", load(rules({"q": "quasi"}))).arrow.to_pydict() == {"q": ["x"]}


def test_pandas_notes_do_not_come_along(tmp_path: Path, rules: Rules) -> None:
    """What pandas notes in a file about its index and columns is left behind."""
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"q": ["x"]}, index=["CANARY"]).to_parquet(tmp_path / "t.parquet", index=True)
    names = column_names(tmp_path / "t.parquet", load(rules({"q": "quasi"})).source)
    policy = load(rules(dict.fromkeys(names, "identifier") | {"q": "quasi"}))
    assert read_table(tmp_path / "t.parquet", policy).arrow.schema.metadata is None


@pytest.mark.parametrize("kind", WRITERS)
def test_damaged_files_are_refused(tmp_path: Path, rules: Rules, kind: str) -> None:
    """A file cut short or with bytes changed gives rows or a sentence, never a crash; a cut one never rows."""
    path = tmp_path / f"t.{kind}"
    WRITERS[kind](pa.table({"q": ["SECRET", "b"] * 50, "p": list(range(100))}), path)
    whole, policy, draw = path.read_bytes(), load(rules({"q": "quasi", "p": "plain"})), random.Random(1)
    for length in range(8, len(whole), max(len(whole) // 40, 1)):
        path.write_bytes(whole[:length])
        with pytest.raises(DataError) as caught:
            read_table(path, policy)
        assert "SECRET" not in str(caught.value)
    for _ in range(150):
        damaged = bytearray(whole)
        for place in draw.sample(range(len(whole)), 3):
            damaged[place] = draw.randrange(256)
        path.write_bytes(damaged)
        with suppress(DataError):
            assert read_table(path, policy).rows > 0


@pytest.mark.parametrize("kind", ["parquet", "feather", "coded feather"])
def test_time_zones_that_nobody_knows(tmp_path: Path, rules: Rules, kind: str) -> None:
    """A column of times in a zone that does not exist is refused by its name and the zone's, unless it is not read."""
    stamps = pa.array([0, 1], pa.timestamp("us", "Mars/Base"))
    coded, _, kind = kind.rpartition(" ")
    path = tmp_path / f"t.{kind}"
    WRITERS[kind](pa.table({"q": stamps.dictionary_encode() if coded else stamps, "p": ["x", "y"]}), path)
    with pytest.raises(DataError, match=r"column 'q' is in a time zone that this machine does not know, .*Mars/Base"):
        read_table(path, load(rules({"q": "quasi", "p": "quasi"})))
    assert read_table(path, load(rules({"q": "identifier", "p": "quasi"}))).rows == 2


def test_times_that_no_calendar_has(tmp_path: Path, runs: Any) -> None:
    """A time so far away that nothing can print it is a sentence, and no bug."""
    stamps = pa.array([2**62, 2**62], pa.timestamp("s", "Europe/Zurich"))
    feather.write_feather(pa.table({"q": stamps}), tmp_path / "t.feather")
    outcome = runs("risk", "t.feather", "--quasi", "q")
    assert outcome.code in {0, 2}
    assert "bug of sfumato" not in outcome.err


def test_text_that_is_none_is_refused(tmp_path: Path, rules: Rules) -> None:
    """Bytes that are not UTF-8 in a column of text are found before they are published."""
    broken = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"]).buffers())
    pq.write_table(pa.table({"q": broken}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        read_table(tmp_path / "t.parquet", load(rules({"q": "quasi"})))
