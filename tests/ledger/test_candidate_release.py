"""A release whose promise speaks of earlier ones is recorded with all that it takes to verify it again."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato import anonymize
from sfumato.errors import InputError
from sfumato.ledger import Ledger

Makes = Callable[..., Path]

EARLIER = "sex,race,test\n" + "Male,black,HIV\nMale,white,eye\nFemale,white,HIV\nFemale,black,eye\n" * 3
NOW = "sex,job,income\n" + "Male,banker,1\nFemale,clerk,2\nMale,clerk,3\nFemale,banker,4\n" * 3


def _release(folder: Path, name: str, table: Path) -> Path:
    """A release of today's table that takes account of an earlier one."""
    (folder / "now.csv").write_text(NOW)
    policy = {
        "columns": {
            "sex": {"role": "quasi", "hierarchy": "suppress"},
            "job": {"role": "quasi", "hierarchy": "suppress"},
            "income": {"role": "plain"},
        },
        "previous": [{"name": "immigration", "table": str(table)}],
        "privacy": [
            {"model": "xy-anonymity", "x": ["sex", "immigration.sex", "job", "immigration.race"], "y": ["$row"], "k": 3}
        ],
        "algorithm": {"name": "tds"},
    }
    return anonymize(folder / "now.csv", policy).save(folder / name)


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A release with an earlier table that nobody recorded."""
    (tmp_path / "immigration.csv").write_text(EARLIER)
    return _release(tmp_path, "taxes", tmp_path / "immigration.csv")


def test_earlier_table_is_kept(ledger: Ledger, release: Path, tmp_path: Path) -> None:
    """The earlier table is copied, so that the release can still be checked when the file is gone."""
    entry = ledger.add(release)
    (tmp_path / "immigration.csv").unlink()
    shutil.rmtree(release)
    assert entry.previous["immigration"].read_text() == EARLIER
    assert ledger.check().problems == ()
    entry.previous["immigration"].write_text(EARLIER.replace("HIV", "flu"))
    (problem,) = ledger.check().problems
    assert problem.startswith("release 1, 'taxes': ")
    assert "immigration" in problem


@pytest.mark.slow
def test_earlier_table_of_the_ledger(ledger: Ledger, makes: Makes, tmp_path: Path) -> None:
    """An earlier table that is recorded is not copied again, and is found by its content wherever it was."""
    first = ledger.add(makes("spring"))
    release = tmp_path / "next"
    table = tmp_path / "spring" / "public" / "table.csv"
    policy: dict[str, Any] = {
        "columns": {"sex": {"role": "quasi", "hierarchy": "suppress"}, "job": {"role": "plain"}},
        "previous": [{"name": "spring", "table": str(table)}],
        "privacy": [{"model": "xy-anonymity", "x": ["sex", "spring.sex"], "y": ["$row"], "k": 2}],
        "algorithm": {"name": "tds"},
    }
    (tmp_path / "now.csv").write_text("sex,job\n" + "m,a\nf,b\n" * 4)
    anonymize(tmp_path / "now.csv", policy).save(release)
    shutil.rmtree(tmp_path / "spring")
    entry = ledger.add(release)
    assert entry.previous == {"spring": first.paths[0]}
    assert sorted(path.name for path in entry.folder.iterdir()) == ["private", "public"]
    assert ledger.check().problems == ()


def test_earlier_table_that_is_not_there(ledger: Ledger, release: Path, tmp_path: Path) -> None:
    """Where the earlier table has moved or was changed, it has to be given."""
    (tmp_path / "immigration.csv").rename(tmp_path / "moved.csv")
    with pytest.raises(InputError, match=r"earlier release 'immigration' as it was published is needed.*--previous"):
        ledger.add(release)
    (tmp_path / "other.csv").write_text(EARLIER + "Male,black,eye\n")
    with pytest.raises(InputError, match="earlier release 'immigration' as it was published is needed"):
        ledger.add(release, previous={"immigration": tmp_path / "other.csv"})
    entry = ledger.add(release, previous={"immigration": tmp_path / "moved.csv"})
    assert entry.previous["immigration"].name == "immigration.csv"


def test_public_part_with_earlier_table(ledger: Ledger, release: Path, tmp_path: Path, runs: Any) -> None:
    """The public part alone is recorded if the command is given the earlier table."""
    shutil.rmtree(release / "private")
    refused = runs("ledger", "add", ledger.folder, release)
    assert refused.code == 2
    assert "give it with --previous immigration=FILE" in refused.sentence
    given = f"immigration={tmp_path / 'immigration.csv'}"
    done = runs("ledger", "add", ledger.folder, release, "--previous", given, "--json")
    assert done.code == 0
    assert json.loads(done.out)["previous"] == ["immigration"]
    assert ledger.check().problems == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    "change", [{"name": "../x"}, {"table": "../../x.csv"}, {"sha256": 7}, {"name": ["a"]}, {"table": None}]
)
def test_manifest_that_names_places_elsewhere(
    ledger: Ledger, release: Path, change: dict[str, Any], tmp_path: Path
) -> None:
    """A manifest cannot make the ledger write anywhere but into its own folder."""
    path = release / "public" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["previous"][0] |= change
    path.write_text(json.dumps(manifest))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(Exception, match=r"manifest\.json"):
        ledger.add(release)
    assert sorted(tmp_path.rglob("*")) == before
