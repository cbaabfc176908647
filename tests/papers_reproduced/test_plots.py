"""Plots are drawn from figures."""

from pathlib import Path

import pytest

from sfumato.papers.plots import Panel, PlotLine, draw_panels

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_same_figures_same_file(kind: str, tmp_path: Path) -> None:
    """The same figures give the same file, so that a plot that changes has changed."""
    lines = [PlotLine("ours", [1, 2, 4], [1, 3, 9]), PlotLine("n log n", [1, 4], [1, 8], guide=True)]
    panels = [Panel("one", "rows", "seconds", lines, "xy"), Panel("two", "α", "loss", lines)]
    first, second = (draw_panels(panels, tmp_path / name / f"plot.{kind}") for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()
    assert b"n log n" in first.read_bytes() or kind == "png"
