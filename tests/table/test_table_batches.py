"""Tables in batches: the rows, types and sentences of a table that is read as a whole, whatever size they have."""

import csv
import gzip
import io
import json
import os
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import feather
from pyarrow import parquet as pq

from sfumato.errors import DataError
from sfumato.policy import load
from sfumato.table import find_repeated_identifiers, read_table, table_from
from sfumato.table.files import file_digest
from sfumato.table.table_batches import find_repeated_in_batches, open_batches
from sfumato.table.unpacking import _unpack as unpack

Rules = Callable[..., dict[str, Any]]


@pytest.fixture(params=[1, 7, 64, 1 << 20])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Bytes that are read at once."""
    found: int = request.param
    force_size(monkeypatch, found)
    return found


@pytest.fixture(params=[40, 1 << 20])
def coarse(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The same, for tests that do not cut text anywhere."""
    found: int = request.param
    force_size(monkeypatch, found)
    monkeypatch.setattr("sfumato.table.database_files.PIECE", found)
    return found


def force_size(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Read so many bytes at once."""
    for name in ("_SMALLEST_PART", "_LARGEST_PART"):
        monkeypatch.setattr(f"sfumato.table.batch_source.{name}", size)


def outcome(read: Callable[[], Any]) -> Any:
    """What a function gives, or the sentence that it refuses by."""
    try:
        return read()
    except DataError as error:
        return str(error)


def read_whole(data: Any, policy: Any) -> Any:
    """The cells, types and warnings of a table that is read as a whole."""
    table = table_from(data, policy)
    types = [(name, table.type_of(name)) for name in table.arrow.column_names]
    return table.arrow.to_pydict(), types, table.warnings


def read_batches(data: Any, policy: Any) -> Any:
    """The same of one that is read in batches."""
    with open_batches(data, policy, memory=1 << 28) as batches:
        cells: dict[str, list[Any]] = {name: [] for name in batches.schema.names}
        for batch in batches:
            assert batch.num_rows
            for name, column in pa.Table.from_batches([batch]).to_pydict().items():
                cells[name] += column
        assert batches.digest() == (file_digest(data) if isinstance(data, Path) else None)
        return cells, [(field.name, field.type) for field in batches.schema], batches.warnings


def check_same(data: Any, policy: Any) -> Any:
    """Read a table in both ways, and give what came out."""
    whole = outcome(lambda: read_whole(data, policy))
    assert repr(outcome(lambda: read_batches(data, policy))) == repr(whole)  # NaN is not equal to itself
    return whole


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n1,2\n",
        "a;b\r\n1;2\r\n3;4\r\n",
        "a\tb\r1\t2\r3\t4\r",
        "\ufeffa,b\n\ufeff1,2\n\ufeff3,4",
        'a,b\n"x,y","one\ntwo"\n"say ""hi""",5" disk\n,""\n"",',
        'a,b\n5" disk,6" disk\n7",8\n"9\r\n",10\n',
        '"a\nx",b\n1,2\n',
        "a,b\n\n1,2\n\n\n3,4\n\n",
        ",b\n1,2\n3,4\n",
        "a,b\n" + "xyz,é\n" * 100,
        "a,b\n",
        "a,b",
        "a,a\n1,2\n",
        "a\n1\n",
        "\n\n",
        "a,b\n1,2\n3\n",
        "a,b\n1,2\n\n3,4,5\n6,7\n",
        "a,b\n1,2,3\n",
        "a,b\n" + "1,2\n" * 40 + "1,SECRET,3\n" + "1,2\n",
        'a,b\n1,2\n3,"SECRET\n4,5\n',
        'a,b\n1,2\n3,"SECRET',
        'a,b\n1,2,3\n"SECRET\n3,4\n5,6\n"SECRET,7\n',
        "a,b\n1,2\nZürich,1\n1,2,3\n".encode("latin-1"),
        "a,b\n1,2\n1,2,3\nZürich,1\n".encode("latin-1"),
        b'a,b\n\xff,1\n"x"y,2\n',
        "a,b\n1,2\n".encode("utf-16"),
    ],
)
def test_csv(tmp_path: Path, rules: Rules, size: int, content: str | bytes) -> None:
    """Every file, sound or not, ends as it does when it is read as a whole."""
    path = tmp_path / "t.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    names = ("a\nx", "b") if isinstance(content, str) and content.startswith('"a') else ("a", "b")
    names = ("column 1", "b") if content[:1] == "," else names
    check_same(path, load(rules({names[0]: "quasi", names[1]: "plain"})))


