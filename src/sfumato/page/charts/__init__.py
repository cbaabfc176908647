"""Charts as inline SVG: lines, points, pairs of bars and squares of figures.

Series differ in marker and stroke as well as in colour, bars in being hollow or filled, and squares carry their
figures, so that everything can be read in grey, on paper and by colour-blind eyes. Texts scale with the chart.
"""

from sfumato.page.charts.axis import Axis
from sfumato.page.charts.columns import columns
from sfumato.page.charts.frame import Series
from sfumato.page.charts.grid import grid
from sfumato.page.charts.lines import lines
from sfumato.page.charts.scatter import scatter
from sfumato.page.charts.standalone import standalone

__all__ = ["Axis", "Series", "columns", "grid", "lines", "scatter", "standalone"]
