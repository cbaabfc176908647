"""SQLite and DuckDB files: read by query or table, never changed, and refused with a sentence."""

import datetime as dt
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from sfumato.core.memory import VARIABLE
from sfumato.errors import DataError
from sfumato.policy import load
from sfumato.table import read_table

Rules = Callable[..., dict[str, Any]]
Runs = Callable[..., Any]

ROWS = [(20, "Bern", "secret 1"), (21, None, "secret 2"), (22, "Thun", "secret 3")]
FOUND = {"age": [20, 21, 22], "town": ["Bern", None, "Thun"]}
CREATE = "CREATE TABLE visits (age INTEGER, town TEXT, ssn TEXT)"


def write_sqlite(path: Path, *more: str) -> None:
    """Write a table by Python's own SQLite, and what else is asked for."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(CREATE)
        connection.executemany("INSERT INTO visits VALUES (?, ?, ?)", ROWS)
        for statement in more:
            connection.execute(statement)


def write_duckdb(path: Path, *more: str) -> None:
    """Write the same by DuckDB."""
    with closing(duckdb.connect(str(path))) as connection:
        connection.execute(CREATE)
        connection.executemany("INSERT INTO visits VALUES (?, ?, ?)", ROWS)
        for statement in more:
            connection.execute(statement)


WRITERS: dict[str, Callable[..., None]] = {"sqlite": write_sqlite, "duckdb": write_duckdb}
KINDS = list(WRITERS)


def _policy(rules: Rules, **data: Any) -> Any:
    return load(rules({"age": "quasi", "town": "plain", "ssn": "identifier"}, data=data))


@pytest.mark.parametrize("kind", KINDS)
def test_the_only_table_is_read(tmp_path: Path, rules: Rules, kind: str) -> None:
    """A file with one table needs no word more, and its identifiers stay where they are."""
    WRITERS[kind](tmp_path / f"t.{kind}")
    assert read_table(tmp_path / f"t.{kind}", _policy(rules)).arrow.to_pydict() == FOUND


@pytest.mark.parametrize("kind", KINDS)
def test_by_table_query_and_url(tmp_path: Path, rules: Rules, kind: str) -> None:
    """A table is read by its name or a query, by path and by URL, whatever the file is called."""
    path = tmp_path / "data.bin"
    WRITERS[kind](path, "CREATE TABLE other (x INTEGER)", "CREATE VIEW young AS SELECT * FROM visits WHERE age < 22")
    with pytest.raises(
        DataError, match=r"has the tables 'other', 'visits', 'young'; say table = \".*--table or --query to init"
    ):
        read_table(path, _policy(rules))
    assert read_table(path, _policy(rules, table="visits")).arrow.to_pydict() == FOUND
    assert read_table(path, _policy(rules, table="young")).arrow.num_rows == 2
    for query in (
        "select age, town, ssn from visits where age > 20;",
        "with v as (select * from visits) select v.* from v where age > 20 -- a comment",
    ):
        assert read_table(path, _policy(rules, query=query)).arrow.column("age").to_pylist() == [21, 22]
    policy = _policy(rules, source=f"{kind}:///{path}", table="visits")
    assert policy.source.path == path
    assert read_table(policy.source.path, policy).arrow.to_pydict() == FOUND


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_from_init_to_a_release(tmp_path: Path, runs: Runs, kind: str) -> None:
    """The query is written into the policy by init, anonymize reads by it, and --data names another table."""
    many = (
        "INSERT INTO visits SELECT 20 + x % 5, 'Bern', x || '-00-' || x FROM (WITH RECURSIVE n(x) AS "
        "(SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 90) SELECT x FROM n)"
    )
    WRITERS[kind](tmp_path / f"t.{kind}", many)
    query = "select age, town from visits where town is not null"
    assert runs("init", f"{kind}:///t.{kind}", "--query", query).code == 0
    text = (tmp_path / "policy.toml").read_text()
    assert f'query = "{query}"' in text
    made = runs("anonymize", "policy.toml", "--json")
    assert made.code == 0, made.err
    assert json.loads(made.out)["rows"] + json.loads(made.out)["suppressed"] == 92
    (tmp_path / "sample.csv").write_text("age,town\n" + "20,Bern\n" * 30)
    assert runs("anonymize", "policy.toml", "--data", "sample.csv", "--out", "other").code == 0
    audit = json.loads((tmp_path / "other/private/audit.json").read_text())
    assert "query" not in audit["policy"]["data"]
    assert runs("utility", "other", "--original", f"{kind}:///t.{kind}", "--policy", "policy.toml").code == 0
    assert runs("risk", f"t.{kind}", "--policy", "policy.toml").code == 0


def test_sqlite_cells_of_any_kind(tmp_path: Path, rules: Rules) -> None:
    """Columns of SQLite hold what they are given: of several kinds they are text, whole numbers are whole."""
    path = tmp_path / "t.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t (a, b REAL, c)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [(1, 20.0, None), ("x", 21.0, 1.5), (2.5, 3.0, 2)])
    policy = load(rules({"a": "quasi", "b": "plain", "c": "plain"}))
    assert read_table(path, policy).arrow.to_pydict() == {
        "a": ["1", "x", "2.5"],
        "b": [20, 21, 3],
        "c": [None, 1.5, 2.0],
    }


def test_sqlite_in_pieces(tmp_path: Path, rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read piece by piece is what is read at once."""
    monkeypatch.setattr("sfumato.table.database_files.PIECE", 2)
    path = tmp_path / "t.db"
    cells = [1, 2, 3, 4.5, None, None, "x", 8]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t (a)")
        connection.executemany("INSERT INTO t VALUES (?)", [(cell,) for cell in cells])
    found = read_table(path, load(rules({"a": "quasi"}))).arrow.column("a").to_pylist()
    assert found == ["1", "2", "3", "4.5", None, None, "x", "8"]


