"""The benchmark of the query auditor runs, on a small table."""

import json
from pathlib import Path

import pytest

from benchmarks import query_audit


@pytest.mark.slow
def test_query_audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It measures statements, says what is refused, and keeps figures and a page."""
    monkeypatch.setattr(query_audit, "HERE", tmp_path)
    query_audit.write(query_audit.measure(rows=3000, earlier=20, measured=10))
    kept = json.loads((tmp_path / "results-query-audit.json").read_text())
    assert kept["cells"] == 2000
    assert sum(kept["outcomes"].values()) == 10
    assert "at most 2,000 are audited" in (tmp_path / "RESULTS-query-audit.md").read_text()
