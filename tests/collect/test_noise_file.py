"""noise.json: read, written, and refused with a sentence that names the column and the key."""

from pathlib import Path
from typing import Any

import pytest

from sfumato.collect.noise import Noise
from sfumato.errors import InputError

GOOD: dict[str, dict[str, Any]] = {
    "age": {"kind": "gaussian", "sigma": 20.0, "domain": [0, 100]},
    "income": {"kind": "uniform", "half_width": 50.0, "domain": [0, 200]},
    "stay": {"kind": "laplace", "scale": 3.0, "domain": [0, 60]},
    "vote": {"kind": "response", "values": ["a", "b", "c"], "keep": 0.6},
    "job": {"kind": "matrix", "values": ["x", "y"], "matrix": [[0.8, 0.2], [0.3, 0.7]]},
    "basket": {"kind": "flip", "items": ["bread", "milk"], "keep": 0.9},
    "town": {"kind": "unary", "values": ["Bern", "Thun"], "keep": 0.5, "add": 0.2},
    "arm": {"kind": "plain"},
}


def test_every_kind_survives_a_round_trip(tmp_path: Path) -> None:
    """The contract's example is read, and what is written is read as the same."""
    noise = Noise.read({"format": "sfumato-noise/1", "columns": GOOD})
    noise.save(tmp_path / "noise.json")
    assert Noise.load(tmp_path / "noise.json") == noise
    assert noise.as_json()["columns"] == {
        name: entry | ({"domain": [float(end) for end in entry["domain"]]} if "domain" in entry else {})
        for name, entry in GOOD.items()
    }


@pytest.mark.parametrize(
    ("column", "change", "words"),
    [
        ("age", {"sigma": 0}, "sigma must be a number above 0"),
        ("age", {"sigma": "20"}, "sigma must be a number, not '20'"),
        ("age", {"sigma": True}, "sigma must be a number"),
        ("age", {"domain": [0]}, "domain must be a list of 2 numbers"),
        ("age", {"domain": [5, 5]}, "the lower one first"),
        ("age", {"kind": "gausian"}, "did you mean gaussian"),
        ("age", {"kind": 7}, "kind must be one of"),
        ("age", {"sgima": 3}, "'sgima' is not a key of the kind gaussian; did you mean sigma"),
        ("job", {"matrix": [[0.8, 0.1], [0.3, 0.7]]}, "row 1 of matrix adds up to 0.9 and not to 1"),
        ("job", {"matrix": 3}, "matrix must be a list of rows"),
        ("vote", {"keep": 1}, "keep must be a number above 0 and below 1"),
        ("vote", {"values": ["a", 3]}, "values must be a list of texts"),
        ("basket", {"items": []}, "items must be a list of at least 1"),
    ],
)
def test_altered_files(column: str, change: dict[str, object], words: str) -> None:
    """Whatever is altered, the sentence names the column and what is wrong with it."""
    document = {"format": "sfumato-noise/1", "columns": GOOD | {column: GOOD[column] | change}}
    with pytest.raises(InputError, match=words) as caught:
        Noise.read(document)
    assert f"column '{column}'" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nope", "is not JSON"),
        (
            '{"format": "sfumato-noise/1", "columns": {"a": {"kind": "gaussian", "sigma": NaN, "domain": [0, 1]}}}',
            "NaN",
        ),
        ('{"format": "sfumato-noise/1", "columns": {"a": {"kind": "plain"}, "a": {"kind": "plain"}}}', "'a' twice"),
        ('{"format": "sfumato-noise/2", "columns": {}}', '"format" must be'),
        ('{"format": "sfumato-noise/1", "columns": {}}', "at least one column"),
        ('{"format": "sfumato-noise/1", "columns": {"a": 3}}', "must be an object"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_files_that_are_none(tmp_path: Path, text: str, words: str) -> None:
    """One sentence that begins with the name of the file."""
    path = tmp_path / "noise.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words) as caught:
        Noise.load(path)
    assert str(caught.value).startswith("noise.json")


def test_a_missing_key() -> None:
    """It is named."""
    entry = {key: value for key, value in GOOD["age"].items() if key != "domain"}
    with pytest.raises(InputError, match="the key 'domain' is missing"):
        Noise.read({"format": "sfumato-noise/1", "columns": {"age": entry}})
