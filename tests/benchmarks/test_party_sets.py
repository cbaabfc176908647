"""Sets of several parties are measured in small; what comes out is reported and nowhere asserted."""

import json
from pathlib import Path

import pytest

from benchmarks import party_sets

pytestmark = pytest.mark.slow


def test_tiny_run(tmp_path: Path) -> None:
    """A run without SPU keeps page and figures, of parties in processes; the ratio is told where it was measured."""
    party_sets.main(["--items", "2000", "--out", str(tmp_path)])
    kept = json.loads((tmp_path / "results-party-sets.json").read_text())
    assert [case["result"] for case in kept["cases"]] == [100, 100, 1000, 10, 30, 3]
    assert kept["files"]["ours"]["result"] == 1000
    assert "× SPU |" not in (tmp_path / "RESULTS-party-sets.md").read_text()
    kept["files"]["spu"] = kept["files"]["ours"] | {"version": "0", "cpu": kept["files"]["ours"]["cpu"] / 2}
    assert "| 2.00" in party_sets.page(kept)
