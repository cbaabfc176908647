"""The chapter's linkage attack: the voter roll of Table 20.2 joined with Tables 20.1 and 20.3, as sections 20.3 say."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato import anonymize
from sfumato.attack.link import LinkageResult, link
from sfumato.policy import load

Runs = Callable[..., Any]

TABLE_1 = """age,zip,disease
24,10598,HIV
37,90210,Hepatitis C
26,10547,HIV
38,90345,Hepatitis C
36,89119,Diabetes
25,02139,HIV
"""
TABLE_2 = """name,age,zip
Mary,38,90345
John,36,89119
Ann,31,02139
Jack,57,10562
Joy,26,10547
Victor,46,90345
Peter,25,02139
Diana,24,10598
William,37,90210
Sue,26,10547
"""
TABLE_3 = """row,age,zip,disease
1,"[20, 30]",Northeastern US,HIV
2,"[30, 40]",Western US,Hepatitis C
3,"[20, 30]",Northeastern US,HIV
4,"[30, 40]",Western US,Hepatitis C
5,"[30, 40]",Western US,Diabetes
6,"[20, 30]",Northeastern US,HIV
"""
REGIONS = """10547,New York,Northeastern US,*
10562,New York,Northeastern US,*
10598,New York,Northeastern US,*
02139,Massachusetts,Northeastern US,*
90210,California,Western US,*
90345,California,Western US,*
89119,Nevada,Western US,*
"""
POLICY = """
[columns]
age = { role = "quasi", hierarchy = { intervals = [10, 40] } }
zip = { role = "quasi", hierarchy = "zip.csv" }
disease = { role = "sensitive" }
[[privacy]]
model = "k-anonymity"
k = 3
[algorithm]
name = "optimal"
"""
CERTAIN = {
    "William": "Hepatitis C",
    "Mary": "Hepatitis C",
    "John": "Diabetes",
    "Peter": "HIV",
    "Diana": "HIV",
}
FIRST, SECOND = {"Joy", "Sue", "Peter", "Diana"}, {"William", "Mary", "John"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the chapter's tables, its hierarchy and a policy."""
    files = {"t1.csv": TABLE_1, "roll.csv": TABLE_2, "t3.csv": TABLE_3, "zip.csv": REGIONS, "policy.toml": POLICY}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def _joined(folder: Path, release: str, **options: Any) -> LinkageResult:
    return link(folder / release, folder / "roll.csv", ["age", "zip"], name="name", **options)


def _values(found: LinkageResult, assumption: str) -> dict[Any, tuple[str | None, float]]:
    """The likeliest disease of each person who matches, and its chance."""
    matches = {one.person: one.values["disease"][assumption] for one in found.persons}
    return {person: (one.value, round(one.chance, 9)) for person, one in matches.items()}


def _raw(folder: Path) -> LinkageResult:
    return _joined(folder, "t1.csv", sensitive=["disease"])


def test_joy_and_sue_are_the_only_two_who_match_a_record_with_hiv(folder: Path) -> None:
    """One can tell with 50 % certainty that Joy and Sue have HIV."""
    found = _raw(folder)
    pair = {one.person: one for one in found.persons if one.person in {"Joy", "Sue"}}
    assert {one.candidates for one in pair.values()} == {2}
    assert {one.everybody for one in pair.values()} == {0.5}
    assert {_values(found, "everybody")[name] for name in pair} == {("HIV", 0.5)}
    assert {_values(found, "in_release")[name] for name in pair} == {("HIV", 1.0)}


def test_william_is_the_only_match_of_his_record(folder: Path) -> None:
    """William, Mary, John, Peter and Diana are the only matches of their records: their diseases are compromised."""
    found = _raw(folder)
    assert {one.person for one in found.persons if one.certain} == set(CERTAIN)
    assert found.certain == found.columns["disease"].everybody.certain == 5  # type: ignore[union-attr]
    told = _values(found, "everybody")
    assert {name: told[name] for name in CERTAIN} == {name: (value, 1.0) for name, value in CERTAIN.items()}


def test_ann_jack_and_victor_match_nothing(folder: Path) -> None:
    """Whoever agrees in age or in zip code alone is not in the table."""
    found = _raw(folder)
    assert found.matches is not None
    assert found.matches.tolist() == [1, 1, 0, 0, 1, 0, 1, 1, 1, 1]
    assert found.matched_people == 7
    assert {one.person for one in found.persons} == {*CERTAIN, "Joy", "Sue"}


def test_the_figures_of_the_raw_table(folder: Path) -> None:
    """Five records have one candidate and one has two, of ten persons; by chance a record would be anybody's."""
    found = _raw(folder)
    assert found.everybody is not None
    assert (found.everybody.one, found.everybody.highest, found.everybody.baseline) == (5, 1.0, 0.1)
    assert found.everybody.average == pytest.approx(5.5 / 6)
    assert (found.in_release.one, found.in_release.average) == (7, 1.0)
    assert found.in_release.baseline == pytest.approx(1 / 6)