@pytest.mark.parametrize("content", ["a\nx\n\ny\n", "a\nx\n\n\n", "a\n\n", "a\rx\r\ry", "a\r\nx\r\n\r\n\r\ny"])
def test_csv_of_one_column(tmp_path: Path, rules: Rules, size: int, content: str) -> None:
    """A blank line is a row without a value, wherever the file is cut."""
    (tmp_path / "t.csv").write_bytes(content.encode())
    check_same(tmp_path / "t.csv", load(rules({"a": "quasi"})))


CELLS = st.text(st.sampled_from('ab,;"\n\r\t \ufeffé'), max_size=5)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=12),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONE]),
    st.sampled_from(["utf-8", "utf-16", "latin-1"]),
    st.sampled_from([1, 5, 23]),
)
def test_any_csv(  # noqa: PLR0913, PLR0917 - as many things make a file
    tmp_path: Path,
    rules: Rules,
    rows: list[tuple[str, str]],
    end: str,
    quoting: Any,
    encoding: str,
    size: int,
) -> None:
    """Any text, quoted or not, so that many a file is broken: cells are the same, or the sentence is."""
    if quoting == csv.QUOTE_NONE:
        content = end.join(",".join(row) for row in [("a", "b"), *rows])
    else:
        stream = io.StringIO()
        csv.writer(stream, quoting=quoting, lineterminator=end).writerows([("a", "b"), *rows])
        content = stream.getvalue()
    (tmp_path / "t.csv").write_bytes(content.encode(encoding, "replace"))
    policy = load(rules({"a": "quasi", "b": "plain"}, data={"separator": ",", "encoding": encoding}))
    with pytest.MonkeyPatch.context() as patch:
        force_size(patch, size)
        check_same(tmp_path / "t.csv", policy)


TYPED: dict[str, Any] = {
    "text": pa.array(["x", None, "y", "", "x"] * 5),
    "numbers": pa.array([1, None, 3, 4, 5] * 5, pa.int32()),
    "decimals": pa.array([Decimal("1.50"), None, Decimal("2.25"), Decimal(3), Decimal(4)] * 5, pa.decimal128(9, 2)),
    "floats": pa.array([1.5, None, float("nan"), 2.0, -0.0] * 5),
    "dates": pa.array([date(2020, 1, 31), None, date(1, 1, 1), date(9999, 12, 31), date(2000, 2, 29)] * 5),
    "times": pa.array([datetime(2020, 1, 31, 8, 5), None, None, None, None] * 5, pa.timestamp("us", "UTC")),  # noqa: DTZ001
    "codes": pa.array(["u", "v", None, "u", "w"] * 5).dictionary_encode(),
    "flags": pa.array([True, None, False, True, True] * 5),
    "nothing": pa.nulls(25),
    "a.b": pa.array(["dotted"] * 25),
    "a": pa.array(["prefix"] * 25),
    "views": pa.array(["x", None, "a text of more than twelve bytes", "", "x"] * 5, pa.string_view()),
}
TABLE = pa.table(TYPED)


