"""The [[privacy]] tables, and what they ask of [columns]."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import PolicyError
from sfumato.policy import Policy, load

Refused = Callable[..., str]


def test_models_keep_their_order(good: dict[str, Any]) -> None:
    """The models of a policy are those written, in their order."""
    assert [model.name for model in load(good).privacy] == ["k-anonymity", "distinct-l-diversity"]


@pytest.mark.parametrize("value", [None, []])
def test_at_least_one_model(value: object, refused: Refused) -> None:
    """A policy that promises nothing is told the simplest promise."""
    message = refused("privacy", to=value, key="privacy")
    assert message == 'no privacy model: write [[privacy]] with model = "k-anonymity" and k = 5 as the simplest'


def test_a_single_table_is_no_list(refused: Refused) -> None:
    """[privacy] in place of [[privacy]] is an error that shows the brackets."""
    message = refused("privacy", to={"model": "k-anonymity", "k": 5}, key="privacy")
    assert "[[privacy]]" in message
    assert message.endswith("not a table")


def test_a_model_is_a_table(refused: Refused) -> None:
    """A name in place of a table is an error that names its place in the list."""
    assert refused("privacy", 1, to="k-anonymity", key="privacy[1]") == "must be a table, not 'k-anonymity'"


def test_errors_of_a_model_name_its_key(refused: Refused) -> None:
    """What the model refuses is refused under the key of its table."""
    assert refused("privacy", 0, "k", to=0, key="privacy[0].k")


def test_column_that_is_not_there(refused: Refused) -> None:
    """A model that looks at a column that is not listed is an error that names the likely one."""
    message = refused("privacy", 1, "column", to="ilness", key="privacy[1].column")
    assert message == "'ilness' is not one of [columns]; did you mean illness?"


def test_column_that_resembles_none(refused: Refused) -> None:
    """A model that looks at a column like no other is told to list it."""
    message = refused("privacy", 1, "column", to="zzz", key="privacy[1].column")
    assert message == "'zzz' is not one of [columns]; list it there"


def test_column_that_is_not_sensitive(refused: Refused) -> None:
    """A model that looks at a column of another role is an error that says the role."""
    message = refused("privacy", 1, "column", to="age", key="privacy[1].column")
    assert message == "'age' is of role quasi; name a sensitive column, or give it role = \"sensitive\""


def test_several_columns(refused: Refused) -> None:
    """Of several columns, the error names the place of the one that is not there."""
    table = {"model": "alpha-k-anonymity", "k": 2, "alpha": 0.5, "columns": ["illness", "ilness"]}
    message = refused("privacy", 1, to=table, key="privacy[1].columns[1]")
    assert message.endswith("; did you mean illness?")


def test_one_column_has_one_file_of_costs(tmp_path: Path) -> None:
    """Two general distances over one column with different costs are refused: the verifier keeps one file a column."""
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_text("flu,HIV,1\n")
    rule = {"model": "t-closeness", "column": "illness", "t": 0.5, "distance": "emd"}
    document = {
        "columns": {"sex": {"role": "quasi", "hierarchy": "suppress"}, "illness": {"role": "sensitive"}},
        "privacy": [rule | {"costs": "one.csv"}, rule | {"costs": "two.csv"}],
    }
    with pytest.raises(PolicyError, match=r"privacy\[1\].costs: 'illness' has the costs 'one.csv' already"):
        Policy.read(document, folder=tmp_path)
