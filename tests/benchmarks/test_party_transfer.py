"""Transfers of two parties are measured in small; what comes out is reported and nowhere asserted but for results."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def test_tiny_run(tmp_path: Path) -> None:
    """A run keeps page and figures, every result is that of plain computation, and both parties sent something."""
    # in a process of its own, since it forks
    command = [sys.executable, "-m", "benchmarks.party_transfer", "--scale", "0.001", "--repeat", "1"]
    subprocess.run([*command, "--out", str(tmp_path)], check=True, stdout=subprocess.DEVNULL)
    kept = json.loads((tmp_path / "results-party-transfer.json").read_text())
    assert not kept["full"]
    assert {case.get("right", True) for case in kept["cases"]} == {True}
    assert all(min(case["sent"]) > 0 for case in kept["cases"])
    page = (tmp_path / "RESULTS-party-transfer.md").read_text()
    assert "of the bytes" in page
    assert "NO" not in page
