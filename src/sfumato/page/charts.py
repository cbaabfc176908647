"""Charts as inline SVG: bars, lines, points, pairs of bars and squares of figures.

Series differ in marker and stroke as well as in colour, bars in being hollow or filled, and squares carry their
figures, so that everything can be read in grey, on paper and by colour-blind eyes. Texts scale with the chart.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, floor, log10

from sfumato.page.html import Markup, join, read_style, tag
from sfumato.page.wording import percent

_WIDTH = 480
_TICKS = 5

# ---------------------------------------------------------------------------------------------------------------------
# Bars


def bar(share: float, *, kind: str = "solid", leftward: bool = False) -> Markup:
    """A bar over a share of its table cell; it prints where backgrounds do not, and stretches with the cell.

    The figure is in a cell beside it, so it is hidden from screen readers.

    >>> bar(0.25)
    '<svg class="bar solid" viewBox="0 0 100 10" preserveAspectRatio="none"
    aria-hidden="true"><rect x="0" y="0" width="25" height="10"/></svg>'
    """
    width = round(100 * min(max(share, 0.0), 1.0), 2)
    start = round(100 - width, 2) if leftward else 0
    rectangle = tag("rect", x=start, y=0, width=f"{width:g}", height=10) if width else ""
    look = {"class_": f"bar {kind}", "viewBox": "0 0 100 10", "preserveAspectRatio": "none", "aria_hidden": "true"}
    return tag("svg", rectangle, **look)


def column_bars(shares: Sequence[float], *, title: str) -> Markup:
    """Upright bars without figures, as high as the largest share allows: the shape of a column at a glance.

    >>> column_bars([0.25, 0.75], title="sex").count("<rect")
    2
    """
    wide, most = 100 / max(len(shares), 1), max([*shares, 1e-9])
    bars = []
    for place, share in enumerate(shares):
        tall = round(max(28 * share / most, 0.6 if share else 0.0), 2)
        box = {"x": round(place * wide + wide / 12, 2), "width": round(wide * 5 / 6, 2), "y": round(30 - tall, 2)}
        bars.append(tag("rect", **box, height=tall, class_="solid"))
    look = {"class_": "shape", "viewBox": "0 0 100 30", "preserveAspectRatio": "none", "role": "img"}
    return tag("svg", tag("title", title), *bars, **look, aria_label=title)


_BARS_LEFT, _BARS_RIGHT, _BARS_STEP, _BARS_TOP, _BARS_LONGEST = 150, 62, 36, 24, 22


def paired_bars(
    labels: Sequence[str],
    before: Sequence[float],
    after: Sequence[float],
    *,
    title: str,
    legend: tuple[str, str] = ("before", "after"),
) -> Markup:
    """Two bars for each label, one below the other: shares before (hollow) and after (filled), each with its figure.

    >>> chart = paired_bars(["HIV", "flu"], [0.2, 0.8], [0.25, 0.75], title="illness")
    >>> chart.count("<rect") - 2, "25.0%" in chart
    (4, True)
    """
    left, second_at = _BARS_LEFT, _BARS_LEFT + 46 + 7 * len(legend[0])
    parts = [
        tag("rect", x=left, y=4, width=14, height=9, class_="hollow"),
        tag("text", legend[0], x=left + 20, y=13),
        tag("rect", x=second_at, y=4, width=14, height=9, class_="solid"),
        tag("text", legend[1], x=second_at + 20, y=13),
    ]
    wide = (_WIDTH - left - _BARS_RIGHT) / max([*before, *after, 1e-9])
    for place, (label, old, new) in enumerate(zip(labels, before, after, strict=True)):
        y = _BARS_TOP + place * _BARS_STEP
        parts += [
            tag("text", _shortened(label, _BARS_LONGEST), x=left - 8, y=y + 19, class_="end said"),
            tag("rect", x=left, y=y + 3, width=round(max(old, 0) * wide, 1), height=11, class_="hollow"),
            tag("rect", x=left, y=y + 16, width=round(max(new, 0) * wide, 1), height=11, class_="solid"),
            tag("text", percent(old), x=round(left + max(old, 0) * wide + 6, 1), y=y + 12.5, class_="small"),
            tag("text", percent(new), x=round(left + max(new, 0) * wide + 6, 1), y=y + 25.5, class_="small"),
        ]
    look = {"class_": "chart columns", "viewBox": f"0 0 {_WIDTH} {_BARS_TOP + _BARS_STEP * len(labels)}", "role": "img"}
    return tag("svg", tag("title", title), *parts, **look, aria_label=title)


Estimate = tuple[float, float, float]
"""A share and the two ends of its interval."""


def interval_bars(labels: Sequence[str], shares: Sequence[Estimate], *, title: str) -> Markup:
    """A bar for each label, with its figure and a whisker over the interval that the true share lies in.

    >>> chart = interval_bars(["HIV", "flu"], [(0.2, 0.1, 0.3), (0.8, 0.7, 0.9)], title="illness")
    >>> chart.count("<rect"), chart.count('class="whisker"'), "20.0%" in chart
    (2, 2, True)
    """
    left, step = _BARS_LEFT, 30
    wide = (_WIDTH - left - _BARS_RIGHT) / max([high for _, _, high in shares] + [1e-9])
    parts = []
    for place, (label, (share, low, high)) in enumerate(zip(labels, shares, strict=True)):
        y, (at, start, end) = place * step, (round(left + one * wide, 1) for one in (share, low, high))
        parts += [
            tag("text", _shortened(label, _BARS_LONGEST), x=left - 8, y=y + 19, class_="end said"),
            tag("rect", x=left, y=y + 6, width=round(at - left, 1), height=17, class_="pale"),
            tag("path", d=f"M{start} {y + 10.5}v8m0 -4H{end}m0 -4v8", class_="whisker"),
            tag("text", percent(share), x=end + 7, y=y + 18.5, class_="small"),
        ]
    look = {"class_": "chart columns", "viewBox": f"0 0 {_WIDTH} {step * len(labels)}", "role": "img"}
    return tag("svg", tag("title", title), *parts, **look, aria_label=title)


# ---------------------------------------------------------------------------------------------------------------------
# Squares of figures

_GRID_LEFT, _GRID_LONGEST, _GRID_WIDEST = 140, 18, 44


def grid(names: Sequence[str], cells: Sequence[Sequence[float | None]], *, title: str) -> Markup:
    """Figures from -1 to 1 for each pair of names, shaded by size; ``None`` stays empty.

    The columns are numbered as the rows are.

    >>> chart = grid(["age", "zip"], [[None, 0.25], [0.25, None]], title="Association")
    >>> chart.count("0.25"), chart.count("<rect")
    (2, 2)
    """
    side = min((_WIDTH - _GRID_LEFT) / max(len(names), 1), _GRID_WIDEST)
    parts = []
    for place, name in enumerate(names):
        middle = round(20 + side * (place + 0.5) + 4, 1)
        text = f"{_shortened(name, _GRID_LONGEST)}  {place + 1}"
        parts += [
            tag("text", text, x=_GRID_LEFT - 8, y=middle, class_="end said"),
            tag("text", place + 1, x=round(_GRID_LEFT + side * (place + 0.5), 1), y=14, class_="middle said"),
        ]
    size = round(min(11.0, side * 0.36), 1)
    for row, line in enumerate(cells):
        for column, figure in enumerate(line):
            if figure is None:
                continue
            x, y = round(_GRID_LEFT + side * column, 1), round(20 + side * row, 1)
            shade = round(0.6 * min(abs(figure), 1.0), 2)
            box = {"width": round(side - 1.5, 1), "height": round(side - 1.5, 1)}
            at = {"x": round(x + side / 2 - 0.7, 1), "y": round(y + side / 2 + size * 0.33, 1)}
            parts += [
                tag("rect", x=x, y=y, **box, class_="cell", fill_opacity=shade),
                tag("text", f"{figure:.2f}", **at, class_="middle", font_size=size),
            ]
    tall = round(20 + side * len(names), 1)
    look = {"class_": "chart grid", "viewBox": f"0 0 {_WIDTH} {tall}", "role": "img", "aria_label": title}
    return tag("svg", tag("title", title), *parts, **look)


# ---------------------------------------------------------------------------------------------------------------------
# Lines and points over two axes


@dataclass(frozen=True)
class ChartAxis:
    """A side of a chart; `percent` writes shares as percentages, `whole` has no ticks between whole numbers."""

    title: str
    log: bool = False
    percent: bool = False
    whole: bool = False

    def ends(self, figures: Iterable[float]) -> tuple[float, float]:
        """Where the axis begins and ends: at round numbers around the figures, from nothing unless it is logarithmic.

        >>> ChartAxis("rows").ends([3, 41]), ChartAxis("seconds", log=True).ends([0.03, 4])
        ((0.0, 50.0), (0.01, 10.0))
        """
        known = list(figures)
        if self.log:
            above = [figure for figure in known if figure > 0] or [1.0]
            return 10.0 ** floor(log10(min(above))), 10.0 ** max(ceil(log10(max(above))), floor(log10(min(above))) + 1)
        low, high = min([0.0, *known]), max([0.0, *known])
        high = high if high > low else low + 1
        step = self._step(low, high)
        return floor(low / step) * step, max(ceil(round(high / step, 9)), 1 if low >= 0 else 0) * step

    def ticks(self, low: float, high: float) -> list[float]:
        """Round numbers from end to end.

        >>> ChartAxis("share", percent=True).ticks(0, 0.5), ChartAxis("seconds", log=True).ticks(0.01, 10)
        ([0.0, 0.1, 0.2, 0.3, 0.4, 0.5], [0.01, 0.1, 1.0, 10.0])
        """
        if self.log:
            powers = range(round(log10(low)), round(log10(high)) + 1)
            every = -(-len(powers) // _TICKS)
            return [10.0**power for power in powers[::every]]
        step = self._step(low, high)
        return [float(f"{low + place * step:.9g}") for place in range(round((high - low) / step) + 1)]

    def inner_ticks(self, low: float, high: float) -> list[float]:
        """Round numbers between two ends that need not be round themselves.

        >>> ChartAxis("age").inner_ticks(18, 95)
        [20.0, 40.0, 60.0, 80.0]
        """
        step = self._step(low, high)
        return [float(f"{place * step:.9g}") for place in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]

    def share(self, figure: float, ends: tuple[float, float]) -> float:
        """How far along the axis a figure lies, from 0 to 1; on a logarithmic axis what is not above nothing is at 0.

        >>> ChartAxis("rows").share(25, (0, 50)), ChartAxis("seconds", log=True).share(0.1, (0.01, 1))
        (0.5, 0.5)
        """
        low, high = ends
        if not self.log:
            return (figure - low) / (high - low)
        return max(0.0, (log10(figure) - log10(low)) / (log10(high) - log10(low))) if figure > 0 else 0.0

    def text(self, figure: float) -> str:
        """A tick in words.

        >>> ChartAxis("share", percent=True).text(0.25), ChartAxis("rows").text(20000), ChartAxis("loss").text(0.05)
        ('25%', '20,000', '0.05')
        """
        if self.percent:
            return f"{100 * figure:.6g}%"
        return f"{figure:,.0f}" if abs(figure) >= 1000 else f"{figure:.6g}"

    def _step(self, low: float, high: float) -> float:
        """A step of 1, 2 or 5 times a power of ten that makes about five of the way."""
        rough = (high - low) / _TICKS
        power = 10.0 ** floor(log10(rough))
        step = next(power * times for times in (1, 2, 5, 10) if power * times >= rough * 0.999)
        return max(step, 1.0) if self.whole else step


@dataclass(frozen=True)
class Series:
    """Points of one kind, with their name in the legend; `named` are texts beside the points of a scatter."""

    label: str
    points: Sequence[tuple[float, float]]
    named: Sequence[str] = ()


def lines(series: Sequence[Series], across: ChartAxis, up: ChartAxis, *, title: str) -> Markup:
    """A line for each series, with a marker at each point.

    >>> risk = Series("risk", [(1, 0.1), (2, 0.4)])
    >>> chart = lines([risk], ChartAxis("columns"), ChartAxis("risk", percent=True), title="Risk")
    >>> chart.count('class="line"'), chart.count('class="mark"')
    (1, 2)
    """
    plane, marks = _Plane(series, across, up), []
    for place, one_series in enumerate(series):
        if one_series.points:
            points = [plane.place(x, y) for x, y in one_series.points]
            marks.append(_coloured(place, _stroke(place, points), *[_marker(place, x, y) for x, y in points]))
    return plane.chart(title, *marks)


_LETTER, _TALL, _AWAY = 6.4, 12.0, 7.0
_Box = tuple[float, float, float, float]


def scatter(
    series: Sequence[Series], across: ChartAxis, up: ChartAxis, *, title: str, marked: tuple[float, float] | None = None
) -> Markup:
    """A marker for each point, with its name beside it where there is room; `marked` is a point with a ring around it.

    >>> auto = Series("auto", [(0.1, 0.2)], ["k = 5"])
    >>> chart = scatter([auto], ChartAxis("risk"), ChartAxis("loss"), title="Loss and risk")
    >>> "k = 5" in chart
    True
    """
    plane = _Plane(series, across, up, extra=() if marked is None else (marked,), strokes=False)
    marks = [
        _coloured(place, *[_marker(place, *plane.place(x, y)) for x, y in one_series.points])
        for place, one_series in enumerate(series)
    ]
    ring = []
    if marked is not None:
        x, y = plane.place(*marked)
        ring = [tag("circle", cx=x, cy=y, r=10, class_="ring")]
    return plane.chart(title, *ring, *marks, *_point_names(plane, series, marked))


@dataclass(frozen=True)
class Cloud:
    """Points of one group, with the outline of what they were drawn for, and its name in the legend."""

    label: str
    outline: Sequence[tuple[float, float]]
    points: Sequence[tuple[float, float]]


def clouds(groups: Sequence[Cloud], across: ChartAxis, up: ChartAxis, *, title: str) -> Markup:
    """An outline and markers for each group.

    >>> group = Cloud("a group of 3", [(0, 0), (1, 0), (0, 1)], [(0.5, 0.2)])
    >>> chart = clouds([group, group], ChartAxis("age"), ChartAxis("hours"), title="Groups")
    >>> chart.count('class="line"'), chart.count('class="mark"')
    (4, 4)
    """
    series = [Series(group.label, group.points) for group in groups]
    plane = _Plane(series, across, up, extra=tuple(point for group in groups for point in group.outline))
    marks = []
    for place, group in enumerate(groups):
        outline = [plane.place(x, y) for x, y in (*group.outline, *group.outline[:1])]
        points = [plane.place(x, y) for x, y in group.points]
        stroke = [_stroke(place, outline)] if outline else []
        marks.append(_coloured(place, *stroke, *[_marker(place, x, y) for x, y in points]))
    return plane.chart(title, *marks)


def _point_names(plane: "_Plane", series: Sequence[Series], marked: tuple[float, float] | None) -> Iterator[Markup]:
    """Names on the first side of their point where they cover nothing; those without such a side are left out."""
    places = [plane.place(x, y) for one_series in series for x, y in one_series.points]
    taken: list[_Box] = [(x - 5, y - 5, x + 5, y + 5) for x, y in places]
    for one_series in series:
        for point, text in zip(one_series.points, one_series.named, strict=False):
            x, y = plane.place(*point)
            others = [box for box in taken if box != (x - 5, y - 5, x + 5, y + 5)]
            away, wide = _AWAY + (5 if point == marked else 0), _LETTER * len(text)
            corners = (  # right of the point, left of it, above it, below it
                (x + away, y - _TALL / 2),
                (x - away - wide, y - _TALL / 2),
                (x - wide / 2, y - away - _TALL),
                (x - wide / 2, y + away),
            )
            boxes = ((left, top, left + wide, top + _TALL) for left, top in corners)
            free = next((box for box in boxes if _is_free(box, others)), None)
            if free is not None:
                taken.append(free)
                yield tag("text", text, x=round(free[0], 1), y=round(free[3] - 2.5, 1), class_="named")


def _is_free(box: _Box, taken: Sequence[_Box]) -> bool:
    left, top, right, bottom = box
    inside = left > 58 and right < _WIDTH and top > 0 and bottom < 207
    return inside and not any(left < d and a < right and top < e and b < bottom for a, b, d, e in taken)


_PLANE_TOP, _PLANE_RIGHT, _PLANE_BOTTOM, _PLANE_LEFT, _PLANE_HEIGHT = 14, 16, 44, 58, 250
_LEGEND_STEP, _LEGEND_LONGEST = 19, 58
_DASHES = ("", "7 4", "2 3", "10 3 2 3", "4 2", "12 4")


@dataclass(frozen=True)
class _Plane:
    """The plane of a chart: where a figure lies in the drawing, sides with ticks and titles, and the legend below.

    `extra` points are in the plane besides those of the series; `strokes` says whether points are joined by lines.
    """

    series: Sequence[Series]
    across: ChartAxis
    up: ChartAxis
    extra: Sequence[tuple[float, float]] = field(default=())
    strokes: bool = True

    @cached_property
    def _ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        points = [*self.extra, *(point for one_series in self.series for point in one_series.points)]
        return self.across.ends(x for x, _ in points), self.up.ends(y for _, y in points)

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Where a point lies in the drawing."""
        wide, tall = _WIDTH - _PLANE_LEFT - _PLANE_RIGHT, _PLANE_HEIGHT - _PLANE_TOP - _PLANE_BOTTOM
        right, high = self.across.share(x, self._ends[0]), self.up.share(y, self._ends[1])
        return round(_PLANE_LEFT + right * wide, 1), round(_PLANE_HEIGHT - _PLANE_BOTTOM - high * tall, 1)

    def chart(self, title: str, *marks: object) -> Markup:
        """The whole chart: sides, marks, and the legend where there are several series."""
        legend = list(self._legend()) if len(self.series) > 1 else []
        tall = _PLANE_HEIGHT + _LEGEND_STEP * len(legend)
        look = {"class_": "chart", "viewBox": f"0 0 {_WIDTH} {tall}", "role": "img", "aria_label": title}
        return tag("svg", tag("title", title), *self._sides(), *marks, *legend, **look)

    def _sides(self) -> Iterator[Markup]:
        (left, right), (low, high) = self._ends
        end = _WIDTH - _PLANE_RIGHT
        for tick in self.up.ticks(low, high):
            x, y = self.place(left, tick)
            yield tag("path", d=f"M{x} {y}H{end}", class_="rule")
            yield tag("text", self.up.text(tick), x=x - 6, y=y + 4, class_="end")
        for tick in self.across.ticks(left, right):
            x, y = self.place(tick, low)
            yield tag("path", d=f"M{x} {y}v4", class_="side")
            text = self.across.text(tick)
            beyond = x + _LETTER * len(text) / 2 > _WIDTH  # a long number at the end goes to the left of its tick
            yield tag("text", text, x=_WIDTH if beyond else x, y=y + 17, class_="end" if beyond else "middle")
        x, y = self.place(left, low)
        yield tag("path", d=f"M{x} {y}H{end}", class_="side")
        yield tag("text", self.across.title, x=(x + end) / 2, y=_PLANE_HEIGHT - 8, class_="middle said")
        turned = f"translate(13 {(y + _PLANE_TOP) / 2}) rotate(-90)"
        yield tag("text", self.up.title, transform=turned, class_="middle said")

    def _legend(self) -> Iterator[Markup]:
        for place, one_series in enumerate(self.series):
            x, y = _PLANE_LEFT, _PLANE_HEIGHT + _LEGEND_STEP * place + 8
            stroke = _stroke(place, [(x, y), (x + 34, y)]) if self.strokes else ""
            text = tag("text", _shortened(one_series.label, _LEGEND_LONGEST), x=x + 42, y=y + 4)
            yield _coloured(place, stroke, _marker(place, x + 17, y), text)


