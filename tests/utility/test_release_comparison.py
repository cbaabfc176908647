"""What a release cost, measured again from its files."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest

import sfumato as sf
from sfumato.cli.main import _run
from sfumato.datasets import hospital


def _policy(**changes: Any) -> dict[str, Any]:
    return {
        "columns": {
            "patient": {"role": "identifier"},
            "age": {"role": "quasi", "hierarchy": {"intervals": [10, 20], "domain": [0, 119]}},
            "sex": {"role": "quasi", "hierarchy": "suppress", "weight": 2.0},
            "zip": {"role": "quasi", "hierarchy": {"mask": "right", "length": 4}},
            "job": {"role": "quasi", "hierarchy": "suppress"},
            "admitted": {"role": "plain"},
            "illness": {"role": "sensitive"},
            "nights": {"role": "plain"},
        },
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "algorithm": {"name": "optimal", "suppression": 0.1},
    } | changes


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_files_tell_what_the_release_told(tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`sfumato utility` finds, from the written file and the original, the figures that anonymize reported."""
    arrow_csv.write_csv(hospital(600), tmp_path / "raw.csv")
    release = sf.anonymize(tmp_path / "raw.csv", _policy(publish={"format": form}))
    assert release.suppressed > 0
    release.save(tmp_path / "out")
    arguments = ["utility", str(tmp_path / "out"), "--original", str(tmp_path / "raw.csv"), "--json"]
    assert _run(arguments) == 0
    found = _parsed(capsys.readouterr().out)
    told = release.utility.as_json()
    assert found["attributes"].keys() == told["attributes"].keys()
    for key in told.keys() - {"attributes"}:
        assert found[key] == pytest.approx(told[key])
    for name, part in told["attributes"].items():
        assert found["attributes"][name] == pytest.approx(part)


def test_labels_that_start_like_a_formula_are_recognized(tmp_path: Path) -> None:
    """The apostrophe that guards a CSV cell does not keep its label from being found."""
    rows = pa.table({"=code": ["=a", "=a", "-b", "-b", None, None]})
    policy = {
        "columns": {"=code": {"role": "quasi", "hierarchy": "suppress"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    arrow_csv.write_csv(rows, tmp_path / "raw.csv")
    sf.anonymize(tmp_path / "raw.csv", policy).save(tmp_path / "out")
    assert _run(["utility", str(tmp_path / "out"), "--original", str(tmp_path / "raw.csv")]) == 0


def test_another_original_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table that the release was not made from is named as such, in one sentence."""
    arrow_csv.write_csv(pa.table({"x": ["a", "a"]}), tmp_path / "raw.csv")
    arrow_csv.write_csv(pa.table({"x": ["b", "b"]}), tmp_path / "other.csv")
    policy = {
        "columns": {"x": {"role": "quasi", "hierarchy": "suppress"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
    }
    sf.anonymize(tmp_path / "raw.csv", policy).save(tmp_path / "out")
    assert _run(["utility", str(tmp_path / "out"), "--original", str(tmp_path / "other.csv")]) == 2
    assert "does not lead to: 'a'" in capsys.readouterr().err


def _parsed(text: str) -> Any:
    """The one JSON object that a command printed."""
    return json.loads(text)
