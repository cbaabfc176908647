"""Lines over an axis."""

from collections.abc import Sequence

from sfumato.page.charts.axis import Axis
from sfumato.page.charts.frame import Frame, Series, group, line, marker
from sfumato.page.markup import Markup


def lines(series: Sequence[Series], across: Axis, up: Axis, *, title: str) -> Markup:
    """A line for each series, with a marker at each point.

    >>> drawn = lines([Series("risk", [(1, 0.1), (2, 0.4)])], Axis("columns"), Axis("risk", percent=True), title="Risk")
    >>> drawn.count('class="line"'), drawn.count('class="mark"')
    (1, 2)
    """
    frame = Frame(series, across, up)
    return frame.drawn(title, *[_drawn(frame, place, one) for place, one in enumerate(series) if one.points])


def _drawn(frame: Frame, place: int, one: Series) -> Markup:
    points = [frame.place(x, y) for x, y in one.points]
    return group(place, line(place, points), *[marker(place, x, y) for x, y in points])
