"""Mining among parties is measured in small; what comes out is reported and nowhere asserted."""

import json
from pathlib import Path

import pytest

from benchmarks import party_mining

pytestmark = pytest.mark.slow


def test_tiny_run(tmp_path: Path) -> None:
    """A run keeps page and figures, and what parties find together is what one holder finds."""
    party_mining.main(["--baskets", "3000", "--rows", "100", "--out", str(tmp_path)])
    kept = json.loads((tmp_path / "results-party-mining.json").read_text())
    assert {case["what"] for case in kept["cases"] if not case["equal"]} == {"k-means, columns at two"}
    assert len(kept["cases"]) == 7
    assert party_mining.page(kept) == (tmp_path / "RESULTS-party-mining.md").read_text()
