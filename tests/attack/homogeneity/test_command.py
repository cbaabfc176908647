"""``sfumato attack homogeneity`` and ``skewness`` as somebody runs them."""

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest


@pytest.fixture
def folder(saves: Any, people: Any, roles: Any, rules: Any) -> Path:
    """A release of forty people in classes by sex."""
    path: Path = saves(people, rules(roles, k=5, algorithm={"name": "optimal"}))
    return path


def test_homogeneity(runs: Any, folder: Path) -> None:
    """Success, baseline and what is assumed, from the public part alone."""
    shutil.rmtree(folder / "private")
    shown = runs("attack", "homogeneity", folder)
    assert shown.code == 0
    assert "right by the most frequent value of the table" in shown.out
    assert "No class has one value only." in shown.out
    assert "The adversary has the public files" in shown.out
    assert "the policy" not in shown.out  # there is none to say anything about


def test_skewness_of_two_tables(runs: Any, saves: Any, people: Any, roles: Any, rules: Any) -> None:
    """Classes of two tables have no labels to show."""
    path = saves(people, rules(roles, k=5, publish={"form": "lossy-join"}))
    shown = runs("attack", "skewness", path, "--threshold", "0.05")
    assert shown.code == 0
    assert "two tables: no labels" in " ".join(shown.out.split())


def test_json(runs: Any, folder: Path) -> None:
    """One object each, by column."""
    alike = json.loads(runs("attack", "homogeneity", folder, "--column", "illness", "--json").out)
    assert alike["columns"]["illness"]["rows"] == 40
    skewed = json.loads(runs("attack", "skewness", folder, "--threshold", "0.5", "--json").out)
    assert (skewed["columns"]["illness"]["threshold"], skewed["columns"]["illness"]["above"]) == (0.5, 0)
    assert skewed["assumes"] == alike["assumes"]


@pytest.mark.parametrize("attack", ["homogeneity", "skewness"])
def test_no_such_column(runs: Any, folder: Path, attack: str) -> None:
    """The sentence names what there is."""
    refused = runs("attack", attack, folder, "--column", "town")
    assert refused.code == 2
    assert "'town' is no published column of" in refused.sentence
    assert "illness" in refused.sentence


def test_no_sensitive_column(runs: Any, saves: Any, people: Any, roles: Any, rules: Any) -> None:
    """Where nothing is sensitive there is nothing to tell."""
    path = saves(people, rules({**roles, "illness": "plain"}, k=5))
    refused = runs("attack", "homogeneity", path)
    assert (refused.code, "has no sensitive column" in refused.sentence) == (2, True)


TESTED = pa.table(
    {
        "age": ["21", "22", "23", "24", "31", "32", "33", "34"],
        "town": list("BBBBTTTT"),
        "result": ["neg", "neg", "neg", "neg", "pos", "neg", "neg", "pos"],
        "note": ["a", "a", "a", "b", "c", "c", "c", "c"],
    }
)
"""Eight tests in two towns: of one every result is negative, of the other every note is c."""
TEST_ROLES = {"age": "quasi", "town": "quasi", "result": "quasi", "note": "plain"}


@pytest.fixture
def tests(saves: Any, rules: Any) -> Path:
    """A release that takes the result of a test for a quasi-identifier; ages are all the same label."""
    policy = rules(TEST_ROLES, k=2, algorithm={"name": "optimal"})
    policy["columns"]["age"]["least"] = 1
    path: Path = saves(TESTED, policy)
    return path


def test_a_quasi_identifier_is_told_by_the_others(runs: Any, tests: Path) -> None:
    """Four rows stand in a town where every published result is negative, and the town alone tells it."""
    told = json.loads(runs("attack", "homogeneity", tests, "--column", "result", "--json").out)["columns"]["result"]
    assert (told["rows"], told["classes"], told["certain"], told["certain_classes"]) == (8, 2, 4, 1)
    assert (told["labels"], told["similar"], told["value"], told["right"]) == (True, 4, "neg", 6 / 8)
    shown = runs("attack", "homogeneity", tests, "--column", "result").out
    assert "The column is a quasi-identifier: classes are formed by the others" in shown
    assert "4 (50.0%) of 8 rows stand in 1 class of one value: who finds the class knows it for certain." in shown


def test_a_star_tells_nothing(runs: Any, tests: Path) -> None:
    """Of a column that is suppressed everywhere nobody is certain, although every class has one label."""
    told = json.loads(runs("attack", "homogeneity", tests, "--column", "age", "--json").out)["columns"]["age"]
    assert (told["certain"], told["similar"], told["right"], told["blind"], told["value"]) == (0, 0, 0.0, 0.0, None)
    assert "No label of the column tells anything." in runs("attack", "homogeneity", tests, "--column", "age").out


def test_a_plain_column_is_told_by_all_quasi_identifiers(runs: Any, tests: Path) -> None:
    """Classes are those of the release: the notes of one town are all alike, and some of the other's."""
    told = json.loads(runs("attack", "homogeneity", tests, "--column", "note", "--json").out)["columns"]["note"]
    assert (told["rows"], told["certain"], told["labels"], told["similar"]) == (8, 4, False, None)
    skewed = runs("attack", "skewness", tests, "--column", "note", "--json")
    assert json.loads(skewed.out)["columns"]["note"]["rows"] == 8


def test_columns_of_the_first_of_two_tables(runs: Any, saves: Any, people: Any, roles: Any, rules: Any) -> None:
    """In two tables quasi-identifiers stand as they were, so that each is told by the exact values of the others."""
    path = saves(people, rules(roles, k=5, publish={"form": "lossy-join"}))
    name, other = [column for column, role in roles.items() if role == "quasi"][:2]
    told = json.loads(runs("attack", "homogeneity", path, "--column", name, "--json").out)["columns"][name]
    alike: dict[tuple[str, ...], set[str]] = {}
    rows = people.to_pylist()
    others = [column for column, role in roles.items() if role == "quasi" and column != name]
    assert other in others
    for row in rows:
        alike.setdefault(tuple(str(row[column]) for column in others), set()).add(str(row[name]))
    certain = sum(len(alike[tuple(str(row[column]) for column in others)]) == 1 for row in rows)
    assert told["certain"] == certain


def test_pseudonyms_are_nothing_to_learn(runs: Any, saves: Any, rules: Any) -> None:
    """The column of pseudonyms, and an only quasi-identifier, are refused with a sentence."""
    table = pa.table({"who": list("abcd"), "town": list("BBTT"), "illness": list("fhfh")})
    path = saves(table, rules({"who": "individual", "town": "quasi", "illness": "sensitive"}))
    refused = runs("attack", "homogeneity", path, "--column", "who")
    assert (refused.code, "holds pseudonyms" in refused.sentence) == (2, True)
    refused = runs("attack", "homogeneity", path, "--column", "town")
    assert (refused.code, "'town' is the only quasi-identifier of" in refused.sentence) == (2, True)
