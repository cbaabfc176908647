"""A release in a database: the same rows as the files, made whole or not at all."""

import datetime as dt
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from sfumato.errors import OutputError
from sfumato.publish import database_tables
from sfumato.release import prepare, write_release
from sfumato.verifier import verify

pytestmark = pytest.mark.slow

Rules = Callable[..., dict[str, Any]]
Runs = Callable[..., Any]

KINDS = ("sqlite", "duckdb")


def ask(kind: str, path: Path, query: str) -> list[Any]:
    """All rows of a query, by the database's own library."""
    connect = sqlite3.connect if kind == "sqlite" else duckdb.connect
    with closing(connect(str(path))) as connection:
        return list(connection.execute(query).fetchall())


def tables(kind: str, path: Path) -> list[str]:
    """The tables of a database; none where it is not there."""
    if not path.exists():
        return []
    listed = "select name from sqlite_master" if kind == "sqlite" else "select table_name from duckdb_tables()"
    return sorted(name for (name,) in ask(kind, path, listed))


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Each kind of database that is a file."""
    return str(request.param)


@pytest.fixture
def make(kind: str, tmp_path: Path, rules: Rules, people: Any, roles: dict[str, str]) -> Callable[..., Any]:
    """Makes a release of forty people that goes into a database in the test's folder."""

    def prepared(table: str = "visits", data: Any = None, columns: Any = None, **publish: Any) -> Any:
        to = {"url": f"{kind}:///{tmp_path / 'open.db'}", "table": table}
        policy = rules(columns or roles, publish={"to": to, **publish})
        return prepare(people if data is None else data, policy)

    return prepared


def test_the_table_has_the_rows_of_the_file(kind: str, make: Any, tmp_path: Path) -> None:
    """The table has the rows of the file in the same order, with types, and the folder verifies."""
    make().save(tmp_path / "release")
    rows = ask(kind, tmp_path / "open.db", "select * from visits")
    lines = (tmp_path / "release/public/table.csv").read_text().splitlines()
    assert [",".join(map(str, row)) for row in rows] == lines[1:]
    assert {type(row[3]) for row in rows} == {int}
    assert verify(tmp_path / "release").satisfied
    assert sorted(path.name for path in tmp_path.iterdir()) == ["open.db", "release"]


def test_two_tables(kind: str, make: Any, tmp_path: Path) -> None:
    """Each of two tables gets a table with the name of its file behind."""
    make(form="lossy-join").save(tmp_path / "release")
    assert tables(kind, tmp_path / "open.db") == ["visits_nss", "visits_ss"]


def test_an_existing_table_is_refused(kind: str, make: Any, tmp_path: Path) -> None:
    """A table that is there stays as it is, unless it may be replaced; other tables always stay."""
    make().save(tmp_path / "release")
    with pytest.raises(OutputError, match=r"open.db has a table 'visits' already; choose another name"):
        make().save(tmp_path / "second")
    assert not (tmp_path / "second").exists()
    make("other").save(tmp_path / "third")
    make().save(tmp_path / "release", force=True)
    assert tables(kind, tmp_path / "open.db") == ["other", "visits"]
    assert ask(kind, tmp_path / "open.db", "select count(*) from visits") == [(40,)]