def _stroke(place: int, points: Sequence[tuple[float, float]]) -> Markup:
    """A stroke through places of the drawing, in the manner of the series at this place."""
    path = "L".join(f"{x} {y}" for x, y in points)
    return tag("path", d=f"M{path}", class_="line", stroke_dasharray=_DASHES[place % len(_DASHES)])


def _marker(place: int, x: float, y: float) -> Markup:
    """The marker of the series at this place: a disc, square, triangle, diamond, triangle upside down, or ring."""
    shapes = (
        "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
        "m-3.6 -3.6h7.2v7.2h-7.2z",
        "m0 -4.8l4.5 8h-9z",
        "m0 -5l5 5l-5 5l-5 -5z",
        "m0 4.8l4.5 -8h-9z",
        "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    )
    kind = "mark hollow" if place % 6 == 5 else "mark"
    return tag("path", d=f"M{x} {y}{shapes[place % 6]}", class_=kind)


def _coloured(place: int, *children: object) -> Markup:
    """What belongs to the series at this place, in its colour."""
    return tag("g", join(children), class_=f"series s{place % 6}")


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


# ---------------------------------------------------------------------------------------------------------------------
# Histograms


def histogram(edges: Sequence[float], shares: Sequence[Estimate], across: ChartAxis, *, title: str) -> Markup:
    """A bar for each bin between neighbouring edges, with a whisker over the interval that the true share lies in.

    >>> chart = histogram([0, 10, 20], [(0.2, 0.1, 0.3), (0.8, 0.7, 0.9)], ChartAxis("age"), title="Age")
    >>> chart.count("<rect"), chart.count('class="whisker"')
    (2, 2)
    """
    up = ChartAxis("share", percent=True)
    low, high = edges[0], edges[-1]
    floor_, ceiling = up.ends([end for _, _, end in shares])
    end, bottom = _WIDTH - _PLANE_RIGHT, _PLANE_HEIGHT - _PLANE_BOTTOM

    def x_of(figure: float) -> float:
        return round(_PLANE_LEFT + (figure - low) / (high - low) * (end - _PLANE_LEFT), 1)

    def y_of(share: float) -> float:
        return round(bottom - (share - floor_) / (ceiling - floor_) * (bottom - _PLANE_TOP), 1)

    parts = []
    for tick in up.ticks(floor_, ceiling):
        parts += [
            tag("path", d=f"M{_PLANE_LEFT} {y_of(tick)}H{end}", class_="rule"),
            tag("text", up.text(tick), x=_PLANE_LEFT - 6, y=y_of(tick) + 4, class_="end"),
        ]
    for start, stop, (share, least, most) in zip(edges[:-1], edges[1:], shares, strict=True):
        x, wide, middle = x_of(start), x_of(stop) - x_of(start), round((x_of(start) + x_of(stop)) / 2, 1)
        gap, cap = min(1.0, wide / 8), round(min(3.0, wide / 4), 1)
        box = {"x": round(x + gap, 1), "width": round(wide - 2 * gap, 1)}
        parts += [
            tag("rect", **box, y=y_of(share), height=round(bottom - y_of(share), 1), class_="pale"),
            tag(
                "path",
                d=f"M{middle - cap} {y_of(most)}h{2 * cap}m{-cap} 0V{y_of(least)}m{-cap} 0h{2 * cap}",
                class_="whisker",
            ),
        ]
    for tick in across.inner_ticks(low, high):
        parts += [
            tag("path", d=f"M{x_of(tick)} {bottom}v4", class_="side"),
            tag("text", across.text(tick), x=x_of(tick), y=bottom + 17, class_="middle"),
        ]
    parts += [
        tag("path", d=f"M{_PLANE_LEFT} {bottom}H{end}", class_="side"),
        tag("text", across.title, x=(_PLANE_LEFT + end) / 2, y=_PLANE_HEIGHT - 8, class_="middle said"),
    ]
    look = {"class_": "chart", "viewBox": f"0 0 {_WIDTH} {_PLANE_HEIGHT}", "role": "img", "aria_label": title}
    return tag("svg", tag("title", title), *parts, **look)


# ---------------------------------------------------------------------------------------------------------------------
# Charts as files

_HEAD = '<svg xmlns="http://www.w3.org/2000/svg" '
_COLOURS = ":root{--paper:#fff;--ink:#1b1f24;--soft:#5b6470;--line:#dfe3e8;--hue:#24557f}svg{background:#fff}"


def standalone(svg: Markup) -> str:
    """A chart with its style inside, to be written to a file of its own.

    >>> standalone(paired_bars(["a"], [1.0], [1.0], title="x"))[:39]
    '<svg xmlns="http://www.w3.org/2000/svg"'
    """
    start = svg.index(">") + 1
    head = svg[:start].replace("<svg ", _HEAD, 1)
    return head + tag("style", Markup(_COLOURS + read_style("chart.css"))) + svg[start:] + "\n"
