"""Plots of results, by matplotlib: lines differ in marker and stroke, so that they can be told apart in grey."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STYLES = (
    {"color": "#000000", "marker": "o", "linestyle": "-"},
    {"color": "#b23a2e", "marker": "s", "linestyle": "--"},
    {"color": "#1f5fa8", "marker": "^", "linestyle": "-."},
    {"color": "#d98a3d", "marker": "D", "linestyle": ":"},
    {"color": "#5ba7c9", "marker": "v", "linestyle": (0, (5, 1, 1, 1, 1, 1))},
    {"color": "#6b8f3c", "marker": "P", "linestyle": (0, (8, 3))},
    {"color": "#8a8a8a", "marker": "x", "linestyle": "--"},
)
_GUIDE = {"color": "#999999", "linewidth": 1.0, "linestyle": "-"}
_INCHES = (4.6, 3.4)
_LONG_NUMBER = 10_000
"""From here on numbers on an axis are so long that few of them have room."""


@dataclass(frozen=True)
class PlotLine:
    """One line of a plot; a `guide` shows a rate of growth, and was not measured."""

    label: str
    across: Sequence[float]
    up: Sequence[float]
    guide: bool = False


@dataclass(frozen=True)
class Panel:
    """One plot: its title, the names of its axes, its lines, and which axes are logarithmic (``x``, ``y``, ``xy``)."""

    title: str
    across: str
    up: str
    lines: Sequence[PlotLine]
    log: str = ""


def draw_panels(panels: Sequence[Panel], path: Path) -> Path:
    """Write the panels, two in a line, as SVG or PNG by the name of the file; the same figures give the same file."""
    from matplotlib import rc_context  # noqa: PLC0415 - heavy, and tables do without it
    from matplotlib.figure import Figure  # noqa: PLC0415 - same

    wide = min(len(panels), 2)
    tall = -(-len(panels) // wide)
    path.parent.mkdir(parents=True, exist_ok=True)
    fonts = ["DejaVu Sans", "Verdana"]  # few, since an SVG names them with every label
    with rc_context({"svg.hashsalt": "sfumato", "svg.fonttype": "none", "font.size": 9, "font.sans-serif": fonts}):
        figure = Figure(figsize=(_INCHES[0] * wide, _INCHES[1] * tall + 0.4), layout="constrained")
        for panel, axes in zip(panels, figure.subplots(tall, wide, squeeze=False).flat, strict=False):
            _draw_panel(panel, axes)
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        figure.savefig(path, dpi=100, metadata={"Date": None} if path.suffix == ".svg" else None)
    return path


def _draw_panel(panel: Panel, axes: "Axes") -> None:
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter  # noqa: PLC0415 - as above

    measured = [line for line in panel.lines if not line.guide]
    for line, style in zip(measured, _STYLES, strict=False):
        axes.plot(line.across, line.up, label=line.label, markersize=5, linewidth=1.4, **style)  # type: ignore[arg-type]  # styles are plain dicts
    for line in panel.lines:
        if line.guide:
            axes.plot(line.across, line.up, label=line.label, **_GUIDE)  # type: ignore[arg-type]  # same
    axes.set(title=panel.title, xlabel=panel.across, ylabel=panel.up)
    # logarithmic axes have plain numbers on them, others begin at 0
    if "x" in panel.log:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:,.0f}")
    if "y" in panel.log:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(bottom=0)
    # an axis of whole numbers has whole numbers on it: there is no half a column
    places = [x for line in panel.lines for x in line.across]
    if "x" not in panel.log and all(isinstance(x, int) for x in places):
        long = max(places, default=0) >= _LONG_NUMBER
        axes.xaxis.set_major_locator(MaxNLocator(nbins=4 if long else "auto", integer=True))
        if long:
            axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.grid(visible=True, color="#dddddd", linewidth=0.5)