@pytest.mark.parametrize("written", ["by others", "by us"])
def test_nobody_is_tied_to_one_record_of_the_3_anonymous_table(folder: Path, written: str) -> None:
    """Records 1, 3 and 6 cannot be told apart, and neither can 2, 4 and 5: an exact match is no longer found."""
    found = _generalized(folder, written)
    assert found.certain == found.in_release.one == 0
    assert found.everybody is not None
    assert found.everybody.one == 0
    matched = {one.person: (one.records, one.candidates) for one in found.persons}
    assert matched == dict.fromkeys(FIRST, (3, 4)) | dict.fromkeys(SECOND, (3, 3))
    assert found.in_release.highest == pytest.approx(1 / 3)


@pytest.mark.parametrize("written", ["by others", "by us"])
def test_any_individual_of_the_first_group_has_hiv(folder: Path, written: str) -> None:
    """The group of Joy, Sue, Peter and Diana is homogeneous: whoever of them is in the table has HIV (20.3.2)."""
    found = _generalized(folder, written)
    told = _values(found, "in_release")
    assert {name: told[name] for name in FIRST} == dict.fromkeys(FIRST, ("HIV", 1.0))
    assert {name: told[name] for name in SECOND} == dict.fromkeys(SECOND, ("Hepatitis C", round(2 / 3, 9)))
    assert found.columns["disease"].in_release.certain == 4


def test_three_records_among_four_persons(folder: Path) -> None:
    """Who takes the roll for everybody knows that three of the four have HIV, and that all of the others are in."""
    told = _values(_generalized(folder, "by others"), "everybody")
    assert {told[name] for name in FIRST} == {("HIV", 0.75)}
    assert {told[name] for name in SECOND} == {("Hepatitis C", round(2 / 3, 9))}


def test_three_unique_individuals(folder: Path) -> None:
    """If a roll joins the group to three individuals, all three of them have HIV."""
    (folder / "roll.csv").write_text(TABLE_2.replace("Sue,26,10547\n", ""))
    told = _values(_generalized(folder, "by others"), "everybody")
    assert {name: told[name] for name in FIRST - {"Sue"}} == dict.fromkeys(FIRST - {"Sue"}, ("HIV", 1.0))


def _generalized(folder: Path, written: str) -> LinkageResult:
    """Table 20.3 as the chapter prints it, read by a policy; or a release of Table 20.1 under that policy."""
    policy = load(folder / "policy.toml")
    if written == "by others":
        return _joined(folder, "t3.csv", policy=policy)
    anonymize(folder / "t1.csv", policy).save(folder / "release")
    return _joined(folder, "release")


def test_without_a_policy_labels_are_texts(folder: Path) -> None:
    """Nobody's age is the text [20, 30], and a note says what was compared how; a star would cover everybody."""
    found = _joined(folder, "t3.csv", sensitive=["disease"])
    assert (found.matched_people, found.matched_records, found.persons) == (0, 0, ())
    assert any("'[20, 30]'" in note and "--policy" in note for note in found.notes)
    (folder / "t3.csv").write_text("age,zip,disease\n*,10547,HIV\n26,*,Diabetes\n")
    found = _joined(folder, "t3.csv", sensitive=["disease"])
    assert {one.person: one.records for one in found.persons} == {"Joy": 2, "Sue": 2}


def test_the_command_on_the_raw_table(folder: Path, runs: Runs) -> None:
    """The command line gives the chapter's conclusions as JSON, and as a table."""
    arguments = ["attack", "link", "t1.csv", "--known", "roll.csv", "--on", "age,zip", "--name", "name"]
    told = runs(*arguments, "--sensitive", "disease", "--list", "10", "--json")
    assert told.code == 0
    answer = json.loads(told.out)
    assert (answer["people"], answer["records"], answer["certain"]) == (10, 6, 5)
    chances = {one["person"]: one["values"]["disease"]["everybody"] for one in answer["persons"]}
    assert chances["Joy"] == chances["Sue"] == {"value": "HIV", "chance": 0.5}
    assert chances["William"] == {"value": "Hepatitis C", "chance": 1.0}
    shown = runs(*arguments, "--sensitive", "disease").out
    assert "Hepatitis C 100%" in shown
    assert "HIV 50.0%" in shown


def test_the_command_on_the_3_anonymous_table(folder: Path, runs: Runs) -> None:
    """The policy says what Northeastern US stands for; without --list nobody is named in JSON."""
    arguments = ["attack", "link", "t3.csv", "--known", "roll.csv", "--on", "age,zip", "--policy", "policy.toml"]
    told = runs(*arguments, "--json")
    assert told.code == 0
    answer = json.loads(told.out)
    assert "persons" not in answer
    assert "Joy" not in told.out
    assert (answer["certain"], answer["columns"]["disease"]["in_release"]["certain"]) == (0, 4)
    shown = runs(*arguments, "--name", "name")
    assert "HIV 75.0%" in shown.out
    assert "Nobody is tied to one record" in shown.out
