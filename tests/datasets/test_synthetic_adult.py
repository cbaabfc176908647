"""Made-up people like Adult's."""

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import sfumato as sf
from sfumato.datasets import synthetic_adult, synthetic_adult_policy
from sfumato.datasets.adult import ARX_COLUMNS
from sfumato.hierarchy import File
from sfumato.policy import load


def test_shape() -> None:
    """Nine columns, as many rows as asked for, and the ages and values of Adult."""
    table = synthetic_adult(20_000)
    assert tuple(table.column_names) == ARX_COLUMNS
    assert table.num_rows == 20_000
    ages = pc.min_max(table["age"]).as_py()
    assert ages["min"] == 17
    assert 80 < ages["max"] <= 90
    different = {name: len(table[name].unique()) for name in ("workclass", "education", "sex", "salary-class")}
    assert different == {"workclass": 7, "education": 16, "sex": 2, "salary-class": 2}


@pytest.mark.parametrize("rows", [0, 1])
def test_few_rows(rows: int) -> None:
    """A table may have one row or none."""
    assert synthetic_adult(rows).num_rows == rows


def test_seed() -> None:
    """The same seed gives the same people, another one others."""
    assert synthetic_adult(500, seed=3).equals(synthetic_adult(500, seed=3))
    assert not synthetic_adult(500, seed=3).equals(synthetic_adult(500, seed=4))


def test_resembles_adult() -> None:
    """A quarter earns more than 50K, and of those with a degree, more."""
    table = synthetic_adult(20_000)
    rich = pc.equal(table["salary-class"].cast(pa.string()), ">50K")
    bachelors = pc.equal(table["education"].cast(pa.string()), "Bachelors")
    assert 0.2 < pc.mean(rich).as_py() < 0.3
    assert pc.mean(rich.filter(bachelors)).as_py() > 0.35


def test_policy_covers_every_value() -> None:
    """The package's hierarchies have a line for all that is drawn."""
    table = synthetic_adult(20_000)
    for column in load(synthetic_adult_policy()).quasi:
        if isinstance(column.hierarchy, File):
            assert set(table[column.name].unique().to_pylist()) <= {line[0] for line in column.hierarchy.lines}


def test_release() -> None:
    """A release of it under its policy passes the verifier."""
    distinct = {"model": "distinct-l-diversity", "column": "occupation", "l": 2}
    policy = synthetic_adult_policy(k=3, suppression=0.05, sensitive="occupation", also=[distinct])
    release = sf.anonymize(synthetic_adult(1500), policy)
    assert release.verdict.satisfied
    assert release.rows + release.suppressed == 1500
    assert release.suppressed <= 75
