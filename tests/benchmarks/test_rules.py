"""Mining and hiding rules are measured in small; what comes out is reported and nowhere asserted."""

import json
from pathlib import Path

import pytest

from benchmarks import rules
from benchmarks.rules import page

pytestmark = pytest.mark.slow


def test_tiny_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run without other programs keeps page and figures; ratios with others are told where they were measured."""
    monkeypatch.setattr(rules, "SUPPORTS", ("0.01",))
    monkeypatch.setattr(rules, "HIDDEN_AT", ("0.01",))
    rules.main(["--baskets", "600", "--out", str(tmp_path)])
    kept = json.loads((tmp_path / "results-rules.json").read_text())
    assert (kept["full"], kept["baskets"], len(kept["cases"]), len(kept["hiding"])) == (False, 600, 1, 3)
    lost = [case["lost"] for case in kept["hiding"]]
    assert lost == sorted(lost, reverse=True)
    assert "| × Eclat" not in (tmp_path / "RESULTS-rules.md").read_text()
    ours = kept["cases"][0]["ours"]
    kept["cases"][0] |= {"eclat": ours | {"seconds": ours["seconds"] / 2}, "hmine": ours | {"itemsets": 1}}
    written = page(kept)
    assert "| 2.00" in written
    assert "finds 1" in written
