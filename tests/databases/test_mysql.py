"""MySQL and MariaDB, a real server where there is one: read by query, by a session that only reads."""

# ruff: noqa: DTZ001 - these cells are of no zone

import datetime as dt
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pymysql
import pytest

from sfumato.errors import DataError, InputError
from sfumato.policy import Policy, load
from sfumato.policy.database_url import find_place
from sfumato.table import Table, read_table
from sfumato.table.database_servers import _server_error
from sfumato.table.table_batches import open_batches

Rules = Callable[..., dict[str, Any]]
Runs = Callable[..., Any]

PASSWORD = "correct horse"  # noqa: S105 - of a server that lives for seconds


def _read(policy: Policy) -> Table:
    """Read the table that a policy names."""
    assert policy.source.place is not None
    return read_table(policy.source.place, policy)


@contextmanager
def connected(server: Any) -> Iterator[Any]:
    """A cursor beside the library."""
    connection = pymysql.connect(
        host="127.0.0.1", port=server.port, user="sfumato", password=PASSWORD, database="clinic", autocommit=True
    )
    with connection, connection.cursor() as cursor:
        yield cursor


@pytest.fixture
def server(mysql: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The server with a table of visits, and the password in the environment."""
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    monkeypatch.setenv("HOME", str(tmp_path))
    with connected(mysql) as cursor:
        cursor.execute("DROP TABLE IF EXISTS visits")
        cursor.execute(
            "CREATE TABLE visits "
            "(age int, town varchar(20), born date, paid decimal(8, 2), `the time` datetime, ssn text)"
        )
        rows = [
            (20 + n % 3, ("Bern", "Köniz", None)[n % 3], "1990-01-31", "12.50", "2020-01-31 08:05", f"secret {n}")
            for n in range(60)
        ]
        cursor.executemany("INSERT INTO visits VALUES (%s, %s, %s, %s, %s, %s)", rows)
    return mysql


ROLES = {"age": "quasi", "town": "plain", "born": "plain", "paid": "plain", "the time": "plain", "ssn": "identifier"}


@pytest.mark.slow
def test_types_as_they_are(server: Any, rules: Rules) -> None:
    """Numbers, dates, times and amounts are such."""
    policy = load(rules(ROLES, data={"source": server.url, "table": "visits"}))
    table = _read(policy)
    row = {name: table.arrow.column(name)[1].as_py() for name in table.arrow.column_names}
    assert table.rows == 60
    assert row == {
        "age": 21,
        "town": "Köniz",
        "born": dt.date(1990, 1, 31),
        "paid": Decimal("12.50"),
        "the time": dt.datetime(2020, 1, 31, 8, 5),
    }


@pytest.mark.slow
def test_batches(server: Any, rules: Rules) -> None:
    """In batches come the same rows and types as in a table."""
    policy = load(rules(ROLES, data={"source": server.url, "table": "visits"}))
    table = _read(policy)
    assert policy.source.place is not None
    with open_batches(policy.source.place, policy, memory=1 << 28) as batches:
        assert batches.schema.types == table.arrow.schema.types
        assert pa.Table.from_batches(list(batches)).equals(table.arrow)


def test_from_init_to_a_release(server: Any, runs: Runs, tmp_path: Path) -> None:
    """The URL goes through init and anonymize, and nothing written has the password; mariadb:// means the same."""
    url = server.url.replace("mysql://", "mariadb://")
    assert runs("init", url, "--query", "select age, town from visits").code == 0
    made = runs("anonymize", "policy.toml")
    assert made.code == 0, made.err
    assert not any(PASSWORD.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


@pytest.mark.slow
def test_an_option_file(server: Any, rules: Rules, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """User and password may stand in ~/.my.cnf."""
    monkeypatch.delenv("MYSQL_PWD")
    (tmp_path / ".my.cnf").write_text(f'[client]\nuser = sfumato\npassword = "{PASSWORD}"\n')
    url = server.url.replace("sfumato@", "")
    policy = load(rules({"age": "quasi"}, data={"source": url, "query": "select age from visits"}))
    assert _read(policy).rows == 60


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("select age from nowhere", "does not answer"),
        ("selec", "does not answer"),
        ("delete from visits", "does not answer|would change"),
        ("select 1 as age; drop table visits", "does not answer"),
    ],
)
def test_bad_queries(server: Any, rules: Rules, query: str, words: str) -> None:
    """A query that fails is one sentence, and changes nothing."""
    policy = load(rules({"age": "quasi"}, data={"source": server.url, "query": query}))
    with pytest.raises(DataError, match=words) as caught:
        _read(policy)
    assert "\n" not in str(caught.value)
    with connected(server) as cursor:
        cursor.execute("select count(*) from visits")
        assert cursor.fetchone() == (60,)


@pytest.mark.slow
def test_logins_that_fail(server: Any, rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong password and a server that is not there are a sentence each."""
    policy = load(rules({"age": "quasi"}, data={"source": server.url, "query": "select 1 as age"}))
    monkeypatch.setenv("MYSQL_PWD", "wrong battery")
    with pytest.raises(DataError, match="refuses the login; put the password into MYSQL_PWD") as caught:
        _read(policy)
    assert "battery" not in str(caught.value)
    with pytest.raises(DataError, match="cannot be reached"):
        read_table(find_place(server.url.replace(str(server.port), "1")), policy)


def test_a_server_that_is_not_there(rules: Rules) -> None:
    """Where nobody listens, that is one sentence, without the user."""
    policy = load(
        rules({"age": "quasi"}, data={"source": "mysql://zoe@127.0.0.1:1/clinic", "query": "select 1 as age"})
    )
    with pytest.raises(DataError, match=r"mysql://127\.0\.0\.1:1/clinic cannot be reached") as caught:
        _read(policy)
    assert "zoe" not in str(caught.value)
    assert os.environ.get("MYSQL_PWD") is None


def test_without_the_library(rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the package is missing, the sentence says how to install it."""
    monkeypatch.setitem(sys.modules, "pymysql", None)
    policy = load(rules({"age": "quasi"}, data={"source": "mysql://host/clinic", "query": "select 1 as age"}))
    with pytest.raises(InputError, match=r"PyMySQL .* pip install 'sfumato\[databases\]'"):
        _read(policy)


@pytest.mark.parametrize(
    ("state", "words", "said"),
    [
        ("28P01", "FATAL: password authentication failed for user ann", "refuses the login"),
        ("42P01", 'ERROR:  relation "nowhere" does not exist', 'does not answer .*: relation "nowhere" does not exist'),
        ("22P02", 'ERROR:  invalid input syntax for type integer: "HIV"', "cannot answer"),
        ("XX000", "HIV HIV", "cannot answer"),
        (None, "", "cannot answer"),
    ],
)
def test_no_answer_of_a_server_quotes_a_cell(state: str | None, words: str, said: str) -> None:
    """What a server says of data is not passed on; what it says of the query is."""
    url = find_place("postgresql://ann@host/clinic")
    assert not isinstance(url, Path)
    error = _server_error(url, state, words, RuntimeError(words))
    assert "HIV" not in str(error)
    with pytest.raises(DataError, match=said):
        raise error
