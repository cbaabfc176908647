"""PostgreSQL, a real server: read by query, published into as a whole or not at all, and no password anywhere."""

# ruff: noqa: DTZ001 - these cells are of no zone

import datetime as dt
import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sfumato.core.memory import VARIABLE
from sfumato.errors import DataError, InputError, OutputError, PolicyError
from sfumato.policy import Policy, load
from sfumato.policy.database_url import DatabaseUrl, find_place
from sfumato.publish import database_tables
from sfumato.release import prepare
from sfumato.table import Table, find_repeated_identifiers, read_table
from sfumato.table.table_batches import open_batches
from sfumato.verifier import verify

pytestmark = pytest.mark.slow

Rules = Callable[..., dict[str, Any]]
Runs = Callable[..., Any]

PASSWORD = "correct horse"  # noqa: S105 - of a server that lives for seconds


def _read(policy: Policy) -> Table:
    """Read the table that a policy names."""
    assert policy.source.place is not None
    return read_table(policy.source.place, policy)


@contextmanager
def connected(server: Any) -> Iterator[Any]:
    """A cursor whose statements are committed at the end, beside the library."""
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(server.url) as connection:
        with connection.cursor() as cursor:
            yield cursor
        connection.commit()


def ask(server: Any, query: str) -> list[Any]:
    """All rows of a query."""
    with connected(server) as cursor:
        cursor.execute(query)
        return list(cursor.fetchall())


CREATE = """CREATE TABLE visits (id uuid DEFAULT gen_random_uuid(), age int, town text, born date,
paid numeric(8, 2), who sex, at timestamp, ill boolean)"""
INSERT = """INSERT INTO visits SELECT gen_random_uuid(), 20 + n % 3, (ARRAY['Bern', 'Thun', NULL])[1 + n % 3],
date '1990-01-31' + n % 2, 12.50 + n % 2, (CASE n % 2 WHEN 0 THEN 'f' ELSE 'm' END)::sex,
timestamp '2020-01-31 08:05:00', n % 2 = 0 FROM generate_series(0, 59) AS n"""


