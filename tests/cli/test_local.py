"""Commands on local recodings: labels of many levels in one column, ranges and sets, and every way of saying no."""

import contextlib
import json
import os
import pty
import re
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import csv

from sfumato.policy.options import FULL_DOMAIN, LOCAL

Runs = Callable[..., Any]
Job = Callable[..., Path]

ROWS = 60
AGES = {"tree": "{ intervals = [5, 10, 20] }", "ranges": "{ ranges = true }"}
TOWNS = {"tree": '"town.csv"', "sets": '"sets"'}
TREE = "Bern,Deutschschweiz,*\nThun,Deutschschweiz,*\nGenf,Romandie,*\nSion,Romandie,*\n"
UTILITY = {"distortion_ratio", "ncp", "discernibility", "average_class_size"}


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Writes a table, its hierarchy and a policy for a local algorithm, and gives the policy's path."""

    def write(
        algorithm: str, *, k: int = 3, age: str = "tree", town: str = "tree", tree: str = TREE, **changes: Any
    ) -> Path:
        table = pa.table(
            {
                "name": [f"CANARY{i}" for i in range(ROWS)],
                "age": [20 + (7 * i) % 41 for i in range(ROWS)],
                "town": [("Bern", "Thun", "Genf", "Sion", None)[i * 7 // 3 % 5] for i in range(ROWS)],
                "illness": [("flu", "HIV", "cold")[i % 3] for i in range(ROWS)],
            }
        )
        csv.write_csv(table.slice(0, changes.get("rows", ROWS)), tmp_path / "t.csv")
        (tmp_path / "town.csv").write_text(tree)
        (tmp_path / "p.toml").write_text(
            f'[data]\nsource = "t.csv"\n[columns]\nname = {{ role = "identifier" }}\n'
            f'age = {{ role = "quasi", hierarchy = {AGES[age]} }}\n'
            f'town = {{ role = "quasi", hierarchy = {TOWNS[town]} }}\nillness = {{ role = "sensitive" }}\n'
            f'[[privacy]]\nmodel = "k-anonymity"\nk = {k}\n{changes.get("also", "")}'
            f'[algorithm]\nname = "{algorithm}"\n[publish]\n{changes.get("publish", "")}'
        )
        return tmp_path / "p.toml"

    return write


@pytest.mark.parametrize("algorithm", [name for name in LOCAL if name != "microaggregation"])
def test_as_json(runs: Runs, job: Job, algorithm: str) -> None:
    """Local algorithms have no levels to tell; `utility` finds the figures of `anonymize` in the files."""
    outcome = runs("anonymize", job(algorithm), "--json")
    told = json.loads(outcome.out)
    assert (outcome.code, outcome.out.count("\n")) == (0, 1)
    assert outcome.err.startswith("warning: no requirement looks at the sensitive column 'illness'")
    assert "levels" not in told
    assert (told["algorithm"], told["rows"] + told["suppressed"]) == (algorithm, ROWS)
    assert set(told["utility"]) >= UTILITY
    assert runs("verify", "release").code == 0
    found = json.loads(runs("utility", "release", "--original", "t.csv", "--json").out)
    assert {key: found[key] for key in UTILITY} == pytest.approx({key: told["utility"][key] for key in UTILITY})
    assert found["attributes"]["age"] == pytest.approx(told["utility"]["attributes"]["age"])


def test_for_people(runs: Runs, job: Job) -> None:
    """A column is told by how many labels it has, how many cells are exact and what it lost."""
    outcome = runs("anonymize", job("top-down"))
    assert (outcome.code, outcome.err.count("warning: ")) == (0, 1)
    assert "level 0 of" not in outcome.out
    assert "of cells exact" in outcome.out
    told = runs("utility", "release", "--original", "t.csv").out  # a head of two words may take two lines
    assert "exact" in told
    assert "suppressed" in told


def test_risk_of_a_published_table(runs: Runs, job: Job) -> None:
    """Labels of several levels, NULL and stars are values like any other to `risk`, by policy and by columns."""
    runs("anonymize", job("top-down", k=4))
    by_columns = json.loads(runs("risk", "release/public/table.csv", "--quasi", "age,town", "--json").out)
    assert 0 < by_columns["highest"] <= 1 / 4
    assert json.loads(runs("risk", "release/public/table.csv", "--policy", "p.toml", "--json").out) == by_columns


@pytest.mark.parametrize("form", ["partition", "boxes"])
@pytest.mark.parametrize("file", ["csv", "parquet"])
def test_ranges_and_sets_are_measured_from_the_file(runs: Runs, job: Job, form: str, file: str) -> None:
    """What ranges and sets lost is read from their labels, and is what `anonymize` said."""
    policy = job("mondrian", age="ranges", town="sets", publish=f'ranges = "{form}"\nformat = "{file}"\n')
    told = json.loads(runs("anonymize", policy, "--json").out)["utility"]
    found = json.loads(runs("utility", "release", "--original", "t.csv", "--json").out)
    assert found["attributes"].keys() == told["attributes"].keys()
    for name, part in told["attributes"].items():
        assert found["attributes"][name] == pytest.approx(part)
    assert found["ncp"] == pytest.approx(told["ncp"])
    manifest = json.loads(Path("release/public/manifest.json").read_text())
    assert [(one["form"], one["columns"]) for one in manifest["chosen_labels"]] == [(form, ["age"]), ("sets", ["town"])]
    assert all(one["reveals"] in Path("release/private/report.html").read_text() for one in manifest["chosen_labels"])


def test_means_are_measured_from_the_files_as_they_were_made(runs: Runs, job: Job) -> None:
    """What means lost is the same, whether it is measured while the release is made or from its files later."""
    policy = job("mondrian", age="ranges", publish='ranges = "means"\n')
    told = json.loads(runs("anonymize", policy, "--json").out)["utility"]["attributes"]["age"]
    assert 0 < told["ncp"] < 1
    assert 0 < told["entropy"] < 1
    later = json.loads(runs("utility", "release", "--original", "t.csv", "--json").out)["attributes"]["age"]
    assert later["ncp"] == pytest.approx(told["ncp"])
    assert later["entropy"] == pytest.approx(told["entropy"])


def test_another_original_is_refused(runs: Runs, job: Job) -> None:
    """Labels that the table named does not lead to are listed, whatever their kind."""
    for kinds in ({}, {"age": "ranges", "town": "sets"}):
        policy = job("mondrian", **kinds)
        assert runs("anonymize", policy, "--force").code == 0
        Path("t.csv").write_text("name,age,town,illness\nx,99,Bern,flu\ny,98,Thun,flu\n")
        assert "the original does not lead to" in runs("utility", "release", "--original", "t.csv").sentence


BAD: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "one name on two levels": (
        "top-down",
        {"tree": TREE.replace("Romandie", "Bern")},
        ["column 'town'", "stand for different values on different levels: 'Bern'", "give each its own name"],
    ),
    "an empty table": ("mondrian", {"rows": 0}, ["the table has no rows"]),
}
IMPOSSIBLE: dict[str, tuple[dict[str, Any], list[str]]] = {
    "k above the table": ({"k": ROWS + 1}, [f"k = {ROWS + 1}", f"at most {ROWS}"]),
    "alpha below the share": (
        {"also": '[[privacy]]\nmodel = "alpha-deassociation"\ncolumn = "illness"\nalpha = 0.3\nvalues = ["HIV"]\n'},
        ["alpha-deassociation", "alpha = 0.3", "0.33"],
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(runs: Runs, job: Job, tmp_path: Path, case: str) -> None:
    """What a local algorithm cannot work with: one sentence, exit 2, and nothing on disk."""
    algorithm, changes, words = BAD[case]
    policy = job(algorithm, **changes)
    before = sorted(tmp_path.iterdir())
    outcome = runs("anonymize", policy)
    assert outcome.code == 2
    assert [word for word in words if word not in outcome.sentence] == []
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("algorithm", LOCAL)
@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_impossible(runs: Runs, job: Job, tmp_path: Path, algorithm: str, case: str) -> None:
    """What no recoding meets: one sentence with the nearest that can be met, exit 1, and nothing on disk."""
    changes, words = IMPOSSIBLE[case]
    policy = job(algorithm, **changes)
    before = sorted(tmp_path.iterdir())
    outcome = runs("anonymize", policy)
    assert outcome.code == 1
    assert [word for word in words if word not in outcome.sentence] == []
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", [*LOCAL, *FULL_DOMAIN])
def test_progress_says_what_is_left(job: Job, tmp_path: Path, command_folder: Path, algorithm: str) -> None:
    """On a terminal the bar counts what is done and what is left, in rows or in generalizations."""
    command = [str(command_folder / "sfumato"), "anonymize", str(job(algorithm)), "--out"]
    if algorithm == LOCAL[0]:
        quiet = subprocess.run([*command, "a", "--json"], capture_output=True, text=True, check=True, cwd=tmp_path)
        assert re.fullmatch(r"warning: no requirement looks at the sensitive column 'illness'.*\n", quiet.stderr)
    master, terminal = pty.openpty()
    # read while it writes: a terminal takes a few kilobytes, and a slow machine draws the bar more often than that
    with (
        ThreadPoolExecutor(1) as reader,
        subprocess.Popen([*command, "b"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=terminal) as process,
    ):
        os.close(terminal)
        everything = reader.submit(_everything, master)
        process.communicate()
        shown = everything.result()
    unit = "rows" if algorithm in LOCAL else "generalizations"
    assert re.search(rf"\d+ of \d+ {unit}, \d+ left", shown)


def _everything(terminal: int) -> str:
    """All that was written to a terminal whose other end is closed."""
    found = b""
    with contextlib.suppress(OSError), os.fdopen(terminal, "rb", buffering=0) as reader:
        while piece := reader.read(1 << 16):
            found += piece
    return found.decode()
