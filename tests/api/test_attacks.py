"""The attacks as functions: releases in memory and folders, frames and paths give the same results."""

from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pandas as pd
import polars as pl
import pytest

import sfumato as sf
from sfumato.datasets import hospital, hospital_policy


@pytest.fixture(scope="module")
def table() -> Any:
    """Two hundred made-up patients."""
    return hospital(200)


@pytest.fixture(scope="module")
def release(table: Any) -> sf.Release:
    """A release of them."""
    return sf.anonymize(table, hospital_policy())


@pytest.fixture(scope="module")
def folder(release: sf.Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, saved."""
    return release.save(tmp_path_factory.mktemp("attacks") / "release")


def test_link_is_the_same_in_memory_and_on_disk(table: Any, release: sf.Release, folder: Path) -> None:
    """Figures are equal; names of folders that nobody knows are in no result."""
    options: dict[str, Any] = {"on": ["age", "sex"], "name": "patient", "most": 3}
    memory, disk = sf.attack.link(release, table, **options), sf.attack.link(folder, pl.from_arrow(table), **options)
    assert memory.release == "the release"
    assert gettempdir() not in str(memory.as_json())
    assert memory.as_json() | {"release": None} == disk.as_json() | {"release": None}


def test_link_and_known_take_raw_frames(table: Any) -> None:
    """Without any release, rows of a frame are found by their values."""
    found = sf.attack.link(pl.from_arrow(table), table, ["age", "zip", "admitted"], sensitive=["illness"])
    assert found.certain is not None
    assert found.certain > 100
    assert sf.attack.known(table, columns=["age", "zip"]).targets == 200
    with pytest.raises(sf.InputError, match="which columns of the table may be known"):
        sf.attack.known(table)


def test_whole_numbers_are_found_however_they_are_written(tmp_path: Path) -> None:
    """An adversary whose table has ages as 20.0, as pandas writes them beside gaps, finds those told as 20."""
    ages = [20.0 + n % 3 for n in range(30)]
    frame = pd.DataFrame({"name": [f"n{n}" for n in range(30)], "age": ages, "zip": ["0501", "4350", "4351"] * 10})
    frame.to_csv(tmp_path / "known.csv", index=False)
    assert ",20.0," in (tmp_path / "known.csv").read_text()
    whole = frame.astype({"age": int})
    columns = {"age": sf.quasi(intervals=[5, 10]), "zip": sf.quasi("suppress"), "name": sf.identifier()}
    release = sf.anonymize(whole, sf.Policy(columns=columns, privacy=[sf.KAnonymity(5)], algorithm="optimal"))
    assert set(release.table["age"]) == {20, 21, 22}
    for data in (release, whole, frame):
        for known in (frame, whole, tmp_path / "known.csv"):
            assert sf.attack.link(data, known, on=["age", "zip"], name="name").matched_people == 30


@pytest.mark.parametrize("attack", ["homogeneity", "skewness"])
def test_attacks_on_classes(attack: str, release: sf.Release, folder: Path) -> None:
    """Homogeneity and skewness need the release alone; a release in memory has its policy with it."""
    run = getattr(sf.attack, attack)
    assert run(release).as_json() == run(folder, policy=release.policy).as_json()
    with pytest.raises(sf.InputError, match="'x' is no sensitive column of the release"):
        run(release, column="x")
    with pytest.raises(sf.InputError, match="give a release"):
        run(hospital(20))


def test_known_intersect_and_minimality(table: Any, release: sf.Release, folder: Path) -> None:
    """Those that compare with the original take it from a release in memory."""
    assert sf.attack.known(release).series == sf.attack.known(folder, table).series
    both = sf.attack.intersect([release, folder], table)
    assert [one.release for one in both.releases] == ["release 1", str(folder)]
    assert sf.attack.minimality(release).as_json() == sf.attack.minimality(folder, table).as_json()
    with pytest.raises(sf.InputError, match="name the table that the release was made from"):
        sf.attack.minimality(folder)


def test_definetti_needs_two_tables(table: Any, release: sf.Release) -> None:
    """It runs on two tables, and says of one that there is nothing to assign."""
    rules = sf.load_policy(hospital_policy())
    split = sf.anonymize(
        table, sf.Policy.read({**rules.document, "publish": {"form": "lossy-join"}}, folder=rules.folder)
    )
    assert sf.attack.definetti(split).columns["illness"].attack >= 0
    with pytest.raises(sf.InputError, match="the release is one generalized table"):
        sf.attack.definetti(release)


def test_nothing_is_left_in_the_temporary_folder(release: sf.Release) -> None:
    """What is written to look at a release in memory is gone afterwards."""
    before = {path.name for path in Path(gettempdir()).glob("sfumato-*")}
    sf.risk(release)
    with pytest.raises(sf.InputError):
        sf.attack.homogeneity(release, column="x")
    assert {path.name for path in Path(gettempdir()).glob("sfumato-*")} == before
