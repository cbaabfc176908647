"""``sfumato attack minimality`` as somebody runs it."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

from sfumato.release import prepare

ROWS = {"q": ["q1"] * 2 + ["q2"] * 5, "illness": ["HIV", "HIV"] + ["flu"] * 5, "ward": list("ABABABA")}
HIV = {"model": "alpha-deassociation", "column": "illness", "alpha": 0.5, "values": ["HIV"]}


def _saved(folder: Path, *, form: str = "generalized", name: str = "optimal", **changes: Any) -> Path:
    """A release of the paper's example, with its original beside it."""
    rows = pa.table({**ROWS, **changes})
    pyarrow.csv.write_csv(rows, folder / "original.csv")
    distinct = {"model": "distinct-l-diversity", "column": "illness", "l": 2}
    policy = {
        "columns": {
            "q": {"role": "quasi", "hierarchy": "suppress"},
            "illness": {"role": "sensitive"},
            "ward": {"role": "identifier" if form == "anatomy" else "sensitive"},
        },
        "privacy": [distinct if form == "anatomy" else HIV],
        "algorithm": {"name": name},
        "publish": {"form": form},
    }
    return prepare(rows, policy).save(folder / "release")


@pytest.mark.parametrize("form", ["generalized", "lossy-join"])
def test_figures_and_sentences(runs: Any, tmp_path: Path, form: str) -> None:
    """Both HIV are found out, from one table and from two; the bound and what is assumed stand beside it."""
    folder = _saved(tmp_path, form=form)
    shown = runs("attack", "minimality", folder, "--original", tmp_path / "original.csv")
    assert shown.code == 0
    assert "surer than the bound of 2 rows (up to 100%), and right about 100% of them" in shown.out
    assert "the policy allows 50.0%" in shown.out
    assert "The adversary has the release, knows everybody's quasi-identifiers" in shown.out
    assert "No requirement looks at the column" in shown.out


def test_json(runs: Any, tmp_path: Path) -> None:
    """One object with figures of the column that is asked for, what was looked at, and what is assumed."""
    folder = _saved(tmp_path)
    asked = ("--column", "illness", "--worlds", "50", "--seed", "4", "--json")
    found = json.loads(runs("attack", "minimality", folder, "--original", tmp_path / "original.csv", *asked).out)
    assert list(found["columns"]) == ["illness"]
    assert found["columns"]["illness"]["largest_posterior"] == 1.0
    assert (found["basis"], found["seed"], found["looked"]["worlds"]) == ("all nodes", 4, 21)
    assert found["assumes"].endswith("failed.")


def test_anatomy_needs_no_second_run(runs: Any, tmp_path: Path) -> None:
    """Buckets are drawn anew each time, so that the files alone are looked at."""
    folder = _saved(
        tmp_path, form="anatomy", name="anatomy", illness=["HIV", "flu", "cold", "flu", "cold", "HIV", "flu"]
    )
    found = runs("attack", "minimality", folder, "--original", tmp_path / "original.csv")
    assert found.code == 0
    assert "drawn without regard to the quasi-identifiers" in found.out


def test_another_original(runs: Any, tmp_path: Path) -> None:
    """A table that does not give this release is refused in a sentence."""
    folder = _saved(tmp_path)
    other = {**ROWS, "illness": ["HIV", "flu", "HIV", "flu", "flu", "flu", "flu"]}
    pyarrow.csv.write_csv(pa.table(other), tmp_path / "other.csv")
    refused = runs("attack", "minimality", folder, "--original", tmp_path / "other.csv")
    assert (refused.code, refused.sentence[:40]) == (2, "made again from this table, the release ")


def test_a_manifest_that_was_changed(runs: Any, tmp_path: Path) -> None:
    """A folder that is no longer a release is bad input, not a requirement that does not hold."""
    folder = _saved(tmp_path)
    (folder / "public" / "manifest.json").write_text("[]")
    refused = runs("attack", "minimality", folder, "--original", tmp_path / "original.csv")
    assert (refused.code, "manifest.json does not hold a JSON object" in refused.sentence) == (2, True)


def test_a_column_that_is_not_sensitive(runs: Any, tmp_path: Path) -> None:
    """The sentence names the columns that are."""
    folder = _saved(tmp_path)
    refused = runs("attack", "minimality", folder, "--original", tmp_path / "original.csv", "--column", "ilness")
    assert refused.code == 2
    assert "'ilness' is no sensitive column of the policy; did you mean illness?" in refused.sentence
