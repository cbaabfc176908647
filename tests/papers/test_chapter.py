"""The chapter's hospital: Table 20.1 becomes Table 20.3, which is 3-anonymous and still tells who has HIV."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sfumato import Infeasible, anonymize
from sfumato.encode import encode
from sfumato.policy import Policy
from sfumato.recode.evaluation import Evaluator
from sfumato.recode.incognito import incognito
from sfumato.recode.metrics import METRICS
from sfumato.recode.requirement import Requirement
from sfumato.table import from_frame

TABLE_1 = pa.table(
    {
        "ssn": ["012-345-6789", "823-627-9231", "987-654-3210", "382-827-8264", "847-872-7276", "422-061-0089"],
        "age": [24, 37, 26, 38, 36, 25],
        "zip": ["10598", "90210", "10547", "90345", "89119", "02139"],
        "disease": ["HIV", "Hepatitis C", "HIV", "Hepatitis C", "Diabetes", "HIV"],
    }
)
REGIONS = """10547,New York,Northeastern US,*
10598,New York,Northeastern US,*
02139,Massachusetts,Northeastern US,*
90210,California,Western US,*
90345,California,Western US,*
89119,Nevada,Western US,*
"""
TABLE_3 = [
    ("20-29", "Northeastern US", "HIV"),
    ("20-29", "Northeastern US", "HIV"),
    ("20-29", "Northeastern US", "HIV"),
    ("30-39", "Western US", "Diabetes"),
    ("30-39", "Western US", "Hepatitis C"),
    ("30-39", "Western US", "Hepatitis C"),
]
K3 = {"model": "k-anonymity", "k": 3}
L2 = {"model": "distinct-l-diversity", "column": "disease", "l": 2}


def policy(folder: Path, *privacy: dict[str, Any], **algorithm: Any) -> Policy:
    """Ages in tens and in forties, zip codes by state and region."""
    (folder / "zip.csv").write_text(REGIONS)
    columns = {
        "ssn": {"role": "identifier"},
        "age": {"role": "quasi", "hierarchy": {"intervals": [10, 40]}},
        "zip": {"role": "quasi", "hierarchy": "zip.csv"},
        "disease": {"role": "sensitive"},
    }
    return Policy.read({"columns": columns, "privacy": list(privacy), "algorithm": algorithm}, folder=folder)


@pytest.mark.parametrize("algorithm", ["optimal", "samarati", "incognito"])
def test_table_20_3(algorithm: str, tmp_path: Path) -> None:
    """Every algorithm publishes the domain generalization <A1, Z2>, the chapter's Table 20.3."""
    release = anonymize(TABLE_1, policy(tmp_path, K3, name=algorithm))
    assert release.levels == {"age": 1, "zip": 2}
    assert sorted(tuple(row.values()) for row in release.table.to_pylist()) == TABLE_3
    assert release.privacy[0]["achieved"] == {"k": 3}


def test_it_is_the_only_minimal_node(tmp_path: Path) -> None:
    """Nothing below <A1, Z2> is 3-anonymous, and nothing beside it that is not above it."""
    rules = policy(tmp_path, K3)
    encoded = encode(from_frame(TABLE_1, rules), rules)
    requirement = Requirement.from_share(rules.privacy, encoded.rows, rules.search.suppression)
    search = Evaluator(encoded, requirement, METRICS["height"](encoded))
    assert [one.node for one in incognito(search)] == [(1, 2)]


def test_the_three_rows_with_hiv(tmp_path: Path) -> None:
    """Table 20.3 has a class of l = 1, so that 2-diversity has to give up age and region together."""
    rules = policy(tmp_path, K3, L2, name="optimal")
    encoded = encode(from_frame(TABLE_1, rules), rules)
    requirement = Requirement.from_share(rules.privacy, encoded.rows, rules.search.suppression)
    grouped, passing, _ = Evaluator(encoded, requirement, METRICS["ncp"](encoded)).judge((1, 2))
    assert rules.privacy[1].achieved(grouped.classes) == {"l": 1}
    assert sorted(passing.tolist()) == [False, True]
    release = anonymize(TABLE_1, rules)
    assert release.levels == {"age": 2, "zip": 3}
    assert release.privacy[1]["achieved"] == {"l": 3}


def test_suppressing_the_three_rows_with_hiv(tmp_path: Path) -> None:
    """If half of the rows may go, the class with HIV goes and the other keeps its labels."""
    release = anonymize(TABLE_1, policy(tmp_path, K3, L2, name="optimal", suppression=0.5))
    assert release.levels == {"age": 1, "zip": 2}
    assert sorted(tuple(row.values()) for row in release.table.to_pylist()) == TABLE_3[3:]


def test_four_diseases_are_not_there(tmp_path: Path) -> None:
    """A table of three diseases is not 4-diverse, whatever is done to it."""
    with pytest.raises(Infeasible, match="l can be at most 3"):
        anonymize(TABLE_1, policy(tmp_path, {**L2, "l": 4}))
