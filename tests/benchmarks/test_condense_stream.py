"""The benchmark of condensed streams runs, and keeps its page."""

from pathlib import Path

import pytest

from benchmarks import condense_stream

pytestmark = pytest.mark.slow


def test_a_short_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each case, with its yardstick, printed and kept."""
    cases = condense_stream.main(["--small", "--out", str(tmp_path)])
    assert len(cases) == 3
    assert all(case["ours"] > 0 and case["peer"] > 0 for case in cases)
    page = (tmp_path / "RESULTS-condense-stream.md").read_text()
    assert page.rstrip() in capsys.readouterr().out
