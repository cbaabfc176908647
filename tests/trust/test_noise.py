"""TRUST 22: who adds noise is told what a filter takes away again."""

import json
from pathlib import Path

import numpy as np
import pytest

from sfumato.cli import main


def test_trust_22_a_filter_that_recovers_much_is_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Four columns that go together under independent noise: the command says so, and keeps silent of one column."""
    draw = np.random.default_rng(1)
    wave = draw.uniform(20, 80, 3000)
    rows = np.stack([np.clip(wave + draw.normal(0, 2, 3000), 0, 100) for _ in range(4)], axis=1)
    columns = {name: {"kind": "gaussian", "sigma": 20, "domain": [0, 100]} for name in "abcd"}
    (tmp_path / "noise.json").write_text(
        json.dumps({"format": "sfumato-noise/1", "columns": columns}), encoding="utf-8"
    )
    lines = [",".join(f"{cell:.3f}" for cell in row) for row in rows + draw.normal(0, 20, rows.shape)]
    (tmp_path / "reports.csv").write_text("\n".join(["a,b,c,d", *lines]) + "\n", encoding="utf-8")
    (tmp_path / "alone.csv").write_text(
        "\n".join(line.split(",")[0] for line in ["a", *lines]) + "\n", encoding="utf-8"
    )
    for file, warned in (("reports.csv", True), ("alone.csv", False)):
        words = [
            "collect",
            "reconstruct",
            str(tmp_path / file),
            "--noise",
            str(tmp_path / "noise.json"),
            "--column",
            "a",
        ]
        with pytest.raises(SystemExit):
            main([*words, "--json"])
        printed = capsys.readouterr()
        assert any("mean squared error" in sentence for sentence in json.loads(printed.out)["warnings"]) is warned
        assert ("warning: " in printed.err) is warned
