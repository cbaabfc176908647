"""The policy as a value: roles, overrides, and the document for the audit."""

import dataclasses
import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import PolicyError
from sfumato.policy import Policy, Publish, Role, Search, Source, load

Refused = Callable[..., str]


def test_columns_by_role(good: dict[str, Any]) -> None:
    """Each role has its columns, in the order of the policy."""
    policy = load(good)
    assert [column.name for column in policy.quasi] == ["age", "sex"]
    assert [column.name for column in policy.sensitive] == ["illness"]
    assert [column.name for column in policy.plain] == ["visits"]
    assert [column.name for column in policy.identifiers] == ["ssn"]
    assert policy.individual == policy.columns["person"]
    assert policy.with_role(Role.QUASI) == policy.quasi


def test_no_individual_column(good: dict[str, Any]) -> None:
    """Where each row is its own person there is no individual column."""
    del good["columns"]["person"]
    assert load(good).individual is None


def test_a_policy_is_frozen(good: dict[str, Any]) -> None:
    """A policy cannot be changed once it is checked."""
    policy: Any = load(good)
    with pytest.raises(dataclasses.FrozenInstanceError):
        policy.search = Search()


def test_a_policy_made_by_hand_is_checked(good: dict[str, Any]) -> None:
    """A policy put together from its parts goes through the same checks."""
    columns = {name: column for name, column in load(good).columns.items() if name != "illness"}
    with pytest.raises(PolicyError, match=r"privacy\[1\]: 'illness' is not one of"):
        Policy(Source(), columns, load(good).privacy, Search(), Publish(), document={})


def test_replace_overrides_and_keeps_the_document_in_step(good: dict[str, Any]) -> None:
    """What the command line overrides is overridden in the value and in the document, and nothing else."""
    policy = load(good)
    other = policy.replace(source="other.csv", algorithm="samarati", seed=7)
    assert (other.source.path, other.search.name, other.search.seed) == (Path("other.csv"), "samarati", 7)
    assert other.document["data"] == {"source": "other.csv"}
    assert other.document["algorithm"] == {**good["algorithm"], "name": "samarati", "seed": 7}
    assert other.search.suppression == policy.search.suppression
    assert policy.document == good


def test_replace_nothing(good: dict[str, Any]) -> None:
    """Without overrides the policy is what it was, with no table added to its document."""
    for name in ("data", "algorithm", "publish"):
        del good[name]
    policy = load(good)
    assert policy.replace() == policy
    assert policy.replace().document == good


def test_replace_seed_zero(good: dict[str, Any]) -> None:
    """A seed of 0 is a seed."""
    assert load(good).replace(seed=0).search.seed == 0


def test_replace_keeps_the_folder_of_the_policy(write: Callable[[str], Path]) -> None:
    """A source that is not overridden still starts at the folder of the policy file."""
    path = write(
        '[data]\nsource = "a.csv"\n[columns]\nsex = { role = "quasi", hierarchy = "suppress" }\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 2\n'
    )
    policy = load(path)
    assert policy.replace(seed=1).source.path == path.parent / "a.csv"
    assert policy.replace(source=Path("b.csv")).source.path == Path("b.csv")


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"source": "mysql://host"}, "data.source"),
        ({"algorithm": "condensation"}, "algorithm.name"),
        ({"algorithm": "optimum"}, "algorithm.name"),
        ({"seed": -1}, "algorithm.seed"),
        ({"seed": True}, "algorithm.seed"),
    ],
)
def test_replace_is_checked(change: dict[str, Any], key: str, good: dict[str, Any]) -> None:
    """An override goes through the checks of the file."""
    with pytest.raises(PolicyError) as caught:
        load(good).replace(**change)
    assert caught.value.key == key


def test_document_is_json(good: dict[str, Any]) -> None:
    """Dates, paths, tuples and text enums of a dict come out as JSON holds them."""
    good["data"] = {"source": Path("adult.csv"), "null": ("", "?")}
    good["columns"]["ssn"] = {"role": Role.IDENTIFIER}
    document = json.loads(json.dumps(load(good).document))
    assert document["data"] == {"source": "adult.csv", "null": ["", "?"]}
    assert document["columns"]["ssn"] == {"role": "identifier"}


def test_dates_become_text(good: dict[str, Any]) -> None:
    """A date is read as the text a table would hold."""
    good["data"]["null"] = [date(1900, 1, 1)]
    assert load(good).source.null == ("1900-01-01",)


def test_document_is_a_copy(good: dict[str, Any]) -> None:
    """What the caller does to the dict afterwards does not reach the policy."""
    policy = load(good)
    good["privacy"][0]["k"] = 1
    assert json.dumps(policy.document["privacy"]).count('"k": 5') == 1


@pytest.mark.parametrize("value", [None, object(), {1, 2}, b"csv", 1j])
def test_values_that_toml_does_not_have(value: object, good: dict[str, Any]) -> None:
    """A value of a dict that a file could not hold is an error that names its key."""
    good["publish"]["format"] = value
    with pytest.raises(PolicyError, match=r"publish.format: must be text, a number, a list or a table, not "):
        load(good)


def test_keys_that_are_no_text(refused: Refused) -> None:
    """A key of a dict that a file could not hold is an error."""
    assert refused("columns", 5, to={"role": "plain"}, key="columns") == "must have text as its keys, not int"


def test_endless_dicts() -> None:
    """A dict that holds itself is an error."""
    endless: dict[str, object] = {}
    endless["columns"] = endless
    with pytest.raises(PolicyError, match="nested too deeply"):
        load(endless)


def test_unknown_tables(refused: Refused) -> None:
    """A misspelt table is an error that names the likely one, or lists them all."""
    assert refused("colums", to={}, key="colums") == "is not a key of a policy; did you mean columns?"


def test_unknown_table_like_no_other(refused: Refused) -> None:
    """A table like no other is an error that lists those there are."""
    message = refused("zzz", to={}, key="zzz")
    assert message == "is not a key of a policy; choose data, columns, privacy, previous, algorithm or publish"


def test_long_texts_are_cut(refused: Refused) -> None:
    """What was given is shown short enough for a sentence."""
    message = refused("publish", "format", to="x" * 500, key="publish.format")
    assert len(message) < 100
