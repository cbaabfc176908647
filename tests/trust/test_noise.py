"""TRUST 22: who adds noise is told what a filter takes away again."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.cli import main


@pytest.mark.slow
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


def test_trust_22_noise_on_columns_of_a_release_is_measured(
    rules: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    """Independent noise on columns that go together is warned of, with what a filter takes off; correlated is not.

    Audit and report have the figures of both.
    """
    draw = np.random.default_rng(1)
    wave = draw.normal(0, 100, 2000)
    columns = {name: np.round(wave + draw.normal(0, 20, 2000), 1) for name in "abcd"}
    table = pa.table({"sex": ["f", "m"] * 1000, **columns})
    for correlated, warned in ((False, True), (True, False)):
        entry = {"role": "plain", "noise": {"share": 1.0, "correlated": correlated}}
        release = sf.anonymize(table, rules({"sex": "quasi"} | dict.fromkeys("abcd", entry)))
        assert any("a filter over the columns removes" in one for one in release.warnings) is warned
        folder = release.save(tmp_path / str(correlated))
        audit = json.loads((folder / "private" / "audit.json").read_text())
        assert (audit["masked"]["a"]["recovery"]["filtered"] < 0.4) is warned
        assert audit["masked"]["a"]["recovery"]["bayes"] == pytest.approx(0.5, abs=0.1)
        assert "What can be recovered of noise" in (folder / "private" / "report.html").read_text()
