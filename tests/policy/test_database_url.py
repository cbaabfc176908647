"""URLs of databases: what they name, and that none of them holds a password."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import PolicyError
from sfumato.policy import Policy, load
from sfumato.policy.database_url import DatabaseUrl, find_place
from sfumato.policy.options import fitting_options

POLICY: dict[str, Any] = {
    "columns": {"age": {"role": "quasi", "hierarchy": "suppress"}},
    "privacy": [{"model": "k-anonymity", "k": 2}],
}
SECRETS = [
    "postgresql://ann:hunter2@host/db",
    "postgresql://ann:@host/db",
    "postgres://:hunter2@host/db",
    "postgresql://host/db?password=hunter2",
    "postgresql://host/db?sslmode=require&PASSWORD=hunter2",
    "postgresql://host/db?sslpassword=hunter2",
    "mysql://ann:hunter2@host/db",
    "mariadb://host/db?passwd=hunter2",
    "sqlite://ann:hunter2@/a.db",
]


@pytest.mark.parametrize("url", SECRETS)
@pytest.mark.parametrize("where", ["source", "to", "place"])
def test_a_password_is_refused_and_not_repeated(url: str, where: str) -> None:
    """Wherever a URL stands, a password in it is refused with the place where it belongs."""
    data = {"source": url, "query": "select 1"}
    target = {"to": {"url": url, "table": "t"}}
    tables: dict[str, dict[str, Any]] = {"source": {"data": data}, "to": {"publish": target}}
    with pytest.raises(PolicyError, match="a password stands in the URL") as caught:
        load(POLICY | tables[where]) if where in tables else find_place(url)
    assert "hunter2" not in str(caught.value)
    if "sql://" in url and not url.startswith("sqlite"):
        assert "PGPASSWORD" in str(caught.value) or "MYSQL_PWD" in str(caught.value)


@given(st.text(st.characters(exclude_characters="@/?#:[]% \t\r\n\0", codec="ascii"), min_size=6))
def test_no_password_whatever_it_is(secret: str) -> None:
    """No text before the host passes for anything but a password."""
    with pytest.raises(PolicyError) as caught:
        DatabaseUrl.read(f"postgresql://ann:{secret}@host/db")
    assert f":{secret}" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "jdbc:postgresql://host/db?user=ann&password=hunter2",
        "host=db.example password=hunter2 dbname=clinic",
        "Driver={PostgreSQL};Server=host;Pwd=hunter2",
        " postgresql://ann:hunter2@host/db",
        "postgresql:/ann:hunter2@host/db",
        "postgresql:ann:hunter2@host/db",
    ],
)
def test_a_password_in_other_notations_is_not_repeated(text: str, runs: Any) -> None:
    """What names a connection in another way is no path, whose name a sentence would repeat."""
    said = runs("risk", text, "--quasi", "age")
    assert said.code == 2
    assert "a connection is named by a URL" in said.sentence
    assert "hunter2" not in said.out + said.err
    with pytest.raises(PolicyError, match="put the password into PGPASSWORD") as caught:
        load(POLICY | {"data": {"source": text, "query": "select 1"}})
    assert caught.value.key == "data.source"
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://host:5432/db?user=ann@server&require_auth=password",
        "postgresql://host/db?passfile=/home/ann@work/pgpass",
        "sqlite:////srv/ann@work/a.db",
    ],
)
def test_what_only_looks_like_a_password(text: str) -> None:
    """A sign that passwords have as well is no reason to refuse a URL that holds none."""
    assert DatabaseUrl.read(text).text == text


def test_a_file_of_an_odd_name_is_a_file(tmp_path: Path) -> None:
    """A file that is there is read, whatever it is called."""
    file = tmp_path / "password=none.csv"
    file.touch()
    assert find_place(str(file)) == file


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("sqlite:///a.db", "data/a.db"),
        ("sqlite:////srv/a.db", "/srv/a.db"),
        ("duckdb:///b/a%20b.duckdb", "data/b/a b.duckdb"),
        ("SQLITE:///a.db", "data/a.db"),
    ],
)
def test_files_start_at_the_policy(text: str, file: str) -> None:
    """After three slashes a path starts at the policy's folder, after four at the root."""
    assert DatabaseUrl.read(text, folder=Path("data")).file == Path(file)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("https://example.org/a.csv", "'https' is no database that can be used"),
        ("ftp://host/a.parquet", "'ftp' is no database"),
        ("sqlite://a.db", "is not written as sqlite:///path"),
        ("sqlite://", "is not written as sqlite:///path"),
        ("postgresql://host:port/db", "is not written as postgresql://host:port/database"),
        ("postgresql://[::1/db", "is not written as"),
    ],
)
def test_what_is_no_database(text: str, words: str) -> None:
    """Other addresses, and URLs that are not written as such, are refused under their key."""
    with pytest.raises(PolicyError, match=words) as caught:
        load(POLICY | {"data": {"source": text, "query": "select 1"}})
    assert caught.value.key == "data.source"


