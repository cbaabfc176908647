"""``sfumato attack definetti``: what it prints, and what it refuses."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

Runs = Callable[..., Any]
Saves = Callable[..., Path]

FIGURES = {
    *("lines", "sampled", "values", "bound", "largest_share", "blind", "random", "bag", "attack", "without_bag"),
    *("outside", "largest_posterior", "beyond_bound"),
}
COLUMNS = {
    "name": {"role": "identifier"},
    "=job": {"role": "quasi", "hierarchy": "suppress"},
    "age": {"role": "quasi", "hierarchy": {"intervals": [10, 20, 40], "domain": [0, 119]}},
    "illness": {"role": "sensitive"},
    "visits": {"role": "plain"},
}
ALPHA = {"model": "alpha-k-anonymity", "k": 3, "alpha": 0.6, "column": "illness"}


@pytest.fixture(scope="module")
def patients() -> Any:
    """Six hundred people whose illness follows their job in four cases of five, with NULLs and formulas among them."""
    draw = np.random.default_rng(1)
    jobs = np.array(["=clerk", "+nurse", "driver", None], dtype=object)
    ills = np.array(["flu", "-HIV", None, "@cold"], dtype=object)
    job = draw.integers(0, 4, 600)
    ill = np.where(draw.random(600) < 0.8, job, draw.integers(0, 4, 600))
    return pa.table(
        {
            "name": [f"Person {row}" for row in range(600)],
            "=job": jobs[job].tolist(),
            "age": draw.integers(20, 80, 600),
            "illness": ills[ill].tolist(),
            "visits": draw.integers(0, 9, 600),
        }
    )


def _policy(form: str = "lossy-join", **publish: str) -> dict[str, Any]:
    return {"columns": COLUMNS, "privacy": [ALPHA], "publish": {"form": form, **publish}, "algorithm": {"seed": 1}}


@pytest.fixture
def original(tmp_path: Path, patients: Any) -> Path:
    """The patients in a file."""
    csv.write_csv(patients, tmp_path / "patients.csv")
    return tmp_path / "patients.csv"


@pytest.mark.parametrize("form", ["lossy-join", "anatomy"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_figures_as_json(runs: Runs, saves: Saves, original: Path, form: str, kind: str) -> None:
    """One JSON object with every figure of each sensitive column, which fit each other and the data."""
    folder = saves(original, _policy(form, format=kind))
    outcome = runs("attack", "definetti", folder, "--original", original, "--json")
    assert (outcome.code, outcome.err, outcome.out.count("\n")) == (0, "", 1)
    found = json.loads(outcome.out)
    assert set(found) == {"classes", "seed", "columns"}
    assert set(found["columns"]) == {"illness"}
    figures = found["columns"]["illness"]
    assert set(figures) == FIGURES
    assert (found["seed"], figures["lines"], figures["values"], figures["bound"]) == (1, 600, 4, 0.6)
    assert figures["sampled"] == {"trained": 600, "guessed": 600}
    assert 0 < figures["largest_share"] <= 0.6
    assert figures["attack"] > figures["bag"] > figures["random"] > 0.2
    assert figures["attack"] > figures["outside"] - 0.03 > figures["blind"]
    assert set(figures["beyond_bound"]) == {"lines", "right"}


def test_files_give_the_figures_of_the_release_in_memory(runs: Runs, saves: Saves, original: Path) -> None:
    """What the command finds from the files is what the release tells while it is made; parts held out may differ."""
    from sfumato.attack.bound import bounds
    from sfumato.attack.definetti import Original, definetti
    from sfumato.release import prepare
    from sfumato.split import tables_from_recoding

    release = prepare(original, _policy())
    tables = tables_from_recoding(release.encoded, release.recoding)
    told = definetti(tables, Original.of_encoded(release.encoded), bounds(release.policy, tables))
    outcome = runs("attack", "definetti", saves(original, _policy()), "--original", original, "--json")
    found, expected = json.loads(outcome.out)["columns"]["illness"], told.as_json()["columns"]["illness"]
    for key in FIGURES - {"outside"}:
        assert found[key] == pytest.approx(expected[key])


def test_rows_that_were_suppressed_do_not_disturb(runs: Runs, saves: Saves, patients: Any, tmp_path: Path) -> None:
    """A release of fewer rows than the original has is measured on those that it has."""
    rare = pa.table(
        {name: [column[0].as_py()] * 3 for name, column in zip(patients.column_names, patients, strict=True)}
    )
    rare = rare.set_column(1, "=job", [["astronaut"] * 3]).set_column(2, "age", [[119] * 3])
    rare = rare.set_column(3, "illness", [["spacesickness"] * 3])
    both = pa.concat_tables([patients, rare.cast(patients.schema)])
    csv.write_csv(both, tmp_path / "both.csv")
    policy = _policy() | {"algorithm": {"name": "optimal", "suppression": 0.1}}
    folder = saves(tmp_path / "both.csv", policy)
    lines = json.loads((folder / "public" / "manifest.json").read_text())["rows"]
    assert lines < 603
    outcome = runs("attack", "definetti", folder, "--original", tmp_path / "both.csv", "--json")
    assert json.loads(outcome.out)["columns"]["illness"]["sampled"]["guessed"] == lines


def test_people_read_a_table_and_sentences(runs: Runs, saves: Saves, original: Path) -> None:
    """Figures in a table, then what they mean; nobody is called safe."""
    outcome = runs("attack", "definetti", saves(original, _policy()), "--original", original)
    assert (outcome.code, outcome.err) == (0, "")
    for words in ("right by the attack, in the table", "of people outside the table", "the policy allows 60.0%"):
        assert words in outcome.out
    assert "does not break the promise" in outcome.out
    assert "safe" not in outcome.out


def test_seed_and_policy_can_be_given(runs: Runs, saves: Saves, original: Path, tmp_path: Path) -> None:
    """The seed is taken and said; a policy that moved is given by hand, and sets the bound."""
    folder = saves(original, _policy())
    (tmp_path / "elsewhere.toml").write_text(POLICY, encoding="utf-8")
    arguments = ("attack", "definetti", folder, "--original", original, "--json")
    found = json.loads(runs(*arguments, "--seed", "7", "--policy", tmp_path / "elsewhere.toml").out)
    assert (found["seed"], found["columns"]["illness"]["bound"]) == (7, 0.75)
    assert json.loads(runs(*arguments).out)["columns"]["illness"]["bound"] == 0.6


POLICY = """
[columns]
name = { role = "identifier" }
"=job" = { role = "quasi", hierarchy = "suppress" }
age = { role = "quasi", hierarchy = { intervals = [10, 20, 40], domain = [0, 119] } }
illness = { role = "sensitive" }
visits = { role = "plain" }
[[privacy]]
model = "alpha-deassociation"
alpha = 0.75
column = "illness"
[publish]
form = "lossy-join"
"""


def test_a_generalized_release_is_refused(runs: Runs, saves: Saves, original: Path) -> None:
    """One generalized table has nothing to assign; the sentence says so, and what to name instead."""
    folder = saves(original, _policy("generalized"))
    outcome = runs("attack", "definetti", folder, "--original", original)
    assert outcome.code == 2
    assert "one generalized table" in outcome.sentence
    assert "lossy-join or anatomy" in outcome.sentence


def test_another_original_is_refused(runs: Runs, saves: Saves, original: Path, patients: Any, tmp_path: Path) -> None:
    """A table that the release was not made from is named as such."""
    folder = saves(original, _policy())
    csv.write_csv(patients.slice(0, 500), tmp_path / "fewer.csv")
    outcome = runs("attack", "definetti", folder, "--original", tmp_path / "fewer.csv")
    assert outcome.code == 2
    assert "600 lines and the original 500 rows; name the table that this release was made from" in outcome.sentence
    moved = patients.set_column(2, "age", [(patients["age"].to_numpy() + 1) % 60 + 20])
    csv.write_csv(moved, tmp_path / "moved.csv")
    outcome = runs("attack", "definetti", folder, "--original", tmp_path / "moved.csv")
    assert outcome.code == 2
    assert "name the table that this release was made from" in outcome.sentence


def test_another_policy_is_refused(runs: Runs, saves: Saves, original: Path, tmp_path: Path) -> None:
    """A policy that gives a quasi-identifier of the release another role is not the one it was made by."""
    folder = saves(original, _policy())
    other = POLICY.replace('age = { role = "quasi", hierarchy = { intervals = [10, 20, 40], domain = [0, 119] } }', "")
    (tmp_path / "other.toml").write_text(other.replace("[columns]", '[columns]\nage = { role = "plain" }'))
    outcome = runs("attack", "definetti", folder, "--original", original, "--policy", tmp_path / "other.toml")
    assert outcome.code == 2
    assert "neither quasi-identifiers nor sensitive by the policy: 'age'; give the policy" in outcome.sentence


def test_what_is_no_release_is_refused(runs: Runs, saves: Saves, original: Path, tmp_path: Path) -> None:
    """A folder without a release, and one without its private part, end in a sentence."""
    outcome = runs("attack", "definetti", tmp_path, "--original", original)
    assert (outcome.code, "is not a complete release folder" in outcome.sentence) == (2, True)
    public = saves(original, _policy()) / "public"
    outcome = runs("attack", "definetti", public, "--original", original)
    assert (outcome.code, "is not a complete release folder" in outcome.sentence) == (2, True)


def test_changed_tables_are_refused(runs: Runs, saves: Saves, original: Path) -> None:
    """A line that was taken away from one of the two tables ends in a sentence that names the way to check."""
    path = saves(original, _policy()) / "public" / "ss.csv"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    outcome = runs("attack", "definetti", path.parents[1], "--original", original)
    assert outcome.code == 2
    assert "sfumato verify" in outcome.sentence


def test_original_may_be_of_another_kind(
    runs: Runs, saves: Saves, original: Path, patients: Any, tmp_path: Path
) -> None:
    """The same rows from a Parquet file give the same figures, numbers and NULLs included."""
    folder = saves(original, _policy())
    parquet.write_table(patients, tmp_path / "patients.parquet")
    found = [
        runs("attack", "definetti", folder, "--original", path, "--json").out
        for path in (original, tmp_path / "patients.parquet")
    ]
    assert found[0] == found[1]


def test_attack_alone_lists_its_attacks(runs: Runs) -> None:
    """Without a name the command says which attacks there are."""
    outcome = runs("attack")
    assert outcome.code == 0
    assert "definetti" in outcome.out
