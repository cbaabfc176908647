"""Risk: how easily a row is tied to a person who is known to be in the table."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import DataError
from sfumato.policy import load
from sfumato.risk.table_risk import risk_by_columns, risk_by_policy

Rules = Callable[..., dict[str, Any]]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Six rows of four persons: two alike, one who stands twice, one without a town."""
    path = tmp_path / "t.csv"
    path.write_text("person;sex;town\n1;f;Bern\n2;f;Bern\n3;m;Thun\n3;m;Thun\n4;m;\n4;m;Bern\n")
    return path


def test_rows(table: Path) -> None:
    """Without persons every row counts: two classes of two, two of one; NULL is a value of its own."""
    risk = risk_by_columns(table, ["sex", "town"]).risk
    assert (risk.highest, risk.uniques) == (1.0, 2)
    assert risk.average == pytest.approx(4 / 6)
    assert risk.unique_share == pytest.approx(2 / 6)


def test_persons(table: Path, rules: Rules) -> None:
    """With persons a class of one person's rows is a class of one."""
    risk = risk_by_policy(table, load(rules({"person": "individual", "sex": "quasi", "town": "quasi"}))).risk
    assert (risk.highest, risk.uniques) == (1.0, 4)


def test_the_policy_says_how_to_read(table: Path, rules: Rules) -> None:
    """Separator and missing values of the policy hold for the table, and columns it does not name are left out."""
    policy = load(rules({"sex": "quasi"}, data={"separator": ";", "null": ["f"]}))
    assert risk_by_policy(table, policy).risk.highest == pytest.approx(1 / 2)


def test_a_column_that_is_not_there(table: Path) -> None:
    """A missing column is named, with the nearest one that is there."""
    with pytest.raises(DataError, match="has no column 'twon'; did you mean town"):
        risk_by_columns(table, ["sex", "twon"])


def test_former_names_are_still_there() -> None:
    """What was documented under another name can be imported by it."""
    package = import_module("sfumato.risk")
    assert getattr(package, "Asked") is package.RiskOptions  # noqa: B009 - the former name, which tools would rename
    assert getattr(package, "Lines") is package.DistinctRows  # noqa: B009 - same
    assert all(hasattr(package, name) for name in package.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = package.nothing