@pytest.mark.parametrize(
    ("data", "key", "words"),
    [
        ({"source": "postgresql://host/db"}, "data.source", "say query"),
        ({"source": "a.db", "query": "select 1", "table": "t"}, "data.query", "stands beside table"),
        ({"source": "a.db", "query": "  "}, "data.query", "must not be empty"),
        ({"source": "a.xlsx", "sheet": ""}, "data.sheet", "must not be empty"),
        ({"source": "a.xlsx", "sheet": 1}, "data.sheet", "must be text"),
    ],
)
def test_keys_of_a_database(data: dict[str, Any], key: str, words: str) -> None:
    """What is read of a database or a workbook is said once, and in words."""
    with pytest.raises(PolicyError, match=words) as caught:
        load(POLICY | {"data": data})
    assert caught.value.key == key


@pytest.mark.parametrize(
    ("to", "key", "words"),
    [
        ("postgresql://host/db", "publish.to", "must be a table such as"),
        ({"url": "sqlite:///a.db"}, "publish.to", "has no table"),
        ({"table": "t"}, "publish.to", "has no url"),
        ({"url": "sqlite:///a.db", "table": ""}, "publish.to.table", "1 to 1000 characters"),
        ({"url": "mysql://host/db", "table": "t"}, "publish.to.url", "cannot make a table within a transaction"),
        ({"url": "a.db", "table": "t"}, "publish.to.url", "is no database"),
        ({"url": "sqlite:///a.db", "table": "t", "mode": "append"}, "publish.to.mode", "is not a key"),
    ],
)
def test_where_a_release_goes(to: Any, key: str, words: str) -> None:
    """A target names a database that can make a table within a transaction, and the table."""
    with pytest.raises(PolicyError, match=words) as caught:
        load(POLICY | {"publish": {"to": to}})
    assert caught.value.key == key


@pytest.mark.parametrize(
    "data",
    [
        {"source": "sqlite:///a.db", "table": "T"},
        {"source": "a.db", "query": 'select * from main."t" where x'},
        {"source": "a.db"},
    ],
)
def test_a_release_does_not_go_where_its_rows_come_from(data: dict[str, str]) -> None:
    """A table that may be the source of the rows is no target, since --force would drop it."""
    with pytest.raises(PolicyError, match="the rows may come from this table"):
        load(POLICY | {"data": data, "publish": {"to": {"url": "sqlite:///a.db", "table": "t"}}})
    apart = load(POLICY | {"data": {"source": "b.db"}, "publish": {"to": {"url": "sqlite:///a.db", "table": "t"}}})
    assert apart.publish.to is not None


def test_another_way_to_the_same_file_is_no_way_around(tmp_path: Path) -> None:
    """A link, or a path from the root, leads to the table that the rows come from as well."""
    (tmp_path / "a.db").touch()
    (tmp_path / "link.db").symlink_to("a.db")
    for source in (str(tmp_path / "a.db"), "link.db", f"../{tmp_path.name}/a.db"):
        rules = POLICY | {"data": {"source": source}, "publish": {"to": {"url": "sqlite:///a.db", "table": "t"}}}
        with pytest.raises(PolicyError, match="the rows may come from this table"):
            Policy.read(rules, folder=tmp_path)


def test_another_source_keeps_what_fits() -> None:
    """A table that is named in place of the policy's takes the keys of its own kind with it, and no others."""
    policy = load(POLICY | {"data": {"source": "a.db", "query": "select 1", "null": ["?"]}})
    assert policy.replace(source="b.csv").document["data"] == {"source": "b.csv", "null": ["?"]}
    assert policy.replace(source="postgresql://h/d").source.query == "select 1"
    assert fitting_options({"sheet": "S"}, Path("b.xlsx")) == {"sheet": "S"}
    assert fitting_options({"sheet": "S", "table": "t"}, "b.sqlite") == {"table": "t"}


def test_names_in_sentences() -> None:
    """A sentence names the host and the database, and nobody's user."""
    assert DatabaseUrl.read("postgresql://ann@host:5433/db?sslmode=require").name == "postgresql://host:5433/db"
    assert DatabaseUrl.read("postgresql:///?service=clinic").name == "postgresql:///"
