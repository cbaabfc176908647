"""Forms of publication, and what they ask of the rest of a policy."""

from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

from sfumato.errors import PolicyError
from sfumato.policy import load, schema

Refused = Callable[..., str]


@pytest.fixture
def split(good: dict[str, Any]) -> dict[str, Any]:
    """A policy for two tables."""
    good["publish"] = {"form": "lossy-join"}
    return good


def _refusal(policy: dict[str, Any]) -> str:
    with pytest.raises(PolicyError) as caught:
        load(policy)
    return str(caught.value)


def test_two_tables_are_read(split: dict[str, Any]) -> None:
    """The form is lossy-join, all sensitive columns together unless the policy says apart."""
    assert load(split).publish.split
    assert load(split).publish.ss == "together"
    split["columns"]["salary"] = {"role": "sensitive"}
    split["publish"]["ss"] = "apart"
    assert load(split).publish.ss == "apart"


def test_two_tables_need_something_to_keep_apart(split: dict[str, Any]) -> None:
    """Without a sensitive column there is no second table."""
    split["columns"]["illness"] = {"role": "plain"}
    del split["privacy"][1]
    assert _refusal(split).startswith(
        "publish.form: lossy-join puts sensitive values into a table of their own, and no"
    )


def test_nothing_to_put_apart(split: dict[str, Any]) -> None:
    """With one sensitive column the choice changes nothing, and one table has none."""
    split["publish"]["ss"] = "apart"
    assert _refusal(split) == (
        "publish.ss: there is one sensitive column, and nothing to put together or apart; leave it out"
    )
    split["publish"] = {"form": "generalized", "ss": "apart"}
    assert _refusal(split).startswith("publish.ss: a generalized release is one table; leave it out")


def test_two_tables_show_no_ranges(split: dict[str, Any]) -> None:
    """How ranges would be published does not matter where values stay as they were."""
    split["columns"]["age"]["hierarchy"] = {"ranges": True}
    split["algorithm"] = {"name": "mondrian"}
    assert load(split).publish.ranges == "boxes"
    split["publish"]["ranges"] = "means"
    assert _refusal(split).startswith("publish.ranges: lossy-join publishes values as they are")


def test_the_form_and_the_algorithm_go_together(good: dict[str, Any]) -> None:
    """Anatomy is a form with an algorithm of its own, and takes no key of the others."""
    good["algorithm"] = {"name": "anatomy"}
    assert _refusal(good) == 'algorithm.name: anatomy publishes two tables; write [publish] form = "anatomy"'
    good["publish"]["form"] = "anatomy"
    assert load(good).anatomized == "illness"
    good["algorithm"] = {"name": "top-down"}
    assert _refusal(good).startswith(
        "algorithm.name: the form anatomy makes buckets of its own; leave it out, or write"
    )
    good["algorithm"] = {"metric": "ncp"}
    assert _refusal(good) == "algorithm.metric: anatomy minimizes no loss of the quasi-identifiers; leave it out"


def test_buckets_are_made_of_one_column(good: dict[str, Any]) -> None:
    """Anatomy takes the sensitive column that the requirements look at, and refuses two."""
    good["publish"], good["algorithm"] = {"form": "anatomy"}, {}
    good["columns"]["salary"] = {"role": "sensitive"}
    assert load(good).anatomized == "illness"
    good["privacy"] = good["privacy"][:1]
    assert _refusal(good).startswith(
        "publish.form: anatomy makes its buckets of one sensitive column, and here are 'illness', 'salary'"
    )
    good["privacy"].append({"model": "alpha-deassociation", "alpha": 0.5, "column": "salary"})
    assert load(good).anatomized == "salary"


def test_anatomy_needs_no_hierarchies(good: dict[str, Any]) -> None:
    """Where nothing is generalized a quasi-identifier needs no levels, for `load` and for the schema alike."""
    check = jsonschema.Draft202012Validator(schema())
    good["columns"]["age"] = {"role": "quasi"}
    assert "a quasi-identifier needs one" in _refusal(good)
    assert not check.is_valid(good)
    good["publish"], good["algorithm"] = {"form": "anatomy"}, {}
    assert load(good).quasi[0].hierarchy is not None
    assert check.is_valid(good)


def test_two_tables_publish_values_as_they_are(split: dict[str, Any]) -> None:
    """A column that must not be told exactly has no place in a form that does."""
    split["columns"]["age"]["least"] = 1
    assert _refusal(split) == (
        "columns.age.least: lossy-join publishes quasi-identifiers as they are; leave it out, or publish generalized"
    )