@pytest.mark.parametrize("there", [False, True])
def test_a_failing_commit_leaves_nothing(
    kind: str, make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    """Where the commit fails, the folder is taken back, and what was there before is there again."""
    before = b""
    if there:
        make().save(tmp_path / "release")
        before = (tmp_path / "release/public/table.csv").read_bytes()

    def fail(_: Any) -> None:
        raise sqlite3.OperationalError("disk is full") if kind == "sqlite" else duckdb.IOException("disk is full")

    monkeypatch.setattr(database_tables._Sqlite if kind == "sqlite" else database_tables._Duckdb, "commit", fail)
    release = make()
    with pytest.raises(OutputError, match=r"there is no space left on its disk.*; nothing was published"):
        release.save(tmp_path / "release", force=there)
    assert not release.is_out
    if there:
        assert (tmp_path / "release/public/table.csv").read_bytes() == before
        assert tables(kind, tmp_path / "open.db") == ["visits"]
    else:
        assert list(tmp_path.iterdir()) == []


def test_a_view_is_not_replaced(kind: str, make: Any, tmp_path: Path) -> None:
    """What has the name of the table and is a view stays, and the sentence says what it is."""
    make("first").save(tmp_path / "release")
    connect = sqlite3.connect if kind == "sqlite" else duckdb.connect
    with closing(connect(str(tmp_path / "open.db"))) as connection:
        connection.execute("create view visits as select * from first")
        connection.commit()
    with pytest.raises(OutputError, match="what has the name is a view"):
        make().save(tmp_path / "second", force=True)
    assert not (tmp_path / "second").exists()
    assert ask(kind, tmp_path / "open.db", "select count(*) from visits") == [(40,)]


def _refuse(*_: Any, **__: Any) -> Any:
    raise RuntimeError("no")


@pytest.mark.parametrize("step", ["filling", "before", "rename"])
def test_any_failure_rolls_back(
    kind: str, make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Whatever fails on the way, there is neither table nor folder, nor a file of the database that was not there."""
    before = _refuse if step == "before" else None
    if step == "filling":
        monkeypatch.setattr(write_release, "verify_publication", _refuse)
    if step == "rename":
        monkeypatch.setattr("sfumato.release.folder._appear", _refuse)
    with pytest.raises(RuntimeError, match="no"):
        make().save(tmp_path / "release", before=before)
    assert list(tmp_path.iterdir()) == []


def test_what_is_held_is_compared(kind: str, make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that gives back something else than it was given is found out."""
    database = database_tables._Sqlite if kind == "sqlite" else database_tables._Duckdb
    fill = database.fill

    def lossy(self: Any, name: list[str], table: Any) -> Any:
        given, held = fill(self, name, table)
        return given, held.slice(1)

    monkeypatch.setattr(database, "fill", lossy)
    with pytest.raises(OutputError, match="does not give back in table 'visits' what was put into it"):
        make().save(tmp_path / "release")
    assert list(tmp_path.iterdir()) == []


TYPED = pa.table(
    {
        "q": ["x"] * 4,
        "int": pa.array([1, -2, None, 4]),
        "byte": pa.array([1, 2, None, 255], pa.uint8()),
        "huge": pa.array([1, 2**63 + 1, None, 4], pa.uint64()),
        "float": pa.array([0.1, 20.0, None, 1e300]),
        "bool": pa.array([True, False, None, True]),
        "date": pa.array([dt.date(2020, 1, 31)] * 3 + [None]),
        "stamp": pa.array([dt.datetime(2020, 1, 31, 8, 5)] * 3 + [None]),  # noqa: DTZ001 - of no zone
        "decimal": pa.array([Decimal("1.50"), Decimal("-2.25"), None, Decimal("0.00")]),
        "text": ["", "=1+1", None, "ä'\"\n"],
        "category": pa.array(["a", "b", None, "a"]).dictionary_encode(),
        "nothing": pa.nulls(4),
        'odd "name"': ["1", "2", "3", "4"],
    }
)


def test_every_type_comes_back(kind: str, make: Any, tmp_path: Path) -> None:
    """Every type that can be published can be put into the database, and is read back as it was."""
    columns = {name: "quasi" if name == "q" else "plain" for name in TYPED.column_names}
    make(data=TYPED, columns=columns).save(tmp_path / "release")
    found = ask(kind, tmp_path / "open.db", 'select "text", "int", "odd ""name""" from visits')
    assert sorted(found, key=str) == sorted(
        zip(TYPED["text"].to_pylist(), TYPED["int"].to_pylist(), "1234", strict=True), key=str
    )


def test_names_that_differ_in_case_alone(make: Any, tmp_path: Path) -> None:
    """A database that is blind to case cannot have both columns: one sentence, and nothing is published."""
    table = pa.table({"a": ["x", "x"], "A": ["y", "y"]})
    with pytest.raises(OutputError, match=r"columns 'a' and 'A' are one to .*, which is blind to case; rename one"):
        make(data=table, columns={"a": "quasi", "A": "plain"}).save(tmp_path / "release")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"junk" * 999, b""])
def test_a_file_that_is_no_database(kind: str, make: Any, tmp_path: Path, content: bytes) -> None:
    """A file that is something else stays as it is."""
    (tmp_path / "open.db").write_bytes(content)
    if not content and kind == "sqlite":  # an empty file is an empty database
        make().save(tmp_path / "release")
        return
    with pytest.raises(OutputError, match="does not take the release"):
        make().save(tmp_path / "release")
    assert (tmp_path / "open.db").read_bytes() == content
    assert not (tmp_path / "release").exists()


def test_by_the_command(kind: str, tmp_path: Path, runs: Runs) -> None:
    """The policy names the database relative to itself; what is in the way is said before any search."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data/t.csv").write_text("age,town\n" + "".join(f"{20 + n % 5},Bern\n" for n in range(40)))
    (tmp_path / "data/p.toml").write_text(
        '[data]\nsource = "t.csv"\n[columns]\nage = { role = "quasi", hierarchy = { intervals = [5, 10] } }\n'
        'town = { role = "plain" }\n[[privacy]]\nmodel = "k-anonymity"\nk = 5\n'
        f'[publish]\nto = {{ url = "{kind}:///open.db", table = "visits" }}\n'
    )
    made = runs("anonymize", "data/p.toml", "--json")
    assert made.code == 0, made.err
    assert json.loads(made.out)["to"] == [{"database": "open.db", "table": "visits"}]
    assert tables(kind, tmp_path / "data/open.db") == ["visits"]
    again = runs("anonymize", "data/p.toml", "--out", "again")
    assert (again.code, again.sentence) == (
        2,
        "open.db has a table 'visits' already; choose another name in [publish] to, or replace it with --force",
    )
    assert runs("anonymize", "data/p.toml", "--force").code == 0
    assert runs("verify", "release").code == 0
    (tmp_path / "data/p.toml").write_text((tmp_path / "data/p.toml").read_text().replace("///open.db", "///no/open.db"))
    assert "the folder of open.db does not exist" in runs("anonymize", "data/p.toml", "--out", "third").sentence
    assert not (tmp_path / "third").exists()