@pytest.mark.parametrize("role", ["quasi", "plain"])
@pytest.mark.parametrize("kind", ["parquet", "feather", "duckdb", "small groups", "arrow"])
def test_types(tmp_path: Path, rules: Rules, coarse: int, kind: str, role: str) -> None:
    """Every type comes in batches as it does in a table, of files with large and small row groups and of frames."""
    policy = load(rules(dict.fromkeys(TYPED, role) | {"text": "quasi", "a.b": "identifier"}))
    data: Any = tmp_path / f"t.{'parquet' if kind == 'small groups' else kind}"
    if kind == "duckdb":
        with closing(duckdb.connect(str(data))) as connection:
            connection.register("given", TABLE)
            connection.execute("CREATE TABLE t AS SELECT * FROM given")
    elif kind == "feather":
        feather.write_feather(TABLE, str(data), chunksize=4)
    elif kind == "arrow":
        data = TABLE
    else:
        pq.write_table(TABLE, data, row_group_size=3 if kind == "small groups" else None)
    cells, _, _ = check_same(data, policy)
    assert "a.b" not in cells
    assert len(cells["text"]) == 25


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames(rules: Rules, coarse: int, kind: str) -> None:
    """Frames in memory are cut into slices."""
    library = pytest.importorskip(kind)
    table = pa.table({"a": ["x", None, "y"] * 9, "b": range(27)})
    frame = table.to_pandas() if kind == "pandas" else library.from_arrow(table)
    check_same(frame, load(rules({"a": "quasi", "b": "plain"})))


@pytest.mark.parametrize(
    "lines",
    [
        ['{"a": 1, "b": "x"}', '{"b": "y"}', "", '{"a": 2.5}'],
        ['{"b": "2020-01-31", "a": null}', '{"a": [1], "c": {"d": 1}}', '{"c": {"e": [null]}}'],
        ['{"a": "2020-01-31"}', '{"a": "x", "b": true}'],
        ['{"a": 1}', '{"a": 99999999999999999999, "b": null}'],
        ["{}", "{}"],
        ["[1]"],
        ['{"a": 1, "b": 1}', '{"a": "SECRET", "b": 1}'],
        ['{"a": 1, "b": 1}', '{"a": 2, "b": 2'],
        ['{"a": 1, "b": 1}', "1"],
        ['{"a": 1, "b": 1}', '{"a": ' + "[" * 200 + "]" * 200 + ', "b": 1}'],
    ],
)
def test_json_lines(tmp_path: Path, rules: Rules, size: int, lines: list[str]) -> None:
    """Columns and types that show only later, and objects that are none."""
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    columns = {"a": "quasi", "b": "plain"} | ({"c": "identifier"} if '"c"' in "".join(lines) else {})
    check_same(tmp_path / "t.jsonl", load(rules(columns)))


def test_json_lines_that_are_no_text(tmp_path: Path, rules: Rules, size: int) -> None:
    """Bytes that are not UTF-8 are refused."""
    (tmp_path / "t.jsonl").write_bytes(b'{"a": "x"}\n{"a": "y"}\n{"a": "\xff"}\n')
    assert "is not UTF-8" in check_same(tmp_path / "t.jsonl", load(rules({"a": "quasi"})))


ODD = [(1, "x", None, 2**60), (2.0, 3, None, 0.5), (None, None, None, 1), (7, b"\0", None, 2)] * 3


@pytest.mark.parametrize("query", [None, "select * from t where a > 1", "select 1 as a from t where 0", "nonsense"])
def test_sqlite(tmp_path: Path, rules: Rules, coarse: int, query: str | None) -> None:
    """Cells of any kind have the type that holds all of them, also of those that come later."""
    with closing(sqlite3.connect(tmp_path / "t.sqlite")) as connection:
        connection.execute("CREATE TABLE t (a, b, c, d)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", ODD)
        connection.commit()
    columns = {"a": "quasi"} if query and "0" in query else {"a": "quasi", "b": "plain", "c": "plain", "d": "plain"}
    data = {} if query is None else {"query": query}
    check_same(tmp_path / "t.sqlite", load(rules(columns, data={"source": "t.sqlite", **data})))