def test_duckdb_types(tmp_path: Path, rules: Rules) -> None:
    """Columns of DuckDB keep their types; one that cannot be published is named."""
    path = tmp_path / "t.duckdb"
    with closing(duckdb.connect(str(path))) as connection:
        connection.execute("CREATE TABLE t AS SELECT DATE '2020-01-31' AS day, 1.50::DECIMAL(4, 2) AS sum, [1] AS list")
    roles = {"day": "quasi", "sum": "plain", "list": "identifier"}
    table = read_table(path, load(rules(roles)))
    assert table.arrow.column("day").to_pylist() == [dt.date(2020, 1, 31)]
    assert pa.types.is_decimal(table.type_of("sum"))
    with pytest.raises(DataError, match="column 'list' holds list"):
        read_table(path, load(rules(roles | {"list": "plain"})))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"query": "select age from nowhere"}, "does not answer"),
        ({"query": "select from where"}, "does not answer"),
        ({"table": "nowhere"}, "does not answer"),
        ({"query": "delete from visits"}, "does not answer|would change"),
        ({"query": "select 1 as age; drop table visits"}, "does not answer|several statements"),
        ({"query": "select age, age, town, ssn from visits"}, "stand twice|without a role"),
    ],
)
def test_bad_queries(tmp_path: Path, rules: Rules, kind: str, data: dict[str, str], words: str) -> None:
    """A query that cannot be answered is one sentence, and the file is as it was."""
    path = tmp_path / f"t.{kind}"
    WRITERS[kind](path)
    before = path.read_bytes()
    with pytest.raises(DataError, match=words) as caught:
        read_table(path, _policy(rules, **data))
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)
    assert path.read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == [path.name]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("damage", ["cut", "junk", "middle"])
def test_damaged_files(tmp_path: Path, rules: Rules, kind: str, damage: str) -> None:
    """A damaged database is one sentence."""
    path = tmp_path / f"t.{kind}"
    WRITERS[kind](path)
    content = bytearray(path.read_bytes())
    if damage == "middle":
        content[100 : len(content)] = b"\xff" * (len(content) - 100)
    path.write_bytes(
        {"cut": bytes(content[: len(content) // 2]), "junk": b"junk" * 999, "middle": bytes(content)}[damage]
    )
    with pytest.raises(DataError, match=r"cannot be read as|is no SQLite file|does not answer") as caught:
        read_table(path, _policy(rules, table="visits"))
    assert "\n" not in str(caught.value)


def test_duckdb_reads_no_other_file(tmp_path: Path, rules: Rules) -> None:
    """A query on a DuckDB file sees that file alone."""
    write_duckdb(tmp_path / "t.duckdb")
    (tmp_path / "other.csv").write_text("age,town,ssn\n1,x,y\n")
    query = f"select * from read_csv('{tmp_path / 'other.csv'}')"
    with pytest.raises(DataError, match="reads other files than this one"):
        read_table(tmp_path / "t.duckdb", _policy(rules, query=query))
    query = f"copy (select 1) to '{tmp_path / 'written.csv'}'"
    with pytest.raises(DataError):
        read_table(tmp_path / "t.duckdb", _policy(rules, query=query))
    assert not (tmp_path / "written.csv").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_too_many_rows(tmp_path: Path, rules: Rules, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are counted before or while they are read, and more than fit into memory are refused."""
    WRITERS[kind](tmp_path / f"t.{kind}")
    monkeypatch.setenv(VARIABLE, "20")
    with pytest.raises(DataError, match=rf"t\.{kind}, with 3 rows(| or more), takes at least"):
        read_table(tmp_path / f"t.{kind}", _policy(rules))


def test_what_was_written_last_is_seen(tmp_path: Path, rules: Rules) -> None:
    """Rows that SQLite still has in its log beside the file are read as well."""
    path = tmp_path / "t.db"
    write_sqlite(path)
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("INSERT INTO visits VALUES (23, 'Biel', 'x')")
        writer.commit()
        assert read_table(path, _policy(rules)).rows == 4


def test_repeated_identifiers_are_counted(tmp_path: Path, runs: Runs) -> None:
    """A database's identifiers are counted like a file's: one that repeats is warned of."""
    repeat = "INSERT INTO visits SELECT age, town, ssn FROM visits"
    write_sqlite(tmp_path / "t.sqlite", repeat)
    (tmp_path / "p.toml").write_text(
        '[data]\nsource = "t.sqlite"\n[columns]\nage = { role = "quasi", hierarchy = "suppress" }\n'
        'town = { role = "plain" }\nssn = { role = "identifier" }\n[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
    )
    made = runs("anonymize", "p.toml")
    assert made.code == 0
    assert "'ssn'" in made.err
