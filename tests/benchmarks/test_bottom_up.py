"""Bottom-up is timed beside top-down; what they take is reported and nowhere asserted."""

import json
import signal
from pathlib import Path

import pytest

from benchmarks import bottom_up
from benchmarks.bottom_up import OURS, YARDSTICK, Timing, page
from sfumato.papers.identity_paper import RESERVED

pytestmark = pytest.mark.slow

ABOUT = {"date": "today", "sfumato": "0", "python": "3", "duckdb": "1", "cpus": 2, "memory": 8, "load": 0.5}


def test_tiny_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches and a command are timed on made-up rows, and page and figures are kept where told."""
    monkeypatch.setenv("SFUMATO_ADULT", str(tmp_path))
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # the process is not its own here
    for name in ("REQUIREMENTS", "COMMANDS"):
        monkeypatch.setattr(bottom_up, name, ({"model": RESERVED, "k": 2},))
    bottom_up.main(["--rows", "150", "--repeat", "1", "--commands", "1", "--out", str(tmp_path)])
    kept = json.loads((tmp_path / "results-bottom-up.json").read_text())
    assert (kept["source"], kept["full"]) == ("synthetic", False)
    assert [(one["what"], one["rows"]) for one in kept["cases"]] == [("search", 270), ("command", 270)]
    assert all(one[OURS] > 0 and one[YARDSTICK] > 0 for one in kept["cases"])
    assert "Made-up rows" in (tmp_path / "RESULTS-bottom-up.md").read_text()


def test_page() -> None:
    """A ratio beyond the target is missed."""
    asked = {"what": "search", "requirement": "identity-k-anonymity, k = 2", "rows": 72_000}
    timed = [asked | {OURS: 1.0, YARDSTICK: 2.0}, asked | {"what": "command", OURS: 6.0, YARDSTICK: 1.0}]
    written = page(ABOUT | {"source": "real", "repeat": 5, "commands": 3, "cases": timed})
    assert "| 0.50  | ≤ 5    | met     |" in written
    assert "| 6.00  | ≤ 5    | missed  |" in written
    assert Timing.repeat == 5
