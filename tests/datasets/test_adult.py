"""Where the real Adult table is found, and that our hierarchies fit it."""

import csv
from pathlib import Path

import pytest

from sfumato.datasets import adult_arx_folder, adult_arx_policy, adult_folder, adult_policy
from sfumato.datasets.adult import ARX_COLUMNS, HIERARCHY_FILES
from sfumato.hierarchy import File
from sfumato.policy import load

HEIGHTS = {
    "workclass": 3,
    "education": 4,
    "marital-status": 3,
    "occupation": 2,
    "race": 2,
    "sex": 1,
    "native-country": 3,
    "salary-class": 1,
}


@pytest.fixture
def pretended(tmp_path: Path) -> Path:
    """A project folder with nothing in it, beside nothing."""
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def make(folder: Path) -> Path:
    """A folder that looks like Adult's."""
    (folder / "hierarchies").mkdir(parents=True)
    (folder / "adult.csv").write_text("age\n39\n")
    return folder


def test_named_by_variable(pretended: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable names the folder, and a wrong name is not made good by another folder."""
    monkeypatch.setenv("SFUMATO_ADULT", str(pretended))
    assert adult_folder() is None
    assert adult_arx_folder() is None
    make(pretended / "adult")
    monkeypatch.setenv("SFUMATO_ADULT", str(pretended / "adult"))
    assert adult_folder() == pretended / "adult"


def test_seen_from_where_the_program_runs(pretended: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shared data beside the current folder goes before what was made in it."""
    monkeypatch.delenv("SFUMATO_ADULT", raising=False)
    monkeypatch.setattr("sfumato.datasets.adult._CHECKOUT", pretended / "elsewhere")
    monkeypatch.chdir(pretended)
    assert adult_folder() is None
    made = make(pretended / "benchmarks" / "data" / "adult")
    assert adult_folder() == made
    shared = make(pretended.parent / "shared" / "data" / "adult")
    assert adult_folder() == shared


def test_seen_from_the_checkout(pretended: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the program runs, the data of the checkout it runs from is found."""
    monkeypatch.delenv("SFUMATO_ADULT", raising=False)
    monkeypatch.setattr("sfumato.datasets.adult._CHECKOUT", pretended)
    monkeypatch.chdir(pretended.parent)
    made = make(pretended / "benchmarks" / "data" / "adult")
    assert adult_folder() == made
    (made.with_name("adult-arx")).mkdir()
    assert adult_arx_folder() is None
    (made.with_name("adult-arx") / "adult.csv").write_text("age\n39\n")
    assert adult_arx_folder() == made.with_name("adult-arx")


@pytest.mark.parametrize(("name", "height"), HEIGHTS.items())
def test_heights(name: str, height: int) -> None:
    """Our trees have the heights of the (α, k) paper's Table 12."""
    tree = File(HIERARCHY_FILES / f"{name}.csv")
    assert tree.bind([line[0] for line in tree.lines], column=name).height == height


@pytest.mark.adult
def test_our_hierarchies_cover_adult() -> None:
    """Every value of the real table has its line in our trees, and no line is about another."""
    folder = adult_folder() or pytest.skip("the Adult rows are not at hand")
    with (folder / "adult.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for name in HEIGHTS:
        assert {line[0] for line in File(HIERARCHY_FILES / f"{name}.csv").lines} == {row[name] for row in rows}


@pytest.mark.adult
def test_policies_are_for_these_tables() -> None:
    """The policies read, and list the columns of the tables they are for."""
    adult = adult_folder() or pytest.skip("the Adult rows are not at hand")
    arx = adult_arx_folder() or pytest.skip("ARX's Adult rows are not at hand")
    for folder, separator, policy in ((adult, ",", adult_policy(adult)), (arx, ";", adult_arx_policy(arx))):
        with (folder / "adult.csv").open(encoding="utf-8") as file:
            assert set(load(policy).columns) == set(file.readline().strip().split(separator))
    assert len(load(adult_policy(adult)).quasi) == 8
    assert [column.name for column in load(adult_arx_policy(arx)).quasi] == list(ARX_COLUMNS)
    assert len(load(adult_arx_policy(arx, sensitive="occupation")).quasi) == 8
