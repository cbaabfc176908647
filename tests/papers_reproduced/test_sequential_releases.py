"""The sequential releases: the tables of both departments, the points, and what is measured of a release."""

import csv
from collections import Counter
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
    Paths,
    SequentialExperiment,
    SequentialGrid,
    SequentialPoint,
    count_generalizations,
    count_groups,
    count_short_of_keys,
    distortion,
    tree_error,
)
from sfumato.policy import load
from sfumato.release import anonymize

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
    for name in CATEGORICAL:
        values = people.frame[name].unique().to_pylist()
        assert all(people.paths[name][value][-1] == people.own_paths[name][value][-1] == "*" for value in values)


def test_trees_are_those_of_the_papers(people: Departments) -> None:
    """They have the leaves and levels of Table 2, and are those that stand beside the rows, where these are at hand."""
    sizes = {"education": (16, 5), "occupation": (14, 3), "workclass": (8, 5), "marital-status": (7, 4)}
    sizes |= {"relationship": (6, 3), "sex": (2, 2)}
    for name, path in people.hierarchies.items():
        lines = _lines(Path(path))
        assert (len(lines), {len(line) for line in lines}) == (sizes[name][0], {sizes[name][1]})
        folder = adult_folder()
        if folder is not None and (folder / "hierarchies-tds").is_dir():
            assert lines == _lines(folder / "hierarchies-tds" / f"{name}.csv")


def _lines(path: Path) -> set[tuple[str, ...]]:
    return {tuple(line) for line in csv.reader(path.read_text(encoding="utf-8").splitlines())}


def test_repeated_labels_are_one_step(people: Departments) -> None:
    """A leaf that a file repeats is one step below its parent, and its path has each label once."""
    assert people.paths["education"]["Preschool"] == ("Preschool", "WPS", "*")
    assert people.paths["education"]["Masters"] == ("Masters", "Post-grad", "University", "PS", "*")
    counts = {"education": {("Preschool", "WPS"): 1, ("Masters", "PS"): 1, ("Some-college", "Some-college"): 2}}
    assert distortion(counts, people.paths) == {"cat": (1 + 3) / 4, "cont": 0}


def test_taxonomies_that_are_not_there(tmp_path: Path) -> None:
    """Without a taxonomy of five levels the usual one is taken, without any the value is suppressed; both are told."""
    (tmp_path / "hierarchies").mkdir()
    for name in ("marital-status", "sex", "education", "occupation", "workclass", "native-country-5", "race"):
        (tmp_path / "hierarchies" / f"{name}.csv").write_text("a,*\n")
    columns = dict.fromkeys([*CATEGORICAL, *IMMIGRATION, *CONTINUOUS, CLASS, SPLIT])
    (tmp_path / "adult.csv").write_text(",".join(columns) + "\n" + ",".join(["a"] * len(columns)) + "\n")
    found = Departments.from_source(RowSource(tmp_path))
    assert found.lower_taxonomies == ["relationship", "workclass"]
    assert found.own["relationship"] == "suppress"
    assert found.own_paths["relationship"] == {"a": ("a", "*"), "*": ("*",)}


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
    assert len(set(every)) == len(every) == 20 * 4 + 25 * 5 + 5 * (4 + 5) + 2 * 20 * 3
    assert len([*QUICK.anonymity("A"), *QUICK.linkability("A")]) == 16 + 8 + 12


def test_policies_are_accepted(made_up: Departments) -> None:
    """Every policy of the experiment is one that sfumato reads."""
    with SequentialExperiment.prepare(made_up) as experiment:
        for data in "AB":
            for point in (*QUICK.anonymity(data), *QUICK.linkability(data)):
                policy = load(experiment.policy(point))
                assert {column.name for column in policy.quasi} == set(point.quasi)


def test_distortion_by_hand(made_up: Departments) -> None:
    """Steps up a taxonomy are counted for categories, shares of the full range for numbers, both per record."""
    paths: dict[str, Paths] = {"sex": {"f": ("f", "*")}, "job": {"cook": ("cook", "service", "*")}}
    counts = {
        "sex": {("f", "f"): 1, ("f", "*"): 3},
        "job": {("cook", "cook"): 2, ("cook", "service"): 2},
        "age": {("20", "17-53"): 1, ("60", "*"): 1, ("30", "30"): 1, ("31", "31"): 1},
    }
    assert distortion(counts, paths) == {"cat": (3 + 2) / 4, "cont": (0.5 + 1) / 4}
    with SequentialExperiment.prepare(made_up) as experiment:
        point = SequentialPoint("B", XY, 7, 10)
        release = anonymize(made_up.taxation(point.data_set), experiment.policy(point))
    found = count_generalizations(release)
    assert found.keys() == set(point.quasi)
    for name, pairs in found.items():
        assert sum(pairs.values()) == release.rows
        published = Counter(map(str, release.table[name].to_pylist()))
        assert published == sum((Counter({label: rows}) for (_, label), rows in pairs.items()), Counter())


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
