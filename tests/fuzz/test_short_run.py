"""A short run of the fuzzer: the same cases every time, and a few that nobody has seen."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("options", [["--start", "1", "--cases", "24"], ["--cases", "12"]], ids=["known", "fresh"])
def test_no_case_has_a_finding(options: list[str], root: Path, tmp_path: Path) -> None:
    """Two dozen seeds that stay the same, and one of fresh ones, whose first is printed, end as the definitions say."""
    command = [sys.executable, "-m", "fuzz.run", "--seconds", "200", *options, "--out", str(tmp_path)]
    ended = subprocess.run(command, cwd=root, check=False, capture_output=True, text=True)
    print(ended.stdout)  # noqa: T201 - the seeds
    assert ended.returncode == 0, f"{ended.stdout}{ended.stderr}"
    assert ended.stdout.startswith("seeds from ")
