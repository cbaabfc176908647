"""The report of a release that has forerunners tries the intersection attack on all of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from sfumato.attack.intersect import intersect
from sfumato.datasets import hospital, hospital_policy
from sfumato.policy import load
from sfumato.release import anonymize

ROWS = hospital(300)


@pytest.fixture
def document() -> dict[str, Any]:
    """A policy of a later release, whose join with an earlier one has to stay large."""
    columns = dict(load(hospital_policy()).document["columns"])  # type: ignore[call-overload]  # a table
    kept = {name: columns[name] for name in ("sex", "age", "illness")}
    rule = {"model": "xy-anonymity", "x": ["sex", "may.sex"], "y": ["$row"], "k": 2}
    return {"columns": kept, "privacy": [rule]}


def lines(folder: Path) -> list[dict[str, Any]]:
    """What the audit has of the attack."""
    told = json.loads((folder / "private" / "audit.json").read_text(encoding="utf-8"))["attacks"]
    return [one for one in told if one["attack"] == "intersect"]


@pytest.mark.slow
def test_the_attack_is_tried_on_folders(document: dict[str, Any], tmp_path: Path) -> None:
    """The line is that of the command, on the same releases and people."""
    rows = ROWS.select(["sex", "age", "illness"])
    alone = document | {"privacy": [{"model": "k-anonymity", "k": 3}]}
    may = anonymize(rows, alone).save(tmp_path / "may")
    later = document | {"previous": [{"name": "may", "table": str(may / "public" / "table.csv")}]}
    release = anonymize(rows, later)
    june = release.save(tmp_path / "june")
    (told,) = lines(june)
    found = intersect([june, may], rows, policy=release.policy).columns["illness"]
    assert found.exposed > 0
    assert told["success"] == pytest.approx(found.exposed / found.persons)
    assert told["baseline"] == pytest.approx(max(one or 0 for one in found.alone) / found.persons)
    assert "by this release" in told["says"][1]
    assert str(tmp_path) not in json.dumps(told)
    assert told["says"][0] in (june / "private" / "report.html").read_text(encoding="utf-8").replace("&#x27;", "'")


def test_a_table_without_a_folder_is_not_attacked(document: dict[str, Any], tmp_path: Path) -> None:
    """Of a file alone nobody knows what its labels stand for, and the account says that it was not tried."""
    (tmp_path / "may.csv").write_text("sex,illness\nf,flu\nm,HIV\n", encoding="utf-8")
    later = document | {"previous": [{"name": "may", "table": str(tmp_path / "may.csv")}]}
    rows = ROWS.select(["sex", "age", "illness"])
    (told,) = lines(anonymize(rows, later).save(tmp_path / "june"))
    assert told["success"] is None
    assert told["says"][0].startswith("Not tried: of may there is a table")


def test_no_earlier_release(document: dict[str, Any], tmp_path: Path) -> None:
    """Without a forerunner the account says how the attack is tried once there is one."""
    alone = document | {"privacy": [{"model": "k-anonymity", "k": 3}]}
    (told,) = lines(anonymize(ROWS.select(["sex", "age", "illness"]), alone).save(tmp_path / "may"))
    assert (told["success"], told["says"][0][:9]) == (None, "Not tried")
