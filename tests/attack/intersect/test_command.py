"""``sfumato attack intersect``: what it prints, and what it refuses."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import csv

from sfumato.attack.intersect import intersect
from sfumato.errors import InputError

Runs = Callable[..., Any]
Saves = Callable[..., Path]
Rules = Callable[..., dict[str, Any]]

FIGURES = {
    *("persons", "apart", "smallest", "threshold", "below", "exposed", "alone", "added", "empty", "right"),
    *("contradicted", "histogram", "share"),
}


@pytest.fixture
def known(people: Any, tmp_path: Path) -> Path:
    """Forty people in a file."""
    csv.write_csv(people, tmp_path / "people.csv")
    return tmp_path / "people.csv"


@pytest.fixture
def pair(saves: Saves, rules: Rules, people: Any, roles: Any) -> list[Path]:
    """Two releases of them: one generalizes the zip, the other the sex."""
    search = {"name": "optimal"}
    return [
        saves(
            people.drop_columns(["zip"]), rules({n: r for n, r in roles.items() if n != "zip"}, algorithm=search), "a"
        ),
        saves(
            people.drop_columns(["sex"]), rules({n: r for n, r in roles.items() if n != "sex"}, algorithm=search), "b"
        ),
    ]


def test_figures_as_json(runs: Runs, pair: list[Path], known: Path) -> None:
    """One JSON object: persons, releases, figures of each column, rows and what is assumed."""
    outcome = runs("attack", "intersect", *pair, "--known", known, "--json")
    assert (outcome.code, outcome.err, outcome.out.count("\n")) == (0, "", 1)
    found = json.loads(outcome.out)
    assert set(found) == {"persons", "releases", "columns", "rows", "assumes", "notes"}
    assert found["persons"] == 40
    first = {"form": "generalized", "rows": 40, "classes": 2, "by": ["sex"], "absent": 0, "k": 2}
    assert found["releases"][0] == {"release": str(pair[0]), **first}
    assert set(found["columns"]) == {"illness"}
    figures = found["columns"]["illness"]
    assert set(figures) == FIGURES
    assert (figures["persons"], figures["threshold"], figures["alone"], figures["contradicted"]) == (40, 2, [0, 0], 0)
    assert sum(figures["histogram"].values()) == 40
    assert set(found["rows"]) == {"smallest", "below", "alone"}
    assert "knows of each person 'sex', 'zip', exactly" in found["assumes"]


def test_files_give_what_frames_give(runs: Runs, pair: list[Path], known: Path, people: Any) -> None:
    """A file of known persons is read as the policy of the first release says, and gives what the table gives."""
    outcome = runs("attack", "intersect", *pair, "--known", known, "--json", "--threshold", "4")
    assert json.loads(outcome.out) == json.loads(json.dumps(intersect(pair, people, threshold=4).as_json()))


def test_people_read_a_table_and_sentences(runs: Runs, pair: list[Path], known: Path) -> None:
    """Figures in a table, then what they mean and what is assumed; nobody is called safe."""
    outcome = runs("attack", "intersect", *pair, "--known", known, "--threshold", "5")
    assert (outcome.code, outcome.err) == (0, "")
    for words in (
        "all releases together",
        "exposed by no release alone",
        "have fewer than 5 values left in all releases together, of 40 who are in two or more",
        "the one value that is left is the true one",
        "The adversary has the public files of both releases and knows of each person",
    ):
        assert words in outcome.out
    assert "safe" not in outcome.out


def test_without_known_persons(runs: Runs, pair: list[Path]) -> None:
    """Persons are rows of the first release then, and what is true of them is not looked at."""
    outcome = runs("attack", "intersect", *pair, "--json")
    found = json.loads(outcome.out)
    assert found["persons"] == 40
    figures = found["columns"]["illness"]
    assert figures["right"] is figures["contradicted"] is None
    assert "a person is a row of the first one, known by its labels of 'sex'" in found["assumes"]
    assert any("No column" in note for note in found["notes"])


def test_a_policy_says_what_is_known(runs: Runs, pair: list[Path], known: Path, tmp_path: Path) -> None:
    """Quasi-identifiers, texts for NULL and k come from the policy that is given."""
    policy = tmp_path / "other.toml"
    policy.write_text(
        '[columns]\nzip = { role = "quasi", hierarchy = "suppress" }\nsex = { role = "plain" }\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 41\n'
    )
    outcome = runs("attack", "intersect", *pair, "--known", known, "--policy", policy, "--json")
    found = json.loads(outcome.out)
    assert [one["by"] for one in found["releases"]] == [[], ["zip"]]
    assert found["rows"]["alone"] == [40, 40]


def test_one_column_of_several(runs: Runs, saves: Saves, rules: Rules, people: Any, roles: Any) -> None:
    """All sensitive columns that two releases share are looked at, or the one that is named."""
    roles = {**roles, "visits": "sensitive"}
    pair = [saves(people, rules(roles)), saves(people, rules(roles))]
    both, one = (
        json.loads(runs("attack", "intersect", *pair, "--json", *more).out) for more in ((), ("--column", "visits"))
    )
    assert list(both["columns"]) == ["illness", "visits"]
    assert list(one["columns"]) == ["visits"]
    assert one["columns"]["visits"] == both["columns"]["visits"]


REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "one release": (("a",), "one release has nothing to be intersected with"),
    "no such folder": (("a", "nowhere"), "nowhere is not a release folder"),
    "an empty folder": (("a", "empty"), "empty has no manifest.json"),
    "a file": (("a", "people.csv"), "people.csv is not a release folder"),
    "other columns": (("a", "other"), "share no sensitive column"),
    "a misspelt column": (("a", "b", "--column", "ilness"), "did you mean illness?"),
    "a quasi-identifier": (
        ("a", "b", "--column", "sex"),
        "no sensitive column of two of the releases; they share 'ill",
    ),
    "a table of nobody": (
        ("a", "b", "--known", "strange.csv"),
        "has no quasi-identifier of the releases, which are 's",
    ),
    "no table": (("a", "b", "--known", "none.csv"), "none.csv does not exist"),
    "a threshold of one": (("a", "b", "--threshold", "1"), "threshold"),
    "no policy": (("a", "b", "--policy", "none.toml"), "none.toml"),
    "nothing": ((), "RELEASE"),
}


@pytest.fixture
def around(saves: Saves, rules: Rules, people: Any, roles: Any, tmp_path: Path) -> None:
    """A release of other sensitive columns, a table that knows nobody and an empty folder."""
    saves(people, rules({**roles, "illness": "identifier", "visits": "sensitive"}), "other")
    csv.write_csv(pa.table({"city": ["Bern"]}), tmp_path / "strange.csv")
    (tmp_path / "empty").mkdir()


@pytest.mark.slow
@pytest.mark.usefixtures("around", "pair", "known")
@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(runs: Runs, case: str) -> None:
    """One release, a folder that is none, no shared column, a table of nobody: a sentence each, and exit code 2."""
    arguments, words = REFUSED[case]
    outcome = runs("attack", "intersect", *arguments)
    assert outcome.code == 2
    assert words in outcome.sentence


def test_a_threshold_below_two_means_nothing(pair: list[Path]) -> None:
    """From Python too, a sentence says what a threshold is."""
    with pytest.raises(InputError, match="2 at least, not 1"):
        intersect(pair, threshold=1)


def test_a_manifest_without_quasi_identifiers(pair: list[Path], runs: Runs) -> None:
    """A manifest that was changed is refused in a sentence."""
    path = pair[1] / "public" / "manifest.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps(manifest | {"columns": [{**one, "role": "plain"} for one in manifest["columns"]]}))
    outcome = runs("attack", "intersect", *pair)
    assert outcome.code == 2
    assert "has no quasi-identifier" in outcome.sentence
