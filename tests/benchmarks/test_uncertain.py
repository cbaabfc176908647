"""The benchmark of densities runs, and keeps its page."""

from pathlib import Path

import pytest

from benchmarks import uncertain

pytestmark = pytest.mark.slow


def test_a_short_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each case, printed and kept; shares are shares."""
    found = uncertain.main(["--small", "--out", str(tmp_path)])
    assert len(found["held"]) == 4
    assert all(0 <= one["within"] <= 1 and one["asked"] > 0 for one in found["held"])
    assert all(one["whole"] > 0 and one["peer"] > 0 for one in found["speed"])
    page = (tmp_path / "RESULTS-uncertain.md").read_text()
    assert page.rstrip() in capsys.readouterr().out
