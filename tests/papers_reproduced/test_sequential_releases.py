"""The sequential releases: the tables of both departments, the points, and what is measured of a release."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.datasets import adult_folder
from sfumato.papers.experiment import RowSource
from sfumato.papers.sequential_paper import MEASURED
from sfumato.papers.sequential_releases import (
    CATEGORICAL,
    CLASS,
    CONTINUOUS,
    IMMIGRATION,
    KA,
    LINK,
    QUICK,
    SETS,
    SHARED,
    SPLIT,
    XY,
    Departments,
    SequentialExperiment,
    SequentialGrid,
    SequentialPoint,
    count_groups,
    count_short_of_keys,
    distortion,
    tree_error,
)
from sfumato.policy import load

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def people() -> Departments:
    """The real people where they are at hand, else made-up ones."""
    return Departments.from_source(RowSource(adult_folder(), 2000))


def test_sets(people: Departments) -> None:
    """Both departments have their columns of the same people, and a taxonomy for each categorical one."""
    for data, width in (("A", 8), ("B", 14)):
        assert people.taxation(SETS[data]).num_columns == width
    assert set(people.immigration.column_names) & set(SETS["A"].attributes) == set(SHARED)
    assert people.immigration.num_rows == people.frame.num_rows
    for name in {*CATEGORICAL, *IMMIGRATION}:
        values = people.frame[name].unique().to_pylist()
        assert all(people.paths[name][value][-1] == "*" for value in values)


def test_taxonomies_that_are_not_there(tmp_path: Path) -> None:
    """Without a taxonomy of five levels the usual one is taken, without any the value is suppressed; both are told."""
    (tmp_path / "hierarchies").mkdir()
    for name in ("marital-status", "sex", "education", "occupation", "workclass", "native-country-5", "race"):
        (tmp_path / "hierarchies" / f"{name}.csv").write_text("a,*\n")
    columns = dict.fromkeys([*CATEGORICAL, *IMMIGRATION, *CONTINUOUS, CLASS, SPLIT])
    (tmp_path / "adult.csv").write_text(",".join(columns) + "\n" + ",".join(["a"] * len(columns)) + "\n")
    found = Departments.from_source(RowSource(tmp_path))
    assert found.lower_taxonomies == ["relationship", "workclass"]
    assert found.hierarchies["relationship"] == "suppress"
    assert found.paths["relationship"] == {"a": ("a", "*"), "*": ("*",)}


def test_points_have_x_as_the_text_says() -> None:
    """Shared columns stand in X from both tables, for linkability unless they are in Y; then T2 has no other."""
    top = SequentialPoint("A", XY, 4, 40)
    assert top.quasi == (*SHARED, "education")
    assert set(top.x) == {*top.quasi, *(f"immigration.{name}" for name in IMMIGRATION)}
    assert set(SequentialPoint("B", XY, 3, 40).quasi) == {*SHARED, "capital-gain", "age"}
    link = SequentialPoint("A", LINK, 2, 0.1)
    assert link.y == ("marital-status", "relationship")
    assert link.x == ["sex", "education", "occupation", "workclass", "immigration.sex"]
    assert set(SequentialPoint("B", KA, 0, 40).quasi) == set(SETS["B"].attributes)
    every = [point for part in MEASURED for point in SequentialGrid().points(part)]
    assert len(set(every)) == len(every) == (20 + 25) * 5 + 2 * 15 + 2 * 40
    assert len([*QUICK.anonymity("A"), *QUICK.linkability("A")]) == 20 + 6 + 8


def test_policies_are_accepted(made_up: Departments) -> None:
    """Every policy of the experiment is one that sfumato reads."""
    with SequentialExperiment.prepare(made_up) as experiment:
        for data in "AB":
            for point in (*QUICK.anonymity(data), *QUICK.linkability(data)):
                policy = load(experiment.policy(point))
                assert {column.name for column in policy.quasi} == set(point.quasi)


def test_distortion_by_hand(made_up: Departments) -> None:
    """Levels climbed are counted for categories, shares of the full range for numbers, both per record."""
    paths = {
        "sex": {"f": ("f", "*"), "*": ("*",)},
        "job": {"cook": ("cook", "service", "*"), "service": ("service", "*")},
    }
    table = pa.table(
        {"sex": ["f", "*", "*", "*"], "job": ["cook", "service", "service", "cook"], "age": ["17-53", "*", "30", "31"]}
    )
    assert distortion(table, ["sex", "job", "age"], paths) == {"cat": (3 + 2) / 4, "cont": (0.5 + 1) / 4}
    whole = made_up.taxation(SETS["B"])
    assert distortion(whole, SETS["B"].attributes, made_up.paths) == {"cat": 0, "cont": 0}


def test_short_of_keys_is_what_a_loop_over_the_join_finds(made_up: Departments) -> None:
    """X values with fewer than k rows of T1 are those that a join of all pairs of rows has."""
    draw = np.random.default_rng(2)
    columns = {name: made_up.frame[name].to_pylist() for name in IMMIGRATION}
    ours = {name: [made_up.paths[name][one][draw.integers(2)] for one in columns[name]] for name in SHARED}
    mine = list(zip(*(ours[name] for name in SHARED), strict=True))
    theirs = list(zip(*(columns[name] for name in IMMIGRATION), strict=True))
    linked: dict[Any, set[int]] = {}
    for (row, one), other in product(enumerate(mine), theirs):
        if all(label in made_up.paths[name][value] for name, label, value in zip(SHARED, one, other, strict=False)):
            linked.setdefault((one, other), set()).add(row)
    short = sum(len(rows) < 10 for rows in linked.values())
    assert 0 < short < len(linked)
    both = count_groups(pa.table(ours), SHARED), count_groups(made_up.immigration, IMMIGRATION)
    assert count_short_of_keys(*both, made_up.paths, k=10) == (short, len(linked))


def test_error_of_a_tree() -> None:
    """A column that decides the class leaves no error; without it the rarer class is what is wrong."""
    sex = ["f", "f", "m"] * 200
    table = pa.table(
        {
            "sex": sex,
            "job": ["*"] * 600,
            CLASS: [{"f": "a", "m": "b"}[one] for one in sex],
            SPLIT: ["train"] * 300 + ["test"] * 300,
        }
    )
    assert tree_error(table, ["sex", "job"]) == 0
    assert tree_error(table, ["job"]) == pytest.approx(1 / 3)
