"""The verifier and numbers beside labels: one that says more than its label, or something else, is found."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.verifier import Promise, StatedBound, verify_table
from sfumato.verifier.numeric_bounds import read_ends

BOUNDS = (StatedBound("age_low", "age", "low", whole=True), StatedBound("age_high", "age", "high", whole=True))


def _verdict(labels: list[str | None], lows: list[Any], highs: list[Any]) -> tuple[str, ...]:
    table = pa.table({"age": labels, "age_low": lows, "age_high": highs})
    promise = Promise(("age",), (), None, ({"model": "k-anonymity", "k": 1},), bounds=BOUNDS)
    return verify_table(table, promise).complaints


def test_right_numbers_pass() -> None:
    """Ends of ranges, of single numbers, of open ranges, and none for a star and for a missing value."""
    labels = ["35-39", "40", "<20", "90+", "*", None, "[-5, 0)"]
    assert _verdict(labels, [35, 40, None, 90, None, None, -5], [39, 40, 19, None, None, None, -1]) == ()


@pytest.mark.parametrize(
    ("label", "low", "high", "column"),
    [
        ("35-39", 36, 39, "age_low"),
        ("35-39", 35, 38, "age_high"),
        ("35-39", None, 39, "age_low"),
        ("*", 35, None, "age_low"),
        ("90+", 90, 97, "age_high"),
        ("old", 35, 39, "age_low"),
        (None, 35, None, "age_low"),
    ],
)
def test_a_number_that_says_something_else_is_found(label: str | None, low: Any, high: Any, column: str) -> None:
    """The column is named, and the label beside which it is wrong."""
    complaints = _verdict(["35-39", label], [35, low], [39, high])
    assert any(f"column '{column}' does not have the" in complaint for complaint in complaints)


def test_two_numbers_beside_one_label_are_found() -> None:
    """Rows of one class that differ in a number are told apart by it."""
    complaints = _verdict(["35-39", "35-39"], [35, 37], [39, 39])
    assert complaints == ("column 'age_low' does not have the low of 'age' beside '35-39'",)


def test_a_large_number_is_compared_to_its_last_digit() -> None:
    """A moment in milliseconds, one off, is another number; and so is one number in two spellings."""
    label = "1700000000000-1700000000999"
    assert _verdict([label], [1700000000000], [1700000000999]) == ()
    assert _verdict([label], [1700000000001], [1700000000999]) != ()
    assert _verdict(["35-39", "35-39"], ["35", "35.0"], ["39", "39"]) != ()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A release with ends, saved."""
    columns = {"age": sf.quasi(intervals=[5, 10]), "illness": sf.sensitive()}
    policy = sf.Policy(columns=columns, privacy=[sf.KAnonymity(2)], publish={"numeric": "bounds"}, algorithm="optimal")
    table = pa.table({"age": [31, 32, 41, 42], "illness": list("abcd")})
    return sf.anonymize(table, policy).save(tmp_path / "release")


def _change(folder: Path, *, old: str, new: str) -> None:
    """Change the table, and the hash that the manifest has of it."""
    path, manifest = folder / "public" / "table.csv", folder / "public" / "manifest.json"
    content = path.read_text().replace(old, new)
    path.write_text(content)
    account = json.loads(manifest.read_text())
    account["files"]["table.csv"] = {"sha256": hashlib.sha256(content.encode()).hexdigest(), "bytes": len(content)}
    manifest.write_text(json.dumps(account))
    (folder / "private" / "audit.json").unlink()


def test_a_changed_number_in_a_file_is_found(folder: Path) -> None:
    """The true age in place of the low end, in one row: the labels still form classes of two, and it does not hold."""
    _change(folder, old="30-34,30,34,a", new="30-34,31,34,a")
    verdict = sf.verify(folder)
    assert all(finding.satisfied for finding in verdict.privacy)
    assert not verdict.satisfied
    assert "column 'age_low' does not have the low of 'age' beside '30-34'" in verdict.complaints


@pytest.mark.parametrize("change", [{"of": "illness"}, {"of": None}, {"bound": "top"}, {"integers": "yes"}])
def test_a_manifest_that_does_not_say_what_a_number_is_of_is_refused(folder: Path, change: dict[str, Any]) -> None:
    """A column of numbers that belongs to no quasi-identifier could say anything."""
    manifest = folder / "public" / "manifest.json"
    account = json.loads(manifest.read_text())
    next(entry for entry in account["columns"] if entry["name"] == "age_low").update(change)
    manifest.write_text(json.dumps(account))
    with pytest.raises(sf.NotVerified, match="does not say properly what column 'age_low' is a number of"):
        sf.verify(folder)


@pytest.mark.parametrize("text", ["", "abc", "1-", "[1, 2", "{1, 2}", "1..2", "nan", "inf"])
def test_what_is_no_range_is_refused(text: str) -> None:
    """A label that is neither a number nor a range has no ends."""
    with pytest.raises(ValueError, match="neither a number nor a range"):
        read_ends(text, whole=True)
