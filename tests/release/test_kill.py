"""A run that is ended at any moment leaves no part of a release, and nothing that a next run does not clear."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

POLICY = """
[data]
source = "table.csv"
[columns]
name = { role = "identifier" }
age = { role = "quasi", hierarchy = { intervals = [5, 10, 20] } }
zip = { role = "quasi", hierarchy = { mask = "right" } }
sex = { role = "quasi", hierarchy = "suppress" }
illness = { role = "sensitive" }
note = { role = "plain" }
[[privacy]]
model = "k-anonymity"
k = 5
[[privacy]]
model = "distinct-l-diversity"
column = "illness"
l = 2
[algorithm]
suppression = 0.02
"""


def _ended(how: str, folder: Path, tries: int) -> dict[str, Any]:
    folder.mkdir()
    (folder / "policy.toml").write_text(POLICY)
    lines = (
        f"Person {i},{20 + i * 7 % 60},{4000 + i * 13 % 300},{'fm'[i % 2]},ill{i * i % 11},{'x' * (i % 90)}\n"
        for i in range(6_000)
    )
    (folder / "table.csv").write_text("name,age,zip,sex,illness,note\n" + "".join(lines))
    command = [sys.executable, str(Path(__file__).with_name("runner.py")), how, str(folder), str(tries)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(("how", "tries"), [("kill", 70), ("force", 30), ("sign", 12), ("stream", 30)])
def test_a_kill_at_any_moment(tmp_path: Path, how: str, tries: int) -> None:
    """A hundred kills spread over a run: a release is there whole or not at all, and the next run clears the rest."""
    found = _ended(how, tmp_path / how, tries)
    assert all(one["whole"] for one in found["tries"] if one["exists"])
    if how == "force":
        assert all(one["exists"] for one in found["tries"])
    assert any(one["hidden"] for one in found["tries"]), "no kill came while something was being written"
    assert sum(one["status"] == -9 for one in found["tries"]) > tries // 5
    assert found["last"]["status"] == 0
    assert found["last"]["whole"]
    assert found["last"]["hidden"] == 0


@pytest.mark.parametrize(("how", "tries"), [("term", 8), ("int", 8)])
def test_told_to_stop(tmp_path: Path, how: str, tries: int) -> None:
    """A run that is told to stop removes what it made, folders on the way included, and says one sentence."""
    found = _ended(how, tmp_path / how, tries)
    known = ["policy.toml", "stderr.txt", "table.csv"]
    for one in found["tries"]:
        assert one["hidden"] == 0
        assert one["whole"] == one["exists"]
        assert one["others"] == (sorted([*known, "made"]) if one["exists"] else known)
        assert one["status"] in ({0, 130} if one["exists"] else {130})
    said = set((tmp_path / how / "stderr.txt").read_text().splitlines())
    out = {line for line in said if line.startswith("error: stopped, but the release is out: ")}
    assert said - out == {"error: stopped; no part of a release is left behind"}
    assert sum(one["status"] == 130 for one in found["tries"]) > tries // 5  # how many come in time is the machine's
