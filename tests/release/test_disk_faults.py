"""A disk that fails once, at whatever step of publishing, leaves a whole release or none, and says which."""

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
source = "people.csv"
[columns]
age = { role = "quasi", hierarchy = { intervals = [5, 10, 20], domain = [0, 119] } }
sex = { role = "quasi", hierarchy = "suppress" }
illness = { role = "sensitive" }
[[privacy]]
model = "k-anonymity"
k = 3
[[privacy]]
model = "distinct-l-diversity"
column = "illness"
l = 2
[algorithm]
name = "optimal"
"""
KINDS = {
    "new": {"mkdir", "open", "write", "fsync", "chmod", "rename", "renamed", "rmdir"},
    "force": {"mkdir", "open", "write", "fsync", "chmod", "exchange", "exchanged", "unlink", "rmdir"},
    "ledger": {"mkdir", "open", "write", "fsync", "chmod", "rename", "renamed", "rmdir", "commit", "committed"},
}
"""The kinds of steps that publishing takes: fewer would mean that some are not watched."""


@pytest.mark.parametrize("scenario", KINDS)
def test_a_disk_that_fails_once(tmp_path: Path, scenario: str) -> None:
    """Nothing, the old release or the new one, whole and verified; exit code, words and ledger say which."""
    (tmp_path / "policy.toml").write_text(POLICY)
    lines = (f"{20 + i * 7 % 60},{'fm'[i % 2]},ill{i % 3}\n" for i in range(60))
    (tmp_path / "people.csv").write_text("age,sex,illness\n" + "".join(lines))
    command = [sys.executable, str(Path(__file__).with_name("faults.py")), scenario, str(tmp_path)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    )
    good, *results = json.loads(done.stdout)
    assert (good["code"], good["said"], good["state"]) == (0, "", "new")
    assert {result["step"].split()[0] for result in results} == KINDS[scenario]
    assert {result["fault"] for result in results} == {"ENOSPC", "EIO", "kill"}
    for result in results:
        _check(result, scenario)
    killed = [result for result in results if result["fault"] == "kill"]
    assert {result["state"] for result in killed} == {"old" if scenario == "force" else "nothing", "new"}


def _check(result: dict[str, Any], scenario: str) -> None:
    """What one run left, and what it said of it."""
    state, said = result["state"], result["said"]
    assert state in ({"old", "new"} if scenario == "force" else {"nothing", "new"}), result
    assert result["holds"], result
    assert result["hidden"] == [], result
    if result["fault"] == "kill":
        assert result["code"] == -9, result
        assert result["listed"] or scenario != "ledger" or state == "nothing", result
        return
    assert "Traceback" not in said, result
    assert "bug of sfumato" not in said, result
    assert (result["code"] == 0) == (state == "new"), result
    if result["code"]:
        assert (result["code"], said.count("\n"), said.startswith("error: ")) == (2, 1, True), result
        assert "is out" not in said, result
    elif said:
        assert said.startswith("warning: the release is out, but "), result
    if scenario == "ledger":
        assert bool(result["listed"]) == (state == "new"), result