@pytest.fixture
def server(postgresql: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The server with a table of visits, and the password in the environment."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    monkeypatch.delenv("PGSERVICE", raising=False)
    for statement in (
        "DROP SCHEMA public CASCADE",
        "CREATE SCHEMA public",
        "CREATE TYPE sex AS ENUM ('f', 'm')",
        CREATE,
        INSERT,
        "CREATE FUNCTION forget() RETURNS int LANGUAGE sql AS 'DELETE FROM visits; SELECT 1'",
    ):
        with connected(postgresql) as cursor:
            cursor.execute(statement)
    return postgresql


ROLES = dict.fromkeys(("town", "born", "paid", "who", "at", "ill"), "plain") | {"age": "quasi", "id": "identifier"}


def _policy(server: Any, rules: Rules, roles: dict[str, str] | None = None, **data: str) -> Any:
    return load(rules(roles or ROLES, data={"source": server.url, **(data or {"table": "visits"})}))


def test_types_as_they_are(server: Any, rules: Rules) -> None:
    """Numbers, dates, times and truth values are such; amounts, words of a list and keys are text."""
    policy = _policy(server, rules)
    table = _read(policy)
    assert table.rows == 60
    row = {name: table.arrow.column(name)[0].as_py() for name in table.arrow.column_names}
    assert row == {
        "age": 20,
        "town": "Bern",
        "born": dt.date(1990, 1, 31),
        "paid": "12.50",
        "who": "f",
        "at": dt.datetime(2020, 1, 31, 8, 5),
        "ill": True,
    }
    assert find_repeated_identifiers(table, policy) == {}


def test_batches(server: Any, rules: Rules) -> None:
    """In batches come the same rows and types, and the server's words are the same as well."""
    for query in ("select * from visits", "select * from visits where age > 20 order by age, town, born"):
        policy = _policy(server, rules, query=query)
        table = _read(policy)
        with open_batches(policy.source.place, policy, memory=1 << 28) as batches:
            assert batches.schema.types == [table.type_of(name) for name in table.arrow.column_names]
            assert pa.Table.from_batches(list(batches)).equals(table.arrow)
            assert batches.digest() is None
    with (
        pytest.raises(DataError, match="has no rows"),
        open_batches(
            policy.source.place, _policy(server, rules, query="select * from visits where age < 0"), memory=1 << 28
        ) as batches,
    ):
        list(batches)
    with pytest.raises(DataError, match=r"does not answer \[data\] query or table.*no_such"):
        open_batches(policy.source.place, _policy(server, rules, table="no_such"), memory=1 << 28)
    query = "select 1 / (n - 40000) as a from generate_series(1, 50000) as n"
    policy = _policy(server, rules, {"a": "quasi"}, query=query)
    with pytest.raises(DataError) as caught:
        _read(policy)
    with (
        open_batches(policy.source.place, policy, memory=1 << 28) as batches,
        pytest.raises(DataError, match=re.escape(str(caught.value))),
    ):
        list(batches)


def test_amounts_and_endless_dates(server: Any, rules: Rules) -> None:
    """Money is the text that PostgreSQL writes, not cents; a date that never comes is refused with a way out."""
    query = "select 20 as age, 12.34::money as town"
    roles = {"age": "quasi", "town": "plain"}
    assert _read(_policy(server, rules, roles, query=query)).arrow.to_pydict()["town"] == ["$12.34"]
    for kind in ("date", "timestamp", "timestamptz"):
        for end in ("infinity", "-infinity"):
            query = f"select 20 as age, '{end}'::{kind} as town"
            with pytest.raises(DataError, match=r"column 'town' holds dates beyond the years 1 to 9999.*nullif"):
                _read(_policy(server, rules, roles, query=query))


def test_queries(server: Any, rules: Rules) -> None:
    """A query may be any SELECT, with a semicolon and a comment at its end; its columns are those of the policy."""
    query = "with v as (select * from visits where ill) select age, count(*) as visits from v group by age; -- all"
    policy = _policy(server, rules, {"age": "quasi", "visits": "plain"}, query=query)
    assert sorted(_read(policy).arrow.to_pydict()["visits"]) == [10, 10, 10]
    with connected(server) as cursor:
        cursor.execute('CREATE SCHEMA "my.clinic"')
    with connected(server) as cursor:
        cursor.execute('CREATE TABLE "my.clinic".visits AS SELECT 1 AS age')
    policy = _policy(server, rules, {"age": "quasi"}, table='"my.clinic".visits')
    assert _read(policy).rows == 1


def test_too_many_rows(server: Any, rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of a table are counted before they are read, and more than fit into memory are refused."""
    monkeypatch.setenv(VARIABLE, "100")
    with pytest.raises(DataError, match="with 60 rows, takes at least"):
        _read(_policy(server, rules))


def test_from_init_to_a_release(server: Any, runs: Runs, tmp_path: Path) -> None:
    """init, anonymize, risk and utility take the URL; no byte that is written or printed has the password."""
    (tmp_path / "chosen").mkdir()
    said = [
        runs("init", server.url, "--query", "select age, town, born, who from visits"),
        runs("anonymize", "policy.toml"),
        runs("anonymize", "policy.toml", "--data", server.url, "--out", "again", "--json"),
        runs("risk", server.url, "--policy", "policy.toml"),
        runs("utility", "release", "--original", server.url),
        runs("compare", "policy.toml", "--algorithms", "top-down", "--write", "chosen/p.toml", "--choose", "1"),
        runs("anonymize", "chosen/p.toml", "--out", "third"),
    ]
    assert [one.code for one in said] == [0] * len(said), [one.err for one in said]
    assert verify(tmp_path / "release").satisfied
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 10
    assert not any(PASSWORD.encode() in content for content in written)
    assert not any(PASSWORD in one.out + one.err for one in said)
    assert json.loads((tmp_path / "release/private/audit.json").read_text())["input"]["sha256"] is None


def test_a_service_file(server: Any, rules: Rules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Host, user and password may all stand in a service file, and the policy names none of them."""
    monkeypatch.delenv("PGPASSWORD")
    service = tmp_path / "services"
    service.write_text(
        f"[clinic]\nhost=127.0.0.1\nport={server.port}\nuser=sfumato\ndbname=clinic\npassword={PASSWORD}\n"
    )
    monkeypatch.setenv("PGSERVICEFILE", str(service))
    monkeypatch.setenv("PGSERVICE", "clinic")
    policy = load(rules({"age": "quasi"}, data={"source": "postgresql://", "query": "select age from visits"}))
    assert _read(policy).rows == 60


def test_a_password_file(server: Any, rules: Rules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A password file does, too."""
    monkeypatch.delenv("PGPASSWORD")
    passwords = tmp_path / "pgpass"
    passwords.write_text(f"127.0.0.1:{server.port}:clinic:sfumato:{PASSWORD}\n")
    passwords.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    policy = _policy(server, rules, {"age": "quasi"}, query="select age from visits")
    assert _read(policy).rows == 60


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("select age from nowhere", 'does not answer .*"nowhere" does not exist'),
        ("select nothing from visits", "does not answer"),
        ("selec", "does not answer"),
        ("delete from visits returning age", "does not answer|would change"),
        ("select 1 as age; drop table visits", "does not answer"),
        ("with gone as (delete from visits returning age) select age from gone", "does not answer|would change"),
        ("select forget() as age", "would change the database; say a SELECT"),
        ("select town::int as age from visits", r"cannot answer \[data\] query or table \(state 22P02\)"),
    ],
)
def test_bad_queries(server: Any, rules: Rules, query: str, words: str) -> None:
    """A query that fails is one sentence that quotes no cell, and changes nothing."""
    policy = _policy(server, rules, {"age": "quasi"}, query=query)
    with pytest.raises(DataError, match=words) as caught:
        _read(policy)
    assert not {"Bern", "Thun", PASSWORD, "\n"} & {
        part for part in ("Bern", "Thun", PASSWORD, "\n") if part in str(caught.value)
    }
    assert ask(server, "select count(*) from visits") == [(60,)]


def test_logins_that_fail(server: Any, rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong password, none, a database or a server that is not there: a sentence each, without user and password."""
    policy = _policy(server, rules, {"age": "quasi"}, query="select 1 as age")
    monkeypatch.setenv("PGPASSWORD", "wrong battery")
    with pytest.raises(DataError, match="refuses the login; put the password into PGPASSWORD") as caught:
        _read(policy)
    assert "battery" not in str(caught.value)
    monkeypatch.delenv("PGPASSWORD")
    with pytest.raises(DataError, match="refuses the login"):
        _read(policy)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    with pytest.raises(DataError, match=r"has no database of that name|cannot be reached"):
        read_table(find_place(server.url.replace("/clinic", "/nowhere")), policy)
    with pytest.raises(DataError, match=r"postgresql://127\.0\.0\.1:1/clinic cannot be reached") as caught:
        read_table(find_place(server.url.replace(str(server.port), "1")), policy)
    assert "sfumato@" not in str(caught.value)


# Publishing


@pytest.fixture
def target(server: Any, rules: Rules, people: Any, roles: dict[str, str]) -> Callable[..., Any]:
    """Makes a release of forty people that goes into the server."""

    def make(table: str = "open_visits", **publish: Any) -> Any:
        publish = {"to": {"url": server.url, "table": table}, **publish}
        return prepare(people, rules(roles, publish=publish))

    return make


def test_a_table_appears_with_the_folder(server: Any, target: Any, tmp_path: Path) -> None:
    """The table holds what the file holds, with types; the release verifies, and a second time it is refused."""
    target().save(tmp_path / "release")
    rows = ask(server, "select sex, zip, illness, visits from open_visits")
    lines = (tmp_path / "release/public/table.csv").read_text().splitlines()
    assert lines[0] == "sex,zip,illness,visits"
    assert sorted(lines[1:]) == sorted(",".join(map(str, row)) for row in rows)
    assert ask(server, "select sum(visits) from open_visits") == [(-20,)] or len(rows) == 40
    assert verify(tmp_path / "release").satisfied
    with pytest.raises(OutputError, match="has a table 'open_visits' already; choose another name"):
        target().save(tmp_path / "second")
    assert not (tmp_path / "second").exists()
    target().save(tmp_path / "release", force=True)
    assert ask(server, "select count(*) from open_visits") == [(40,)]


def test_two_tables(server: Any, target: Any, tmp_path: Path) -> None:
    """Of two tables each gets its own, in one transaction."""
    target("split", form="lossy-join").save(tmp_path / "release")
    assert ask(server, "select count(*) from split_nss") == ask(server, "select count(*) from split_ss") == [(40,)]


def _tables(server: Any) -> list[str]:
    found = ask(server, "select table_name from information_schema.tables where table_schema = 'public'")
    return sorted(name for (name,) in found if name != "visits")


def test_a_failing_commit_takes_the_folder_back(
    server: Any, target: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the server is lost at the last moment, neither table nor folder is there, and an old release is again."""
    target("first").save(tmp_path / "release")
    before = (tmp_path / "release/public/table.csv").read_bytes()

    def lost(_: Any) -> None:
        import adbc_driver_manager

        raise adbc_driver_manager.OperationalError("lost", status_code=adbc_driver_manager.AdbcStatusCode.IO)

    monkeypatch.setattr(database_tables._Postgresql, "commit", lost)
    for folder, force in (("new", False), ("release", True)):
        with pytest.raises(OutputError, match=r"does not take the release .* nothing was published"):
            target("second").save(tmp_path / folder, force=force)
    assert _tables(server) == ["first"]
    assert not (tmp_path / "new").exists()
    assert (tmp_path / "release/public/table.csv").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["release"]


def test_a_folder_that_fails_rolls_back(
    server: Any, target: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the folder cannot appear, or somebody refuses it before, the table is not there either."""
    with pytest.raises(RuntimeError, match="no"):
        target("second").save(tmp_path / "new", before=lambda _: (_ for _ in ()).throw(RuntimeError("no")))
    assert _tables(server) == []
    assert list(tmp_path.iterdir()) == []


def test_what_is_held_is_compared(server: Any, target: Any, tmp_path: Path) -> None:
    """A trigger of the database that changes what it is given is found, and nothing is published."""
    change = "CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.sex = 'f'; RETURN NEW; END $$"
    with connected(server) as cursor:
        cursor.execute(change)
    with connected(server) as cursor:
        cursor.execute(
            "CREATE FUNCTION spoil() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN "
            "IF EXISTS (SELECT FROM pg_class WHERE relname = 'spoilt') "
            "THEN CREATE TRIGGER t BEFORE INSERT ON spoilt FOR EACH ROW EXECUTE FUNCTION change(); END IF; END $$"
        )
    with connected(server) as cursor:
        cursor.execute(
            "CREATE EVENT TRIGGER spoiler ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION spoil()"
        )
    try:
        with pytest.raises(OutputError, match=r"does not give back|does not take the release"):
            target("spoilt").save(tmp_path / "new")
    finally:
        with connected(server) as cursor:
            cursor.execute("DROP EVENT TRIGGER spoiler")
    assert _tables(server) == []
    assert not (tmp_path / "new").exists()


def test_what_is_in_the_way_is_said(server: Any, target: Any, tmp_path: Path) -> None:
    """A view of the name, and a table that a view rests on, are not replaced: the sentence says why."""
    with connected(server) as cursor:
        cursor.execute("CREATE VIEW town AS SELECT town FROM visits")
    with pytest.raises(OutputError, match=r"what has the name is a view.* nothing was published"):
        target("town").save(tmp_path / "release", force=True)
    with pytest.raises(OutputError, match=r"rest on the table to be replaced.* nothing was published"):
        target("visits").save(tmp_path / "release", force=True)
    assert list(tmp_path.iterdir()) == []
    assert ask(server, "select count(*) from town") == [(60,)]


def test_by_the_command(server: Any, runs: Runs, tmp_path: Path) -> None:
    """From a table of the server to one in it, by a policy file; what is there already is said before any search."""
    (tmp_path / "p.toml").write_text(
        f'[data]\nsource = "{server.url}"\nquery = "select age, town from visits"\n[columns]\n'
        'age = { role = "quasi", hierarchy = { intervals = [5, 10] } }\ntown = { role = "plain" }\n'
        f'[[privacy]]\nmodel = "k-anonymity"\nk = 5\n[publish]\nformat = "csv.gz"\n'
        f'to = {{ url = "{server.url}", table = "public.open_visits" }}\n'
    )
    made = runs("anonymize", "p.toml")
    assert made.code == 0, made.err
    assert f"made     table public.open_visits in postgresql://127.0.0.1:{server.port}/clinic" in made.out
    assert ask(server, "select count(*) from open_visits") == [(60,)]
    again = runs("anonymize", "p.toml", "--out", "again")
    assert again.code == 2
    assert "has a table 'public.open_visits' already" in again.sentence
    forced = runs("anonymize", "p.toml", "--force", "--json")
    assert json.loads(forced.out)["to"] == [
        {"database": f"postgresql://127.0.0.1:{server.port}/clinic", "table": "public.open_visits"}
    ]


def test_long_names_are_not_cut(target: Any, tmp_path: Path) -> None:
    """PostgreSQL would cut a long name without a word; it is refused."""
    with pytest.raises(OutputError, match="cuts names of more than 63 bytes"):
        target("x" * 64).save(tmp_path / "release")
    assert list(tmp_path.iterdir()) == []


def test_without_the_driver(server: Any, rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the driver is missing, the sentence says how to install it."""
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql.dbapi", None)
    policy = _policy(server, rules, {"age": "quasi"}, query="select 1 as age")
    with pytest.raises(InputError, match=r"adbc-driver-postgresql .* pip install 'sfumato\[databases\]'"):
        _read(policy)


def test_a_password_is_refused_before_anything(server: Any, runs: Runs) -> None:
    """A URL with a password in it is refused by every command, and is not repeated."""
    url = server.url.replace("sfumato@", "sfumato:hunter2@")
    for command in (("init", url, "--table", "visits"), ("risk", url, "--quasi", "age")):
        said = runs(*command)
        assert said.code == 2
        assert "hunter2" not in said.sentence
    with pytest.raises(PolicyError):
        DatabaseUrl.read(url)


def test_queries_about_a_table_of_a_server_are_audited(server: Any, runs: Runs) -> None:
    """The auditor reads it as all tables are read, and an update reads it again."""
    options = ["--protect", "paid,ill", "--on", "age,town", "--ledger", "audit.db", "--table", "visits"]
    assert runs("audit", "init", server.url, *options).code == 0
    asked = runs("audit", "ask", "audit.db", "select sum(paid), count(*) from visits where age = 20", "--json")
    assert json.loads(asked.out)["rows"] == [[260, 20]]
    counted = runs("audit", "ask", "audit.db", "select count(*) where ill = true and town is null", "--json")
    assert json.loads(counted.out)["rows"] == [[10]]
    with connected(server) as cursor:
        cursor.execute("DELETE FROM visits WHERE ctid IN (SELECT ctid FROM visits WHERE age = 20 LIMIT 1)")
    assert json.loads(runs("audit", "update", "audit.db", "--data", server.url, "--json").out)["left"] == 1
    assert runs("audit", "ask", "audit.db", "select sum(paid) where age = 20").code == 1


def test_a_table_of_a_server_is_audited(server: Any, tmp_path: Path, runs: Runs) -> None:
    """A ledger about it answers without the server, follows who left, and keeps no password."""
    ledger = tmp_path / "audit.db"
    begun = runs(
        *("audit", "init", server.url, "--table", "visits", "--protect", "paid,ill", "--on", "age,town"),
        *("--key", "id", "--ledger", str(ledger), "--json"),
    )
    assert begun.code == 0, begun.err
    said = json.loads(begun.out)
    assert (said["rows"], said["cells"]) == (60, 3)
    assert [one["bounds"] for one in said["protected"]] == [None, "0..1"]
    asked = runs("audit", "ask", str(ledger), "select sum(paid), count(*) from visits where town is null", "--json")
    assert json.loads(asked.out)["rows"] == [[260, 20]]
    ill = runs("audit", "ask", str(ledger), "select age, count(*) where ill = true group by age", "--json")
    assert json.loads(ill.out)["rows"] == [[20, 10], [21, 10], [22, 10]]
    with connected(server) as cursor:
        cursor.execute("DELETE FROM visits WHERE ctid IN (SELECT ctid FROM visits WHERE town IS NULL LIMIT 1)")
    assert "59 rows stayed, 1 left, 0 came" in runs("audit", "update", str(ledger), "--data", server.url).out
    assert runs("audit", "ask", str(ledger), "select sum(paid) where town is null").code == 1
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert PASSWORD.encode() not in kept