def test_sqlite_rows_that_are_not_the_same_twice(tmp_path: Path, rules: Rules) -> None:
    """A query that gives other rows each time is refused, and not read as what it was before."""
    with closing(sqlite3.connect(tmp_path / "t.sqlite")) as connection:
        connection.execute("CREATE TABLE t (a)")
        connection.execute("INSERT INTO t VALUES (1)")
        connection.commit()
    query = "select case when n < 10 then n else 'x' || n end as a from (select abs(random() % 1000000) n from t)"
    found = set()
    for _ in range(3):
        with open_batches(
            tmp_path / "t.sqlite", load(rules({"a": "quasi"}, data={"query": query})), memory=1 << 28
        ) as batches:
            object.__setattr__(batches._source, "_types", pa.schema([("a", pa.int64())]))
            found.add(outcome(lambda batches=batches: [batch.num_rows for batch in batches]))  # type: ignore[misc]
    assert any("gave other rows when it was asked once more" in str(one) for one in found)


def test_several_files(tmp_path: Path, rules: Rules, coarse: int) -> None:
    """Files of a pattern are one table, in types that they have in common; an error is of the file that it is in."""
    policy = load(rules({"a": "quasi", "b": "plain"}))
    pq.write_table(pa.table({"b": [1, 2, 3], "a": ["x", "y", None]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": ["x", "z"], "b": [0.5, None]}), tmp_path / "2.parquet")
    check_same(tmp_path, policy)
    (tmp_path / "3.csv").write_text(LINES)
    (tmp_path / "4.csv.gz").write_bytes(gzip.compress(LINES.encode()))
    cells, types, _ = check_same(tmp_path / "*[0-9].*", policy)
    assert types == [("b", pa.string()), ("a", pa.string())]
    assert cells["b"][:5] == ["1", "2", "3", "0.5", None]
    check_same(tmp_path / "[34].*", policy)
    check_same(tmp_path / "3*", policy)
    (tmp_path / "3.csv").write_text(LINES + "1,SECRET,3\n")
    assert "3.csv: record 51 has 3 cells" in check_same(tmp_path / "*.csv*", policy)
    with closing(sqlite3.connect(tmp_path / "5.sqlite")) as connection:
        connection.execute("CREATE TABLE t (a, b)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(1, 2.5), ("x", 3)])
        connection.commit()
    check_same(tmp_path / "[25].*", policy)
    pq.write_table(pa.table({"a": ["x"]}), tmp_path / "2.parquet")
    assert "has not the columns of 1.parquet" in check_same(tmp_path / "*.parquet", policy)


def test_an_empty_table(tmp_path: Path, rules: Rules, size: int) -> None:
    """A table without rows is refused when that is known."""
    pq.write_table(pa.table({"a": pa.array([], pa.string())}), tmp_path / "t.parquet")
    assert "has no rows" in check_same(tmp_path / "t.parquet", load(rules({"a": "quasi"})))


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pa.array([[1]]), "holds list<"),
        (pa.array([2**31 - 1], pa.int32()).cast(pa.date32()), "beyond the years 1 to 9999"),
        (pa.array([0], pa.timestamp("s", "Mars/Base")), "a time zone that this machine does not know"),
    ],
)
def test_what_cannot_be_published(tmp_path: Path, rules: Rules, column: Any, words: str) -> None:
    """Types that have no text, and dates that nobody can write, are refused."""
    feather.write_feather(pa.table({"a": column}), str(tmp_path / "t.feather"))
    assert words in check_same(tmp_path / "t.feather", load(rules({"a": "quasi"})))


@pytest.mark.parametrize("kind", ["parquet", "feather", "sqlite", "duckdb", "csv", "xlsx"])
def test_damaged_files(tmp_path: Path, rules: Rules, kind: str) -> None:
    """A file that is cut off, has bytes changed in its middle, or is another than its name says."""
    path, policy = tmp_path / f"t.{kind}", load(rules({"a": "quasi"}))
    column = [f"{row:x}" for row in range(20_000)]
    if kind == "parquet":
        pq.write_table(pa.table({"a": column}), path)
    elif kind == "feather":
        feather.write_feather(pa.table({"a": column}), str(path), compression="uncompressed")
    elif kind == "sqlite":
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE t (a)")
            connection.executemany("INSERT INTO t VALUES (?)", [(cell,) for cell in column])
            connection.commit()
    elif kind == "duckdb":
        with closing(duckdb.connect(str(path))) as database:
            database.execute("CREATE TABLE t AS SELECT range::text AS a FROM range(20000)")
    else:
        path.write_text("a\n" + "\n".join(column))
    content = path.read_bytes()
    middle = len(content) // 2
    for damaged in (content[:middle], content[:middle] + b"\xff" * 64 + content[middle + 64 :], b"PAR1", b"x"):
        path.write_bytes(damaged)
        check_same(path, policy)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("change", ["append", "touch", "replace", "remove", "truncate"])
def test_a_file_that_changes(
    tmp_path: Path, rules: Rules, monkeypatch: pytest.MonkeyPatch, kind: str, change: str
) -> None:
    """Whatever is done to a file after its first rows were read, what was read of it is not used."""
    force_size(monkeypatch, 64)
    path = tmp_path / f"t.{kind}"
    if kind == "csv":
        path.write_text(LINES)
    else:
        pq.write_table(pa.Table.from_pylist(list(csv.DictReader(io.StringIO(LINES)))), path, row_group_size=2)
    content = path.read_bytes()

    def read() -> None:
        with open_batches(path, load(rules({"a": "quasi", "b": "plain"})), memory=1 << 28) as batches:
            for place, _ in enumerate(batches):
                if place == 0:
                    make_change(path, change, content)

    with pytest.raises(DataError, match=rf"t\.{kind} was changed while it was read; try again"):
        read()


def make_change(path: Path, change: str, content: bytes) -> None:
    """Do something to a file."""
    if change == "append":
        path.write_bytes(content + content[-6:])
    elif change == "touch":
        os.utime(path, ns=(1, 1))
    elif change == "replace":
        path.with_name("other").write_bytes(content)
        path.with_name("other").rename(path)
    elif change == "remove":
        path.unlink()
    else:
        path.write_bytes(content[:20])


def test_a_file_that_comes_to_others(tmp_path: Path, rules: Rules) -> None:
    """A pattern has to stand for the same files at the end."""
    (tmp_path / "1.csv").write_text(LINES)

    def read() -> None:
        with open_batches(tmp_path / "*.csv", load(rules({"a": "quasi", "b": "plain"})), memory=1 << 28) as batches:
            for _ in batches:
                (tmp_path / "2.csv").write_text(LINES)

    with pytest.raises(DataError, match=r"2\.csv was changed while it was read"):
        read()


def test_whoever_stops_early(tmp_path: Path, rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches need not be taken to the end, and can be taken once more from the beginning."""
    force_size(monkeypatch, 16)
    (tmp_path / "t.csv").write_text(LINES)
    with open_batches(tmp_path / "t.csv", load(rules({"a": "quasi", "b": "plain"})), memory=1 << 28) as batches:
        first = next(iter(batches))
        assert sum(batch.num_rows for batch in batches) == 50
        assert next(iter(batches)).equals(first)


IDENTIFIERS = pa.table(
    {
        "ssn": ["1", "1", "2", "3", None, None] * 2,
        "key": [str(row) for row in range(12)],
        "odd": [[1]] * 12,
        "born": ["2020-01-31"] * 12,
        "sex": ["f", "m"] * 6,
    }
)


@pytest.mark.parametrize("most", [3, 1000])
@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_identifiers_that_repeat(
    tmp_path: Path, rules: Rules, monkeypatch: pytest.MonkeyPatch, kind: str, most: int
) -> None:
    """The same are found as of a table that is held, with few rows and with many, and none beyond a bound."""
    force_size(monkeypatch, 24)
    for module in ("files", "table_batches"):
        monkeypatch.setattr(f"sfumato.table.{module}.FIRST_ROWS", most)
    path = tmp_path / f"t.{kind}"
    pq.write_table(IDENTIFIERS, path) if kind == "parquet" else feather.write_feather(IDENTIFIERS, str(path))
    names = IDENTIFIERS.column_names
    policy = load(rules(dict.fromkeys(names[:-1], "identifier") | {"sex": "quasi"}))
    found = find_repeated_in_batches(path, policy, rows=12, memory=1 << 28)
    assert found == find_repeated_identifiers(read_table(path, policy), policy) == {"ssn": pytest.approx(8 / 3)}
    assert find_repeated_in_batches(path, policy, rows=12, memory=64) == {}
    monkeypatch.setattr("sfumato.table.table_batches.MOST_CELLS", 5)
    assert find_repeated_in_batches(path, policy, rows=12, memory=1 << 28) == {}


def test_workbooks_and_statistics(tmp_path: Path, rules: Rules, coarse: int) -> None:
    """What has to be read as a whole is cut afterwards."""
    book, pandas = pytest.importorskip("openpyxl").Workbook(), pytest.importorskip("pandas")
    rows = [(row, "x" if row % 2 else None) for row in range(30)]
    for row in [("a", "b"), *rows]:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    policy = load(rules({"a": "quasi", "b": "plain"}))
    check_same(tmp_path / "t.xlsx", policy)
    pytest.importorskip("pyreadstat").write_sav(pandas.DataFrame(rows, columns=["a", "b"]), str(tmp_path / "t.sav"))
    check_same(tmp_path / "t.sav", policy)


LINES = "a,b\n" + "".join(f"{row},x{row % 3}\n" for row in range(50))


@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv.zst", "t.zip", "t.jsonl.gz", "t.parquet.gz"])
def test_compressed(tmp_path: Path, rules: Rules, coarse: int, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text is unpacked while it is read, and never as a whole; what is cut off is refused."""
    path, policy = tmp_path / name, load(rules({"a": "quasi", "b": "plain"}))
    path.write_bytes(pack(name))
    whole = read_whole(path, policy)
    if "parquet" not in name:
        monkeypatch.setattr("sfumato.table.unpacking._unpack", unpack_little)
    assert read_batches(path, policy) == whole
    path.write_bytes(pack(name)[:-9])
    assert "it is damaged or cut off" in outcome(lambda: read_batches(path, policy))


def unpack_little(content: Any, path: Path, most: int | None) -> int:
    """Refuse to unpack more than the first bytes, by which a format is told."""
    assert most == 1
    return unpack(content, path, most)


def pack(name: str) -> bytes:
    """The same rows in a compressed file of a name."""
    rows = list(csv.DictReader(io.StringIO(LINES)))
    content = LINES.encode()
    if "jsonl" in name:
        content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    if "parquet" in name:
        stream = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), stream)
        content = stream.getvalue()
    if name.endswith(".gz"):
        return gzip.compress(content)
    if name.endswith(".zst"):
        return bytes(pa.compress(content, codec="zstd", asbytes=True))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("visits.csv", content)
    return stream.getvalue()


def test_without_identifiers_nothing_is_read_again(
    tmp_path: Path, rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table of which every column is published has been read once, and there is nothing to look for."""
    opened: list[object] = []
    monkeypatch.setattr("sfumato.table.table_batches._open_source", lambda *_: opened.append(1))
    pq.write_table(IDENTIFIERS.select(["sex"]), tmp_path / "t.parquet")
    for rows in (12, 10**9):
        policy = load(rules({"sex": "quasi"}))
        assert find_repeated_in_batches(tmp_path / "t.parquet", policy, rows=rows, memory=1 << 28) == {}
    assert not opened
