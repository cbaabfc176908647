"""``sfumato attack link`` as users meet it: what it prints, what it refuses, and what it never says."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sfumato.attack.link import link
from sfumato.errors import InputError

Runs = Callable[..., Any]
Saves = Callable[..., Path]

ROLL = "name;sex;zip;illness\nAnn;f;4350;flu\nBea;f;4351;?\nCid;m;9999;flu\n"


@pytest.fixture
def release(saves: Saves, people: Any, roles: Any, rules: Any, tmp_path: Path) -> Path:
    """A release of forty people and, beside it, a roll of three persons with semicolons."""
    (tmp_path / "roll.csv").write_text(ROLL)
    return saves(people, rules(roles, k=3), "release")


def test_the_json(release: Path, runs: Runs) -> None:
    """One object: figures under both assumptions, what was tried, and no person unless asked for."""
    told = runs("attack", "link", release, "--known", "roll.csv", "--on", "sex,zip", "--json")
    assert (told.code, told.err) == (0, "")
    answer = json.loads(told.out)
    assert (answer["people"], answer["matched_people"], answer["records"]) == (3, 2, 40)
    assert (answer["in_release"]["average"], answer["in_release"]["baseline"]) == (0.1, 1 / 40)
    assert [one["success"] for one in answer["tried"]][:2] == [answer["everybody"]["average"], 0.1]
    assert answer["tried"][1]["bound"] == pytest.approx(1 / 3)
    assert "persons" not in answer
    assert "Ann" not in told.out


def test_the_list(release: Path, runs: Runs) -> None:
    """As many persons as asked for, by name or by the number of their row; nobody who matches nothing."""
    arguments = ("attack", "link", release, "--known", "roll.csv", "--on", "sex,zip")
    named = json.loads(runs(*arguments, "--name", "name", "--list", "9", "--json").out)["persons"]
    assert {one["person"] for one in named} == {"Ann", "Bea"}
    numbered = json.loads(runs(*arguments, "--list", "1", "--json").out)["persons"]
    assert len(numbered) == 1
    assert numbered[0]["person"] in {1, 2}
    shown = runs(*arguments, "--name", "name").out
    assert "Ann" in shown
    assert "Cid" not in shown
    assert "Ann" not in runs(*arguments, "--name", "name", "--list", "0").out


def test_the_truth(release: Path) -> None:
    """Where the outside table has the sensitive column, it is counted how often the guess is right."""
    found = link(release, release.parent / "roll.csv", ["sex", "zip"], name="name")
    guesses = {one.person: one.values["illness"]["in_release"].value for one in found.persons}
    truth: dict[Any, Any] = {"Ann": "flu", "Bea": "?"}
    expected = sum(truth[name] == value for name, value in guesses.items()) / 2
    column = found.columns["illness"]
    assert column.right == expected
    assert found.results()[-1].success == column.right
    assert found.results()[-1].baseline == column.right_baseline == 0.5


def test_joined_on_a_column_that_is_published_as_it_is(release: Path, people: Any) -> None:
    """A plain column is known like any other: numbers of visits differ, so that everybody is tied to a record."""
    found = link(release, people, ["visits"])
    assert (found.certain, found.matched_people) == (40, 40)
    assert found.columns["illness"].right == 1.0
    assert [one.bound for one in found.results()] == [None, None, None, None]


def test_every_column_of_a_raw_file(release: Path, people: Any, tmp_path: Path) -> None:
    """Without a sensitive column only identities are told."""
    (tmp_path / "raw.csv").write_text("sex,zip\nf,4350\nm,4351\n")
    found = link(tmp_path / "raw.csv", people, ["sex", "zip"])
    assert found.columns == {}
    assert len(found.results()) == 2
    assert found.everybody is not None
    assert found.everybody.highest == 1 / 10


def test_records_of_nobody(release: Path, tmp_path: Path) -> None:
    """Records that match nobody show that the outside table is not everybody, and so do too many records."""
    notes = link(release, tmp_path / "roll.csv", ["sex", "zip"]).notes
    assert any("nobody in the outside table" in note for note in notes)
    assert any("records more than persons" in note for note in notes)


def test_rows_that_repeat_a_name(release: Path) -> None:
    """Each row is taken for another person; where names repeat, it is said that chances may be too low."""
    roll = pa.table({"name": ["Ann", "Ann", None, None], "sex": ["f"] * 4})
    note = "1 row of the outside table repeats a name"
    assert any(one.startswith(note) for one in link(release, roll, ["sex"], name="name").notes)
    assert not any("repeats a name" in one for one in link(release, roll, ["sex"]).notes)


def test_pseudonyms_are_not_known(saves: Saves, people: Any, roles: Any, rules: Any) -> None:
    """The numbers of persons in a release are drawn at random, so that nobody is joined by them."""
    folder = saves(people, rules(roles | {"name": "individual"}))
    with pytest.raises(InputError, match=r"'name' of .* has random pseudonyms, which nobody knows; leave it out"):
        link(folder, people, ["sex", "name"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--on", "sexx"], "release has no column 'sexx'; did you mean sex?"),
        (["--on", " , "], "no column to join on; name columns that the release and the outside table share"),
        (["--on", "sex,sex"], "column 'sex' is named twice; name it once, either to join on or as a sensitive one"),
        (["--on", "sex", "--sensitive", "sex"], "column 'sex' is named twice"),
        (["--on", "visits"], "roll.csv has no column 'visits'; it has 'name', 'sex', 'zip', 'illness'"),
        (["--on", "sex", "--name", "nme"], "roll.csv has no column 'nme'; did you mean name?"),
        (["--on", "sex", "--sensitive", "ilness"], "has no column 'ilness'; did you mean illness?"),
    ],
)
def test_what_is_refused(arguments: list[str], says: str, release: Path, runs: Runs) -> None:
    """One sentence that names the column and the way out, and exit code 2."""
    told = runs("attack", "link", release, "--known", "roll.csv", *arguments)
    assert told.code == 2
    assert says in told.sentence


def test_files_that_are_not_there(release: Path, runs: Runs, tmp_path: Path) -> None:
    """A missing outside table, a missing release and a folder that is none are refused in a sentence."""
    assert (
        "nobody.csv does not exist" in runs("attack", "link", release, "--known", "nobody.csv", "--on", "sex").sentence
    )
    assert "nothing does not exist" in runs("attack", "link", "nothing", "--known", "roll.csv", "--on", "sex").sentence
    (tmp_path / "folder").mkdir()
    assert "no manifest.json" in runs("attack", "link", "folder", "--known", "roll.csv", "--on", "sex").sentence


def test_a_sensitive_column_of_two_tables(saves: Saves, people: Any, roles: Any, rules: Any, runs: Runs) -> None:
    """Of two tables only what stands in the second can be learned; the first shows the rest by itself."""
    model = [{"model": "distinct-l-diversity", "column": "illness", "l": 2}]
    tables = {"privacy": model, "algorithm": {"name": "anatomy"}, "publish": {"form": "anatomy"}}
    folder = saves(people, rules(roles) | tables, "two")
    (folder.parent / "roll.csv").write_text(ROLL)
    told = runs("attack", "link", folder, "--known", "roll.csv", "--on", "sex", "--sensitive", "zip")
    assert "'zip' is no sensitive column of the release; it has 'illness'" in told.sentence
    found = link(folder, people, ["sex", "zip"])
    assert found.bound is None
    assert found.columns["illness"].in_release.highest <= 0.5
    assert any("two tables" in note for note in found.notes)


def test_two_tables_that_do_not_fit_each_other(saves: Saves, people: Any, roles: Any, rules: Any, runs: Runs) -> None:
    """A line that was taken out of one of them is noticed by everybody who reads both."""
    folder = saves(people, rules(roles, k=3, publish={"form": "lossy-join"}), "two")
    lines = (folder / "public" / "ss.csv").read_text().splitlines(keepends=True)
    (folder / "public" / "ss.csv").write_text("".join(lines[:-1]))
    for arguments in (["risk", folder], ["attack", "homogeneity", folder]):
        told = runs(*arguments)
        assert told.code == 2
        assert "ss.csv does not have as many rows of each class as the first table" in told.sentence


def test_identifiers_stay_out_of_the_answer(release: Path, people: Any, runs: Runs) -> None:
    """Names of the outside table are read only where they are asked for."""
    found = link(release, people, ["sex", "zip"], most=40)
    assert {type(one.person) for one in found.persons} == {int}
    assert "Person" not in json.dumps(found.as_json(40))
