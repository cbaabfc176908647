"""``sfumato apply`` as people type it: what it prints, how it ends, and what it leaves."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

Runs = Callable[..., Any]

POLICY = """
[data]
source = "old.csv"
[columns]
name = { role = "identifier" }
age = { role = "quasi", hierarchy = { intervals = [10, 20] } }
town = { role = "quasi", hierarchy = "suppress" }
illness = { role = "plain" }
[[privacy]]
model = "k-anonymity"
k = 3
[algorithm]
name = "optimal"
"""


def write_rows(path: Path, number: int, seed: int) -> None:
    """Made-up people."""
    random = Random(seed)
    lines = [
        f"n{seed}-{i},{random.randint(0, 79)},{random.choice('ab')},{random.choice(['flu', 'HIV'])}"
        for i in range(number)
    ]
    path.write_text("\n".join(["name,age,town,illness", *lines]) + "\n")


@pytest.fixture
def release(runs: Runs, tmp_path: Path) -> Path:
    """A release, with its policy and a file of new rows beside it."""
    write_rows(tmp_path / "old.csv", 300, 1)
    write_rows(tmp_path / "new.csv", 200, 2)
    (tmp_path / "policy.toml").write_text(POLICY)
    assert runs("anonymize", "policy.toml", "--out", "old").code == 0
    return tmp_path


def test_one_json_object(runs: Runs, release: Path) -> None:
    """It has what anonymize prints, with what was left out, and what holds together with the rows before."""
    outcome = runs("apply", "old", "--data", "new.csv", "--out", "new", "--json")
    assert outcome.code == 0
    content = json.loads(outcome.out)
    assert content["release"] == "new"
    assert (content["rows"], content["suppressed"]) == (200, 0)
    assert content["extends"] == {"releases": 1, "promise": "alone"}
    assert content["left_out"] == {"unknown": {}, "uncovered": 0, "breaking": {}}
    assert content["together"]["rows"] == 500
    assert content["together"]["privacy"][0]["satisfied"]
    assert content["privacy"][0]["achieved"]["k"] >= 3
    checked = json.loads(runs("verify", "new", "--json").out)
    assert checked["together"] == content["together"]
    audit = json.loads((release / "new" / "private" / "audit.json").read_text())
    assert audit["input"]["rows"] == 200
    assert audit["extends"]["folders"] == [str(release / "old" / "public")]


def test_people_read_what_was_done(runs: Runs, release: Path) -> None:
    """Tables, where the folder is, and what is said of it when others look."""
    outcome = runs("apply", "old", "--data", "new.csv", "--out", "new")
    assert outcome.code == 0
    assert "with the 300 rows before, 500 rows in" in outcome.out
    assert outcome.err == ""
    verified = runs("verify", release / "new")
    assert "together with the releases that it extends: 500 rows in" in verified.out
    (release / "old").rename(release / "elsewhere")
    alone = runs("verify", "new")
    assert alone.code == 0
    assert "was not checked: name their folders with --base" in alone.out
    assert "together with the releases" in runs("verify", "new", "--base", "elsewhere").out


def test_people_who_are_in_both_tables_are_counted(runs: Runs, release: Path) -> None:
    """Identifiers are compared with the table before where it is as it was, and it is said where it is not."""
    lines = (release / "new.csv").read_text().replace("n2-1,", "n1-7,").replace("n2-2,", "n1-8,")
    (release / "new.csv").write_text(lines)
    outcome = runs("apply", "old", "--data", "new.csv", "--out", "new")
    assert outcome.err.startswith(
        "warning: 2 of 200 rows have a value of 'name' that stands in a table before, and the "
    )
    assert outcome.err.count("\n") == 1
    audit = json.loads((release / "new" / "private" / "audit.json").read_text())
    assert audit["extends"]["same_people"] == {"name": 2}
    write_rows(release / "newer.csv", 200, 3)
    (release / "newer.csv").write_text((release / "newer.csv").read_text().replace("n3-5,", "n1-8,"))
    outcome = runs("apply", "new", "--data", "newer.csv", "--out", "newer")
    assert "1 of 200 rows have a value of 'name'" in outcome.err
    (release / "old.csv").write_text("changed\n")
    (release / "new.csv").unlink()
    outcome = runs("apply", "new", "--data", "newer.csv", "--out", "newest")
    assert (
        "the rows are taken to be about other people than the 2 releases that they are added to, and that could not be"
        in (outcome.err)
    )


def test_what_many_share_names_nobody(runs: Runs, release: Path) -> None:
    """A sex, a date of birth and a size that are left out are not compared as if they named somebody."""
    for table, first in (("old.csv", 1), ("new.csv", 2)):
        header, *lines = (release / table).read_text().splitlines()
        more = [
            f"{line},{'fm'[row % 2]},19{row % 90 + 10}-03-{row % 28 + 1:02d},{row % 7}.5"
            for row, line in enumerate(lines, first)
        ]
        (release / table).write_text("\n".join([f"{header},sex,born,size", *more]) + "\n")
    text = (release / "policy.toml").read_text()
    left_out = "".join(f'{name} = {{ role = "identifier" }}\n' for name in ("sex", "born", "size"))
    (release / "policy.toml").write_text(text.replace("[columns]\n", f"[columns]\n{left_out}"))
    assert runs("anonymize", "policy.toml", "--out", "old", "--force").err == ""
    outcome = runs("apply", "old", "--data", "new.csv", "--out", "new")
    assert (outcome.code, outcome.err) == (0, "")
    audit = json.loads((release / "new" / "private" / "audit.json").read_text())
    assert audit["extends"]["same_people"] == {"name": 0}


def test_what_cannot_be_published_is_named_by_count(runs: Runs, release: Path) -> None:
    """Without leave to drop rows nothing is written, and one sentence counts them by reason; a policy gives leave."""
    with (release / "new.csv").open("a") as file:
        file.write("canary,very old,a,flu\ncanary,12,elsewhere,flu\n")
    outcome = runs("apply", "old", "--data", "new.csv", "--out", "new")
    assert outcome.code == 1
    assert outcome.sentence.startswith(
        "2 of 202 rows cannot be published under the labels of old, and none may be dropped: 1 holds a value of 'age' "
        "that its hierarchy does not know; 1 is in no class that is published; allow more with [apply] suppression"
    )
    assert "canary" not in outcome.err
    assert not (release / "new").exists()
    (release / "more.toml").write_text(POLICY + "[apply]\nsuppression = 0.01\n")
    outcome = runs("apply", "old", "--data", "new.csv", "--out", "new", "--policy", "more.toml")
    assert outcome.code == 0
    assert "200 of 202" in outcome.out
    assert "2 of 202 rows were dropped: 1 holds a value of 'age'" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere"], "nowhere is not a release folder; name the folder that anonymize wrote"),
        (["old/public/table.csv"], "old/public/table.csv is not a release folder"),
        (["old", "--data", "old.csv"], "old.csv is the table that old was made of"),
        (["old", "--data", "absent.csv"], "absent.csv does not exist"),
        (["old", "--out", "old", "--force"], "--out is the release itself, whose rows stay published"),
        (["old", "--out", "old.csv"], "old.csv exists already; choose another --out"),
        (["old", "--name", "x"], "--population and --name are for a ledger"),
        (["old", "--ledger", "absent"], "absent is not a ledger"),
        (["old", "--policy", "absent.toml"], "there is no policy file absent.toml"),
        (["old", "--sign", "absent.pem"], "absent.pem"),
    ],
)
def test_bad_usage_is_one_sentence(runs: Runs, release: Path, arguments: list[str], sentence: str) -> None:
    """Each ends with exit code 2, and leaves nothing."""
    given = arguments + ([] if "--data" in arguments else ["--data", "new.csv"])
    outcome = runs("apply", *given, *([] if "--out" in arguments else ["--out", "new"]))
    assert outcome.code == 2
    assert sentence in outcome.sentence
    assert not (release / "new").exists()
    assert (release / "old" / "public" / "table.csv").exists()


def test_a_ledger_and_a_signature(runs: Runs, release: Path) -> None:
    """Further rows are recorded and signed as any release is."""
    assert runs("keys", "--out", "keys").code == 0
    key = next(path for path in (release / "keys").iterdir() if "private" in path.read_text().lower())
    public = next(path for path in (release / "keys").iterdir() if path != key)
    assert runs("ledger", "init", "books").code == 0
    assert (
        "the ledger has no entry of old"
        in runs(*("apply", "old", "--data", "new.csv", "--out", "new", "--ledger", "books")).err
    )
    assert runs("ledger", "add", "books", "old").code == 0
    signed = ["--sign", key, "--ledger", "books"]
    assert runs("apply", "old", "--data", "new.csv", "--out", "new", *signed).code == 0
    assert runs("verify", "new", "--signed-by", public).code == 0
    assert runs("ledger", "check", "books").code == 0
    listed = json.loads(runs("ledger", "list", "books", "--json").out)
    assert [entry["name"] for entry in listed["entries"]] == ["old", "new"]


def test_force_replaces_an_extension(runs: Runs, release: Path) -> None:
    """A release of further rows is a release that --force knows, with its saved recoding."""
    arguments = ["apply", "old", "--data", "new.csv", "--out", "new"]
    assert runs(*arguments).code == 0
    assert runs(*arguments).code == 2
    assert runs(*arguments, "--force").code == 0
    assert (release / "new" / "private" / "recoding.json").exists()
