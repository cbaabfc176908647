"""The search over small tables runs, and keeps figures and a page."""

import json
from pathlib import Path

import pytest

from benchmarks import query_search


@pytest.mark.slow
def test_query_search(tmp_path: Path) -> None:
    """Three rows, and one attack of each kind; no attack gains more than without --alike."""
    query_search.main(["--rows", "3", "--runs", "1", "--out", str(tmp_path)])
    kept = json.loads((tmp_path / "results-query-search.json").read_text())
    assert [case["states"] for case in kept["cases"]] == [2, 3, 4, 4, 5, 12]
    for without, alike in zip(kept["attacks"][::2], kept["attacks"][1::2], strict=True):
        assert alike["known"] <= without["known"]
    assert "## Zeros and ones" in (tmp_path / "RESULTS-query-search.md").read_text()
