"""The functions of the commands: frames of every library, paths and releases give what the command line gives."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.datasets import hospital, hospital_policy
from tests.conftest import Runs

FRAMES: dict[str, Callable[[Any], Any]] = {
    "arrow": lambda table: table,
    "pandas": lambda table: table.to_pandas(),
    "polars": pl.from_arrow,
    "duckdb": duckdb.from_arrow,
}


@pytest.fixture(scope="module")
def table() -> Any:
    """Three hundred made-up patients."""
    return hospital(300)


@pytest.fixture(scope="module")
def release(table: Any) -> sf.Release:
    """A release of them."""
    return sf.anonymize(table, sf.load_policy(hospital_policy()).replace(algorithm="optimal"))


@pytest.mark.parametrize("kind", FRAMES)
def test_risk_of_frames_is_that_of_the_file(kind: str, table: Any, tmp_path: Path, runs: Runs) -> None:
    """A frame of any library has the risk that the command prints of the same rows in a file."""
    file = tmp_path / "people.csv"
    table.to_pandas().to_csv(file, index=False)
    printed = json.loads(runs("risk", file, "--quasi", "age,sex", "--json").out)
    for data in (FRAMES[kind](table), str(file)):
        assert json.loads(json.dumps(sf.risk(data, quasi=["age", "sex"]).as_json())) == printed


def test_risk_by_policy_and_of_a_release(table: Any, release: sf.Release, tmp_path: Path) -> None:
    """A policy names the columns of a frame; a release in memory has the risk of its folder."""
    assert sf.risk(table, policy=hospital_policy()).risk.highest == 1.0
    assert sf.risk(release).as_json() == sf.risk(release.save(tmp_path / "release")).as_json()
    assert sf.risk(release).risk.highest == release.risk.highest


def test_risk_says_what_is_missing_or_too_much(table: Any, release: sf.Release) -> None:
    """One sentence where columns are not named, are named twice over, or are not there."""
    with pytest.raises(sf.InputError, match="say which columns others may know"):
        sf.risk(table)
    with pytest.raises(sf.InputError, match="names its quasi-identifiers and persons itself"):
        sf.risk(release, quasi=["age"])
    with pytest.raises(sf.DataError, match="the table has no column 'agee'; did you mean age"):
        sf.risk(table, quasi=["agee"])


@pytest.mark.parametrize("kind", FRAMES)
def test_utility_of_a_release_and_a_frame(kind: str, table: Any, release: sf.Release, tmp_path: Path) -> None:
    """The loss of a release in memory, with the original as any frame, is that of its folder, and its own."""
    found = sf.utility(release, FRAMES[kind](table), queries=20)
    assert found.losses.ncp == pytest.approx(release.utility.ncp)
    assert found.as_json() == sf.utility(release.save(tmp_path / "release"), table, queries=20).as_json()
    assert sf.utility(release, queries=20).as_json() == found.as_json()


def test_utility_needs_the_original_of_a_folder(release: sf.Release, tmp_path: Path) -> None:
    """A folder does not have the table it was made from."""
    with pytest.raises(sf.InputError, match="name the table that the release was made from"):
        sf.utility(release.save(tmp_path / "release"))


@pytest.mark.parametrize("kind", FRAMES)
def test_compare_takes_frames(kind: str, table: Any) -> None:
    """A frame of any library and a policy give the lines that were asked for."""
    found = sf.compare(FRAMES[kind](table), hospital_policy(), algorithms=["optimal"], settings={"k": [2, 5]})
    assert [line.settings for line in found.outcomes] == [{"k": 2}, {"k": 5}]
    assert all(line.figures for line in found.outcomes)


def test_compare_takes_a_release(table: Any, release: sf.Release) -> None:
    """A release in memory has its table and its policy with it; of anything else the policy is named."""
    found = sf.compare(release, algorithms=["optimal"], settings={"k": [2, 5]})
    named = sf.compare(table, release.policy, algorithms=["optimal"], settings={"k": [2, 5]})
    losses = [[line.figures and line.figures.ncp for line in lines.outcomes] for lines in (found, named)]
    assert losses[0] == losses[1]
    assert None not in losses[0]
    with pytest.raises(sf.InputError, match=r"name the policy that is run, as in sf\.compare\(data, policy\)"):
        sf.compare(table)


def test_verify_takes_a_folder(release: sf.Release) -> None:
    """A release in memory has no files yet, and the sentence says what has."""
    with pytest.raises(sf.InputError, match="a Release has no files to be checked; name the folder of a release"):
        sf.verify(release)  # type: ignore[arg-type]


def test_query_answers_from_a_release_in_memory(release: sf.Release, tmp_path: Path) -> None:
    """What a release in memory answers is what its folder answers; a frame is no release."""
    text = "select count(*), avg(nights) where age >= 40 group by sex"
    # as printed: DuckDB adds numbers up in any order, which the last digit shows
    assert str(sf.query(release, text)) == str(sf.query(release.save(tmp_path / "release"), text))
    with pytest.raises(sf.InputError, match="not from a DataFrame"):
        sf.query(pd.DataFrame({"age": [1]}), text)


@pytest.mark.parametrize("kind", FRAMES)
def test_a_proposal_for_a_frame_runs(kind: str, table: Any) -> None:
    """The policy proposed for a frame of any library makes a release of it, and its text names no source."""
    found = sf.propose(FRAMES[kind](table))
    assert found.policy.source.path is None
    assert "source" not in found.text
    assert [column["name"] for column in found.columns] == table.column_names
    assert sf.anonymize(FRAMES[kind](table), found.policy).verdict.satisfied
    assert str(found) == found.text


def test_a_proposal_for_a_file_is_that_of_init(table: Any, tmp_path: Path) -> None:
    """The policy of a file has its hierarchies inside, is equal to the one that init writes, and names its source."""
    file = tmp_path / "people.csv"
    table.to_pandas().to_csv(file, index=False)
    found = sf.propose(file)
    saved = sf.load_policy(found.policy.save(tmp_path / "policy.toml"))
    assert saved == found.policy
    assert saved.source.path == file


def test_a_frame_that_cannot_be_profiled_is_refused() -> None:
    """No rows, no usable column, or a name twice: a sentence each."""
    with pytest.raises(sf.DataError, match="no rows"):
        sf.propose(pa.table({"age": pa.array([], pa.int64())}))
    with pytest.raises(sf.DataError, match="no column of text, numbers or dates"):
        sf.propose(pa.table({"tags": [["a"], ["b"]]}))
    with pytest.raises(sf.DataError, match="stands twice"):
        sf.propose(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]))
    with pytest.raises(sf.DataError, match="not a table"):
        sf.propose([1, 2])
