"""Plots of figures: lines differ in marker and stroke, so that they can be told apart in grey as well."""

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
_SIZE = (4.6, 3.4)
_LARGE = 10_000
"""From here on numbers on an axis are so long that few of them have room."""


@dataclass(frozen=True)
class Line:
    """One line of a plot; `guide` is one that was not measured."""

    label: str
    across: Sequence[float]
    up: Sequence[float]
    guide: bool = False


@dataclass(frozen=True)
class Panel:
    """One plot: its title, what its axes are, its lines, and which axes are logarithmic (``x``, ``y``, ``xy``)."""

    title: str
    across: str
    up: str
    lines: Sequence[Line]
    log: str = ""


def draw(panels: Sequence[Panel], path: Path) -> Path:
    """Write the panels, two in a line, as SVG or PNG by the name of the file; the same figures give the same file."""
    from matplotlib import rc_context  # noqa: PLC0415 - heavy, and tables do without it
    from matplotlib.figure import Figure  # noqa: PLC0415 - same

    wide = min(len(panels), 2)
    tall = -(-len(panels) // wide)
    path.parent.mkdir(parents=True, exist_ok=True)
    fonts = ["DejaVu Sans", "Verdana"]  # few, since an SVG names them with every label
    with rc_context({"svg.hashsalt": "sfumato", "svg.fonttype": "none", "font.size": 9, "font.sans-serif": fonts}):
        figure = Figure(figsize=(_SIZE[0] * wide, _SIZE[1] * tall + 0.4), layout="constrained")
        axes = figure.subplots(tall, wide, squeeze=False).flat
        for panel, place in zip(panels, axes, strict=False):
            _fill(panel, place)
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        figure.savefig(path, dpi=100, metadata={"Date": None} if path.suffix == ".svg" else None)
    return path


def _fill(panel: Panel, place: "Axes") -> None:
    measured = [line for line in panel.lines if not line.guide]
    for line, style in zip(measured, _STYLES, strict=False):
        place.plot(line.across, line.up, label=line.label, markersize=5, linewidth=1.4, **style)  # type: ignore[arg-type]  # styles are plain dicts
    for line in panel.lines:
        if line.guide:
            place.plot(line.across, line.up, label=line.label, **_GUIDE)  # type: ignore[arg-type]  # same
    place.set(title=panel.title, xlabel=panel.across, ylabel=panel.up)
    _scales(panel.log, place)
    _whole_numbers(panel, place)
    place.grid(visible=True, color="#dddddd", linewidth=0.5)


def _whole_numbers(panel: Panel, place: "Axes") -> None:
    """Whole numbers on an axis of whole numbers: there is no half a column."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - as above

    every = [x for line in panel.lines for x in line.across]
    if "x" in panel.log or not all(isinstance(x, int) for x in every):
        return
    large = max(every, default=0) >= _LARGE
    place.xaxis.set_major_locator(MaxNLocator(nbins=4 if large else "auto", integer=True))
    if large:
        place.xaxis.set_major_formatter("{x:,.0f}")


def _scales(log: str, place: "Axes") -> None:
    """Logarithmic axes with plain numbers on them; others from nothing up."""
    from matplotlib.ticker import LogLocator, NullFormatter  # noqa: PLC0415 - as above

    if "x" in log:
        place.set_xscale("log")
        place.xaxis.set_major_formatter("{x:,.0f}")
    if "y" not in log:
        place.set_ylim(bottom=0)
        return
    place.set_yscale("log")
    place.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    place.yaxis.set_major_formatter("{x:g}")
    place.yaxis.set_minor_formatter(NullFormatter())
