"""The JSON schema of the policy file, as an editor would use it."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import pytest

from sfumato.errors import SfumatoError
from sfumato.policy import load, schema
from sfumato.policy.columns import COLUMN_KEYS
from sfumato.policy.options import ALGORITHM_KEYS, DATA_KEYS, PUBLISH_KEYS


@pytest.fixture
def validate() -> Callable[[object], None]:
    """Checks a document against the schema."""
    return jsonschema.Draft202012Validator(schema()).validate


def test_schema_is_a_schema() -> None:
    """The schema is one of draft 2020-12 that JSON can hold."""
    jsonschema.Draft202012Validator.check_schema(schema())
    assert json.loads(json.dumps(schema())) == schema()
    assert schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema()["title"]


def test_good_policies_pass(good: dict[str, Any], validate: Callable[[object], None]) -> None:
    """The schema accepts what `load` accepts."""
    validate(load(good).document)
    for name in ("data", "algorithm", "publish"):
        del good[name]
        validate(load(good).document)


BAD = [
    ("data", "source", "mysql://host/db"),
    ("data", "source", ""),
    ("data", "source", "postgresql://ann:secret@host/db"),
    ("data", "source", "https://example.org/a.csv"),
    ("data", "query", ""),
    ("data", "sheet", 1),
    ("publish", "to", "sqlite:///a.db"),
    ("publish", "to", {"url": "sqlite:///a.db"}),
    ("publish", "to", {"url": "mysql://host/db", "table": "t"}),
    ("publish", "to", {"url": "postgresql://host/db?password=secret", "table": "t"}),
    ("data", "separator", ";;"),
    ("data", "null", ""),
    ("data", "encoding", 8),
    ("columns", "age", "quasi"),
    ("columns", "age", {"role": "quasi"}),
    ("columns", "age", {"role": "quasi", "hierarchy": 5}),
    ("columns", "age", {"role": "qasi", "hierarchy": "suppress"}),
    ("columns", "age", {"role": "quasi", "hierarchy": "suppress", "weight": -1}),
    ("columns", "age", {"role": "quasi", "hierarchy": "suppress", "wieght": 1}),
    ("columns", "age", {"hierarchy": "suppress"}),
    ("columns", "ssn", {"role": "identifier", "hierarchy": "suppress"}),
    ("columns", "visits", {"role": "plain", "weight": 1}),
    ("columns", "illness", {"role": "sensitive", "weight": 1}),
    ("privacy", 0, {"model": "k-anonymity", "k": 0}),
    ("privacy", 0, {"model": "k-anonymity"}),
    ("privacy", 0, {"model": "k-anonimity", "k": 5}),
    ("privacy", 0, "k-anonymity"),
    ("algorithm", "name", "condensations"),
    ("algorithm", "suppression", 1.5),
    ("algorithm", "seed", -1),
    ("algorithm", "metric", "nonsense"),
    ("algorithm", "score", "distorted"),
    ("publish", "form", "blurred"),
    ("publish", "ss", "both"),
    ("publish", "format", "xls"),
]


@pytest.mark.parametrize(("table", "key", "value"), BAD)
def test_bad_policies_are_refused(
    table: str, key: Any, value: object, good: dict[str, Any], validate: Callable[[object], None]
) -> None:
    """The schema refuses what `load` refuses, as far as one table tells."""
    good[table][key] = value
    with pytest.raises(SfumatoError):
        load(good)
    with pytest.raises(jsonschema.ValidationError):
        validate(good)


@pytest.mark.parametrize("change", [{"colums": {}}, {"previous": [{}]}, {"privacy": []}, {"columns": {}}])
def test_bad_tables_are_refused(
    change: dict[str, Any], good: dict[str, Any], validate: Callable[[object], None]
) -> None:
    """The schema knows the tables of a policy and that promises and columns are needed."""
    with pytest.raises(jsonschema.ValidationError):
        validate(good | change)


@pytest.mark.parametrize("table", ["columns", "privacy"])
def test_needed_tables(table: str, good: dict[str, Any], validate: Callable[[object], None]) -> None:
    """A policy without columns or promises is refused."""
    del good[table]
    with pytest.raises(jsonschema.ValidationError):
        validate(good)


def test_keys_of_condensation(validate: Callable[[object], None]) -> None:
    """What a policy of drawn rows may say passes, and what `load` refuses of it does not."""
    drawn: dict[str, Any] = {
        "columns": {
            "age": {"role": "quasi", "kind": "number", "bounds": [0, 120], "atoms": [18]},
            "born": {"role": "plain", "bounds": ["1900-01-01", "2030-12-31"]},
        },
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "algorithm": {"name": "condensation", "multiple": 3, "neighbours": 20, "noise": 0.1, "strata": ["born"]},
        "publish": {"form": "synthetic"},
    }
    validate(load(drawn).document)
    for table, key, value in [
        ("algorithm", "multiple", 0),
        ("algorithm", "neighbours", 101),
        ("algorithm", "noise", -1),
    ]:
        with pytest.raises(jsonschema.ValidationError):
            validate(drawn | {table: {**drawn[table], key: value}})
    for wrong in ({"kind": "text"}, {"bounds": [0]}, {"atoms": ["a"]}):
        with pytest.raises(jsonschema.ValidationError):
            validate(drawn | {"columns": {"age": {"role": "quasi", **wrong}}})


def test_every_key_of_the_policy_is_in_it() -> None:
    """Whatever `load` reads, an editor completes."""
    tables: Any = schema()["properties"]
    assert set(tables["columns"]["additionalProperties"]["properties"]) == set(COLUMN_KEYS)
    assert set(tables["algorithm"]["properties"]) == set(ALGORITHM_KEYS)
    assert set(tables["publish"]["properties"]) == set(PUBLISH_KEYS)
    assert set(tables["data"]["properties"]) == set(DATA_KEYS)


def test_every_key_is_described() -> None:
    """An editor has something to show on every key, and refuses those that are not listed."""
    keys = dict(described(schema(), ""))
    assert {"data.encoding", "columns.*.weight", "privacy[].k", "algorithm.metric"} <= keys.keys()
    # The constant that picks a model is described by the entry around it.
    assert [name for name, key in keys.items() if "description" not in key and "const" not in key] == []


def described(part: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Every key that the schema names, by its path, but for those of conditions."""
    inner = {f"{name}.{key}".lstrip("."): value for key, value in part.get("properties", {}).items()}
    yield from inner.items()
    if isinstance(part.get("additionalProperties"), dict):
        inner[f"{name}.*"] = part["additionalProperties"]
    if "items" in part:
        inner[f"{name}[]"] = part["items"]
    for path, value in inner.items():
        yield from described(value, path)
    for choice in [*part.get("oneOf", []), *part.get("anyOf", [])]:
        yield from described(choice, name)
